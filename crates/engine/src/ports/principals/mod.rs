//! The port to principals, their credentials and the audit record.

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
    ClaimOutcome, RegisterOutcome, Registration,
};
pub use scope::{Scope, Scopes};
pub use token::{
    RandomnessError, STARTUP_ID, Secret, Token, TokenHash, TokenId, TokenKind, TokenPlace,
    fresh_claim, reach_of,
};

/// A person or an agent that the server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The id under which the principal takes part in conversations.
    pub id: ParticipantId,
    /// A person or an agent.
    pub kind: Kind,
}

/// The result of storing a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    /// The token is stored.
    Yes,
    /// Refused: the principal is known as the other kind.
    OtherKind,
    /// Refused: the invitation was used or revoked, or has expired.
    Used,
}

/// The tokens that are revoked together with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevocationScope {
    /// The browsers that signed in with the token, and its invitations and codes that were not used
    /// yet.
    Own,
    /// The browsers, invitations and codes of [`RevocationScope::Own`], and also the tokens made
    /// from these invitations, with all tokens that were made from these in turn.
    All,
}

/// Principals, their credentials, and the audit record. A change and its audit entry are committed
/// in one transaction.
#[async_trait]
pub trait Principals: Send + Sync {
    /// Stores a token, and its principal if that is new.
    async fn add_token(&self, token: &Token, entry: &AuditEntry)
    -> Result<InsertOutcome, LogError>;
    /// Uses an invitation up and stores the token made from it, in one transaction. Of several
    /// attempts at the same time only one gets [`InsertOutcome::Yes`].
    async fn redeem(
        &self,
        invitation: &TokenId,
        token: &Token,
        entry: &AuditEntry,
    ) -> Result<InsertOutcome, LogError>;
    /// Returns the token with this hash, valid or not.
    async fn token(&self, hash: &TokenHash) -> Result<Option<Token>, LogError>;
    /// Returns at most `limit` tokens, the oldest first. With `after`, begins after that place.
    async fn tokens(
        &self,
        after: Option<&TokenPlace>,
        limit: usize,
    ) -> Result<Vec<Token>, LogError>;
    /// Returns the token with this public id, valid or not.
    async fn token_of(&self, id: &TokenId) -> Result<Option<Token>, LogError>;
    /// Revokes a token, and the tokens of `descent`. Returns those that were not revoked before.
    /// Records nothing if there are none.
    async fn revoke(
        &self,
        id: &TokenId,
        descent: RevocationScope,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError>;
    /// Revokes the open invitations into a conversation that a principal made or that are for it.
    /// Returns them, and records nothing if there are none.
    async fn cancel_invitations(
        &self,
        stream: &StreamId,
        of: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError>;
    /// Revokes all tokens of a principal. Returns those that were not revoked before, and records
    /// nothing if there are none.
    async fn revoke_all(
        &self,
        principal: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError>;
    /// Notes that a token was used. Losing such a note is harmless.
    async fn note_use(&self, id: &TokenId, at: Timestamp) -> Result<(), LogError>;
    /// Returns every name that is taken, with the id of its principal: ids of principals, and names
    /// of registered agents.
    async fn names(&self) -> Result<Vec<(String, ParticipantId)>, LogError>;
    /// Returns the principal with this id.
    async fn principal(&self, id: &ParticipantId) -> Result<Option<Principal>, LogError>;
    /// Stores a new agent in one transaction: its card, the hash of its claim code, its principal
    /// and its token. The token belongs to the card's agent, even if it names another principal.
    async fn register(
        &self,
        card: &AgentCard,
        claim: &TokenHash,
        token: &Token,
        entry: &AuditEntry,
    ) -> Result<RegisterOutcome, LogError>;
    /// Returns at most `limit` registered agents in the order of their names. With `after`, begins
    /// after that name.
    async fn registrations(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Registration>, LogError>;
    /// Removes the card of an agent and revokes its tokens. The name becomes free. The id is never
    /// used for another agent. Returns the tokens that were not revoked before; `None` if the agent
    /// has no card.
    async fn free_card(
        &self,
        agent: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Option<Vec<TokenId>>, LogError>;
    /// Returns the cards of these agents, as far as they exist, in the given order and without
    /// repetitions.
    async fn cards(&self, ids: &[ParticipantId]) -> Result<Vec<AgentCard>, LogError>;
    /// Returns the cards with exactly these names, as far as they exist, in the given order and
    /// without repetitions.
    async fn cards_named(&self, names: &[String]) -> Result<Vec<AgentCard>, LogError>;
    /// Returns the cards of one owner, the oldest first, at most [`CARDS_LISTED_MAX`].
    async fn cards_of(&self, owner: &str) -> Result<Vec<AgentCard>, LogError>;
    /// Sets the owner of the agent with this claim. An owner never changes. Of several attempts at
    /// the same time only one gets [`ClaimOutcome::First`], and only that one is recorded.
    async fn claim_card(
        &self,
        claim: &TokenHash,
        owner: &str,
        entry: &AuditEntry,
    ) -> Result<ClaimOutcome, LogError>;
    /// Adds a row to the audit record.
    async fn record(&self, entry: &AuditEntry) -> Result<(), LogError>;
    /// Returns at most `limit` rows of the record, the newest first. With `before`, returns only
    /// rows before that number.
    async fn audit(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditRecord>, LogError>;
}
