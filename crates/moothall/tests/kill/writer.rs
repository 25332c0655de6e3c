//! A random writer: speaks, controls and stops, and repeats unanswered requests.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::chance::Chance;
use crate::ledger::KeyedRequest;
use crate::world::{Floor, World};

/// Earlier requests repeated after each restart.
const REPEATED: u64 = 2;

enum Act {
    /// A request with a stored effect.
    Ask { path: &'static str, body: Value },
    /// A presence, which is not stored.
    Presence(&'static str),
    /// A wait until the thread is at rest.
    Rest,
}

/// A client of one thread.
pub struct Writer {
    name: String,
    thread: usize,
    chance: Chance,
    step: u64,
    next: VecDeque<Act>,
    /// The request that may be unanswered.
    open: Option<Arc<KeyedRequest>>,
    answered: Vec<Arc<KeyedRequest>>,
}

impl Writer {
    pub fn of(thread: usize, number: usize, chance: Chance) -> Self {
        let name = format!("w{thread}.{number}");
        Self {
            name,
            thread,
            chance,
            step: 0,
            next: VecDeque::new(),
            open: None,
            answered: Vec::new(),
        }
    }

    /// Sends up to `most` requests; returns `None` if the server is gone first.
    pub async fn speak(&mut self, world: &World, most: u64) -> Option<()> {
        self.finish_open(world).await?;
        self.repeat(world).await?;
        let until = self.step.saturating_add(most);
        while self.step < until || !self.next.is_empty() {
            self.act(world).await?;
        }
        Some(())
    }

    /// Repeats the unanswered request until it is answered.
    pub async fn finish_open(&mut self, world: &World) -> Option<()> {
        if let Some(asked) = self.open.clone() {
            ask(world, &asked).await?;
            self.answered.extend(self.open.take());
        }
        Some(())
    }

    async fn repeat(&mut self, world: &World) -> Option<()> {
        let count = self.answered.len() as u64;
        for _ in 0..REPEATED.min(count) {
            let asked = self.answered[usize::try_from(self.chance.below(count)).unwrap()].clone();
            ask(world, &asked).await?;
        }
        Some(())
    }

    async fn act(&mut self, world: &World) -> Option<()> {
        if self.next.is_empty() {
            self.next = match world.threads[self.thread].floor {
                Floor::Hybrid => self.in_rounds(),
                Floor::Asked => self.side_by_side(),
            };
        }
        match self.next.pop_front()? {
            Act::Ask { path, body } => {
                self.step += 1;
                let path = format!("/threads/{}/{path}", world.threads[self.thread].id);
                self.open =
                    Some(world.ledger.note(path, body, format!("{}-{}", self.name, self.step)));
                self.finish_open(world).await
            }
            Act::Presence(state) => {
                let path = format!("/threads/{}/presence", world.threads[self.thread].id);
                let asked = KeyedRequest {
                    path,
                    body: json!({"from": self.name, "state": state}),
                    key: "presence".into(),
                    answer: Default::default(),
                };
                ask_freely(world, &asked).await
            }
            Act::Rest => world.quiet(&world.threads[self.thread]).await.map(drop),
        }
    }

    /// Returns a message with a unique text, after an optional address.
    fn say(&mut self, from: &str, to: &str, address: &str) -> Act {
        let number = self.step + self.next.len() as u64 + self.chance.below(1 << 40);
        let content = format!("{address} {} {number}", self.name);
        Act::Ask {
            path: "events",
            body: json!({"from": from, "to": to, "content": content.trim()}),
        }
    }

    fn in_rounds(&mut self) -> VecDeque<Act> {
        let mut acts = match self.chance.below(12) {
            0 => vec![self.say("user", "all", "@ann")],
            1 => vec![self.say("user", "all", "@sh what")],
            2 => vec![self.say("user", "all", "@ben, @cat:")],
            3 => vec![self.say("user", "sh", "you"), self.say("user", "all", "well")],
            4 => vec![
                control(json!({"pause": {"on": true}})),
                self.say("user", "all", "@cat"),
                control(json!({"resume": {}})),
            ],
            5 => vec![
                control(json!({"mute": {"targets": ["ben"]}})),
                self.say("user", "all", "@ben"),
                control(json!({"unmute": {"targets": ["ben"]}})),
            ],
            6 => vec![
                self.say("user", "all", "@ann @sh"),
                Act::Ask { path: "stop", body: json!({"from": "user"}) },
            ],
            7 => vec![control(json!({"prod": ["ann"]}))],
            8 => vec![Act::Ask {
                path: "events",
                body: json!({"type": "thread.renamed", "from": "user", "content": self.name}),
            }],
            9 => vec![Act::Presence("typing"), self.say("user", "all", "hm")],
            _ => vec![self.say("user", "all", "all of you")],
        };
        if self.chance.below(2) == 0 {
            acts.push(Act::Rest);
        }
        acts.into()
    }

    fn side_by_side(&mut self) -> VecDeque<Act> {
        match self.chance.below(12) {
            0 => vec![self.say("user", "all", "@ann @cat @sh @mod")],
            1 => vec![self.say("user", "all", "@sh")],
            2 => vec![self.say("user", "cat", "you")],
            3 => vec![self.say("guest", "all", "@ann, by the way")],
            4 => vec![self.say("guest", "user", "hello")],
            5 => vec![self.say("user", "all", "@guest")],
            6 => vec![control(json!({"prod": ["cat", "ann"]}))],
            7 => vec![Act::Presence("listening")],
            8..=9 => vec![self.say("user", "all", "@mod")],
            _ => vec![self.say("user", "all", "@ann")],
        }
        .into()
    }
}

fn control(content: Value) -> Act {
    Act::Ask {
        path: "events",
        body: json!({"type": "control", "from": "user", "content": content}),
    }
}

async fn ask(world: &World, asked: &KeyedRequest) -> Option<Value> {
    let address = world.house.address.borrow().clone()?;
    world.ledger.ask(&address, asked).await
}

async fn ask_freely(world: &World, asked: &KeyedRequest) -> Option<()> {
    let address = world.house.address.borrow().clone()?;
    world.ledger.tell(&address, asked).await
}
