//! Typing by the bot of an agent, if the bot's limits leave room for it.

use std::sync::Arc;
use tokio::time::Instant;

use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};

use super::Telegram;
use super::bot::Bot;
use super::room::Room;

impl Telegram {
    /// Returns the bot by which an agent speaks: the agent's own, or else one that stands for it.
    pub(super) fn bot_for(&self, agent: &ParticipantId) -> Option<Arc<Bot>> {
        let bots = self.bots().into_iter();
        let speaks = |bot: &Arc<Bot>| bot.can_send() && self.agent_of(bot) == agent.as_str();
        bots.filter(speaks).min_by_key(|bot| bot.agent != agent.as_str())
    }

    /// Shows in the chats of a conversation that an agent is typing.
    pub(super) async fn show_in_rooms(&self, stream: &StreamId, agent: &ParticipantId) {
        let bound = self
            .inbox
            .hall()
            .view(stream, |state| state.bindings().filter_map(Chat::of_target).collect::<Vec<_>>())
            .await;
        let Some(bot) = self.bot_for(agent) else { return };
        for room in bound.unwrap_or_default().iter().filter_map(Room::of) {
            // The draft in the chat shows already that the agent writes.
            if self.drafts.has(&bot, room.chat) {
                continue;
            }
            let may = bot.bucket().try_take(Instant::now(), room.chat, room.is_group());
            if may && let Err(fault) = bot.client.send_chat_action(room.chat, room.topic).await {
                tracing::debug!(bot = bot.agent, %fault, "typing could not be shown");
            }
        }
    }
}
