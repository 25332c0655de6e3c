//! Cards: descriptions of agents that registered by themselves, and their owners.

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Timestamp;

use super::Principal;

/// Maximum number of cards in the list of one owner.
pub const CARDS_LISTED_MAX: usize = 200;

/// The description of a registered agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCard {
    /// The id under which it takes part in conversations.
    pub id: ParticipantId,
    /// The agent's name; unique among all cards.
    pub name: String,
    /// The agent's description of itself.
    pub description: Option<String>,
    /// The owner that claimed it, if any.
    pub owner: Option<String>,
    /// Time of the registration.
    pub created_at: Timestamp,
}

impl AgentCard {
    /// Returns the bytes of its name and description.
    pub fn weight(&self) -> u64 {
        (self.name.len() + self.description.as_ref().map_or(0, String::len)) as u64
    }

    /// Returns the agent as a principal.
    pub fn principal(&self) -> Principal {
        Principal { id: self.id.clone(), kind: Kind::Agent }
    }
}

/// Maximum number of registered agents.
pub const CARDS_MAX: u64 = 10_000;
/// Maximum bytes of all their names and descriptions.
pub const CARDS_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of registrations within an hour.
pub const CARDS_AN_HOUR_MAX: u64 = 2_000;

/// The result of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterOutcome {
    /// The card is stored, with its claim, its principal and its token.
    Yes,
    /// Refused: another card has the name, or a principal has this id already.
    NameTaken,
    /// Refused: [`CARDS_AN_HOUR_MAX`] agents registered within the hour.
    TooMany,
    /// Refused: there are [`CARDS_MAX`] cards, or [`CARDS_BYTES_MAX`] bytes of them.
    Full,
}

/// The number and size of the cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardCount {
    /// Number of all cards.
    pub all: u64,
    /// Bytes of their names and descriptions.
    pub bytes: u64,
    /// Number of cards from the last hour.
    pub lately: u64,
}

impl CardCount {
    /// Returns the reason to refuse one more card, if there is one.
    pub fn refuses(self, card: &AgentCard) -> Option<RegisterOutcome> {
        if self.all >= CARDS_MAX || self.bytes + card.weight() > CARDS_BYTES_MAX {
            return Some(RegisterOutcome::Full);
        }
        (self.lately >= CARDS_AN_HOUR_MAX).then_some(RegisterOutcome::TooMany)
    }
}

/// A card and the state of its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The card.
    pub card: AgentCard,
    /// True if all of the agent's tokens were revoked.
    pub revoked: bool,
    /// Time at which its token was last used.
    pub last_used_at: Option<Timestamp>,
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The agent is now claimed by this owner.
    First(ParticipantId),
    /// The same owner had claimed the agent before.
    Again(ParticipantId),
    /// Another owner has claimed the agent, and stays its owner.
    OtherOwner,
    /// The claim belongs to no agent.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_bounded_in_number_in_bytes_and_by_the_hour() {
        let card = AgentCard {
            id: "1".into(),
            name: "ann".into(),
            description: Some("d".repeat(97)),
            owner: None,
            created_at: Timestamp::from_millis(0),
        };
        let count = |all, bytes, lately| CardCount { all, bytes, lately }.refuses(&card);
        assert_eq!(count(CARDS_MAX - 1, CARDS_BYTES_MAX - 100, CARDS_AN_HOUR_MAX - 1), None);
        assert_eq!(count(CARDS_MAX, 0, 0), Some(RegisterOutcome::Full));
        assert_eq!(count(0, CARDS_BYTES_MAX - 99, 0), Some(RegisterOutcome::Full));
        assert_eq!(count(0, 0, CARDS_AN_HOUR_MAX), Some(RegisterOutcome::TooMany));
    }
}
