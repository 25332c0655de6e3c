//! Checkers. Each watches one promise, with its own record of the events.
//!
//! Checkers see each event when it reaches the disk, the committed state after each step, and
//! everything once more when the conversation is at rest.

mod room;
pub(crate) mod promises;
mod order;
mod turns;
mod coverage;
mod limits;
mod budget;
mod silence;
mod piece;
mod patience;
mod deadlines;
mod starts;
mod owed;
mod said_once;
pub(crate) mod audience;
pub(crate) mod prompts;

use std::collections::BTreeSet;

use moothall_kernel::Conversation;
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Millis;

pub(crate) use room::ConversationModel;

/// The result of a check: nothing, or the objection in words.
pub(crate) type Verdict = Result<(), String>;

/// An objection of one of the checkers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// Name of the broken promise.
    pub checker: &'static str,
    /// The violation, in words.
    pub message: String,
}

/// The context of an event: the decision it is part of.
pub(crate) struct Scene<'a> {
    /// Participants that were offline at the decision.
    pub(crate) offline: &'a BTreeSet<ParticipantId>,
    /// All events of the decision.
    pub(crate) decision: &'a [RecordedEvent],
    /// Index of the event among them.
    pub(crate) place: usize,
    /// Downtime of the server right before this decision.
    pub(crate) downtime: Option<Millis>,
    /// The authors of marks.
    pub(crate) marks: &'a super::marks::Marks,
}

impl Scene<'_> {
    /// Returns the events before this one in its decision.
    pub(crate) fn before(&self) -> &[RecordedEvent] {
        &self.decision[..self.place]
    }

    /// True if a cause moves from one turn of a participant to another: its start did not cover it,
    /// or a restart lost it.
    pub(crate) fn carries_over(
        &self,
        participant: &ParticipantId,
        room: &ConversationModel,
    ) -> bool {
        self.before().iter().any(|earlier| match &earlier.event {
            Event::TurnStarted { turn, .. } | Event::TurnLost { turn, .. } => {
                room.turns.get(turn).is_some_and(|open| open.participant == *participant)
            }
            _ => false,
        })
    }
}

/// A checker of one promise in one conversation.
pub(crate) trait Checker {
    fn name(&self) -> &'static str;
    /// Checks an event that reached the disk. `room` is the state before it.
    fn event(
        &mut self,
        room: &ConversationModel,
        scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict;
    /// Checks the committed state after a step.
    fn step(&mut self, _room: &ConversationModel, _state: &Conversation) -> Verdict {
        Ok(())
    }
    /// Checks a conversation at rest: nothing runs, nothing is due.
    fn rest(&mut self, _room: &ConversationModel, _offline: &BTreeSet<ParticipantId>) -> Verdict {
        Ok(())
    }
}

/// All checkers of one conversation, and their common record.
pub(crate) struct Bench {
    pub(crate) room: ConversationModel,
    checkers: Vec<Box<dyn Checker>>,
    /// The state from folding the log event by event.
    shadow: Conversation,
}

impl Bench {
    pub(crate) fn new(empty: Conversation, budget: Option<u64>) -> Self {
        let checkers: Vec<Box<dyn Checker>> = vec![
            Box::new(order::Order),
            Box::new(turns::Turns),
            Box::new(coverage::Coverage),
            Box::new(limits::Limits::default()),
            Box::new(budget::Budget::new(budget)),
            Box::new(silence::Silence),
            Box::new(piece::Piece::default()),
            Box::new(deadlines::Deadlines::default()),
            Box::new(starts::StartsOnce::default()),
            Box::new(owed::OwedTurns::default()),
            Box::new(said_once::WordsOnce::default()),
        ];
        Self { room: ConversationModel::new(), checkers, shadow: empty }
    }

    /// Shows an event to all checkers.
    pub(crate) fn event(
        &mut self,
        scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Result<(), Objection> {
        for checker in &mut self.checkers {
            let verdict = checker.event(&self.room, scene, recorded);
            verdict.map_err(|message| Objection {
                checker: checker.name(),
                message: format!("{message} (at {})", recorded.seq),
            })?;
        }
        self.room.note(recorded);
        self.shadow.apply(&order::reread(recorded));
        Ok(())
    }

    /// Shows the committed state to all checkers. Compares it only if it is as new as the log.
    pub(crate) fn step(&mut self, state: &Conversation) -> Result<(), Objection> {
        if state.head() != self.room.head {
            return Ok(());
        }
        for checker in &mut self.checkers {
            checker
                .step(&self.room, state)
                .map_err(|message| Objection { checker: checker.name(), message })?;
        }
        state
            .check_invariants()
            .map_err(|broken| Objection { checker: "invariants", message: broken.to_string() })?;
        agree(&self.room, state).map_err(|message| Objection { checker: "guards", message })?;
        if *state == self.shadow {
            return Ok(());
        }
        Err(Objection {
            checker: "fold",
            message: format!("the state is {state:#?}\nbut the log gives {:#?}", self.shadow),
        })
    }

    /// Asks all checkers at rest.
    pub(crate) fn rest(&mut self, offline: &BTreeSet<ParticipantId>) -> Result<(), Objection> {
        for checker in &mut self.checkers {
            checker
                .rest(&self.room, offline)
                .map_err(|message| Objection { checker: checker.name(), message })?;
        }
        Ok(())
    }
}

/// Checks that the kernel's state agrees with the events.
fn agree(room: &ConversationModel, state: &Conversation) -> Verdict {
    let queued: Vec<_> = state.queued().map(|cause| cause.seq).collect();
    let same = room.held == state.holding_guard()
        && room.paused == state.is_paused()
        && room.archived == state.is_archived()
        && room.muted.iter().eq(state.muted())
        && room.policy == *state.policy()
        && room.queued.iter().copied().eq(queued)
        && room.turns.keys().copied().eq(state.open_turns().map(|turn| turn.no))
        && room.gathering == state.gathering().is_some()
        && room.bound.iter().map(String::as_str).eq(state.bindings());
    if same {
        Ok(())
    } else {
        Err(format!("the state does not remember what happened: {room:?}\n{state:?}"))
    }
}
