//! The connection to a terminal, and what is doubted of its program.

use std::time::Duration;

use moothall_engine::sessions::PaneNews;
use tokio::sync::broadcast;
use tokio::time::{Instant, sleep_until};

/// Waits between attempts to reach a terminal, up to this.
const BACKOFF_MIN: Duration = Duration::from_millis(200);
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// How long a shell has to show, and not the program, before it counts.
pub(super) const SHELL_FOR: Duration = Duration::from_secs(2);
/// How long after a program went its last reports may arrive.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(500);
/// Looks at a terminal that is said to be gone and cannot be reached, before its session ends.
pub(super) const LOOKS_MAX: u32 = 6;

/// The connection to a terminal.
#[derive(Default)]
pub(super) struct TerminalConnection {
    pub(super) news: Option<broadcast::Receiver<PaneNews>>,
    /// When it is tried again, and how often it was tried.
    pub(super) again: Option<Instant>,
    pub(super) tries: u32,
    pub(super) doubt: Option<ExitDoubt>,
}

/// Something says that the program is gone.
pub(super) struct ExitDoubt {
    /// When it is looked at again.
    pub(super) look_at: Instant,
    /// The terminal itself is said to be gone, and not only to show something else.
    pub(super) died: bool,
    pub(super) looks: u32,
}

/// What comes of a terminal.
pub(super) enum TerminalEvent {
    /// Something was drawn, or missed.
    Drawn,
    /// It is said to be gone.
    Died,
    /// The connection has to be made, once more.
    Unwatched,
    /// It is time to look again whether the program is gone.
    Doubted,
}

impl TerminalConnection {
    /// The next that happens.
    pub(super) async fn next(&mut self) -> TerminalEvent {
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
                Ok(PaneNews::Drawn) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    TerminalEvent::Drawn
                }
                Ok(PaneNews::Died) => TerminalEvent::Died,
                Err(broadcast::error::RecvError::Closed) => {
                    self.news = None;
                    TerminalEvent::Unwatched
                }
            },
            () = at(*again) => TerminalEvent::Unwatched,
            () = at(doubt.as_ref().map(|doubt| doubt.look_at)) => TerminalEvent::Doubted,
        }
    }

    /// Something says that the program is gone. What was doubted already is not doubted anew.
    pub(super) fn doubt(&mut self, died: bool, within: Duration) {
        let look_at = Instant::now() + within;
        let doubt = self.doubt.get_or_insert(ExitDoubt { look_at, died, looks: 0 });
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

pub(super) fn backoff(tries: u32) -> Duration {
    BACKOFF_MIN.saturating_mul(2_u32.saturating_pow(tries)).min(BACKOFF_MAX)
}
