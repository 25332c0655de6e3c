//! `mcp install` and `mcp uninstall`: show, write or remove the entry in a client's configuration.
//!
//! A client runs `moothall mcp`. Inside a session it passes on the session's variables, so that the
//! server knows which session calls. Outside a session these are missing, and the client is an
//! agent with a token of its own. Installation creates that token in a file, which the
//! configuration names. An explicitly named server is written into the configuration; inside a
//! session, the session's own server wins.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use moothall_surfaces::wire::{TokenCreated, TokenRequest, TokenRevoked};
use serde_json::{Map, Value, json};

use crate::cli::McpClient;
use crate::client::{Client, segment};
use crate::commands::token;
use crate::config::{Variables, usual_state_folder};
use crate::credential::{CLIENT_VARIABLE, write_private};
use crate::fault::{Exit, Fault};
use crate::own_program;
use crate::paint::{Printer, note};

/// Name of the server in a client's configuration.
const NAME: &str = "moothall";
/// Variables of a session that the program needs.
const VARIABLES: [&str; 3] = ["MOOTHALL_URL", "MOOTHALL_SESSION_TOKEN", "MOOTHALL_SPOOL"];

/// Rights of a client's token: the usual ones of a working agent.
const SCOPES: [&str; 4] =
    ["threads:read", "threads:write", "participants:invite", "sessions:drive"];

/// The command that a client starts.
struct Start {
    program: String,
    args: Vec<String>,
    /// File with the client's token.
    token: Option<String>,
}

impl Start {
    /// Creates the command `mcp`, for the named server if there is one.
    fn new(program: impl Into<String>, server: Option<&str>, token: Option<&Path>) -> Self {
        let named = server.map(|server| ["--server".to_owned(), server.to_owned()]);
        let args = named.into_iter().flatten().chain(["mcp".to_owned()]).collect();
        Self {
            program: program.into(),
            args,
            token: token.map(|file| file.to_string_lossy().into_owned()),
        }
    }
}

/// Shows the client's entry, or, with `write`, puts it into the client's configuration. Writing
/// also creates a token if the client has none. The entry names `server` if it is given.
pub async fn run(
    printer: &Printer,
    person: &Client,
    client: McpClient,
    write: bool,
    server: Option<&str>,
    variables: &Variables,
) -> Result<(), Fault> {
    let program = own_program::lasting(variables)
        .map_err(|error| Fault::io("cannot find the path of this program", &error))?;
    let (file, kept) = (file_of(client, variables)?, token_of(client, variables));
    let before = read(&file)?;
    let token = if write {
        ensure_token_file(person, client, kept).await
    } else {
        kept.filter(|file| file.exists())
    };
    let start = Start::new(program.to_string_lossy(), server, token.as_deref());
    let after = match client {
        McpClient::Codex => with_toml(&before, &start),
        McpClient::Claude | McpClient::Gemini => with_json(&before, client, &start),
    };
    if !write {
        return show(printer, client, &start, &file);
    }
    let after = after.map_err(|why| cannot_change(&file, why))?;
    if after != before {
        replace(&file, &after)
            .map_err(|error| Fault::io(format!("cannot write {}", file.display()), &error))?;
    }
    if printer.json {
        return printer.object(&json!({"file": file, "changed": after != before, "token": token}));
    }
    note(&format!(
        "{} {}.",
        file.display(),
        if after == before { "contains it already" } else { "contains it now; restart the client" }
    ));
    Ok(())
}

/// Removes the entry from the client's configuration. If the client has a token file, revokes the
/// tokens of its principal and deletes the file. With `is_rehearsal`, only prints these changes.
pub async fn undo(
    printer: &Printer,
    person: &Client,
    client: McpClient,
    is_rehearsal: bool,
    variables: &Variables,
) -> Result<(), Fault> {
    let file = file_of(client, variables)?;
    let before = read(&file)?;
    let after = match client {
        McpClient::Codex => without_toml(&before),
        McpClient::Claude | McpClient::Gemini => without_json(&before),
    };
    let after = after.map_err(|why| cannot_change(&file, why))?;
    let kept = token_of(client, variables).filter(|file| file.exists());
    if is_rehearsal {
        return rehearse(printer, &file, after != before, kept.as_deref());
    }
    if after != before {
        replace(&file, &after)
            .map_err(|error| Fault::io(format!("cannot write {}", file.display()), &error))?;
    }
    if let Some(kept) = &kept {
        revoke(person, client).await?;
        fs::remove_file(kept)
            .map_err(|error| Fault::io(format!("cannot remove {}", kept.display()), &error))?;
    }
    if printer.json {
        return printer
            .object(&json!({"file": file, "changed": after != before, "revoked": kept.is_some()}));
    }
    note(&format!(
        "{} {}.",
        file.display(),
        if after == before { "did not contain it" } else { "does not contain it any more" }
    ));
    Ok(())
}

/// Prints the changes that a removal would make.
fn rehearse(
    printer: &Printer,
    file: &Path,
    is_changed: bool,
    token: Option<&Path>,
) -> Result<(), Fault> {
    if printer.json {
        return printer.object(
            &json!({"dry_run": true, "file": file, "changed": is_changed, "token": token}),
        );
    }
    let entry = if is_changed { "would be removed from" } else { "is not in" };
    printer.line(&format!("The entry {entry} {}.", file.display()))?;
    token.map_or(Ok(()), |token| {
        printer.line(&format!("The token in {} would be revoked.", token.display()))
    })
}

fn read(file: &Path) -> Result<String, Fault> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Fault::io(format!("cannot read {}", file.display()), &error)),
    }
}

fn cannot_change(file: &Path, why: String) -> Fault {
    Fault::new(Exit::Config, format!("{} cannot be changed", file.display()))
        .because(why)
        .try_this("edit it by hand")
}

/// Returns the principal to which a client's token belongs.
fn principal_of(client: McpClient) -> &'static str {
    match client {
        McpClient::Claude => "mcp-claude",
        McpClient::Codex => "mcp-codex",
        McpClient::Gemini => "mcp-gemini",
    }
}

/// Returns the private file for a client's token.
fn token_of(client: McpClient, variables: &Variables) -> Option<PathBuf> {
    usual_state_folder(variables).map(|folder| folder.join("mcp").join(principal_of(client)))
}

/// Returns the file with the client's token, and creates a missing token. If the server refuses or
/// is unreachable, prints a note and returns `None`: the client then has only the rights of callers
/// without a token.
async fn ensure_token_file(
    person: &Client,
    client: McpClient,
    file: Option<PathBuf>,
) -> Option<PathBuf> {
    let file = file?;
    if file.exists() {
        return Some(file);
    }
    let request = TokenRequest {
        principal: principal_of(client).to_owned(),
        kind: Some("agent".into()),
        scopes: Some(SCOPES.map(str::to_owned).into()),
        label: Some("mcp install".into()),
        ..TokenRequest::default()
    };
    let kept = match person.post::<TokenCreated>("/tokens", &request).await {
        Ok(created) => keep(&file, &created.token)
            .map_err(|error| Fault::io(format!("cannot write {}", file.display()), &error)),
        Err(fault) => Err(fault),
    };
    match kept {
        Ok(()) => Some(file),
        Err(fault) => {
            note(&format!(
                "It has no token: {}. It can converse, but not control sessions; run install \
                 again while the server runs.",
                fault.what
            ));
            None
        }
    }
}

fn keep(file: &Path, token: &str) -> std::io::Result<()> {
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    write_private(file, token.as_bytes())
}

/// Revokes all tokens of the client's principal.
async fn revoke(person: &Client, client: McpClient) -> Result<(), Fault> {
    let list = token::all(person).await?;
    let own = |id: &str| id == principal_of(client);
    for token in
        list.tokens.iter().filter(|token| own(&token.principal.id) && token.revoked_at.is_none())
    {
        let _: TokenRevoked =
            person.post(&format!("/tokens/{}/revoke", segment(&token.id)), &json!({})).await?;
    }
    Ok(())
}

/// Returns the client's configuration file. For Claude it is in the current folder, and Claude asks
/// the person before it uses such a file.
fn file_of(client: McpClient, variables: &Variables) -> Result<PathBuf, Fault> {
    let home = || {
        let home = variables.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        home.ok_or_else(|| {
            Fault::new(Exit::Failure, "the home folder is unknown").try_this("set HOME")
        })
    };
    match client {
        McpClient::Claude => Ok(PathBuf::from(".mcp.json")),
        McpClient::Gemini => Ok(home()?.join(".gemini/settings.json")),
        McpClient::Codex => match variables.get("CODEX_HOME").filter(|folder| !folder.is_empty()) {
            Some(folder) => Ok(PathBuf::from(folder).join("config.toml")),
            None => Ok(home()?.join(".codex/config.toml")),
        },
    }
}

/// Prints the entry and the file to which it belongs, without writing the file.
fn show(printer: &Printer, client: McpClient, program: &Start, file: &Path) -> Result<(), Fault> {
    let text = match client {
        McpClient::Codex => toml_entry(program),
        McpClient::Claude | McpClient::Gemini => serde_json::to_string_pretty(
            &json!({"mcpServers": {NAME: json_entry(client, program)}}),
        )
        .unwrap_or_default(),
    };
    if printer.json {
        return printer.object(&json!({"file": file, "text": text}));
    }
    note(&format!("Add this to {} (or run again with --write):", file.display()));
    printer.line(text.trim_end())
}

/// Returns the JSON entry. It lists the session's variables, because a client passes on only listed
/// ones. The clients differ in the syntax of references to variables.
fn json_entry(client: McpClient, program: &Start) -> Value {
    let filled = |name: &str| {
        if client == McpClient::Claude { format!("${{{name}:-}}") } else { format!("${name}") }
    };
    let mut env: Map<String, Value> =
        VARIABLES.iter().map(|name| ((*name).to_owned(), json!(filled(name)))).collect();
    if let Some(token) = &program.token {
        env.insert(CLIENT_VARIABLE.to_owned(), json!(token));
    }
    json!({"command": program.program, "args": program.args, "env": env})
}

/// Returns the JSON configuration with the entry of this program, in place of an earlier one.
/// Returns it unchanged if it has the same entry already. The error says why the text cannot be
/// extended.
fn with_json(before: &str, client: McpClient, program: &Start) -> Result<String, String> {
    let mut whole: Value = if before.trim().is_empty() {
        json!({})
    } else {
        serde_json::from_str(before).map_err(|error| error.to_string())?
    };
    let servers = whole
        .as_object_mut()
        .ok_or("it is not an object")?
        .entry("mcpServers")
        .or_insert_with(|| json!({}));
    let servers = servers.as_object_mut().ok_or("mcpServers is not an object")?;
    let entry = json_entry(client, program);
    if servers.get(NAME) == Some(&entry) {
        return Ok(before.to_owned());
    }
    servers.insert(NAME.to_owned(), entry);
    serde_json::to_string_pretty(&whole).map(|text| text + "\n").map_err(|error| error.to_string())
}

/// Returns the TOML entry. `env_vars` lists the variables that the client passes on.
fn toml_entry(program: &Start) -> String {
    let names: Vec<_> = VARIABLES.iter().map(|name| format!("\"{name}\"")).collect();
    let args = toml::Value::Array(program.args.iter().cloned().map(toml::Value::String).collect());
    let token = program.token.clone().map(toml::Value::String);
    let program = toml::Value::String(program.program.clone());
    let own =
        token.map_or(String::new(), |file| format!("env = {{ {CLIENT_VARIABLE} = {file} }}\n"));
    format!(
        "[mcp_servers.{NAME}]\ncommand = {program}\nargs = {args}\nenv_vars = [{}]\n{own}",
        names.join(", ")
    )
}

/// Returns the TOML configuration with the entry added at its end. The existing text stays as it
/// is, with its comments. Returns it unchanged if it has the same entry already. Another entry of
/// this name is an error.
fn with_toml(before: &str, program: &Start) -> Result<String, String> {
    let whole: toml::Table = before.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let entry = toml_entry(program);
    let wanted: toml::Table = entry.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let servers = |table: &toml::Table| {
        table.get("mcp_servers").and_then(|servers| servers.get(NAME)).cloned()
    };
    match servers(&whole) {
        None if before.trim().is_empty() => Ok(entry),
        None => Ok(format!("{}\n\n{entry}", before.trim_end())),
        same if same == servers(&wanted) => Ok(before.to_owned()),
        Some(_) => Err(format!(
            "it has another [mcp_servers.{NAME}]; remove that first, e.g. with `moothall mcp \
             uninstall codex`"
        )),
    }
}

/// Returns the JSON configuration without the entry; unchanged if it has none.
fn without_json(before: &str) -> Result<String, String> {
    if before.trim().is_empty() {
        return Ok(before.to_owned());
    }
    let mut whole: Value = serde_json::from_str(before).map_err(|error| error.to_string())?;
    let servers = whole.get_mut("mcpServers").and_then(Value::as_object_mut);
    if servers.and_then(|servers| servers.remove(NAME)).is_none() {
        return Ok(before.to_owned());
    }
    serde_json::to_string_pretty(&whole).map(|text| text + "\n").map_err(|error| error.to_string())
}

/// Removes the lines of the entry, from its header to the next header, and leaves all other lines.
/// An entry in another form is an error.
fn without_toml(before: &str) -> Result<String, String> {
    let head = format!("[mcp_servers.{NAME}]");
    let mut inside = false;
    let kept = before.split_inclusive('\n').filter(|line| {
        if line.trim_start().starts_with('[') {
            inside = line.trim() == head;
        }
        !inside
    });
    let after: String = kept.collect();
    let whole: toml::Table = after.parse().map_err(|error: toml::de::Error| error.to_string())?;
    match whole.get("mcp_servers").and_then(|servers| servers.get(NAME)) {
        None if after.trim().is_empty() => Ok(String::new()),
        None if after == before => Ok(after),
        None => Ok(format!("{}\n", after.trim_end())),
        Some(_) => Err(format!("{head} has another form there")),
    }
}

/// Replaces the file atomically, so that readers never see half of it. The new file has the
/// permissions of the old one. If the path is a link, replaces the file to which it leads.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder =
        file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let beside = folder.join(format!(".moothall-{}", uuid::Uuid::now_v7()));
    let written = fs::File::create_new(&beside).and_then(|mut made| {
        if let Ok(known) = fs::metadata(&file) {
            made.set_permissions(known.permissions())?;
        }
        made.write_all(text.as_bytes())?;
        made.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&beside, &file));
    if replaced.is_err() {
        // The old file is still in place; remove only the unfinished one.
        let _ = fs::remove_file(&beside);
    }
    replaced
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn plain(program: &str) -> Start {
        Start::new(program, None, None)
    }

    #[test]
    fn a_server_that_was_named_is_named_there_too() {
        let named = Start::new("/bin/moothall", Some("http://127.0.0.1:7000"), None);
        let json: Value =
            serde_json::from_str(&with_json("", McpClient::Claude, &named).unwrap()).unwrap();
        assert_eq!(
            json["mcpServers"]["moothall"]["args"],
            json!(["--server", "http://127.0.0.1:7000", "mcp"])
        );
        let toml: toml::Table = with_toml("", &named).unwrap().parse().unwrap();
        assert_eq!(
            toml["mcp_servers"]["moothall"]["args"][1].as_str(),
            Some("http://127.0.0.1:7000")
        );
    }

    #[test]
    fn a_clients_own_settings_stay() {
        let before = "{\"theme\": \"dark\", \"mcpServers\": {\"other\": {\"command\": \"x\"}}}";
        let after = with_json(before, McpClient::Gemini, &plain("/bin/moothall")).unwrap();
        let read: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(
            (&read["theme"], &read["mcpServers"]["other"]["command"]),
            (&json!("dark"), &json!("x"))
        );
        assert_eq!(read["mcpServers"]["moothall"]["args"], json!(["mcp"]));
        assert_eq!(read["mcpServers"]["moothall"]["env"]["MOOTHALL_URL"], "$MOOTHALL_URL");
        assert_eq!(with_json(&after, McpClient::Gemini, &plain("/bin/moothall")).unwrap(), after);
        for broken in ["[]", "{", "{\"mcpServers\": 3}"] {
            assert!(with_json(broken, McpClient::Claude, &plain("x")).is_err(), "{broken}");
        }
    }

    #[test]
    fn what_was_put_in_is_taken_out_again_and_nothing_else() {
        let start = Start::new("/bin/moothall", None, Some(Path::new("/state/mcp/mcp-codex")));
        let before = "# Mine\nmodel = \"m\"\n\n[mcp_servers.other]\ncommand = \"x\"\n";
        let with = with_toml(before, &start).unwrap();
        assert!(with.contains("MOOTHALL_AGENT_TOKEN_FILE"), "{with}");
        assert_eq!(without_toml(&with).unwrap(), before);
        assert_eq!(
            without_toml(&format!("{with}\n[last]\na = 1\n")).unwrap(),
            format!("{before}\n[last]\na = 1\n")
        );
        assert_eq!(
            (without_toml(before).unwrap(), without_toml("").unwrap()),
            (before.to_owned(), String::new())
        );
        assert!(without_toml("mcp_servers.moothall.command = \"x\"\n").is_err());
        let with = with_json("{\"theme\": \"dark\"}", McpClient::Gemini, &start).unwrap();
        let read: Value = serde_json::from_str(&with).unwrap();
        assert_eq!(
            read["mcpServers"]["moothall"]["env"]["MOOTHALL_AGENT_TOKEN_FILE"],
            "/state/mcp/mcp-codex"
        );
        let without: Value = serde_json::from_str(&without_json(&with).unwrap()).unwrap();
        assert_eq!(without, json!({"theme": "dark", "mcpServers": {}}));
        assert_eq!(without_json("{\"a\":1}").unwrap(), "{\"a\":1}");
    }

    #[test]
    fn comments_in_a_configuration_stay() {
        let before = "# Mine\nmodel = \"m\" # best\n\n[mcp_servers.other]\ncommand = \"x\"\n";
        let hall = plain("C:\\moot \"hall\"");
        let after = with_toml(before, &hall).unwrap();
        assert!(after.starts_with(before), "{after}");
        let read: toml::Table = after.parse().unwrap();
        assert_eq!(read["mcp_servers"]["moothall"]["command"].as_str(), Some("C:\\moot \"hall\""));
        assert_eq!(with_toml(&after, &hall).unwrap(), after);
        assert!(with_toml(&after, &plain("elsewhere")).unwrap_err().contains("remove that first"));
        assert_eq!(with_toml("", &plain("m")).unwrap(), toml_entry(&plain("m")));
        assert!(with_toml("a = ", &plain("m")).is_err());
    }
}
