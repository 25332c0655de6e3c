//! The port to whatever keeps principals, their credentials and the audit record.

use async_trait::async_trait;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Timestamp;

use super::error::LogError;

mod audit;
mod card;
mod scope;
mod token;

pub use audit::{AuditAction, AuditEntry, AuditRecord};
pub use card::{
    AgentCard, CARDS_AN_HOUR_MAX, CARDS_BYTES_MAX, CARDS_LISTED_MAX, CARDS_MAX, CardCount,
    ClaimOutcome, Registered, Registration,
};
pub use scope::{Scope, Scopes};
pub use token::{
    RandomnessError, Secret, Token, TokenHash, TokenId, TokenKind, TokenPlace, fresh_claim, reach_of,
};

/// Somebody whom the server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The id under which they take part in conversations.
    pub id: ParticipantId,
    /// A person or an agent.
    pub kind: Kind,
}

/// Whether a token was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    /// The token is kept.
    Yes,
    /// It was not: the principal is known as the other kind.
    OtherKind,
    /// It was not: the invitation was used, revoked, or has run out.
    Used,
}

/// The tokens that are revoked together with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevocationScope {
    /// The browsers that signed in with it, and its invitations that were not accepted yet.
    Own,
    /// Those, and the tokens that came of its invitations, with all that came of them in turn.
    All,
}

/// Principals, their credentials, and the audit record. What changes something is recorded in the
/// same breath, or not done.
#[async_trait]
pub trait Principals: Send + Sync {
    /// Keeps a token, and its principal where that is new.
    async fn add_token(&self, token: &Token, entry: &AuditEntry)
    -> Result<InsertOutcome, LogError>;
    /// Uses an invitation up and keeps the token that it becomes: both, or neither. At most one of
    /// many who try at once gets [`InsertOutcome::Yes`].
    async fn redeem(
        &self,
        invitation: &TokenId,
        token: &Token,
        entry: &AuditEntry,
    ) -> Result<InsertOutcome, LogError>;
    /// The token with this hash, valid or not.
    async fn token(&self, hash: &TokenHash) -> Result<Option<Token>, LogError>;
    /// At most `limit` tokens, the oldest first, after one if it is given.
    async fn tokens(
        &self,
        after: Option<&TokenPlace>,
        limit: usize,
    ) -> Result<Vec<Token>, LogError>;
    /// The token of this public id, valid or not.
    async fn token_of(&self, id: &TokenId) -> Result<Option<Token>, LogError>;
    /// Revokes a token and its descent. Returns those that were not revoked before, and records
    /// nothing if there are none.
    async fn revoke(
        &self,
        id: &TokenId,
        descent: RevocationScope,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError>;
    /// Revokes the invitations into a conversation that a principal made or that are for it, if
    /// they were not accepted yet. Returns them, and records nothing if there are none.
    async fn cancel_invitations(
        &self,
        stream: &StreamId,
        of: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError>;
    /// Revokes all tokens of a principal. Gives those that were not revoked before; nothing is
    /// recorded if there are none.
    async fn revoke_all(
        &self,
        principal: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError>;
    /// Notes that a token was seen. Losing such a note harms nobody.
    async fn note_use(&self, id: &TokenId, at: Timestamp) -> Result<(), LogError>;
    /// Every name that is taken, with the id of its principal: ids of principals, and
    /// names of registered agents.
    async fn names(&self) -> Result<Vec<(String, ParticipantId)>, LogError>;
    /// The principal of this id.
    async fn principal(&self, id: &ParticipantId) -> Result<Option<Principal>, LogError>;
    /// Keeps the card of a new agent, the hash of what it can be claimed with, its principal and
    /// its token, which is the card's whatever principal it names: all of it, or nothing.
    async fn register(
        &self,
        card: &AgentCard,
        claim: &TokenHash,
        token: &Token,
        entry: &AuditEntry,
    ) -> Result<Registered, LogError>;
    /// At most `limit` registered agents by their names, after a name if one is given.
    async fn registrations(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Registration>, LogError>;
    /// Takes the card of an agent away and revokes its tokens: its name is free, and its id is
    /// never given to another agent. Gives the tokens that were not revoked before; nothing is
    /// done if it has no card.
    async fn free_card(
        &self,
        agent: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Option<Vec<TokenId>>, LogError>;
    /// The cards of these agents, those that exist: each once, in the order asked.
    async fn cards(&self, ids: &[ParticipantId]) -> Result<Vec<AgentCard>, LogError>;
    /// The cards with exactly these names, those that exist: each once, in the order asked.
    async fn cards_named(&self, names: &[String]) -> Result<Vec<AgentCard>, LogError>;
    /// The cards of one owner, the oldest first, at most [`CARDS_LISTED_MAX`].
    async fn cards_of(&self, owner: &str) -> Result<Vec<AgentCard>, LogError>;
    /// Gives the agent with this claim its owner, who stays its owner. At most one of many who try
    /// at once gets [`ClaimOutcome::First`], and only that is recorded.
    async fn claim_card(
        &self,
        claim: &TokenHash,
        owner: &str,
        entry: &AuditEntry,
    ) -> Result<ClaimOutcome, LogError>;
    /// Adds a row to the audit record.
    async fn record(&self, entry: &AuditEntry) -> Result<(), LogError>;
    /// At most `limit` rows of the record, the newest first, before a number where one is given.
    async fn audit(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditRecord>, LogError>;
}
