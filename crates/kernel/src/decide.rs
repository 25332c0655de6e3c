//! Decides about commands.

use crate::command::{Command, Facts, Rejection};
use crate::event::Recorded;
use crate::state::Conversation;
use crate::time::Timestamp;

impl Conversation {
    /// Decides about a command: the events are already applied to `self` when they are returned.
    ///
    /// The first event is the one that answers the command; no event means that nothing had to change.
    ///
    /// # Errors
    /// [`Rejection`] when the rules say no. Its `kept` events are applied too, and have to be appended all the same.
    pub fn handle(&mut self, _now: Timestamp, _command: Command, _facts: &Facts) -> Result<Vec<Recorded>, Rejection> {
        Ok(Vec::new())
    }

    pub(crate) fn wake_at(&self) -> Option<Timestamp> {
        None
    }
}
