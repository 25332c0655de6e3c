//! Leftovers of a server after its end.

use std::process::{Command, Output};

use serde_json::json;

use crate::harness::{Home, comes_about};

/// Lists the sessions on a home's tmux server.
fn tmux(home: &Home) -> Output {
    let socket = home.data().join("tmux/tmux.sock");
    Command::new("tmux").arg("-S").arg(socket).arg("list-sessions").output().unwrap()
}

#[tokio::test]
async fn a_tmux_server_stays_as_long_as_a_program_lives_in_it() {
    if !crate::terminal::is_possible() {
        return;
    }
    let home = Home::new();
    home.configure(
        "[agents.sitter]\nruntime = \"terminal\"\nscreen = \"claude\"\ncommand = [\"cat\"]\n",
    );
    let server = home.sign().serve();
    let started = server.accepted("/sessions", json!({"client": "sitter", "cwd": "/"})).await;
    let id = started["id"].as_str().unwrap();
    assert!(server.stop().success());
    assert!(tmux(&home).status.success(), "its program lives on");

    let server = home.serve();
    server.accepted(&format!("/sessions/{id}/end"), json!({})).await;
    let alone = async || String::from_utf8_lossy(&tmux(&home).stdout).lines().count() == 1;
    assert!(comes_about(alone).await, "only the hub is left");
    assert!(server.stop().success());
    assert!(!tmux(&home).status.success(), "and with the server that goes too");
}
