//! How much was said: a number, so that a prompt can say how much of it is not in it.

use serde::{Deserialize, Serialize};

use crate::model::event::Posted;
use crate::model::ids::{ParticipantId, Seq};

/// What a conversation knows of its messages. They are for everybody (`Event::audience`), so one
/// number holds for every viewer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MessageCounters {
    /// Messages that have words, those in the queue among them.
    pub(crate) messages: u64,
    /// The message whose words were erased last: two people may erase the same one at once.
    pub(crate) erased: Seq,
}

impl MessageCounters {
    pub(crate) fn apply_posted(&mut self, posted: &Posted) {
        self.messages += u64::from(posted.from.as_str() != ParticipantId::MOOTHALL);
    }

    pub(crate) fn apply_redacted(&mut self, seq: Seq, message: bool) {
        if message && self.erased != seq {
            self.messages = self.messages.saturating_sub(1);
            self.erased = seq;
        }
    }
}
