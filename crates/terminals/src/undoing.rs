//! Starts that failed: a new session leaves nothing behind, a resumed one is ended again.

use moothall_engine::answers::HallError;
use moothall_engine::residents::ResidentHall;
use moothall_engine::sessions::{HostFault, Session, SessionError, SessionId, Status};
use moothall_kernel::command::{Actor, ClientCommand};
use moothall_kernel::ids::ParticipantId;

use crate::directory::Sessions;
use crate::faults::host_error;

impl Sessions {
    /// True if a session counts as never started and its home was deleted for that reason.
    pub(super) async fn is_undone(&self, hall: &ResidentHall, session: &Session) -> bool {
        session.ended.is_some()
            && session.pane.is_none()
            && matches!(hall.view(&session.id, |_| ()).await, Err(HallError::Deleted(_)))
    }

    /// Deletes the home of a session whose program did not start, and returns `fault` as an error.
    pub(super) async fn undo_start(
        &self,
        mut session: Session,
        fault: HostFault,
    ) -> Result<Status, SessionError> {
        let hall = self.hall()?;
        // Saved first: after a crash, a session that lives without a pane would be ended again.
        session.ended = Some((hall.now(), fault.to_string()));
        self.keep(&session).await?;
        self.host()?.forget(&session.id).await;
        // The caller needs the reason of the failed start more than that of this one.
        if let Err(error) = hall.delete(&session.id).await {
            tracing::warn!(session = %session.id, %error, "the home of a failed start is left");
        }
        Err(host_error(fault))
    }

    /// Ends a session that was started for a conversation that did not come about, and deletes its
    /// home.
    pub(super) async fn withdraw(&self, id: &SessionId, by: &Actor) -> Result<(), SessionError> {
        match self.end(id, by).await {
            Ok(()) | Err(SessionError::Ended { .. } | SessionError::Conflict(_)) => {}
            Err(SessionError::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
        let Some(session) = self.handle_of(id).map(|handle| handle.session()) else {
            return Ok(());
        };
        // A program that may run must stay known, so that a retry ends it.
        if session.ended.is_none() {
            return Err(SessionError::Conflict(format!("{} has not ended yet.", session.name)));
        }
        // Without a pane, the session counts as one that never ran.
        self.keep(&Session { pane: None, ..session }).await?;
        self.hall()?.delete(id).await?;
        self.handles().remove(id);
        Ok(())
    }

    /// Ends a resumed session whose program did not start, archives its home, and returns `fault`
    /// as an error.
    pub(crate) async fn abort_start(
        &self,
        mut session: Session,
        fault: HostFault,
    ) -> Result<Status, SessionError> {
        let hall = self.hall()?;
        session.ended = Some((hall.now(), fault.to_string()));
        self.keep(&session).await?;
        let by = Actor::human(ParticipantId::moothall());
        let _ = hall.submit(&session.id, ClientCommand::Archive { on: true, by }, None).await;
        self.host()?.forget(&session.id).await;
        Err(host_error(fault))
    }
}
