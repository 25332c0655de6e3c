//! What the world should be doing now. Derived from the state, never stored.

use crate::model::ids::{ParticipantId, PermissionId, TurnNo};
use crate::model::request::Request;
use crate::model::state::{Conversation, Turn};
use crate::model::task::Task;
use crate::model::time::Timestamp;

/// A turn that should be running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnDuty {
    /// The number of the turn in its conversation.
    pub turn: TurnNo,
    /// Which attempt at the turn this is, from 1; a restart begins another.
    pub attempt: u32,
    /// The participant whose turn it is.
    pub participant: ParticipantId,
    /// Whether the log says that it was started.
    pub started: bool,
}

/// A request of an agent that a person allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedRequest {
    /// The permission that allows it, once.
    pub permission: PermissionId,
    /// The agent that asked for it.
    pub participant: ParticipantId,
    /// The request itself.
    pub request: Request,
}

/// Everything that should be going on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Duties {
    /// Turns that should be running.
    pub run: Vec<TurnDuty>,
    /// Requests that people allowed.
    pub requests: Vec<AllowedRequest>,
    /// When the conversation has to look at the clock.
    pub wake_at: Option<Timestamp>,
}

impl Conversation {
    /// What should be going on now.
    pub fn duties(&self) -> Duties {
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

    /// A participant runs one turn at a time, and none begins during a pause.
    fn may_run(&self, turn: &Turn) -> bool {
        self.is_front(turn) && (turn.running.is_some() || !self.paused)
    }
}

impl Task {
    /// What should be going on now: nothing but a look at the clock. What it wants of its
    /// conversations is owed to them with the events that want it.
    pub fn duties(&self) -> Duties {
        Duties { wake_at: self.wake_at(), ..Duties::default() }
    }
}
