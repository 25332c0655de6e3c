//! Folds a thread's log into the list of its turns: who was asked, why, and what came of it.

use std::collections::HashMap;

use moothall_kernel::event::{Cause, Event, Outcome, Posted, Recorded};
use moothall_kernel::ids::{EventId, Seq, StreamId, TurnNo};
use moothall_kernel::participant::Kind;

use crate::wire::{TurnEntry, WireFault, outcome_word, turn_id, why_not_word, why_word};

/// The fold. Feed it every event that the viewer may see, in order.
pub struct Explained {
    stream: StreamId,
    entries: Vec<TurnEntry>,
    open: HashMap<TurnNo, usize>,
    /// The human message that each message goes back to.
    roots: HashMap<Seq, EventId>,
}

impl Explained {
    /// Nothing yet.
    pub fn new(stream: StreamId) -> Self {
        Self { stream, entries: Vec::new(), open: HashMap::new(), roots: HashMap::new() }
    }

    /// The list, of one message or of all, and its newest `limit` entries where there is a limit.
    pub fn list(self, message: Option<EventId>, limit: Option<usize>) -> Vec<TurnEntry> {
        let wanted = message.map(|id| id.to_string());
        let mut entries = self.entries;
        if wanted.is_some() {
            entries.retain(|entry| entry.message == wanted);
        }
        let surplus = limit.map_or(0, |limit| entries.len().saturating_sub(limit));
        entries.drain(..surplus);
        entries
    }

    /// Takes the next event.
    pub fn observe(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::Posted(posted) => self.observe_posted(posted, recorded),
            Event::TurnGranted { turn, participant, why, may_pass, cause, .. } => {
                let mut entry = self.entry(participant.to_string(), cause, recorded);
                entry.id = Some(turn_id(&self.stream, *turn));
                entry.why = Some(why_word(*why).into());
                entry.may_pass = *may_pass;
                entry.attempt = 1;
                self.open.insert(*turn, self.entries.len());
                self.entries.push(entry);
            }
            Event::Skipped { participant, why_not, cause, detail } => {
                let mut entry = self.entry(participant.to_string(), cause, recorded);
                entry.why_not = Some(why_not_word(*why_not).into());
                entry.detail.clone_from(detail);
                self.entries.push(entry);
            }
            Event::TurnWidened { turn, why, may_pass, cause, .. } => {
                let message = self.root(cause);
                self.change(*turn, |entry| {
                    entry.cause = cause.into();
                    entry.message = message;
                    entry.why = Some(why_word(*why).into());
                    entry.may_pass = *may_pass;
                });
            }
            Event::TurnStarted { turn, attempt, from_seq, through_seq, .. } => self.change(*turn, |entry| {
                entry.attempt = *attempt;
                entry.started_at = Some(recorded.ts.to_string());
                entry.from_seq = Some(from_seq.0);
                entry.through_seq = Some(through_seq.0);
            }),
            Event::Summarised { turn, through_seq, .. } => {
                let detail = format!("it summed up what came before {}", through_seq.next());
                self.change(*turn, |entry| entry.detail = Some(detail));
            }
            Event::TurnReleased { turn } => self.change(*turn, |entry| entry.released_at = Some(recorded.ts.to_string())),
            Event::TurnEnded { .. } => self.observe_ended(recorded),
            _ => {}
        }
    }

    fn observe_posted(&mut self, posted: &Posted, recorded: &Recorded) {
        let id = recorded.id(&self.stream);
        let root = match (posted.kind, &posted.reply_to) {
            (Kind::Human, _) => Some(id),
            (Kind::Agent, Some(cause)) => self.roots.get(&cause.seq).copied(),
            (Kind::Agent, None) => None,
        };
        if let Some(root) = root {
            self.roots.insert(recorded.seq, root);
        }
        if let Some(turn) = posted.turn {
            self.change(turn, |entry| entry.reply = Some(id.to_string()));
        }
    }

    fn observe_ended(&mut self, recorded: &Recorded) {
        let Event::TurnEnded { turn, attempt, outcome, fault, usage, .. } = &recorded.event else { return };
        self.change(*turn, |entry| {
            entry.attempt = *attempt;
            entry.outcome = Some(outcome_word(*outcome).into());
            entry.why_not = (*outcome == Outcome::Passed).then(|| "passed".into());
            entry.fault = fault.as_ref().map(WireFault::from);
            entry.usage = Some(usage.into());
            entry.ended_at = Some(recorded.ts.to_string());
        });
    }

    fn root(&self, cause: &Cause) -> Option<String> {
        self.roots.get(&cause.seq).map(ToString::to_string)
    }

    fn change(&mut self, turn: TurnNo, change: impl FnOnce(&mut TurnEntry)) {
        if let Some(entry) = self.open.get(&turn).and_then(|place| self.entries.get_mut(*place)) {
            change(entry);
        }
    }

    fn entry(&self, participant: String, cause: &Cause, recorded: &Recorded) -> TurnEntry {
        TurnEntry {
            id: None,
            participant,
            cause: cause.into(),
            message: self.root(cause),
            why: None,
            why_not: None,
            detail: None,
            may_pass: false,
            outcome: None,
            fault: None,
            usage: None,
            attempt: 0,
            reply: None,
            granted_at: recorded.ts.to_string(),
            started_at: None,
            released_at: None,
            ended_at: None,
            from_seq: None,
            through_seq: None,
        }
    }
}
