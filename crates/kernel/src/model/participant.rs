//! Participants: principals and agents as one conversation knows them.

use serde::{Deserialize, Serialize};

pub use crate::model::abilities::{
    Abilities, AgentFacts, Answers, LinkFormat, Memory, OnLost, Runtime,
};
use crate::model::ids::{ParticipantId, Seq};
use crate::model::time::Timestamp;

/// The kind of a participant. People may send controls; agents take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// A person: `user`, an invited profile with `client: "human"`, or a human principal.
    Human,
    /// Any other participant.
    Agent,
}

impl Kind {
    /// Returns a client's facts as they apply to this kind. A person's abilities do not depend on
    /// the client.
    pub(crate) fn facts(self, facts: &AgentFacts) -> AgentFacts {
        match self {
            Kind::Human => AgentFacts { abilities: Abilities::PERSON, ..facts.clone() },
            Kind::Agent => facts.clone(),
        }
    }
}

/// Profile fields given by invitations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The registry entry of the participant, or another word for an external program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names that several participants may share in mentions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// The name that people read, unique in the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
}

impl Profile {
    /// Returns this profile, with each field replaced that `newer` gives. An empty nickname or role
    /// list removes the field.
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

    /// True if an invitation with this profile makes an id a person that the server does not know
    /// as one.
    pub fn creates_a_person(&self, principal: Option<Kind>) -> bool {
        self.client.as_deref() == Some("human") && principal != Some(Kind::Human)
    }

    /// Returns the roles; empty if none were given.
    pub fn roles(&self) -> &[String] {
        self.roles.as_deref().unwrap_or_default()
    }
}

/// The part of a participant in a gathering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SeatRole {
    /// A member that holds the piece once in each round.
    Speaker,
    /// A member that listens until the close, then gathers what was said.
    Harvester,
}

/// The address of a participant that is not a client of the registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Address {
    /// The stable id of the computer; empty for this one.
    pub computer: String,
    /// The kind of thing that `local_id` names, e.g. `session`.
    pub kind: String,
    /// The id on that computer.
    pub local_id: String,
}

impl Address {
    /// Returns the local id if the address names a thing of this kind on this computer. Returns
    /// `None` for a thing of another computer, which may have the same id.
    pub fn here(&self, kind: &str) -> Option<&str> {
        (self.computer.is_empty() && self.kind == kind).then_some(self.local_id.as_str())
    }

    /// True if the address names a thing of another computer.
    pub fn is_elsewhere(&self) -> bool {
        !self.computer.is_empty()
    }

    /// Returns an id that no thing of another computer has.
    pub fn full_id(&self) -> String {
        match self.computer.as_str() {
            "" => self.local_id.clone(),
            computer => format!("{}@{computer}", self.local_id),
        }
    }
}

/// The authors whose words reach a participant's terminal. Inviting a terminal grants this access,
/// and the log keeps the grant with the invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TerminalReach {
    /// Every participant and caller who may write in the conversation.
    Writers,
    /// Callers who may drive sessions. This is the rule at a session's home and in a link.
    Drivers,
}

/// A participant in the state of its conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Participant {
    /// The participant's id in this conversation.
    pub id: ParticipantId,
    /// Person or agent.
    pub kind: Kind,
    /// The profile fields that its invitations gave.
    pub profile: Profile,
    /// The registry's facts about its client.
    pub facts: AgentFacts,
    /// Its address, if it is not a client of the registry.
    pub address: Option<Address>,
    /// The name by which people write it, if it is of another computer: `builder@workstation`.
    pub full_name: Option<String>,
    /// Its number in a link or gathering.
    pub number: Option<u32>,
    /// Its part in a gathering.
    pub part: Option<SeatRole>,
    /// The grant of access to its terminal. Unset without a terminal, and in logs of earlier
    /// versions.
    pub reach: Option<TerminalReach>,
    /// Confusable skeleton of its nickname, or of its id without one.
    pub skeleton: String,
    /// The participant who first invited it.
    pub invited_by: ParticipantId,
    /// Time of its first invitation.
    pub invited_at: Timestamp,
    /// The last event covered by a finished turn of it, or delivered to a memory of its own.
    pub cursor: Seq,
    /// The last event shown in one of its turns, finished or not.
    pub shown: Seq,
    /// Time of its last visible contribution.
    pub spoke_at: Option<Timestamp>,
    /// Number of passes in a row.
    pub passes_in_a_row: u32,
    /// Number of messages for which it was not polled since its last poll.
    pub polls_skipped: u32,
    /// True if it has answered a turn here.
    pub answered: bool,
    /// True if a notice has told of the end of its session, and it finished no turn since.
    pub told_ended: bool,
}

impl Participant {
    /// Number of passes in a row that make an agent a habitual passer. (Ruling 12.)
    pub(crate) const HABIT_PASSES: u32 = 5;

    /// True if the agent is a habitual passer, which is spared some polls.
    pub(crate) fn passes_habitually(&self) -> bool {
        self.passes_in_a_row >= Self::HABIT_PASSES
    }

    /// Returns the name that people read: the nickname, or else the id.
    pub fn name(&self) -> &str {
        self.profile.nickname.as_deref().unwrap_or_else(|| self.id.as_str())
    }

    /// True if the participant gets turns.
    pub fn takes_turns(&self) -> bool {
        self.facts.abilities.takes_turns
    }

    /// True if the participant gets turns only while its client is connected. People count as
    /// present even without a connection.
    pub(crate) fn has_to_be_here(&self) -> bool {
        self.kind == Kind::Agent && self.answers_by_posting()
    }

    /// True if the participant's next post answers its turn.
    pub fn answers_by_posting(&self) -> bool {
        self.facts.abilities.answers == Answers::ByPosting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_of_another_computer_is_not_the_one_here_with_its_id() {
        let at = |computer: &str| Address {
            computer: computer.into(),
            kind: "session".into(),
            local_id: "s1".into(),
        };
        assert_eq!(at("").here("session"), Some("s1"));
        assert_eq!(at("").here("chat"), None);
        assert_eq!(at("2f3e").here("session"), None);
        assert_eq!(at("").full_id(), "s1");
        assert_ne!(at("2f3e").full_id(), at("3f3e").full_id());
    }
}
