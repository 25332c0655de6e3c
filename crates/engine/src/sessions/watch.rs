//! Whether a session's program is still there. What is seen once may be a moment's trouble: a terminal that cannot be reached is
//! asked again and again, and a program that seems to be gone is looked at a second time before its session ends.

use std::time::Duration;

use tokio::sync::broadcast;
use tokio::time::{Instant, sleep_until};

use super::host::{HostFault, PaneNews, PaneState, View};
use super::runner::Runner;
use super::turn::Input;

/// Waits between attempts to reach a terminal, up to this.
const BACKOFF_MIN: Duration = Duration::from_millis(200);
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// How long a shell has to show, and not the program, before it counts.
const SHELL_FOR: Duration = Duration::from_secs(2);
/// How long after a program went its last reports may arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Looks at a terminal that is said to be gone and cannot be reached, before its session ends.
const LOOKS_MAX: u32 = 6;

/// The connection to a terminal.
#[derive(Default)]
pub(super) struct Watching {
    news: Option<broadcast::Receiver<PaneNews>>,
    /// When it is tried again, and how often it was tried.
    again: Option<Instant>,
    tries: u32,
    doubt: Option<Doubt>,
}

/// Something says that the program is gone.
struct Doubt {
    /// When it is looked at again.
    look_at: Instant,
    /// The terminal itself is said to be gone, and not only to show something else.
    died: bool,
    looks: u32,
}

/// What comes of a terminal.
pub(super) enum Happened {
    /// Something was drawn, or missed.
    Drawn,
    /// It is said to be gone.
    Died,
    /// The connection has to be made, once more.
    Unwatched,
    /// It is time to look again whether the program is gone.
    Doubted,
}

impl Watching {
    /// The next that happens.
    pub(super) async fn next(&mut self) -> Happened {
        let Self { news, again, doubt, .. } = self;
        let heard = async {
            match news {
                Some(news) => news.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            heard = heard => match heard {
                Ok(PaneNews::Drawn) | Err(broadcast::error::RecvError::Lagged(_)) => Happened::Drawn,
                Ok(PaneNews::Died) => Happened::Died,
                Err(broadcast::error::RecvError::Closed) => {
                    self.news = None;
                    Happened::Unwatched
                }
            },
            () = at(*again) => Happened::Unwatched,
            () = at(doubt.as_ref().map(|doubt| doubt.look_at)) => Happened::Doubted,
        }
    }

    /// Something says that the program is gone. What was doubted already is not doubted anew.
    fn doubt(&mut self, died: bool, within: Duration) {
        let look_at = Instant::now() + within;
        let doubt = self.doubt.get_or_insert(Doubt { look_at, died, looks: 0 });
        doubt.died |= died;
    }
}

/// Resolves at a time; never without one.
pub(super) async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

fn backoff(tries: u32) -> Duration {
    BACKOFF_MIN.saturating_mul(2_u32.saturating_pow(tries)).min(BACKOFF_MAX)
}

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
