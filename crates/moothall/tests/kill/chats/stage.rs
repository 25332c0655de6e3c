//! A server with a chat of another product that is bound, people who speak on both sides, and the
//! check of what came of their words.

use std::collections::BTreeMap;
use std::ops::Range;

use moothall_engine::ports::{Deliveries, Delivery, DeliveryState, EventLog, Upkeep};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::participant::Kind;
use moothall_store::SqliteLog;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::chance::Chance;
use crate::house::{House, PATIENCE, Server, plain};
use crate::ledger::Ledger;

/// Least length of a text that leaves in several messages, in bytes.
const LONG: usize = 5_000;
/// Number of events that are read at once.
const PAGE: usize = 1_000;

/// Words of people in the group and on the page.
pub struct Burst {
    pub in_group: Vec<String>,
    pub on_page: Vec<(String, String)>,
}

impl Burst {
    /// Returns messages with these numbers. Of the page's, some name an agent, and some are long.
    pub fn of(numbers: Range<u64>, chance: &mut Chance) -> Self {
        let mut burst = Self { in_group: Vec::new(), on_page: Vec::new() };
        for number in numbers {
            if chance.below(2) == 0 {
                burst.in_group.push(format!("group {number}."));
                continue;
            }
            let text = match chance.below(30) {
                0 => {
                    let words: String =
                        (0..LONG / 4).map(|word| format!("{number}w{word} ")).collect();
                    format!("page {number}. {words} end {number}.")
                }
                1..=3 => format!("@analyst page {number}."),
                _ => format!("page {number}."),
            };
            burst.on_page.push((format!("page-{number}"), text));
        }
        burst
    }
}

/// A fake of the other product, with a person and a chat.
pub trait ChatService: Sized {
    /// The name of the channel.
    const CHANNEL: &'static str;
    /// The line before words of people on the page, whose requests show no credential here.
    const HEAD: &'static str;
    /// True if a delivery may be in doubt for good.
    const MAY_BE_UNKNOWN: bool;

    async fn start() -> Self;
    /// Returns the lines of the configuration that connect a server to the service.
    fn config(&self) -> String;
    /// Pairs the person by a code, and opens the chat with both agents.
    async fn open(&self, code: &str);
    /// Returns the chat as conversations name it.
    fn chat(&self) -> String;
    /// Says words in the chat. Now and then something breaks with them, if faults are on.
    fn say(&self, number: usize, text: &str);
    fn texts(&self) -> Vec<String>;
    /// Waits until the chat has this number of messages.
    async fn until_shown(&self, wanted: usize);
    /// Waits until the service has no more to say to a server.
    async fn until_heard(&self);
    /// Lets calls fail from now on, drawn from a seed, or none.
    fn disturb(&self, seed: Option<u64>);
}

/// Counts of a run.
pub struct ChatTally {
    pub deliveries: usize,
    pub unknown: usize,
}

/// A house with a chat that is bound.
pub struct ChatStage<S> {
    pub house: House,
    pub service: S,
    pub server: Option<Server>,
    ledger: Ledger,
    thread: String,
    /// True once the people of a burst have spoken.
    spoken: watch::Sender<bool>,
}

impl<S: ChatService> ChatStage<S> {
    /// Starts a server, pairs a person and opens a chat with two agents.
    pub async fn new() -> Self {
        let service = S::start().await;
        let agents = "[agents.analyst]\nreplies = [\"I heard: {message}\"]\n\
                      [agents.writer]\nreplies = [\"[PASS]\"]\n";
        let house = House::with(&format!("{}{agents}", service.config())).await;
        let server = Some(house.start().await);
        let (ledger, spoken) = (Ledger::new(), watch::channel(false).0);
        let mut stage = Self { house, service, server, ledger, thread: String::new(), spoken };
        stage.open().await;
        stage
    }

    fn address(&self) -> Option<String> {
        self.house.address.borrow().clone()
    }

    async fn open(&mut self) {
        let scopes = json!({"scopes": ["threads:admin", "participants:invite"]});
        let url = format!("{}/channels/{}/pairings", self.address().unwrap(), S::CHANNEL);
        let request = plain().build().unwrap().post(url).bearer_auth(self.house.key());
        let pairing: Value = request.json(&scopes).send().await.unwrap().json().await.unwrap();
        self.service.open(pairing["code"].as_str().unwrap()).await;
        let path = format!("/threads?chat={}", self.service.chat());
        let listed = self.ledger.get(&self.address().unwrap(), &path).await.unwrap();
        self.thread = listed["threads"][0]["id"].as_str().unwrap().to_owned();
        let policy = json!({"policy": {"name": "mention_only", "cooldown_seconds": 0}});
        self.insist("policy", json!({"type": "control", "from": "user", "content": policy})).await;
    }

    /// Sends an event until it is acknowledged, by whichever server is there.
    async fn insist(&self, key: &str, body: Value) {
        let path = format!("/threads/{}/events", self.thread);
        let asked = self.ledger.note(path, body, key.to_owned());
        let mut address = self.house.address.subscribe();
        loop {
            let at = address.borrow_and_update().clone();
            if let Some(at) = at
                && self.ledger.ask(&at, &asked).await.is_some()
            {
                return;
            }
            let changed = timeout(PATIENCE, address.changed()).await;
            changed
                .unwrap_or_else(|_| panic!("{}; {}", self.ledger.loss(), self.house.said()))
                .unwrap();
        }
    }

    /// Returns the number of messages in the chat.
    pub fn shown(&self) -> usize {
        self.service.texts().len()
    }

    /// Waits until people have spoken, and the service has no more to say.
    pub async fn until_heard(&self) {
        self.spoken.subscribe().wait_for(|spoken| *spoken).await.unwrap();
        self.service.until_heard().await;
    }

    /// Lets people speak, until all of it is acknowledged or with the service.
    pub async fn speak(&self, burst: Burst) {
        self.spoken.send_replace(false);
        let Burst { in_group, on_page } = burst;
        let each = in_group.len().div_ceil(on_page.len().max(1));
        let mut in_group = in_group.into_iter().enumerate();
        let say = |(number, text): (usize, String)| self.service.say(number, &text);
        for (key, text) in on_page {
            in_group.by_ref().take(each).for_each(say);
            self.insist(&key, json!({"from": "user", "content": text})).await;
        }
        in_group.for_each(say);
        self.spoken.send_replace(true);
    }

    /// Waits until every word has arrived on both sides. Deliveries are made in order, so the last
    /// one ends after the others.
    pub async fn rest(&self) {
        self.service.say(0, "group end.");
        self.until_heard().await;
        let mut address = self.house.address.subscribe();
        let at = address.wait_for(Option::is_some).await.unwrap().clone().unwrap();
        let (events, state) =
            (format!("/threads/{}/events", self.thread), format!("/threads/{}/state", self.thread));
        loop {
            let all = self.ledger.get(&at, &events).await.unwrap();
            let state = self.ledger.get(&at, &state).await.unwrap();
            let is_resting = state["state"]["turns"].as_array().unwrap().is_empty();
            if is_resting && all.to_string().contains("group end.") {
                break;
            }
            tokio::task::yield_now().await;
        }
        self.insist("end", json!({"from": "user", "content": "The end."})).await;
        loop {
            // Counted before the look, because the last message may come between the two.
            let more = self.shown() + 1;
            if self.service.texts().iter().any(|it| it.ends_with("The end.")) {
                return;
            }
            self.service.until_shown(more).await;
        }
    }

    /// Stops the server, and returns the faults: what was shown twice, and what was lost.
    pub async fn faults(&mut self) -> (Vec<String>, ChatTally) {
        self.house.stop(self.server.take().unwrap()).await;
        let mut faults = self.house.damage().await;
        let log = SqliteLog::open(&self.house.data()).unwrap();
        let stream = StreamId::new(&self.thread);
        let events = read(&log, &stream).await;
        let deliveries = log.of_stream(&stream).await.unwrap();
        log.close().await.unwrap();
        let texts = self.service.texts();
        faults.extend(self.inward(&texts, &events));
        faults.extend(outward::<S>(&texts, &events, &deliveries));
        if self.house.said().contains("panicked") {
            faults.push(format!("the server panicked: {}", self.house.said()));
        }
        let unknown = deliveries.iter().filter(|one| one.state == DeliveryState::Unknown).count();
        (faults, ChatTally { deliveries: deliveries.len(), unknown })
    }

    /// Checks that the words of each side entered once.
    fn inward(&self, texts: &[String], events: &[RecordedEvent]) -> Vec<String> {
        let mut entered: BTreeMap<&str, usize> = BTreeMap::new();
        for body in events.iter().filter_map(|one| one.event.body()) {
            *entered.entry(body).or_default() += 1;
        }
        let in_group = texts.iter().map(String::as_str).filter(|text| text.starts_with("group "));
        let asked = self.ledger.all();
        let on_page = asked.iter().filter_map(|asked| asked.body["content"].as_str());
        let all = in_group.chain(on_page).map(|text| (text, entered.get(text).copied()));
        let wrong = all.filter(|(_, count)| *count != Some(1));
        wrong.map(|(text, count)| format!("{text:?} entered {count:?} times")).collect()
    }
}

/// Reads all events of a conversation.
async fn read(log: &SqliteLog, stream: &StreamId) -> Vec<RecordedEvent> {
    let (mut events, mut after) = (Vec::new(), Seq(0));
    loop {
        let page = log.read(stream, after, PAGE).await.unwrap();
        events.extend(page.events);
        if page.through == after {
            return events;
        }
        after = page.through;
    }
}

/// Checks that each delivery is shown once, or not at all if that is in doubt.
fn outward<S: ChatService>(
    texts: &[String],
    events: &[RecordedEvent],
    all: &[Delivery],
) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    let twice = counts.iter().filter(|(_, count)| **count > 1);
    let mut faults: Vec<String> =
        twice.map(|(text, count)| format!("{text:?} is shown {count} times")).collect();
    let messages: BTreeMap<Seq, Vec<ExpectedText>> =
        events.iter().filter_map(|one| Some((one.seq, expected(one, S::HEAD)?))).collect();
    for delivery in all {
        let Some(parts) = messages.get(&delivery.through_seq) else { continue };
        let is_shown = |part: &&ExpectedText| counts.keys().any(|text| part.fits(text));
        let shown = parts.iter().filter(is_shown).count();
        let is_right = match delivery.state {
            DeliveryState::Done => shown == parts.len(),
            DeliveryState::Unknown => S::MAY_BE_UNKNOWN,
            _ => false,
        };
        if !is_right {
            faults.push(format!(
                "{parts:?} is {}, and {shown} parts are shown: {}",
                delivery.state, delivery.evidence
            ));
        }
    }
    faults
}

/// A message that the group has to show.
#[derive(Debug)]
enum ExpectedText {
    Whole(String),
    Begin(String),
    End(String),
}

impl ExpectedText {
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Whole(whole) => text == whole,
            Self::Begin(begin) => text.starts_with(begin),
            Self::End(end) => text.ends_with(end),
        }
    }
}

/// Returns the messages of an event's words in the group.
fn expected(recorded: &RecordedEvent, head: &str) -> Option<Vec<ExpectedText>> {
    let Event::Posted(posted) = &recorded.event else { return None };
    let head = if posted.kind == Kind::Human { head } else { "" };
    let text = format!("{head}{}", posted.body);
    if posted.body.len() < LONG {
        return Some(vec![ExpectedText::Whole(text)]);
    }
    let (begin, _) = text.split_once(". ")?;
    let (_, end) = text.split_once(" end ")?;
    Some(vec![ExpectedText::Begin(format!("{begin}.")), ExpectedText::End(format!("end {end}"))])
}
