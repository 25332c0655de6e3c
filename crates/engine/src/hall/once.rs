//! Requests of several steps that must take effect once for their key: starting a session, linking,
//! closing.
//!
//! A command's key is a claim in the same append as its events. A request that also starts a
//! program, or touches two conversations, has no one append; so its whole answer is kept as a claim
//! when it is done, and whoever comes with the key meanwhile waits.

use std::future::Future;

use moothall_kernel::ids::StreamId;

use crate::answers::{HallError, Idempotency};
use crate::hall::Hall;
use crate::hall::inner::Inner;
use crate::stream::idempotency::{ANSWERED, claim_key};

impl Hall {
    /// Does something once for a key, and gives its answer again to whoever repeats the request
    /// within a day, also after a restart. What is refused may be tried again. The stream that
    /// `doing` names keeps the answer.
    ///
    /// # Errors
    /// Those of `doing`; [`HallError::KeyReused`] when the key was used for another request.
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
            // It is done, and nothing turns that into an error; a repeat finds most of it done.
            tracing::warn!(%stream, %error, "the answer to a request could not be kept for its key");
        }
        Ok(answer)
    }
}

impl Inner {
    async fn answered(&self, key: &Idempotency) -> Result<Option<String>, HallError> {
        match self.store.log.claim(ANSWERED, &claim_key(key), self.now()).await? {
            Some(claim) if claim.fingerprint == key.fingerprint => Ok(Some(claim.outcome)),
            Some(_) => Err(HallError::KeyReused),
            None => Ok(None),
        }
    }
}
