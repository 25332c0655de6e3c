//! The wish of an agent to have a program started.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::model::ids::ParticipantId;
use crate::model::permission::{PermissionOption, Question, set_apart};

/// A program that an agent asks to have started, with all that its start does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartRequest {
    /// Which program: a client of the registry.
    pub client: String,
    /// More arguments for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The folder it shall work in: a whole path without links on the way.
    pub folder: String,
    /// What it shall be called; made from the client's name where unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is said to it when it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// That message begins a link between the two.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direct: bool,
}

/// What came of a request to start a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartOutcome {
    /// It runs.
    Started {
        /// The session's id.
        session: String,
        /// The session's name.
        name: ParticipantId,
        /// Why its first message did not reach it, where it did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unsaid: Option<String>,
    },
    /// A person allowed it, and it could not be done.
    Failed {
        /// Why.
        why: String,
    },
    /// A person refused it.
    Refused {
        /// The participant who did it.
        by: ParticipantId,
    },
    /// Nobody answered in time.
    Expired,
}

impl StartRequest {
    /// The question that a person is asked: all that would be done.
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
