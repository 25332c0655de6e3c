//! A home for one run of Gemini CLI: links to the files of its user's home, and its settings with
//! hooks and tools added.
//!
//! Gemini CLI takes no settings as arguments, and accepts system-wide files only from an
//! administrator. So it gets a folder of links to its user's files. Existing files, such as its
//! login, and its records are the user's own. Changes of settings, and other new files, end with
//! the session.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::terminal::hooks::{private_folder, write_private};

/// The folder of Gemini CLI in a home.
const OWN: &str = ".gemini";
const SETTINGS: &str = "settings.json";
/// Levels of settings to merge: sections, and their fields.
const LEVELS: usize = 2;
/// The folders of its records, which a resumed session needs.
const RECORDS: [&str; 2] = ["tmp", "history"];
/// A file of variables that it reads from the home.
const VARIABLES: &str = ".env";

/// Makes a home below `folder` with links to the user's own files and with the settings `added`,
/// and returns it.
///
/// # Errors
/// A file cannot be written, or the user's settings cannot be read.
pub(super) fn furnish(folder: &Path, user: &Path, added: &Value) -> io::Result<PathBuf> {
    let home = folder.join("gemini");
    let own = home.join(OWN);
    private_folder(&home)?;
    private_folder(&own)?;
    link(&user.join(VARIABLES), &home.join(VARIABLES))?;
    for records in RECORDS.iter().filter(|_| user.is_absolute()) {
        // A first run would create these in its own home, and they would be deleted with it. An
        // error is ignored: the program starts even if its user's home is not writable.
        let _ = fs::create_dir_all(user.join(OWN).join(records));
    }
    for entry in fs::read_dir(user.join(OWN)).into_iter().flatten() {
        let entry = entry?;
        if entry.file_name() != SETTINGS {
            link(&entry.path(), &own.join(entry.file_name()))?;
        }
    }
    let settings = with(settings(&user.join(OWN).join(SETTINGS))?, added, LEVELS);
    write_private(&own, SETTINGS, settings.to_string().as_bytes())?;
    Ok(home)
}

/// Makes a link `from` to the file `to`, if that file exists and nothing is in the place of the
/// link.
fn link(to: &Path, from: &Path) -> io::Result<()> {
    if !to.exists() || from.symlink_metadata().is_ok() {
        return Ok(());
    }
    symlink(to, from)
}

/// Returns the user's own settings, which may hold comments. A missing file counts as empty
/// settings.
fn settings(file: &Path) -> io::Result<Value> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Value::Object(Map::new()));
        }
        Err(error) => {
            return Err(io::Error::new(error.kind(), format!("{}: {error}", file.display())));
        }
    };
    let read = serde_json::from_str(&without_comments(&text)).ok().filter(Value::is_object);
    read.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{} is not a JSON object; correct it", file.display()),
        )
    })
}

/// Merges settings down to `levels`: sections and their fields by name, lists by appending. For any
/// other value, the added one counts.
fn with(own: Value, added: &Value, levels: usize) -> Value {
    match (own, added) {
        (Value::Object(mut own), Value::Object(added)) if levels > 0 => {
            for (name, value) in added {
                let field = own.remove(name).unwrap_or(Value::Null);
                own.insert(name.clone(), with(field, value, levels - 1));
            }
            Value::Object(own)
        }
        (Value::Array(own), Value::Array(added)) => {
            Value::Array(own.into_iter().chain(added.iter().cloned()).collect())
        }
        (_, added) => added.clone(),
    }
}

/// Removes `//` and `/* */` comments outside of strings.
fn without_comments(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => string_bytes(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
                continue;
            }
            c => c.len_utf8(),
        };
        kept.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    kept
}

/// Returns the length of the string at the beginning of a text, with both quotes.
fn string_bytes(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            c => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_home_is_the_users_with_more_settings() {
        let (folder, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let own = user.path().join(OWN);
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("oauth_creds.json"), "login").unwrap();
        let kept = "{ // mine\n \"ui\": {\"theme\": \"a // \\\" b\"}, /* and */ \"hooks\": {\"AfterAgent\": [1]}, \
                    \"mcpServers\": {\"moothall\": {\"args\": [\"mcp\"], \"env\": {}}}}";
        fs::write(own.join(SETTINGS), kept).unwrap();
        let added = json!({"hooks": {"AfterAgent": [2], "SessionEnd": [3]}, "mcpServers": {"moothall": {"args": ["mcp"]}}});
        for _ in 0..2 {
            let home = furnish(folder.path(), user.path(), &added).unwrap();
            let settings: Value =
                serde_json::from_slice(&fs::read(home.join(OWN).join(SETTINGS)).unwrap()).unwrap();
            let wanted = json!({
                "ui": {"theme": "a // \" b"}, "hooks": {"AfterAgent": [1, 2], "SessionEnd": [3]},
                "mcpServers": {"moothall": {"args": ["mcp"]}},
            });
            assert_eq!(settings, wanted);
            fs::write(home.join(OWN).join("tmp/record"), "said").unwrap();
            assert_eq!(
                fs::read_to_string(home.join(OWN).join("oauth_creds.json")).unwrap(),
                "login"
            );
        }
        assert_eq!(
            fs::read_to_string(own.join("tmp/record")).unwrap(),
            "said",
            "what it records is the user's"
        );
        assert_eq!(
            fs::read_to_string(own.join(SETTINGS)).unwrap(),
            kept,
            "and what the user had is as it was"
        );
    }

    #[test]
    fn records_outlive_the_session_also_of_a_user_who_had_none() {
        let (folder, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let home = furnish(folder.path(), user.path(), &json!({})).unwrap();
        fs::write(home.join(OWN).join("tmp/record"), "said").unwrap();
        drop(folder);
        assert_eq!(fs::read_to_string(user.path().join(OWN).join("tmp/record")).unwrap(), "said");
    }

    #[test]
    fn settings_that_are_none_are_named() {
        let (folder, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert!(
            furnish(folder.path(), user.path(), &json!({"a": 1})).is_ok(),
            "there may be none at all"
        );
        fs::write(user.path().join(OWN).join(SETTINGS), "{\"a\": ").unwrap();
        let error = furnish(folder.path(), user.path(), &json!({})).unwrap_err();
        assert!(error.to_string().contains("settings.json is not a JSON object"), "{error}");
    }
}
