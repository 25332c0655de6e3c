//! All inputs and outputs of a stream's host.

use std::collections::BTreeMap;
use std::sync::Arc;

use moothall_kernel::budget::{Budgets, Charge};
use moothall_kernel::command::Command;
use moothall_kernel::duties::AllowedRequest;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::hosted::HostedKey;
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use moothall_kernel::invariants::BrokenRule;
use moothall_kernel::task::Task;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::voices::Voices;
use moothall_kernel::{Aggregate, Conversation};
use serde_json::{Map, Value};

use crate::answers::{Answer, HallError, Idempotency, Signal};
use crate::computers::RefusedRow;
use crate::hall::presences::ParticipantPresence;
use crate::outbox::{OutboxEntry, PostCommand};
use crate::ports::{Acquisition, AppendError, LogError, Page, PostChannel, PostMark, StreamBatch};
use crate::runtime::agent::{Job, PermissionAnswer, Probe, Report, TurnKey};
use crate::runtime::registry::Roster;

/// One moment on two clocks. The difference of the clocks changes if the computer sleeps or its
/// clock is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The time on the computer's clock.
    pub wall: Timestamp,
    /// Milliseconds on a monotonic clock with any beginning.
    pub steady: Millis,
}

/// Context of one input: clocks, registry, draining.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The moment, on both clocks.
    pub now: Now,
    /// True if the process is shutting down. No new turn is started then.
    pub draining: bool,
    /// The agents of the registry, as facts.
    pub agents: &'a Roster,
}

/// The way in which a stream becomes live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMode {
    /// From its log, in a process that opened the log at this time.
    Existing(Timestamp),
    /// As a new conversation, whose first command creates it.
    New,
    /// As a new task, whose first command requests it.
    NewTask,
}

impl StartMode {
    /// Returns the empty state of a new stream; `None` if the stream has to be loaded.
    pub(super) fn empty(self, stream: &StreamId) -> Option<Aggregate> {
        match self {
            StartMode::Existing(_) => None,
            StartMode::New => Some(Conversation::new(stream.clone()).into()),
            StartMode::NewTask => Some(Task::new(stream.clone()).into()),
        }
    }

    /// True if the stream is new, so that no other process can have written to it.
    pub(super) fn is_new(self) -> bool {
        match self {
            StartMode::Existing(_) => false,
            StartMode::New | StartMode::NewTask => true,
        }
    }
}

/// The reason why a stream is read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOnlyReason {
    /// The stream has an event that this version does not know: the position and kind of the first
    /// one.
    Newer(Seq, String),
    /// The events lead to a state that breaks an invariant. Decisions on it would be wrong too.
    Broken(BrokenRule),
}

impl ReadOnlyReason {
    /// Returns the error for requests that want to write.
    pub(super) fn error(&self, stream: &StreamId) -> HallError {
        match self {
            ReadOnlyReason::Newer(seq, kind) => {
                HallError::ReadOnly { stream: stream.clone(), seq: *seq, kind: kind.clone() }
            }
            ReadOnlyReason::Broken(broken) => {
                HallError::Broken { stream: stream.clone(), rule: *broken }
            }
        }
    }
}

/// A stream as loaded from its log.
#[derive(Clone, Debug)]
pub struct LoadedStream {
    /// The state before the first event that this version does not know.
    pub state: Aggregate,
    /// The reason why the stream is read-only, if it is.
    pub unwritable: Option<ReadOnlyReason>,
}

impl LoadedStream {
    /// Makes a loaded stream from a state and the first event after it that this version does not
    /// know. Checks the invariants of the state.
    pub fn new(state: impl Into<Aggregate>, newer: Option<(Seq, String)>) -> Self {
        let state = state.into();
        let newer = newer.map(|(seq, kind)| ReadOnlyReason::Newer(seq, kind));
        let unwritable =
            newer.or_else(|| state.check_invariants().err().map(ReadOnlyReason::Broken));
        Self { state, unwritable }
    }
}

/// The id of a request between its arrival and its answer. The shell chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// The work of a request.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every request is a decision; boxing it would cost each of them"
)]
pub enum ItemBody {
    /// Decide this command.
    Decision(Command),
    /// Store this answer under the request's key.
    Keeping(String),
    /// Decide nothing, and only insert the deliveries in [`OwedItems`].
    Owing,
    /// Send the state of a hosted turn to the computer that asks for it, by a delivery.
    Probing(HostedKey),
    /// The computer of its participant does not know an open turn. Offer the turn once more if it
    /// has not begun. Otherwise end it.
    Missing {
        /// The turn.
        turn: TurnNo,
        /// The attempt that is missing.
        attempt: u32,
    },
}

/// Deliveries to insert with the append of a request, if it is accepted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwedItems {
    /// Number of commands from stream to stream that led to this request.
    pub hops: u8,
    /// The deliveries to other streams and targets.
    pub owed: Vec<OutboxEntry>,
}

/// The rows of another computer that a request takes. Their mark moves in the append of the
/// request, also if the request is rejected. (decisions/0053)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taking {
    /// The mark.
    pub mark: PostMark,
    /// The row whose sender gets the refusal if the request is rejected. `None` if a refusal would
    /// not help the sender.
    pub refusal: Option<RefusalNote>,
}

/// A row whose refusal is sent to its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalNote {
    /// The number of the row in the channel of the mark.
    pub number: u64,
    /// The content of the row, if its refusal has an effect at the sender.
    pub about: Option<RefusedRow>,
}

impl Taking {
    /// Returns the taking of one row, whose refusal is sent to its sender.
    pub fn row(channel: PostChannel, number: u64) -> Self {
        let mark = PostMark { channel, before: number.saturating_sub(1), through: number };
        Self { mark, refusal: Some(RefusalNote { number, about: None }) }
    }

    /// Returns the taking with the content of the row, because its refusal has an effect at the
    /// sender.
    #[must_use]
    pub fn about(self, row: Option<RefusedRow>) -> Self {
        let note = |note| RefusalNote { about: row, ..note };
        Self { refusal: self.refusal.map(note), ..self }
    }

    /// Returns the taking without a refusal for the sender.
    #[must_use]
    pub fn without_refusal(self) -> Self {
        Self { refusal: None, ..self }
    }

    /// Returns the delivery of a refusal to the sender; `None` if the sender gets none.
    pub(crate) fn refusal_entry(&self, code: &str, message: &str) -> Option<OutboxEntry> {
        let RefusalNote { number, about } = self.refusal.clone()?;
        let (code, message) = (code.to_owned(), message.to_owned());
        let refused = PostCommand::Refused { number, code, message, about };
        Some(refused.entry(&self.mark.channel.sender))
    }
}

/// The consent that a request needs before it is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Id of the principal that is asked.
    pub principal: String,
    /// Time limit, from the moment at which the request is seen to be new. After it, the request is
    /// refused.
    pub within: Millis,
}

/// The answer of a principal to a consent question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// The request may be decided.
    Given,
    /// The request may be decided, and only these participants get its words.
    GivenFor(Vec<ParticipantId>),
    /// The request is refused for this reason, which its sender gets.
    Refused(String),
}

/// The answer to a request.
pub type Verdict = Result<Answer, HallError>;

/// True if a row with this verdict was taken. Its mark is in the log then, or in the append of the
/// verdict. After any other error the row has to be taken again.
pub fn counts_as_taken(verdict: &Verdict) -> bool {
    matches!(
        verdict,
        Ok(_) | Err(HallError::Rejected(_) | HallError::KeyReused | HallError::Taken { .. })
    )
}

/// An earlier request with the same key.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorRequest {
    /// Hash of that request.
    pub fingerprint: String,
    /// The answer that it got, as far as it can be read back.
    pub answer: Verdict,
}

/// The facts from outside that decisions need.
#[derive(Clone, Debug)]
pub struct Lookups {
    /// Earlier requests by their key; an error if the keys could not be looked up.
    pub earlier: Result<BTreeMap<String, PriorRequest>, HallError>,
    /// The participants that are connected or present, and those of them that take turns.
    pub here: ParticipantPresence,
    /// The budgets, and what was spent of them.
    pub budgets: Arc<Budgets>,
    /// Recent words of agents in all conversations.
    pub voices: Arc<Voices>,
}

/// All inputs of a host.
#[derive(Clone, Debug)]
pub enum Input {
    /// A request. The host answers it with [`Output::Answer`].
    Request {
        /// The id that the answer will bear.
        id: RequestId,
        /// The work of the request.
        wanted: ItemBody,
        /// The idempotency key: a second request with it takes no effect.
        idempotency: Option<Box<Idempotency>>,
        /// The consent that is needed first, if any. Other requests are decided while it is
        /// awaited.
        condition: Option<Condition>,
        /// Deliveries to insert with the append of the request.
        owing: OwedItems,
        /// The rows of another computer that the request takes, if any.
        taking: Option<Box<Taking>>,
    },
    /// The answer to an [`Output::Ask`]. It may come late, twice or never. It is ignored if no
    /// request waits for it.
    Answered {
        /// The request that needs consent.
        id: RequestId,
        /// The answer of the principal.
        consent: Consent,
    },
    /// A request to see the committed state after all earlier inputs. [`Output::Show`] allows it.
    View {
        /// The id that [`Output::Show`] will bear.
        id: RequestId,
    },
    /// A report of a runtime about a turn that it runs.
    Report {
        /// The turn and its attempt.
        key: TurnKey,
        /// The report: progress or the final result.
        report: Report,
        /// The request to answer, and the key under which the report takes effect only one time.
        /// `None` if the sender does not wait until the report is appended.
        receipt: Option<(RequestId, Idempotency)>,
    },
    /// The result of probing a turn that an earlier process started.
    Probed {
        /// The turn and its attempt.
        key: TurnKey,
        /// The state of the turn in its runtime.
        probe: Probe,
    },
    /// The registry has changed.
    Refresh,
    /// All waiting inputs were handed over, or the time of an [`Output::Wake`] has come. All inputs
    /// since the last look are decided together.
    Look,
    /// The stream has been idle for a while. The host drops the data that can be read again.
    Quiet,
    /// The answer to [`Output::Lookup`].
    Found(Lookups),
    /// The answer to [`Output::Charge`].
    Charged {
        /// True if all charges were taken; false if none was.
        paid: bool,
        /// The budgets after the charge.
        budgets: Arc<Budgets>,
    },
    /// The answer to [`Output::Acquire`].
    Acquired(Result<Acquisition, LogError>),
    /// The answer to [`Output::Append`]. If the batch is synced, the ids of its deliveries, in
    /// order. Otherwise an error, and the log is unchanged.
    Appended(Result<Vec<u64>, AppendError>),
    /// The answer to [`Output::Reload`].
    Loaded(Result<Box<LoadedStream>, HallError>),
    /// The answer to [`Output::Read`] and [`Output::ReadMessages`], oldest first.
    Read(Result<Page, LogError>),
}

/// All outputs of a host. The outputs of one call are performed in order. Only the last of them may
/// request an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Look up the facts that decisions need, and these claims. Requests [`Input::Found`].
    Lookup {
        /// Keys of the claims to look up.
        keys: Vec<String>,
    },
    /// Ask a principal for consent to this request. Only the request itself waits for
    /// [`Input::Answered`].
    Ask {
        /// The request that needs consent.
        id: RequestId,
        /// Id of the principal that is asked.
        principal: String,
        /// The command to be decided.
        request: Box<Command>,
        /// Time on the steady clock after which an answer is too late.
        until: Millis,
    },
    /// Charge the budgets that all streams share, in full or not at all. Requests
    /// [`Input::Charged`].
    Charge {
        /// The turns and the money that the decision spends.
        charges: Vec<Charge>,
    },
    /// Give back charges whose decision was dropped.
    GiveBack {
        /// The charges that were taken.
        charges: Vec<Charge>,
    },
    /// Become the stream's writer. Requests [`Input::Acquired`].
    Acquire,
    /// Append this batch. Requests [`Input::Appended`].
    Append {
        /// The events, with all that is committed together with them.
        batch: Box<StreamBatch>,
    },
    /// Load the stream again from its log. Requests [`Input::Loaded`].
    Reload,
    /// Read events. Requests [`Input::Read`].
    Read {
        /// Position after which to read.
        after: Seq,
        /// Maximum number of positions to read.
        count: usize,
    },
    /// Read messages backwards, without the other events between them. Requests [`Input::Read`].
    ReadMessages {
        /// Position before which to read.
        before: Seq,
        /// Maximum number of messages. An empty answer comes after the oldest message.
        limit: usize,
    },
    /// Count these committed events in the metrics.
    Count {
        /// The events in order; never empty.
        events: Arc<Vec<RecordedEvent>>,
        /// The turns and the money that they spend.
        charges: Vec<Charge>,
    },
    /// A decision led to a state that breaks an invariant, and was not appended. The shell logs and
    /// counts this fault.
    Broken(BrokenRule),
    /// Answer these requests.
    Answer {
        /// The requests and their answers.
        answers: Vec<(RequestId, Verdict)>,
    },
    /// Publish these committed events to all listeners.
    Publish {
        /// The events in order; never empty.
        events: Arc<Vec<RecordedEvent>>,
    },
    /// Send a signal to the listeners.
    Signal(Signal),
    /// Set the presence of a participant whose agent runs in this process.
    Presence {
        /// The participant.
        participant: ParticipantId,
        /// The word for its presence, such as `thinking`.
        state: &'static str,
        /// The fields of its profile; `None` if the participant has left.
        details: Option<Map<String, Value>>,
    },
    /// Show the committed state to these requests.
    Show {
        /// The requests of [`Input::View`].
        ids: Vec<RequestId>,
    },
    /// Start a turn, if it does not run yet. May be requested more than once.
    Start {
        /// The turn, and all that its agent has to know of it.
        job: Box<Job>,
    },
    /// Probe a turn that an earlier process started. [`Input::Probed`] comes later.
    Probe {
        /// The turn and its attempt.
        key: TurnKey,
        /// The participant whose turn it is.
        participant: ParticipantId,
    },
    /// Cancel a turn that is not wanted any more.
    Cancel {
        /// The turn and its attempt.
        key: TurnKey,
    },
    /// End a turn whose time limit has passed.
    Lapse {
        /// The turn and its attempt.
        key: TurnKey,
    },
    /// The start of this turn is in the log.
    Begun {
        /// The turn and its attempt.
        key: TurnKey,
        /// Id of the delivery that carries its prompt; `None` without such a delivery, or if an
        /// earlier process inserted it.
        delivery: Option<u64>,
    },
    /// A person answered a permission, or its time limit passed.
    Permit {
        /// The turn whose agent asked.
        key: TurnKey,
        /// The permission that was asked for.
        permission: PermissionId,
        /// The answer; `None` if none came in time.
        given: Option<PermissionAnswer>,
    },
    /// Carry out a request that a person allowed. This output may come more than once, but the
    /// request takes effect only one time.
    CarryOut {
        /// The request, and the permission under which it was allowed.
        request: Box<AllowedRequest>,
    },
    /// Give [`Input::Look`] at this time. Replaces the time of every earlier wake.
    Wake {
        /// Time in milliseconds of the steady clock; `None` for no wake.
        at: Option<Millis>,
    },
    /// The host has ended. Refuse the requests that still wait.
    Close {
        /// The reason why the stream is not live in this process any more.
        why: EndReason,
    },
}

/// The reason why a stream is not live in this process any more.
#[derive(Clone, Debug, PartialEq)]
pub enum EndReason {
    /// Another process has become its writer.
    Fenced,
    /// The log can no longer be trusted; the process has to stop.
    Fatal(String),
    /// The first command was refused, so the stream has no events.
    NeverBegan,
    /// The conversation was deleted.
    Deleted,
    /// The stream cannot be read.
    Unreadable(HallError),
}

impl EndReason {
    /// Returns the error for the requests that still wait.
    pub fn error(&self, stream: &StreamId) -> HallError {
        match self {
            // A retry loads the stream again and acquires a new epoch.
            EndReason::Fenced => HallError::Overloaded,
            EndReason::Fatal(reason) => HallError::Failed(format!("the log failed: {reason}")),
            EndReason::NeverBegan => HallError::NotFound(stream.clone()),
            EndReason::Deleted => HallError::Deleted(stream.clone()),
            EndReason::Unreadable(error) => error.clone(),
        }
    }
}
