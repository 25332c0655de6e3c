//! The state of the channel for surfaces: the bound chats of the log, and other chats that
//! Telegram's updates have named.

use std::collections::BTreeSet;

use moothall_engine::channels::{ChannelStatus, ChatActivity, ChatState, ChatStatus};
use moothall_engine::hall::HallError;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};

use super::Telegram;
use super::places::Place;
use super::room::{Room, TELEGRAM, account_in};

/// The next step for people if the account of a private chat is not paired.
const UNPAIRED: &str = "The account of this chat is not paired, so nothing is sent there. Pair it \
                        anew, or unbind the chat.";

impl Telegram {
    /// Returns the state of the channel.
    ///
    /// # Errors
    /// [`HallError`] if the bound chats cannot be read.
    pub(super) async fn read_status(&self) -> Result<ChannelStatus, HallError> {
        let bots = self.bots().iter().map(|bot| bot.status()).collect();
        let mut chats = Vec::new();
        let mut bound = self.inbox.hall().bound_chats().await?;
        bound.retain(|(chat, _)| Telegram::serves(chat));
        for (id, place) in self.places.all() {
            let Some(chat) = Room::new(id, None).to_chat() else { continue };
            let is_bound = bound.iter().any(|(other, _)| *other == chat);
            // A chat of which only a topic or a private talk is bound gets no row of its own,
            // unless it waits for a person who opens it.
            let is_part = |(other, _): &(Chat, _)| {
                Room::of(other).is_some_and(|room| self.places.moved_to(room.chat) == id)
            };
            if !is_bound && (place.waiting_since.is_some() || !bound.iter().any(is_part)) {
                chats.push(self.unbound(chat, place));
            }
        }
        let paired = self.inbox.access().accounts().await?;
        let paired: BTreeSet<String> = paired.into_iter().map(|token| token.label).collect();
        chats.extend(bound.into_iter().map(|(chat, stream)| self.bound(chat, stream, &paired)));
        chats.sort_by(|one, other| one.chat.cmp(&other.chat));
        Ok(ChannelStatus { name: TELEGRAM.to_owned(), bots, chats })
    }

    /// Returns the state of a chat without a conversation.
    fn unbound(&self, chat: Chat, place: Place) -> ChatStatus {
        let state = if self.is_left(&place) { ChatState::Away } else { ChatState::Waiting };
        self.chat_status(chat, None, state, place)
    }

    /// Returns the state of a bound chat. If no update came from the chat since the server started,
    /// its bots are not known. A private chat whose account is not paired counts as away.
    fn bound(&self, chat: Chat, stream: StreamId, paired: &BTreeSet<String>) -> ChatStatus {
        let room = Room::of(&chat);
        let known = room.as_ref().and_then(|room| self.places.get(self.places.moved_to(room.chat)));
        let private = room.as_ref().filter(|room| !room.is_group());
        let is_paired = private.is_none_or(|room| paired.contains(&account_in(room)));
        let with = room.and_then(|room| room.with);
        let serves = |agent: &String| self.bots().iter().any(|bot| self.agent_of(bot) == *agent);
        let is_away = match (&known, &with) {
            (Some(place), None) => self.is_left(place),
            (_, Some(agent)) => !serves(agent),
            (None, None) => self.bots().is_empty(),
        };
        let state = if is_away || !is_paired { ChatState::Away } else { ChatState::Bound };
        let mut place = known.unwrap_or_default();
        if let Some(agent) = with.filter(|_| !is_away) {
            // All words of a talk with one agent are addressed to that agent, so its bot receives
            // them.
            place.bots = [(agent, true)].into();
        }
        let status = self.chat_status(chat, Some(stream), state, place);
        match is_paired {
            true => status,
            false => ChatStatus { cure: Some(UNPAIRED.to_owned()), ..status },
        }
    }

    /// True if each bot of this server is known to be outside a chat. If Telegram has reported
    /// nothing about a bot there, the bot counts as inside.
    fn is_left(&self, place: &Place) -> bool {
        place.bots.is_empty() && self.bots().iter().all(|bot| place.gone.contains(&bot.agent))
    }

    fn chat_status(
        &self,
        chat: Chat,
        stream: Option<StreamId>,
        state: ChatState,
        place: Place,
    ) -> ChatStatus {
        let deaf = place.bots.iter().filter(|(_, hears)| !**hears);
        ChatStatus {
            cure: self.cure(&chat, state, &place),
            dropped: self.inbox.dropped(&chat),
            chat,
            title: place.title,
            stream,
            state,
            agents: place.bots.keys().map(ParticipantId::new).collect(),
            deaf: deaf.map(|(agent, _)| ParticipantId::new(agent)).collect(),
            activity: ChatActivity::default(),
        }
    }

    /// Returns the next step for people, if a chat needs one. One bot that hears everything is
    /// enough for all agents.
    fn cure(&self, chat: &Chat, state: ChatState, place: &Place) -> Option<String> {
        let is_private = Room::of(chat).is_some_and(|room| room.with.is_some());
        match state {
            ChatState::Away if is_private => {
                Some("The agent of this talk has no bot. Give it one, or unbind the chat.".into())
            }
            ChatState::Away => Some(
                "No bot is in the chat, or the chat is gone. Add a bot to it, or unbind the chat."
                    .into(),
            ),
            ChatState::Waiting => Some(
                "A paired person with the right threads:admin can open the chat with its button; \
                 or a conversation can be bound to it."
                    .into(),
            ),
            ChatState::Bound => {
                let is_deaf = !place.bots.is_empty() && place.bots.values().all(|hears| !hears);
                is_deaf.then(|| self.cure_of_deaf(place))
            }
        }
    }

    fn cure_of_deaf(&self, place: &Place) -> String {
        let names = self.bots().into_iter().filter(|bot| place.bots.contains_key(&bot.agent));
        let names: Vec<String> = names
            .map(|bot| bot.username().map_or_else(|| bot.agent.clone(), |name| format!("@{name}")))
            .collect();
        let (names, hear) = (names.join(", "), if names.len() == 1 { "hears" } else { "hear" });
        format!(
            "{names} {hear} only commands and replies. Make one bot an admin of the group, or send \
             /setprivacy to @BotFather and add the bot again."
        )
    }
}
