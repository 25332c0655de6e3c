//! Deliveries to chats through the door: their list, and sending a failed one again.

use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Refusal, Rejection};
use moothall_kernel::ids::{Seq, StreamId};

use super::{Action, Door};
use crate::access::AccessError;
use crate::answers::HallError;
use crate::outbox::CarryNotes;
use crate::ports::{Delivery, DeliveryState, Durability, Target};

/// Most deliveries of one chat that are read for a list. Those of other conversations do not
/// appear.
const LISTED_MAX: usize = 200;

/// A delivery of a conversation to a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatDelivery {
    /// The id of the delivery.
    pub id: u64,
    /// The position of the event that is delivered.
    pub seq: Seq,
    /// The chat.
    pub chat: Chat,
    /// The progress.
    pub state: DeliveryState,
    /// The reason for the state, for people.
    pub why: Option<String>,
}

impl ChatDelivery {
    fn of(delivery: &Delivery) -> Option<Self> {
        let Target::Chat(chat) = &delivery.target else { return None };
        Some(Self {
            id: delivery.id,
            seq: delivery.through_seq,
            chat: chat.clone(),
            state: delivery.state,
            why: CarryNotes::reason(&delivery.evidence),
        })
    }
}

impl Door {
    /// Returns the newest deliveries of a conversation to the chats that it is bound to, newest
    /// first.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller or cannot be read.
    pub async fn chat_deliveries(
        &self,
        stream: &StreamId,
    ) -> Result<Vec<ChatDelivery>, AccessError> {
        self.enter(Action::ReadThread, stream)?;
        let newest = self.newest_to_chats(stream).await?;
        let mut found: Vec<ChatDelivery> = newest.iter().filter_map(ChatDelivery::of).collect();
        found.sort_by_key(|delivery| std::cmp::Reverse(delivery.id));
        Ok(found)
    }

    /// Returns the conversation's part of the newest deliveries to each chat that it is bound to
    /// now.
    async fn newest_to_chats(&self, stream: &StreamId) -> Result<Vec<Delivery>, HallError> {
        let chats: Vec<Chat> = self.hall.view(stream, |state| state.chats().collect()).await?;
        let (outbox, mut found) = (&self.hall.inner.store.outbox, Vec::new());
        for chat in chats {
            let all = outbox.of_target(&Target::Chat(chat), None, LISTED_MAX).await?;
            found.extend(all.into_iter().filter(|one| one.stream == *stream));
        }
        Ok(found)
    }

    /// Sends a delivery again if it failed or is in doubt. Parts of it that are known to have
    /// arrived are not repeated. A delivery to a chat that was unbound in the meantime is not sent.
    ///
    /// # Errors
    /// [`AccessError`]; `not_undelivered` if this delivery is not among the newest ones of the
    /// conversation, or neither failed nor is in doubt.
    pub async fn send_again(&self, stream: &StreamId, id: u64) -> Result<(), AccessError> {
        self.enter(Action::SendAgain, stream)?;
        // Only deliveries to chats are sent again. A delivery to a computer keeps its number, and
        // its receiver has passed that number, so all later deliveries would wait for it.
        let outbox = &self.hall.inner.store.outbox;
        let all = self.newest_to_chats(stream).await?;
        let in_doubt = [DeliveryState::Failed, DeliveryState::Unknown];
        let found = all.into_iter().find(|one| one.id == id && in_doubt.contains(&one.state));
        let Some(delivery) = found else { return Err(not_undelivered().into()) };
        let notes = CarryNotes::read(&delivery.evidence).to_go_on().text();
        let moved = outbox
            .advance(id, &in_doubt, DeliveryState::Pending, &notes, Durability::Synced)
            .await
            .map_err(HallError::from)?;
        if !moved {
            return Err(not_undelivered().into());
        }
        self.hall.inner.outbox.serve(&delivery.target);
        Ok(())
    }
}

fn not_undelivered() -> HallError {
    HallError::Rejected(Box::new(Rejection::new(
        Refusal::Conflict,
        "not_undelivered",
        "This conversation has no message with this id whose sending failed or is in doubt.",
    )))
}
