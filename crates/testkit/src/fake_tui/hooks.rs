//! Calls hooks: shell commands with JSON on their stdin.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Runs a hook to its end and returns its output. A hook that cannot be run is ignored.
pub(super) fn call(command: &str, payload: &Value) -> String {
    run(command, payload).unwrap_or_default()
}

fn run(command: &str, payload: &Value) -> std::io::Result<String> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook need not read its input.
        let _ = stdin.write_all(payload.to_string().as_bytes());
    }
    Ok(String::from_utf8_lossy(&child.wait_with_output()?.stdout).into_owned())
}

/// Returns the decision of a permission hook, if it made one.
pub(super) fn decision(printed: &str) -> Option<bool> {
    let printed: Value = serde_json::from_str(printed.trim()).ok()?;
    match printed["hookSpecificOutput"]["decision"]["behavior"].as_str() {
        Some("allow") => Some(true),
        Some("deny") => Some(false),
        _ => None,
    }
}
