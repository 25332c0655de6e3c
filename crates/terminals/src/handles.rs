//! Programs that were started for a gathering: they end with it. (Ruling 28.)

use moothall_engine::answers::HallError;
use moothall_engine::residents::ResidentHall;
use moothall_engine::sessions::{SessionError, SessionId};
use moothall_kernel::Conversation;
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::gathering::GatheringEvent;
use moothall_kernel::ids::StreamId;

use crate::directory::Sessions;

/// The reason given for the end of such a program.
const WITH_ITS_GATHERING: &str = "the gathering that it was started for is over";

impl Sessions {
    /// Ends the programs that were started for a gathering, if these events close the gathering, or
    /// archive or erase its conversation.
    pub(super) fn end_with_gathering(&self, stream: &StreamId, events: &[RecordedEvent]) {
        let is_over = events.iter().any(|recorded| {
            let closed = matches!(
                recorded.event,
                Event::Gathering(GatheringEvent::Closed { .. }) | Event::Archived { .. }
            );
            closed || recorded.event.erases_all()
        });
        if is_over {
            self.end_started_for(stream);
        }
    }

    /// Ends the programs of gatherings that closed just before the server stopped.
    pub(super) async fn end_with_past_gatherings(&self, hall: &ResidentHall) {
        let living = self.list(false).into_iter();
        for gathering in living.filter_map(|status| status.session.until) {
            let goes_on = |state: &Conversation| state.gathering().is_some();
            match hall.view(&gathering, goes_on).await {
                Ok(true) => {}
                Ok(false) | Err(HallError::NotFound(_) | HallError::Deleted(_)) => {
                    self.end_started_for(&gathering);
                }
                Err(error) => {
                    tracing::warn!(%gathering, %error, "a gathering with live programs cannot be \
                                                        read");
                }
            }
        }
    }

    /// Ends, in tasks of their own, the living sessions that were started for a gathering.
    fn end_started_for(&self, gathering: &StreamId) {
        let Ok(hall) = self.hall() else { return };
        let all = self.list(false).into_iter();
        for session in all.filter(|status| status.session.until.as_ref() == Some(gathering)) {
            let (own, id) = (self.clone(), session.session.id);
            hall.spawn(async move { own.end_of_gathering(&id).await });
        }
    }

    /// Ends a session that was started for a gathering that is over. It may have ended already.
    async fn end_of_gathering(&self, session: &SessionId) {
        match self.end_because(session, WITH_ITS_GATHERING.to_owned()).await {
            Ok(()) | Err(SessionError::Ended { .. } | SessionError::NotFound(_)) => {}
            Err(error) => {
                tracing::warn!(%session, %error, "a program of a closed gathering could not be \
                                                  ended");
            }
        }
    }
}
