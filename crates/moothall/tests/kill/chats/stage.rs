//! A server with a group of Telegram that is bound, people who speak on both sides, and the check
//! of what came of their words.

use std::collections::BTreeMap;
use std::ops::Range;

use moothall_engine::ports::{Deliveries, Delivery, DeliveryState, EventLog, Upkeep};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::participant::Kind;
use moothall_store::SqliteLog;
use moothall_testkit::telegram::{Bot, ChatId, PersonId, TelegramServer};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use super::BusyChat;
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

/// Counts of a run.
pub struct ChatTally {
    pub deliveries: usize,
    pub unknown: usize,
    pub calls: usize,
}

/// A house with a group that is bound.
pub struct ChatStage {
    pub house: House,
    pub telegram: TelegramServer,
    pub server: Option<Server>,
    ledger: Ledger,
    bots: [Bot; 2],
    group: ChatId,
    person: PersonId,
    thread: String,
    /// True once the people of a burst have spoken.
    spoken: watch::Sender<bool>,
}

impl ChatStage {
    /// Starts a server, pairs a person and opens a group with two bots.
    pub async fn new() -> Self {
        let telegram = TelegramServer::start().await.unwrap();
        let bots = ["analyst", "writer"].map(|name| telegram.add_bot(&format!("{name}_bot"), name));
        bots.iter().for_each(|bot| telegram.set_privacy(bot, false));
        let mut more = format!("[channels.telegram]\nbase_url = \"{}\"\n", telegram.url());
        for (bot, agent) in bots.iter().zip(["analyst", "writer"]) {
            more += &format!("[channels.telegram.bots.{agent}]\nbot_token = \"{}\"\n", bot.token);
        }
        more += "[agents.analyst]\nreplies = [\"I heard: {message}\"]\n";
        more += "[agents.writer]\nreplies = [\"[PASS]\"]\n";
        let house = House::with(&more).await;
        let server = house.start().await;
        telegram.wait_for(|it| bots.iter().all(|bot| it.is_polling(bot))).await;
        let (person, group) = (telegram.person(7, "Ann"), telegram.supergroup("Market"));
        let mut stage = Self {
            house,
            telegram,
            server: Some(server),
            ledger: Ledger::new(),
            bots,
            group,
            person,
            thread: String::new(),
            spoken: watch::channel(false).0,
        };
        stage.open().await;
        stage
    }

    fn address(&self) -> Option<String> {
        self.house.address.borrow().clone()
    }

    async fn as_operator(&self, path: &str, body: Value) -> Value {
        let url = format!("{}{path}", self.address().unwrap());
        let request = plain().build().unwrap().post(url).bearer_auth(self.house.key());
        request.json(&body).send().await.unwrap().json().await.unwrap()
    }

    async fn open(&mut self) {
        let scopes = json!({"scopes": ["threads:admin", "participants:invite"]});
        let pairing = self.as_operator("/channels/telegram/pairings", scopes).await;
        let chat = self.telegram.private(self.person, &self.bots[0]);
        let start = format!("/start {}", pairing["code"].as_str().unwrap());
        self.telegram.say(chat, self.person, &start);
        self.telegram.wait_for_message(chat, |it| it.text.starts_with("You are now")).await;
        self.telegram.enter(self.group, self.person);
        self.bots.iter().for_each(|bot| self.telegram.join(self.group, bot, self.person));
        // The group is opened with one bot, and the other joins; both is told in the group.
        self.telegram.wait_for_message(self.group, |it| it.text.starts_with("This chat")).await;
        self.telegram.wait_for_message(self.group, |it| it.text.contains("joined")).await;
        let path = format!("/threads?chat=telegram:{}", self.group.id);
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

    fn say(&self, text: &str) {
        self.telegram.say(self.group, self.person, text);
    }

    /// Waits until every word has arrived. Deliveries are made in order, so the last one
    /// ends after the others.
    pub async fn rest(&self) {
        self.until_heard().await;
        let mut address = self.house.address.subscribe();
        let at = address.wait_for(Option::is_some).await.unwrap().clone().unwrap();
        let path = format!("/threads/{}/state", self.thread);
        loop {
            let state = self.ledger.get(&at, &path).await.unwrap();
            if state["state"]["turns"].as_array().unwrap().is_empty() {
                break;
            }
            tokio::task::yield_now().await;
        }
        self.insist("end", json!({"from": "user", "content": "The end."})).await;
        let is_over = || self.telegram.texts(self.group).iter().any(|it| it.ends_with("The end."));
        loop {
            // Counted before the look, because the last message may come between the two.
            let more = self.shown() + 1;
            if is_over() {
                return;
            }
            self.until_shown(more).await;
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
        let texts = self.telegram.texts(self.group);
        faults.extend(self.inward(&texts, &events));
        // The requests of the test show no credential.
        let head = "user (page, not proven):\n";
        faults.extend(outward(&texts, &events, &deliveries, head));
        if self.house.said().contains("panicked") {
            faults.push(format!("the server panicked: {}", self.house.said()));
        }
        let unknown = deliveries.iter().filter(|one| one.state == DeliveryState::Unknown).count();
        let calls = self.telegram.calls().len();
        (faults, ChatTally { deliveries: deliveries.len(), unknown, calls })
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

impl BusyChat for ChatStage {
    fn house(&self) -> &House {
        &self.house
    }

    fn server(&mut self) -> &mut Option<Server> {
        &mut self.server
    }

    fn shown(&self) -> usize {
        self.telegram.count(self.group)
    }

    async fn until_shown(&self, wanted: usize) {
        self.telegram.wait_for(|it| it.count(self.group) >= wanted).await;
    }

    async fn until_heard(&self) {
        self.spoken.subscribe().wait_for(|spoken| *spoken).await.unwrap();
        let left = |it: &TelegramServer| -> usize {
            self.bots.iter().map(|bot| it.pending(bot).len()).sum()
        };
        // Each step has a bound, and not all of them together: there may be thousands.
        while let before @ 1.. = left(&self.telegram) {
            self.telegram.wait_for(|it| left(it) < before).await;
        }
    }

    async fn speak(&self, burst: Burst) {
        self.spoken.send_replace(false);
        let Burst { in_group, on_page } = burst;
        let each = in_group.len().div_ceil(on_page.len().max(1));
        let mut in_group = in_group.into_iter();
        for (key, text) in on_page {
            in_group.by_ref().take(each).for_each(|text| self.say(&text));
            self.insist(&key, json!({"from": "user", "content": text})).await;
        }
        in_group.for_each(|text| self.say(&text));
        self.spoken.send_replace(true);
    }
}

/// Reads all events of a conversation.
pub async fn read(log: &SqliteLog, stream: &StreamId) -> Vec<RecordedEvent> {
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
/// `head` stands before words of people on the page.
pub fn outward(
    texts: &[String],
    events: &[RecordedEvent],
    all: &[Delivery],
    head: &str,
) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    let twice = counts.iter().filter(|(_, count)| **count > 1);
    let mut faults: Vec<String> =
        twice.map(|(text, count)| format!("{text:?} is shown {count} times")).collect();
    let messages: BTreeMap<Seq, Vec<ExpectedText>> =
        events.iter().filter_map(|one| Some((one.seq, expected(one, head)?))).collect();
    for delivery in all {
        let Some(parts) = messages.get(&delivery.through_seq) else { continue };
        let is_shown = |part: &&ExpectedText| counts.keys().any(|text| part.fits(text));
        let shown = parts.iter().filter(is_shown).count();
        let is_right = match delivery.state {
            DeliveryState::Done => shown == parts.len(),
            DeliveryState::Unknown => true,
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
