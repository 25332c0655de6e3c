//! A home whose server has agents in real terminals, and helpers for tests.

use std::process::Command;

use moothall_testkit::fake_tui;
use serde_json::{Value, json};

use crate::harness::{Home, Server, comes_about};

/// A home whose server can start stand-ins. Dropping it ends its terminals.
pub struct Hall {
    pub home: Home,
}

impl Hall {
    pub fn new() -> Self {
        Self::with("")
    }

    /// Creates a home with additional configuration.
    pub fn with(configuration: &str) -> Self {
        let home = Home::new();
        home.sign();
        let log = home.path().join("prompts").to_string_lossy().into_owned();
        let body =
            fake_tui::script("links::stands_in", &["--name", "fake", "--quiet", "--log", &log]);
        let script = home.script("fake", &body);
        home.configure(&format!("[agents.fake]\nruntime = \"terminal\"\nscreen = \"claude\"\ncommand = [\"{script}\"]\n{configuration}"));
        Self { home }
    }

    pub fn serve(&self) -> Server<'_> {
        self.home.serve()
    }

    /// Returns the prompts that the stand-ins received.
    pub fn taken(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.home.path().join("prompts")).unwrap_or_default();
        let prompt = |line: &str| {
            serde_json::from_str::<Value>(line).unwrap()["prompt"].as_str().unwrap().to_owned()
        };
        log.lines().map(prompt).collect()
    }

    /// Presses a key at the terminal of a session.
    pub fn press(&self, agent: &Agent, key: &str) {
        self.tmux(&["send-keys", "-t", &self.pane(agent), key]);
    }

    /// Returns the pane of a session.
    pub fn pane(&self, agent: &Agent) -> String {
        let panes = self.tmux(&["list-panes", "-a", "-F", "#{pane_id} #{window_name}"]);
        let panes = String::from_utf8(panes.stdout).unwrap();
        let pane = panes
            .lines()
            .find_map(|line| line.split_once(' ').filter(|(_, title)| title.contains(&agent.name)));
        pane.unwrap_or_else(|| panic!("{} has no pane: {panes}", agent.name)).0.to_owned()
    }

    pub fn tmux(&self, args: &[&str]) -> std::process::Output {
        Command::new("tmux")
            .arg("-S")
            .arg(self.home.data().join("tmux/tmux.sock"))
            .args(args)
            .output()
            .unwrap()
    }
}

impl Drop for Hall {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// A session under test.
pub struct Agent {
    pub id: String,
    pub name: String,
    pub token: String,
}

pub async fn start(server: &Server<'_>, hall: &Hall, name: &str) -> Agent {
    start_with(server, hall, name, &[]).await
}

/// Starts a stand-in with additional options.
pub async fn start_with(server: &Server<'_>, hall: &Hall, name: &str, args: &[&str]) -> Agent {
    let work = hall.home.path().join(name);
    std::fs::create_dir_all(&work).unwrap();
    let program = json!({"client": "fake", "name": name, "cwd": work, "args": args});
    let started = server.accepted("/sessions", program).await;
    let id = started["id"].as_str().unwrap().to_owned();
    let token = environment(hall, &id)["MOOTHALL_SESSION_TOKEN"].as_str().unwrap().to_owned();
    let agent = Agent { id, name: name.to_owned(), token };
    until("it takes input", async || state(server, &agent).await == "idle").await;
    agent
}

/// Returns the environment of the tools of a session's program.
pub fn environment(hall: &Hall, session: &str) -> Value {
    let file = hall.home.data().join("spool").join(session).join("claude-tools.json");
    let tools: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    tools["mcpServers"]["moothall"]["env"].clone()
}

pub async fn state(server: &Server<'_>, agent: &Agent) -> String {
    let found = server.get(&format!("/sessions/{}", agent.id)).await;
    found["state"].as_str().unwrap_or_default().to_owned()
}

pub async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    assert!(comes_about(holds).await, "{what}: it never came about");
}

/// Calls a tool as a session's own program does.
pub async fn call(server: &Server<'_>, by: &Agent, tool: &str, arguments: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
    let request = server.http().post(format!("{}/mcp", server.url)).bearer_auth(&by.token);
    let answer = request
        .header("Accept", "application/json, text/event-stream")
        .json(&body)
        .send()
        .await
        .unwrap();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    answer["result"]["structuredContent"].clone()
}

/// Puts two sessions into a shared conversation, because a session's token reaches only sessions
/// with which it shares one.
pub async fn introduce(server: &Server<'_>, one: &Agent, other: &Agent) {
    let thread = server.thread().await;
    for agent in [one, other] {
        server.control(&thread, json!({"invite": {"profile": {"session": agent.id}}})).await;
    }
}

pub async fn direct(server: &Server<'_>, from: &Agent, to: &Agent, words: &str) -> Value {
    introduce(server, from, to).await;
    call(
        server,
        from,
        "send_message",
        json!({"session_id": to.id, "message": words, "direct": true}),
    )
    .await
}

/// Returns the lines on a session's screen.
pub async fn screen_lines(server: &Server<'_>, agent: &Agent) -> Vec<String> {
    let screen = server.get(&format!("/sessions/{}/screen", agent.id)).await;
    screen["text"]
        .as_str()
        .unwrap_or_default()
        .lines()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

pub async fn screen_shows(server: &Server<'_>, agent: &Agent, words: &str) -> bool {
    screen_lines(server, agent).await.iter().any(|line| line.contains(words))
}

pub async fn links(server: &Server<'_>, of: &Agent) -> Vec<Value> {
    server.get(&format!("/links?session={}", of.id)).await["links"].as_array().unwrap().clone()
}

pub(super) fn members(link: &Value) -> Vec<&str> {
    link["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member["session"].as_str().unwrap())
        .collect()
}

/// Types a line at the terminal of a session.
pub fn types(hall: &Hall, agent: &Agent, words: &str) {
    // tmux types several characters literally if they are not a key's name.
    hall.press(agent, words);
    hall.press(agent, "Enter");
}

pub async fn said(server: &Server<'_>, thread: &str) -> Vec<(String, String)> {
    let events = server.events(thread).await;
    let messages = events.iter().filter(|event| event["type"] == "message");
    messages
        .map(|event| {
            (
                event["from"].as_str().unwrap().to_owned(),
                event["content"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

/// Waits for the `count`-th request for permission.
pub async fn asked(server: &Server<'_>, agent: &Agent, count: usize) -> Value {
    let requested = async || {
        let events = server.events(&agent.id).await.into_iter();
        let requests = events.filter(|event| {
            event["type"] == "permission" && event["content"]["event"] == "requested"
        });
        requests.map(|event| event["content"].clone()).collect::<Vec<_>>()
    };
    until("it asks", async || requested().await.len() >= count).await;
    let mut all = requested().await;
    assert_eq!(all.len(), count, "each question once: {all:?}");
    all.remove(count - 1)
}
