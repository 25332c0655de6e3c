//! Requests of several steps that take effect only one time per key: starting a session, linking,
//! closing.
//!
//! A command's key is a claim in the same append as its events. A request that also starts a
//! program, or changes two conversations, has no single append. So its whole answer is stored as a
//! claim when it is done, and other requests with the key wait until then.

use std::future::Future;

use moothall_kernel::ids::{Seq, StreamId};

use crate::answers::{HallError, Idempotency};
use crate::hall::Hall;
use crate::hall::inner::Inner;
use crate::stream::idempotency::{ANSWERED, IDEM, claim_key};

impl Hall {
    /// Runs `doing` only one time per key. Repeats of the request within a day get the same answer,
    /// even after a restart. A refused request may be tried again. The answer is stored in the
    /// stream that `doing` returns.
    ///
    /// # Errors
    /// Those of `doing`; [`HallError::KeyReused`] if the key was used for another request.
    pub async fn once<E: From<HallError>>(
        &self,
        key: Option<&Idempotency>,
        doing: impl Future<Output = Result<(StreamId, String), E>>,
    ) -> Result<String, E> {
        let Some(key) = key else { return Ok(doing.await?.1) };
        let lock = self.inner.keyed_locks.of(&claim_key(key));
        let _alone = lock.lock().await;
        if let Some(earlier) = self.inner.answered(key).await? {
            return Ok(earlier);
        }
        let (stream, answer) = doing.await?;
        if let Err(error) = self.inner.keep_answer(&stream, key, answer.clone()).await {
            // The request is done, so this is not an error. A repeat finds most of it done already.
            tracing::warn!(%stream, %error, "the response to a request could not be stored for \
                                             its Idempotency-Key");
        }
        Ok(answer)
    }
}

impl Hall {
    /// Returns the event of an earlier request with this key, and its conversation. Does not check
    /// that the earlier request was the same.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub async fn event_of_key(
        &self,
        key: &Idempotency,
    ) -> Result<Option<(StreamId, Seq)>, HallError> {
        let claim = self.inner.store.log.claim(IDEM, &claim_key(key), self.now()).await?;
        Ok(claim.and_then(|claim| Some((claim.stream, Seq(claim.outcome.parse().ok()?)))))
    }
}

impl Inner {
    /// Returns the answer that was stored under a key; `None` if there is none. The error is
    /// `KeyReused` if the answer belongs to another request.
    async fn answered(&self, key: &Idempotency) -> Result<Option<String>, HallError> {
        match self.store.log.claim(ANSWERED, &claim_key(key), self.now()).await? {
            Some(claim) if claim.fingerprint == key.fingerprint => Ok(Some(claim.outcome)),
            Some(_) => Err(HallError::KeyReused),
            None => Ok(None),
        }
    }
}
