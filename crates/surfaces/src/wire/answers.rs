//! The bodies that clients get back, beside events and errors.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::control::WireProfile;
use super::envelope::Envelope;

/// Answer of `GET /ping`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ping {
    /// Always `ok`: the server answers.
    pub status: String,
    /// Always `moothall`, by which programs recognise it.
    pub server: String,
    /// Its name for people: `Moothall`.
    pub name: String,
    /// The version of the server's program.
    pub version: String,
    /// The server's time: RFC 3339, UTC, milliseconds.
    pub timestamp: String,
}

/// Answer of `GET /healthz`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Always `ok`: the server answers.
    pub status: String,
    /// Conversations held in memory.
    pub live_threads: usize,
}

/// A thread in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ThreadEntry {
    /// The id of the thread.
    pub id: String,
    /// The title of the thread.
    pub name: String,
    /// When the thread was created.
    pub created_at: String,
    /// When its newest event came.
    pub updated_at: String,
    /// The position of its newest event.
    pub head: u64,
    /// Whether it takes no more messages.
    pub archived: bool,
    /// The name of its policy.
    pub policy: String,
    /// How much waits there for a person: what agents ask permission for, and a guard that holds
    /// the floor. Missing where an earlier version of the server wrote to it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for_people: Option<u64>,
    /// The position up to which the participant named by `as` has read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// Messages of others after that; 100 stands for 100 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<u64>,
}

/// Answer of `GET /threads`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ThreadList {
    /// In the order in which they were created.
    pub threads: Vec<ThreadEntry>,
    /// Pass it as `after` for the next page; missing on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Answer of `POST /threads`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ThreadCreated {
    /// The id of the new thread.
    pub id: String,
    /// The title of the new thread.
    pub name: String,
    /// When the thread was created.
    pub created_at: String,
    /// The position of the event that began it.
    pub head: u64,
    /// The policy and all its settings.
    #[schema(value_type = Object)]
    pub policy: Value,
    /// The event that began it.
    pub event: Envelope,
}

/// Answer of `GET /threads/{id}/events`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EventPage {
    /// In the order of `seq`, which has holes where the viewer may not look.
    pub events: Vec<Envelope>,
    /// How many there are.
    pub count: usize,
    /// The newest position that was looked at: pass it as `after` to go on.
    pub through: u64,
    /// The position of the thread's newest event.
    pub head: u64,
}

/// Answer of `POST /threads/{id}/events`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Accepted {
    /// Always `true`: it is committed and synced.
    pub received: bool,
    /// The event; `null` when nothing had to change.
    pub event: Option<Envelope>,
    /// What you should know all the same: words for programs (`held`, `stopped`, `queue_full`,
    /// `unknown_name`), and sentences for people, which follow the word that they are about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// For an invited agent that has to come by itself: what to tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<JoinPrompt>,
}

/// How an invited agent that runs elsewhere can take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JoinPrompt {
    /// The id of the invited participant.
    pub participant: String,
    /// Words to paste into it.
    pub prompt: String,
    /// A command that shows what it would hear, for a shell.
    #[serde(default)]
    pub command: String,
}

/// Answer of `POST /threads/{id}/stop`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StopAccepted {
    /// Always `true`, also when there was nothing to stop.
    pub stopped: bool,
    /// The event; `null` when there was nothing to stop.
    pub event: Option<Envelope>,
}

/// Answer of `POST /turns/{id}/cancel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Cancelled {
    /// Always `true`, also when nothing had to change.
    pub cancelled: bool,
    /// The event; `null` when nothing had to change.
    pub event: Option<Envelope>,
}

/// The presence of one participant in a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PresenceEntry {
    /// The id of the participant whose presence it is.
    pub id: String,
    /// `listening`, `thinking`, `typing`, `idle`, or the client's own word.
    pub state: String,
    /// When it was last said.
    pub updated_at: String,
    /// It is older than `ttl_seconds`: count the participant as offline.
    pub stale: bool,
    /// What the client added.
    #[schema(value_type = Option<Object>)]
    pub details: Option<Map<String, Value>>,
}

/// Answer of `GET /threads/{id}/presence`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PresenceList {
    /// The id of the thread.
    pub thread: String,
    /// How long a presence counts.
    pub ttl_seconds: u64,
    /// Those that count first, then by id.
    pub participants: Vec<PresenceEntry>,
}

/// A presence that was just said: the `presence` signal of a stream, and part of the answer to a
/// post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PresenceUpdate {
    /// The id of the thread in which it was said.
    pub thread: String,
    /// The id of the participant whose presence it is.
    pub participant: String,
    /// `listening`, `thinking`, `typing`, `idle`, or the client's own word.
    pub state: String,
    /// When it was said.
    pub updated_at: String,
    /// What the client added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Map<String, Value>>,
}

/// Answer of `POST /threads/{id}/presence`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PresenceAccepted {
    /// Always `true`: it counts from now on.
    pub received: bool,
    /// What is known now.
    pub presence: PresenceUpdate,
}

/// A notification of `GET /events/stream`: a thread has a new head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Bell {
    /// The id of the thread that has something new.
    pub thread: String,
    /// The position of its newest event.
    pub head: u64,
    /// How much waits there for a person, as in the list of threads.
    #[serde(default)]
    pub waits_for_people: u64,
}

/// An agent of the registry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentEntry {
    /// What an invite's `client` says.
    pub client: String,
    /// One sentence about it.
    pub summary: String,
    /// `script`, `command`, `llm`, `terminal` or `remote`.
    pub runtime: String,
    /// `built-in`, `configured` or `discovered`.
    pub origin: String,
    /// The user of the server's computer that its programs run as, where it is not the server's
    /// own. A `command` or `terminal` agent without it reaches all that the server keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as: Option<String>,
    /// How long a turn of it may take.
    pub timeout_seconds: f64,
    /// What an invite of it starts from.
    pub profile: WireProfile,
}

/// Answer of `GET /agents`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentList {
    /// All agents of the registry, by name.
    pub agents: Vec<AgentEntry>,
}

/// The `delta` signal of a stream: a piece of a running turn's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeltaSignal {
    /// The id of the turn: `<thread>.<number>`.
    pub turn: String,
    /// Which attempt at the turn it is, from 1.
    pub attempt: u32,
    /// The id of the participant whose turn it is.
    pub participant: String,
    /// Bytes of the answer before this piece.
    pub offset: usize,
    /// The text of the piece, to be put after the earlier ones.
    pub text: String,
}

/// The `progress` signal of a stream: what a running turn is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProgressSignal {
    /// The id of the turn: `<thread>.<number>`.
    pub turn: String,
    /// The id of the participant whose turn it is.
    pub participant: String,
    /// In a few words.
    pub text: String,
}
