//! Whether a session's program is still there. What is seen once may be a moment's trouble: a
//! terminal that cannot be reached is asked again and again, and a program that seems to be gone is
//! looked at a second time before its session ends.

use tokio::time::Instant;

use moothall_engine::sessions::{HostFault, Origin, PaneState, View};
use moothall_kernel::text::cut;

use crate::runner::Runner;
use crate::turn::Input;
use crate::watching::{ExitDoubt, LAST_WORDS, LOOKS_MAX, SHELL_FOR, backoff};

/// The reason of an end that came by itself.
const PROGRAM_ENDED: &str = "its program ended";
/// The reason of an end that came with that of the terminals.
const LOST: &str = "the computer, or tmux, was restarted";
/// Longest reason for the end of a session, in bytes.
const WHY_BYTES_MAX: usize = 1024;

impl Runner {
    /// Listens to the terminal, or tries again later. Only a terminal that is gone ends the
    /// session.
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
                tracing::warn!(session = %self.session.id, %fault, ?wait, "its terminal cannot be reached; it is tried again");
                (self.watching.news, self.watching.again) = (None, Some(Instant::now() + wait));
                self.watching.tries += 1;
            }
        }
    }

    /// Ends the session of a program that is gone. What is left of its terminal goes with it, and
    /// nothing shows it any more.
    async fn gone(&mut self) {
        let Some(pane) = self.session.pane.clone() else { return self.ended(PROGRAM_ENDED).await };
        let words = self.host.last_words(&pane).await;
        if self.session.origin == Origin::Started
            && let Err(fault) = self.host.end(&pane).await
        {
            tracing::warn!(session = %self.session.id, %fault, "the terminal of a program that ended could not be cleared away");
        }
        if words.is_none() && self.host.is_lost(&pane).await {
            self.session.lost = true;
            return self.ended(LOST).await;
        }
        let Some(words) = words else { return self.ended(PROGRAM_ENDED).await };
        let whole = words.whole();
        // It has not said an id of its own since it was resumed.
        if self.session.native.is_none() && self.host.has_forgotten(&self.session.client, &whole) {
            self.session.memory = None;
        }
        let say = |words: &str| format!("{PROGRAM_ENDED} {}", cut(words, WHY_BYTES_MAX));
        self.ended_showing(&say(&words.how), &say(&whole)).await;
    }

    /// Its terminal is said to be gone.
    pub(super) fn died(&mut self) {
        self.watching.doubt(true, LAST_WORDS);
    }

    /// A view shows a shell, or nothing: it is looked at again.
    pub(super) fn missing(&mut self, died: bool) {
        self.watching.doubt(died, if died { LAST_WORDS } else { SHELL_FOR });
    }

    /// A view shows the program.
    pub(super) fn there(&mut self) {
        self.watching.doubt = None;
    }

    /// Looks again at a program that seemed to be gone.
    pub(super) async fn doubted(&mut self) {
        let Some(doubt) = self.watching.doubt.take() else { return };
        let looks = doubt.looks + 1;
        match self.view().await {
            Some(View { state: PaneState::Gone, .. }) => self.gone().await,
            Some(View { state: PaneState::Shell, .. }) => self.ended(PROGRAM_ENDED).await,
            Some(_) => self.tell(Input::Drawn).await,
            None if doubt.died && looks >= LOOKS_MAX => self.ended("its terminal is gone").await,
            None => {
                let look_at = Instant::now() + backoff(looks);
                self.watching.doubt = Some(ExitDoubt { look_at, died: doubt.died, looks });
            }
        }
    }
}
