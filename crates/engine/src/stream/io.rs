//! All that a stream's host is told, and all that it wants.

use std::collections::BTreeMap;
use std::sync::Arc;

use moothall_kernel::budget::{Budgets, Charge};
use moothall_kernel::command::Command;
use moothall_kernel::duties::AllowedRequest;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, StreamId};
use moothall_kernel::invariants::BrokenRule;
use moothall_kernel::task::Task;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::voices::Voices;
use moothall_kernel::{Aggregate, Conversation};
use serde_json::{Map, Value};

use crate::answers::{Answer, HallError, Idempotency, Signal};
use crate::hall::presences::ParticipantPresence;
use crate::outbox::OutboxEntry;
use crate::ports::{Acquisition, AppendError, LogError, Page, StreamBatch};
use crate::runtime::agent::{PermissionAnswer, Job, Probe, Report, TurnKey};
use crate::runtime::registry::Roster;

/// One moment on two clocks: they drift apart when the computer slept, or when somebody set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// What the computer's clock shows.
    pub wall: Timestamp,
    /// Milliseconds on a clock that only goes forward, from any beginning.
    pub steady: Millis,
}

/// What is so outside, at the moment of an input.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The moment, on both clocks.
    pub now: Now,
    /// The process is going down: nothing new is started.
    pub draining: bool,
    /// Which agents there are.
    pub agents: &'a Roster,
}

/// How a stream becomes live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMode {
    /// From its log, in a process that began to look after streams at this time.
    Existing(Timestamp),
    /// As a new conversation, whose first command creates it.
    New,
    /// As a new task, whose first command asks for it.
    NewTask,
}

impl StartMode {
    /// A stream in which nothing has happened yet; nothing where it is to be read.
    pub(super) fn empty(self, stream: &StreamId) -> Option<Aggregate> {
        match self {
            StartMode::Existing(_) => None,
            StartMode::New => Some(Conversation::new(stream.clone()).into()),
            StartMode::NewTask => Some(Task::new(stream.clone()).into()),
        }
    }

    /// Whether nobody else can have written to it.
    pub(super) fn is_new(self) -> bool {
        match self {
            StartMode::Existing(_) => false,
            StartMode::New | StartMode::NewTask => true,
        }
    }
}

/// Why a stream is only read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOnlyReason {
    /// Its first event that this version does not know: where, and of which kind.
    Newer(Seq, String),
    /// Its events lead to a state that no rule allows. Whatever was decided on it would be wrong
    /// too.
    Broken(BrokenRule),
}

impl ReadOnlyReason {
    /// What is said to those who want to write.
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

/// A stream as its log has it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its state, up to the first event that this version does not know.
    pub state: Aggregate,
    /// Why it is only read, if it is.
    pub unwritable: Option<ReadOnlyReason>,
}

impl Loaded {
    /// A state, and the first event after it that this version does not know.
    pub fn new(state: impl Into<Aggregate>, newer: Option<(Seq, String)>) -> Self {
        let state = state.into();
        let newer = newer.map(|(seq, kind)| ReadOnlyReason::Newer(seq, kind));
        let unwritable = newer.or_else(|| state.check_invariants().err().map(ReadOnlyReason::Broken));
        Self { state, unwritable }
    }
}

/// Names a request until it is answered; the shell chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// What is wanted of a stream.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every request is a decision; boxing it would cost each of them"
)]
pub enum ItemBody {
    /// Give this command to the rules.
    Decision(Command),
    /// Keep this answer for the request's key.
    Keeping(String),
    /// Decide nothing, and only note what is owed.
    Owing,
}

/// What is to be inserted with the append that a request leads to, once it is decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwedItems {
    /// How many commands from stream to stream lie before this request.
    pub hops: u8,
    /// What is owed elsewhere.
    pub owed: Vec<OutboxEntry>,
}

/// Who has to agree to a request before it is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The principal that is asked, by id.
    pub principal: String,
    /// For how long, since it is seen that the request is a new one. After that it is refused.
    pub within: Millis,
}

/// What somebody says who was asked to agree to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// It may be decided.
    Given,
    /// It may be decided, and these alone hear what is said with it.
    GivenFor(Vec<ParticipantId>),
    /// It may not, for this reason, which whoever made the request is told.
    Refused(String),
}

/// What a request gets.
pub type Verdict = Result<Answer, HallError>;

/// The request that a key was used for before.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorRequest {
    /// Hash of that request.
    pub fingerprint: String,
    /// What it was answered, as far as that can be read.
    pub answer: Verdict,
}

/// What a decision has to know of the world outside.
#[derive(Clone, Debug)]
pub struct Lookups {
    /// By key, the requests that were made under it before; or why nobody can tell.
    pub earlier: Result<BTreeMap<String, PriorRequest>, HallError>,
    /// Who is connected or present, and who takes turns.
    pub here: ParticipantPresence,
    /// What may be spent, and was.
    pub budgets: Arc<Budgets>,
    /// The words that agents said lately in all conversations.
    pub voices: Arc<Voices>,
}

/// Everything that a host is told.
#[derive(Clone, Debug)]
pub enum Input {
    /// Somebody wants something; the answer comes with [`Output::Answer`].
    Request {
        /// The request, by the id that its answer will bear.
        id: RequestId,
        /// A decision, an answer to be kept, or a note of what is owed.
        wanted: ItemBody,
        /// The key under which it takes effect once.
        idempotency: Option<Box<Idempotency>>,
        /// Who has to agree first, if anybody. Others are decided meanwhile.
        condition: Option<Condition>,
        /// What is to be inserted with the append that it leads to.
        owing: OwedItems,
    },
    /// What was said to an [`Output::Ask`]. It may come late, twice or never: what comes when
    /// nobody waits for it changes nothing.
    Answered {
        /// The request that was to be agreed to.
        id: RequestId,
        /// Whether it may be decided.
        consent: Consent,
    },
    /// Somebody wants to see the committed state, after everything that came before; they may with
    /// [`Output::Show`].
    View {
        /// The request, by the id that [`Output::Show`] will bear.
        id: RequestId,
    },
    /// A runtime reports about a turn that it runs.
    Report {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// What came of it so far, or in the end.
        report: Report,
        /// Where it waits until that is kept: the request that is answered, and the key under which
        /// it takes effect once.
        receipt: Option<(RequestId, Idempotency)>,
    },
    /// What a runtime knows about a turn that an earlier process began.
    Probed {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// What the runtime knows of it.
        probe: Probe,
    },
    /// The agents are other ones now.
    Refresh,
    /// Nothing more waits to be told, or the time of an [`Output::Wake`] has come: see what is to
    /// be done. Whatever was told before is decided together.
    Look,
    /// Nothing has happened for a while: forget what can be read again.
    Quiet,
    /// The answer to [`Output::Lookup`].
    Found(Lookups),
    /// The answer to [`Output::Charge`].
    Charged {
        /// All of it was taken, or nothing.
        paid: bool,
        /// What may be spent, and was, after that.
        budgets: Arc<Budgets>,
    },
    /// The answer to [`Output::Acquire`].
    Acquired(Result<Acquisition, LogError>),
    /// The answer to [`Output::Append`]: it is synced, with these ids of its deliveries in their
    /// order, or the log is as it was.
    Appended(Result<Vec<u64>, AppendError>),
    /// The answer to [`Output::Reload`].
    Loaded(Result<Box<Loaded>, HallError>),
    /// The answer to [`Output::Read`] and to [`Output::ReadMessages`], oldest first.
    Read(Result<Page, LogError>),
}

/// Everything that a host wants. What comes of one call is carried out in its order; at most the
/// last of it asks for an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Find out what a decision has to know: these claims among others. Asks for [`Input::Found`].
    Lookup {
        /// The claims that are looked up, by key.
        keys: Vec<String>,
    },
    /// Ask somebody whether they agree to this request; nothing waits for [`Input::Answered`] but
    /// the request itself.
    Ask {
        /// The request that is to be agreed to.
        id: RequestId,
        /// The principal that is asked, by id.
        principal: String,
        /// What is to be decided.
        request: Box<Command>,
        /// Until then, on the steady clock: what is answered later comes too late.
        until: Millis,
    },
    /// Take this from the purses that all streams share: all of it, or nothing. Asks for
    /// [`Input::Charged`].
    Charge {
        /// The turns and the money that were decided.
        charges: Vec<Charge>,
    },
    /// Put back what was taken: it came to nothing.
    GiveBack {
        /// The same that were taken.
        charges: Vec<Charge>,
    },
    /// Become the stream's writer. Asks for [`Input::Acquired`].
    Acquire,
    /// Append this. Asks for [`Input::Appended`].
    Append {
        /// The events, with all that is committed together with them.
        batch: Box<StreamBatch>,
    },
    /// Read the stream again, from its beginning. Asks for [`Input::Loaded`].
    Reload,
    /// Read events. Asks for [`Input::Read`].
    Read {
        /// From the position after this one.
        after: Seq,
        /// How many positions to read, at most.
        count: usize,
    },
    /// Read messages backwards, and nothing else that lies between them. Asks for [`Input::Read`].
    ReadMessages {
        /// Only those at positions before this one.
        before: Seq,
        /// At most so many; none come only where there are no more.
        limit: usize,
    },
    /// These events are committed, and are to be counted.
    Count {
        /// In order; never none.
        events: Arc<Vec<RecordedEvent>>,
        /// The turns and the money that they spend.
        charges: Vec<Charge>,
    },
    /// What was decided led to a state that no rule allows, and is not appended. Somebody has to
    /// know of this fault.
    Broken(BrokenRule),
    /// These requests are done.
    Answer {
        /// Which, and what they get.
        answers: Vec<(RequestId, Verdict)>,
    },
    /// These events are committed: everybody may know.
    Publish {
        /// In order; never none.
        events: Arc<Vec<RecordedEvent>>,
    },
    /// Listeners may be told this.
    Signal(Signal),
    /// A participant that is run here is seen like this now.
    Presence {
        /// The participant whose presence it is.
        participant: ParticipantId,
        /// The word for it, such as `thinking`.
        state: &'static str,
        /// The fields of its profile; nothing where it is no participant any more.
        details: Option<Map<String, Value>>,
    },
    /// These may see the committed state now.
    Show {
        /// Those that asked with [`Input::View`].
        ids: Vec<RequestId>,
    },
    /// See to it that this runs, however often it is asked.
    Start {
        /// The turn, and all that its agent has to know of it.
        job: Box<Job>,
    },
    /// Ask what became of a turn that an earlier process began. [`Input::Probed`] comes when it
    /// comes.
    Probe {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// The participant whose turn it is.
        participant: ParticipantId,
    },
    /// Nobody wants this turn any more.
    Cancel {
        /// The turn, and which attempt at it.
        key: TurnKey,
    },
    /// The time of this turn is over.
    Lapse {
        /// The turn, and which attempt at it.
        key: TurnKey,
    },
    /// The start of this turn is in the log.
    Begun {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// The delivery that its prompt is; nothing where it is none, or where an earlier process
        /// inserted it.
        delivery: Option<u64>,
    },
    /// A person answered a permission, or nobody did in time.
    Permit {
        /// The turn whose agent asked.
        key: TurnKey,
        /// The permission that was asked for.
        permission: PermissionId,
        /// What a person answered; nothing where nobody did in time.
        given: Option<PermissionAnswer>,
    },
    /// Carry out a request that a person allowed, once however often it is asked.
    CarryOut {
        /// The request, and the permission under which it was allowed.
        errand: Box<AllowedRequest>,
    },
    /// Give [`Input::Look`] at this time of the steady clock, in place of every earlier wish; never
    /// where unset.
    Wake {
        /// The time, in milliseconds of the steady clock.
        at: Option<Millis>,
    },
    /// It is over: this host does nothing more, and whoever still waits is refused.
    Close {
        /// Why the stream is no longer live here.
        why: EndReason,
    },
}

/// Why a stream is no longer live here.
#[derive(Clone, Debug, PartialEq)]
pub enum EndReason {
    /// Another writer has taken it over.
    Fenced,
    /// The log can no longer be trusted; the process has to stop.
    Fatal(String),
    /// It has not begun: its first command was refused.
    NeverBegan,
    /// Its conversation was deleted.
    Deleted,
    /// It cannot be read.
    Unreadable(HallError),
}

impl EndReason {
    /// What is said to those who still wait.
    pub fn error(&self, stream: &StreamId) -> HallError {
        match self {
            EndReason::Fenced => HallError::Overloaded,
            EndReason::Fatal(reason) => HallError::Failed(format!("the log failed: {reason}")),
            EndReason::NeverBegan => HallError::NotFound(stream.clone()),
            EndReason::Deleted => HallError::Deleted(stream.clone()),
            EndReason::Unreadable(error) => error.clone(),
        }
    }
}
