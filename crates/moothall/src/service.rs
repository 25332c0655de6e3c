//! Notices to the manager of services: the server is ready, it stops, and it lives. Without a
//! manager that listens, such as systemd, nothing is sent.

use sd_notify::{NotifyState, notify, watchdog_enabled};

/// Tells that requests are answered from now on, and then that the server lives, for as long as its
/// tasks get their turn.
pub fn ready() {
    tell(NotifyState::Ready);
    let Some(within) = watchdog_enabled() else { return };
    tokio::spawn(async move {
        // Half of the time, so that one late notice is not the server's end.
        let mut due = tokio::time::interval(within / 2);
        loop {
            due.tick().await;
            tell(NotifyState::Watchdog);
        }
    });
}

/// Tells that the server has begun to stop.
pub fn stopping() {
    tell(NotifyState::Stopping);
}

fn tell(state: NotifyState<'_>) {
    if let Err(error) = notify(&[state]) {
        tracing::warn!(%error, "the manager of services could not be told");
    }
}
