//! Notifications, as far as a caller may hear them.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::{Action, Door};
use crate::access::{Denied, Reach};
use crate::hall::HallChange;

/// The changes that are within somebody's reach.
pub struct Changes {
    changes: broadcast::Receiver<HallChange>,
    reach: Reach,
}

impl Door {
    /// Hears the notifications from now on.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn changes(&self) -> Result<Changes, Denied> {
        self.may(Action::ListenToAll)?;
        Ok(Changes { changes: self.hall.changes(), reach: self.caller.reach.clone() })
    }
}

impl Changes {
    /// The next notification of a conversation within reach; of sessions, which belong to no
    /// conversation, for those who reach all.
    ///
    /// # Errors
    /// [`RecvError`], when whoever listens was too slow, or the hall is gone.
    pub async fn next(&mut self) -> Result<HallChange, RecvError> {
        loop {
            let bell = self.changes.recv().await?;
            let heard = match &bell {
                HallChange::Head { stream, .. } | HallChange::Presence { stream, .. } => {
                    self.reach.includes(stream)
                }
                HallChange::Sessions => matches!(self.reach, Reach::All | Reach::Session(_)),
            };
            if heard {
                return Ok(bell);
            }
        }
    }
}
