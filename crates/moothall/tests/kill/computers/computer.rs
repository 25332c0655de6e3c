//! A computer of the test: a house whose sessions run in real terminals, and the requests of its
//! people and of one of its sessions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use moothall_testkit::fake_tui;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::REST_MAX;
use crate::house::{House, Server, key_in, plain};
use crate::ledger::{KeyedRequest, Ledger};

/// Time between two looks at a condition.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The rights that each computer gives the other.
const RIGHTS: &str = r#"["list", "message", "link", "read", "invite"]"#;

/// A computer with a server, which may be dead.
pub struct Computer {
    /// Its name at the other.
    pub name: &'static str,
    pub house: House,
    pub server: Mutex<Option<Server>>,
    /// The requests of its people.
    pub people: Arc<Ledger>,
    /// The requests of its session `member`.
    pub member: Option<Arc<Ledger>>,
    /// Its id at the post.
    pub id: String,
    /// Its sessions and conversations by their names.
    pub streams: Vec<(&'static str, String)>,
    tools: TempDir,
}

impl Computer {
    /// Starts a computer that lets another one do everything.
    pub async fn new(name: &'static str, other: &str) -> Self {
        let tools = tempfile::tempdir().unwrap();
        let log = tools.path().join("prompts").display().to_string();
        let body =
            fake_tui::script("computers::stands_in", &["--name", "fake", "--quiet", "--log", &log]);
        let script = tools.path().join("fake");
        fs::write(&script, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let house = House::with(&format!(
            "[agents.fake]\nruntime = \"terminal\"\nscreen = \"claude\"\ncommand = [{script:?}]\n\
             [computers.{other}]\nallow = {RIGHTS}\n"
        ))
        .await;
        let server = Mutex::new(Some(house.start().await));
        let data = house.data();
        let people = Arc::new(Ledger::signed(move || key_in(&data)));
        let (id, streams) = (String::new(), Vec::new());
        Self { name, house, server, people, member: None, id, streams, tools }
    }

    /// Returns the id of a session or a conversation.
    pub fn stream(&self, name: &str) -> &str {
        &self.streams.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// Starts its server after a death.
    pub async fn start(&self) {
        *self.server.lock().await = Some(self.house.start().await);
    }

    fn address(&self) -> Option<String> {
        self.house.address.borrow().clone()
    }

    /// Makes a request that is not repeated, at a server that lives.
    pub async fn ask(&self, method: Method, path: &str, body: Value) -> Value {
        let url = format!("{}{path}", self.address().unwrap());
        let request = plain().build().unwrap().request(method, url).bearer_auth(self.house.key());
        let answer = request.json(&body).send().await.unwrap();
        let status = answer.status();
        let answer: Value = answer.json().await.unwrap();
        assert!(status.is_success(), "{path}: {answer}");
        answer
    }

    /// Reads something; `None` while its server is dead.
    pub async fn get(&self, path: &str) -> Option<Value> {
        self.people.get(&self.address()?, path).await
    }

    /// Repeats a request of a ledger until it is acknowledged, by whichever server is there.
    pub async fn insist(&self, ledger: &Ledger, asked: &KeyedRequest) -> Value {
        let asking = async {
            loop {
                if let Some(at) = self.address()
                    && let Some(answer) = ledger.ask(&at, asked).await
                {
                    return answer;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let answered = timeout(REST_MAX, asking).await;
        answered.unwrap_or_else(|_| panic!("{}; {}", ledger.loss(), self.house.said()))
    }

    /// Does something as one of its people, once.
    pub async fn act(&self, path: String, body: Value, key: String) -> Value {
        let asked = self.people.note(path, body, key);
        self.insist(&self.people, &asked).await
    }

    /// Starts a session, and waits until it takes input.
    pub async fn start_session(&mut self, name: &'static str) {
        let work = self.tools.path().join(name);
        fs::create_dir_all(&work).unwrap();
        let program = json!({"client": "fake", "name": name, "cwd": work});
        let started = self.ask(Method::POST, "/sessions", program).await;
        let id = started["id"].as_str().unwrap().to_owned();
        let path = format!("/sessions/{id}");
        until("it takes input", async || {
            self.get(&path).await.is_some_and(|session| session["state"] == "idle")
        })
        .await;
        if name == "member" {
            let file = self.house.data().join("spool").join(&id).join("claude-tools.json");
            let tools: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
            let token = &tools["mcpServers"]["moothall"]["env"]["MOOTHALL_SESSION_TOKEN"];
            let token = token.as_str().unwrap().to_owned();
            self.member = Some(Arc::new(Ledger::signed(move || Some(token.clone()))));
        }
        self.streams.push((name, id));
    }

    /// Returns the prompts that its sessions were given.
    pub fn prompts(&self) -> Vec<String> {
        let log = fs::read_to_string(self.tools.path().join("prompts")).unwrap_or_default();
        let prompt = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["prompt"].as_str().unwrap().to_owned()
        };
        log.lines().filter(|line| line.ends_with('}')).map(prompt).collect()
    }

    /// True if the other computer is there.
    pub async fn sees_the_other(&self) -> bool {
        let Some(list) = self.get("/computers").await else { return false };
        let all = list["computers"].as_array().unwrap();
        all.iter().any(|one| one["this"] == false && one["state"] == "up")
    }

    fn tmux(&self) -> PathBuf {
        self.house.data().join("tmux/tmux.sock")
    }
}

impl Drop for Computer {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(self.tmux()).arg("kill-server").output();
    }
}

/// Waits until a condition holds; returns false if it does not in time.
pub async fn comes_about(holds: impl AsyncFn() -> bool) -> bool {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    timeout(REST_MAX, waiting).await.is_ok()
}

/// Waits until a condition holds.
pub async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    assert!(comes_about(holds).await, "{what}: it never came about");
}
