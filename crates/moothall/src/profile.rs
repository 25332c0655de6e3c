//! Profiles: joined servers, each with its token, in files that only their owner can read.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::{Variables, usual_state_folder};
use crate::credential::write_private;
use crate::fault::{Exit, Fault};

/// A joined server with its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Address of the server, as a URL.
    pub server: String,
    /// Token for the server.
    pub token: String,
    /// Id of the token's holder.
    pub principal: String,
    /// Certificates to trust, if not the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cacert: Option<PathBuf>,
}

impl Profile {
    /// Reads the profile of this name.
    ///
    /// # Errors
    /// The profile is missing or unreadable.
    pub fn read(name: &str, variables: &Variables) -> Result<Self, Fault> {
        let known = || match names(variables).as_slice() {
            [] => "create one with `moothall join LINK`".to_owned(),
            names => format!("use one of {}", names.join(", ")),
        };
        let none = || Fault::new(Exit::Usage, format!("profile {name:?} does not exist"));
        let file = place(name, variables).ok_or_else(none)?;
        let text = fs::read(&file).map_err(|error| none().because(error).try_this(known()))?;
        serde_json::from_slice(&text).map_err(|error| {
            let file = file.display();
            Fault::new(Exit::Config, format!("cannot read the profile {file}"))
                .because(error)
                .try_this(format!("delete it with rm {file}, and join again"))
        })
    }

    /// Returns the first profile by name that has this server. Skips profiles that cannot be read.
    pub fn of_server(server: &str, variables: &Variables) -> Option<Self> {
        let same =
            |profile: &Self| profile.server.trim_end_matches('/') == server.trim_end_matches('/');
        names(variables).iter().filter_map(|name| Self::read(name, variables).ok()).find(same)
    }

    /// Writes the profile under a name, over an earlier one of that name, and returns its file.
    ///
    /// # Errors
    /// The name is not valid for a file, or the file cannot be written.
    pub fn write(&self, name: &str, variables: &Variables) -> Result<PathBuf, Fault> {
        let unfit = || {
            Fault::new(Exit::Usage, format!("{name:?} is not a valid profile name"))
                .try_this("use letters, digits, `.`, `-` and `_`")
        };
        let file = place(name, variables).ok_or_else(unfit)?;
        let text = serde_json::to_vec_pretty(self).map_err(|error| {
            Fault::new(Exit::Failure, "cannot write the profile").because(error)
        })?;
        let written = file
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| write_private(&file, &text));
        written.map_err(|error| Fault::io(format!("cannot write {}", file.display()), &error))?;
        Ok(file)
    }

    /// Returns the default profile name of a server: its host, and its port if the URL has one that
    /// is not usual for the scheme.
    pub fn usual_name(server: &str) -> String {
        let url = reqwest::Url::parse(server).ok();
        let host = url
            .as_ref()
            .and_then(|url| url.host_str())
            .unwrap_or("server")
            .trim_matches(['[', ']'])
            .replace(':', "_");
        match url.and_then(|url| url.port()) {
            Some(port) => format!("{host}_{port}"),
            None => host,
        }
    }
}

fn folder(variables: &Variables) -> Option<PathBuf> {
    usual_state_folder(variables).map(|state| state.join("profiles"))
}

/// Returns the file of a profile. `None` if the name is not valid for a file, or the state folder
/// is unknown.
fn place(name: &str, variables: &Variables) -> Option<PathBuf> {
    let fits = !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    folder(variables).filter(|_| fits).map(|folder| folder.join(format!("{name}.json")))
}

/// Returns the names of all profiles, sorted.
pub fn names(variables: &Variables) -> Vec<String> {
    let found = folder(variables).and_then(|folder| fs::read_dir(folder).ok());
    let files = found.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut names: Vec<String> = files
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .filter_map(|file| stem(&file))
        .collect();
    names.sort_unstable();
    names
}

fn stem(file: &Path) -> Option<String> {
    Some(file.file_stem()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_profile_is_kept_for_its_owner_alone_and_found_by_its_name_and_its_server() {
        let folder = tempfile::tempdir().unwrap();
        let variables =
            Variables::from([("XDG_STATE_HOME".to_owned(), folder.path().display().to_string())]);
        let profile = Profile {
            server: "https://hall.test".into(),
            token: "pat_x".into(),
            principal: "ann".into(),
            cacert: None,
        };
        let file = profile.write("hall.test", &variables).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Profile::read("hall.test", &variables).unwrap(), profile);
        assert_eq!(Profile::of_server("https://hall.test/", &variables), Some(profile.clone()));
        assert_eq!(Profile::of_server("https://other.test", &variables), None);
        let fault = Profile::read("hal.test", &variables).unwrap_err();
        assert!(fault.forward.unwrap().contains("hall.test"));
        for bad in ["../x", "", ".x", "a/b", "a b"] {
            assert_eq!(profile.write(bad, &variables).unwrap_err().exit, Exit::Usage, "{bad:?}");
        }
    }

    #[test]
    fn a_server_has_a_usual_name() {
        let name = |server| Profile::usual_name(server);
        assert_eq!(
            (name("https://hall.test"), name("http://192.0.2.1:5111/")),
            ("hall.test".into(), "192.0.2.1_5111".into())
        );
        assert_eq!(name("http://[::1]:5111"), "__1_5111");
    }
}
