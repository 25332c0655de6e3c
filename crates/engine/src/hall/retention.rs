//! Deletes archived conversations whose newest event is older than the configuration allows.

use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use moothall_kernel::command::Actor;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Millis;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::answers::HallError;
use crate::hall::Hall;
use crate::hall::clock_doubt::Retention;
use crate::hall::inner::Inner;
use crate::ports::ListFilter;

/// Interval at which old conversations are looked for. Their age is counted in days.
const LOOK_EVERY: Duration = Duration::from_secs(3600);
/// Number of conversations in one page.
const LOOK_PAGE: usize = 500;

impl Hall {
    /// Sets the age at which archived conversations are deleted from now on, counted from their
    /// newest event. `None` deletes none. Conversations that live sessions need stay.
    pub fn set_retention(&self, age: Option<Millis>) {
        let inner = Arc::downgrade(&self.inner);
        let looking = age.map(|age| self.inner.spawn_abortable(look(inner, age)));
        let before = std::mem::replace(&mut self.inner.retention().looking, looking);
        before.iter().for_each(AbortHandle::abort);
    }

    /// Deletes the archived conversations whose newest event has reached this age, apart from those
    /// that live sessions need. Returns the number of deleted conversations.
    ///
    /// # Errors
    /// [`HallError`] if they cannot be listed.
    pub async fn delete_outlived(&self, age: Millis) -> Result<usize, HallError> {
        self.inner.delete_outlived(age).await
    }
}

/// Deletes archived conversations whose newest event has reached this age, immediately and then
/// every hour while the hall lives. Skips a look while the clock is in doubt.
async fn look(hall: Weak<Inner>, age: Millis) {
    loop {
        let Some(hall) = hall.upgrade() else { return };
        let stands = hall.retention().doubt.stands(hall.now(), Instant::now());
        if !stands {
            match hall.delete_outlived(age).await {
                Ok(0) => {}
                Ok(deleted) => tracing::info!(
                    deleted,
                    "deleted archived conversations older than `retention_days`"
                ),
                Err(error) => {
                    tracing::warn!(%error, "archived conversations could not be listed for \
                                            deletion")
                }
            }
        }
        drop(hall);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

impl Inner {
    fn retention(&self) -> MutexGuard<'_, Retention> {
        self.retention.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the work of [`Hall::delete_outlived`], page by page. Skips a conversation that sessions
    /// still need. Only logs a deletion that fails.
    async fn delete_outlived(self: &Arc<Self>, age: Millis) -> Result<usize, HallError> {
        let (mut deleted, mut after) = (0, None);
        loop {
            let archived = ListFilter {
                archived: Some(true),
                after,
                limit: Some(LOOK_PAGE),
                ..ListFilter::of_conversations()
            };
            let page = self.store.log.list(archived).await?;
            for listed in page.streams {
                let outlived = self.now().since(listed.last_ts) >= age;
                if outlived && self.residents.deletion_obstacle(&listed.stream).is_none() {
                    match self.delete(&listed.stream, Actor::human(ParticipantId::moothall())).await
                    {
                        Ok(_) => deleted += 1,
                        Err(error) => {
                            tracing::warn!(stream = %listed.stream, %error, "an archived conversation could not be deleted")
                        }
                    }
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(deleted),
            }
        }
    }
}
