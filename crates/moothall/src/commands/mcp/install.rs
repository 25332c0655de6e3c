//! `mcp install`: what a client's configuration needs, shown or put into it.
//!
//! A client runs `moothall mcp` and hands it the variables that a session's environment has, so the server knows which session calls.
//! Outside a session there are none, and the client is what it says it is.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::cli::McpClient;
use crate::config::Variables;
use crate::fault::{Exit, Fault};
use crate::paint::{Paper, note};

/// What the server is called there.
const NAME: &str = "moothall";
/// Variables of a session that the program needs.
const VARIABLES: [&str; 3] = ["MOOTHALL_URL", "MOOTHALL_SESSION_TOKEN", "MOOTHALL_SPOOL"];

pub fn run(paper: &Paper, client: McpClient, write: bool, variables: &Variables) -> Result<(), Fault> {
    let program = std::env::current_exe().map_err(|error| Fault::io("cannot tell where this program is", &error))?;
    let program = program.to_string_lossy();
    let file = file_of(client, variables)?;
    let before = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Fault::io(format!("cannot read {}", file.display()), &error)),
    };
    let after = match client {
        McpClient::Codex => with_toml(&before, &program),
        McpClient::Claude | McpClient::Gemini => with_json(&before, client, &program),
    };
    let after = after.map_err(|why| {
        Fault::new(Exit::Config, format!("{} cannot be changed", file.display())).because(why).try_this("put it there by hand")
    });
    if !write {
        return show(paper, client, &program, &file);
    }
    let after = after?;
    if after != before {
        replace(&file, &after).map_err(|error| Fault::io(format!("cannot write {}", file.display()), &error))?;
    }
    if paper.json {
        return paper.object(&json!({"file": file, "changed": after != before}));
    }
    note(&format!("{} {}.", file.display(), if after == before { "has it already" } else { "has it now; restart the client" }));
    Ok(())
}

/// Where a client reads its servers: of Claude the folder's own file, which it asks about before it uses it.
fn file_of(client: McpClient, variables: &Variables) -> Result<PathBuf, Fault> {
    let home = || {
        let home = variables.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        home.ok_or_else(|| Fault::new(Exit::Failure, "there is no home folder").try_this("set HOME"))
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

fn show(paper: &Paper, client: McpClient, program: &str, file: &Path) -> Result<(), Fault> {
    let text = match client {
        McpClient::Codex => toml_entry(program),
        McpClient::Claude | McpClient::Gemini => {
            serde_json::to_string_pretty(&json!({"mcpServers": {NAME: json_entry(client, program)}})).unwrap_or_default()
        }
    };
    if paper.json {
        return paper.object(&json!({"file": file, "text": text}));
    }
    note(&format!("Into {} (or again with --write):", file.display()));
    paper.line(text.trim_end())
}

/// Each client fills variables in differently, and only those that it is told of.
fn json_entry(client: McpClient, program: &str) -> Value {
    let filled = |name: &str| if client == McpClient::Claude { format!("${{{name}:-}}") } else { format!("${name}") };
    let env: Map<String, Value> = VARIABLES.iter().map(|name| ((*name).to_owned(), json!(filled(name)))).collect();
    json!({"command": program, "args": ["mcp"], "env": env})
}

fn with_json(before: &str, client: McpClient, program: &str) -> Result<String, String> {
    let mut whole: Value =
        if before.trim().is_empty() { json!({}) } else { serde_json::from_str(before).map_err(|error| error.to_string())? };
    let servers = whole.as_object_mut().ok_or("it is no object")?.entry("mcpServers").or_insert_with(|| json!({}));
    let servers = servers.as_object_mut().ok_or("mcpServers is no object")?;
    let entry = json_entry(client, program);
    if servers.get(NAME) == Some(&entry) {
        return Ok(before.to_owned());
    }
    servers.insert(NAME.to_owned(), entry);
    serde_json::to_string_pretty(&whole).map(|text| text + "\n").map_err(|error| error.to_string())
}

fn toml_entry(program: &str) -> String {
    let names: Vec<_> = VARIABLES.iter().map(|name| format!("\"{name}\"")).collect();
    let program = toml::Value::String(program.to_owned());
    format!("[mcp_servers.{NAME}]\ncommand = {program}\nargs = [\"mcp\"]\nenv_vars = [{}]\n", names.join(", "))
}

/// The text stays as it is, with its comments; the entry is put behind it.
fn with_toml(before: &str, program: &str) -> Result<String, String> {
    let whole: toml::Table = before.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let entry = toml_entry(program);
    let wanted: toml::Table = entry.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let servers = |table: &toml::Table| table.get("mcp_servers").and_then(|servers| servers.get(NAME)).cloned();
    match servers(&whole) {
        None if before.trim().is_empty() => Ok(entry),
        None => Ok(format!("{}\n\n{entry}", before.trim_end())),
        same if same == servers(&wanted) => Ok(before.to_owned()),
        Some(_) => Err(format!("it has another [mcp_servers.{NAME}]; take that out first")),
    }
}

/// The whole file at once, so that nobody ever reads half of it.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
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
        // What was there before is there still; only the half-made one goes.
        let _ = fs::remove_file(&beside);
    }
    replaced
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_clients_own_settings_stay() {
        let before = "{\"theme\": \"dark\", \"mcpServers\": {\"other\": {\"command\": \"x\"}}}";
        let after = with_json(before, McpClient::Gemini, "/bin/moothall").unwrap();
        let read: Value = serde_json::from_str(&after).unwrap();
        assert_eq!((&read["theme"], &read["mcpServers"]["other"]["command"]), (&json!("dark"), &json!("x")));
        assert_eq!(read["mcpServers"]["moothall"]["args"], json!(["mcp"]));
        assert_eq!(read["mcpServers"]["moothall"]["env"]["MOOTHALL_URL"], "$MOOTHALL_URL");
        assert_eq!(with_json(&after, McpClient::Gemini, "/bin/moothall").unwrap(), after);
        for broken in ["[]", "{", "{\"mcpServers\": 3}"] {
            assert!(with_json(broken, McpClient::Claude, "x").is_err(), "{broken}");
        }
    }

    #[test]
    fn comments_in_a_configuration_stay() {
        let before = "# Mine\nmodel = \"m\" # best\n\n[mcp_servers.other]\ncommand = \"x\"\n";
        let after = with_toml(before, "C:\\moot \"hall\"").unwrap();
        assert!(after.starts_with(before), "{after}");
        let read: toml::Table = after.parse().unwrap();
        assert_eq!(read["mcp_servers"]["moothall"]["command"].as_str(), Some("C:\\moot \"hall\""));
        assert_eq!(with_toml(&after, "C:\\moot \"hall\"").unwrap(), after);
        assert!(with_toml(&after, "elsewhere").unwrap_err().contains("take that out"));
        assert_eq!(with_toml("", "m").unwrap(), toml_entry("m"));
        assert!(with_toml("a = ", "m").is_err());
    }
}
