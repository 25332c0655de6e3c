//! Checkers: each watches one promise, with knowledge of its own about what happened.
//!
//! They see each event when it reaches the disk, the committed state after each step, and
//! everything once more when the conversation has come to rest.

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

/// Nothing to object to, or what is wrong.
pub(crate) type Verdict = Result<(), String>;

/// An objection of one of the checkers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// Which promise was broken.
    pub checker: &'static str,
    /// How it was broken, in words.
    pub message: String,
}

/// What surrounds an event: the decision it is part of.
pub(crate) struct Scene<'a> {
    /// Who was offline when it was decided.
    pub(crate) offline: &'a BTreeSet<ParticipantId>,
    /// All events of the decision.
    pub(crate) decision: &'a [RecordedEvent],
    /// Its place among them.
    pub(crate) place: usize,
    /// How long the server was down right before this decision.
    pub(crate) downtime: Option<Millis>,
    /// Whose words carry which mark.
    pub(crate) marks: &'a super::marks::Marks,
}

impl Scene<'_> {
    /// The events before this one in its decision.
    pub(crate) fn before(&self) -> &[RecordedEvent] {
        &self.decision[..self.place]
    }

    /// Whether a cause goes from one turn of a participant to another: its start did not cover it,
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

/// Somebody who watches one promise in one conversation.
pub(crate) trait Checker {
    fn name(&self) -> &'static str;
    /// An event reached the disk. `room` is as it was before.
    fn event(
        &mut self,
        room: &ConversationModel,
        scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict;
    /// A step is over; this is the committed state.
    fn step(&mut self, _room: &ConversationModel, _state: &Conversation) -> Verdict {
        Ok(())
    }
    /// Nothing runs, nothing is due.
    fn rest(&mut self, _room: &ConversationModel, _offline: &BTreeSet<ParticipantId>) -> Verdict {
        Ok(())
    }
}

/// All checkers of one conversation, and what they know in common.
pub(crate) struct Bench {
    pub(crate) room: ConversationModel,
    checkers: Vec<Box<dyn Checker>>,
    /// The state that the log gives when it is read event by event.
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

    /// Shows an event to everyone.
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

    /// Shows the committed state to everyone. It is compared only when it is as new as the log.
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

    /// Everything has come to rest.
    pub(crate) fn rest(&mut self, offline: &BTreeSet<ParticipantId>) -> Result<(), Objection> {
        for checker in &mut self.checkers {
            checker
                .rest(&self.room, offline)
                .map_err(|message| Objection { checker: checker.name(), message })?;
        }
        Ok(())
    }
}

/// What the kernel remembers is what the events said.
fn agree(room: &ConversationModel, state: &Conversation) -> Verdict {
    let queued: Vec<_> = state.queued().map(|cause| cause.seq).collect();
    let same = room.held == state.held()
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
