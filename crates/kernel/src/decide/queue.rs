//! The queue of a conversation: messages that wait until others are dealt with. It is bounded, so
//! that a conversation costs the same however fast people write. (Ruling 14.)

use crate::decide::Decider;
use crate::model::event::WhyNot;
use crate::model::ids::ParticipantId;
use crate::model::state::{Conversation, WakingWords};

/// One sender holds at most this part of a queue, so that the others have places too.
const SHARE_OF_ONE: usize = 4;
/// The reason that is recorded for each agent.
const FULL: &str = "too many messages wait already; stop the conversation, or wait for them";

impl Conversation {
    /// True if a message of this sender finds no place in the queue. Late answers of agents take no
    /// place: the turns that are granted bound their number.
    pub(crate) fn is_queue_full(&self, sender: &ParticipantId) -> bool {
        let own = self.queued().filter(|cause| cause.from == *sender).count();
        self.queued().count() >= self.queue_max() || own >= self.queue_share()
    }

    /// Returns how many messages wait at most.
    pub(crate) fn queue_max(&self) -> usize {
        usize::try_from(self.policy.max_queued_messages).unwrap_or(usize::MAX)
    }

    /// Returns how many of them may be one sender's.
    pub(crate) fn queue_share(&self) -> usize {
        self.queue_max() / SHARE_OF_ONE
    }
}

impl Decider<'_> {
    /// Records for each agent that the message would have asked that it is not asked.
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
