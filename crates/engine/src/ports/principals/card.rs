//! Cards: what is known of agents that registered by themselves, and whose they are.

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Timestamp;

use super::Principal;

/// Most cards of one owner that are listed.
pub const CARDS_LISTED_MAX: usize = 200;

/// What is known of an agent that registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCard {
    /// The id under which it takes part in conversations.
    pub id: ParticipantId,
    /// What it is called; no two cards have the same name.
    pub name: String,
    /// What it says of itself.
    pub description: Option<String>,
    /// Who claimed it; nobody at first.
    pub owner: Option<String>,
    /// When it registered.
    pub created_at: Timestamp,
}

impl AgentCard {
    /// The bytes of its name and description.
    pub fn weight(&self) -> u64 {
        (self.name.len() + self.description.as_ref().map_or(0, String::len)) as u64
    }

    /// The agent as somebody whom the server knows.
    pub fn principal(&self) -> Principal {
        Principal { id: self.id.clone(), kind: Kind::Agent }
    }
}

/// Most agents that are registered at a time.
pub const CARDS_MAX: u64 = 10_000;
/// Most bytes of all their names and descriptions.
pub const CARDS_BYTES_MAX: u64 = 4 << 20;
/// Most agents that register within an hour.
pub const CARDS_AN_HOUR_MAX: u64 = 2_000;

/// Whether a registration was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The card is kept, with its claim, its principal and its token.
    Yes,
    /// Nothing is: another card has the name, or the server knows a principal of this id already.
    NameTaken,
    /// Nothing is: [`CARDS_AN_HOUR_MAX`] agents registered within the hour.
    TooMany,
    /// Nothing is: there are [`CARDS_MAX`] cards, or [`CARDS_BYTES_MAX`] bytes of them.
    Full,
}

/// The number of cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardCount {
    /// All of them.
    pub all: u64,
    /// The bytes of their names and descriptions.
    pub bytes: u64,
    /// Those of the last hour.
    pub lately: u64,
}

impl CardCount {
    /// Returns the reason to refuse one more card, if there is one.
    pub fn refuses(self, card: &AgentCard) -> Option<Registered> {
        if self.all >= CARDS_MAX || self.bytes + card.weight() > CARDS_BYTES_MAX {
            return Some(Registered::Full);
        }
        (self.lately >= CARDS_AN_HOUR_MAX).then_some(Registered::TooMany)
    }
}

/// A card, and how its agent stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The card.
    pub card: AgentCard,
    /// True if none of its keys is worth anything.
    pub revoked: bool,
    /// When its key was last seen.
    pub last_used_at: Option<Timestamp>,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// This agent has its owner from now on.
    First(ParticipantId),
    /// This agent was the same owner's before.
    Again(ParticipantId),
    /// The agent is another owner's, and stays so.
    OtherOwner,
    /// No agent has this claim.
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
        assert_eq!(count(CARDS_MAX, 0, 0), Some(Registered::Full));
        assert_eq!(count(0, CARDS_BYTES_MAX - 99, 0), Some(Registered::Full));
        assert_eq!(count(0, 0, CARDS_AN_HOUR_MAX), Some(Registered::TooMany));
    }
}
