//! What a session's program asks, and what is known of it: the data of `questions.rs`.

use moothall_engine::agent::TurnKey;
use moothall_engine::sessions::{Dialog, Permit};
use moothall_kernel::event::Fault;
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::permission::{Question, WithdrawalReason};
use moothall_kernel::time::Millis;

use super::io::{Around, Output, Reply, RequestId};

/// A dialog whose report does not come, or that goes on standing after its answer, is taken for
/// what it shows after so long; and a screen that cannot be read, for one without a dialog.
const PATIENCE: Millis = Millis::from_secs(3);

/// All that a session's program asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Questions {
    pub(super) asks: Vec<Ask>,
    /// What the program has reported that it asks, for programs whose reports do not wait for an
    /// answer.
    pub(super) reported: Option<ReportedQuestion>,
    /// The dialog that was answered last, for as long as it goes on standing there.
    pub(super) answered: Option<AnsweredDialog>,
    /// What was asked before a restart, and was not found again yet.
    pub(super) earlier: Vec<(QuestionPlace, PermissionId)>,
    /// When patience with what the screen shows ends, on the steady clock.
    pub(super) due: Option<Millis>,
    /// The fault of a turn in which something was refused, or given up, if it stops there.
    pub(super) refused: Option<Fault>,
    /// True if people were told in this turn that a question was refused because others are open.
    pub(super) told_of_refused: bool,
    /// How many were asked, so that no two are called the same.
    pub(super) count: u64,
}

/// Where people are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum QuestionPlace {
    /// In the conversation of a turn, which stands still meanwhile.
    Turn(TurnKey),
    /// In this conversation, in no turn.
    NoTurn(StreamId),
}

impl QuestionPlace {
    pub(super) fn is_in_no_turn(&self) -> bool {
        matches!(self, QuestionPlace::NoTurn(_))
    }
}

/// A question that waits for a person.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) permission: PermissionId,
    pub(super) asked_in: QuestionPlace,
    pub(super) question: Question,
    pub(super) to: AnswerRoute,
    /// The dialog that shows it, once it was seen.
    pub(super) dialog: Option<Dialog>,
}

/// Where the answer to a question goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum AnswerRoute {
    /// To the program's own hook, which waits for it.
    Hook(RequestId),
    /// To the dialog on the screen.
    Dialog,
}

/// What a program says that it asks, beside its dialog.
#[derive(Clone, Debug)]
pub(super) struct ReportedQuestion {
    pub(super) action: String,
    pub(super) partial: bool,
}

/// A dialog that needs no question any more.
#[derive(Clone, Debug)]
pub(super) struct AnsweredDialog {
    pub(super) dialog: Dialog,
    /// Its time was over, and no key says no: it stays as it is.
    pub(super) for_good: bool,
}

/// An answer whose key is being pressed.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) permission: PermissionId,
    pub(super) asked_in: QuestionPlace,
    pub(super) dialog: Dialog,
    /// A person chose it; otherwise its time was over.
    pub(super) by_person: bool,
    /// Words of their own go along.
    pub(super) in_words: bool,
}

/// A hook's question, of which it is looked up whether it was answered before.
#[derive(Clone, Debug)]
pub(super) struct HookQuestion {
    pub(super) id: RequestId,
    pub(super) key: TurnKey,
    pub(super) permission: PermissionId,
    pub(super) asks: ReportedQuestion,
}

impl Questions {
    /// Whether a person is waited for.
    pub(super) fn is_any(&self) -> bool {
        !self.asks.is_empty()
    }

    /// What stood open before a restart.
    pub(super) fn remember(
        &mut self,
        earlier: impl Iterator<Item = (QuestionPlace, PermissionId)>,
    ) {
        self.earlier.extend(earlier);
    }

    /// The program says what it asks, and does not wait: its dialog can be answered.
    pub(super) fn reported(&mut self, asks: ReportedQuestion) {
        self.reported = Some(asks);
    }

    /// Nothing is asked any more, and nothing of the turn matters. With a turn its questions are
    /// over; others are withdrawn.
    pub(super) fn clear(&mut self, out: &mut Vec<Output>) {
        for ask in &self.asks {
            undecided(ask, out);
        }
        let asked = self.asks.drain(..).map(|ask| (ask.asked_in, ask.permission));
        for (asked_in, permission) in asked.chain(self.earlier.drain(..)) {
            if let QuestionPlace::NoTurn(stream) = asked_in {
                out.push(Output::WithdrawInNoTurn {
                    stream,
                    permission,
                    because: WithdrawalReason::Gone,
                });
            }
        }
        // The turn is over, not the dialog that was answered in it.
        *self = Self { answered: self.answered.take(), count: self.count, ..Self::default() };
    }

    /// What was reported belongs to a dialog that is gone.
    pub(super) fn forget_report(&mut self) {
        self.reported = None;
    }

    /// Why a turn stopped in which something was refused.
    pub(super) fn refusal(&self) -> Option<Fault> {
        Some(Fault { prompt_delivered: true, ..self.refused.clone()? })
    }

    pub(super) fn wait(&mut self, around: &Around<'_>) {
        self.wait_for(around, PATIENCE);
    }

    pub(super) fn wait_for(&mut self, around: &Around<'_>, patience: Millis) {
        self.due.get_or_insert(around.after(patience));
    }

    /// Takes out what a dialog that stands there now does not show; all that was ever seen, where
    /// none stands there.
    pub(super) fn gone(&mut self, standing: Option<&Dialog>) -> Vec<Ask> {
        let is_gone = |ask: &mut Ask| {
            ask.dialog
                .as_ref()
                .is_some_and(|dialog| standing.is_none_or(|standing| !dialog.is_same(standing)))
        };
        self.asks.extract_if(.., is_gone).collect()
    }
}

/// Whoever waits for the answer to a question hears that there is none.
pub(super) fn undecided(ask: &Ask, out: &mut Vec<Output>) {
    if let AnswerRoute::Hook(id) = ask.to {
        out.push(Output::Reply { id, reply: Reply::Permit(Permit::Undecided) });
    }
}
