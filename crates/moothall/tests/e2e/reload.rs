//! SIGHUP: the configuration is read again, and a server whose terminal was closed ends calmly.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Home, PATIENCE, Server, comes_about};

const SCRIPT: &str = "[defaults]\ncooldown_seconds = 0\n[agents.ada]\nreplies = [\"first\"]\n[agents.bob]\nreplies = [\"here\"]\n";

/// A server whose standard error is read line by line.
fn listened(home: &Home) -> (Server<'_>, mpsc::Receiver<String>) {
    let data = home.data();
    let mut command = home.command(&["serve", "--json", "--bind", "127.0.0.1:0", "--data", data.to_str().unwrap()]);
    let (reading, writing) = std::io::pipe().unwrap();
    command.stderr(Stdio::from(writing));
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(reading).lines().map_while(Result::ok).map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
    });
    (home.serve_by(command), lines)
}

/// The next line that begins so.
fn said(lines: &mpsc::Receiver<String>, begins: &str) -> String {
    loop {
        let line = lines.recv_timeout(PATIENCE).expect("a line, and none came");
        if line.contains(begins) {
            return line;
        }
    }
}

#[tokio::test]
async fn a_reload_takes_over_agents_and_defaults_and_says_what_it_did() {
    let home = Home::new();
    home.configure(SCRIPT);
    let (server, lines) = listened(&home);
    let thread = server.thread().await;
    for agent in ["ada", "bob"] {
        server.invite(&thread, agent, agent).await;
    }
    let asked = server.say(&thread, "@ada one").await;
    assert_eq!(server.reply(&thread, &asked, "ada").await["content"], "first");

    home.configure(
        "[server]\nallowed_hosts = [\"hall.lan\"]\n[defaults]\ncooldown_seconds = 0\nmax_depth = 3\n\
         [agents.ada]\nreplies = [\"second\"]\n[agents.eve]\nreplies = [\"new\"]\n",
    );
    server.signal(Signal::SIGHUP);
    assert!(said(&lines, "read again").ends_with("added: eve; changed: ada; removed: bob; other [defaults]."));
    assert!(said(&lines, "A restart is needed").ends_with("allowed_hosts."));

    let asked = server.say(&thread, "@ada two").await;
    assert_eq!(server.reply(&thread, &asked, "ada").await["content"], "second");
    server.invite(&thread, "eve", "eve").await;
    let asked = server.say(&thread, "@eve three").await;
    assert_eq!(server.reply(&thread, &asked, "eve").await["content"], "new");
    // Who is no agent any more is asked nothing, and why says so.
    server.say(&thread, "@bob four").await;
    let skipped = async || {
        let turns = server.get(&format!("/threads/{thread}/turns")).await;
        let mut turns = turns["turns"].as_array().unwrap().iter();
        turns.any(|turn| turn["participant"] == "bob" && turn["why_not"] == "offline")
    };
    assert!(comes_about(skipped).await, "{}", server.get(&format!("/threads/{thread}/turns")).await);
    let created = server.accepted("/threads", json!({"name": "New", "policy": "hybrid"})).await;
    let state = server.get(&format!("/threads/{}/state", created["id"].as_str().unwrap())).await;
    assert_eq!(state["state"]["policy"]["max_depth"], 3, "{state}");
}

#[tokio::test]
async fn a_broken_configuration_changes_nothing() {
    let home = Home::new();
    home.configure(SCRIPT);
    let (server, lines) = listened(&home);
    for broken in ["[agents.ada]\nreplies = [\"x\"]\nnonsense = 1\n", "[agents.ada]\nreplies = 3\n", "[[["] {
        home.configure(broken);
        server.signal(Signal::SIGHUP);
        let line = said(&lines, "was not read again");
        assert!(line.contains("everything stays as it was") && line.contains("moothall.toml:"), "{line}");
        let agents: Value = server.get("/agents").await;
        assert!(agents.to_string().contains("\"bob\""), "{agents}");
    }
    assert!(server.stop().success());
}

#[tokio::test]
async fn a_server_whose_terminal_is_closed_ends_calmly() {
    let home = Home::new();
    let pty = nix::pty::openpty(None, None).unwrap();
    // The server must not hold the other end of its own terminal.
    fcntl(&pty.master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
    let data = home.data();
    let mut command = home.command(&["serve", "--json", "--bind", "127.0.0.1:0", "--data", data.to_str().unwrap()]);
    command.stdin(Stdio::from(File::from(pty.slave))).stderr(Stdio::null());
    let server = home.serve_by(command);
    assert!(data.join("startup.key").exists());
    // Nothing has to say that the terminal is gone but the signal that comes with it.
    drop(pty.master);
    server.signal(Signal::SIGHUP);
    assert!(server.end().success());
    assert!(!data.join("startup.key").exists(), "it went as it goes after SIGTERM");
}
