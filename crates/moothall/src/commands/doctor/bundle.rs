//! `doctor --bundle`: one file for a report of a problem. It has no words of conversations and no
//! secrets: texts of the configuration are left out unless their key is known to be harmless, and
//! everything is searched for secrets before it is written.

use std::fs;
use std::path::Path;

use moothall_surfaces::wire::{AgentList, SessionList};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{PING_WITHIN, Report};
use crate::background;
use crate::cli::{DataFolder, Doctor};
use crate::client::Client;
use crate::config::{self, Setting, Variables, names_a_secret};
use crate::credential::{CredentialOptions, ResolvedServer, write_private};
use crate::fault::{Exit, Fault};
use crate::own_program;
use crate::paint::{Printer, note};
use crate::place::data_folder_of;
use crate::threads;

/// Number of lines from the end of the server's log.
const LOG_LINES: usize = 200;
/// Minimum length of a secret that is searched for, in bytes. A shorter text is too common.
const SECRET_BYTES_MIN: usize = 6;
/// Beginnings of credentials.
const CREDENTIALS: [&str; 10] =
    ["boot_", "pat_", "ses_", "agt_", "usr_", "inv_", "pair_", "acc_", "sk-", "Bearer "];
/// Endings of keys whose texts are shown: each is one of a few words, or an address to listen on.
const HARMLESS: [&str; 12] = [
    "server.bind",
    "server.mode",
    "server.unasked",
    "defaults.name",
    "budgets.currency",
    ".runtime",
    ".provider",
    ".on_lost",
    ".screen",
    ".reach",
    ".stdin",
    ".strangers",
];

/// Writes the bundle to a new file.
///
/// # Errors
/// The file exists, or cannot be written.
pub async fn write(
    file: &Path,
    args: &Doctor,
    said: &CredentialOptions<'_>,
    report: &Report,
    printer: &Printer,
) -> Result<(), Fault> {
    if file.exists() {
        return Err(Fault::new(Exit::Failure, format!("{} exists already", file.display()))
            .try_this("name a new file with --bundle FILE"));
    }
    let variables = config::environment();
    let bundle = json!({
        "program": own_program::description(),
        "system": {"os": std::env::consts::OS, "arch": std::env::consts::ARCH},
        "doctor": report,
        "configuration": settings(args, &variables),
        "data": sizes(args, &variables),
        "counts": counts(said, &variables).await,
        "log": log(&variables),
    });
    let text = scrubbed(&format!("{bundle:#}\n"), &secrets(args, &variables));
    write_private(file, text.as_bytes())
        .map_err(|error| Fault::io(format!("cannot write {}", file.display()), &error))?;
    if !printer.json {
        note(&format!("Wrote {}. Read it before you share it.", file.display()));
    }
    Ok(())
}

/// Returns the settings with their origins, most texts replaced by their length. If the
/// configuration cannot be read, returns the error.
fn settings(args: &Doctor, variables: &Variables) -> Value {
    match config::settings(args.place.config.as_deref(), variables) {
        Ok(settings) => settings.iter().map(shown).collect(),
        Err(fault) => json!(fault.what),
    }
}

/// Returns a setting for the bundle. Lists and tables, and texts whose key is not in [`HARMLESS`],
/// are replaced by their length.
fn shown(setting: &Setting) -> Value {
    let key = &setting.key;
    let is_harmless = HARMLESS.iter().any(|end| key.ends_with(end));
    let value = match &setting.value {
        toml::Value::String(text) if is_harmless => json!(text),
        toml::Value::String(text) => json!(format!("(text, {} bytes)", text.len())),
        toml::Value::Array(items) => json!(format!("(list of {})", items.len())),
        toml::Value::Table(table) => json!(format!("(table of {})", table.len())),
        other => json!(other),
    };
    json!({"key": key, "value": value, "origin": setting.origin})
}

/// Returns the size of each file in the data folder, in bytes, without subfolders.
fn sizes(args: &Doctor, variables: &Variables) -> Value {
    let (config, data) = (args.place.config.clone(), args.place.data.clone());
    let folder = data_folder_of(&DataFolder { config, data }, variables);
    let Ok(folder) = folder else { return Value::Null };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| {
        let found = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((entry.file_name().to_string_lossy().into_owned(), json!(found.len())))
    };
    entries.filter_map(size).collect::<serde_json::Map<_, _>>().into()
}

/// Returns the numbers of conversations, events, agents and sessions. Null if the server does not
/// answer in time, or refuses.
async fn counts(said: &CredentialOptions<'_>, variables: &Variables) -> Value {
    let counted = async {
        let meant = ResolvedServer::find(said, variables).ok()?;
        let client = Client::new(&meant.server, meant.cacert.as_deref()).ok()?;
        let client = client.with(meant.credential);
        let threads = threads::all(&client).await.ok()?;
        let agents: AgentList = client.get("/agents").await.ok()?;
        let sessions: SessionList = client.get("/sessions").await.ok()?;
        let events: u64 = threads.iter().map(|thread| thread.head).sum();
        Some(json!({"conversations": threads.len(), "events": events,
            "agents": agents.agents.len(), "sessions": sessions.sessions.len()}))
    };
    timeout(PING_WITHIN, counted).await.ok().flatten().into()
}

/// Returns the last lines that a server in the background logged.
fn log(variables: &Variables) -> Value {
    let text = background::log_of(variables).and_then(|log| fs::read(log).ok());
    let Some(text) = text else { return json!([]) };
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    json!(lines[lines.len().saturating_sub(LOG_LINES)..])
}

/// Returns the secrets in this user's environment and configuration, the longest first. Leaves out
/// those shorter than [`SECRET_BYTES_MIN`], and the outputs of commands, which are not run.
fn secrets(args: &Doctor, variables: &Variables) -> Vec<String> {
    let set = variables.iter().filter(|(name, _)| names_a_secret(name));
    let mut found: Vec<String> = set.map(|(_, value)| value.clone()).collect();
    found.extend(config::secrets(args.place.config.as_deref(), variables));
    found.retain(|secret| secret.len() >= SECRET_BYTES_MIN);
    // A secret may contain another one, so the longer one has to be replaced first.
    found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    found
}

/// Replaces these secrets in a text, and every word that begins as a credential does.
fn scrubbed(text: &str, secrets: &[String]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        // The text is JSON, in which quotes and backslashes are escaped.
        let written = json!(secret).to_string();
        text = text.replace(&written[1..written.len() - 1], "(secret)");
    }
    CREDENTIALS.iter().fold(text, |text, begin| without_credentials(&text, begin))
}

/// Replaces each word that follows `begin`, if it is long enough to be a credential.
fn without_credentials(text: &str, begin: &str) -> String {
    let mut pieces = text.split(begin);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let end = piece.find(|c| !is_part(c)).unwrap_or(piece.len());
        out.push_str(begin);
        out.push_str(if end >= SECRET_BYTES_MIN { "(secret)" } else { &piece[..end] });
        out.push_str(&piece[end..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_credentials_are_replaced() {
        let secrets = ["say \"friend\"".to_owned()];
        let text =
            json!({"a": "x say \"friend\" y", "b": "#key=boot_0123456789, ses_ and sk-a1b2c3d4"});
        assert_eq!(
            scrubbed(&text.to_string(), &secrets),
            r##"{"a":"x (secret) y","b":"#key=boot_(secret), ses_ and sk-(secret)"}"##
        );
    }

    #[test]
    fn texts_are_left_out_unless_their_key_is_harmless() {
        let value = |key: &str, value: &str| {
            let (key, value) = (key.to_owned(), toml::Value::String(value.to_owned()));
            shown(&Setting { key, value, origin: String::new() })["value"].clone()
        };
        assert_eq!(value("agents.ada.runtime", "llm"), "llm");
        assert_eq!(value("agents.ada.system", "You know it."), "(text, 12 bytes)");
    }
}
