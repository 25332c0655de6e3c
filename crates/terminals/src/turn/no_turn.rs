//! What a program asks in no turn, such as whether a folder is trusted: where people are asked, and
//! when.
//!
//! They are asked in each conversation whose words wait for the session, and at its home where none
//! do. The first answer counts; when the dialog is gone, the question is withdrawn everywhere else.

use moothall_engine::sessions::Origin;
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::permission::CARDS_MAX;
use moothall_kernel::time::Millis;

use super::asks::{Ask, QuestionPlace};
use super::io::Around;
use super::machine::Machine;
use super::stage::PromptSource;

/// How long a dialog has to stand there before people are asked: programs draw a while when they
/// begin.
const STANDS_FOR: Millis = Millis::from_secs(3);
/// The same where somebody works at the terminal, who sees it.
const STANDS_FOR_TYPING: Millis = Millis::from_secs(15);

impl Machine {
    pub(super) fn patience_in_no_turn(&self) -> Millis {
        // Of a program that somebody else started nobody knows whether they work at it.
        let is_alone =
            self.typed == PromptSource::Nothing && self.session.origin == Origin::Started;
        if is_alone { STANDS_FOR } else { STANDS_FOR_TYPING }
    }

    /// The conversations whose words wait for the session, or its home. A dialog that stands is
    /// shown in at most 8 of them.
    pub(super) fn places_in_no_turn(&self) -> Vec<QuestionPlace> {
        let mut streams: Vec<StreamId> = Vec::new();
        let current = self.current.iter().map(|current| &current.key);
        for key in current.chain(self.queue.iter().map(|job| &job.key)) {
            if !streams.contains(&key.stream) {
                streams.push(key.stream.clone());
            }
        }
        if streams.is_empty() {
            streams.push(self.session.id.clone());
        }
        streams.into_iter().take(CARDS_MAX).map(QuestionPlace::NoTurn).collect()
    }

    /// Words came, or were taken away, while a dialog stands there: whoever is to be asked now and
    /// was not is asked too.
    pub(super) fn ask_where_words_wait(&mut self, around: &Around<'_>) {
        let standing = self
            .questions
            .asks
            .iter()
            .find(|ask| ask.asked_in.is_in_no_turn() && ask.dialog.is_some());
        let Some(Ask { question, to, dialog: Some(dialog), .. }) = standing.cloned() else {
            return;
        };
        for asked_in in self.places_in_no_turn() {
            if !self.questions.asks.iter().any(|ask| ask.asked_in == asked_in) {
                let permission = self.permission_of(around, &dialog, &asked_in);
                self.ask_person(Ask {
                    permission,
                    asked_in,
                    question: question.clone(),
                    to,
                    dialog: Some(dialog.clone()),
                });
            }
        }
    }

    /// What an earlier process asked in no turn, and in which conversations.
    pub(super) fn remember_asked(&mut self, asked: Vec<(StreamId, PermissionId)>) {
        self.questions.remember(
            asked
                .into_iter()
                .map(|(stream, permission)| (QuestionPlace::NoTurn(stream), permission)),
        );
    }
}
