//! The port of channels: the interface by which the server uses each of them.

use std::sync::Arc;

use async_trait::async_trait;
use moothall_engine::channels::{BotStatus, ChannelError, ChannelStatus, PairingLink};
use moothall_engine::hall::HallError;
use moothall_engine::outbox::{DeliveryNotes, Outcome};
use moothall_engine::ports::Delivery;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};

/// A channel to the chats of one product.
#[async_trait]
pub(crate) trait Channel: Send + Sync + 'static {
    /// Returns the name of the channel, such as `telegram`. Its chats and accounts begin with it.
    fn name(&self) -> &'static str;

    /// Returns the name under which people add the account that speaks for the server; `None` for a
    /// channel without such an account.
    fn relay(&self) -> Option<&'static str> {
        None
    }

    /// True if the channel has an account to speak by. Otherwise no chat of it can be bound,
    /// because its deliveries would wait for ever.
    fn has_voice(&self) -> bool;

    /// True if the channel waits for the operator after a restore.
    fn is_stopped(&self) -> bool;

    /// Lets the channel and its bots run again. Returns false if neither the channel nor a bot had
    /// stopped.
    fn resume(&self) -> bool;

    /// Returns the state of the channel.
    ///
    /// # Errors
    /// [`HallError`] if the bound chats cannot be read.
    async fn status(&self) -> Result<ChannelStatus, HallError>;

    /// Gives an agent of the registry a bot: checks its token, keeps it and connects it.
    ///
    /// # Errors
    /// [`ChannelError`]; the bot is not stored then.
    async fn add_bot(self: Arc<Self>, agent: &str, token: &str) -> Result<BotStatus, ChannelError>;

    /// Offers the accounts of a person to make a bot for an agent by a button. Returns the accounts
    /// that got the button.
    ///
    /// # Errors
    /// [`ChannelError`] if no account got the button.
    async fn offer_bot(
        &self,
        agent: &str,
        person: &ParticipantId,
    ) -> Result<Vec<String>, ChannelError>;

    /// Takes a bot from its agent. Returns false if the agent has none that was added at run time.
    ///
    /// # Errors
    /// [`ChannelError`] if the change cannot be stored.
    fn remove_bot(&self, agent: &str) -> Result<bool, ChannelError>;

    /// Returns the links by which a pairing code reaches the channel.
    fn pairing_links(&self, code: &str) -> Vec<PairingLink>;

    /// Carries a delivery to a chat of the channel.
    async fn carry(&self, delivery: &Delivery, chat: &Chat, notes: &DeliveryNotes<'_>) -> Outcome;

    /// Notes that an agent began to think, or still does.
    async fn note_thinking(self: Arc<Self>, stream: &StreamId, agent: &ParticipantId);

    /// Shows in the chats of a conversation that an agent is typing.
    async fn show_typing(&self, stream: &StreamId, agent: &ParticipantId);

    /// Ends the tasks of the channel.
    fn close(&self);
}
