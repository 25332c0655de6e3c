//! The connection to a terminal, and the doubts about its program.

use std::time::Duration;

use moothall_engine::sessions::PaneNews;
use moothall_kernel::ids::ParticipantId;
use tokio::sync::broadcast;
use tokio::time::{Instant, sleep_until};

/// Bounds of the wait between attempts to reach a terminal.
const BACKOFF_MIN: Duration = Duration::from_millis(200);
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// Time that a shell must show in place of the program before it counts.
pub(super) const SHELL_FOR: Duration = Duration::from_secs(2);
/// Time for the last reports to arrive after a program ended.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(500);
/// Number of looks at an unreachable terminal that is reported gone, before its session ends.
pub(super) const LOOKS_MAX: u32 = 6;

/// The connection to a terminal.
#[derive(Default)]
pub(super) struct TerminalConnection {
    pub(super) news: Option<broadcast::Receiver<PaneNews>>,
    /// The time of the next attempt to connect. `tries` counts the failed ones.
    pub(super) again: Option<Instant>,
    pub(super) tries: u32,
    pub(super) doubt: Option<ExitDoubt>,
}

/// A suspicion that the program is gone.
pub(super) struct ExitDoubt {
    /// The time of the next look.
    pub(super) look_at: Instant,
    /// True if the terminal itself is reported gone; false if it shows a shell in place of the
    /// program.
    pub(super) died: bool,
    pub(super) looks: u32,
}

/// An event of a terminal.
pub(super) enum TerminalEvent {
    /// The terminal drew, or events were missed.
    Drawn,
    /// The terminal is reported gone.
    Died,
    /// The connection must be made again.
    Unwatched,
    /// A second look at the program is due.
    Doubted,
}

impl TerminalConnection {
    /// Returns the next event.
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

    /// Records a suspicion that the program is gone. An earlier suspicion keeps its time.
    pub(super) fn doubt(&mut self, died: bool, within: Duration) {
        let look_at = Instant::now() + within;
        let doubt = self.doubt.get_or_insert(ExitDoubt { look_at, died, looks: 0 });
        doubt.died |= died;
    }
}

/// The person who has taken over a terminal.
pub(super) struct Typist {
    pub(super) by: ParticipantId,
    pub(super) until: Instant,
}

/// Resolves at a time; never if unset.
pub(super) async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

pub(super) fn backoff(tries: u32) -> Duration {
    BACKOFF_MIN.saturating_mul(2_u32.saturating_pow(tries)).min(BACKOFF_MAX)
}
