//! What agents ask people to allow outside of a turn. Each request is a permission of no turn: it
//! waits for a person, the engine carries it out once, and its asker is told the outcome.
//! (`docs/decisions/0023-an-agents-wish-to-start-another.md`)

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, Seq};
use crate::model::permission::{Question, OpenPermission};
use crate::model::start::StartRequest;
use crate::model::talk::TalkRequest;

/// A request of an agent that a person allows or refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Request {
    /// To start a program.
    Start(StartRequest),
    /// To talk to a session that it has not met.
    Talk(TalkRequest),
}

/// A request without an outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenRequest {
    /// The event that asks.
    pub(crate) at: Seq,
    pub(crate) participant: ParticipantId,
    pub(crate) request: Request,
    pub(crate) stage: Stage,
}

/// The progress of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// It waits for a person.
    Asked(OpenPermission),
    /// The engine has to carry it out.
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
    /// Returns the question that a person is asked: everything that would be done.
    pub(crate) fn question(&self) -> Question {
        match self {
            Request::Start(start) => start.question(),
            Request::Talk(talk) => talk.question(),
        }
    }

    /// True if a second request of the same agent asks for the same. Two wishes to talk to one
    /// session are the same, whatever their words.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Request::Talk(one), Request::Talk(other)) => one.is_to_the_same(&other.to),
            (one, other) => one == other,
        }
    }
}
