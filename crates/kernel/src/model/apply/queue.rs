//! The queue of messages, and the places at which messages left it.

use crate::model::fold::WAITED_KEPT;
use crate::model::ids::Seq;
use crate::model::state::{Conversation, QueuedMessage};

impl Conversation {
    /// Removes all messages and late answers from the queue.
    pub(super) fn empty_queue(&mut self, at: Seq) {
        let queue = std::mem::take(&mut self.floor.queue);
        let messages = queue.iter().filter(|waiting| waiting.late.is_none());
        self.leaves_queue(messages.map(|waiting| waiting.cause.seq), at);
    }

    /// Notes that messages left the queue. An entry stays while some participant has been shown the
    /// events up to a position at which the message was said but had not left the queue. The next
    /// prompt of that participant must add the message.
    pub(super) fn leaves_queue(&mut self, said: impl IntoIterator<Item = Seq>, at: Seq) {
        let mut waited = std::mem::take(&mut self.floor.waited);
        waited.extend(said.into_iter().map(|said| QueuedMessage { said, left: at }));
        let cursors = self.participants.iter().map(|participant| participant.cursor);
        let running = self.open_turns().filter_map(|turn| turn.running);
        let prompted = running.map(|running| running.through_seq);
        let positions: Vec<Seq> = cursors.chain(prompted).chain(self.summaries.reach()).collect();
        waited.retain(|waited| {
            positions.iter().any(|through| waited.said <= *through && *through < waited.left)
        });
        waited.drain(..waited.len().saturating_sub(WAITED_KEPT));
        self.floor.waited = waited;
    }
}
