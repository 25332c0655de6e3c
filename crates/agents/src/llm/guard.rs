//! Reading one event of a provider must neither take the processor for itself nor take anything
//! else down.
//!
//! The library keeps an event until it is whole, copies it again with every piece that comes, and
//! knows no limit: an event of tens of megabytes would keep a core busy for minutes. Nor does its
//! arithmetic expect absurd counts.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// Processor time for one event. An ordinary one takes less than a thousandth of it.
const WORK_MAX: Duration = Duration::from_millis(200);

/// Why an event could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// It took too much work.
    Work,
    /// It made the library panic.
    Panic,
}

/// Waits for a future, as long as the work in it stays within [`WORK_MAX`]. Waiting is no work.
pub(super) async fn guarded<F: Future>(future: F) -> Result<F::Output, Broken> {
    let mut future = pin!(future);
    let mut work = Duration::ZERO;
    poll_fn(|context| {
        let before = processor_time();
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        work += processor_time().saturating_sub(before);
        match polled {
            Err(_) => Poll::Ready(Err(Broken::Panic)),
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Ok(Poll::Pending) if work > WORK_MAX => Poll::Ready(Err(Broken::Work)),
            Ok(Poll::Pending) => Poll::Pending,
        }
    })
    .await
}

/// What this thread has used so far. Zero where it cannot be told, which limits nothing.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_limited() {
        let busy = poll_fn(|context| {
            let until = processor_time() + Duration::from_millis(20);
            while processor_time() < until {}
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert_eq!(guarded(busy).await, Err(Broken::Work));
    }

    #[tokio::test]
    async fn waiting_is_no_work() {
        let mut waits = 1_000;
        let patient = poll_fn(|context| {
            waits -= 1;
            context.waker().wake_by_ref();
            if waits == 0 { Poll::Ready(()) } else { Poll::Pending }
        });
        assert_eq!(guarded(patient).await, Ok(()));
    }

    #[tokio::test]
    async fn a_panic_is_caught() {
        assert_eq!(guarded(async { panic!("as planned") }).await, Err::<(), _>(Broken::Panic));
    }
}
