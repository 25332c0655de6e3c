//! Notices to the manager of services, such as systemd: the server is ready, is alive, or stops.
//! Nothing is sent if no manager listens.

use sd_notify::{NotifyState, notify, watchdog_enabled};

/// Notifies the service manager that the server answers requests from now on. If the manager has a
/// watchdog, a task then notifies it regularly that the server is alive. These notices stop if the
/// server's tasks hang.
pub fn ready() {
    tell(NotifyState::Ready);
    let Some(within) = watchdog_enabled() else { return };
    tokio::spawn(async move {
        // The notices come at half of the watchdog's time, so that the manager does not end the
        // server for one late notice.
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
