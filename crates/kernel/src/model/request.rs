//! Requests of agents to people outside of a turn. A request is a permission without a turn: it
//! waits for a person, the engine carries it out once, and the agent is notified of the outcome.
//! (`docs/decisions/0023-an-agents-wish-to-start-another.md`)

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, Seq};
use crate::model::permission::{OpenPermission, Question};
use crate::model::start::StartRequest;
use crate::model::talk::TalkRequest;

/// A request of an agent that a person allows or refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Request {
    /// A request to start a program.
    Start(StartRequest),
    /// A request to talk to a session that the agent has not met.
    Talk(TalkRequest),
}

/// A request without an outcome yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenRequest {
    /// The position of the event that asks.
    pub(crate) at: Seq,
    pub(crate) participant: ParticipantId,
    pub(crate) request: Request,
    pub(crate) stage: Stage,
}

/// The progress of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// The request waits for a person.
    Asked(OpenPermission),
    /// A person allowed the request, and the engine has to carry it out.
    Allowed,
}

impl OpenRequest {
    pub(crate) fn waiting(&self) -> Option<&OpenPermission> {
        match &self.stage {
            Stage::Asked(waiting) => Some(waiting),
            Stage::Allowed => None,
        }
    }
}

impl Request {
    /// Returns the question for people, with everything that would be done.
    pub(crate) fn question(&self) -> Question {
        match self {
            Request::Start(start) => start.question(),
            Request::Talk(talk) => talk.question(),
        }
    }

    /// True if another request of the same agent is the same. Two requests to talk to one session
    /// are the same, even with other words.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Request::Talk(one), Request::Talk(other)) => one.is_to_the_same(&other.to),
            (one, other) => one == other,
        }
    }
}
