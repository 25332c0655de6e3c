//! Polls a future again immediately if it woke itself during a poll.
//!
//! hyper wakes its own connection whenever a handler asks for a request's body. The runtime would
//! put such a task at the end of its queue and wake another thread to help, without need.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// Maximum number of polls in a row, so that other tasks get their turn.
const TIMES: usize = 4;

/// Not being polled: a wake goes to the task.
const RESTING: u8 = 0;
/// Being polled, and not woken since.
const POLLED: u8 = 1;
/// Woken during the poll.
const WOKEN: u8 = 2;

struct WakeFlag {
    state: AtomicU8,
    task: AtomicWaker,
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let noted = self.state.compare_exchange(POLLED, WOKEN, Ordering::AcqRel, Ordering::Acquire);
        if noted == Err(RESTING) {
            self.task.wake();
        }
    }
}

/// Runs a future. If it wakes itself during a poll, it is polled again immediately, at most
/// [`TIMES`] times in a row.
pub async fn eager<F: Future>(mut wanted: Pin<&mut F>) -> F::Output {
    let flag = Arc::new(WakeFlag { state: AtomicU8::new(RESTING), task: AtomicWaker::new() });
    let waker = Waker::from(flag.clone());
    poll_fn(move |cx| {
        flag.task.register(cx.waker());
        for _ in 0..TIMES {
            flag.state.store(POLLED, Ordering::Release);
            let polled = wanted.as_mut().poll(&mut Context::from_waker(&waker));
            let woken = flag.state.swap(RESTING, Ordering::AcqRel) == WOKEN;
            if polled.is_ready() || !woken {
                return polled;
            }
        }
        // The future woke only `flag`, so without this wake its task would not be polled again.
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct WakeCount(AtomicUsize);

    impl Wake for WakeCount {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Polls a future once that wakes itself `wakes` times. Returns true if it finished, and the
    /// number of times its task was woken.
    fn poll_once(wakes: usize) -> (bool, usize) {
        let mut left = wakes;
        let own = pin!(poll_fn(|cx| {
            if left == 0 {
                return Poll::Ready(());
            }
            left -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
        let woken = Arc::<WakeCount>::default();
        let waker = Waker::from(woken.clone());
        let polled = pin!(eager(own)).poll(&mut Context::from_waker(&waker));
        (polled.is_ready(), woken.0.load(Ordering::Relaxed))
    }

    #[test]
    fn who_wakes_itself_goes_on_and_gives_way_in_the_end() {
        assert_eq!(poll_once(0), (true, 0));
        assert_eq!(poll_once(TIMES - 1), (true, 0));
        assert_eq!(poll_once(TIMES), (false, 1));
    }

    #[test]
    fn who_is_woken_by_others_is_polled_again_by_its_task() {
        let (tell, receiver) = tokio::sync::oneshot::channel();
        let (woken, mut receiver) = (Arc::<WakeCount>::default(), pin!(receiver));
        let waker = Waker::from(woken.clone());
        let mut wanted = pin!(eager(receiver.as_mut()));
        let mut poll = || wanted.as_mut().poll(&mut Context::from_waker(&waker));
        assert_eq!(poll(), Poll::Pending);
        assert_eq!(tell.send(7), Ok(()));
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        assert_eq!(poll(), Poll::Ready(Ok(7)));
    }
}
