//! Answers of the Model Context Protocol tools that no route gives.

use serde::Serialize;
use utoipa::ToSchema;

use super::{ErrorDetail, SendAnswer, SessionEntry, TurnEntry, UnaskedMessage};

/// Answer of `start_session`, if the session was started.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SessionStarted {
    /// The session as it is now.
    pub session: SessionEntry,
    /// The first message, if it was sent; as `send_message` answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<SendAnswer>,
    /// The error of the first message. The session runs nevertheless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_error: Option<ErrorDetail>,
}

/// Answer of `invite` for a new thread.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ToolThreadBegun {
    /// Id of the thread.
    pub thread: String,
    /// Title of the thread.
    pub name: String,
    /// Name of the thread's policy.
    pub policy: String,
}

/// Answer of `invite` for a thread that exists.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ToolInvited {
    /// Id of the thread.
    pub thread: String,
    /// Id of the event; `null` if the participant was there already.
    pub event: Option<String>,
    /// Warnings, e.g. that the server does not know the agent.
    pub warnings: Vec<String>,
}

/// Answer of `list_threads`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ToolThreads {
    /// The threads, the most recently used first.
    pub threads: Vec<ToolThread>,
    /// Number of threads, including those beyond the limit.
    pub count: usize,
}

/// A thread in the answer of `list_threads`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ToolThread {
    /// Id of the thread.
    pub id: String,
    /// Title of the thread.
    pub name: String,
    /// Time of the last event: RFC 3339, UTC, milliseconds.
    pub updated_at: String,
    /// Position of the last event.
    pub head: u64,
    /// True if the thread takes no more messages.
    pub archived: bool,
    /// Name of the thread's policy.
    pub policy: String,
}

/// Answer of `read_thread` with messages.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ToolMessages {
    /// Id of the thread.
    pub thread: String,
    /// Title of the thread.
    pub name: String,
    /// Position of the thread's last event.
    pub head: u64,
    /// True if further messages did not fit: later ones after `after`, otherwise earlier ones.
    pub more: bool,
    /// The messages, oldest first.
    pub messages: Vec<ToolMessage>,
}

/// A message in the answer of `read_thread`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ToolMessage {
    /// Position in the thread.
    pub seq: u64,
    /// Id of the event.
    pub id: String,
    /// Time of the message: RFC 3339, UTC, milliseconds.
    pub ts: String,
    /// Id of the speaker.
    pub from: String,
    /// The words.
    pub text: String,
    /// True if the end of the words was cut off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// True if nothing shows that a person wrote the words.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unproven: bool,
    /// Name of the session at whose terminal the words were typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typed_at: Option<String>,
    /// Reason why the words may be incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// True if a person stopped the turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// True if the agent only thought, and said nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub thought: bool,
}

/// Answer of `read_thread` with `why`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ToolReasons {
    /// Id of the thread.
    pub thread: String,
    /// Id of the message; `null` if no person said anything.
    pub message: Option<String>,
    /// A row for each turn, and for each agent that was not asked.
    pub turns: Vec<TurnEntry>,
    /// The message, if it asked no agent: the reason and the remedy.
    pub unasked: Vec<UnaskedMessage>,
}
