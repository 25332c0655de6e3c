//! The conversations of a test, with shared helpers for its participants.

use std::sync::Arc;

use moothall_surfaces::wire::EventTypes;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::house::{House, PATIENCE, Server, crashed};
use crate::ledger::{KeyedRequest, Ledger};
use crate::oracle;
use crate::reader::Reader;

/// Policy of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floor {
    /// `hybrid`: one message after another, agent after agent.
    Hybrid,
    /// `mention_only`: all named agents answer, in parallel.
    Asked,
}

impl Floor {
    fn policy(self) -> Value {
        match self {
            Floor::Hybrid => json!({"name": "hybrid", "cooldown_seconds": 0.02}),
            Floor::Asked => json!({"name": "mention_only", "cooldown_seconds": 0}),
        }
    }

    /// Returns the invited clients. The guest has no program, and speaks unprompted.
    fn invited(self) -> &'static [&'static str] {
        match self {
            Floor::Hybrid => &["ann", "ben", "cat", "sh"],
            Floor::Asked => &["ann", "cat", "sh", "mod", "gated", "guest"],
        }
    }
}

/// A conversation and its readers.
pub struct Thread {
    pub id: String,
    pub floor: Floor,
    pub readers: Vec<Reader>,
}

/// A house with conversations, and the record of requests.
pub struct World {
    pub house: House,
    pub ledger: Ledger,
    pub threads: Vec<Thread>,
}

impl World {
    pub async fn new() -> Self {
        Self { house: House::new().await, ledger: Ledger::new(), threads: Vec::new() }
    }

    /// Creates the conversations, even if the server dies meanwhile.
    pub async fn furnish(&mut self, server: &mut Server, floors: &[Floor]) {
        for (number, floor) in floors.iter().enumerate() {
            let body = json!({"name": format!("{floor:?} {number}"), "from": "user", "policy": floor.policy()});
            let asked = self.ledger.note("/threads".into(), body, format!("create-{number}"));
            let id = self.insist(server, &asked).await["id"].as_str().unwrap().to_owned();
            let read = |viewer| Reader::of(&id, viewer, self.house.address.subscribe());
            let readers = vec![read(None), read(Some("user"))];
            self.threads.push(Thread { id, floor: *floor, readers });
            for client in floor.invited() {
                let invite = json!({"invite": {"participant_id": client, "profile": {"client": client, "model": "m"}}});
                self.control(server, number, &format!("invite-{client}"), invite).await;
            }
        }
    }

    /// Sends a control until it is acknowledged.
    pub async fn control(
        &self,
        server: &mut Server,
        thread: usize,
        key: &str,
        content: Value,
    ) -> Value {
        self.event(
            server,
            thread,
            key,
            json!({"type": "control", "from": "user", "content": content}),
        )
        .await
    }

    /// Sends an event until it is acknowledged.
    pub async fn event(&self, server: &mut Server, thread: usize, key: &str, body: Value) -> Value {
        let path = format!("/threads/{}/events", self.threads[thread].id);
        let asked = self.ledger.note(path, body, format!("{thread}-{key}"));
        self.insist(server, &asked).await
    }

    /// Repeats a request until it is answered. A server that died at its point is replaced by one
    /// without a point.
    pub async fn insist(&self, server: &mut Server, asked: &Arc<KeyedRequest>) -> Value {
        loop {
            let address = self.house.address.borrow().clone().expect("a server");
            if let Some(answer) = self.ledger.ask(&address, asked).await {
                return answer;
            }
            let status = timeout(PATIENCE, self.house.ended(server)).await;
            let status = status.unwrap_or_else(|_| {
                panic!(
                    "a server that lives did not answer: {}; {}",
                    self.ledger.loss(),
                    self.house.said()
                )
            });
            assert!(crashed(status), "the server ended by itself: {status}; {}", self.house.said());
            *server = self.house.start().await;
        }
    }

    /// Waits until a thread is at rest, and its operator has seen all of it. Returns `None` if the
    /// server is gone. Every step towards rest is an event, so each event triggers a new look.
    pub async fn quiet(&self, thread: &Thread) -> Option<()> {
        self.until(thread, |state, seen| at_rest(&state["state"]) && state["head"] == seen).await
    }

    /// Waits until a participant is at work. The server must not die meanwhile.
    pub async fn running(&self, thread: &Thread, participant: &str) {
        let running =
            |turn: &Value| turn["participant"] == participant && turn["state"] == "running";
        let at_work =
            |state: &Value, _| state["state"]["turns"].as_array().unwrap().iter().any(running);
        self.until(thread, at_work).await.expect("a server");
    }

    /// Waits for a state of a thread; the condition also gets the position that its operator has
    /// seen.
    async fn until(&self, thread: &Thread, wanted: impl Fn(&Value, u64) -> bool) -> Option<()> {
        let mut address = self.house.address.subscribe();
        let at = address.borrow_and_update().clone()?;
        let mut head = thread.readers[0].head.clone();
        loop {
            let seen = *head.borrow_and_update();
            let state = self.ledger.get(&at, &format!("/threads/{}/state", thread.id)).await?;
            if wanted(&state, seen) {
                return Some(());
            }
            let changed = async {
                tokio::select! {
                    changed = head.changed() => { changed.unwrap(); true }
                    _ = address.changed() => false,
                }
            };
            match timeout(PATIENCE, changed).await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(_) => panic!(
                    "nothing moves any more, and the state is still {state}; {:?}",
                    self.complaints()
                ),
            }
        }
    }

    /// Returns the faults that readers have noticed.
    pub fn complaints(&self) -> Vec<String> {
        self.threads
            .iter()
            .flat_map(|thread| &thread.readers)
            .flat_map(Reader::complaints)
            .collect()
    }

    /// Waits until everything is at rest, and returns the faults.
    pub async fn faults(&self, server: &mut Server, round: &str) -> Vec<String> {
        for (number, thread) in self.threads.iter().enumerate() {
            self.control(
                server,
                number,
                &format!("go-on-{round}"),
                json!({"unmute": {"targets": ["ben"]}, "resume": {}}),
            )
            .await;
            let last = json!({"from": "user", "content": format!("@ann the last of {round}")});
            self.event(server, number, &format!("last-{round}"), last).await;
            self.quiet(thread).await.expect("a server");
        }
        let heads = self.heads().await;
        self.ask_again(server).await;
        let mut faults = Vec::new();
        if self.heads().await != heads {
            faults.push("requests that were made again had an effect of their own".into());
        }
        for thread in &self.threads {
            faults.extend(
                self.faults_of(thread)
                    .await
                    .into_iter()
                    .map(|fault| format!("{} {:?}: {fault}", thread.id, thread.floor)),
            );
        }
        if self.house.said().contains("panicked") {
            faults.push(format!("the server panicked: {}", self.house.said()));
        }
        faults
    }

    /// Repeats every request: each must get its first answer again.
    async fn ask_again(&self, server: &mut Server) {
        for asked in self.ledger.all() {
            assert!(asked.answer.get().is_some(), "{} was never acknowledged", asked.key);
            self.insist(server, &asked).await;
        }
    }

    async fn heads(&self) -> Value {
        self.get("/threads").await["threads"]
            .as_array()
            .unwrap()
            .iter()
            .map(|thread| thread["head"].clone())
            .collect()
    }

    pub async fn get(&self, path: &str) -> Value {
        let address = self.house.address.borrow().clone().expect("a server");
        self.ledger.get(&address, path).await.unwrap_or_else(|| panic!("{path} gives nothing"))
    }

    async fn faults_of(&self, thread: &Thread) -> Vec<String> {
        let (path, every) = (format!("/threads/{}", thread.id), EventTypes::EVERY.list());
        let events = list(self.get(&format!("{path}/events?types={every}")).await, "events");
        let turns = list(self.get(&format!("{path}/turns")).await, "turns");
        let asked: Vec<_> =
            self.ledger.all().into_iter().filter(|asked| asked.concerns(&thread.id)).collect();
        let mut faults = oracle::faults(thread.floor, &events, &turns, &asked);
        for reader in &thread.readers {
            let visible = match reader.viewer() {
                None => events.clone(),
                Some(viewer) => list(
                    self.get(&format!("{path}/events?types={every}&as={viewer}")).await,
                    "events",
                ),
            };
            let last = visible.last().map_or(0, |event| event["seq"].as_u64().unwrap());
            let caught_up =
                timeout(PATIENCE, reader.head.clone().wait_for(|head| *head >= last)).await.is_ok();
            faults.extend((!caught_up).then(|| format!("a reader does not come to event {last}")));
            faults.extend(reader.faults(&visible));
        }
        faults
    }
}

impl KeyedRequest {
    fn concerns(&self, thread: &str) -> bool {
        self.event().is_some_and(|event| event["thread"] == thread)
    }
}

fn at_rest(state: &Value) -> bool {
    ["turns", "queue", "upcoming"].iter().all(|key| state[*key].as_array().unwrap().is_empty())
}

fn list(mut answer: Value, key: &str) -> Vec<Value> {
    match answer[key].take() {
        Value::Array(items) => items,
        other => panic!("{key} is {other}"),
    }
}
