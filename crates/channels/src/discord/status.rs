//! The state of the channel for surfaces: the bound chats of the log, with facts of the gateway.

use std::collections::BTreeSet;

use moothall_engine::channels::{ChannelStatus, ChatActivity, ChatState, ChatStatus};
use moothall_engine::hall::HallError;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};

use super::Discord;
use super::guilds::GuildChannel;
use super::room::{ChannelPlace, DISCORD, account_of};

/// The next step for people if no bot is in a channel.
const AWAY: &str = "No bot of this server is in the channel, or the channel is gone. Invite a bot to \
                    the server in Discord, or unbind the chat.";
/// The next step for people if the account of a direct chat is not paired.
const UNPAIRED: &str = "The account of this chat is not paired, so nothing is sent there. Pair it \
                        anew, or unbind the chat.";

impl Discord {
    /// Returns the state of the channel.
    ///
    /// # Errors
    /// [`HallError`] if the bound chats cannot be read.
    pub(super) async fn read_status(&self) -> Result<ChannelStatus, HallError> {
        let bots = self.bots().iter().map(|bot| bot.status()).collect();
        let paired = self.inbox.access().accounts().await?;
        let paired: BTreeSet<String> = paired.into_iter().map(|token| token.label).collect();
        let mut chats = Vec::new();
        for (chat, stream) in self.inbox.hall().bound_chats().await? {
            if let Some(room) = ChannelPlace::of(&chat) {
                chats.push(self.chat_status(chat, stream, &room, &paired));
            }
        }
        chats.sort_by(|one, other| one.chat.cmp(&other.chat));
        Ok(ChannelStatus { name: DISCORD.to_owned(), bots, chats })
    }

    /// Returns the state of a bound chat. `paired` has the labels of the accounts that are paired.
    fn chat_status(
        &self,
        chat: Chat,
        stream: StreamId,
        room: &ChannelPlace,
        paired: &BTreeSet<String>,
    ) -> ChatStatus {
        let bots = self.bots_in(room);
        let known: Vec<(&str, GuildChannel)> = bots
            .iter()
            .filter_map(|bot| Some((bot.agent.as_str(), bot.guilds.channel(room.channel)?)))
            .collect();
        let (state, cure) = match &room.with {
            Some(_) => self.direct_state(room, paired),
            None => channel_state(&known, bots.iter().all(|bot| bot.guilds.is_told())),
        };
        let agents: Vec<ParticipantId> = match &room.with {
            Some(agent) => vec![ParticipantId::new(agent)],
            None => known.iter().map(|(agent, _)| ParticipantId::new(*agent)).collect(),
        };
        let deaf = bots.iter().filter(|bot| !bot.reads_content() && room.with.is_none());
        ChatStatus {
            dropped: self.inbox.dropped(&chat),
            chat,
            title: known.first().map(|(_, channel)| channel.title.clone()).unwrap_or_default(),
            stream: Some(stream),
            state,
            deaf: deaf.map(|bot| ParticipantId::new(&bot.agent)).collect(),
            agents,
            cure,
            activity: ChatActivity::default(),
        }
    }

    /// Returns the state of a direct chat, with the next step for people. A person who is not known
    /// yet counts as paired.
    fn direct_state(
        &self,
        room: &ChannelPlace,
        paired: &BTreeSet<String>,
    ) -> (ChatState, Option<String>) {
        let person = super::lock(&self.people).get(&room.channel).copied();
        let is_paired = person.is_none_or(|person| paired.contains(&account_of(person)));
        match (self.bots_in(room).is_empty(), is_paired) {
            (true, _) => (ChatState::Away, Some(AWAY.to_owned())),
            (false, false) => (ChatState::Away, Some(UNPAIRED.to_owned())),
            (false, true) => (ChatState::Bound, None),
        }
    }
}

/// Returns the state of a channel, with the next step for people. Until the gateway has reported a
/// Discord server to every bot (`is_told`), a bot is perhaps in the channel, so the channel does
/// not count as away.
fn channel_state(known: &[(&str, GuildChannel)], is_told: bool) -> (ChatState, Option<String>) {
    match known.first() {
        None if is_told => (ChatState::Away, Some(AWAY.to_owned())),
        None => (ChatState::Bound, None),
        Some((bot, channel)) if !channel.missing.is_empty() => {
            let missing = channel.missing.join(", ");
            let cure = format!("Give the bot of {bot} these permissions here: {missing}.");
            (ChatState::Bound, Some(cure))
        }
        Some(_) => (ChatState::Bound, None),
    }
}
