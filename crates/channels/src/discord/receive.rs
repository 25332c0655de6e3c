//! Messages of the gateway as words for the hall. A message enters one time, even if several bots
//! see it.

use moothall_engine::access::{AccessError, Caller, Secret};
use moothall_kernel::chat::{Chat, OverheardWords, PostOrigin};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::slash;
use serde_json::Value;

use super::Discord;
use super::bot::DiscordBot;
use super::client::{PAGE, RestFailure, id_in};
use super::gateway::GatewayNews;
use super::names::{shown_name, with_names};
use super::room::{ChannelPlace, account_of};
use crate::config::StrangersRule;
use crate::inbox::{InboundWords, OpeningChat};
use crate::receive::{Entry, TryAgain, pairing_code, passing};

/// Kinds of messages that people write; the others are notes of Discord itself.
const WORDS: [u64; 2] = [0, 19];

/// A message that a bot received in a place.
pub(super) struct HeardMessage {
    /// The id of the message.
    pub(super) id: u64,
    /// The place of the message.
    pub(super) room: ChannelPlace,
    /// The words of the message. Names of bots are written as names of agents, and files as lines.
    pub(super) text: String,
    /// The whole message.
    pub(super) message: Value,
}

impl HeardMessage {
    /// Returns the account of the author.
    fn account(&self) -> String {
        account_of(id_in(&self.message["author"], "id").unwrap_or_default())
    }

    /// Returns the key under which the message enters one time.
    fn key(&self, chat: &Chat) -> String {
        format!("{}:{}", chat.key(), self.id)
    }
}

/// Returns the reason to receive something again after a call that failed.
fn unanswered(fault: &RestFailure) -> TryAgain {
    TryAgain { why: fault.to_string(), is_known: true }
}

impl Discord {
    /// Takes one piece of news of the gateway for a bot.
    ///
    /// # Errors
    /// [`TryAgain`] if it could not be stored now.
    pub(super) async fn receive(
        &self,
        bot: &DiscordBot,
        received: &GatewayNews,
    ) -> Result<(), TryAgain> {
        match received {
            GatewayNews::Begun => self.catch_up(bot).await,
            GatewayNews::Lost(channels) => self.leave_lost(bot, channels).await,
            GatewayNews::Message { message, is_edit } => {
                let is_direct = message["guild_id"].is_null();
                let agent = self.agent_of(bot).filter(|_| is_direct);
                let Some(channel) = id_in(message, "channel_id") else { return Ok(()) };
                let room = match agent {
                    Some(agent) => ChannelPlace::direct(channel, &agent),
                    None => ChannelPlace::new(channel),
                };
                match is_edit {
                    true => self.receive_edit(bot, room, message).await,
                    false => self.receive_message(bot, room, is_direct, message).await,
                }
            }
        }
    }

    /// Reads back the messages in bound places that came after the newest message taken there,
    /// because the bot was perhaps not connected.
    async fn catch_up(&self, bot: &DiscordBot) -> Result<(), TryAgain> {
        for (chat, _) in self.inbox.hall().bound_chats().await.map_err(passing)? {
            let Some(room) = ChannelPlace::of(&chat) else { continue };
            let is_other = room.with.is_some() && room.with != self.agent_of(bot);
            if is_other {
                continue;
            }
            while let Some(after) = self.seen.newest(room.channel) {
                let page = match bot.client.messages_after(room.channel, after).await {
                    Ok(page) => page,
                    Err(fault) if fault.is_passing() => return Err(unanswered(&fault)),
                    // The bot is not there, or has no right to read back.
                    Err(_) => break,
                };
                let (count, is_direct) = (page.len(), room.with.is_some());
                for message in &page {
                    self.receive_message(bot, room.clone(), is_direct, message).await?;
                }
                if count < PAGE {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Takes a new message.
    async fn receive_message(
        &self,
        bot: &DiscordBot,
        room: ChannelPlace,
        is_direct: bool,
        message: &Value,
    ) -> Result<(), TryAgain> {
        let Some(heard) = self.heard(room, message) else { return Ok(()) };
        let (channel, id) = (heard.room.channel, heard.id);
        if self.is_own(bot, message) {
            self.seen.note(channel, id);
            return Ok(());
        }
        if !is_direct && self.void_code(bot, &heard).await? {
            self.seen.note(channel, id);
            return Ok(());
        }
        let is_person = message["author"]["bot"] != true && message["webhook_id"].is_null();
        match (is_person, is_direct) {
            (false, _) => self.receive_from_bot(&heard).await,
            (true, true) => self.receive_direct(bot, &heard).await,
            (true, false) => self.receive_in_channel(bot, &heard).await,
        }?;
        // The note comes last, so that a message that could not be stored is read back later.
        self.seen.note(channel, id);
        Ok(())
    }

    /// Makes a pairing code invalid that a message shows to the members of a channel. Returns true
    /// if the message had a code.
    async fn void_code(&self, bot: &DiscordBot, heard: &HeardMessage) -> Result<bool, TryAgain> {
        let code = Secret::pairing_code_in(&heard.text);
        let Some((code, chat)) = code.zip(heard.room.to_chat()) else { return Ok(false) };
        if let Some(text) = self.inbox.void_code(code, &chat, &heard.key(&chat)).await? {
            self.say(bot, &heard.room, &text, Some(heard.id)).await;
        }
        Ok(true)
    }

    /// Reads a message; `None` if people did not write it, such as a notice of Discord itself.
    fn heard(&self, room: ChannelPlace, message: &Value) -> Option<HeardMessage> {
        let id = id_in(message, "id")?;
        let is_words = message["type"].as_u64().is_none_or(|kind| WORDS.contains(&kind));
        let text =
            with_names(message["content"].as_str().unwrap_or_default(), message, &self.bot_names());
        let lines = sent_lines(message).chain((!text.is_empty()).then_some(text));
        let text = lines.collect::<Vec<_>>().join("\n");
        is_words.then(|| HeardMessage { id, room, text, message: message.clone() })
    }

    /// True if a message is of a bot of this server, or of a webhook of one. A message of the
    /// receiving bot itself is noted if this server is not known to have sent it.
    fn is_own(&self, bot: &DiscordBot, message: &Value) -> bool {
        let by = id_in(message, "webhook_id").or_else(|| id_in(&message["author"], "id"));
        let (Some(by), Some(channel), Some(id)) =
            (by, id_in(message, "channel_id"), id_in(message, "id"))
        else {
            return false;
        };
        if bot.id() == Some(by) {
            bot.own.suspect(channel, id);
            return true;
        }
        let application = id_in(message, "application_id");
        let is_ours = |other: Option<u64>| self.bots().iter().any(|bot| bot.id() == other);
        self.hooks.has(by) || is_ours(Some(by)) || (application.is_some() && is_ours(application))
    }

    /// Takes a message of a person to one bot alone. A pairing code pairs the account. Other words
    /// of a paired person go to the bot's agent, in a conversation that the first such message
    /// opens.
    async fn receive_direct(&self, bot: &DiscordBot, heard: &HeardMessage) -> Result<(), TryAgain> {
        let (room, account) = (&heard.room, heard.account());
        let Some(chat) = room.to_chat() else { return Ok(()) };
        if let Some(author) = id_in(&heard.message["author"], "id") {
            super::lock(&self.people).insert(room.channel, author);
        }
        if let Some(code) = pairing_code(&heard.text) {
            let use_of_it = "What you write to this bot goes to its agent.";
            let text = self.inbox.pair(code, &account, use_of_it).await?;
            self.say(bot, room, &text, Some(heard.id)).await;
            return Ok(());
        }
        let Some(person) = self.inbox.person(&account).await.map_err(passing)? else {
            self.inbox.drop_words(&chat);
            return self.answer_stranger(bot, heard).await;
        };
        let Some(agent) = room.with.clone() else {
            let text = "This bot speaks for the server, and no agent hears what is written to it \
                        alone. An operator can set `default_agent`.";
            self.say(bot, room, text, Some(heard.id)).await;
            return Ok(());
        };
        let stream = match self.inbox.bound(&chat).await.map_err(passing)? {
            Some(stream) => stream,
            None => {
                let name = shown_name(&heard.message["author"]);
                let title = format!("{name} and {agent} (Discord)");
                let place = OpeningChat { key: heard.key(&chat), chat: chat.clone(), title };
                match self.inbox.open_private(&person, &place, &agent).await {
                    Ok(stream) => stream,
                    Err(error) => return self.refuse(bot, heard, error).await,
                }
            }
        };
        self.enter(bot, heard, &person, &stream, Some(agent)).await
    }

    /// Takes a message of a person in a channel or a thread. In a bound place, words of an unpaired
    /// person are treated as the rule about strangers says.
    async fn receive_in_channel(
        &self,
        bot: &DiscordBot,
        heard: &HeardMessage,
    ) -> Result<(), TryAgain> {
        let Some(chat) = heard.room.to_chat() else { return Ok(()) };
        let person = self.inbox.person(&heard.account()).await.map_err(passing)?;
        let stream = self.inbox.bound(&chat).await.map_err(passing)?;
        match (person, stream) {
            (Some(person), Some(stream)) => self.enter(bot, heard, &person, &stream, None).await,
            (Some(person), None) => self.receive_unbound(bot, heard, &person).await,
            (None, _) if self.is_for_bot(&heard.message) && is_help(&heard.text) => {
                self.inbox.drop_words(&chat);
                self.answer_stranger(bot, heard).await
            }
            (None, Some(stream)) => self.hear_stranger(heard, chat, &stream).await,
            (None, None) => Ok(()),
        }
    }

    /// Takes a message of a bot or a webhook of another program.
    async fn receive_from_bot(&self, heard: &HeardMessage) -> Result<(), TryAgain> {
        let Some(chat) = heard.room.to_chat() else { return Ok(()) };
        match self.inbox.bound(&chat).await.map_err(passing)? {
            Some(stream) => self.hear_stranger(heard, chat, &stream).await,
            None => Ok(()),
        }
    }

    /// Takes words of an author who is not paired. They are dropped unless the rule is to observe.
    /// Words that are observed are stored, but wake no agent and command nothing.
    async fn hear_stranger(
        &self,
        heard: &HeardMessage,
        chat: Chat,
        stream: &StreamId,
    ) -> Result<(), TryAgain> {
        if self.settings.strangers != StrangersRule::Observe || heard.text.is_empty() {
            self.inbox.drop_words(&chat);
            return Ok(());
        }
        let (key, name) = (heard.key(&chat), shown_name(&heard.message["author"]).to_owned());
        let origin = PostOrigin {
            chat,
            identity: Some(heard.account()),
            message: Some(heard.id.to_string()),
        };
        let words = OverheardWords { origin, name, body: heard.text.clone() };
        self.inbox.overhear(stream, words, key).await.map_err(passing)
    }

    /// Runs a command or posts words, and answers a refusal in the same place.
    async fn enter(
        &self,
        bot: &DiscordBot,
        heard: &HeardMessage,
        person: &Caller,
        stream: &StreamId,
        to: Option<String>,
    ) -> Result<(), TryAgain> {
        if heard.text.is_empty() {
            return Ok(());
        }
        let Some(words) = self.words_of(heard, to) else { return Ok(()) };
        match self.inbox.take_words(person, stream, words, false).await? {
            Entry::Posted(Some(seq)) => {
                self.note_message(heard.room.channel, heard.id, (stream.clone(), seq));
                self.begin_seen(heard.room.channel, heard.id);
            }
            Entry::Answered(text) => self.say(bot, &heard.room, &text, Some(heard.id)).await,
            Entry::Posted(None) | Entry::Taken => {}
        }
        Ok(())
    }

    /// Answers an error in the place of the message. An error that passes by itself is not
    /// answered, because the message is taken again.
    async fn refuse(
        &self,
        bot: &DiscordBot,
        heard: &HeardMessage,
        error: AccessError,
    ) -> Result<(), TryAgain> {
        let Some(chat) = heard.room.to_chat() else { return Ok(()) };
        if let Entry::Answered(text) = self.inbox.refusal(&heard.key(&chat), error)? {
            self.say(bot, &heard.room, &text, Some(heard.id)).await;
        }
        Ok(())
    }

    /// Returns a message as words for the hall.
    fn words_of(&self, heard: &HeardMessage, to: Option<String>) -> Option<InboundWords> {
        let chat = heard.room.to_chat()?;
        let replied = &heard.message["message_reference"];
        let replied = id_in(replied, "message_id").map(|id| (heard.room.channel, id));
        let to = to.or_else(|| self.agent_replied_to(&heard.message));
        Some(InboundWords {
            account: heard.account(),
            message: heard.id.to_string(),
            key: heard.key(&chat),
            chat,
            text: heard.text.clone(),
            to: to.map(ParticipantId::new),
            reply_to: replied.and_then(|message| self.messages.event_of(&message)),
        })
    }

    /// Returns the agent whose message is replied to, if the reply mentions no bot.
    fn agent_replied_to(&self, message: &Value) -> Option<String> {
        let replied = &message["referenced_message"];
        if self.is_for_bot(message) {
            return None;
        }
        let author = &replied["author"];
        match id_in(replied, "webhook_id") {
            Some(hook) if self.hooks.has(hook) => {
                let name = author["username"].as_str()?.to_owned();
                let registry = self.inbox.hall().registry();
                registry.get(&name).map(|_| name)
            }
            Some(_) => None,
            None => self.bot_names().get(&id_in(author, "id")?).cloned().flatten(),
        }
    }

    /// Takes a message that was edited. Discord reports the preview of a link as an edit too, so an
    /// edit without new words does nothing. Edits of commands, of unpaired people and of messages
    /// that did not enter do nothing either.
    async fn receive_edit(
        &self,
        bot: &DiscordBot,
        room: ChannelPlace,
        message: &Value,
    ) -> Result<(), TryAgain> {
        let is_whole = message["content"].is_string() && message["author"].is_object();
        let Some(heard) = self.heard(room, message).filter(|_| is_whole) else { return Ok(()) };
        let is_own = self.is_own(bot, message);
        let is_direct = message["guild_id"].is_null();
        if !is_own && !is_direct && self.void_code(bot, &heard).await? {
            return Ok(());
        }
        // A command took effect when it was sent, so its edit means nothing.
        if is_own || slash::is_command_line(&heard.text) {
            return Ok(());
        }
        let Some(chat) = heard.room.to_chat() else { return Ok(()) };
        let person = self.inbox.person(&heard.account()).await.map_err(passing)?;
        let stream = self.inbox.bound(&chat).await.map_err(passing)?;
        let Some((person, stream)) = person.zip(stream) else { return Ok(()) };
        let place = (heard.room.channel, heard.id);
        let earlier = match self.messages.event_of(&place) {
            Some((of, seq)) if of == stream => Some(seq),
            _ => {
                let key = heard.key(&chat);
                self.inbox.place_of(&stream, &chat, &key).await.map_err(passing)?
            }
        };
        let to = heard.room.with.clone();
        let Some((earlier, words)) = earlier.zip(self.words_of(&heard, to)) else { return Ok(()) };
        match self.inbox.edit(&person, &stream, earlier, words.replacing()).await {
            Ok(Some(seq)) => {
                self.note_message(place.0, place.1, (stream, seq));
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) => self.refuse(bot, &heard, error).await,
        }
    }

    /// Answers a person who is not paired with a line about the bot, at most once a minute in a
    /// place.
    async fn answer_stranger(
        &self,
        bot: &DiscordBot,
        heard: &HeardMessage,
    ) -> Result<(), TryAgain> {
        if self.inbox.may_answer_stranger(&heard.room.to_string()) {
            let text = "I am a bot of a Moothall server. I answer people whose account is paired \
                        with it. If you use that server: `moothall channels pair discord`, or the \
                        page, makes a code, and `/start` with it pairs you.";
            self.say(bot, &heard.room, text, Some(heard.id)).await;
        }
        Ok(())
    }

    /// Returns the person of a direct chat; `None` if Discord names none.
    ///
    /// # Errors
    /// [`RestFailure`] if Discord cannot be asked now.
    pub(super) async fn person_of(
        &self,
        bot: &DiscordBot,
        channel: u64,
    ) -> Result<Option<u64>, RestFailure> {
        let known = super::lock(&self.people).get(&channel).copied();
        if known.is_some() {
            return Ok(known);
        }
        let answer = bot.client.channel(channel).await?;
        let person = id_in(&answer["recipients"][0], "id");
        if let Some(person) = person {
            super::lock(&self.people).insert(channel, person);
        }
        Ok(person)
    }
}

fn is_help(text: &str) -> bool {
    text.trim_start_matches('/').trim() == "help"
}

/// Returns a line for each file and sticker of a message, and for its poll.
fn sent_lines(message: &Value) -> impl Iterator<Item = String> + '_ {
    let list = |name: &str| message[name].as_array().into_iter().flatten();
    let files = list("attachments").map(|file| {
        let kind = match file["content_type"].as_str().and_then(|kind| kind.split('/').next()) {
            Some("image") => "a picture",
            Some("audio") => "a voice message",
            Some("video") => "a video",
            _ => "a file",
        };
        let name = file["filename"].as_str().unwrap_or("without a name");
        format!("[sent {kind}: {name}; agents do not see it yet]")
    });
    let stickers = list("sticker_items").map(|_| "[sent a sticker]".to_owned());
    let poll = message["poll"].is_object().then(|| "[sent a poll]".to_owned());
    files.chain(stickers).chain(poll)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_become_lines() {
        let message = json!({"attachments": [
            {"filename": "a.png", "content_type": "image/png"}, {"filename": "b"},
        ], "sticker_items": [{}]});
        assert_eq!(
            sent_lines(&message).collect::<Vec<_>>(),
            [
                "[sent a picture: a.png; agents do not see it yet]",
                "[sent a file: b; agents do not see it yet]",
                "[sent a sticker]",
            ]
        );
    }
}
