//! Erasing words: from the log, from its index, and from memory.

use std::sync::Weak;

use moothall_kernel::command::{Actor, ClientCommand, Refusal, Rejection};
use moothall_kernel::event::Event;
use moothall_kernel::ids::{EventId, Seq, StreamId};

use crate::answers::{Answer, HallError, Idempotency};
use crate::hall::Hall;
pub use crate::hall::copies::Copies;
use crate::stream::idempotency::{IDEM, claim_key, replay};

impl Hall {
    /// Registers a holder of copies, which is notified when words are erased.
    pub fn keeps_copies(&self, copies: Weak<dyn Copies>) {
        let mut all = self.inner.copiers.lock();
        all.retain(|known| known.strong_count() > 0);
        all.push(copies);
    }

    /// Erases the words of an event, in a person's name. If the event published words from the
    /// trace, those words are erased in the trace too. The answer has no event if the words were
    /// erased already.
    ///
    /// # Errors
    /// [`HallError`] as for [`Hall::submit`].
    pub async fn redact(
        &self,
        stream: &StreamId,
        id: EventId,
        by: Actor,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        if let Some(earlier) = self.earlier(idempotency.as_ref()).await? {
            return Ok(earlier);
        }
        let head = self.find(stream).await?.head;
        let found = self
            .read(stream, Seq(id.seq().0.saturating_sub(1)), Some(1))
            .await?
            .events
            .into_iter()
            .next();
        let found = found.filter(|recorded| recorded.id(stream) == id).ok_or_else(unknown)?;
        if found.event.body().is_none() {
            return Err(refused(
                Refusal::Invalid,
                "nothing_to_erase",
                "Only text can be erased: messages, text answers, and kept text of an agent.",
            ));
        }
        if found.event.is_erased() {
            return Ok(Answer { stream: stream.clone(), event: None, head, replayed: false });
        }
        // The words in the trace are erased first, because a retry returns early if the message is
        // erased.
        if let Event::Posted(posted) = &found.event
            && let Some(kept) = posted.published
        {
            self.submit(
                stream,
                ClientCommand::Redact { seq: kept, message: false, by: by.clone() },
                None,
            )
            .await?;
            self.forget(stream, kept).await;
        }
        let answer = self
            .submit(
                stream,
                ClientCommand::Redact { seq: found.seq, message: found.event.is_in_prompts(), by },
                idempotency,
            )
            .await?;
        self.forget(stream, found.seq).await;
        Ok(answer)
    }

    /// Returns the answer of an earlier request with this key; `None` if there was none.
    async fn earlier(
        &self,
        idempotency: Option<&Idempotency>,
    ) -> Result<Option<Answer>, HallError> {
        let Some(idempotency) = idempotency else { return Ok(None) };
        match self.inner.store.log.claim(IDEM, &claim_key(idempotency), self.now()).await? {
            Some(claim) => replay(&*self.inner.store.log, &claim, idempotency).await.map(Some),
            None => Ok(None),
        }
    }

    /// Erases words from the search index. A failure is not an error, because the log has erased
    /// the words and the index follows the log.
    async fn forget(&self, stream: &StreamId, seq: Seq) {
        if let Err(error) = self.inner.store.search.forget(stream, seq).await {
            tracing::warn!(%error, "erased text is removed from the search index later");
        }
    }
}

fn unknown() -> HallError {
    refused(Refusal::NotFound, "unknown_event", "This conversation has no such event.")
}

fn refused(refusal: Refusal, code: &'static str, message: &str) -> HallError {
    HallError::Rejected(Box::new(Rejection::new(refusal, code, message)))
}
