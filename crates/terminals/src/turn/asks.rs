//! A program's questions and their state, as data for `questions.rs`.

use moothall_engine::agent::TurnKey;
use moothall_engine::sessions::{Dialog, Permit, ReportedQuestion};
use moothall_kernel::event::Fault;
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::permission::{Question, WithdrawalReason};
use moothall_kernel::time::Millis;

use super::io::{Around, Output, Reply, RequestId};

/// Time to wait for the report of a dialog, or for an answered dialog to close. After this time
/// people are asked about the dialog. A screen that stays unreadable for this time counts as one
/// without a dialog.
const PATIENCE: Millis = Millis::from_secs(3);

/// All questions of a session's program.
#[derive(Clone, Debug, Default)]
pub(super) struct Questions {
    pub(super) asks: Vec<Ask>,
    /// The question that the program reported, for programs whose reports do not wait for an
    /// answer.
    pub(super) reported: Option<ReportedQuestion>,
    /// The dialog that was answered last, while it is still on the screen.
    pub(super) answered: Option<AnsweredDialog>,
    /// Permissions asked before a restart whose dialogs have not been found again.
    pub(super) earlier: Vec<(QuestionPlace, PermissionId)>,
    /// End of the wait for a change of the screen, on the steady clock.
    pub(super) due: Option<Millis>,
    /// The fault of the turn if it stops after a refused or expired question.
    pub(super) refused: Option<Fault>,
    /// True if people were told in this turn that a question was refused because others are open.
    pub(super) refusal_announced: bool,
    /// Number of questions asked, to give each a unique id.
    pub(super) count: u64,
}

/// The place of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum QuestionPlace {
    /// The conversation of a turn, which is paused meanwhile.
    Turn(TurnKey),
    /// This conversation, outside turns.
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
    /// The dialog that shows the question, once it was seen.
    pub(super) dialog: Option<Dialog>,
}

/// The receiver of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum AnswerRoute {
    /// The program's own hook, which waits for the answer.
    Hook(RequestId),
    /// The dialog on the screen.
    Dialog,
}

/// A dialog about which people are not asked again immediately.
#[derive(Clone, Debug)]
pub(super) struct AnsweredDialog {
    pub(super) dialog: Dialog,
    /// True if no key was pressed, because the question expired and the dialog has no single "no",
    /// or because the answer fits no option. People are not asked about this dialog again.
    pub(super) for_good: bool,
}

/// An answer whose key is being pressed.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) permission: PermissionId,
    pub(super) asked_in: QuestionPlace,
    pub(super) dialog: Dialog,
    /// True if a person chose; false if the question expired.
    pub(super) by_person: bool,
    /// True if the answer includes a person's own words.
    pub(super) in_words: bool,
}

/// A hook's question while its earlier answer is looked up.
#[derive(Clone, Debug)]
pub(super) struct HookQuestion {
    pub(super) id: RequestId,
    pub(super) key: TurnKey,
    pub(super) permission: PermissionId,
    pub(super) asks: ReportedQuestion,
}

impl Questions {
    /// True if a question waits for a person.
    pub(super) fn is_any(&self) -> bool {
        !self.asks.is_empty()
    }

    /// Remembers questions that were open before a restart.
    pub(super) fn remember(
        &mut self,
        earlier: impl Iterator<Item = (QuestionPlace, PermissionId)>,
    ) {
        self.earlier.extend(earlier);
    }

    /// Records a question of a program that does not wait for the hook's reply: its dialog takes
    /// the answer.
    pub(super) fn reported(&mut self, asks: ReportedQuestion) {
        self.reported = Some(asks);
    }

    /// Ends all questions. Waiting hooks get no decision. Questions of a turn end with the turn;
    /// questions outside turns are withdrawn.
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
        // The answered dialog may outlast its turn on the screen.
        *self = Self { answered: self.answered.take(), count: self.count, ..Self::default() };
    }

    /// Drops the reported question, because its dialog has closed.
    pub(super) fn forget_report(&mut self) {
        self.reported = None;
    }

    /// Returns the fault of a turn that stopped after a refused question.
    pub(super) fn refusal(&self) -> Option<Fault> {
        Some(Fault { prompt_delivered: true, ..self.refused.clone()? })
    }

    pub(super) fn wait(&mut self, around: &Around<'_>) {
        self.wait_for(around, PATIENCE);
    }

    pub(super) fn wait_for(&mut self, around: &Around<'_>, patience: Millis) {
        // The first deadline stays: a redraw must not extend it.
        self.due.get_or_insert(around.after(patience));
    }

    /// Removes and returns the questions whose dialog was seen and is not `standing`, the dialog on
    /// the screen. Without `standing`, these are all questions whose dialog was seen.
    pub(super) fn take_closed(&mut self, standing: Option<&Dialog>) -> Vec<Ask> {
        let is_gone = |ask: &mut Ask| {
            ask.dialog
                .as_ref()
                .is_some_and(|dialog| standing.is_none_or(|standing| !dialog.is_same(standing)))
        };
        self.asks.extract_if(.., is_gone).collect()
    }
}

/// Tells a waiting hook that its question got no decision.
pub(super) fn undecided(ask: &Ask, out: &mut Vec<Output>) {
    if let AnswerRoute::Hook(id) = ask.to {
        out.push(Output::Reply { id, reply: Reply::Permit(Permit::Undecided) });
    }
}
