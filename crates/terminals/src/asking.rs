//! What the tasks of sessions are told from outside, beside turns.

use std::time::Duration;

use moothall_engine::sessions::session_of;
use moothall_kernel::Conversation;
use moothall_kernel::ids::{PermissionId, StreamId};

use crate::directory::Sessions;
use crate::mail::Mail;

/// How long an answer may wait for a look at the terminal.
const LOOK_WITHIN: Duration = Duration::from_secs(5);

impl Sessions {
    /// Sees whether what a session asked stands there still, before somebody answers it: what does not is withdrawn when this returns.
    pub(crate) async fn see_question(&self, stream: &StreamId, permission: &PermissionId) {
        let Ok(hall) = self.hall() else { return };
        let wanted = permission.clone();
        let asker = move |state: &Conversation| {
            let turn = state.open_turns().find(|turn| turn.permissions().any(|open| *open == wanted))?;
            session_of(state.participant(&turn.participant)?)
        };
        let Ok(Some(session)) = hall.view(stream, asker).await else { return };
        // A terminal that cannot be looked at now is looked at again before a key is pressed.
        let _ = tokio::time::timeout(LOOK_WITHIN, self.ask_runner(&session, Mail::Look)).await;
    }

    /// What programs that run as the server's own user reported while no server ran has been brought.
    pub fn caught_up(&self) {
        let own = self.list(false).into_iter().filter(|status| status.session.run_as.is_none());
        for seat in own.filter_map(|status| self.seat_of(&status.session.id)) {
            // One that is over needs to know nothing.
            let _ = seat.send(Mail::CaughtUp);
        }
    }
}
