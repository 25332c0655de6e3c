//! The bodies of answers, other than events and errors.

use std::collections::BTreeMap;

use moothall_kernel::event::{Event, RecordedEvent};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::access::WhoAmI;
use super::control::WireProfile;
use super::envelope::Envelope;
use super::error::ErrorDetail;
use super::link::LinkEntry;
use super::need::NeedEntry;
use super::occupation::OccupationEntry;
use super::session::{ProgramEntry, SessionEntry};

/// Answer of `GET /ping`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ping {
    /// Always `ok`: the server answers.
    pub status: String,
    /// Always `moothall`. Programs recognise the server by it.
    pub server: String,
    /// Name of the server for people: `Moothall`.
    pub name: String,
    /// Version of the server's program.
    pub version: String,
    /// Time of the server: RFC 3339, UTC, milliseconds.
    pub timestamp: String,
}

/// Answer of `GET /healthz`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Always `ok`: the server answers.
    pub status: String,
    /// Number of conversations in memory.
    pub live_threads: usize,
}

/// A thread in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ThreadEntry {
    /// Id of the thread.
    pub id: String,
    /// Title of the thread.
    pub name: String,
    /// Time at which the thread was created.
    pub created_at: String,
    /// Time of the thread's newest event.
    pub updated_at: String,
    /// Position of the thread's newest event.
    pub head: u64,
    /// True if the thread takes no more messages.
    pub archived: bool,
    /// Name of the thread's policy.
    pub policy: String,
    /// Number of things in the thread that wait for a person: permissions, a guard that holds the
    /// floor, and a gathering that waits for a person's words. Absent if an earlier version of the
    /// server wrote to the thread last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for_people: Option<u64>,
    /// Position up to which the participant named by `as` has read the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// Number of messages of others after `read`; 100 stands for 100 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<u64>,
    /// The newest message, with `lines`. Absent in a thread without messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastMessage>,
    /// True if an unread message is addressed to the participant named by `as`, or names it, with
    /// `lines`. Only the newest 40 messages count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Names of participants that differ from their ids, by id, with `lines`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
}

/// The newest message of a thread, for a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LastMessage {
    /// Position of the message.
    pub seq: u64,
    /// Id of the speaker.
    pub from: String,
    /// The beginning of the words, at most 200 characters; empty after an erasure.
    pub text: String,
    /// True if the words were erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// Maximum number of characters of a message in a list.
const LINE_CHARS_MAX: usize = 200;

impl LastMessage {
    /// Returns the beginning of a message; `None` for other events.
    pub fn of(recorded: &RecordedEvent) -> Option<Self> {
        let Event::Posted(posted) = &recorded.event else { return None };
        let redacted = recorded.event.is_erased();
        let text = if redacted {
            String::new()
        } else {
            posted.body.chars().take(LINE_CHARS_MAX).collect()
        };
        Some(Self { seq: recorded.seq.0, from: posted.from.to_string(), text, redacted })
    }
}

/// Answer of `GET /start`: what a client shows first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HallStart {
    /// The caller and its rights.
    pub session: WhoAmI,
    /// The threads, in the order in which they were created. `read`, `unread` and `direct` are
    /// those of the caller, or of `user` without a credential.
    pub threads: Vec<ThreadEntry>,
    /// Value of `after` of `GET /threads` for further threads; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// The sessions; absent if the server or the caller has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<HallSessions>,
    /// Reason for the absence of `sessions`; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_sessions: Option<ErrorDetail>,
    /// The states of the participants that do something, as in `GET /states`.
    pub states: Vec<OccupationEntry>,
    /// The needs of the reader, as in `GET /needs`.
    pub needs: Vec<NeedEntry>,
}

/// The sessions of this computer, and their links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HallSessions {
    /// The live sessions, in the order in which they began.
    pub live: Vec<SessionEntry>,
    /// Ids of the sessions that have ended.
    pub ended: Vec<String>,
    /// The programs that can be started.
    pub programs: Vec<ProgramEntry>,
    /// The open links.
    pub links: Vec<LinkEntry>,
    /// Closed links that reopen once sessions are resumed or ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<LinkEntry>,
}

/// Answer of `GET /threads`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ThreadList {
    /// The threads, in the order in which they were created.
    pub threads: Vec<ThreadEntry>,
    /// Value of `after` for the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Answer of `POST /threads`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ThreadCreated {
    /// Id of the new thread.
    pub id: String,
    /// Title of the new thread.
    pub name: String,
    /// Time at which the thread was created.
    pub created_at: String,
    /// Position of the thread's first event.
    pub head: u64,
    /// The policy with all its settings.
    #[schema(value_type = Object)]
    pub policy: Value,
    /// The thread's first event.
    pub event: Envelope,
}

/// Answer of `GET /threads/{id}/events`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EventPage {
    /// The events, ordered by `seq`. Events that the viewer may not read leave gaps.
    pub events: Vec<Envelope>,
    /// Number of events on this page.
    pub count: usize,
    /// The newest position that was read: `after` for the next page.
    pub through: u64,
    /// Position of the thread's newest event.
    pub head: u64,
}

/// Answer of `POST /threads/{id}/events`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Accepted {
    /// Always `true`: the event is committed and synced.
    pub received: bool,
    /// The event; `null` if nothing had to change.
    pub event: Option<Envelope>,
    /// Warnings about the accepted event: words for programs (`held`, `stopped`, `queue_full`,
    /// `unknown_name`), each followed by its sentences for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Instructions to join, for an invited agent that has to connect by itself; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<JoinPrompt>,
}

/// Instructions for an invited agent that runs elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JoinPrompt {
    /// Id of the invited participant.
    pub participant: String,
    /// Prompt to paste into the agent.
    pub prompt: String,
    /// Shell command that shows the messages for the agent.
    #[serde(default)]
    pub command: String,
}

/// Answer of `POST /threads/{id}/stop`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StopAccepted {
    /// Always `true`, even if there was nothing to stop.
    pub stopped: bool,
    /// The event; `null` if there was nothing to stop.
    pub event: Option<Envelope>,
}

/// Answer of `POST /turns/{id}/cancel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Cancelled {
    /// Always `true`, even if nothing had to change.
    pub cancelled: bool,
    /// The event; `null` if nothing had to change.
    pub event: Option<Envelope>,
}

/// The presence of one participant in a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PresenceEntry {
    /// Id of the participant.
    pub id: String,
    /// Presence: `listening`, `thinking`, `typing`, `idle`, or the client's own word.
    pub state: String,
    /// Time of the last update.
    pub updated_at: String,
    /// True if the presence is older than `ttl_seconds`. The participant counts as offline then.
    pub stale: bool,
    /// Further details from the client; `null` if there are none.
    #[schema(value_type = Option<Object>)]
    pub details: Option<Map<String, Value>>,
}

/// Answer of `GET /threads/{id}/presence`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PresenceList {
    /// Id of the thread.
    pub thread: String,
    /// Seconds for which a presence is valid.
    pub ttl_seconds: u64,
    /// The participants, those with a valid presence first, then by id.
    pub participants: Vec<PresenceEntry>,
}

/// A new presence: the `presence` signal of a stream, and part of the answer to a post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PresenceUpdate {
    /// Id of the thread.
    pub thread: String,
    /// Id of the participant.
    pub participant: String,
    /// Presence: `listening`, `thinking`, `typing`, `idle`, or the client's own word.
    pub state: String,
    /// Time of the update.
    pub updated_at: String,
    /// Further details from the client; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Map<String, Value>>,
}

/// Answer of `POST /threads/{id}/presence`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PresenceAccepted {
    /// Always `true`: the presence is valid from now on.
    pub received: bool,
    /// The presence as it is now.
    pub presence: PresenceUpdate,
}

/// A notification of `GET /events/stream`: a thread has a new head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Bell {
    /// Id of the thread with new events.
    pub thread: String,
    /// Position of the thread's newest event.
    pub head: u64,
    /// Number of things in the thread that wait for a person, as in the list of threads.
    #[serde(default)]
    pub waits_for_people: u64,
}

/// An agent of the registry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentEntry {
    /// Name of the agent, for `client` of an invite.
    pub client: String,
    /// Description of the agent, in one sentence.
    pub summary: String,
    /// Runtime of the agent: `script`, `command`, `llm`, `terminal` or `remote`.
    pub runtime: String,
    /// Origin of the agent: `built-in`, `configured` or `discovered`.
    pub origin: String,
    /// User of the server's computer that the agent's programs run as; absent if it is the server's
    /// own. In that case a `command` or `terminal` agent reaches all of the server's data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as: Option<String>,
    /// Maximum seconds for one turn of the agent.
    pub timeout_seconds: f64,
    /// Default profile for invites of the agent.
    pub profile: WireProfile,
}

/// Answer of `GET /agents`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentList {
    /// All agents of the registry, ordered by name.
    pub agents: Vec<AgentEntry>,
}

/// The `delta` signal of a stream: a part of a running turn's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeltaSignal {
    /// Id of the turn: `<thread>.<number>`.
    pub turn: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Id of the turn's participant.
    pub participant: String,
    /// Number of bytes of the answer before this part.
    pub offset: usize,
    /// Text of this part, to be appended to the earlier parts.
    pub text: String,
}

/// The `progress` signal of a stream: the current activity of a running turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProgressSignal {
    /// Id of the turn: `<thread>.<number>`.
    pub turn: String,
    /// Id of the turn's participant.
    pub participant: String,
    /// The activity in a few words.
    pub text: String,
}
