//! Channels of Discord servers: the opening of a conversation in a channel, and the removal of a
//! bot.

use moothall_engine::access::Caller;
use moothall_kernel::slash::{self, Slash};
use serde_json::Value;

use super::Discord;
use super::bot::DiscordBot;
use super::names::mentioned;
use super::receive::HeardMessage;
use super::room::ChannelPlace;
use crate::inbox::OpeningChat;
use crate::receive::{TryAgain, passing};

/// The line for a channel without a conversation.
pub(super) const NOT_CONNECTED: &str = "This channel is not connected to a conversation, and nothing of it is stored. A paired person \
     with the right threads:admin can open it: /group create and the names of agents.";

impl Discord {
    /// Takes words of a paired person in a channel without a conversation. `/group create` opens
    /// one. Other words are not stored; if they mention a bot, they are answered at most once a
    /// minute.
    ///
    /// # Errors
    /// [`TryAgain`] if the channel could not be opened now.
    pub(super) async fn receive_unbound(
        &self,
        bot: &DiscordBot,
        heard: &HeardMessage,
        person: &Caller,
    ) -> Result<(), TryAgain> {
        let Some(chat) = heard.room.to_chat() else { return Ok(()) };
        if let Ok(Slash::GroupCreate(agents)) = slash::parse(&heard.text) {
            let key = format!("{chat}:{}", heard.id);
            if !self.inbox.take(&key) {
                return Ok(());
            }
            let title = self.title_of(heard.room.channel).unwrap_or_else(|| "Discord".into());
            let opening = OpeningChat { chat, title, key: key.clone() };
            let opened = self.open_channel(person, &opening, &agents).await;
            if opened.is_err() {
                self.inbox.give_back(&key);
            }
            if let Some(refusal) = opened? {
                self.say(bot, &heard.room, &refusal, Some(heard.id)).await;
            }
            return Ok(());
        }
        if self.is_for_bot(&heard.message) && self.inbox.may_answer_stranger(&chat.key()) {
            self.say(bot, &heard.room, NOT_CONNECTED, Some(heard.id)).await;
        }
        Ok(())
    }

    /// Opens a channel with agents that a person names. Returns the refusal, if there is one.
    ///
    /// # Errors
    /// [`TryAgain`] if it could not be opened now.
    pub(super) async fn open_channel(
        &self,
        person: &Caller,
        opening: &OpeningChat,
        agents: &[String],
    ) -> Result<Option<String>, TryAgain> {
        let opened = self.inbox.open_with(person, opening, agents).await;
        self.inbox.opening_refused(opened)
    }

    /// True if a message mentions a bot of this server.
    pub(super) fn is_for_bot(&self, message: &Value) -> bool {
        let names = self.bot_names();
        let text = message["content"].as_str().unwrap_or_default();
        mentioned(text).any(|id| names.contains_key(&id))
    }

    /// Returns the name of a channel, if the gateway has reported the channel to a bot.
    pub(super) fn title_of(&self, channel: u64) -> Option<String> {
        self.bots().iter().find_map(|bot| bot.guilds.channel(channel)).map(|known| known.title)
    }

    /// Takes the agent of a bot out of the conversations of channels that the bot lost, unless
    /// another bot of this server is still in the channel. The relay has no agent, and changes
    /// nothing.
    ///
    /// # Errors
    /// [`TryAgain`] if a change could not be stored now.
    pub(super) async fn leave_lost(
        &self,
        bot: &DiscordBot,
        channels: &[u64],
    ) -> Result<(), TryAgain> {
        if bot.is_relay() {
            return Ok(());
        }
        let bound = self.inbox.hall().bound_chats().await.map_err(passing)?;
        for (chat, _) in &bound {
            let is_lost =
                |room: ChannelPlace| channels.contains(&room.channel) && room.with.is_none();
            // While another bot is there, a webhook says the words of the agent.
            let is_here = |room: &ChannelPlace| self.title_of(room.channel).is_some();
            let room = ChannelPlace::of(chat);
            if room.clone().is_some_and(is_lost) && !room.as_ref().is_some_and(is_here) {
                self.inbox.take_out(chat, &bot.agent).await?;
            }
        }
        Ok(())
    }
}
