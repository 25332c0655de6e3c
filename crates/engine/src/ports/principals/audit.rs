//! The audit record: actions, their principals and their credentials. Rows are only added, and
//! never contain a credential.

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Timestamp;

use super::TokenId;

/// The kind of action that is recorded.
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
    /// A person began to type in the terminal of a session through the server.
    TerminalTaken,
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
    /// An agent got an app because it asked first.
    AppHeld,
    /// A person gave an app to an agent.
    AppGiven,
    /// A person took an app from its agent.
    AppFreed,
    /// A budget beyond one conversation was raised.
    BudgetRaised,
    /// A conversation was bound to a chat outside of the server.
    ChatBound,
    /// A conversation was unbound from a chat.
    ChatUnbound,
    /// An account of a channel was paired with a person.
    Paired,
    /// A person gave a command, or answered a question, by a paired account.
    Commanded,
    /// An invitation for another computer was asked for.
    ComputerInvited,
    /// A line of another computer was given, to pair the two.
    ComputerPaired,
    /// The end of the pair with another computer was asked for.
    ComputerForgotten,
    /// The resumption of the computers after a restore was asked for.
    ComputersResumed,
    /// A request was refused: its credential was missing, or did not allow it.
    Denied,
}

/// A row to add to the audit record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Time of the action.
    pub at: Timestamp,
    /// The kind of action.
    pub action: AuditAction,
    /// The principal, if it is proven.
    pub by: Option<ParticipantId>,
    /// The credential that was used, if there was one.
    pub token: Option<TokenId>,
    /// The credential that the action is about, if it is not the one that was used.
    pub about: Option<TokenId>,
    /// A few words: the method and route of a refused request, the holder of a token, the budget
    /// and the amount.
    pub detail: String,
}

/// A row of the audit record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Number of the row. Each row has the next number.
    pub number: u64,
    /// The content of the row.
    pub entry: AuditEntry,
}
