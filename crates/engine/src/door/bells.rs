//! Doorbells, as far as a caller may hear them.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::{Action, Door};
use crate::access::{Denied, Reach};
use crate::hall::Bell;

/// The doorbells of what is within somebody's reach.
pub struct Bells {
    bells: broadcast::Receiver<Bell>,
    reach: Reach,
}

impl Door {
    /// Hears the doorbells from now on.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn bells(&self) -> Result<Bells, Denied> {
        self.may(Action::ListenToAll)?;
        Ok(Bells { bells: self.hall.bells(), reach: self.caller.reach.clone() })
    }
}

impl Bells {
    /// The next doorbell of a conversation within reach; of sessions, which belong to no conversation, for those who reach all.
    ///
    /// # Errors
    /// [`RecvError`], when whoever listens was too slow, or the hall is gone.
    pub async fn next(&mut self) -> Result<Bell, RecvError> {
        loop {
            let bell = self.bells.recv().await?;
            let heard = match &bell {
                Bell::Head { stream, .. } | Bell::Presence { stream, .. } => self.reach.includes(stream),
                Bell::Sessions => matches!(self.reach, Reach::All | Reach::Session(_)),
            };
            if heard {
                return Ok(bell);
            }
        }
    }
}
