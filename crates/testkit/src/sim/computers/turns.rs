//! The promises of turns that one computer takes for a conversation of another, checked with each
//! event that a log takes.

use std::collections::{BTreeMap, BTreeSet};

use moothall_computers::id::ComputerId;
use moothall_engine::agent::TurnKey;
use moothall_kernel::event::{Event, Posted, RecordedEvent};
use moothall_kernel::hosted::HostedKey;
use moothall_kernel::ids::{StreamId, TurnNo};

use super::ledger::RowLedger;
use super::terminal::serial_of;

/// A turn of a conversation.
type TurnPlace = (StreamId, TurnNo);

/// The turns of one log.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnRecord {
    /// All turns that were granted.
    granted: BTreeSet<TurnPlace>,
    /// The newest attempt at each turn that began.
    attempts: BTreeMap<TurnPlace, u32>,
    /// The attempts that ended.
    ended: BTreeSet<(StreamId, TurnNo, u32)>,
    /// The turns whose prompts were typed.
    typed: BTreeSet<TurnKey>,
    /// The turns that were granted for other computers.
    hosted: BTreeSet<HostedKey>,
    /// Those that are open.
    open: BTreeMap<TurnPlace, OpenHosted>,
}

#[derive(Clone, Debug)]
struct OpenHosted {
    key: HostedKey,
    /// True if the session has left the conversation since.
    is_parted: bool,
}

/// The turn for which a terminal made an answer.
#[derive(Clone, Debug)]
struct AnsweredTurn {
    own: usize,
    key: TurnKey,
    hosted: Option<HostedKey>,
}

/// The record of all turns.
#[derive(Debug, Default)]
pub(super) struct TurnLedger {
    pub(super) records: Vec<TurnRecord>,
    /// The turns of all answers, by their serials.
    answers: BTreeMap<u64, AnsweredTurn>,
    /// Turns of logs that were lost with a restore. Their numbers are given again, to other turns.
    doubtful: BTreeSet<(usize, StreamId, TurnNo)>,
}

impl TurnLedger {
    /// Makes the record of a number of computers.
    pub(super) fn new(count: usize) -> Self {
        Self { records: vec![TurnRecord::default(); count], ..Self::default() }
    }

    /// Puts an earlier record in place of that of a computer, as its log was restored. What others
    /// took for it since is not known there any more, so it may offer that again.
    pub(super) fn restore(&mut self, own: usize, ids: &[ComputerId], earlier: TurnRecord) {
        let lost = self.records[own].granted.difference(&earlier.granted).cloned();
        self.doubtful.extend(lost.map(|(stream, turn)| (own, stream, turn)));
        self.records[own] = earlier;
        self.excuse_all(own);
        let restored = ids[own].to_string();
        for record in &mut self.records {
            record.hosted.retain(|key| key.computer.as_str() != restored);
        }
    }

    /// Notes that a computer has lost what it owed all others: they may offer what it took.
    pub(super) fn excuse_all(&mut self, own: usize) {
        self.records[own].hosted.clear();
    }

    /// Notes that a computer has lost what it owed another.
    pub(super) fn excuse(&mut self, own: usize, other: &str) {
        self.records[own].hosted.retain(|key| key.computer.as_str() != other);
    }
}

impl RowLedger {
    /// Notes that a prompt is typed. Returns the serial of its answer.
    pub(super) fn note_typed(&mut self, own: usize, key: &TurnKey) -> u64 {
        let serial = self.turns.answers.len() as u64 + 1;
        let TurnKey { stream, turn, attempt } = key;
        let record = &mut self.turns.records[own];
        let place = (stream.clone(), *turn);
        let hosted = record.open.get(&place).map(|open| open.key.clone());
        let is_new = record.typed.insert(key.clone());
        let of = if hosted.is_some() { " for another" } else { "" };
        self.story.tell(|| {
            format!("    c{own} types turn {turn}, attempt {attempt}{of}: answer {serial}")
        });
        self.turns.answers.insert(serial, AnsweredTurn { own, key: key.clone(), hosted });
        if !is_new {
            self.object("typed", format!("c{own} types turn {turn}, attempt {attempt} twice"));
        }
        serial
    }

    /// Checks the events of an append.
    pub(super) fn note_events(&mut self, own: usize, stream: &StreamId, events: &[RecordedEvent]) {
        for recorded in events {
            if let Err((checker, message)) = self.note_event(own, stream, &recorded.event) {
                self.object(checker, format!("c{own}: {message}"));
            }
        }
    }

    fn note_event(
        &mut self,
        own: usize,
        stream: &StreamId,
        event: &Event,
    ) -> Result<(), (&'static str, String)> {
        let place = |turn: &TurnNo| (stream.clone(), *turn);
        let record = &mut self.turns.records[own];
        match event {
            Event::TurnGranted { turn, hosted, .. } => {
                record.granted.insert(place(turn));
                let Some(key) = hosted.as_deref() else { return Ok(()) };
                let is_parted = false;
                record.open.insert(place(turn), OpenHosted { key: key.clone(), is_parted });
                self.story.tell(|| format!("    c{own} takes a turn for another"));
                if !record.hosted.insert(key.clone()) {
                    return Err(("hosted", format!("{} is hosted twice", told(key))));
                }
            }
            Event::TurnWidened { turn, .. } => {
                if let Some(open) = record.open.get(&place(turn)) {
                    return Err(("cause", format!("{} has two causes", told(&open.key))));
                }
            }
            Event::TurnStarted { turn, attempt, .. } => {
                record.attempts.insert(place(turn), *attempt);
                if let Some(open) = record.open.get(&place(turn)).filter(|open| open.is_parted) {
                    let key = told(&open.key);
                    return Err(("parted", format!("{key} begins after its session left")));
                }
            }
            Event::TurnEnded { turn, attempt, outcome, fault, .. } => {
                if let Some(open) = record.open.remove(&place(turn)) {
                    self.story.tell(|| format!("    c{own} ends a turn for another: {outcome:?}"));
                    let code = fault.as_ref().map_or("", |fault| fault.code.as_str());
                    if ["covered", "merged"].contains(&code) {
                        return Err(("cause", format!("{} is {code} by another", told(&open.key))));
                    }
                }
                if !record.ended.insert((stream.clone(), *turn, *attempt)) {
                    return Err(("ended", format!("turn {turn}, attempt {attempt} ends twice")));
                }
            }
            Event::Parted { computer, stream: of, .. } => {
                let is_theirs = |((home, _), open): &(&TurnPlace, &mut OpenHosted)| {
                    home == stream && open.key.is_of(computer, of)
                };
                let mut left = 0;
                for (_, open) in record.open.iter_mut().filter(is_theirs) {
                    open.is_parted = true;
                    left += 1;
                }
                self.story.tell(|| format!("    c{own} parts from {left} open turns"));
            }
            Event::Joined(joined) => {
                let kind = if joined.link { "link" } else { "conversation" };
                self.story.tell(|| format!("    c{own} joins a {kind}"));
            }
            Event::Posted(posted) => return self.note_answer(own, stream, posted),
            _ => {}
        }
        Ok(())
    }

    /// Checks that an answer is that of its turn.
    fn note_answer(
        &self,
        own: usize,
        stream: &StreamId,
        posted: &Posted,
    ) -> Result<(), (&'static str, String)> {
        let (Some(turn), Some(serial)) = (posted.turn, serial_of("answer", &posted.body)) else {
            return Ok(());
        };
        if self.turns.doubtful.contains(&(own, stream.clone(), turn)) {
            return Ok(());
        }
        let attempt = self.turns.records[own].attempts.get(&(stream.clone(), turn)).copied();
        let answered = self.turns.answers.get(&serial);
        let is_own = |answered: &AnsweredTurn| {
            let TurnKey { stream: of, turn: no, attempt: at } = &answered.key;
            answered.own == own && of == stream && *no == turn && Some(*at) == attempt
        };
        let is_hosted = |answered: &AnsweredTurn| {
            answered.hosted.as_ref().is_some_and(|key| {
                let is_here = key.computer.as_str() == self.ids[own].to_string();
                is_here && key.stream == *stream && key.turn == turn && Some(key.attempt) == attempt
            })
        };
        if answered.is_some_and(|answered| is_own(answered) || is_hosted(answered)) {
            return Ok(());
        }
        let message = format!("answer {serial} is posted for turn {turn}, attempt {attempt:?}");
        Err(("words", message))
    }
}

fn told(key: &HostedKey) -> String {
    let HostedKey { computer, turn, attempt, .. } = key;
    format!("turn {turn}, attempt {attempt} of {computer}")
}
