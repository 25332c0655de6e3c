//! Deleting conversations. A conversation is deleted when its deletion event is committed. The
//! content is erased after that, or at the next start if a crash came between.

use std::sync::{Arc, Weak};

use moothall_kernel::command::{Actor, ClientCommand, Refusal};
use moothall_kernel::ids::StreamId;

use crate::answers::HallError;
use crate::crash;
use crate::hall::Hall;
use crate::hall::inner::Inner;

impl Hall {
    /// Deletes a conversation for good, in a person's name. Its running turns are cancelled first.
    /// If it was deleted before, erases what is left of it. True if all of it is erased.
    ///
    /// # Errors
    /// [`HallError`] as for [`Hall::submit`]; the conversation was not deleted then.
    pub async fn delete(&self, stream: &StreamId, by: Actor) -> Result<bool, HallError> {
        self.inner.delete(stream, by).await
    }
}

impl Inner {
    /// Deletes a conversation as [`Hall::delete`] does: submits the deletion, then forgets the
    /// presences, erases the content and removes it from the search index. If the conversation was
    /// deleted before, all steps after the submission are done again. Returns true if the content
    /// is erased.
    pub(crate) async fn delete(
        self: &Arc<Self>,
        stream: &StreamId,
        by: Actor,
    ) -> Result<bool, HallError> {
        match self.submit(stream, ClientCommand::Delete { by }, None).await {
            Ok(_) | Err(HallError::Deleted(_)) => {}
            Err(HallError::Rejected(rejection)) if rejection.refusal == Refusal::Gone => {}
            Err(error) => return Err(error),
        }
        self.presences.forget_stream(stream);
        self.occupations.forget(stream);
        let erased = self.erase_deleted().await;
        if let Err(error) = self.store.search.forget_stream(stream).await {
            tracing::warn!(%error, "a deleted conversation is removed from the search index later");
        }
        crash::point("deletion_erased");
        Ok(erased)
    }

    /// Erases the content of all deleted conversations. True if all of it is erased. A failure is
    /// not an error, because the conversations stay deleted.
    async fn erase_deleted(&self) -> bool {
        let erased = self.store.log.erase_deleted().await;
        if let Err(error) = &erased {
            tracing::warn!(%error, "the content of deleted conversations is erased later");
        }
        erased.is_ok()
    }

    /// Erases the content of deleted conversations that a crash left behind. The search index
    /// follows the log by itself.
    pub(crate) async fn finish_deletions(hall: Weak<Inner>) {
        let Some(hall) = hall.upgrade() else { return };
        hall.erase_deleted().await;
    }
}
