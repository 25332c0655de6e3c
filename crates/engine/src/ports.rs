//! What the engine needs from the world. Each port has a memory implementation here, the reference for the real ones.

use std::collections::BTreeMap;

use async_trait::async_trait;
use moothall_kernel::Conversation;
use moothall_kernel::budget::{Charge, Purse, Raise};
use moothall_kernel::event::Recorded;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::search::{Piece, Query};
use moothall_kernel::time::{Millis, Timestamp};
use serde::{Deserialize, Serialize};

use crate::access::AuditEntry;
pub use crate::access::Principals;
use crate::sessions::{Session, SessionId};

/// Reads the time. The engine has no other clock.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The computer's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Counts the writers a stream has had; only the newest may append.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Epoch(pub u64);

/// All that start-up reads about a stream, written in the same transaction as its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// The title.
    pub title: String,
    /// The policy's name.
    pub policy: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it next has to look at the clock.
    pub next_wake: Option<Timestamp>,
    /// Whether something should be running.
    pub has_duties: bool,
    /// Whether it takes no more messages.
    pub archived: bool,
}

impl Catalog {
    /// What the row of a conversation in this state says.
    pub fn of(state: &Conversation) -> Self {
        let duties = state.duties();
        Self {
            title: state.name().to_owned(),
            policy: state.policy().name.as_str().to_owned(),
            created_at: state.created_at(),
            next_wake: duties.wake_at,
            has_duties: !duties.run.is_empty() || !duties.start.is_empty(),
            archived: state.is_archived(),
        }
    }
}

/// A stream in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Which.
    pub stream: StreamId,
    /// Its newest event.
    pub head: Seq,
    /// When that came.
    pub last_ts: Timestamp,
    /// The rest.
    pub catalog: Catalog,
}

/// Which streams to list. In creation order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// Only with or without this mark; both where unset.
    pub archived: Option<bool>,
    /// Continue after this position, as [`ListPage::next`] gave it.
    pub after: Option<u64>,
    /// At most so many; all where unset.
    pub limit: Option<usize>,
}

/// A page of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The streams.
    pub streams: Vec<Listed>,
    /// Where to go on, when there is more.
    pub next: Option<u64>,
}

/// A unique key held by a stream: the one mechanism for "only one of these may exist".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What kind of key, e.g. `chat`, `idem`.
    pub namespace: String,
    /// The key.
    pub key: String,
    /// Who holds it.
    pub stream: StreamId,
    /// Hash of the request that took it; empty where that does not matter.
    pub fingerprint: String,
    /// What came of that request: for `idem`, the position of the event that answered it.
    pub outcome: String,
    /// When it lapses by itself.
    pub expires: Option<Timestamp>,
}

/// What an append does to claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimChange {
    /// Take it, or fail the whole append. A lapsed claim (`expires` ≤ the append's newest `ts`) can be taken over.
    Take(Claim),
    /// Let it go, if this stream holds it.
    Release {
        /// What kind.
        namespace: String,
        /// Which.
        key: String,
    },
}

/// How far a delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// Not begun.
    Pending,
    /// Begun; after a crash nobody knows.
    Sending,
    /// It left.
    Sent,
    /// The target has it.
    Accepted,
    /// The target acted on it.
    Done,
    /// It cannot arrive.
    Failed,
    /// It may have arrived: shown to a person, never blindly repeated.
    Unknown,
}

/// A durable row for a side effect that must reach one target once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its id; rises with insertion, so that each target is served first in, first out.
    pub id: u64,
    /// Whom it must reach, e.g. `chat:telegram:-100`, `session:7f3a`.
    pub target: String,
    /// Whose event caused it.
    pub stream: StreamId,
    /// The turn it prompts, if it is a prompt.
    pub turn: Option<TurnNo>,
    /// The attempt of that turn.
    pub attempt: u32,
    /// The newest event it covers.
    pub through_seq: Seq,
    /// How far it has come.
    pub state: DeliveryState,
    /// What is known about that, for people.
    pub evidence: String,
}

/// A delivery to be inserted with the append that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// Whom it must reach.
    pub target: String,
    /// The turn it prompts.
    pub turn: Option<TurnNo>,
    /// The attempt of that turn.
    pub attempt: u32,
    /// The newest event it covers.
    pub through_seq: Seq,
}

/// How long what was written has to last when it is said that it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// It survives a power cut.
    Synced,
    /// It survives the process. A power cut may take it, and then everything after it too, until something later is synced.
    Written,
}

/// What became of one batch of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The stream's new head.
    pub head: Seq,
    /// The ids of the deliveries that were inserted, in the order of [`StreamBatch::deliveries`].
    pub deliveries: Vec<u64>,
}

/// What one stream wants to append.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamBatch {
    /// Which stream; a stream begins with its first append, at `expected_head` 0.
    pub stream: StreamId,
    /// The writer's epoch, from [`EventLog::acquire`].
    pub epoch: Epoch,
    /// The newest event the writer knows.
    pub expected_head: Seq,
    /// What comes after it, without a gap.
    pub events: Vec<Recorded>,
    /// Keys taken and released.
    pub claims: Vec<ClaimChange>,
    /// Side effects owed.
    pub deliveries: Vec<NewDelivery>,
    /// What the events cost: counted if they are appended, and once.
    pub charges: Vec<Charge>,
    /// The stream's row after this.
    pub catalog: Catalog,
}

/// Why nothing was appended. The log is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The stream has another head.
    #[error("stream {stream} is at {head}, not where the writer thought")]
    Conflict {
        /// Which stream.
        stream: StreamId,
        /// Its head.
        head: Seq,
    },
    /// Another writer has taken the stream over.
    #[error("stream {stream} has a newer writer")]
    Fenced {
        /// Which stream.
        stream: StreamId,
    },
    /// A key is held already.
    #[error("{}:{} is held by {}", .0.namespace, .0.key, .0.stream)]
    Claimed(Box<Claim>),
    /// The disk is full; reads go on, and writes will too once there is room.
    #[error("the disk is full")]
    Full,
    /// Too much is waiting to be written. Nothing was decided; try again.
    #[error("the log is overloaded")]
    Overloaded,
    /// The log can no longer be trusted to write; the process has to stop.
    #[error("the log failed: {0}")]
    Fatal(String),
}

/// Why nothing could be read, or a stream's writer could not be noted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// No such stream.
    #[error("no stream {0}")]
    NotFound(StreamId),
    /// What is stored does not match its checksum.
    #[error("stream {stream} is damaged at {seq}: {reason}")]
    Damaged {
        /// Which stream.
        stream: StreamId,
        /// Where.
        seq: Seq,
        /// How.
        reason: String,
    },
    /// The disk is full: nothing can be noted, reads go on.
    #[error("the disk is full")]
    Full,
    /// The log can no longer be trusted to write; the process has to stop.
    #[error("the log failed: {0}")]
    Fatal(String),
    /// The disk could not be read, as far as this goes; what is written is not touched by that.
    #[error("the disk could not be read: {0}")]
    Unreadable(String),
    /// Anything else.
    #[error("the log failed: {0}")]
    Failed(String),
}

/// Most bytes of envelopes and words in one page: what a reader holds at a time, however long the conversation is.
pub const PAGE_BYTES_MAX: usize = 512 * 1024;

/// Events in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The events. Those of a kind this version does not know are left out.
    pub events: Vec<Recorded>,
    /// The newest position looked at; go on after it.
    pub through: Seq,
    /// Position and kind of the first event this version does not know.
    pub newer: Option<(Seq, String)>,
}

/// The log of everything. Appends are atomic over all their streams, and acknowledged only when they will survive a power cut.
#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// Appends all batches, or nothing. Says what became of each, in their order.
    ///
    /// A `Redacted` among the events erases, in the same breath, the words of the event that it names: whoever reads that one from
    /// then on gets it with empty words. The words are gone from wherever the log keeps them once this returns.
    async fn append(&self, batches: Vec<StreamBatch>) -> Result<Vec<Appended>, AppendError>;
    /// Reads at most `limit` events after a position, and no more than [`PAGE_BYTES_MAX`] of them unless the first alone is larger: a
    /// page may be shorter than was asked for, so whoever wants more goes on after [`Page::through`] until nothing comes.
    async fn read(&self, stream: &StreamId, after: Seq, limit: usize) -> Result<Page, LogError>;
    /// A stream's row.
    async fn find(&self, stream: &StreamId) -> Result<Option<Listed>, LogError>;
    /// Becomes the writer of a stream that exists or is about to begin: every earlier epoch is fenced from now on.
    async fn acquire(&self, stream: &StreamId, owner: &str, ttl: Millis) -> Result<Epoch, LogError>;
    /// Streams with duties, or with a wake at or before `now`. Read from the catalog alone.
    async fn due(&self, now: Timestamp) -> Result<Vec<StreamId>, LogError>;
    /// The earliest wake of all streams.
    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError>;
    /// Lists streams in creation order.
    async fn list(&self, filter: ListFilter) -> Result<ListPage, LogError>;
    /// Looks up a claim that has not lapsed at `now`.
    async fn claim(&self, namespace: &str, key: &str, now: Timestamp) -> Result<Option<Claim>, LogError>;
    /// All claims of a namespace that have not lapsed at `now`, in the order of their keys.
    async fn claims(&self, namespace: &str, now: Timestamp) -> Result<Vec<Claim>, LogError>;
    /// Appends that wait to be written now.
    fn waiting(&self) -> usize {
        0
    }
    /// How far readers have read, where the log notes it.
    fn read_marks(&self) -> Option<&dyn ReadMarks> {
        None
    }
    /// Principals, their credentials and the audit record, where the log keeps any.
    fn principals(&self) -> Option<&dyn Principals> {
        None
    }
    /// The deliveries that appends have inserted, where the log keeps any.
    fn deliveries(&self) -> Option<&dyn Deliveries> {
        None
    }
    /// The sessions and who listens to them, where the log keeps any.
    fn sessions(&self) -> Option<&dyn SessionBook> {
        None
    }
    /// What turns have cost, where the log counts it.
    fn ledger(&self) -> Option<&dyn Ledger> {
        None
    }
    /// The index of what was said, where the log has one.
    fn index(&self) -> Option<&dyn Search> {
        None
    }
}

/// The deliveries that appends have inserted.
#[async_trait]
pub trait Deliveries: Send + Sync + 'static {
    /// The oldest delivery of each target that is not `done`, `failed` or `unknown`.
    async fn heads(&self) -> Result<Vec<Delivery>, LogError>;
    /// The deliveries to one target that are not `done`, `failed` or `unknown`, oldest first.
    async fn owed(&self, target: &str) -> Result<Vec<Delivery>, LogError>;
    /// The newest deliveries to a target, newest first.
    async fn of_target(&self, target: &str, limit: usize) -> Result<Vec<Delivery>, LogError>;
    /// All deliveries of a stream, oldest first.
    async fn of_stream(&self, stream: &StreamId) -> Result<Vec<Delivery>, LogError>;
    /// Moves one from whichever of some states it is in to another, in one write; `false` when it was in none of them.
    async fn advance(&self, id: u64, from: &[DeliveryState], to: DeliveryState, evidence: &str, lasting: Lasting)
    -> Result<bool, LogError>;
    /// How many there are in each state that any is in. Those that are `done` are not counted: there is no end to them.
    async fn tally(&self) -> Result<BTreeMap<DeliveryState, u64>, LogError>;
}

/// The sessions that ever were, and who wants to know when one finishes its turn.
#[async_trait]
pub trait SessionBook: Send + Sync + 'static {
    /// Keeps a session, in place of what was kept of it before. It survives a power cut when this returns.
    async fn keep(&self, session: &Session) -> Result<(), LogError>;
    /// All sessions, in the order of their ids.
    async fn all(&self) -> Result<Vec<Session>, LogError>;
    /// Notes that one session wants to know when another finishes its turn.
    async fn listen(&self, target: &SessionId, caller: &SessionId) -> Result<(), LogError>;
    /// Who wants to know.
    async fn listeners(&self, target: &SessionId) -> Result<Vec<SessionId>, LogError>;
    /// Forgets that one wants to know.
    async fn unlisten(&self, target: &SessionId, caller: &SessionId) -> Result<(), LogError>;
    /// Notes that a session came into a conversation.
    async fn enter(&self, session: &SessionId, room: &StreamId) -> Result<(), LogError>;
    /// Notes that it left.
    async fn leave(&self, session: &SessionId, room: &StreamId) -> Result<(), LogError>;
    /// Where a session is, as far as it was noted, in the order of the ids.
    async fn rooms(&self, session: &SessionId) -> Result<Vec<StreamId>, LogError>;
}

/// What turns have cost, in rows beside the log that could be made again from it: one for each hour, stream, agent and causer.
#[async_trait]
pub trait Ledger: Send + Sync + 'static {
    /// What was charged from this hour on, summed over all streams.
    async fn charged_since(&self, hour: Timestamp) -> Result<Vec<Charge>, LogError>;
    /// Sums, those that cost or were called most first.
    async fn used(&self, wanted: &UsageWanted) -> Result<Vec<Used>, LogError>;
    /// Keeps what a purse may spend above its limit, in place of an earlier raise.
    async fn keep_raise(&self, purse: &Purse, raise: &Raise, entry: &AuditEntry) -> Result<(), LogError>;
    /// What purses may spend above their limits from this time on.
    async fn raises(&self, now: Timestamp) -> Result<Vec<(Purse, Raise)>, LogError>;
    /// Streams of which something was appended before there were rows, and how far that goes.
    async fn uncounted(&self, limit: usize) -> Result<Vec<(StreamId, Seq)>, LogError>;
    /// Counts, once, what was appended to a stream before there were rows.
    async fn count(&self, stream: &StreamId, charges: Vec<Charge>) -> Result<(), LogError>;
}

/// What sums are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageWanted {
    /// Only in these streams.
    pub streams: Option<Vec<StreamId>>,
    /// Only of this agent.
    pub agent: Option<String>,
    /// Only from this time on; whole hours count.
    pub from: Option<Timestamp>,
    /// Only before this time.
    pub to: Option<Timestamp>,
    /// A sum for each of these; one of everything where unset.
    pub by: Option<UsageBy>,
    /// At most so many sums.
    pub limit: usize,
}

/// What there is a sum for each of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// For each agent.
    Agent,
    /// For each stream.
    Stream,
    /// For each day in UTC, the newest first.
    Day,
}

/// A sum of what turns have cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// The agent, of sums by agent.
    pub agent: Option<String>,
    /// The stream, of sums by stream.
    pub stream: Option<StreamId>,
    /// The beginning of the day, of sums by day.
    pub day: Option<Timestamp>,
    /// Turns that began.
    pub turns: u64,
    /// Those that no person set off.
    pub unattended: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Millionths of the currency.
    pub cost_micros: u64,
}

/// How much of a stream a reader has before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// The newest event that the reader has read; 0 when there is no mark.
    pub read: Seq,
    /// Messages of others after it, erased ones apart.
    pub messages: usize,
}

/// How far readers have read. A reader is a participant's id, the same in all streams.
#[async_trait]
pub trait ReadMarks: Send + Sync {
    /// Moves a reader's mark forward: never back, and never past the stream's head. Gives where it is then.
    async fn mark(&self, reader: &ParticipantId, stream: &StreamId, seq: Seq) -> Result<Seq, LogError>;
    /// What a reader has before them in each of these streams, in their order; counts no further than `most`. Nothing in a stream
    /// that did not begin.
    async fn unread(&self, reader: &ParticipantId, streams: &[StreamId], most: usize) -> Result<Vec<Unread>, LogError>;
}

/// What to search for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The query. Its `within` is settled already and not looked at.
    pub query: Query,
    /// Only in these streams; in all where unset. Those that did not begin are left out.
    pub streams: Option<Vec<StreamId>>,
}

/// A message that was searched for.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Where it was said.
    pub stream: StreamId,
    /// The message.
    pub recorded: Recorded,
    /// Its words around the first match.
    pub snippet: Vec<Piece>,
}

/// A page of hits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// The hits, those that were appended last first.
    pub hits: Vec<Hit>,
    /// Where to go on, when there may be more.
    pub next: Option<u64>,
    /// Events of the streams asked for that were appended and not yet looked at by the index.
    pub lag: u64,
}

/// The index of what was said where everyone may see it. It follows the log at its own pace and never holds up an append.
#[async_trait]
pub trait Search: Send + Sync {
    /// At most `limit` messages that the query finds, from where `cursor`, the last page's `next`, says.
    async fn search(&self, wanted: &Wanted, limit: usize, cursor: Option<u64>) -> Result<Hits, LogError>;
    /// Removes a message from the index for good, so that nothing of its words is left in it. The log is not touched.
    async fn forget(&self, stream: &StreamId, seq: Seq) -> Result<(), LogError>;
}
