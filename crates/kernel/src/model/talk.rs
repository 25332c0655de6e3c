//! The wish of a session to talk to one that it has not met. A person is asked; a yes is one link.

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, StreamId};
use crate::model::permission::{PermissionOption, Question, set_apart};
use crate::model::time::{Millis, Timestamp};
use crate::text::names;

/// The time for which a person's no holds.
pub(crate) const REFUSAL_LASTS: Millis = Millis::from_secs(3_600);
/// After this many of them within that time, a session asks for no other name either: a session has
/// several names, and people have better things to do.
pub(crate) const REFUSALS_MAX: usize = 3;

/// A wish to talk to another session over a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TalkRequest {
    /// The name or the id of the other, as the agent wrote it. It is looked up when a person
    /// allows the wish: before that, the agent must not learn if there is such a session.
    pub to: ParticipantId,
    /// The first words over the link.
    pub message: String,
}

/// The outcome of a wish to talk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TalkOutcome {
    /// The two have a link.
    Linked {
        /// The link.
        link: StreamId,
        /// Why the first words were not said there, if they were not.
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
    /// The time to answer ran out.
    Expired,
}

/// A person's no to a wish, for as long as it lasts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TalkRefusal {
    pub(crate) participant: ParticipantId,
    pub(crate) to: ParticipantId,
    pub(crate) until: Timestamp,
}

impl TalkRequest {
    /// True if a reader may take one name for the other.
    pub(crate) fn is_to_the_same(&self, to: &ParticipantId) -> bool {
        names::are_alike(self.to.as_str(), to.as_str())
    }

    /// Returns the question that a person is asked: the other session and the first words.
    pub(crate) fn question(&self) -> Question {
        let action = format!(
            "Talk to {} over a link, and say first:\n{}",
            self.to,
            set_apart(&self.message)
        );
        Question::new(action, PermissionOption::allow_or_deny())
    }
}
