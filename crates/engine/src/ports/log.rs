//! The port to the log: streams of events, the catalog rows that start-up reads, and the claims of
//! streams.

use async_trait::async_trait;
use moothall_kernel::aggregate::{CONVERSATION, TASK};
use moothall_kernel::budget::Charge;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::task::{Task, TaskStatus};
use moothall_kernel::time::Timestamp;
use moothall_kernel::{Aggregate, Conversation, STATE_VERSION};
use serde::{Deserialize, Serialize};

use super::claims::{Claim, ClaimChange};
use super::deliveries::NewDelivery;
use super::error::{AppendError, LogError};
use super::post_marks::PostMark;

/// Number of writers that a stream has had. Only the newest writer may append.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Epoch(pub u64);

/// The right of one process to write to a log, for a limited time. It covers all streams. If the
/// process stops without returning it, other processes wait until it expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The owner, as given to [`EventLog::acquire`].
    pub owner: String,
    /// Time at which it expires, unless its owner renews it.
    pub until: Timestamp,
}

/// The answer to a process that wants to write a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acquisition {
    /// The process is the writer. It appends under this epoch, which fences every earlier one.
    Epoch(Epoch),
    /// The process is refused, because another process holds the log. Nothing has changed; retry
    /// later.
    Held(Lease),
}

impl Acquisition {
    /// Returns the epoch; `None` if the process was refused.
    pub fn epoch(self) -> Option<Epoch> {
        match self {
            Self::Epoch(epoch) => Some(epoch),
            Self::Held(_) => None,
        }
    }
}

/// The kind of a deleted stream. It replaces the kind that the stream had before.
pub const DELETED: &str = "deleted";

/// The catalog row of a stream, which is all that start-up reads about the stream. It is written in
/// the same transaction as the stream's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// The kind of stream, e.g. [`CONVERSATION`](moothall_kernel::aggregate::CONVERSATION). It does
    /// not change until the stream is [`DELETED`].
    pub kind: String,
    /// The title of the stream.
    pub title: String,
    /// The name of its policy.
    pub policy: String,
    /// Time of its creation.
    pub created_at: Timestamp,
    /// Time at which the stream next has to be loaded.
    pub next_wake: Option<Timestamp>,
    /// True if a turn or a request should be running.
    pub has_duties: bool,
    /// True if it takes no more messages.
    pub archived: bool,
    /// Number of questions that wait for a person; `None` if an older version wrote the row.
    pub waits_for_people: Option<u32>,
}

impl Catalog {
    /// Returns the row of a stream in this state.
    pub fn of(state: &Aggregate) -> Self {
        match state {
            Aggregate::Conversation(conversation) if conversation.is_deleted() => {
                Self::of_deleted(conversation)
            }
            Aggregate::Conversation(conversation) => Self::of_conversation(conversation),
            Aggregate::Task(task) => Self::of_task(task),
        }
    }

    /// Returns the row of a deleted stream: without its old content and without duties.
    fn of_deleted(state: &Conversation) -> Self {
        Self {
            kind: DELETED.to_owned(),
            title: String::new(),
            policy: String::new(),
            created_at: state.created_at(),
            next_wake: None,
            has_duties: false,
            archived: true,
            waits_for_people: Some(0),
        }
    }

    /// Returns the row of a task. People see a task through its conversations, so title and policy
    /// are empty.
    fn of_task(state: &Task) -> Self {
        Self {
            kind: TASK.to_owned(),
            title: String::new(),
            policy: String::new(),
            created_at: state.created_at(),
            next_wake: state.duties().wake_at,
            has_duties: false,
            archived: matches!(state.status(), TaskStatus::Failed | TaskStatus::Closed),
            waits_for_people: Some(0),
        }
    }

    /// Returns the row of a conversation that was not deleted.
    fn of_conversation(state: &Conversation) -> Self {
        let duties = state.duties();
        Self {
            kind: CONVERSATION.to_owned(),
            title: state.name().to_owned(),
            policy: state.policy().name.to_string(),
            created_at: state.created_at(),
            next_wake: duties.wake_at,
            has_duties: !duties.run.is_empty() || !duties.requests.is_empty(),
            archived: state.is_archived(),
            waits_for_people: Some(u32::try_from(state.waits_for_people()).unwrap_or(u32::MAX)),
        }
    }
}

/// A stream in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedStream {
    /// The id of the stream.
    pub stream: StreamId,
    /// The position of its newest event.
    pub head: Seq,
    /// Time at which its newest event was appended.
    pub last_ts: Timestamp,
    /// The catalog row of the stream.
    pub catalog: Catalog,
}

/// A filter for listing streams, in the order of their creation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// Only streams of this kind, as in [`Catalog::kind`]; `None` for every kind. [`DELETED`]
    /// streams are never listed.
    pub kind: Option<String>,
    /// Only archived streams, or only others; `None` for both.
    pub archived: Option<bool>,
    /// Only open streams in which something runs or waits for a person. The log does not read other
    /// rows then.
    pub marked: bool,
    /// Position to continue after, from [`ListPage::next`].
    pub after: Option<u64>,
    /// Maximum number of streams; `None` for all.
    pub limit: Option<usize>,
}

impl Catalog {
    /// True if the stream is open, and something runs in it or waits for a person.
    pub fn is_marked(&self) -> bool {
        !self.archived && (self.has_duties || self.waits_for_people.is_some_and(|count| count > 0))
    }
}

impl ListFilter {
    /// Returns a filter for all conversations, without other kinds of streams.
    pub fn of_conversations() -> Self {
        Self { kind: Some(CONVERSATION.to_owned()), ..Self::default() }
    }
}

/// A page of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The streams of the page, in the order in which they were created.
    pub streams: Vec<ListedStream>,
    /// Position to continue after, if there are more.
    pub next: Option<u64>,
}

/// The result of one batch of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendResult {
    /// The stream's new head.
    pub head: Seq,
    /// Ids of the inserted deliveries, in the order of [`StreamBatch::deliveries`].
    pub deliveries: Vec<u64>,
}

/// The events of one stream to append, and all that is committed with them.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamBatch {
    /// The stream. A new stream begins with its first append, at `expected_head` 0.
    pub stream: StreamId,
    /// The writer's epoch, from [`EventLog::acquire`].
    pub epoch: Epoch,
    /// The newest event that the writer knows.
    pub expected_head: Seq,
    /// The events after it, without a gap.
    pub events: Vec<RecordedEvent>,
    /// Claims to take and release.
    pub claims: Vec<ClaimChange>,
    /// Deliveries to insert with the events.
    pub deliveries: Vec<NewDelivery>,
    /// Marks of the rows of other computers that the append takes, in their order. If a mark does
    /// not follow the last mark of its channel, the append fails as a whole.
    pub marks: Vec<PostMark>,
    /// Charges of the events, which are counted with the append.
    pub charges: Vec<Charge>,
    /// The catalog row of the stream after the append.
    pub catalog: Catalog,
}

/// Maximum bytes of envelopes and bodies in one page. It limits the memory of a reader, even if the
/// conversation is long.
pub const PAGE_BYTES_MAX: usize = 512 * 1024;

/// Events of one stream, in the order of their positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The events, without those of a kind that this version does not know.
    pub events: Vec<RecordedEvent>,
    /// The newest position that was read; continue after it.
    pub through: Seq,
    /// Position and kind of the first event that this version does not know.
    pub newer: Option<(Seq, String)>,
}

/// Maximum bytes of a snapshot. A larger state is replayed from its events on each load.
pub const SNAPSHOT_BYTES_MAX: usize = 512 * 1024;

/// Maximum number of events after a new snapshot, because each of them has to be checked for
/// erasures.
pub const SNAPSHOT_BEHIND_MAX: u64 = 1000;

/// The state of a stream at one event. It is stored so that loading need not replay all events. It
/// is a cache, so losing it costs only time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Version of the state's format. A snapshot of another version is not used.
    pub version: u32,
    /// Position of the newest event in the state.
    pub head: Seq,
    /// The state, as serialized by the kernel.
    pub bytes: Vec<u8>,
}

impl Snapshot {
    /// Returns the state, if it belongs to this stream, this event and this version.
    pub fn state(&self, kind: &str, stream: &StreamId) -> Option<Aggregate> {
        let bytes = Some(&self.bytes).filter(|_| self.version == STATE_VERSION)?;
        let state = Aggregate::from_bytes(kind, bytes)?;
        (state.stream() == stream && state.head() == self.head).then_some(state)
    }
}

/// The data from which a stream is loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamStart {
    /// The kind of the stream.
    pub kind: String,
    /// The state to continue from, if there is one.
    pub snapshot: Option<Snapshot>,
    /// The first page after the snapshot, or from the beginning.
    pub page: Page,
}

/// The event log. Appends are atomic over all their streams, and acknowledged only when they will
/// survive a power cut.
#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// Appends all batches, or nothing. Returns the result of each batch, in order.
    ///
    /// A `Redacted` among the events erases the body of the event that it names, in the same
    /// transaction. Later reads return that event with an empty body. When this method returns, the
    /// words are gone from everything that the log stores.
    ///
    /// A `Deleted` deletes its stream. After that, reads return [`LogError::Deleted`], its claims
    /// are free, and no listing has it. [`EventLog::erase_deleted`] erases its events. Its open
    /// deliveries to other computers keep their places and numbers, and lose each command that may
    /// have words ([`keeps_command`](super::keeps_command)).
    async fn append(&self, batches: Vec<StreamBatch>) -> Result<Vec<AppendResult>, AppendError>;
    /// Erases the content of deleted streams, and returns when none of it is left in the log. After
    /// a crash, another call finishes the work. Each stream's id, head and last link stay.
    async fn erase_deleted(&self) -> Result<(), LogError>;
    /// Reads at most `limit` events after a position. A page has at most [`PAGE_BYTES_MAX`] bytes,
    /// unless its first event is larger. So a page may be shorter than requested. To read all
    /// events, continue after [`Page::through`] until it does not advance.
    async fn read(&self, stream: &StreamId, after: Seq, limit: usize) -> Result<Page, LogError>;
    /// Returns messages before a position, the newest first, and skips all other events. A page has
    /// at most `limit` messages and [`PAGE_BYTES_MAX`] bytes, unless its first message is larger.
    /// Continue before the last one until a page is empty.
    async fn messages_before(
        &self,
        stream: &StreamId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<RecordedEvent>, LogError>;
    /// Returns the data from which a stream is loaded: a snapshot and the page after it, as from
    /// [`EventLog::read`]. The snapshot is left out unless it is of this version, intact, and of
    /// the event at its head.
    async fn load(
        &self,
        stream: &StreamId,
        version: u32,
        limit: usize,
    ) -> Result<StreamStart, LogError>;
    /// Stores a snapshot in place of the present one. Returns true if it was stored. It need not
    /// survive a power cut.
    ///
    /// A snapshot is refused if it is larger than [`SNAPSHOT_BYTES_MAX`]; if its head is not an
    /// event of the stream, or has more than [`SNAPSHOT_BEHIND_MAX`] events after it; if a later
    /// event erased words at or before its head; or if the present snapshot has the same version
    /// and is not older. An append that erases words drops every snapshot that may have them.
    async fn put_snapshot(&self, stream: &StreamId, snapshot: Snapshot) -> Result<bool, LogError>;
    /// Returns the catalog row of one stream; `None` if no stream has this id.
    async fn find(&self, stream: &StreamId) -> Result<Option<ListedStream>, LogError>;
    /// Makes `owner`, the name of one server process, the writer of a stream that exists or is
    /// about to begin, and fences every earlier epoch. Refused while another process has the log's
    /// [`Lease`]; an expired lease can be taken over.
    async fn acquire(&self, stream: &StreamId, owner: &str) -> Result<Acquisition, LogError>;
    /// Returns the streams with duties, or with a wake at or before `now`. Reads only the catalog.
    async fn due(&self, now: Timestamp) -> Result<Vec<StreamId>, LogError>;
    /// Returns the earliest wake of all streams.
    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError>;
    /// Lists streams in the order of their creation.
    async fn list(&self, filter: ListFilter) -> Result<ListPage, LogError>;
    /// Looks up a claim that has not expired at `now`.
    async fn claim(
        &self,
        namespace: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<Claim>, LogError>;
    /// Returns all claims of a namespace that have not expired at `now`, in the order of their
    /// keys.
    async fn claims(&self, namespace: &str, now: Timestamp) -> Result<Vec<Claim>, LogError>;
    /// Returns the number of appends that wait to be written.
    fn waiting(&self) -> usize {
        0
    }
}
