//! The port to agents: the runtimes that take turns.

use async_trait::async_trait;
use moothall_kernel::compose::{Prompt, TRANSCRIPT_BYTES};
use moothall_kernel::ending::Ending;
use moothall_kernel::event::{Fault, RecordedEvent, TurnKind, TurnReason, Usage};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq};
use moothall_kernel::participant::{Abilities, Address, OnLost, Profile, Runtime};
use moothall_kernel::permission::{Question, WithdrawalReason};
use moothall_kernel::time::Millis;

use crate::runtime::places::ProgramSlots;
pub use crate::runtime::turn::TurnKey;

/// A turn as its runtime gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The conversation, the turn and the attempt.
    pub key: TurnKey,
    /// The participant whose turn it is.
    pub participant: ParticipantId,
    /// The participant's name, as others see it.
    pub name: String,
    /// The profile from its invite.
    pub profile: Profile,
    /// The address of the participant, if it is not a client of the registry.
    pub address: Option<Address>,
    /// The folder of the conversation, if it has one. Known programs work there unless they have
    /// a folder or a user of their own.
    pub folder: Option<String>,
    /// The reason why the turn was granted.
    pub why: TurnReason,
    /// The kind of turn: a reply, or only listening.
    pub kind: TurnKind,
    /// True if the agent may answer `[PASS]`.
    pub may_pass: bool,
    /// The prompt for the agent.
    pub prompt: Prompt,
    /// The event that caused the turn.
    pub trigger: RecordedEvent,
    /// The newest messages, oldest first, as a transcript for programs without a memory.
    pub window: Vec<RecordedEvent>,
    /// The newest event that the prompt covers.
    pub through: Seq,
    /// Time limit, counted from the start.
    pub limit: Millis,
}

/// A person's answer to a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionAnswer {
    /// The id of the chosen option.
    pub option: String,
    /// The person's own words, if that option takes them.
    pub text: Option<String>,
}

/// The state of a turn in its runtime.
#[derive(Clone, Debug, PartialEq)]
pub enum Probe {
    /// The runtime does not know the turn.
    Unknown,
    /// The turn has not begun yet, and will.
    Waiting,
    /// The turn is running.
    Running,
    /// The turn has ended with this answer.
    Done(String),
    /// The turn had begun, and its end cannot be learned any more.
    Lost,
}

/// A report of a runtime about a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// The runtime has accepted the turn.
    Started {
        /// The newest event that its prompt covers: [`Job::through`] of the job that it took.
        through: Seq,
    },
    /// A piece of the answer, in order.
    Delta(String),
    /// A short text about the present activity, for people.
    Progress(String),
    /// The usage so far, in case the turn is stopped.
    Used(Usage),
    /// A piece of the model's thoughts, in order. Thoughts are not part of the answer.
    Thought(String),
    /// All output of a program so far. It is stored in the trace if the turn ends without an
    /// answer.
    Printed(String),
    /// The last lines that a program has printed so far, on any of its outputs. They explain to
    /// people why a turn ran out of time.
    LastLines(String),
    /// The model gave only thoughts, and they will be the text of [`Report::Finished`].
    OnlyThought,
    /// The way in which the model ended the answer. Comes before [`Report::Finished`].
    Ended(Ending),
    /// A summary of messages that no longer fit into the agent's memory, for later turns.
    Summarised {
        /// The last event that the summary covers.
        through: Seq,
        /// The text of the summary.
        text: String,
        /// Time, tokens and money that the summary used.
        usage: Usage,
    },
    /// The turn waits for a person's permission.
    Permission {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The exact action, and the answers that a person can choose from.
        question: Box<Question>,
        /// Time limit for an answer.
        within: Millis,
    },
    /// A request for permission that is not open any more, or was replaced by another.
    Withdrawn {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The reason for the withdrawal.
        because: WithdrawalReason,
    },
    /// The end of the turn, successful or not.
    Finished {
        /// The text, or the fault.
        result: Result<String, Fault>,
        /// Time, tokens and money that the turn used.
        usage: Usage,
    },
}

impl Report {
    /// True if the report needs no decision, and only shows the progress of a running turn.
    pub fn is_by_the_way(&self) -> bool {
        match self {
            Report::Delta(_)
            | Report::Progress(_)
            | Report::Used(_)
            | Report::Thought(_)
            | Report::Printed(_)
            | Report::LastLines(_)
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

/// The maximum cost of a call, as known before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallCost {
    /// The call is free.
    Nothing,
    /// The call costs at most this amount.
    AtMost {
        /// Millionths of the currency.
        micros: u64,
    },
    /// The price of the call is unknown, or its length is not limited.
    Unknown,
}

/// Sends a runtime's reports to the conversation. Sending never blocks and keeps the order.
#[async_trait]
pub trait Reporter: Send + Sync + 'static {
    /// Reports about the turn for which this reporter was made.
    fn report(&self, report: Report);

    /// Reserves the maximum cost of the turn before it begins, or the rest of the budget if that is
    /// less. Waits while the end of another call may leave enough. Returns the reserved amount in
    /// millionths of the currency; `None` if no budget applies, or if the cost is unknown.
    ///
    /// # Errors
    /// `over_budget` if the budget is spent.
    async fn reserve(&self, _cost: CallCost) -> Result<Option<u64>, Fault> {
        Ok(None)
    }

    /// Returns the amount that [`Reporter::reserve`] reserved; `None` before that, and if it
    /// reserved none.
    fn allowance(&self) -> Option<u64> {
        None
    }
}

/// Default number of messages in a job.
pub const WINDOW_LEN: usize = 25;

/// An agent, which takes turns. Each entry of the registry has one.
///
/// `ensure` is called again whenever it is not certain that a turn runs. If it is called twice with
/// the same key, the agent must do the work only one time.
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// Returns the kind of runtime, as a word for people.
    fn runtime(&self) -> Runtime;
    /// Returns the abilities of its participants. By default they take turns, answer by the reply
    /// that the runtime reports, and have no memory.
    fn abilities(&self) -> Abilities {
        Abilities::PLAIN
    }
    /// Returns the handling of a running turn that a restart lost.
    fn on_lost(&self) -> OnLost {
        OnLost::Rerun
    }
    /// True if a waiting turn gets a new job when another cause is added to it. The agent then
    /// takes the newest job of a key.
    fn waits(&self) -> bool {
        false
    }
    /// Returns the bytes of transcript for which the agent's prompts have room, if it has no memory
    /// of its own.
    fn room(&self) -> usize {
        TRANSCRIPT_BYTES
    }
    /// Returns the number of newest messages in its jobs.
    fn window(&self) -> usize {
        WINDOW_LEN
    }
    /// Returns its own time limit for a turn.
    fn timeout(&self) -> Option<Millis> {
        None
    }
    /// Shares the slots for programs with all other agents. Only for agents that start a program
    /// for each turn.
    fn share(&self, _places: &std::sync::Arc<ProgramSlots>) {}
    /// Makes sure that the turn runs. Reports `Started` first and `Finished` last, before or after
    /// this method returns.
    fn ensure(&self, job: Job, reporter: std::sync::Arc<dyn Reporter>);
    /// Tells the agent that the start is in the log, so effects that must not happen twice may
    /// happen now. If the prompt is a delivery, `delivery` is its id, which only the process that
    /// inserted it knows.
    fn confirm_start(&self, _key: &TurnKey, _delivery: Option<u64>) {}
    /// Returns the state of a turn.
    async fn probe(&self, key: &TurnKey) -> Probe;
    /// Cancels a turn. The runtime need not report its end.
    fn cancel(&self, key: &TurnKey);
    /// Ends a running turn whose time limit has passed, with all work that is only for this turn.
    fn lapsed(&self, key: &TurnKey) {
        self.cancel(key);
    }
    /// Takes a person's answer to a permission; `None` if none came in time.
    fn permit(
        &self,
        _key: &TurnKey,
        _permission: &PermissionId,
        _given: Option<&PermissionAnswer>,
    ) {
    }
}
