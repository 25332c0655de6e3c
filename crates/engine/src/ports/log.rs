//! The log itself: streams of events, the rows that start-up reads, and the keys that streams hold.

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

/// Counts the writers a stream has had; only the newest may append.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Epoch(pub u64);

/// The right of one process to write, as long as it lasts: a log has one for each server process,
/// not for each stream. Who stops without giving it back keeps the others waiting until it is over,
/// and no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Who has it, as [`EventLog::acquire`] was told.
    pub owner: String,
    /// When it is over, unless its owner renews it.
    pub until: Timestamp,
}

/// What became of the wish to be a stream's writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acquisition {
    /// It is granted: append under this epoch, which fences every earlier one.
    Epoch(Epoch),
    /// Another process holds the log, and nothing has changed. Try again later.
    Held(Lease),
}

impl Acquisition {
    /// The epoch, if there is one.
    pub fn epoch(self) -> Option<Epoch> {
        match self {
            Self::Epoch(epoch) => Some(epoch),
            Self::Held(_) => None,
        }
    }
}

/// The word for what a stream is that was deleted, whatever it was before.
pub const DELETED: &str = "deleted";

/// All that start-up reads about a stream, written in the same transaction as its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// What kind of stream it is, e.g. [`CONVERSATION`](moothall_kernel::aggregate::CONVERSATION).
    /// It does not change until the stream is [`DELETED`].
    pub kind: String,
    /// The title of the stream.
    pub title: String,
    /// The name of its policy.
    pub policy: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it next has to look at the clock.
    pub next_wake: Option<Timestamp>,
    /// Whether something should be running.
    pub has_duties: bool,
    /// Whether it takes no more messages.
    pub archived: bool,
    /// How much waits there for a person; nothing where a version wrote the row that did not note
    /// it.
    pub waits_for_people: Option<u32>,
}

impl Catalog {
    /// What the row of a stream in this state says.
    pub fn of(state: &Aggregate) -> Self {
        match state {
            Aggregate::Conversation(conversation) if conversation.is_deleted() => {
                Self::of_deleted(conversation)
            }
            Aggregate::Conversation(conversation) => Self::of_conversation(conversation),
            Aggregate::Task(task) => Self::of_task(task),
        }
    }

    /// Nothing of what it was, and nothing that has to be looked after.
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

    /// People read of a task in its conversations, so its row says what start-up has to know.
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
    /// When its newest event was appended.
    pub last_ts: Timestamp,
    /// What the list of conversations shows of it.
    pub catalog: Catalog,
}

/// Which streams to list. In creation order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// Only streams of this kind, as [`Catalog::kind`] says it; every kind where unset. What is
    /// [`DELETED`] is never listed.
    pub kind: Option<String>,
    /// Only with or without this mark; both where unset.
    pub archived: Option<bool>,
    /// Only open streams whose row says that something runs there or waits for a person. Quiet ones
    /// are not even looked at.
    pub marked: bool,
    /// Continue after this position, as [`ListPage::next`] gave it.
    pub after: Option<u64>,
    /// At most so many; all where unset.
    pub limit: Option<usize>,
}

impl Catalog {
    /// True if something runs in an open stream, or waits there for a person.
    pub fn is_marked(&self) -> bool {
        !self.archived && (self.has_duties || self.waits_for_people.is_some_and(|count| count > 0))
    }
}

impl ListFilter {
    /// All conversations, and nothing that is another kind of stream.
    pub fn of_conversations() -> Self {
        Self { kind: Some(CONVERSATION.to_owned()), ..Self::default() }
    }
}

/// A page of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The streams of the page, in the order in which they were created.
    pub streams: Vec<ListedStream>,
    /// Where to go on, when there is more.
    pub next: Option<u64>,
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
    pub events: Vec<RecordedEvent>,
    /// Keys taken and released.
    pub claims: Vec<ClaimChange>,
    /// Deliveries that are inserted with the events.
    pub deliveries: Vec<NewDelivery>,
    /// What the events cost: counted if they are appended, and once.
    pub charges: Vec<Charge>,
    /// The stream's row after this.
    pub catalog: Catalog,
}

/// Most bytes of envelopes and words in one page: what a reader holds at a time, however long the
/// conversation is.
pub const PAGE_BYTES_MAX: usize = 512 * 1024;

/// Events of one stream, in the order of their positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The events. Those of a kind this version does not know are left out.
    pub events: Vec<RecordedEvent>,
    /// The newest position looked at; go on after it.
    pub through: Seq,
    /// Position and kind of the first event this version does not know.
    pub newer: Option<(Seq, String)>,
}

/// Largest snapshot, in bytes: a state beyond it is folded anew each time.
pub const SNAPSHOT_BYTES_MAX: usize = 512 * 1024;

/// How many events a stream may have after a snapshot that is put: whether any of them erases words
/// has to be looked at.
pub const SNAPSHOT_BEHIND_MAX: u64 = 1000;

/// A stream's state as it was at one event, kept so that it need not be folded from the beginning.
/// A cache: losing it costs time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// What the bytes mean: those of another version are worth nothing.
    pub version: u32,
    /// The position of the newest event that the state holds.
    pub head: Seq,
    /// The state, as the kernel writes it.
    pub bytes: Vec<u8>,
}

impl Snapshot {
    /// The state in it, if it is one of this stream at that event, in this version.
    pub fn state(&self, kind: &str, stream: &StreamId) -> Option<Aggregate> {
        let bytes = Some(&self.bytes).filter(|_| self.version == STATE_VERSION)?;
        let state = Aggregate::from_bytes(kind, bytes)?;
        (state.stream() == stream && state.head() == self.head).then_some(state)
    }
}

/// Where loading a stream begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opening {
    /// What kind of stream it is.
    pub kind: String,
    /// A state to go on from, if there is one.
    pub snapshot: Option<Snapshot>,
    /// The first page after it, or from the beginning.
    pub page: Page,
}

/// The log of everything. Appends are atomic over all their streams, and acknowledged only when
/// they will survive a power cut.
#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// Appends all batches, or nothing. Says what became of each, in their order.
    ///
    /// A `Redacted` among the events erases, in the same breath, the words of the event that it
    /// names: whoever reads that one from then on gets it with empty words. The words are gone from
    /// wherever the log keeps them once this returns.
    ///
    /// A `Deleted` takes all that the log keeps of its stream: from then on whoever asks for it
    /// gets [`LogError::Deleted`], its claims are free, and it is in no listing. Its events are
    /// erased by [`EventLog::erase_deleted`].
    async fn append(&self, batches: Vec<StreamBatch>) -> Result<Vec<Appended>, AppendError>;
    /// Erases what deleted streams hold, and returns when nothing is left of it anywhere in the
    /// log. What a crash interrupts is done when it is called again; each stream's name, head and
    /// last link stay.
    async fn erase_deleted(&self) -> Result<(), LogError>;
    /// Reads at most `limit` events after a position, and no more than [`PAGE_BYTES_MAX`] of them
    /// unless the first alone is larger: a page may be shorter than was asked for, so whoever wants
    /// more goes on after [`Page::through`] until nothing comes.
    async fn read(&self, stream: &StreamId, after: Seq, limit: usize) -> Result<Page, LogError>;
    /// Messages before a position, the newest first: at most `limit`, and no more than
    /// [`PAGE_BYTES_MAX`] of them unless the first alone is larger. None where there are no more;
    /// go on before the last one. What else the stream holds is not read.
    async fn messages_before(
        &self,
        stream: &StreamId,
        before: Seq,
        limit: usize,
    ) -> Result<Vec<RecordedEvent>, LogError>;
    /// Where loading a stream begins: with the snapshot of this version, if the log has one that is
    /// whole and belongs to the event at its head, and with a page after it as [`EventLog::read`]
    /// gives it.
    async fn load(
        &self,
        stream: &StreamId,
        version: u32,
        limit: usize,
    ) -> Result<Opening, LogError>;
    /// Keeps a snapshot in place of the one there is, and says whether it did. It need not survive
    /// a power cut.
    ///
    /// It is not kept where it is larger than [`SNAPSHOT_BYTES_MAX`]; where its head is not an
    /// event of the stream, or more than [`SNAPSHOT_BEHIND_MAX`] behind; where a later event erased
    /// words at or before its head; or where the one there is is of the same version and no older.
    /// An append that erases words lets go of every snapshot that may hold them.
    async fn put_snapshot(&self, stream: &StreamId, snapshot: Snapshot) -> Result<bool, LogError>;
    /// What the list shows of one stream; nothing where there is none of that id.
    async fn find(&self, stream: &StreamId) -> Result<Option<ListedStream>, LogError>;
    /// Makes `owner`, the name of one server process, the writer of a stream that exists or is
    /// about to begin: every earlier epoch is fenced from now on. While another process has the
    /// log's [`Lease`] nothing is taken from it; one that is over can be taken.
    async fn acquire(&self, stream: &StreamId, owner: &str) -> Result<Acquisition, LogError>;
    /// Streams with duties, or with a wake at or before `now`. Read from the catalog alone.
    async fn due(&self, now: Timestamp) -> Result<Vec<StreamId>, LogError>;
    /// The earliest wake of all streams.
    async fn next_wake(&self) -> Result<Option<Timestamp>, LogError>;
    /// Lists streams in creation order.
    async fn list(&self, filter: ListFilter) -> Result<ListPage, LogError>;
    /// Looks up a claim that has not lapsed at `now`.
    async fn claim(
        &self,
        namespace: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<Claim>, LogError>;
    /// All claims of a namespace that have not lapsed at `now`, in the order of their keys.
    async fn claims(&self, namespace: &str, now: Timestamp) -> Result<Vec<Claim>, LogError>;
    /// Appends that wait to be written now.
    fn waiting(&self) -> usize {
        0
    }
}
