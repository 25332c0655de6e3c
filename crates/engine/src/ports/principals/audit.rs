//! The audit record: who did what with which credential. Rows are only ever added, and never hold a
//! credential.

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Timestamp;

use super::TokenId;

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum::Display, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum AuditAction {
    /// A browser signed in.
    SignedIn,
    /// A browser signed out.
    SignedOut,
    /// A token was made.
    TokenCreated,
    /// A token was revoked.
    TokenRevoked,
    /// An invitation was made.
    Invited,
    /// An invitation was turned into a token.
    Accepted,
    /// An agent registered.
    Registered,
    /// An agent that registered was claimed by its owner.
    Claimed,
    /// All keys of an agent that registered were revoked.
    AgentRevoked,
    /// The name of an agent that registered was freed.
    AgentFreed,
    /// An agent has an app from now on, because it asked first.
    AppHeld,
    /// A person gave an app to an agent.
    AppGiven,
    /// A person took an app from its agent.
    AppFreed,
    /// A budget that is not one conversation's was raised.
    BudgetRaised,
    /// A request was refused for want of a credential or of what it allows.
    Denied,
}

/// Something to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// When it was done.
    pub at: Timestamp,
    /// What kind of deed it was.
    pub deed: AuditAction,
    /// Who, where that is proven.
    pub by: Option<ParticipantId>,
    /// The credential by which it was done, where there was one.
    pub token: Option<TokenId>,
    /// The credential that it is about, where that is another one.
    pub about: Option<TokenId>,
    /// In a few words: the method and route of a refused request, the holder of a token, the budget
    /// and by how much.
    pub detail: String,
}

/// Something that was recorded, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its place; rises by one with each.
    pub number: u64,
    /// What was recorded there.
    pub entry: AuditEntry,
}
