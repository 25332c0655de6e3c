//! The port to whatever takes turns.

use async_trait::async_trait;
use moothall_kernel::compose::{Prompt, TRANSCRIPT_BYTES};
use moothall_kernel::ending::Ending;
use moothall_kernel::event::{Fault, RecordedEvent, TurnKind, Usage, TurnReason};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq};
use moothall_kernel::participant::{Abilities, Address, OnLost, Profile, Runtime};
use moothall_kernel::permission::{Question, WithdrawalReason};
use moothall_kernel::time::Millis;

use crate::runtime::places::ProgramSlots;
pub use crate::runtime::turn::TurnKey;

/// All that a runtime is told about a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The conversation, the turn and the attempt.
    pub key: TurnKey,
    /// The participant whose turn it is.
    pub participant: ParticipantId,
    /// Its name, as the others read it.
    pub name: String,
    /// What its invite said.
    pub profile: Profile,
    /// Where it can be reached, when it is not a client of the registry.
    pub address: Option<Address>,
    /// Why it was granted.
    pub why: TurnReason,
    /// Whether it is to say something or only to listen.
    pub kind: TurnKind,
    /// Whether `[PASS]` is offered.
    pub may_pass: bool,
    /// What it is told.
    pub prompt: Prompt,
    /// The event that gave rise to it.
    pub trigger: RecordedEvent,
    /// The newest messages, oldest first, as a transcript for programs without a memory.
    pub window: Vec<RecordedEvent>,
    /// The newest event the prompt covers.
    pub through: Seq,
    /// Time limit, counted from the start.
    pub limit: Millis,
}

/// What a person answered to a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionAnswer {
    /// The id of its option.
    pub option: String,
    /// Words of their own, where that option takes them.
    pub text: Option<String>,
}

/// What a runtime knows about a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Probe {
    /// Never heard of it.
    Unknown,
    /// It has not begun, and will.
    Waiting,
    /// It works on the turn.
    Running,
    /// It has answered, in these words.
    Done(String),
    /// It was begun and can no longer be followed.
    Lost,
}

/// What a runtime reports about a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// It accepted the turn.
    Started {
        /// The newest event that its prompt covers: [`Job::through`] of the job it took.
        through: Seq,
    },
    /// A piece of the answer, in order.
    Delta(String),
    /// A word about what it is doing, for people.
    Progress(String),
    /// What it has used so far, for the case that it is stopped.
    Used(Usage),
    /// A piece of what its model thought and did not say, in order.
    Thought(String),
    /// All that a program has printed so far. It is kept if the turn ends without an answer.
    Printed(String),
    /// Its model said nothing: the text that it will finish with consists of thoughts.
    OnlyThought,
    /// The way in which its model ended the answer. Comes before [`Report::Finished`].
    Ended(Ending),
    /// It summed up what no longer fits into its memory, for the turns to come.
    Summarised {
        /// What took effect up to and with this.
        through: Seq,
        /// The words of the summary.
        text: String,
        /// Time, tokens and money that the summary used.
        usage: Usage,
    },
    /// It waits for a person's permission.
    Permission {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The exact action, and the answers that a person can choose from.
        question: Box<Question>,
        /// How long a person has.
        within: Millis,
    },
    /// What was asked is not asked any more, or something else is.
    Withdrawn {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// Why nobody is asked any more.
        because: WithdrawalReason,
    },
    /// The turn is over, one way or the other.
    Finished {
        /// The text, or what went wrong.
        result: Result<String, Fault>,
        /// Time, tokens and money that the turn used.
        usage: Usage,
    },
}

impl Report {
    /// True if it asks for no decision, and only tells what a running turn has brought by now.
    pub fn is_by_the_way(&self) -> bool {
        match self {
            Report::Delta(_)
            | Report::Progress(_)
            | Report::Used(_)
            | Report::Thought(_)
            | Report::Printed(_)
            | Report::OnlyThought
            | Report::Ended(_) => true,
            Report::Started { .. }
            | Report::Summarised { .. }
            | Report::Permission { .. }
            | Report::Withdrawn { .. }
            | Report::Finished { .. } => false,
        }
    }
}

/// The most that a call may cost, as far as it is known before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallCost {
    /// It costs nothing.
    Nothing,
    /// It costs no more than this.
    AtMost {
        /// Millionths of the currency.
        micros: u64,
    },
    /// Its price is not known, or nothing limits its length.
    Unknown,
}

/// Takes a runtime's reports to the conversation. Cheap to clone; never blocks; ordered.
#[async_trait]
pub trait Reporter: Send + Sync + 'static {
    /// Reports about the turn this reporter was made for.
    fn report(&self, report: Report);

    /// Reserves what the turn may cost, before it begins, and waits if money may come back. Returns
    /// the most that it may cost, in millionths of the currency, if a budget limits it.
    ///
    /// # Errors
    /// `over_budget` if nothing is left.
    async fn reserve(&self, _cost: CallCost) -> Result<Option<u64>, Fault> {
        Ok(None)
    }

    /// Returns what [`Reporter::reserve`] has returned.
    fn allowance(&self) -> Option<u64> {
        None
    }
}

/// Messages that a job carries, where its agent says nothing else.
pub const WINDOW_LEN: usize = 25;

/// Something that can take turns. One for each entry of the registry.
///
/// `ensure` is asked again after every doubt: asking twice for the same key must do the work once.
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// How it runs, as a word for people.
    fn runtime(&self) -> Runtime;
    /// What its participants can. Where nothing is said, they are asked, answer at once and
    /// remember nothing.
    fn abilities(&self) -> Abilities {
        Abilities::PLAIN
    }
    /// What to do when a restart lost a running turn.
    fn on_lost(&self) -> OnLost {
        OnLost::Rerun
    }
    /// Whether a turn that waits for it is briefed again when it gets another cause. It then takes
    /// the newest job for a key.
    fn waits(&self) -> bool {
        false
    }
    /// Bytes of what was said that its prompts have room for, where it has no memory of its own.
    fn room(&self) -> usize {
        TRANSCRIPT_BYTES
    }
    /// How many of the newest messages a job of it carries.
    fn window(&self) -> usize {
        WINDOW_LEN
    }
    /// Its own time limit for a turn.
    fn timeout(&self) -> Option<Millis> {
        None
    }
    /// How many programs may run at once, together with those of all others. Only for agents that
    /// start one for each turn.
    fn share(&self, _places: &std::sync::Arc<ProgramSlots>) {}
    /// Makes sure that the turn runs. Reports `Started` first and `Finished` last, at once or
    /// later.
    fn ensure(&self, job: Job, reporter: std::sync::Arc<dyn Reporter>);
    /// The start is in the log: what must not happen twice may happen now. Its prompt may be a
    /// delivery, which is known by its id to the process that inserted it.
    fn begun(&self, _key: &TurnKey, _delivery: Option<u64>) {}
    /// What it knows about a turn.
    async fn probe(&self, key: &TurnKey) -> Probe;
    /// Ends a turn. Nothing more need be reported about it.
    fn cancel(&self, key: &TurnKey);
    /// The time of a turn that runs is over. What works for this turn alone is ended.
    fn lapsed(&self, key: &TurnKey) {
        self.cancel(key);
    }
    /// Hands over a person's answer to a permission, or nothing when nobody answered in time.
    fn permit(&self, _key: &TurnKey, _permission: &PermissionId, _given: Option<&PermissionAnswer>) {}
}
