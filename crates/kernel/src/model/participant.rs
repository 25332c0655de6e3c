//! Who takes part: a principal's face in one conversation.

use serde::{Deserialize, Serialize};

pub use crate::model::abilities::{Abilities, AgentFacts, Answers, LinkFormat, Memory, OnLost, Runtime};
use crate::model::ids::{ParticipantId, Seq};
use crate::model::time::Timestamp;

/// What a participant is. People hold controls; agents take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// A person: `user`, an invited profile with `client: "human"`, or a human principal.
    Human,
    /// Everyone else.
    Agent,
}

impl Kind {
    /// The facts of a client as they hold for a participant of this kind: what a person can does
    /// not depend on any client.
    pub(crate) fn facts(self, facts: &AgentFacts) -> AgentFacts {
        match self {
            Kind::Human => AgentFacts { abilities: Abilities::PERSON, ..facts.clone() },
            Kind::Agent => facts.clone(),
        }
    }
}

/// What an invite said about a participant, and nothing more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The registry entry that answers for it, or any other word for an external program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The model behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names it answers to together with others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// The name people read, unique in its conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
}

impl Profile {
    /// This profile with every field that `newer` gives replaced; an empty nickname, or no roles,
    /// takes them away.
    #[must_use]
    pub fn merged(&self, newer: &Profile) -> Profile {
        Profile {
            client: newer.client.clone().or_else(|| self.client.clone()),
            model: newer.model.clone().or_else(|| self.model.clone()),
            roles: newer
                .roles
                .clone()
                .or_else(|| self.roles.clone())
                .filter(|roles| !roles.is_empty()),
            nickname: newer
                .nickname
                .clone()
                .or_else(|| self.nickname.clone())
                .filter(|nickname| !nickname.is_empty()),
        }
    }

    /// True if an invitation with this profile makes a person of an id that the server does not
    /// know as one.
    pub fn creates_a_person(&self, principal: Option<Kind>) -> bool {
        self.client.as_deref() == Some("human") && principal != Some(Kind::Human)
    }

    /// The roles given, or none.
    pub fn roles(&self) -> &[String] {
        self.roles.as_deref().unwrap_or_default()
    }
}

/// The part a participant plays in a gathering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SeatRole {
    /// Holds the piece once in each round.
    Speaker,
    /// Listens until the close, then gathers what was said.
    Harvester,
}

/// Where a participant can be reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Address {
    /// The computer's stable id; empty for this one.
    pub computer: String,
    /// What `local_id` names there, e.g. `session`.
    pub kind: String,
    /// The id on that computer.
    pub local_id: String,
}

/// Says whose words reach the terminal of a participant. Bringing a terminal into a conversation
/// grants it, and the grant is in the log with the invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TerminalReach {
    /// Every participant and caller who may write in the conversation.
    Writers,
    /// Callers who may drive sessions. So it is at the home of a session and in a link.
    Drivers,
}

/// A participant as its conversation remembers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Participant {
    /// Its id in this conversation.
    pub id: ParticipantId,
    /// Person or agent.
    pub kind: Kind,
    /// What its invites said.
    pub profile: Profile,
    /// What its client is, and what it can.
    pub facts: AgentFacts,
    /// Where it can be reached, when it is not a client of the registry.
    pub address: Option<Address>,
    /// Its number in a link or gathering.
    pub number: Option<u32>,
    /// Its part in a gathering.
    pub part: Option<SeatRole>,
    /// The grant of a way to its terminal; unset without one, and in logs of earlier versions.
    pub reach: Option<TerminalReach>,
    /// Confusable skeleton of its nickname, or of its id where it has none.
    pub skeleton: String,
    /// Who invited it first.
    pub invited_by: ParticipantId,
    /// When it was invited first.
    pub invited_at: Timestamp,
    /// Everything up to here was covered by a finished turn, or is in a memory of its own.
    pub cursor: Seq,
    /// Everything up to here was shown in some turn, finished or not.
    pub shown: Seq,
    /// When its last visible contribution came.
    pub spoke_at: Option<Timestamp>,
    /// Passes in a row.
    pub passes_in_a_row: u32,
    /// Messages for which it was not polled since its last poll.
    pub polls_skipped: u32,
    /// Whether it has answered a turn here.
    pub answered: bool,
}

impl Participant {
    /// Passes in a row from which an agent counts as a habitual passer. (Ruling 12.)
    pub(crate) const HABIT_PASSES: u32 = 5;

    /// True if the agent is spared some polls.
    pub(crate) fn passes_habitually(&self) -> bool {
        self.passes_in_a_row >= Self::HABIT_PASSES
    }

    /// What people read: nickname, otherwise id.
    pub fn name(&self) -> &str {
        self.profile.nickname.as_deref().unwrap_or_else(|| self.id.as_str())
    }

    /// Whether turns are given to it.
    pub fn takes_turns(&self) -> bool {
        self.facts.abilities.takes_turns
    }

    /// Whether it is given turns while it is here, and no others: a client that comes by itself.
    /// People are waited for.
    pub(crate) fn has_to_be_here(&self) -> bool {
        self.kind == Kind::Agent && self.answers_by_posting()
    }

    /// Whether what it says next answers its turn.
    pub fn answers_by_posting(&self) -> bool {
        self.facts.abilities.answers == Answers::ByPosting
    }
}
