//! Multi-step requests that take effect only one time per `Idempotency-Key`.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Json;
use moothall_engine::hall::Idempotency;
use moothall_engine::hall::keyed_locks::KeyedLocks;
use moothall_kernel::ids::StreamId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::App;
use crate::error::{ApiError, ApiResult, Code};

/// Runs `doing`, or returns the answer that an earlier request with this key got. `doing` also
/// returns the stream whose log stores the answer for repetitions.
pub(super) async fn once<T: Serialize + DeserializeOwned>(
    app: &App,
    key: Option<&Idempotency>,
    doing: impl Future<Output = ApiResult<(StreamId, T)>>,
) -> ApiResult<Json<T>> {
    let broken = |_| ApiError::plain(Code::Internal);
    let done = async {
        let (stream, answer) = doing.await?;
        Ok::<_, ApiError>((stream, serde_json::to_string(&answer).map_err(broken)?))
    };
    let answer = app.entrance.once(key, done).await?;
    serde_json::from_str(&answer).map(Json).map_err(broken)
}

/// Number of requests whose answers are remembered for their keys.
const KEYS_MAX: usize = 1024;

/// The latest requests with idempotency keys, and a part of each answer. They are only in memory.
pub(crate) struct KeyedAnswers<T> {
    kept: Mutex<VecDeque<(Idempotency, T)>>,
    locks: KeyedLocks,
}

impl<T> Default for KeyedAnswers<T> {
    fn default() -> Self {
        Self { kept: Mutex::default(), locks: KeyedLocks::default() }
    }
}

/// The answer to a request with an idempotency key.
#[derive(Debug, PartialEq)]
pub(crate) enum KeyedOutcome<A, T> {
    /// This request did the work, and this is its answer.
    Now(A),
    /// An earlier request did the work, and this part of its answer was remembered.
    Earlier(T),
}

impl<T: Clone + Send + 'static> KeyedAnswers<T> {
    /// Does the work of a request, unless it was done for the same key already. `doing` returns the
    /// answer, and the part of it that is remembered for repetitions. Concurrent requests with the
    /// same key wait for the first. The key of a refused request is not remembered, so the request
    /// may be tried again. Only the latest [`KEYS_MAX`] keys are remembered. A request without a
    /// key is always done.
    ///
    /// # Errors
    /// Those of `doing`; `idempotency_key_reused` if the key was used for another request.
    pub(crate) async fn once<A: Send + 'static>(
        self: &Arc<Self>,
        key: Option<Idempotency>,
        doing: impl Future<Output = ApiResult<(A, T)>> + Send + 'static,
    ) -> ApiResult<KeyedOutcome<A, T>> {
        let Some(key) = key else { return Ok(KeyedOutcome::Now(doing.await?.0)) };
        let answers = self.clone();
        // In a task of its own: the client may leave after the work took effect and before its key
        // is stored, and will repeat the request.
        let done = tokio::spawn(async move { answers.first(key, doing).await });
        done.await.unwrap_or_else(|_| Err(ApiError::plain(Code::Internal)))
    }

    /// Does the work of a request with a key, unless an earlier request did it. The lock makes
    /// requests with the same key wait for each other.
    async fn first<A>(
        &self,
        key: Idempotency,
        doing: impl Future<Output = ApiResult<(A, T)>>,
    ) -> ApiResult<KeyedOutcome<A, T>> {
        let lock = self.locks.of(&format!("{}:{}", key.principal, key.key));
        let _alone = lock.lock().await;
        if let Some(earlier) = self.earlier(&key)? {
            return Ok(KeyedOutcome::Earlier(earlier));
        }
        let (answer, kept) = doing.await?;
        self.keep(key, kept);
        Ok(KeyedOutcome::Now(answer))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Idempotency, T)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the part of the answer that was remembered for this key. Rejects a key that another
    /// request used.
    fn earlier(&self, given: &Idempotency) -> ApiResult<Option<T>> {
        let kept = self.lock();
        let mut same_key =
            kept.iter().filter(|(key, _)| key.principal == given.principal && key.key == given.key);
        match same_key.next() {
            Some((key, answer)) if key.fingerprint == given.fingerprint => Ok(Some(answer.clone())),
            Some(_) => Err(ApiError::plain(Code::IdempotencyKeyReused)),
            None => Ok(None),
        }
    }

    fn keep(&self, key: Idempotency, answer: T) {
        let mut kept = self.lock();
        if kept.len() == KEYS_MAX {
            kept.pop_front();
        }
        kept.push_back((key, answer));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures_util::future::join_all;
    use tokio::time::{sleep, timeout};

    use super::*;

    struct Bench {
        answers: Arc<KeyedAnswers<&'static str>>,
        done: Arc<AtomicUsize>,
    }

    impl Bench {
        fn new() -> Self {
            Self { answers: Arc::default(), done: Arc::default() }
        }

        /// Sends a request whose work takes a second.
        async fn ask(
            &self,
            key: &str,
            refused: bool,
        ) -> ApiResult<KeyedOutcome<usize, &'static str>> {
            let [principal, key, fingerprint] = ["ann", key, "request"].map(str::to_owned);
            let (key, done) = (Idempotency { principal, key, fingerprint }, self.done.clone());
            let doing = async move {
                sleep(Duration::from_secs(1)).await;
                if refused {
                    return Err(ApiError::plain(Code::NotFound));
                }
                Ok((done.fetch_add(1, Ordering::Relaxed), "kept"))
            };
            self.answers.once(Some(key), doing).await
        }

        fn done(&self) -> usize {
            self.done.load(Ordering::Relaxed)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn simultaneous_repeats_take_effect_once() {
        let bench = Bench::new();
        let answers = join_all((0..4).map(|_| bench.ask("k", false))).await;
        let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        assert_eq!(bench.done(), 1, "{answers:?}");
        assert_eq!(
            answers.iter().filter(|answer| **answer == KeyedOutcome::Earlier("kept")).count(),
            3
        );
        bench.ask("another", false).await.unwrap();
        assert_eq!(bench.done(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_client_left_is_done_and_its_repeat_is_not() {
        let bench = Bench::new();
        assert!(timeout(Duration::from_millis(10), bench.ask("k", false)).await.is_err());
        assert_eq!(bench.ask("k", false).await.unwrap(), KeyedOutcome::Earlier("kept"));
        assert_eq!(bench.done(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_request_may_be_tried_again() {
        let bench = Bench::new();
        assert!(bench.ask("k", true).await.is_err());
        assert_eq!(bench.ask("k", false).await.unwrap(), KeyedOutcome::Now(0));
    }
}
