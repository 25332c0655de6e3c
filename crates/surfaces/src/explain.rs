//! Folds a thread's log into the list of its turns: who was asked, why, and what came of it.

use std::collections::{BTreeMap, HashMap};

use moothall_kernel::event::{Cause, Event, Outcome, Posted, Recorded};
use moothall_kernel::ids::{EventId, ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::participant::Kind;

use crate::wire::{TurnEntry, UnaskedMessage, WireFault, turn_id};

/// An entry, and every human message that it goes back to: what waits for its turn may be asked
/// about more. The newest is the entry's own.
struct Listed {
    entry: TurnEntry,
    earlier: Vec<String>,
}

/// The fold. Feed it every event that the viewer may see, in order.
pub struct Explained {
    stream: StreamId,
    entries: Vec<Listed>,
    open: HashMap<TurnNo, usize>,
    /// The human message that each message goes back to.
    roots: HashMap<Seq, EventId>,
    /// Whether a turn was widened of which it is not known who was asked.
    missed: bool,
    /// Messages that wait for their time.
    waiting: BTreeMap<Seq, EventId>,
    /// Messages of which a Stop took the time away.
    forgotten: Vec<UnaskedMessage>,
}

impl Explained {
    /// An explanation of this thread before any event was observed.
    pub fn new(stream: StreamId) -> Self {
        Self {
            stream,
            entries: Vec::new(),
            open: HashMap::new(),
            roots: HashMap::new(),
            missed: false,
            waiting: BTreeMap::new(),
            forgotten: Vec::new(),
        }
    }

    /// The list, of one message or of all, and its newest `limit` entries where there is a limit.
    pub fn list(self, message: Option<EventId>, limit: Option<usize>) -> Vec<TurnEntry> {
        let wanted = message.map(|id| id.to_string());
        let is_about = |listed: &Listed, id: &String| {
            listed.entry.message.as_ref() == Some(id) || listed.earlier.contains(id)
        };
        let listed = self
            .entries
            .into_iter()
            .filter(|listed| wanted.as_ref().is_none_or(|id| is_about(listed, id)));
        let mut entries: Vec<TurnEntry> = listed.map(|listed| listed.entry).collect();
        let surplus = limit.map_or(0, |limit| entries.len().saturating_sub(limit));
        entries.drain(..surplus);
        entries
    }

    /// Returns the messages about which no agent was asked because a person stopped the
    /// conversation while they waited. Only who sees all events can tell.
    pub fn forgotten(&self, message: Option<EventId>) -> Vec<UnaskedMessage> {
        let wanted = message.map(|id| id.to_string());
        let is_wanted = |one: &&UnaskedMessage| wanted.as_ref().is_none_or(|id| *id == one.message);
        self.forgotten.iter().filter(is_wanted).cloned().collect()
    }

    /// Whether each turn that was widened was seen to be granted. If not, what went before has to
    /// be read as well.
    pub fn knows_what_was_widened(&self) -> bool {
        !self.missed
    }

    /// Takes the next event.
    pub fn observe(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::Posted(posted) => self.observe_posted(posted, recorded),
            Event::Taken { cause } => drop(self.waiting.remove(&cause.seq)),
            Event::Archived { .. } => self.waiting.clear(),
            Event::Stopped { by, .. } => self.forget_waiting(by),
            Event::TurnGranted { turn, participant, why, may_pass, cause, .. } => {
                let mut entry = self.entry(participant.to_string(), cause, recorded);
                entry.id = Some(turn_id(&self.stream, *turn));
                entry.why = Some(why.to_string());
                entry.may_pass = *may_pass;
                entry.attempt = 1;
                self.open.insert(*turn, self.entries.len());
                self.list_entry(entry);
            }
            Event::Skipped { participant, why_not, cause, detail } => {
                let mut entry = self.entry(participant.to_string(), cause, recorded);
                entry.why_not = Some(why_not.to_string());
                entry.detail.clone_from(detail);
                self.list_entry(entry);
            }
            Event::TurnWidened { turn, why, may_pass, cause, .. } => {
                self.widen(*turn, cause);
                self.change(*turn, |entry| {
                    entry.cause = cause.into();
                    entry.why = Some(why.to_string());
                    entry.may_pass = *may_pass;
                });
            }
            Event::TurnStarted { turn, attempt, from_seq, through_seq, .. } => {
                self.change(*turn, |entry| {
                    entry.attempt = *attempt;
                    entry.started_at = Some(recorded.ts.to_string());
                    entry.from_seq = Some(from_seq.0);
                    entry.through_seq = Some(through_seq.0);
                })
            }
            Event::Summarised { turn, through_seq, .. } => {
                let detail = format!("it summed up what came before {}", through_seq.next());
                self.change(*turn, |entry| entry.detail = Some(detail));
            }
            Event::TurnReleased { turn } => {
                self.change(*turn, |entry| entry.released_at = Some(recorded.ts.to_string()))
            }
            Event::TurnEnded { .. } => self.observe_ended(recorded),
            _ => {}
        }
    }

    fn forget_waiting(&mut self, by: &ParticipantId) {
        let forgotten = std::mem::take(&mut self.waiting).into_values();
        self.forgotten.extend(forgotten.map(|message| UnaskedMessage {
            message: message.to_string(),
            reason: "stopped".into(),
            by: Some(by.to_string()),
        }));
    }

    fn observe_posted(&mut self, posted: &Posted, recorded: &Recorded) {
        let id = recorded.id(&self.stream);
        if posted.queued && posted.is_persons() {
            self.waiting.insert(recorded.seq, id);
        }
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
        let Event::TurnEnded { turn, attempt, outcome, fault, usage, .. } = &recorded.event else {
            return;
        };
        self.change(*turn, |entry| {
            entry.attempt = *attempt;
            entry.outcome = Some(outcome.to_string());
            entry.why_not = (*outcome == Outcome::Passed).then(|| "passed".into());
            entry.fault = fault.as_ref().map(WireFault::from);
            entry.usage = Some(usage.into());
            entry.ended_at = Some(recorded.ts.to_string());
        });
    }

    /// What goes back to no message leaves a turn with that which it had.
    fn widen(&mut self, turn: TurnNo, cause: &Cause) {
        let root = self.root(cause);
        let listed = self.open.get(&turn).and_then(|place| self.entries.get_mut(*place));
        self.missed |= listed.is_none();
        let (Some(root), Some(listed)) = (root, listed) else { return };
        let before = listed.entry.message.replace(root.clone()).filter(|before| *before != root);
        listed.earlier.extend(before);
    }

    fn list_entry(&mut self, entry: TurnEntry) {
        self.entries.push(Listed { entry, earlier: Vec::new() });
    }

    fn root(&self, cause: &Cause) -> Option<String> {
        self.roots.get(&cause.seq).map(ToString::to_string)
    }

    fn change(&mut self, turn: TurnNo, change: impl FnOnce(&mut TurnEntry)) {
        if let Some(listed) = self.open.get(&turn).and_then(|place| self.entries.get_mut(*place)) {
            change(&mut listed.entry);
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
