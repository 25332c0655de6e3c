//! All that the machine of a session is told, and all that it wants.

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

/// What is so outside, at the moment of an input.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The moment, on both clocks.
    pub now: Now,
    /// What the program reports by itself.
    pub reports: Reports,
    /// Prompts that are reminders of the program's own surroundings.
    pub checkpoints: &'a Checkpoints,
    /// The time that a person has to answer a question, if the operator set one.
    pub question_limit: Option<Millis>,
}

impl Around<'_> {
    /// The time after so long.
    pub(super) fn after(&self, wait: Millis) -> Millis {
        Millis(self.now.steady.0.saturating_add(wait.0))
    }
}

/// Names whoever waits for a [`Reply`]; the task of the session chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// A delivery that an earlier process did not see the end of.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedDelivery {
    /// The turn whose prompt it is.
    pub key: TurnKey,
    /// The number of its row in the outbox.
    pub delivery: u64,
    /// How far it had come.
    pub state: DeliveryState,
    /// Whether the turn goes on, as its conversation says.
    pub is_open: bool,
    /// What was asked in it and is not answered.
    pub asked: Vec<PermissionId>,
}

/// What a terminal shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The screen, as it is read.
    pub view: View,
    /// The newest lines with the history above the screen, where they were asked for and could be
    /// read.
    pub tail: Option<String>,
}

/// Everything that the machine is told. The last seven answer a question of its own.
#[derive(Clone, Debug)]
pub enum Input {
    /// A turn is to be taken when its time comes; again with newer words, while it waits.
    Offered(Box<Job>),
    /// The start of a turn is kept, and its prompt is this delivery.
    Begun {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// The row in the outbox that its prompt is, where there is one.
        delivery: Option<u64>,
    },
    /// A turn is taken away.
    TakenAway {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// A person wants what the program does to end. Otherwise its time is over, which presses
        /// no key.
        interrupt: bool,
        /// The row, where its start was kept.
        delivery: Option<u64>,
    },
    /// The program reports. [`Reply::Heard`] comes when everything that follows from it is kept.
    Hook {
        /// The request of whoever brings the report.
        id: RequestId,
        /// The report as it was brought.
        hook: Hook,
    },
    /// The program wants to do what its report says, and waits for [`Reply::Permit`].
    Asked {
        /// The request of the hook that waits.
        id: RequestId,
        /// The report as it was brought.
        hook: Hook,
    },
    /// A hook waits no longer.
    GaveUp(RequestId),
    /// What the program reported while no server ran has been brought.
    CaughtUp,
    /// The terminal drew something.
    Drawn,
    /// Somebody wants to answer a question: [`Reply::Looked`] comes when what is not asked any more
    /// is withdrawn.
    Look(RequestId),
    /// A person answered a permission, or nobody did in time.
    Permitted {
        /// The permission that it is about.
        permission: PermissionId,
        /// What a person answered; nothing where nobody did in time.
        given: Option<PermissionAnswer>,
    },
    /// What goes on is to be interrupted: [`Reply::Interrupted`] says whose turn that is, which is
    /// still to be cancelled.
    Interrupt(RequestId),
    /// The session is over, for this reason.
    Ended(String),
    /// The time of an [`Output::Wake`] has come.
    Tick,
    /// The answer to [`Output::See`]; nothing where the terminal cannot be looked at now.
    Seen(Option<Box<Seen>>),
    /// The answer to [`Output::Mark`] that is synced: whether the row was in one of the states.
    Marked(Result<bool, LogError>),
    /// The answer to [`Output::Paste`].
    Pasted(Result<PasteReport, HostFault>),
    /// The answer to [`Output::Press`] and [`Output::Choose`].
    Pressed(Result<(), HostFault>),
    /// The answer to [`Output::Keep`].
    Kept(Result<(), SessionError>),
    /// The answer to [`Output::Recall`].
    Recalled(Option<String>),
    /// The answer to [`Output::LookUp`].
    LookedUp(Option<Record>),
}

/// Everything that the machine wants. What comes of one call is carried out in its order; at most
/// the last of it asks for an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Look at the terminal. Asks for [`Input::Seen`].
    See {
        /// So many lines of its history too.
        lines: Option<usize>,
    },
    /// Move the row of a delivery. Where it is to be synced, it asks for [`Input::Marked`].
    Mark {
        /// The number of its row in the outbox.
        delivery: u64,
        /// From whichever of these.
        from: Vec<DeliveryState>,
        /// The state that it moves to.
        to: DeliveryState,
        /// What is known about it, for people.
        evidence: String,
        /// How long it has to last.
        lasting: Durability,
    },
    /// Put this into the composer. Asks for [`Input::Pasted`].
    Paste {
        /// The words, as they are to stand there.
        text: String,
        /// The bytes of the text that are the words of one member each, in their order.
        bodies: Vec<Range<usize>>,
    },
    /// Press a key. Asks for [`Input::Pressed`].
    Press {
        /// The key to be pressed.
        key: Key,
    },
    /// Choose options of this very dialog. Asks for [`Input::Pressed`].
    Choose {
        /// The dialog as it was read from the screen.
        dialog: Dialog,
        /// The positions of the options, from 0.
        chosen: Vec<usize>,
        /// Words for its field, where it takes them.
        text: Option<String>,
    },
    /// Keep all of this in its order, each once for its key however often it is brought. Asks for
    /// [`Input::Kept`].
    Keep {
        /// The key, and what.
        steps: Vec<(String, KeptItem)>,
    },
    /// Look up what was answered to a permission. Asks for [`Input::Recalled`].
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
    /// The conversation of a turn hears of it.
    Report {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// What came of it so far, or in the end.
        report: Report,
    },
    /// People are asked something in a conversation, in no turn.
    AskInNoTurn {
        /// The conversation in which they are asked.
        stream: StreamId,
        /// The id that the permission gets.
        permission: PermissionId,
        /// What they are asked.
        question: Box<Question>,
    },
    /// That is not asked any more.
    WithdrawInNoTurn {
        /// The conversation in which they were asked.
        stream: StreamId,
        /// The permission that is withdrawn.
        permission: PermissionId,
        /// Why nobody is asked any more.
        because: WithdrawalReason,
    },
    /// People are told at the session's home.
    Tell {
        /// What they are told, in words.
        text: String,
    },
    /// Somebody gets what they wait for.
    Reply {
        /// The request that is answered.
        id: RequestId,
        /// The answer to that request.
        reply: Reply,
    },
    /// The terminal shows no program; `died` where it is gone itself.
    Missing {
        /// The terminal is gone.
        died: bool,
    },
    /// The terminal shows its program.
    There,
    /// Give [`Input::Tick`] at this time of the steady clock, in place of every earlier wish; never
    /// where unset.
    Wake {
        /// The time, in milliseconds of the steady clock.
        at: Option<Millis>,
    },
}

/// Something that is kept because of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum KeptItem {
    /// The program's own id for its conversation.
    Native(String),
    /// What came of a turn, also of one that was taken away.
    Result {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// The text, or what went wrong.
        result: Result<String, Fault>,
    },
    /// Words of a turn whose time was over, which nobody asks for any more.
    Late {
        /// The turn, and which attempt at it.
        key: TurnKey,
        /// What the program said, as text.
        text: String,
    },
    /// Words that belong to nobody's turn, for the home and every link of the session.
    Cross {
        /// What was typed or said, as text.
        text: String,
        /// They are there already.
        except: Option<StreamId>,
        /// A person typed them. Otherwise the program said them.
        typed: bool,
    },
    /// Words of the program that are for its home alone.
    Home(String),
    /// Whoever waits for the end of the program's turn is told.
    Listeners,
}

/// What somebody waited for.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// What came of a report; where it could not be kept, it is to be brought again.
    Heard(Result<ReportOutcome, SessionError>),
    /// What a person decided.
    Permit(Permit),
    /// It was looked at.
    Looked,
    /// Whose turn is to be cancelled, if it is one's.
    Interrupted(Result<Option<TurnKey>, SessionError>),
}
