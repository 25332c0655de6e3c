//! Invariants of all conversations and tasks. The host checks them before an append and after a
//! load, so that a fault in the rules fails one request and does not get into a log.
//!
//! The rules look at open turns, participants and bounded memories, never at history.

use std::collections::BTreeSet;
use std::fmt;

use crate::model::event::RecordedEvent;
use crate::model::fold::{
    ENDED_KEPT, FINGERPRINTS_KEPT, LIFTS_KEPT, OWN_KEPT, SETTLED_KEPT, WOKEN_KEPT,
};
use crate::model::ids::Seq;
use crate::model::link::JOINED_MAX;
use crate::model::state::{Conversation, RunningTurn, Turn};
use crate::model::task::{Task, TaskStatus};
use crate::model::time::Timestamp;
use crate::planted::{self, Bug};
use crate::text::names::COMPUTER_PREFIX;

/// An invariant that does not hold. It means a fault in this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenRule {
    /// The name of the invariant, for people and for metrics.
    pub rule: &'static str,
    /// The condition that should be true.
    pub meaning: &'static str,
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the rule `{}` is broken: {}", self.rule, self.meaning)
    }
}

impl std::error::Error for BrokenRule {}

type Rule = (&'static str, &'static str, fn(&Conversation) -> bool);

/// All invariants of a conversation: name, condition, and check.
const RULES: &[Rule] = &[
    ("turn_numbers", "an open turn has its own number, and none is above the newest", turn_numbers),
    ("turn_owners", "an open turn belongs to an invited participant", turn_owners),
    ("turn_ranges", "a turn covers a range of existing events only", turn_ranges),
    ("one_runs", "a participant runs one turn at a time", one_runs),
    (
        "clock_stands",
        "the clock of a turn is stopped while it waits for a person, and only then",
        clock_stands,
    ),
    (
        "archived",
        "an archived conversation has nothing open, except deliveries of a link",
        archived,
    ),
    ("round", "a round waits only for an open turn", round),
    ("queue", "messages wait in the order in which they were posted", queue),
    ("participants", "an id is invited once", participants),
    ("positions", "read and answered positions do not exceed the newest event", positions),
    ("mutes", "a mute or pause by a proven person is in effect", mutes),
    (
        "piece",
        "an invited participant holds the piece, unless nothing moves and it could not be passed \
         on",
        piece,
    ),
    ("memory", "the memory of the past stays within its limits", memory),
    ("hosted", "a turn for another computer has one cause, its own post, and is open once", hosted),
    ("joined", "a conversation of another computer is joined once, within the limit", joined),
];

impl Conversation {
    /// Checks the invariants. The cost grows with open turns and participants, not with history.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), BrokenRule> {
        let broken = RULES.iter().find(|(_, _, holds)| !holds(self));
        broken.map_or(Ok(()), |(rule, meaning, _)| Err(BrokenRule { rule, meaning }))
    }
}

/// The invariant of positions and times in a log.
pub const ORDER: BrokenRule = BrokenRule {
    rule: "order",
    meaning: "events follow each other without a gap, and never back in time",
};

/// Checks that these events can follow an event at this position and time.
///
/// # Errors
/// [`BrokenRule`] if there is a gap, or time goes back.
pub fn check_next(mut last: (Seq, Timestamp), events: &[RecordedEvent]) -> Result<(), BrokenRule> {
    let follows = |recorded: &RecordedEvent| {
        let follows = recorded.seq == last.0.next() && recorded.ts >= last.1;
        last = (recorded.seq, recorded.ts);
        follows
    };
    if events.iter().all(follows) { Ok(()) } else { Err(ORDER) }
}

type TaskRule = (&'static str, &'static str, fn(&Task) -> bool);

/// All invariants of a task.
const TASK_RULES: &[TaskRule] = &[
    ("task_waits", "a task waits for its manager until it is accepted or refused", |task| {
        task.until.is_none() || task.status == TaskStatus::Waiting
    }),
    (
        "task_ends",
        "a task that is about to end is still open, and waits for its own conversations",
        |task| {
            task.closing.as_ref().is_none_or(|open| {
                task.status == TaskStatus::Active && open.is_subset(&task.conversations)
            })
        },
    ),
    ("task_times", "an ended task has the time of its end", |task| {
        let over = matches!(task.status, TaskStatus::Failed | TaskStatus::Closed);
        over == task.ended_at.is_some()
    }),
];

impl Task {
    /// Checks the invariants.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), BrokenRule> {
        let broken = TASK_RULES.iter().find(|(_, _, holds)| !holds(self));
        broken.map_or(Ok(()), |(rule, meaning, _)| Err(BrokenRule { rule, meaning }))
    }
}

fn turns(state: &Conversation) -> impl Iterator<Item = &Turn> {
    state.floor.turns.values()
}

fn turn_numbers(state: &Conversation) -> bool {
    state.floor.turns.iter().all(|(no, turn)| *no == turn.no && *no <= state.floor.last_turn)
}

fn turn_owners(state: &Conversation) -> bool {
    turns(state).all(|turn| state.participant(&turn.participant).is_some())
}

/// True if the causes of each turn exist, and the prompt of each running turn is a range that does
/// not end after the newest event.
fn turn_ranges(state: &Conversation) -> bool {
    let is_said = |turn: &Turn| {
        turn.cause.seq <= state.head && turn.cause_at <= state.head && turn.asked_at <= state.head
    };
    let is_range = |turn: &Turn| {
        turn.running.is_none_or(|running| {
            running.from_seq <= running.through_seq && running.through_seq <= state.head
        })
    };
    turns(state).all(|turn| is_said(turn) && is_range(turn))
}

fn one_runs(state: &Conversation) -> bool {
    let mut busy = BTreeSet::new();
    turns(state).filter(|turn| turn.running.is_some()).all(|turn| busy.insert(&turn.participant))
}

fn clock_stands(state: &Conversation) -> bool {
    turns(state).all(|turn| turn.frozen_since.is_some() != turn.permissions.is_empty())
}

fn archived(state: &Conversation) -> bool {
    let floor = &state.floor;
    !state.archived
        || ((floor.turns.is_empty() || state.is_link())
            && floor.queue.is_empty()
            && floor.round.is_none())
}

fn round(state: &Conversation) -> bool {
    let current = state.floor.round.as_ref().and_then(|round| round.current);
    current.is_none_or(|no| state.floor.turns.contains_key(&no))
}

fn queue(state: &Conversation) -> bool {
    let waiting = &state.floor.queue;
    let in_order =
        waiting.iter().map(|spoken| spoken.cause.seq).is_sorted_by(|one, next| one < next);
    in_order && waiting.back().is_none_or(|newest| newest.cause.seq <= state.head)
}

fn participants(state: &Conversation) -> bool {
    let ids: BTreeSet<_> = state.participants.iter().map(|participant| &participant.id).collect();
    ids.len() == state.participants.len()
}

fn positions(state: &Conversation) -> bool {
    state
        .participants
        .iter()
        .all(|participant| participant.cursor <= state.head && participant.shown <= state.head)
}

fn mutes(state: &Conversation) -> bool {
    state.muted_by_proof.is_subset(&state.muted) && (state.paused || !state.paused_by_proof)
}

/// True if the holder of the piece takes part. A paused or archived conversation is not checked.
fn piece(state: &Conversation) -> bool {
    let holder = state
        .gathering()
        .and_then(|gathering| gathering.tenure.as_ref())
        .map(|tenure| &tenure.holder);
    state.paused
        || state.archived
        || holder.is_none_or(|holder| state.participant(holder).is_some())
}

/// True if each hosted turn has one cause of its own, from another computer, and a key of its own,
/// and if its prompt covers only that cause.
fn hosted(state: &Conversation) -> bool {
    // The simulator has to find this bug by its effects.
    if planted::has(Bug::HostedTwice) {
        return true;
    }
    let mut keys = BTreeSet::new();
    let mut all: Vec<Seq> =
        turns(state).flat_map(|turn| &turn.causes).map(|asked| asked.cause.seq).collect();
    all.sort();
    let is_alone = |cause: Seq| all.iter().filter(|seq| **seq == cause).count() == 1;
    turns(state).filter_map(|turn| turn.hosted.as_ref().map(|key| (turn, key))).all(
        |(turn, key)| {
            let covers = |running: RunningTurn| Some((running.from_seq, running.through_seq));
            turn.causes.len() == 1
                && turn.causes.iter().all(|asked| asked.cause == turn.cause)
                && turn.cause_at == turn.cause.seq
                && turn.cause.from.as_str().starts_with(COMPUTER_PREFIX)
                && turn.running.is_none_or(|running| covers(running) == turn.own_range())
                && is_alone(turn.cause.seq)
                && keys.insert(key)
        },
    )
}

fn joined(state: &Conversation) -> bool {
    let all: BTreeSet<_> =
        state.joined().map(|joined| (&joined.computer, &joined.stream)).collect();
    all.len() == state.joined().count() && all.len() <= JOINED_MAX
}

/// True if each bounded memory of the state is within its bound.
fn memory(state: &Conversation) -> bool {
    let (floor, guards) = (&state.floor, &state.guards);
    floor.ended.len() <= ENDED_KEPT
        && floor.settled.len() <= SETTLED_KEPT
        && guards.recent.len() <= FINGERPRINTS_KEPT
        && state.restraint.said.len() <= OWN_KEPT
        && state.restraint.lifts.len() <= LIFTS_KEPT
        && guards.pairs.values().all(|times| times.len() <= WOKEN_KEPT)
}
