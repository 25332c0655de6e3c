//! The number of messages, so that a prompt can say how many it leaves out.

use serde::{Deserialize, Serialize};

use crate::model::event::Posted;
use crate::model::ids::Seq;

/// The number of messages in a conversation, including those for a few readers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MessageCounters {
    /// Messages that have words, including queued ones.
    pub(crate) messages: u64,
    /// The message erased last. Two people may erase the same message at the same time, and it must
    /// be subtracted only one time.
    pub(crate) erased: Seq,
}

impl MessageCounters {
    pub(crate) fn apply_posted(&mut self, posted: &Posted) {
        self.messages += u64::from(posted.is_for_prompts());
    }

    pub(crate) fn apply_redacted(&mut self, seq: Seq, message: bool) {
        if message && self.erased != seq {
            self.messages = self.messages.saturating_sub(1);
            self.erased = seq;
        }
    }
}
