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
    /// The agent as somebody whom the server knows.
    pub fn principal(&self) -> Principal {
        Principal { id: self.id.clone(), kind: Kind::Agent }
    }
}

/// Whether a registration was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The card is kept, with its claim, its principal and its token.
    Yes,
    /// Nothing is: another card has the name, or the server knows a principal of this id already.
    NameTaken,
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
