//! The timer for all streams that are not live.

use std::sync::Weak;
use std::time::Duration;

use moothall_kernel::time::{Millis, Timestamp};
use tokio::time::sleep;

use crate::hall::inner::Inner;
use crate::ports::LogError;
use crate::stream::mail::Request;

/// Maximum pause between looks, because the wake of a stream can change without a notification.
const LOOK_MAX: Millis = Millis::from_secs(60);
/// Minimum pause between looks. Shorter pauses are useless, because live streams handle their wakes
/// themselves.
const LOOK_MIN: Millis = Millis::from_secs(1);

/// Loads the streams whose wake is due.
pub(crate) async fn load_due(hall: &std::sync::Arc<Inner>) -> Result<(), LogError> {
    for stream in hall.store.log.due(hall.now()).await? {
        if let Err(error) = hall.send(&stream, Request::Wake).await {
            tracing::warn!(%stream, %error, "a stream with duties could not be loaded");
        }
    }
    Ok(())
}

/// Loads streams when their wakes are due, while the hall is open. Also drops old presences.
pub(crate) async fn watch(hall: Weak<Inner>) {
    loop {
        let Some(pause) = next_look(&hall).await else { return };
        sleep(Duration::from_millis(pause.0)).await;
        let Some(hall) = hall.upgrade() else { return };
        hall.presences.forget(hall.now());
        if let Err(error) = load_due(&hall).await {
            tracing::warn!(%error, "the catalog could not be read for due wakes");
        }
    }
}

/// Returns the pause until the next wake of a stream, within the limits; `None` if the hall was
/// dropped.
async fn next_look(hall: &Weak<Inner>) -> Option<Millis> {
    let hall = hall.upgrade()?;
    // An error is logged by `load_due`, which reads the same rows after the pause.
    let next = hall.store.log.next_wake().await.ok().flatten();
    Some(pause(hall.now(), next))
}

fn pause(now: Timestamp, next: Option<Timestamp>) -> Millis {
    next.map_or(LOOK_MAX, |next| next.since(now).clamp(LOOK_MIN, LOOK_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_neither_spins_nor_sleeps_for_ever() {
        let now = Timestamp::from_millis(1_000_000);
        assert_eq!(pause(now, None), LOOK_MAX);
        assert_eq!(pause(now, Some(now - Millis(5))), LOOK_MIN);
        assert_eq!(pause(now, Some(now + Millis(5000))), Millis(5000));
        assert_eq!(pause(now, Some(now + Millis(500_000))), LOOK_MAX);
    }
}
