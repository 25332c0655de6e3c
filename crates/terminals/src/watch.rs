//! Whether a session's program is still there. What is seen once may be a moment's trouble: a terminal that cannot be reached is
//! asked again and again, and a program that seems to be gone is looked at a second time before its session ends.

use tokio::time::Instant;

use moothall_engine::sessions::{HostFault, PaneState, View};

use crate::runner::Runner;
use crate::turn::Input;
use crate::watching::{Doubt, LAST_WORDS, LOOKS_MAX, SHELL_FOR, backoff};

impl Runner {
    /// Listens to the terminal, or tries again later. Only a terminal that is gone ends the session.
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
            Err(fault @ (HostFault::Unavailable(_) | HostFault::UnknownProgram(_) | HostFault::Refused(_) | HostFault::Failed(_))) => {
                let wait = backoff(self.watching.tries);
                tracing::warn!(session = %self.session.id, %fault, ?wait, "its terminal cannot be reached; it is tried again");
                (self.watching.news, self.watching.again) = (None, Some(Instant::now() + wait));
                self.watching.tries += 1;
            }
        }
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
            Some(View { state: PaneState::Gone | PaneState::Shell, .. }) => self.ended("its program ended").await,
            Some(_) => self.tell(Input::Drawn).await,
            None if doubt.died && looks >= LOOKS_MAX => self.ended("its terminal is gone").await,
            None => {
                let look_at = Instant::now() + backoff(looks);
                self.watching.doubt = Some(Doubt { look_at, died: doubt.died, looks });
            }
        }
    }
}
