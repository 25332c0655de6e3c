//! The queue of messages that wait for earlier ones. Its bound keeps the cost of a conversation
//! constant, however fast people write. (Ruling 14.)

use crate::decide::Decider;
use crate::model::event::WhyNot;
use crate::model::ids::ParticipantId;
use crate::model::state::{Conversation, WakingWords};

/// Divisor of the queue's size that gives the share of one sender, so that others find places.
const SHARE_OF_ONE: usize = 4;
/// The reason recorded for each agent that is not asked.
const FULL: &str = "too many messages wait already; stop the conversation, or wait for them";

impl Conversation {
    /// True if the queue has no place for a message of this sender. Late answers of agents take no
    /// place: the granted turns bound their number.
    pub(crate) fn is_queue_full(&self, sender: &ParticipantId) -> bool {
        let own = self.queued().filter(|cause| cause.from == *sender).count();
        self.queued().count() >= self.queue_max() || own >= self.queue_share()
    }

    /// Returns the maximum number of waiting messages.
    pub(crate) fn queue_max(&self) -> usize {
        usize::try_from(self.policy.max_queued_messages).unwrap_or(usize::MAX)
    }

    /// Returns the maximum number of waiting messages of one sender.
    pub(crate) fn queue_share(&self) -> usize {
        self.queue_max() / SHARE_OF_ONE
    }
}

impl Decider<'_> {
    /// Records the full queue as the reason for each agent that the message would have asked.
    pub(crate) fn skip_for_full_queue(&mut self, spoken: &WakingWords) {
        let asked = if spoken.asks.is_empty() {
            let nomination = (self.state.rules().nominate)(self.state, spoken);
            nomination.forced.into_iter().chain(nomination.polled).collect()
        } else {
            spoken.asks.clone()
        };
        for id in asked {
            self.skip(&id, WhyNot::QueueFull, &spoken.cause, Some(FULL));
        }
    }
}
