//! The files and folders of a configuration: their usual places, and their texts.

use std::path::{Path, PathBuf};

use super::document::Variables;
use super::parts::agents_folder;
use crate::fault::{Exit, Fault};

/// Returns the named configuration file, or else the existing ones of the usual places. The file
/// with the highest precedence is last.
pub fn files(named: Option<&Path>, variables: &Variables) -> Vec<PathBuf> {
    let usual =
        || usual_places(variables).into_iter().rev().filter(|path| path.is_file()).collect();
    named.map_or_else(usual, |file| vec![file.to_owned()])
}

/// Returns the files `*.toml` in the folder `agents.d` next to a configuration file, sorted by
/// name.
fn agent_files(file: &Path) -> Result<Vec<PathBuf>, Fault> {
    let folder = agents_folder(file);
    let fault = |error: std::io::Error| {
        Fault::new(Exit::Config, format!("cannot read the folder {}", folder.display()))
            .because(error)
            .try_this("let the user that runs moothall read it, or remove it")
    };
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(fault)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(fault)?.path();
        if path.extension().is_some_and(|end| end == "toml") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Reads the configuration files, the one with the highest precedence last. Each is followed by the
/// files of agents next to it.
pub fn texts(named: Option<&Path>, variables: &Variables) -> Result<Vec<(PathBuf, String)>, Fault> {
    let mut files_read = Vec::new();
    for file in files(named, variables) {
        let parts = agent_files(&file)?;
        files_read.push(file);
        files_read.extend(parts);
    }
    let read = |file: PathBuf| match std::fs::read_to_string(&file) {
        Ok(text) => Ok((file, text)),
        Err(error) => Err(Fault::new(
            Exit::Config,
            format!("cannot read the configuration {}", file.display()),
        )
        .because(error)
        .try_this("name another file with --config FILE, or omit it: each key has a default")),
    };
    files_read.into_iter().map(read).collect()
}

/// Returns the listen address as written: from the variable, or else from the first usual file that
/// can be read. `None` if that file does not set it, even if the next file does. The other values
/// need not be valid, but the file has to be TOML.
pub fn usual_bind(variables: &Variables) -> Option<String> {
    if let Some(bind) = variables.get("MOOTHALL_SERVER__BIND") {
        return Some(bind.clone());
    }
    let text =
        usual_places(variables).iter().find_map(|file| std::fs::read_to_string(file).ok())?;
    let table: toml::Table = text.parse().ok()?;
    Some(table.get("server")?.get("bind")?.as_str()?.to_owned())
}

/// Returns the usual places of the configuration, the one with the highest precedence first.
fn usual_places(variables: &Variables) -> Vec<PathBuf> {
    let xdg = xdg_folder(variables, "XDG_CONFIG_HOME", ".config")
        .map(|folder| folder.join("moothall").join("moothall.toml"));
    [Some(PathBuf::from("moothall.toml")), xdg].into_iter().flatten().collect()
}

/// Returns the default data folder: `moothall` in the XDG data folder. `None` if the variables do
/// not tell it.
pub fn usual_data_folder(variables: &Variables) -> Option<PathBuf> {
    xdg_folder(variables, "XDG_DATA_HOME", ".local/share").map(|folder| folder.join("moothall"))
}

/// Returns the folder for this user's state: `moothall` in the XDG state folder. `None` if the
/// variables do not tell it.
pub fn usual_state_folder(variables: &Variables) -> Option<PathBuf> {
    xdg_folder(variables, "XDG_STATE_HOME", ".local/state").map(|folder| folder.join("moothall"))
}

/// Returns an XDG folder: the path in `variable` if it is set and absolute, otherwise the folder
/// `usual` in the home folder. `None` without a home folder.
fn xdg_folder(variables: &Variables, variable: &str, usual: &str) -> Option<PathBuf> {
    let set = variables.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| {
        variables
            .get("HOME")
            .filter(|home| !home.is_empty())
            .map(|home| Path::new(home).join(usual))
    })
}

/// Returns this process's environment without variables that are not UTF-8.
pub fn environment() -> Variables {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
