//! Requests of agents to start a program.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::model::ids::ParticipantId;
use crate::model::permission::{PermissionOption, Question, set_apart};

/// A request to start a program, with all that would be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartRequest {
    /// The program: a client of the registry.
    pub client: String,
    /// Additional arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The folder to work in: an absolute path that contains no links.
    pub folder: String,
    /// The name of the session; made from the client's name if unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The first message to the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// True if that message begins a link between the agent and the program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direct: bool,
}

/// The outcome of a request to start a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartOutcome {
    /// The program runs.
    Started {
        /// The session's id.
        session: String,
        /// The session's name.
        name: ParticipantId,
        /// The reason for which the first message was not delivered, if it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unsaid: Option<String>,
    },
    /// A person allowed the request, but the start failed.
    Failed {
        /// The reason.
        why: String,
    },
    /// A person refused the request.
    Refused {
        /// The person.
        by: ParticipantId,
    },
    /// The time to answer ran out.
    Expired,
}

impl StartRequest {
    /// Returns the question for people, with everything that would be done.
    pub(crate) fn question(&self) -> Question {
        let mut action = format!("Start {}", self.client);
        for arg in &self.args {
            let _ = write!(action, " {arg:?}");
        }
        if let Some(name) = &self.name {
            let _ = write!(action, "\nCall it {name}");
        }
        if let Some(message) = &self.message {
            let how = if self.direct { "Link the two, and say to it" } else { "Say to it" };
            let _ = write!(action, "\n{how}:\n{}", set_apart(message));
        }
        Question {
            folder: Some(self.folder.clone()),
            ..Question::new(action, PermissionOption::allow_or_deny())
        }
    }
}
