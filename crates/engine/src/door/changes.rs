//! Notifications of changes within a caller's reach.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::{Action, Door};
use crate::access::{AccessDenial, Reach};
use crate::hall::HallChange;

/// The changes within a caller's reach.
pub struct Changes {
    changes: broadcast::Receiver<HallChange>,
    door: Door,
}

impl Door {
    /// Subscribes to notifications from now on.
    ///
    /// # Errors
    /// [`AccessDenial`].
    pub fn changes(&self) -> Result<Changes, AccessDenial> {
        self.may(Action::ListenToAll)?;
        Ok(Changes { changes: self.hall.changes(), door: self.clone() })
    }
}

impl Changes {
    /// Returns the door of the caller.
    pub fn door(&self) -> &Door {
        &self.door
    }

    /// Waits for the next notification of a conversation within reach. Changes of sessions, which
    /// belong to no conversation, go to callers that reach all and to sessions.
    ///
    /// # Errors
    /// [`RecvError`], if the listener was too slow, or the hall was dropped.
    pub async fn next(&mut self) -> Result<HallChange, RecvError> {
        loop {
            let change = self.changes.recv().await?;
            let reach = &self.door.caller.reach;
            let heard = match &change {
                HallChange::Head { stream, .. }
                | HallChange::Presence { stream, .. }
                | HallChange::States { stream, .. } => reach.includes(stream),
                HallChange::Sessions => matches!(reach, Reach::All | Reach::Session(_)),
            };
            if heard {
                return Ok(change);
            }
        }
    }
}
