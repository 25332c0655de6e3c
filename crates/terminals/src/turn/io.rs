//! All inputs and outputs of a session's machine.

use std::ops::Range;

use moothall_engine::agent::{Job, PermissionAnswer, Report, TurnKey};
use moothall_engine::ports::{DeliveryState, Durability, LogError};
use moothall_engine::sessions::{
    Dialog, Hook, HostFault, Key, PasteReport, Permit, Record, RecordQuery, ReportOutcome, Reports,
    SessionError, View,
};
use moothall_engine::stream::Now;
use moothall_kernel::event::Fault;
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::permission::{Question, WithdrawalReason};
use moothall_kernel::time::Millis;

use crate::config::Checkpoints;

/// Context of one input: clocks and configuration.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The current time, on both clocks.
    pub now: Now,
    /// The kinds of reports that the program sends.
    pub reports: Reports,
    /// Prompts that are reminders from the program's own surroundings.
    pub checkpoints: &'a Checkpoints,
    /// The time that a person has to answer a question, if the operator set one.
    pub question_limit: Option<Millis>,
}

impl Around<'_> {
    /// Returns the steady time after `wait`.
    pub(super) fn after(&self, wait: Millis) -> Millis {
        Millis(self.now.steady.0.saturating_add(wait.0))
    }
}

/// The id of a caller who waits for a [`Reply`], chosen by the task of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// A delivery that the previous process left unfinished.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedDelivery {
    /// The turn that the prompt belongs to.
    pub key: TurnKey,
    /// The number of its row in the outbox.
    pub delivery: u64,
    /// The last recorded state.
    pub state: DeliveryState,
    /// True if the turn is still open in its conversation.
    pub is_open: bool,
    /// The unanswered permissions of the turn.
    pub asked: Vec<PermissionId>,
}

/// The content of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneContent {
    /// The parsed screen.
    pub view: View,
    /// The newest lines including the history above the screen, if they were requested and could be
    /// read.
    pub tail: Option<String>,
}

/// An input of the machine. The last seven answer its own questions.
#[derive(Clone, Debug)]
pub enum Input {
    /// A turn was offered. While it waits, it may be offered again with newer words.
    Offered(Box<Job>),
    /// The start of a turn is committed, and its prompt is this delivery.
    Begun {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// The row of its prompt in the outbox, if there is one.
        delivery: Option<u64>,
    },
    /// A turn was taken away.
    TakenAway {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// True if a person asked to interrupt the program. False if the time limit passed, which
        /// presses no key.
        interrupt: bool,
        /// The row in the outbox, if the turn's start was committed.
        delivery: Option<u64>,
    },
    /// The program reports. [`Reply::Heard`] follows when all its consequences are committed.
    Hook {
        /// The request of the caller who delivers the report.
        id: RequestId,
        /// The report as it was delivered.
        hook: Hook,
    },
    /// The program asks for permission for the reported action and waits for [`Reply::Permit`].
    Asked {
        /// The request of the hook that waits.
        id: RequestId,
        /// The report as it was delivered.
        hook: Hook,
    },
    /// A hook stopped waiting.
    GaveUp(RequestId),
    /// All reports from the server's downtime have been delivered.
    CaughtUp,
    /// The terminal drew something.
    Drawn,
    /// A caller is about to answer a question. [`Reply::Looked`] follows when outdated questions
    /// are withdrawn.
    Look(RequestId),
    /// A person answered a permission, or its time passed.
    Permitted {
        /// The permission that it is about.
        permission: PermissionId,
        /// The person's answer; unset if none came in time.
        given: Option<PermissionAnswer>,
    },
    /// A request to interrupt the program. [`Reply::Interrupted`] names the running turn, which the
    /// caller must still cancel.
    Interrupt(RequestId),
    /// A person took over the terminal, or released it. Nothing is typed meanwhile.
    Taken(bool),
    /// The session ended, for this reason.
    Ended(String),
    /// The time of an [`Output::Wake`] has come.
    Tick,
    /// The answer to [`Output::See`]; unset if the terminal could not be read.
    Seen(Option<Box<PaneContent>>),
    /// The answer to a synced [`Output::Mark`]: true if the row was in one of the states.
    Marked(Result<bool, LogError>),
    /// The answer to [`Output::Paste`].
    Pasted(Result<PasteReport, HostFault>),
    /// The answer to [`Output::Press`] and [`Output::Choose`].
    Pressed(Result<(), HostFault>),
    /// The answer to [`Output::Keep`].
    Kept(Result<(), SessionError>),
    /// The answer to [`Output::Recall`].
    Recalled(Option<PermissionAnswer>),
    /// The answer to [`Output::LookUp`].
    LookedUp(Option<Record>),
}

/// An output of the machine. The outputs of one call are carried out in order; at most the last one
/// asks for an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Look at the terminal. Asks for [`Input::Seen`].
    See {
        /// Number of lines to read, history included; unset for the screen alone.
        lines: Option<usize>,
    },
    /// Move the row of a delivery. A synced move asks for [`Input::Marked`].
    Mark {
        /// The number of its row in the outbox.
        delivery: u64,
        /// The states to move from.
        from: Vec<DeliveryState>,
        /// The state to move to.
        to: DeliveryState,
        /// The reason, for people.
        evidence: String,
        /// The required durability.
        lasting: Durability,
    },
    /// Put text into the composer. Asks for [`Input::Pasted`].
    Paste {
        /// The text of the composer.
        text: String,
        /// The bytes of the text that are the words of one member each, in their order.
        bodies: Vec<Range<usize>>,
    },
    /// Press a key. Asks for [`Input::Pressed`].
    Press {
        /// The key to be pressed.
        key: Key,
    },
    /// Choose options of exactly this dialog. Asks for [`Input::Pressed`].
    Choose {
        /// The dialog as it was read from the screen.
        dialog: Dialog,
        /// The positions of the options, from 0.
        chosen: Vec<usize>,
        /// Words for the dialog's field, if it has one.
        text: Option<String>,
    },
    /// Commit these steps in order. A repeated step is applied only one time per key. Asks for
    /// [`Input::Kept`].
    Keep {
        /// The idempotency key and the step.
        steps: Vec<(String, KeptItem)>,
    },
    /// Look up the answer to a permission. Asks for [`Input::Recalled`].
    Recall {
        /// The turn in which it was asked.
        key: TurnKey,
        /// The permission that was asked for.
        permission: PermissionId,
    },
    /// Look a prompt up in the program's own record. Asks for [`Input::LookedUp`].
    LookUp {
        /// The prompt.
        query: RecordQuery,
    },
    /// Report to the conversation of a turn.
    Report {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// The progress or the result of the turn.
        report: Report,
    },
    /// Ask people in a conversation, outside turns.
    AskInNoTurn {
        /// The conversation in which they are asked.
        stream: StreamId,
        /// The id of the new permission.
        permission: PermissionId,
        /// The question.
        question: Box<Question>,
    },
    /// Withdraw a question asked outside turns.
    WithdrawInNoTurn {
        /// The conversation in which the question was asked.
        stream: StreamId,
        /// The permission that is withdrawn.
        permission: PermissionId,
        /// The reason for the withdrawal.
        because: WithdrawalReason,
    },
    /// Post a notice at the session's home.
    Tell {
        /// The words of the notice.
        text: String,
    },
    /// Answer a waiting caller.
    Reply {
        /// The request that is answered.
        id: RequestId,
        /// The answer to that request.
        reply: Reply,
    },
    /// The terminal shows no program.
    Missing {
        /// True if the terminal itself is gone.
        died: bool,
    },
    /// The terminal shows its program.
    There,
    /// Send [`Input::Tick`] at this time of the steady clock. Replaces every earlier wake-up; unset
    /// cancels it.
    Wake {
        /// The time, in milliseconds of the steady clock.
        at: Option<Millis>,
    },
}

/// A write that follows from a report.
#[derive(Clone, Debug, PartialEq)]
pub enum KeptItem {
    /// The program's own id for its conversation.
    Native(String),
    /// The result of a turn, also of one that was taken away.
    Result {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// The text, or what went wrong.
        result: Result<String, Fault>,
    },
    /// The late answer of a turn that ran out of time.
    Late {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// The program's text.
        text: String,
    },
    /// Words outside any turn, for the home and every link of the session.
    Cross {
        /// The words.
        text: String,
        /// A conversation that has the words already.
        except: Option<StreamId>,
        /// True if a person typed the words; false if the program said them.
        typed: bool,
    },
    /// Words of the program for the session's home alone.
    Home(String),
    /// Notifies the callers who wait for the end of the program's turn.
    Listeners,
}

/// The answer to a waiting caller.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The outcome of a report. After an error, the report must be delivered again.
    Heard(Result<ReportOutcome, SessionError>),
    /// A person's decision.
    Permit(Permit),
    /// The screen was looked at.
    Looked,
    /// The turn to cancel, if the program works on one.
    Interrupted(Result<Option<TurnKey>, SessionError>),
}
