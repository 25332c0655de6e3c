//! Files of agents in the folder `agents.d` next to a configuration file. Each has sections
//! `[agents.NAME]` and nothing else.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::document::{Document, is_table};
use crate::fault::Fault;

/// Returns the folder for files of agents: `agents.d` next to a configuration file.
pub fn agents_folder(file: &Path) -> PathBuf {
    file.with_file_name("agents.d")
}

impl Document {
    /// Checks that a file of agents has only sections `[agents.NAME]`.
    pub fn check_part(&self, table: &DeTable<'_>) -> Result<(), Fault> {
        let refuse = |span| {
            self.fault(Some(span), "a file in agents.d may only have sections [agents.NAME]")
                .try_this("move it to moothall.toml")
        };
        for (key, value) in table {
            let agents = value.get_ref().as_table().filter(|_| key.get_ref() == "agents");
            for (name, agent) in agents.ok_or_else(|| refuse(key.span()))? {
                if !is_table(agent) {
                    return Err(refuse(name.span()));
                }
            }
        }
        Ok(())
    }

    /// Checks that no agent of this file has a section in an earlier file of the same group: a
    /// configuration file and the files of agents next to it. `beside` holds the agents of the
    /// group so far, with their places, and gets those of this file.
    pub fn check_names(
        &self,
        table: &DeTable<'_>,
        beside: &mut BTreeMap<String, Range<usize>>,
    ) -> Result<(), Fault> {
        let agents = table.get("agents").and_then(|agents| agents.get_ref().as_table());
        for (name, _) in agents.into_iter().flatten() {
            let (key, span) = (name.get_ref().to_string(), name.span());
            if let Some(first) = beside.insert(key, span.clone()) {
                let (name, first) = (name.get_ref(), self.origin(&first));
                return Err(self
                    .fault(Some(span), &format!("the agent {name} has a section in {first} too"))
                    .try_this("remove one of them, or rename it"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::super::{Config, Variables, settings};
    use super::*;

    const AGENT: &str = "command = [\"true\"]\n";

    /// Writes files into a folder, and returns its configuration, or the error.
    fn read(folder: &Path, files: &[(&str, &str)]) -> Result<Config, String> {
        fs::create_dir_all(folder.join("agents.d")).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
        let config = Config::find(Some(&folder.join("moothall.toml")), &Variables::new());
        config.map_err(|fault| fault.to_string().replace(&folder.display().to_string(), ""))
    }

    #[test]
    fn files_of_agents_belong_to_the_configuration_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let (ada, bob) = (format!("[agents.ada]\n{AGENT}"), format!("[agents.bob]\n{AGENT}"));
        let files = [("moothall.toml", ada.as_str()), ("agents.d/bob.toml", bob.as_str())];
        fs::create_dir_all(folder.path().join("agents.d")).unwrap();
        fs::write(folder.path().join("agents.d/notes.md"), "none").unwrap();
        let config = read(folder.path(), &files).unwrap();
        assert_eq!(config.agents.keys().collect::<Vec<_>>(), ["ada", "bob"]);
        assert_eq!(config.file.as_deref(), Some(folder.path().join("moothall.toml").as_path()));
        let set = settings(config.file.as_deref(), &Variables::new()).unwrap();
        let bob = set.iter().find(|set| set.key == "agents.bob.command").unwrap();
        assert!(bob.origin.ends_with("agents.d/bob.toml:2"), "{}", bob.origin);
    }

    #[test]
    fn a_file_of_agents_has_only_agents_and_each_name_once() {
        let ada = format!("[agents.ada]\n{AGENT}");
        let second = format!("\n[agents.ada]\n{AGENT}");
        for (text, error) in [
            ("[server]\nbind = \"127.0.0.1:1\"\n", "/agents.d/a.toml:1:2: a file in agents.d may"),
            ("[agents]\ndiscover = false\n", "/agents.d/a.toml:2:1: a file in agents.d may"),
            (&second, "/agents.d/a.toml:2:9: the agent ada has a section in /moothall.toml:1 too"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let files = [("moothall.toml", ada.as_str()), ("agents.d/a.toml", text)];
            let found = read(folder.path(), &files).unwrap_err();
            assert!(found.contains(error), "{text}: {found}");
        }
    }
}
