//! Folds a thread's log into the list of its turns: the agent that was asked, the reason, and the
//! outcome.
//!
//! A reader gets only the turns about messages that it sees. The fold reads the whole log, and
//! leaves out turns with other causes, their positions, and private errors. (Ruling 19.)

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use moothall_engine::door::{Action, Door};
use moothall_kernel::event::{Cause, Event, Fault, Outcome, Posted, RecordedEvent, TurnKind};
use moothall_kernel::ids::{EventId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use moothall_kernel::participant::Kind;
use moothall_kernel::permission::WithdrawalReason;
use moothall_kernel::silence::{Reason, Silence};
use moothall_kernel::silences::{Silences, SilentMessage};
use moothall_kernel::time::Timestamp;
use moothall_kernel::view::{Viewer, visible};

use crate::error::{ApiError, ApiResult, Code};
use crate::wire::{TurnEntry, WireFault, turn_id};

pub mod explanation;

pub use explanation::Explanation;

/// Number of events before the message that the second attempt reads, to find a turn granted before
/// it. Each further attempt reads four times as many.
const EARLIER_SEQS: u64 = 256;
/// Number of events searched for the newest message of a person.
const NEWEST_SEQS: u64 = 2000;
/// Maximum number of entries that a refusal is compared with: a round of two polls per agent.
const REFUSALS_COMPARED: usize = 400;
/// The detail of a question that ended without an answer.
const GAVE_UP: &str = "it gave up because no person answered in time";
/// The replacement for an error that only operators may read.
const UNSEEN_FAULT: &str = "it did not answer; operators can see why";

/// Explains the turns of a conversation, or only those about one message. This includes a turn that
/// was granted earlier and widened to the message.
///
/// # Errors
/// [`ApiError`] if the thread cannot be read, or the viewer sees no such event.
pub async fn explain(
    door: &Door,
    action: Action,
    stream: &StreamId,
    viewer: &Viewer,
    message: Option<EventId>,
) -> ApiResult<Explanation> {
    let head = door.find(action, stream).await?.head;
    let wanted = message.map_or(Seq(0), |id| id.seq());
    let mut earlier = 1;
    loop {
        let after = Seq(wanted.0.saturating_sub(earlier));
        let explained = read(door, action, stream, viewer, after..head, message).await?;
        if after == Seq(0) || explained.knows_what_was_widened() {
            return explanation::by_state(door, action, explained, message, head).await;
        }
        earlier = (earlier * 4).max(EARLIER_SEQS);
    }
}

/// Folds a range of the log. The fold needs all events, also those that the viewer does not see.
async fn read(
    door: &Door,
    action: Action,
    stream: &StreamId,
    viewer: &Viewer,
    range: Range<Seq>,
    message: Option<EventId>,
) -> ApiResult<TurnFold> {
    let mut explained = TurnFold::new(stream.clone(), viewer.clone(), range.start);
    let mut pages = door.pages(action, stream, Viewer::Operator, range);
    let mut found = message.is_none();
    while let Some(events) = pages.next().await? {
        found |= events.iter().any(|recorded| {
            Some(recorded.id(stream)) == message && visible(&recorded.event, viewer)
        });
        if !found && message.is_some_and(|id| pages.through() >= id.seq()) {
            break;
        }
        events.iter().for_each(|recorded| explained.observe(recorded));
    }
    if found { Ok(explained) } else { Err(no_event().in_thread(stream)) }
}

/// Returns the newest message of a person that the viewer sees, among the last 2000 events.
///
/// # Errors
/// [`ApiError`] if the thread cannot be read.
pub async fn newest_of_people(
    door: &Door,
    action: Action,
    stream: &StreamId,
    viewer: &Viewer,
) -> ApiResult<Option<EventId>> {
    let head = door.find(action, stream).await?.head;
    let after = Seq(head.0.saturating_sub(NEWEST_SEQS));
    let mut newest = None;
    let mut pages = door.pages(action, stream, viewer.clone(), after..head);
    while let Some(events) = pages.next().await? {
        let is_persons = |recorded: &&RecordedEvent| match &recorded.event {
            Event::Posted(posted) => posted.kind == Kind::Human,
            _ => false,
        };
        let said = events.iter().rev().find(is_persons);
        newest = said.map(|recorded| recorded.id(stream)).or(newest);
    }
    Ok(newest)
}

/// Returns the id of the event at a position.
///
/// # Errors
/// [`ApiError`] if the thread cannot be read, or the viewer sees no event there.
pub async fn event_at(
    door: &Door,
    action: Action,
    stream: &StreamId,
    viewer: &Viewer,
    seq: Seq,
) -> ApiResult<EventId> {
    let head = door.find(action, stream).await?.head;
    let range = Seq(seq.0.saturating_sub(1)).min(head)..seq.min(head);
    let mut pages = door.pages(action, stream, viewer.clone(), range);
    while let Some(events) = pages.next().await? {
        if let Some(recorded) = events.iter().find(|recorded| recorded.seq == seq) {
            return Ok(recorded.id(stream));
        }
    }
    Err(no_event().in_thread(stream))
}

/// Returns the error for an event that is missing or hidden from the reader.
pub fn no_event() -> ApiError {
    ApiError::plain(Code::UnknownEvent)
}

/// An entry, with what the viewer may know of it.
struct ListedEntry {
    entry: TurnEntry,
    /// True if the event that the entry is about is hidden from the viewer so far.
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
    open: HashMap<TurnNo, usize>,
    /// The human message at the root of each message.
    roots: HashMap<Seq, EventId>,
    /// True if a widened turn's grant or its cause lies before the range.
    missed: bool,
    silences: Silences,
    /// Turns that wait for a permission, by its id.
    asking: HashMap<PermissionId, Vec<TurnNo>>,
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
            open: HashMap::new(),
            roots: HashMap::new(),
            missed: false,
            asking: HashMap::new(),
            asked_in_none: BTreeMap::new(),
            seen: BTreeSet::new(),
        }
    }

    /// Returns the entries, about one message or all, and the messages that asked no agent.
    pub fn list(self, message: Option<EventId>) -> (Vec<TurnEntry>, Vec<SilentMessage>) {
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
        let wanted = message.map(|id| id.to_string());
        let listed =
            shown.into_iter().filter(|listed| wanted.as_ref().is_none_or(|id| listed.is_about(id)));
        (listed.map(|listed| listed.entry).collect(), silent)
    }

    /// True if the grant of each widened turn was observed. Otherwise earlier events must be read
    /// as well.
    pub fn knows_what_was_widened(&self) -> bool {
        !self.missed
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
                let mut entry = self.entry(participant.to_string(), cause, recorded.ts);
                entry.id = Some(turn_id(&self.stream, *turn));
                entry.why = Some(why.to_string());
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
            Event::Skipped { participant, why_not, cause, detail } => {
                let mut entry = self.entry(participant.to_string(), cause, recorded.ts);
                entry.why_not = Some(why_not.to_string());
                entry.reason = Some(Reason::from(*why_not).row().phrase.into());
                entry.detail.clone_from(detail);
                if !self.is_listed(&entry) {
                    self.list_entry(entry, cause);
                }
            }
            Event::TurnWidened { turn, why, kind, may_pass, cause } if self.widen(*turn, cause) => {
                self.change(*turn, |listed| {
                    if std::mem::take(&mut listed.hidden) {
                        listed.entry.granted_at = recorded.ts.to_string();
                    }
                    listed.entry.cause = cause.into();
                    listed.entry.why = Some(why.to_string());
                    listed.entry.may_pass = *may_pass;
                    listed.entry.listens = *kind == TurnKind::Listen;
                });
            }
            Event::TurnStarted { turn, attempt, from_seq, through_seq, .. } => {
                self.change(*turn, |ListedEntry { entry, .. }| {
                    entry.attempt = *attempt;
                    entry.started_at = Some(recorded.ts.to_string());
                    entry.from_seq = Some(from_seq.0);
                    entry.through_seq = Some(through_seq.0);
                })
            }
            Event::Summarised { turn, through_seq, .. } if self.viewer == Viewer::Operator => {
                let detail = format!("it summarised the messages before {}", through_seq.next());
                self.change(*turn, |listed| listed.entry.detail = Some(detail));
            }
            Event::TurnReleased { turn } => self.change(*turn, |listed| {
                listed.entry.released_at = Some(recorded.ts.to_string());
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
                        entry.participant == participant.as_str() && entry.outcome.is_none()
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

    /// Closes a question. Turns wait on if they have another open one.
    fn closed(&mut self, permission: &PermissionId) {
        self.asked_in_none.remove(permission);
        for turn in self.asking.remove(permission).unwrap_or_default() {
            if !self.asking.values().any(|others| others.contains(&turn)) {
                self.change(turn, |listed| listed.entry.asks = None);
            }
        }
    }

    /// Notes the root of a message that the viewer sees: the person's message that it goes back to.
    /// A message of a turn is also noted as the reply of that turn.
    fn observe_posted(&mut self, posted: &Posted, recorded: &RecordedEvent) {
        let (id, seen) = (recorded.id(&self.stream), self.sees(recorded.seq));
        let root = match (posted.kind, &posted.reply_to) {
            (Kind::Human, _) => Some(id),
            (Kind::Agent, Some(cause)) => self.roots.get(&cause.seq).copied(),
            (Kind::Agent, None) => None,
        };
        if let Some(root) = root.filter(|_| seen) {
            self.roots.insert(recorded.seq, root);
        }
        let Some(turn) = posted.turn else { return };
        self.change(turn, |listed| {
            listed.public_fault |= posted.error.is_some() && seen;
            listed.answered_unseen |= !seen;
            listed.entry.reply = Some(id.to_string());
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
            entry.outcome = Some(outcome.to_string());
            if *outcome == Outcome::Passed {
                entry.why_not = Some(Reason::Passed.to_string());
                entry.reason = Some(Reason::Passed.row().phrase.into());
            }
            entry.fault = fault.as_ref().map(WireFault::from);
            entry.usage = Some(usage.into());
            entry.ended = ended.map(|ended| ended.to_string());
            entry.ended_at = Some(recorded.ts.to_string());
            entry.asks = None;
        });
    }

    /// Adds a cause to a turn. Returns false if the viewer does not see the cause. A cause without
    /// a human message at its root counts as its own root, and the turn keeps its message.
    fn widen(&mut self, turn: TurnNo, cause: &Cause) -> bool {
        let (root, seen) = (self.root(cause), self.sees(cause.seq));
        let listed = self.open.get(&turn).and_then(|place| self.entries.get_mut(*place));
        let is_known =
            |listed: &&mut ListedEntry| !listed.hidden || listed.entry.cause.seq > self.after.0;
        self.missed |= !listed.as_ref().is_some_and(is_known);
        if let (Some(listed), true) = (listed, seen) {
            let entry = &mut listed.entry;
            let before = self.roots.get(&Seq(entry.cause.seq)).map(ToString::to_string);
            let before = before.unwrap_or_else(|| entry.cause.id.clone());
            let now = root.clone().unwrap_or_else(|| cause.id.to_string());
            if before != now && !listed.hidden && !entry.also_about.contains(&before) {
                entry.also_about.push(before);
            }
            entry.message = root.or(entry.message.take());
        }
        seen
    }

    fn list_entry(&mut self, entry: TurnEntry, cause: &Cause) {
        self.entries.push(ListedEntry {
            entry,
            hidden: !self.sees(cause.seq),
            answered_unseen: false,
            public_fault: false,
        });
    }

    /// True if an entry exists that refused the same agent, for the same reason and message.
    fn is_listed(&self, refused: &TurnEntry) -> bool {
        let same = |listed: &ListedEntry| {
            let entry = &listed.entry;
            entry.id.is_none()
                && (&entry.participant, &entry.message, &entry.why_not)
                    == (&refused.participant, &refused.message, &refused.why_not)
        };
        refused.message.is_some() && self.entries.iter().rev().take(REFUSALS_COMPARED).any(same)
    }

    fn root(&self, cause: &Cause) -> Option<String> {
        self.roots.get(&cause.seq).map(ToString::to_string)
    }

    fn change(&mut self, turn: TurnNo, change: impl FnOnce(&mut ListedEntry)) {
        if let Some(listed) = self.open.get(&turn).and_then(|place| self.entries.get_mut(*place)) {
            change(listed);
        }
    }

    /// Returns an entry for a granted or refused turn, without a result.
    fn entry(&self, participant: String, cause: &Cause, granted_at: Timestamp) -> TurnEntry {
        TurnEntry {
            id: None,
            participant,
            cause: cause.into(),
            message: self.root(cause),
            also_about: Vec::new(),
            listens: false,
            why: None,
            why_not: None,
            reason: None,
            asks: None,
            detail: None,
            may_pass: false,
            outcome: None,
            fault: None,
            usage: None,
            ended: None,
            attempt: 0,
            reply: None,
            granted_at: granted_at.to_string(),
            started_at: None,
            released_at: None,
            ended_at: None,
            from_seq: None,
            through_seq: None,
        }
    }
}

impl ListedEntry {
    fn is_about(&self, message: &String) -> bool {
        let entry = &self.entry;
        let is_newest = [entry.message.as_ref(), Some(&entry.cause.id)].contains(&Some(message));
        is_newest || entry.also_about.contains(message)
    }

    fn covers(&self, seq: Seq) -> bool {
        let (from, through) = (self.entry.from_seq, self.entry.through_seq);
        from.is_some_and(|from| from < seq.0) && through.is_some_and(|through| seq.0 <= through)
    }

    /// Removes what only operators may see: positions of events hidden from the viewer, the usage
    /// of other participants' turns, and private errors, which may hold a program's output.
    fn for_viewer(mut self, viewer: &Viewer, seen: &BTreeSet<Seq>) -> Self {
        let own =
            matches!(viewer, Viewer::Participant(id) if id.as_str() == self.entry.participant);
        if *viewer == Viewer::Operator {
            return self;
        }
        let newest = |through: u64| seen.range(..=Seq(through)).next_back().map(|seq| seq.0);
        let begins_at = |from: u64| if from == 0 { Some(0) } else { newest(from) };
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

/// True if no turn shown to the viewer is about the message. If the log has no reason, a refusal
/// about the message or a turn that covers it is enough.
fn is_silent(message: &SilentMessage, shown: &[ListedEntry]) -> bool {
    let id = message.id.to_string();
    let is_known = message.silence.reason != Reason::NoneAsked;
    !shown.iter().any(|listed| {
        let is_about = listed.is_about(&id);
        (is_about && (listed.entry.id.is_some() || !is_known))
            || (!is_known && listed.covers(message.seq))
    })
}

/// Replaces the reason of a message whose answer the viewer does not see: it was answered
/// privately.
fn with_private_answer(message: SilentMessage, private: &[ListedEntry]) -> SilentMessage {
    let id = message.id.to_string();
    match message.silence.reason {
        Reason::NoneAsked if private.iter().any(|listed| listed.is_about(&id)) => {
            SilentMessage { silence: Silence::of(Reason::AnsweredPrivately), ..message }
        }
        _ => message,
    }
}

#[cfg(test)]
mod tests;
