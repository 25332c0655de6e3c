//! Detection of a program's end. A single look may be misleading: an unreachable terminal is
//! retried, and a program that seems gone is checked a second time before its session ends.

use tokio::time::Instant;

use moothall_engine::sessions::{HostFault, Origin, PaneState, View};
use moothall_kernel::text::cut;

use crate::runner::Runner;
use crate::turn::Input;
use crate::watching::{ExitDoubt, LAST_WORDS, LOOKS_MAX, SHELL_FOR, backoff};

/// The reason if a program ended by itself.
const PROGRAM_ENDED: &str = "its program ended";
/// The reason if all terminals were lost.
const LOST: &str = "the computer, or tmux, was restarted";
/// Maximum length of an end reason, in bytes.
const WHY_BYTES_MAX: usize = 1024;

impl Runner {
    /// Subscribes to the terminal, or retries later. Only a terminal that is gone ends the session.
    pub(super) async fn watch(&mut self) {
        let Some(pane) = self.session.pane.clone() else { return };
        self.watching.again = None;
        match self.host.watch(&pane, &self.session.client).await {
            Ok(news) => {
                (self.watching.news, self.watching.tries) = (Some(news), 0);
                self.tell(Input::Drawn).await;
            }
            Err(HostFault::Gone(why)) => {
                tracing::info!(session = %self.session.id, why, "its terminal is gone");
                // After the second look: if that finds the program, it has to be watched again.
                self.watching.again = Some(Instant::now() + 2 * LAST_WORDS);
                self.watching.doubt(true, LAST_WORDS);
            }
            Err(
                fault @ (HostFault::Unavailable(_)
                | HostFault::UnknownProgram(_)
                | HostFault::Refused(_)
                | HostFault::Failed(_)),
            ) => {
                let wait = backoff(self.watching.tries);
                tracing::warn!(session = %self.session.id, %fault, ?wait, "the terminal of a session cannot be reached; trying again");
                (self.watching.news, self.watching.again) = (None, Some(Instant::now() + wait));
                self.watching.tries += 1;
            }
        }
    }

    /// Ends the session of a program that is gone. Its terminal is removed if it was started here.
    async fn end_lost_program(&mut self) {
        let Some(pane) = self.session.pane.clone() else {
            return self.end_exited_session(PROGRAM_ENDED).await;
        };
        // Read first: `end` removes the terminal, and the words with it.
        let words = self.host.last_words(&pane).await;
        if self.session.origin == Origin::Started
            && let Err(fault) = self.host.end(&pane).await
        {
            tracing::warn!(session = %self.session.id, %fault, "the terminal of an exited program \
                                                                could not be removed");
        }
        if words.is_none() && self.host.is_lost(&pane).await {
            self.session.lost = true;
            return self.end_exited_session(LOST).await;
        }
        let Some(words) = words else { return self.end_exited_session(PROGRAM_ENDED).await };
        let whole = words.whole();
        // The program has reported no id since it was resumed.
        if self.session.native.is_none() && self.host.has_forgotten(&self.session.client, &whole) {
            self.session.memory = None;
        }
        let say = |words: &str| format!("{PROGRAM_ENDED} {}", cut(words, WHY_BYTES_MAX));
        self.ended_showing(&say(&words.how), &say(&whole)).await;
    }

    /// Handles a report that the terminal is gone.
    pub(super) fn died(&mut self) {
        self.watching.doubt(true, LAST_WORDS);
    }

    /// Handles a view of a shell, or of a missing terminal: schedules a second look.
    pub(super) fn missing(&mut self, died: bool) {
        self.watching.doubt(died, if died { LAST_WORDS } else { SHELL_FOR });
    }

    /// Handles a view of the program: clears the doubt.
    pub(super) fn clear_doubt(&mut self) {
        self.watching.doubt = None;
    }

    /// Looks again at a program that seemed to be gone.
    pub(super) async fn doubted(&mut self) {
        let Some(doubt) = self.watching.doubt.take() else { return };
        let looks = doubt.looks + 1;
        match self.view().await {
            Some(View { state: PaneState::Gone, .. }) => self.end_lost_program().await,
            Some(View { state: PaneState::Shell, .. }) => {
                self.end_exited_session(PROGRAM_ENDED).await
            }
            Some(_) => self.tell(Input::Drawn).await,
            None if doubt.died && looks >= LOOKS_MAX => {
                self.end_exited_session("its terminal is gone").await
            }
            None => {
                let look_at = Instant::now() + backoff(looks);
                self.watching.doubt = Some(ExitDoubt { look_at, died: doubt.died, looks });
            }
        }
    }
}
