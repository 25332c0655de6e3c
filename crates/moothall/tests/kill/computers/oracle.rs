//! Invariants of the logs of two computers at rest.

use std::collections::BTreeMap;

use moothall_engine::ports::{Deliveries, Delivery, DeliveryState, EventLog, Target, Upkeep};
use moothall_kernel::event::{Event, Posted, RecordedEvent};
use moothall_kernel::hosted::{HostedKey, HostedWords};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_store::SqliteLog;
use moothall_surfaces::wire::EventTypes;
use serde_json::Value;

use super::computer::Computer;
use super::stage::{ComputerStage, asked, sent, spoken};
use crate::oracle;
use crate::world::Floor;

/// Number of events that are read at once.
const PAGE: usize = 1_000;

/// A conversation in the log of a computer.
struct LoggedStream {
    name: String,
    events: Vec<RecordedEvent>,
    deliveries: Vec<Delivery>,
}

impl LoggedStream {
    fn posts(&self) -> impl Iterator<Item = &Posted> {
        self.events.iter().filter_map(|one| match &one.event {
            Event::Posted(posted) => Some(posted),
            _ => None,
        })
    }

    fn count(&self, text: &str) -> usize {
        self.posts().filter(|posted| posted.body == text).count()
    }
}

/// Stops both servers, and returns the faults. Counts the deliveries that are in doubt.
pub async fn faults(stage: &mut ComputerStage, unknown: &mut usize) -> Vec<String> {
    let mut faults = Vec::new();
    let mut doubted = Vec::new();
    for computer in &stage.computers {
        let (seen, turns) = of_thread(computer).await;
        faults.extend(seen);
        doubted.push(turns);
    }
    let mut logs = Vec::new();
    for (place, computer) in stage.computers.iter().enumerate() {
        let server = computer.server.lock().await.take().unwrap();
        computer.house.stop(server).await;
        faults.extend(computer.house.damage().await);
        if computer.house.said().contains("panicked") {
            faults.push(format!("{} panicked: {}", computer.name, computer.house.said()));
        }
        let mut streams = computer.streams.clone();
        if place == 0 {
            streams.push(("link", stage.link.clone()));
        }
        let log = read_all(computer, &streams).await;
        faults.extend(log.values().flat_map(at_rest));
        *unknown += log.values().map(doubtful).sum::<usize>();
        logs.push(log);
    }
    for place in 0..2 {
        let (from, other) = (&stage.computers[place], &stage.computers[1 - place]);
        let said = stage.said[place];
        let once = |stream: &LoggedStream, text: String| {
            let count = stream.count(&text);
            (count != 1).then(|| format!("{text:?} stands {count} times in {}", stream.name))
        };
        let (keeper, link) = (&logs[1 - place]["keeper"], &logs[0]["link"]);
        let thread = &logs[place]["thread"];
        faults.extend((0..said.sends).filter_map(|at| once(keeper, sent(from.name, at))));
        faults.extend((0..said.words).filter_map(|at| once(link, spoken(from.name, at))));
        let texts = (0..said.asks).map(|at| asked(from.name, other.name, at));
        faults.extend(texts.filter_map(|text| once(thread, text)));
        faults.extend(in_order(link, from.name, said.words));
        faults.extend(hosted_once(logs[place].values()));
        let doubts: usize = logs[1 - place].values().map(doubtful).sum();
        let DoubtedTurns { turns, messages } = doubted[place];
        if turns > doubts {
            let name = from.name;
            faults.push(format!("{name}: {turns} turns in doubt, for {doubts} deliveries"));
        }
        // The prompt of a turn may have several messages.
        let untyped = doubts.max(doubts - turns.min(doubts) + messages);
        let texts = (said.sends, said.words, said.asks);
        faults.extend(typed_once(from.name, texts, &other.prompts(), untyped));
    }
    faults
}

/// The turns whose prompt was perhaps not typed, because a server stopped while it typed.
/// People are told so in the conversation.
#[derive(Clone, Copy, Default)]
struct DoubtedTurns {
    turns: usize,
    /// The messages that these turns are about.
    messages: usize,
}

impl DoubtedTurns {
    /// Takes the turns in doubt out of the list of those that failed: each has a word that says so
    /// in place of an answer.
    fn take(events: &[Value], turns: &mut [Value]) -> Self {
        let mut doubted = Self::default();
        for turn in turns.iter_mut().filter(|turn| turn["fault"]["code"] == "delivery_unknown") {
            let seq = |name: &str| turn[name].as_u64().unwrap_or_default();
            let about = seq("from_seq") + 1..=seq("through_seq");
            let is_about =
                |event: &&Value| event["seq"].as_u64().is_some_and(|seq| about.contains(&seq));
            doubted.turns += 1;
            doubted.messages += events.iter().filter(is_about).filter(|it| is_human(it)).count();
            turn["outcome"] = "spoke".into();
        }
        doubted
    }
}

/// Returns the faults of the conversation with a session of the other computer, as people see it,
/// and its turns in doubt.
async fn of_thread(computer: &Computer) -> (Vec<String>, DoubtedTurns) {
    let path = format!("/threads/{}", computer.stream("thread"));
    let every = EventTypes::EVERY.list();
    let list = async |path: String, key: &str| match computer.get(&path).await.unwrap()[key].take()
    {
        Value::Array(items) => items,
        other => panic!("{key} is {other}"),
    };
    let events = list(format!("{path}/events?types={every}"), "events").await;
    let mut turns = list(format!("{path}/turns"), "turns").await;
    let doubted = DoubtedTurns::take(&events, &mut turns);
    let thread = computer.stream("thread");
    let mut asked = computer.people.all();
    asked.retain(|asked| asked.event().is_some_and(|event| event["thread"] == thread));
    let faults = oracle::faults(Floor::Asked, &events, &turns, &asked);
    let named = faults.into_iter().map(|fault| format!("{}: {fault}", computer.name));
    (named.collect(), doubted)
}

fn is_human(event: &Value) -> bool {
    event["type"] == "message" && event["from"] == "user"
}

/// Reads the conversations of a computer whose server is stopped.
async fn read_all(
    computer: &Computer,
    streams: &[(&'static str, String)],
) -> BTreeMap<&'static str, LoggedStream> {
    let log = SqliteLog::open(&computer.house.data()).unwrap();
    let mut all = BTreeMap::new();
    for (name, id) in streams {
        let id = StreamId::new(id);
        let (mut events, mut after) = (Vec::new(), Seq(0));
        loop {
            let page = log.read(&id, after, PAGE).await.unwrap();
            events.extend(page.events);
            if page.through == after {
                break;
            }
            after = page.through;
        }
        let deliveries = log.of_stream(&id).await.unwrap();
        let whole = format!("{name} of {}", computer.name);
        all.insert(*name, LoggedStream { name: whole, events, deliveries });
    }
    log.close().await.unwrap();
    all
}

/// Checks that the prompts and words of a conversation have arrived. A row that the other
/// computer has taken may still wait for its word.
fn at_rest(stream: &LoggedStream) -> Vec<String> {
    let is_open =
        |row: &&Delivery| !row.state.is_settled() && !matches!(row.target, Target::Computer(_));
    let open = stream.deliveries.iter().filter(is_open);
    open.map(|row| format!("{}: a delivery rests for ever: {row:?}", stream.name)).collect()
}

fn doubtful(stream: &LoggedStream) -> usize {
    let rows = stream.deliveries.iter();
    rows.filter(|row| row.state == DeliveryState::Unknown).count()
}

/// Checks that the words of a computer stand in a link in the order in which they were said.
fn in_order(link: &LoggedStream, from: &str, words: u64) -> Option<String> {
    let place = |number| {
        let text = spoken(from, number);
        link.posts().position(|posted| posted.body == text)
    };
    let places: Vec<Option<usize>> = (0..words).map(place).collect();
    (!places.is_sorted()).then(|| format!("the words of {from} stand at {places:?}"))
}

/// Checks that each turn of another computer was taken, answered and ended at most once.
fn hosted_once<'a>(streams: impl Iterator<Item = &'a LoggedStream>) -> Vec<String> {
    let mut faults = Vec::new();
    for stream in streams {
        let mut seen: BTreeMap<(&str, &HostedKey), usize> = BTreeMap::new();
        for recorded in &stream.events {
            let step = match &recorded.event {
                Event::Posted(Posted { hosted: Some(words), .. }) => match &**words {
                    HostedWords::Asks(_) => ("asked", words.key()),
                    HostedWords::Answers(_) => ("answered", words.key()),
                },
                Event::TurnEnded { hosted: Some(key), .. } => ("ended", &**key),
                _ => continue,
            };
            *seen.entry(step).or_default() += 1;
        }
        let count = |step, key| seen.get(&(step, key)).copied().unwrap_or_default();
        for (_, key) in seen.keys().filter(|(step, _)| *step == "asked") {
            let counts = ["asked", "answered", "ended"].map(|step| count(step, *key));
            if counts[0] != 1 || counts[1] > 1 || counts[2] != 1 {
                faults.push(format!("{}: {key:?} has {counts:?}", stream.name));
            }
        }
    }
    faults
}

/// Returns the number of runs of texts that follow each other, among the missing ones.
fn runs(all: &[(&str, u64)], missing: &[String], from: &str) -> usize {
    let is_missing = |word: &str, number| missing.contains(&format!("{word} {number} of {from}."));
    let begins = |word: &str, number: u64| {
        is_missing(word, number) && (number == 0 || !is_missing(word, number - 1))
    };
    let count = |(word, count): &(&str, u64)| (0..*count).filter(|at| begins(word, *at)).count();
    all.iter().map(count).sum()
}

/// Checks that each text was typed once; if deliveries are in doubt, some were perhaps not typed. A
/// delivery may cover several texts that followed each other while the session was at work.
fn typed_once(
    from: &str,
    (sends, words, asks): (u64, u64, u64),
    prompts: &[String],
    doubts: usize,
) -> Vec<String> {
    let all = [("send", sends), ("word", words), ("ask", asks)];
    let texts = all.iter().flat_map(|(word, count)| {
        (0..*count).map(move |number| format!("{word} {number} of {from}."))
    });
    let (mut faults, mut missing) = (Vec::new(), Vec::new());
    for text in texts {
        match prompts.iter().filter(|prompt| prompt.contains(&text)).count() {
            1 => {}
            0 => missing.push(text),
            count => faults.push(format!("{text:?} was typed in {count} prompts")),
        }
    }
    if runs(&all, &missing, from) > doubts {
        faults.push(format!("{missing:?} were not typed, and {doubts} deliveries are in doubt"));
    }
    faults
}
