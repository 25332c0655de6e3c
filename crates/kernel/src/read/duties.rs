//! The work that the engine has to do for a stream. Derived from the state, never stored.

use crate::model::ids::{ParticipantId, PermissionId, TurnNo};
use crate::model::request::Request;
use crate::model::state::{Conversation, Turn};
use crate::model::task::Task;
use crate::model::time::Timestamp;

/// A turn that should be running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnDuty {
    /// Number of the turn in its conversation.
    pub turn: TurnNo,
    /// Number of the attempt at the turn, from 1. A restart begins another.
    pub attempt: u32,
    /// Participant that has the turn.
    pub participant: ParticipantId,
    /// True if the log has the start of this attempt.
    pub started: bool,
}

/// A request of an agent that a person allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedRequest {
    /// Permission that allows the request once.
    pub permission: PermissionId,
    /// Agent that made the request.
    pub participant: ParticipantId,
    /// Request to carry out.
    pub request: Request,
}

/// The work that the engine has to do for a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Duties {
    /// Turns that should be running.
    pub run: Vec<TurnDuty>,
    /// Allowed requests that have no outcome yet.
    pub requests: Vec<AllowedRequest>,
    /// Time of the next tick that the stream needs.
    pub wake_at: Option<Timestamp>,
}

impl Conversation {
    /// Returns the turns to run, the requests to carry out, and the time of the next tick.
    pub fn duties(&self) -> Duties {
        // An archived link may still have turns, because its earlier words are delivered. (Ruling
        // 27.)
        if self.archived && self.floor.turns.is_empty() {
            return Duties::default();
        }
        let run = self.open_turns().filter(|turn| self.may_run(turn)).map(|turn| TurnDuty {
            turn: turn.no,
            attempt: turn.attempt,
            participant: turn.participant.clone(),
            started: turn.running.is_some(),
        });
        let requests = self.requests_allowed().filter(|_| !self.archived).map(
            |(permission, participant, request)| AllowedRequest {
                permission: permission.clone(),
                participant: participant.clone(),
                request: request.clone(),
            },
        );
        Duties { run: run.collect(), requests: requests.collect(), wake_at: self.wake_at() }
    }

    /// True if a turn may run: a participant runs one turn at a time, and no turn starts during a
    /// pause.
    fn may_run(&self, turn: &Turn) -> bool {
        self.is_front(turn) && (turn.running.is_some() || !self.paused)
    }
}

impl Task {
    /// Returns the time of the next tick. Orders to the task's conversations are not duties: they
    /// are deliveries, owed with the events that need them.
    pub fn duties(&self) -> Duties {
        Duties { wake_at: self.wake_at(), ..Duties::default() }
    }
}
