//! Questions of a program outside turns, such as whether to trust a folder: which conversations
//! show them, and when.
//!
//! Up to [`CARDS_MAX`] conversations whose turns wait for the terminal show the question. If no
//! turn waits, the session's home shows it. The first answer counts. When the dialog closes, the
//! question is withdrawn in all other conversations.

use moothall_engine::sessions::Origin;
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::permission::CARDS_MAX;
use moothall_kernel::time::Millis;

use super::asks::{Ask, QuestionPlace};
use super::io::Around;
use super::machine::Machine;
use super::stage::PromptSource;

/// Time a dialog must stay before people are asked: programs keep drawing for a while at their
/// start.
const STANDS_FOR: Millis = Millis::from_secs(3);
/// The same time if a person may be working at the terminal and may see the dialog there.
const STANDS_FOR_TYPING: Millis = Millis::from_secs(15);

impl Machine {
    pub(super) fn patience_in_no_turn(&self) -> Millis {
        // A program that was started outside the server may have a person working at it.
        let is_alone =
            self.typed == PromptSource::Nothing && self.session.origin == Origin::Started;
        if is_alone { STANDS_FOR } else { STANDS_FOR_TYPING }
    }

    /// Returns the conversations whose turns wait for the terminal, at most [`CARDS_MAX`] of them.
    /// If no turn waits, returns the session's home.
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

    /// Asks the question of the dialog on the screen in each of `places_in_no_turn` that does not
    /// have it yet. The conversations in `places_in_no_turn` change when turns are offered or taken
    /// away.
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

    /// Remembers the permissions that an earlier process asked for outside turns.
    pub(super) fn remember_asked(&mut self, asked: Vec<(StreamId, PermissionId)>) {
        self.questions.remember(
            asked
                .into_iter()
                .map(|(stream, permission)| (QuestionPlace::NoTurn(stream), permission)),
        );
    }
}
