//! Requests of a session to talk to a session that it has not met. A person's yes makes one link.

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, StreamId};
use crate::model::permission::{PermissionOption, Question, set_apart};
use crate::model::time::{Millis, Timestamp};
use crate::text::names;

/// Time for which a person's refusal holds.
pub(crate) const REFUSAL_LASTS: Millis = Millis::from_secs(3_600);
/// Refusals within [`REFUSAL_LASTS`] after which a session must not ask for other names either. A
/// session has several names, and must not ask people about each.
pub(crate) const REFUSALS_MAX: usize = 3;

/// A request to talk to another session over a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TalkRequest {
    /// The name or id of the other session, as the agent wrote it. It is looked up when a person
    /// allows the request. Before that, the agent must not learn if there is such a session.
    pub to: ParticipantId,
    /// The first words over the link.
    pub message: String,
}

/// The outcome of a request to talk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TalkOutcome {
    /// The two sessions have a link.
    Linked {
        /// The link.
        link: StreamId,
        /// The reason for which the first words were not posted there, if they were not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unsaid: Option<String>,
    },
    /// The first words were sent without a link: the other session runs on another computer.
    Told,
    /// A person allowed the request, but linking failed.
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

/// A person's refusal that still holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TalkRefusal {
    pub(crate) participant: ParticipantId,
    pub(crate) to: ParticipantId,
    pub(crate) until: Timestamp,
}

impl TalkRequest {
    /// True if readers could confuse the two names.
    pub(crate) fn is_to_the_same(&self, to: &ParticipantId) -> bool {
        names::are_alike(self.to.as_str(), to.as_str())
    }

    /// Returns the question for people: the other session and the first words.
    pub(crate) fn question(&self) -> Question {
        let words = set_apart(&self.message);
        let action = match names::at_computer(self.to.as_str()) {
            Some(_) => format!(
                "Talk to {}, on another computer, over a link if that computer allows links, and \
                 say first:\n{words}",
                self.to
            ),
            None => format!("Talk to {} over a link, and say first:\n{words}", self.to),
        };
        Question::new(action, PermissionOption::allow_or_deny())
    }
}
