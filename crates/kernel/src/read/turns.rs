//! Folds a log into the list of its turns: the agent that was asked, the reason, and the outcome.
//!
//! A reader gets only the turns about messages that it sees. The fold reads the whole log, and
//! leaves out turns with other causes, their positions, and private errors. (Ruling 19.)

use std::collections::{BTreeMap, BTreeSet};

use crate::model::ending::Ending;
use crate::model::event::{
    Cause, Event, Fault, Outcome, Posted, RecordedEvent, TurnKind, TurnReason, Usage,
};
use crate::model::ids::{EventId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use crate::model::permission::WithdrawalReason;
use crate::model::silence::{Reason, Silence};
use crate::model::time::Timestamp;
use crate::read::silence::{Silences, SilentMessage};
use crate::read::view::{Viewer, visible};

/// Maximum number of entries that a refusal is compared with: a round of two polls per agent.
const REFUSALS_COMPARED: usize = 400;
/// The detail of a question that ended without an answer.
const GAVE_UP: &str = "it gave up because no person answered in time";
/// The replacement for an error that only operators may read.
const UNSEEN_FAULT: &str = "it did not answer; operators can see why";

/// A turn, or an agent that was not asked, with the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRecord {
    /// Number of the turn; `None` for an agent that was not asked.
    pub turn: Option<TurnNo>,
    /// The agent that was asked or not asked.
    pub participant: ParticipantId,
    /// The newest event that the turn is about.
    pub cause: Cause,
    /// The newest human message in the chain of causes.
    pub message: Option<EventId>,
    /// Earlier messages that the turn is about as well.
    pub also_about: Vec<EventId>,
    /// True if the agent only listens.
    pub listens: bool,
    /// The reason of the grant.
    pub why: Option<TurnReason>,
    /// The reason of the silence.
    pub why_not: Option<Reason>,
    /// The action for which the agent asks a person's permission now.
    pub asks: Option<String>,
    /// Further words about the reason.
    pub detail: Option<String>,
    /// True if the agent might pass.
    pub may_pass: bool,
    /// The outcome; `None` for an open turn and without a turn.
    pub outcome: Option<Outcome>,
    /// The failure, if there was one.
    pub fault: Option<Fault>,
    /// Time, tokens and money that the turn used. Operators see them for all turns, a participant
    /// for its own.
    pub usage: Option<Usage>,
    /// The end of the model's answer, if its provider reports it.
    pub ended: Option<Ending>,
    /// Number of the last attempt, from 1; 0 without a turn.
    pub attempt: u32,
    /// The event with the agent's answer.
    pub reply: Option<EventId>,
    /// Time of the grant or of the refusal.
    pub granted_at: Timestamp,
    /// Time at which the runtime accepted the turn.
    pub started_at: Option<Timestamp>,
    /// Time from which the floor no longer waited for the turn.
    pub released_at: Option<Timestamp>,
    /// Time at which the turn ended.
    pub ended_at: Option<Timestamp>,
    /// Position after which the turn's events begin, exclusive.
    pub from_seq: Option<Seq>,
    /// Position with which the turn's events end, inclusive.
    pub through_seq: Option<Seq>,
}

impl TurnRecord {
    /// Returns the reason for which the agent was not asked as a phrase that follows its name.
    pub fn reason(&self) -> Option<&'static str> {
        self.why_not.map(|why_not| why_not.row().phrase)
    }
}

/// An entry, with the viewer's right to see its parts.
struct ListedEntry {
    entry: TurnRecord,
    /// True if the viewer sees none of the entry's causes so far.
    hidden: bool,
    /// True if the answer is hidden from the viewer. Then the turn is hidden too.
    answered_unseen: bool,
    /// True if the turn's error was shown to all.
    public_fault: bool,
}

/// The fold. It must observe every event of a range, in order.
pub struct TurnFold {
    stream: StreamId,
    viewer: Viewer,
    /// The position after which the range begins.
    after: Seq,
    entries: Vec<ListedEntry>,
    open: BTreeMap<TurnNo, usize>,
    /// The human message at the root of each message.
    roots: BTreeMap<Seq, EventId>,
    /// True if a widened turn's grant or its cause lies before the range.
    missed: bool,
    silences: Silences,
    /// Turns that wait for a permission, by its id.
    asking: BTreeMap<PermissionId, Vec<TurnNo>>,
    /// Open questions without a turn. A turn that begins meanwhile waits for their answers too.
    asked_in_none: BTreeMap<PermissionId, (ParticipantId, String)>,
    /// Positions of the events that the viewer sees.
    seen: BTreeSet<Seq>,
}

impl TurnFold {
    /// Creates a fold without events.
    pub fn new(stream: StreamId, viewer: Viewer, after: Seq) -> Self {
        Self {
            silences: Silences::new(stream.clone(), viewer.clone()),
            stream,
            viewer,
            after,
            entries: Vec::new(),
            open: BTreeMap::new(),
            roots: BTreeMap::new(),
            missed: false,
            asking: BTreeMap::new(),
            asked_in_none: BTreeMap::new(),
            seen: BTreeSet::new(),
        }
    }

    /// Returns the entries, about one message or all, and the messages that asked no agent.
    pub fn list(self, message: Option<EventId>) -> (Vec<TurnRecord>, Vec<SilentMessage>) {
        let Self { viewer, entries, silences, seen, .. } = self;
        let (private, shown): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .filter(|listed| !listed.hidden)
            .partition(|listed| listed.answered_unseen);
        let shown: Vec<_> = shown.into_iter().map(|one| one.for_viewer(&viewer, &seen)).collect();
        let silent = silences
            .into_messages()
            .filter(|silent| message.is_none_or(|id| silent.id == id))
            .filter(|silent| is_silent(silent, &shown))
            .map(|silent| with_private_answer(silent, &private))
            .collect();
        let listed =
            shown.into_iter().filter(|listed| message.is_none_or(|id| listed.is_about(id)));
        (listed.map(|listed| listed.entry).collect(), silent)
    }

    /// True if the grant of each widened turn was observed. Otherwise earlier events must be read
    /// as well.
    pub fn knows_what_was_widened(&self) -> bool {
        !self.missed
    }

    /// Returns a test for positions of events that the viewer does not see.
    pub fn hidden(&self) -> impl Fn(Seq) -> bool + Send + 'static {
        let (all, after) = (self.viewer == Viewer::Operator, self.after);
        let seen = self.seen.clone();
        move |seq| !all && (seq <= after || !seen.contains(&seq))
    }

    /// Returns the entry of an agent that only a cooldown delays, if the viewer sees the message
    /// that the agent has to answer.
    pub fn cooling_entry(&self, cause: &Cause, participant: &ParticipantId) -> Option<TurnRecord> {
        let mut entry = self.entry(participant, cause, cause.id.time());
        entry.why_not = Some(Reason::Waiting);
        entry.detail = Some("for its cooldown".into());
        self.sees(cause.seq).then_some(entry)
    }

    /// Returns the stream whose log is read.
    pub fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// Returns the viewer.
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    fn sees(&self, seq: Seq) -> bool {
        self.viewer == Viewer::Operator || self.seen.contains(&seq)
    }

    /// Applies the next event.
    pub fn observe(&mut self, recorded: &RecordedEvent) {
        if visible(&recorded.event, &self.viewer) {
            self.seen.insert(recorded.seq);
        }
        self.silences.observe(recorded);
        match &recorded.event {
            Event::Posted(posted) => self.observe_posted(posted, recorded),
            Event::TurnGranted { turn, participant, why, kind, may_pass, cause, .. } => {
                let mut entry = self.entry(participant, cause, recorded.ts);
                entry.turn = Some(*turn);
                entry.why = Some(*why);
                entry.may_pass = *may_pass;
                entry.listens = *kind == TurnKind::Listen;
                entry.attempt = 1;
                for (permission, (asker, action)) in &self.asked_in_none {
                    if asker == participant {
                        entry.asks = Some(action.clone());
                        self.asking.entry(permission.clone()).or_default().push(*turn);
                    }
                }
                self.open.insert(*turn, self.entries.len());
                self.list_entry(entry, cause);
            }
            Event::Skipped { participant, why_not, cause, detail, .. } => {
                let mut entry = self.entry(participant, cause, recorded.ts);
                entry.why_not = Some(Reason::from(*why_not));
                entry.detail.clone_from(detail);
                if !self.is_listed(&entry) {
                    self.list_entry(entry, cause);
                }
            }
            Event::TurnWidened { turn, why, kind, may_pass, cause } if self.widen(*turn, cause) => {
                self.change(*turn, |listed| {
                    if std::mem::take(&mut listed.hidden) {
                        listed.entry.granted_at = recorded.ts;
                    }
                    listed.entry.cause = cause.clone();
                    listed.entry.why = Some(*why);
                    listed.entry.may_pass = *may_pass;
                    listed.entry.listens = *kind == TurnKind::Listen;
                });
            }
            Event::TurnStarted { turn, attempt, from_seq, through_seq, .. } => {
                self.change(*turn, |ListedEntry { entry, .. }| {
                    entry.attempt = *attempt;
                    entry.started_at = Some(recorded.ts);
                    entry.from_seq = Some(*from_seq);
                    entry.through_seq = Some(*through_seq);
                })
            }
            Event::Summarised { turn, through_seq, .. } if self.viewer == Viewer::Operator => {
                let detail = format!("it summarised the messages before {}", through_seq.next());
                self.change(*turn, |listed| listed.entry.detail = Some(detail));
            }
            Event::TurnReleased { turn } => self.change(*turn, |listed| {
                listed.entry.released_at = Some(recorded.ts);
            }),
            Event::TurnEnded { .. } => self.observe_ended(recorded),
            Event::PermissionRequested { permission, turn, action, .. } => {
                self.asks(permission, vec![*turn], action);
            }
            // The agent's program takes no input until the question is answered.
            Event::QuestionAsked { permission, participant, action, .. } => {
                let is_kept = |place: &usize| {
                    let listed = self.entries.get(*place);
                    listed.is_some_and(|ListedEntry { entry, .. }| {
                        entry.participant == *participant && entry.outcome.is_none()
                    })
                };
                let open = self.open.iter().filter(|(_, place)| is_kept(place));
                let turns = open.map(|(turn, _)| *turn).collect();
                self.asked_in_none
                    .insert(permission.clone(), (participant.clone(), action.clone()));
                self.asks(permission, turns, action);
            }
            Event::PermissionWithdrawn { permission, because: WithdrawalReason::GaveUp } => {
                for turn in self.asking.get(permission).cloned().unwrap_or_default() {
                    self.change(turn, |ListedEntry { entry, .. }| {
                        let action = entry.asks.as_deref().unwrap_or_default();
                        entry.detail = Some(format!("{GAVE_UP}: {action}"));
                    });
                }
                self.closed(permission);
            }
            Event::PermissionAnswered { permission, .. }
            | Event::PermissionExpired { permission }
            | Event::PermissionWithdrawn { permission, .. } => self.closed(permission),
            _ => {}
        }
    }

    /// Marks turns as waiting for a person's answer.
    fn asks(&mut self, permission: &PermissionId, turns: Vec<TurnNo>, action: &str) {
        for turn in &turns {
            self.change(*turn, |listed| listed.entry.asks = Some(action.to_owned()));
        }
        self.asking.insert(permission.clone(), turns);
    }

    /// Closes a question. Turns with another open question still wait.
    fn closed(&mut self, permission: &PermissionId) {
        self.asked_in_none.remove(permission);
        for turn in self.asking.remove(permission).unwrap_or_default() {
            if !self.asking.values().any(|others| others.contains(&turn)) {
                self.change(turn, |listed| listed.entry.asks = None);
            }
        }
    }

    /// Notes the root of a message, if the viewer sees the message. The root is the person's
    /// message at the beginning of the chain of replies. If a turn wrote the message, notes the
    /// message as the turn's reply too.
    fn observe_posted(&mut self, posted: &Posted, recorded: &RecordedEvent) {
        let (id, seen) = (recorded.id(&self.stream), self.sees(recorded.seq));
        let replied = || posted.reply_to.as_ref().and_then(|cause| self.root(cause));
        let root = if posted.is_persons() { Some(id) } else { replied() };
        if let Some(root) = root.filter(|_| seen) {
            self.roots.insert(recorded.seq, root);
        }
        let Some(turn) = posted.turn else { return };
        self.change(turn, |listed| {
            listed.public_fault |= posted.error.is_some() && seen;
            listed.answered_unseen |= !seen;
            listed.entry.reply = Some(id);
        });
    }

    /// Enters the end of an attempt into the entry of its turn: outcome, fault and usage.
    fn observe_ended(&mut self, recorded: &RecordedEvent) {
        let Event::TurnEnded { turn, attempt, outcome, fault, usage, ended, .. } = &recorded.event
        else {
            return;
        };
        self.change(*turn, |ListedEntry { entry, .. }| {
            entry.attempt = *attempt;
            entry.outcome = Some(*outcome);
            if *outcome == Outcome::Passed {
                entry.why_not = Some(Reason::Passed);
            }
            entry.fault.clone_from(fault);
            entry.usage = Some(*usage);
            entry.ended = *ended;
            entry.ended_at = Some(recorded.ts);
            entry.asks = None;
        });
    }

    /// Adds a cause to a turn. Returns false if the viewer does not see the cause. A cause without
    /// a human message at its root counts as its own root, and the turn keeps its message.
    fn widen(&mut self, turn: TurnNo, cause: &Cause) -> bool {
        let (root, seen) = (self.root(cause), self.sees(cause.seq));
        let listed = self.open.get(&turn).and_then(|place| self.entries.get_mut(*place));
        let is_known =
            |listed: &&mut ListedEntry| !listed.hidden || listed.entry.cause.seq > self.after;
        self.missed |= !listed.as_ref().is_some_and(is_known);
        if let (Some(listed), true) = (listed, seen) {
            let entry = &mut listed.entry;
            let before = self.roots.get(&entry.cause.seq).copied().unwrap_or(entry.cause.id);
            let now = root.unwrap_or(cause.id);
            if before != now && !listed.hidden && !entry.also_about.contains(&before) {
                entry.also_about.push(before);
            }
            entry.message = root.or(entry.message);
        }
        seen
    }

    /// Adds an entry, which is hidden until the viewer sees one of its causes.
    fn list_entry(&mut self, entry: TurnRecord, cause: &Cause) {
        self.entries.push(ListedEntry {
            entry,
            hidden: !self.sees(cause.seq),
            answered_unseen: false,
            public_fault: false,
        });
    }

    /// True if one of the newest [`REFUSALS_COMPARED`] entries records a refusal of the same agent,
    /// for the same reason and message.
    fn is_listed(&self, refused: &TurnRecord) -> bool {
        let same = |listed: &ListedEntry| {
            let entry = &listed.entry;
            entry.turn.is_none()
                && (&entry.participant, entry.message, entry.why_not)
                    == (&refused.participant, refused.message, refused.why_not)
        };
        refused.message.is_some() && self.entries.iter().rev().take(REFUSALS_COMPARED).any(same)
    }

    fn root(&self, cause: &Cause) -> Option<EventId> {
        self.roots.get(&cause.seq).copied()
    }

    fn change(&mut self, turn: TurnNo, change: impl FnOnce(&mut ListedEntry)) {
        if let Some(listed) = self.open.get(&turn).and_then(|place| self.entries.get_mut(*place)) {
            change(listed);
        }
    }

    /// Returns an entry for a granted or refused turn, without a result.
    fn entry(
        &self,
        participant: &ParticipantId,
        cause: &Cause,
        granted_at: Timestamp,
    ) -> TurnRecord {
        TurnRecord {
            turn: None,
            participant: participant.clone(),
            cause: cause.clone(),
            message: self.root(cause),
            also_about: Vec::new(),
            listens: false,
            why: None,
            why_not: None,
            asks: None,
            detail: None,
            may_pass: false,
            outcome: None,
            fault: None,
            usage: None,
            ended: None,
            attempt: 0,
            reply: None,
            granted_at,
            started_at: None,
            released_at: None,
            ended_at: None,
            from_seq: None,
            through_seq: None,
        }
    }
}

impl ListedEntry {
    fn is_about(&self, message: EventId) -> bool {
        let entry = &self.entry;
        let is_newest = entry.message == Some(message) || entry.cause.id == message;
        is_newest || entry.also_about.contains(&message)
    }

    fn covers(&self, seq: Seq) -> bool {
        let (from, through) = (self.entry.from_seq, self.entry.through_seq);
        from.is_some_and(|from| from < seq) && through.is_some_and(|through| seq <= through)
    }

    /// Removes the data that only operators may see: positions of events hidden from the viewer,
    /// the usage of other participants' turns, and private errors, which may hold a program's
    /// output.
    fn for_viewer(mut self, viewer: &Viewer, seen: &BTreeSet<Seq>) -> Self {
        let own = matches!(viewer, Viewer::Participant(id) if *id == self.entry.participant);
        if *viewer == Viewer::Operator {
            return self;
        }
        let newest = |through: Seq| seen.range(..=through).next_back().copied();
        let begins_at = |from: Seq| if from == Seq(0) { Some(from) } else { newest(from) };
        self.entry.from_seq = self.entry.from_seq.and_then(begins_at);
        self.entry.through_seq = self.entry.through_seq.and_then(newest);
        self.entry.usage.take_if(|_| !own);
        if let Some(fault) = self.entry.fault.as_mut().filter(|_| !own && !self.public_fault)
            && !Fault::is_of_rules(&fault.code)
        {
            fault.message = UNSEEN_FAULT.into();
        }
        self
    }
}

/// True if no turn shown to the viewer is about the message. If the log has no reason for the
/// message, a shown refusal about it, or a shown turn whose range covers it, also makes this false.
fn is_silent(message: &SilentMessage, shown: &[ListedEntry]) -> bool {
    let is_known = message.silence.reason != Reason::NoneAsked;
    !shown.iter().any(|listed| {
        let is_about = listed.is_about(message.id);
        (is_about && (listed.entry.turn.is_some() || !is_known))
            || (!is_known && listed.covers(message.seq))
    })
}

/// Replaces the reason of a message whose answer the viewer does not see: it was answered
/// privately.
fn with_private_answer(message: SilentMessage, private: &[ListedEntry]) -> SilentMessage {
    match message.silence.reason {
        Reason::NoneAsked if private.iter().any(|listed| listed.is_about(message.id)) => {
            SilentMessage { silence: Silence::of(Reason::AnsweredPrivately), ..message }
        }
        _ => message,
    }
}

#[cfg(test)]
mod tests;
