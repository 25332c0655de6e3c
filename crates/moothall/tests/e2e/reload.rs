//! SIGHUP reloads the configuration. A server whose terminal has closed shuts down in order.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Home, PATIENCE, Server, comes_about};

const SCRIPT: &str = "[defaults]\ncooldown_seconds = 0\n[agents.ada]\nreplies = [\"first\"]\n[agents.bob]\nreplies = [\"here\"]\n";

/// Starts a server whose standard error is read line by line.
fn listened(home: &Home) -> (Server<'_>, mpsc::Receiver<String>) {
    let data = home.data();
    let mut command = home.command(&[
        "serve",
        "--json",
        "--bind",
        "127.0.0.1:0",
        "--data",
        data.to_str().unwrap(),
    ]);
    let (reading, writing) = std::io::pipe().unwrap();
    command.stderr(Stdio::from(writing));
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(reading)
            .lines()
            .map_while(Result::ok)
            .map(|line| sender.send(line))
            .take_while(Result::is_ok)
            .for_each(drop);
    });
    (home.serve_by(command), lines)
}

/// Waits for the next line with this text.
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
        "[server]\nother_users = true\n[defaults]\ncooldown_seconds = 0\nmax_depth = 3\n\
         [agents.ada]\nreplies = [\"second\"]\n[agents.eve]\nreplies = [\"new\"]\n",
    );
    server.signal(Signal::SIGHUP);
    assert!(
        said(&lines, "was reloaded")
            .ends_with("added: eve; changed: ada; removed: bob; other [defaults].")
    );
    assert!(said(&lines, "A restart is needed").ends_with("changes of server.other_users."));

    let asked = server.say(&thread, "@ada two").await;
    assert_eq!(server.reply(&thread, &asked, "ada").await["content"], "second");
    server.invite(&thread, "eve", "eve").await;
    let asked = server.say(&thread, "@eve three").await;
    assert_eq!(server.reply(&thread, &asked, "eve").await["content"], "new");
    // A removed agent is not asked, and `why` explains it.
    server.say(&thread, "@bob four").await;
    let skipped = async || {
        let turns = server.get(&format!("/threads/{thread}/turns")).await;
        let mut turns = turns["turns"].as_array().unwrap().iter();
        turns.any(|turn| turn["participant"] == "bob" && turn["why_not"] == "offline")
    };
    assert!(
        comes_about(skipped).await,
        "{}",
        server.get(&format!("/threads/{thread}/turns")).await
    );
    let created = server.accepted("/threads", json!({"name": "New", "policy": "hybrid"})).await;
    let state = server.get(&format!("/threads/{}/state", created["id"].as_str().unwrap())).await;
    assert_eq!(state["state"]["policy"]["max_depth"], 3, "{state}");
}

/// Returns the statuses of requests with this `Host`, over HTTP and over MCP.
async fn at_the_door(server: &Server<'_>, host: &str) -> [u16; 2] {
    let url = |path: &str| format!("http://{}{path}", server.address());
    let plain = server.http().get(url("/threads")).header("host", host).send().await.unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let tools = server
        .http()
        .post(url("/mcp"))
        .header("host", host)
        .header("accept", "application/json, text/event-stream")
        .json(&list);
    [plain.status().as_u16(), tools.send().await.unwrap().status().as_u16()]
}

#[tokio::test]
async fn hosts_budgets_and_limits_are_taken_over_and_taken_back() {
    let home = Home::new();
    home.configure(SCRIPT);
    let (server, lines) = listened(&home);
    assert_eq!(at_the_door(&server, "hall.lan").await, [421, 421]);

    let more = "[server]\nallowed_hosts = [\"hall.lan\"]\nallowed_origins = [\"https://hall.lan\"]\n[limits]\nsessions = 3\n\
                [budgets.hall]\nturns_per_hour = 1\n";
    home.configure(&format!("{SCRIPT}{more}"));
    server.signal(Signal::SIGHUP);
    assert!(
        said(&lines, "was reloaded")
            .ends_with("other [limits], [budgets], allowed_hosts, allowed_origins.")
    );
    assert_eq!(at_the_door(&server, "hall.lan").await, [200, 200]);
    let key: Value =
        serde_json::from_str(&std::fs::read_to_string(home.data().join("startup.key")).unwrap())
            .unwrap();
    assert_eq!(
        key["others"],
        json!(["https://hall.lan"]),
        "the command line tells others how they reach it"
    );

    // The budget is one turn, which is now spent.
    let thread = server.thread().await;
    server.invite(&thread, "ada", "ada").await;
    let asked = server.say(&thread, "@ada one").await;
    server.reply(&thread, &asked, "ada").await;
    let refused = server.say(&thread, "@ada two").await;
    let over = async || {
        let turns = server.get(&format!("/threads/{thread}/turns")).await;
        turns["turns"].as_array().unwrap().iter().any(|turn| turn["why_not"] == "over_budget")
    };
    assert!(comes_about(over).await, "{refused}");

    home.configure(SCRIPT);
    server.signal(Signal::SIGHUP);
    said(&lines, "was reloaded");
    assert_eq!(at_the_door(&server, "hall.lan").await, [421, 421]);
    let asked = server.say(&thread, "@ada three").await;
    server.reply(&thread, &asked, "ada").await;
}

#[tokio::test]
async fn rates_are_taken_over_and_who_was_slowed_down_begins_anew() {
    let home = Home::new();
    home.configure(
        "[server]\nmode = \"token\"\n[limits]\nwrites_per_second = 1\nwrites_burst = 2\n",
    );
    let (server, lines) = listened(&home);
    let ann = server.json(&["token", "create", "ann"])["token"].as_str().unwrap().to_owned();
    let create = async || {
        let request =
            server.http().post(format!("http://{}/threads", server.address())).bearer_auth(&ann);
        request
            .json(&json!({"name": "t", "policy": "hybrid"}))
            .send()
            .await
            .unwrap()
            .status()
            .as_u16()
    };
    let slowed = async || create().await == 429;
    assert!(comes_about(slowed).await);
    home.configure("[server]\nmode = \"token\"\n[limits]\nwrites_per_second = 0\n");
    server.signal(Signal::SIGHUP);
    assert!(said(&lines, "was reloaded").ends_with("other [limits]."));
    for _ in 0..20 {
        assert_eq!(create().await, 200);
    }
}

#[tokio::test]
async fn what_needs_a_restart_is_named_at_every_reload_and_by_config_check() {
    let home = Home::new();
    home.configure("");
    let (server, lines) = listened(&home);
    let waits =
        "[server]\nbind = \"127.0.0.1:1\"\nother_users = true\nallowed_hosts = [\"hall.lan\"]\n";
    home.configure(waits);
    for _ in 0..2 {
        server.signal(Signal::SIGHUP);
        // The server's `--bind` flag overrides the file, so a changed `bind` does not matter.
        assert!(said(&lines, "A restart is needed").ends_with("changes of server.other_users."));
    }
    let checked = server.json(&["config", "check"]);
    assert_eq!(checked["needs_restart"], json!(["server.bind", "server.other_users"]));
    let output = server.ok(&["config", "check"]);
    let line =
        |key: &str| output.lines().find(|line| line.contains(key)).unwrap_or_default().to_owned();
    assert!(
        line("server.bind").ends_with("needs a restart")
            && line("server.allowed_hosts").ends_with("at the next reload"),
        "{output}"
    );
}

#[tokio::test]
async fn a_broken_configuration_changes_nothing() {
    let home = Home::new();
    home.configure(SCRIPT);
    let (server, lines) = listened(&home);
    for broken in [
        "[server]\nallowed_hosts = [\"hall.lan\"]\n[agents.ada]\ncommand = []\n",
        "[agents.ada]\nreplies = [\"x\"]\nnonsense = 1\n",
        "[agents.ada]\nreplies = 3\n",
        "[[[",
    ] {
        home.configure(broken);
        server.signal(Signal::SIGHUP);
        let line = said(&lines, "was not reloaded");
        assert!(
            line.contains("the old one stays in effect") && line.contains("moothall.toml:"),
            "{line}"
        );
        let agents: Value = server.get("/agents").await;
        assert!(agents.to_string().contains("\"bob\""), "{agents}");
        assert_eq!(at_the_door(&server, "hall.lan").await, [421, 421]);
    }
    assert!(server.stop().success());
}

#[tokio::test]
async fn a_server_whose_terminal_is_closed_ends_calmly() {
    let home = Home::new();
    let pty = nix::pty::openpty(None, None).unwrap();
    // The server must not inherit the other end of its own terminal.
    fcntl(&pty.master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
    let data = home.data();
    let mut command = home.command(&[
        "serve",
        "--json",
        "--bind",
        "127.0.0.1:0",
        "--data",
        data.to_str().unwrap(),
    ]);
    command.stdin(Stdio::from(File::from(pty.slave))).stderr(Stdio::null());
    let server = home.serve_by(command);
    assert!(data.join("startup.key").exists());
    // Only the signal tells the server about its closed terminal.
    drop(pty.master);
    server.signal(Signal::SIGHUP);
    assert!(server.end().success());
    assert!(!data.join("startup.key").exists(), "it went as it goes after SIGTERM");
}
