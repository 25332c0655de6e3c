//! Erasing words: from the log, from its index, and from what is kept in memory.

use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use moothall_kernel::command::{Actor, ClientCommand, Refusal, Rejection};
use moothall_kernel::event::{Event, Recorded};
use moothall_kernel::ids::{EventId, Seq, StreamId};

use crate::hall::{Answer, Hall, HallError, Idempotency};
use crate::stream::idempotency::{IDEM, claim_key, replay};

/// Something that keeps copies of what was said, beside the log. It lets go of them when words are erased, whoever erases them.
pub trait Copies: Send + Sync {
    /// Lets go of all that may hold erased words.
    fn forget(&self);
}

/// Those who keep copies.
#[derive(Default)]
pub(crate) struct Copiers(Mutex<Vec<Weak<dyn Copies>>>);

impl Copiers {
    fn lock(&self) -> MutexGuard<'_, Vec<Weak<dyn Copies>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Words were erased, if these events erase any.
    pub(crate) fn hear(&self, events: &[Recorded]) {
        if events.iter().any(|recorded| recorded.event.erases().next().is_some()) {
            self.lock().iter().filter_map(Weak::upgrade).for_each(|copies| copies.forget());
        }
    }
}

impl Hall {
    /// Tells somebody who keeps copies, as long as they are there, when words were erased.
    pub fn keeps_copies(&self, copies: Weak<dyn Copies>) {
        let mut all = self.inner.copiers.lock();
        all.retain(|known| known.strong_count() > 0);
        all.push(copies);
    }

    /// Erases the words of an event, in a person's name. What was kept and published by it is erased too. The answer has no event
    /// when the words were gone already.
    ///
    /// # Errors
    /// [`HallError`] as for [`Hall::submit`].
    pub async fn redact(&self, stream: &StreamId, id: EventId, by: Actor, idempotency: Option<Idempotency>) -> Result<Answer, HallError> {
        if let Some(earlier) = self.earlier(idempotency.as_ref()).await? {
            return Ok(earlier);
        }
        let head = self.find(stream).await?.head;
        let found = self.read(stream, Seq(id.seq().0.saturating_sub(1)), Some(1)).await?.events.into_iter().next();
        let found = found.filter(|recorded| recorded.id(stream) == id).ok_or_else(unknown)?;
        if found.event.body().is_none() {
            return Err(refused(
                Refusal::Invalid,
                "nothing_to_erase",
                "Only words can be erased: messages, and what was kept of an agent.",
            ));
        }
        if found.event.is_erased() {
            return Ok(Answer { stream: stream.clone(), event: None, head, replayed: false });
        }
        if let Event::Posted(posted) = &found.event
            && let Some(kept) = posted.published
        {
            self.submit(stream, ClientCommand::Redact { seq: kept, by: by.clone() }, None).await?;
            self.forget(stream, kept).await;
        }
        let answer = self.submit(stream, ClientCommand::Redact { seq: found.seq, by }, idempotency).await?;
        self.forget(stream, found.seq).await;
        Ok(answer)
    }

    /// The answer that a request with this key got before.
    async fn earlier(&self, idempotency: Option<&Idempotency>) -> Result<Option<Answer>, HallError> {
        let Some(idempotency) = idempotency else { return Ok(None) };
        match self.inner.log.claim(IDEM, &claim_key(idempotency), self.now()).await? {
            Some(claim) => replay(&*self.inner.log, &claim, idempotency).await.map(Some),
            None => Ok(None),
        }
    }

    /// The words are erased already, so nothing that happens here is an error; an index that follows the log forgets them anyway.
    async fn forget(&self, stream: &StreamId, seq: Seq) {
        let Some(index) = self.inner.log.index() else { return };
        if let Err(error) = index.forget(stream, seq).await {
            tracing::warn!(%error, "the search index forgets erased words later");
        }
    }
}

fn unknown() -> HallError {
    refused(Refusal::NotFound, "unknown_event", "There is no such event here.")
}

fn refused(refusal: Refusal, code: &'static str, message: &str) -> HallError {
    HallError::Rejected(Box::new(Rejection::new(refusal, code, message)))
}

/// Erases what later events of the same batch erase, so that nobody is told words that the log has no more.
pub(crate) fn within(events: &mut [Recorded]) {
    let erased: Vec<Seq> = events.iter().flat_map(|recorded| recorded.event.erases()).collect();
    for recorded in events.iter_mut().filter(|recorded| erased.contains(&recorded.seq)) {
        recorded.event.erase();
    }
}
