//! Two computers that are paired at a private Redis, and what their people and sessions say to each
//! other.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;

use futures_util::future::join3;
use moothall_testkit::redis::RedisServer;
use reqwest::Method;
use serde_json::{Value, json};

use super::computer::{Computer, comes_about, until};
use crate::chance::Chance;

/// Characters shown of the end of each list if something does not arrive.
const EVIDENCE_CHARS: usize = 3_000;

/// The words of one computer in a round.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundWords {
    /// Messages to a session of the other computer.
    pub sends: u64,
    /// Words of a session in its link with one of the other computer.
    pub words: u64,
    /// Questions to a session of the other computer in a conversation here.
    pub asks: u64,
}

impl RoundWords {
    pub fn draw(chance: &mut Chance) -> Self {
        let mut count = || 1 + chance.below(4);
        Self { sends: count(), words: count(), asks: count() }
    }

    /// Returns the number of acknowledgements that it gets.
    pub fn len(self) -> u64 {
        self.sends + self.words + self.asks
    }
}

/// Two computers and the Redis at which they meet.
pub struct ComputerStage {
    pub redis: Mutex<RedisServer>,
    pub computers: [Computer; 2],
    /// The words of each computer until now.
    pub said: [RoundWords; 2],
    /// The link of the sessions called `member`, at the first computer.
    pub link: String,
}

impl ComputerStage {
    /// Starts two computers and pairs them. Returns `None` if Redis is not installed.
    pub async fn new() -> Option<Self> {
        let redis = RedisServer::start(&["--appendonly", "yes", "--appendfsync", "always"])?;
        let one = Computer::new("workstation", "laptop").await;
        let other = Computer::new("laptop", "workstation").await;
        let mut stage = Self {
            redis: Mutex::new(redis),
            computers: [one, other],
            said: Default::default(),
            link: String::new(),
        };
        stage.pair().await;
        for computer in &mut stage.computers {
            for name in ["keeper", "guest", "member"] {
                computer.start_session(name).await;
            }
        }
        stage.link().await;
        for place in 0..2 {
            stage.invite(place).await;
        }
        Some(stage)
    }

    async fn pair(&mut self) {
        let url = self.redis.lock().unwrap().url();
        let [one, other] = &mut self.computers;
        // The link lives on the computer that is always up.
        let asked = json!({"name": one.name, "redis": url, "up": 1});
        let invited = one.ask(Method::POST, "/computers/invitations", asked).await;
        let joining = json!({"line": invited["line"], "name": other.name});
        let joined = other.ask(Method::POST, "/computers/join", joining).await;
        one.ask(Method::POST, "/computers/join", json!({"line": joined["answer"]})).await;
        for computer in [one, other] {
            until("the other is there", async || computer.sees_the_other().await).await;
            let list = computer.get("/computers").await.unwrap();
            computer.id = list["computers"][0]["id"].as_str().unwrap().to_owned();
        }
    }

    async fn link(&mut self) {
        let [one, _] = &self.computers;
        let members = json!([{"session": one.stream("member")}, {"session": "member@laptop"}]);
        let asked = json!({"members": members});
        let made = one.ask(Method::POST, "/links", asked).await;
        self.link = made["link"]["id"].as_str().unwrap().to_owned();
    }

    /// Makes a conversation of a computer with a session of the other.
    async fn invite(&mut self, place: usize) {
        let other = self.computers[1 - place].name;
        let computer = &mut self.computers[place];
        let policy = json!({"name": "mention_only", "cooldown_seconds": 0});
        let body = json!({"name": "Across", "from": "user", "policy": policy});
        let made = computer.act("/threads".into(), body, "thread".into()).await;
        let thread = made["id"].as_str().unwrap().to_owned();
        let path = format!("/threads/{thread}/events");
        let invite = json!({"invite": {"profile": {"session": format!("guest@{other}")}}});
        let body = json!({"type": "control", "from": "user", "content": invite});
        computer.act(path, body, "invite".into()).await;
        computer.streams.push(("thread", thread));
    }

    /// Says something as a person in each conversation of agents alone, so that guards do not hold
    /// it.
    pub async fn encourage(&self, round: u64) {
        let [one, other] = &self.computers;
        let homes = [(one, one.stream("keeper")), (other, other.stream("keeper"))];
        for (computer, stream) in homes.into_iter().chain([(one, self.link.as_str())]) {
            let (path, key) = (format!("/threads/{stream}/events"), format!("{stream}-{round}"));
            let body = json!({"from": "user", "content": format!("Go on for round {round}.")});
            computer.act(path, body, key).await;
        }
    }

    /// Lets both computers say something, until all of it is acknowledged.
    pub async fn speak(&self, bursts: [RoundWords; 2]) {
        tokio::join!(self.speak_at(0, bursts[0]), self.speak_at(1, bursts[1]));
    }

    /// Lets a computer say its words, which are the newest of those that it said.
    async fn speak_at(&self, place: usize, burst: RoundWords) {
        let (computer, said) = (&self.computers[place], self.said[place]);
        let other = self.computers[1 - place].name;
        let sends = async {
            let path = format!("/sessions/keeper@{other}/messages");
            for number in said.sends - burst.sends..said.sends {
                let body = json!({"message": sent(computer.name, number)});
                computer.act(path.clone(), body, format!("send-{number}")).await;
            }
        };
        let words = async {
            let path = format!("/sessions/member@{other}/messages");
            let member = computer.member.as_ref().unwrap();
            for number in said.words - burst.words..said.words {
                let body = json!({"message": spoken(computer.name, number), "direct": true});
                let asked = member.note(path.clone(), body, format!("word-{number}"));
                computer.insist(member, &asked).await;
            }
        };
        let asks = async {
            let path = format!("/threads/{}/events", computer.stream("thread"));
            for number in said.asks - burst.asks..said.asks {
                let text = asked(computer.name, other, number);
                let body = json!({"from": "user", "content": text});
                computer.act(path.clone(), body, format!("ask-{number}")).await;
            }
        };
        join3(sends, words, asks).await;
    }

    /// Returns the number of acknowledgements of both computers.
    pub fn acknowledged(&self) -> u64 {
        let of = |computer: &Computer| {
            let member = computer.member.as_ref().map_or(0, |it| *it.acknowledged.borrow());
            member + *computer.people.acknowledged.borrow()
        };
        self.computers.iter().map(of).sum()
    }

    /// Returns the number of prompts that all sessions were given.
    pub fn prompts(&self) -> usize {
        self.computers.iter().map(|computer| computer.prompts().len()).sum()
    }

    /// True if all that was said has arrived, and every turn is over.
    pub async fn is_at_rest(&self) -> bool {
        self.unrest().await.is_none()
    }

    /// Waits until the world is at rest.
    ///
    /// # Errors
    /// What is missing for it.
    pub async fn rest(&self) -> Result<(), String> {
        match comes_about(async || self.is_at_rest().await).await {
            true => Ok(()),
            false => {
                let unrest = self.unrest().await.unwrap_or_default();
                Err(format!("{unrest}\n{}", self.evidence().await))
            }
        }
    }

    /// Returns what tells people why something does not arrive.
    async fn evidence(&self) -> String {
        let mut told = Vec::new();
        for (place, computer) in self.computers.iter().enumerate() {
            told.push(format!("{}: {}", computer.name, computer.house.said()));
            let paths = ["/computers", "/sessions"].map(str::to_owned);
            let streams = computer.streams.iter().map(|(_, id)| id).chain(
                // The link lives on the first computer.
                (place == 0).then_some(&self.link),
            );
            let states = streams.flat_map(|id| {
                ["deliveries", "events?types=notice,turn,message"]
                    .map(|list| format!("/threads/{id}/{list}"))
            });
            let sessions = computer.streams.iter().filter(|(name, _)| *name != "thread");
            let screens = sessions.map(|(_, id)| format!("/sessions/{id}/screen"));
            for path in paths.into_iter().chain(states).chain(screens) {
                let read = computer.get(&path).await.unwrap_or_default().to_string();
                let newest = read.chars().count().saturating_sub(EVIDENCE_CHARS);
                told.push(format!("{path}: {}", read.chars().skip(newest).collect::<String>()));
            }
        }
        told.join("\n")
    }

    /// Returns what is missing for rest.
    pub async fn unrest(&self) -> Option<String> {
        for place in 0..2 {
            let (computer, from) = (&self.computers[place], self.computers[1 - place].name);
            let there = self.said[1 - place];
            let arrived = said_in(computer, computer.stream("keeper"), "send", from).await;
            if arrived != there.sends {
                return Some(format!("{arrived} of {} messages of {from} came", there.sends));
            }
            let home = &self.computers[0];
            let arrived = said_in(home, &self.link, "word", from).await;
            if arrived != there.words {
                return Some(format!("{arrived} of {} words of {from} came", there.words));
            }
            for (name, stream) in &computer.streams {
                if let Some(open) = open_in(computer, stream).await {
                    return Some(format!("{name} of {}: {open}", computer.name));
                }
            }
        }
        open_in(&self.computers[0], &self.link).await
    }

    /// Lets the time of a dead server's place at the post pass at once.
    pub fn forget_lease(&self, place: usize) {
        let socket = self.redis.lock().unwrap().socket();
        let mut wire = UnixStream::connect(socket).unwrap();
        let id = &self.computers[place].id;
        wire.write_all(format!("DEL moothall:computer:{id}\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(wire).read_line(&mut answer).unwrap();
        assert!(answer.starts_with(':'), "{answer}");
    }

    /// Kills the Redis and starts it again. It may have lost everything.
    pub fn kill_redis(&self, is_lost: bool) {
        let mut redis = self.redis.lock().unwrap();
        redis.kill();
        if is_lost {
            let kept = redis.socket().with_file_name("appendonlydir");
            fs::remove_dir_all(kept).unwrap();
        }
        redis.restart();
    }
}

/// Returns the text of a message.
pub fn sent(from: &str, number: u64) -> String {
    format!("send {number} of {from}.")
}

/// Returns the words of a session in its link. The other sometimes answers.
pub fn spoken(from: &str, number: u64) -> String {
    match number % 3 {
        0 => format!("word {number} of {from}. [say:heard {number} of {from}.]"),
        _ => format!("word {number} of {from}."),
    }
}

/// Returns the text of a question.
pub fn asked(from: &str, other: &str, number: u64) -> String {
    format!("@guest@{other} ask {number} of {from}. [say:answer {number} of {from}.]")
}

/// Returns the number of messages in a conversation that begin with this word and are of a
/// computer.
async fn said_in(at: &Computer, stream: &str, word: &str, from: &str) -> u64 {
    let path = format!("/threads/{stream}/events?types=message");
    let Some(events) = at.get(&path).await else { return 0 };
    let is_one = |event: &&Value| {
        let text = event["content"].as_str().unwrap_or_default();
        text.starts_with(word) && text.contains(&format!(" of {from}."))
    };
    events["events"].as_array().unwrap().iter().filter(is_one).count() as u64
}

/// Returns what is open in a conversation; `None` if it is at rest.
async fn open_in(at: &Computer, stream: &str) -> Option<String> {
    let Some(state) = at.get(&format!("/threads/{stream}/state")).await else {
        return Some("no server".into());
    };
    let state = &state["state"];
    let is_open = |key: &&&str| !state[**key].as_array().unwrap().is_empty();
    let open = ["turns", "queue", "upcoming"].iter().find(is_open)?;
    Some(format!("{open}: {}", state[*open]))
}
