//! Updates that bots receive: the person and the conversation of each, and the answer.
//!
//! An update is taken when its words are committed, or when they belong to no conversation. An
//! error that passes by itself leaves the update to be received again.

use std::sync::Arc;

use moothall_engine::access::{AccessError, Caller, Secret};
use moothall_engine::channels::BotState;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::slash;

use super::Telegram;
use super::bot::Bot;
use super::places::MessageId;
use super::room::{Room, TELEGRAM, account_in};
use super::update::{
    Attachment, AttachmentKind, Author, ChatKind, Message, Person, Update, UpdateKind,
};
use crate::inbox::{InboundWords, OpeningChat};
use crate::receive::{Entry, TryAgain, pairing_code, passing};

impl Telegram {
    /// Takes an update that a bot received.
    ///
    /// # Errors
    /// [`TryAgain`] if it could not be stored now.
    pub(super) async fn receive(
        self: &Arc<Self>,
        bot: &Bot,
        update: Update,
    ) -> Result<(), TryAgain> {
        match update.kind {
            UpdateKind::Message(message) if message.service => {
                // A service message of a private chat, such as the one about a new managed bot,
                // opens nothing.
                if message.chat.kind != ChatKind::Private {
                    self.note_place(bot, &message);
                }
                Ok(())
            }
            UpdateKind::Message(message) => self.receive_message(bot, message).await,
            UpdateKind::Edited(message) => self.receive_edit(bot, &message).await,
            UpdateKind::Press(press) => self.receive_press(bot, press).await,
            UpdateKind::Membership(change) => {
                let number = update.id.unwrap_or_default();
                self.receive_membership(bot, change, number).await
            }
            UpdateKind::Stopped { chat, draft } => self.receive_stop(bot, chat, draft).await,
            UpdateKind::Managed(made) => self.receive_managed(bot, made).await,
            UpdateKind::Migrated { from, to } => self.migrate(from, to).await,
            UpdateKind::Unknown(kind) => {
                tracing::debug!(bot = bot.agent, kind, "an update of an unknown kind was skipped");
                Ok(())
            }
        }
    }

    /// Takes a new message. If several bots are in a supergroup and one of them does not receive
    /// all messages, the message waits for older ones.
    async fn receive_message(&self, bot: &Bot, message: Message) -> Result<(), TryAgain> {
        if self.void_code(bot, &message).await? {
            return Ok(());
        }
        let Author::Person(author) = &message.author else {
            return self.receive_from_other(bot, &message).await;
        };
        match message.chat.kind {
            ChatKind::Private => return self.receive_private(bot, &message, author).await,
            ChatKind::Group | ChatKind::Supergroup => {}
            ChatKind::Channel | ChatKind::Other => return Ok(()),
        }
        self.note_place(bot, &message);
        if !self.is_designated(bot, &message) {
            return Ok(());
        }
        let (chat, number) = (message.chat.id, message.message_id);
        // Only in a supergroup do the numbers of messages tell their order.
        let is_in_parts = Room::new(chat, None).is_supergroup()
            && self.places.get(chat).is_some_and(|place| place.is_heard_in_parts());
        let _ticket = match is_in_parts {
            true => Some(self.order.wait(chat, number).await),
            false => None,
        };
        self.receive_in_group(bot, &message, author).await
    }

    /// Takes a message of a person to one bot alone. A pairing code pairs the account. Other words
    /// of a paired person go to the bot's agent, in a conversation that the first such message
    /// opens.
    async fn receive_private(
        &self,
        bot: &Bot,
        message: &Message,
        author: &Person,
    ) -> Result<(), TryAgain> {
        let agent = self.agent_of(bot);
        let room = Room::new(message.chat.id, None).with(&agent);
        let Some(chat) = room.to_chat() else { return Ok(()) };
        let account = account_of(author);
        if let Some(code) = pairing_code(&message.text) {
            return self.pair(bot, &room, code, &account, message.message_id).await;
        }
        let Some(person) = self.inbox.person(&account).await.map_err(passing)? else {
            self.inbox.drop_words(&chat);
            return self.answer_stranger(bot, &room, message).await;
        };
        let stream = match self.inbox.bound(&chat).await.map_err(passing)? {
            Some(stream) => stream,
            None => {
                let title = format!("{} and {agent} (Telegram)", author.name);
                let key = format!("{chat}:{}", message.message_id);
                let place = OpeningChat { chat: chat.clone(), title, key };
                match self.inbox.open_private(&person, &place, &agent).await {
                    Ok(stream) => stream,
                    Err(error) => return self.refuse(bot, &room, message, error).await,
                }
            }
        };
        let words = self.words_of(bot, message, chat, account, Some(agent));
        self.enter(bot, &room, message, &person, &stream, words).await
    }

    /// Takes a message of a person in a group.
    async fn receive_in_group(
        &self,
        bot: &Bot,
        message: &Message,
        author: &Person,
    ) -> Result<(), TryAgain> {
        let room = Room::new(message.chat.id, message.thread);
        let Some(chat) = room.to_chat() else { return Ok(()) };
        if self.is_for_other_bot(bot, message) {
            return Ok(());
        }
        let account = account_of(author);
        let person = self.inbox.person(&account).await.map_err(passing)?;
        let stream = self.inbox.bound(&chat).await.map_err(passing)?;
        match (person, stream) {
            (Some(person), Some(stream)) => {
                let words = self.words_of(bot, message, chat, account, None);
                self.enter(bot, &room, message, &person, &stream, words).await
            }
            (Some(person), None) => {
                self.receive_unbound(bot, &room, message, &person, account).await
            }
            (None, _) if self.is_help(bot, message) => {
                self.inbox.drop_words(&chat);
                self.answer_stranger(bot, &room, message).await
            }
            (None, stream) => self.hear_stranger(bot, message, chat, stream).await,
        }
    }

    /// Runs a command or posts words, and answers a refusal in the same chat.
    pub(super) async fn enter(
        &self,
        bot: &Bot,
        room: &Room,
        message: &Message,
        person: &Caller,
        stream: &StreamId,
        words: InboundWords,
    ) -> Result<(), TryAgain> {
        // An unknown command for one bot is words for the bot's agent.
        let is_for_agent =
            words.to.is_some() && room.with.is_none() && slash::parse(&words.text).is_err();
        match self.inbox.take_words(person, stream, words, is_for_agent).await? {
            Entry::Posted(Some(seq)) => {
                let id = MessageId::new(bot, message.chat.id, message.message_id);
                self.messages.note(id, (stream.clone(), seq));
            }
            Entry::Answered(text) => {
                self.say(bot, room, &text, Some(message.message_id)).await;
            }
            Entry::Posted(None) | Entry::Taken => {}
        }
        Ok(())
    }

    /// Answers an error in the chat of the message. An error that passes by itself is not answered,
    /// because the message is received again.
    pub(super) async fn refuse(
        &self,
        bot: &Bot,
        room: &Room,
        message: &Message,
        error: AccessError,
    ) -> Result<(), TryAgain> {
        let Some(chat) = room.to_chat() else { return Ok(()) };
        let key = self.key_of(bot, message, &chat);
        if let Entry::Answered(text) = self.inbox.refusal(&key, error)? {
            self.say(bot, room, &text, Some(message.message_id)).await;
        }
        Ok(())
    }

    /// Returns a message as words for the hall. Names of bots become names of their agents, and a
    /// file becomes a line that tells its kind.
    pub(super) fn words_of(
        &self,
        bot: &Bot,
        message: &Message,
        chat: Chat,
        account: String,
        to: Option<String>,
    ) -> InboundWords {
        let (mut text, commanded) = self.text_of(message);
        if let Some(attachment) = &message.attachment {
            let line = format!("[{}; agents do not see it yet]", sent(attachment));
            text = if text.is_empty() { line } else { format!("{line}\n{text}") };
        }
        let replied = message.reply_to.as_ref();
        let id_of = |number| MessageId::new(bot, message.chat.id, number);
        let reply_to = replied.and_then(|reply| self.messages.event_of(&id_of(reply.message_id)));
        let to = to.or_else(|| commanded.or_else(|| self.agent_meant(message)));
        InboundWords {
            account,
            message: message.message_id.to_string(),
            key: self.key_of(bot, message, &chat),
            chat,
            text,
            to: to.map(ParticipantId::new),
            reply_to,
        }
    }

    /// Returns the text of a message, with names of agents in place of names of bots.
    /// `/command@bot` loses the bot's name. If the server does not know that command, also returns
    /// the agent of the bot.
    fn text_of(&self, message: &Message) -> (String, Option<String>) {
        let names = self.names();
        let agent = |name: &str| {
            let named = names.iter().find(|(username, _)| username.eq_ignore_ascii_case(name));
            named.map(|(_, agent)| agent.clone())
        };
        let text = message.words_without_names(agent);
        let Some((word, rest)) = text
            .strip_prefix('/')
            .map(|rest| rest.split_once(char::is_whitespace).unwrap_or((rest, "")))
        else {
            return (text, None);
        };
        let Some((command, to)) = word.split_once('@').map(|(command, bot)| (command, agent(bot)))
        else {
            return (text, None);
        };
        let line = format!("/{command} {rest}").trim_end().to_owned();
        // A command of the server is for the conversation, even if it names a bot.
        let to = to.filter(|_| slash::parse(&line).is_err());
        (line, to)
    }

    /// Returns the agent that a message is for by its form: the bot that is named without a
    /// username, or else the bot whose message is replied to. `None` if the words have usernames,
    /// which tell the agents themselves.
    fn agent_meant(&self, message: &Message) -> Option<String> {
        if !message.names().is_empty() {
            return None;
        }
        let by_name = message.named_accounts().find_map(|id| self.agent_with(id));
        let replied = message.reply_to.as_ref().and_then(|reply| reply.from_bot_id);
        by_name.or_else(|| replied.and_then(|id| self.agent_with(id)))
    }

    /// Returns the key under which a message enters one time. In a basic group the bots see the
    /// same message under different ids. So its author, time and words are the key there, with its
    /// number among equal messages. Two bots that stand for one agent number their private chats
    /// with a person independently, so their keys have the bot's id.
    pub(super) fn key_of(&self, bot: &Bot, message: &Message, chat: &Chat) -> String {
        if message.chat.kind == ChatKind::Private {
            return format!("{}:{}:{}", chat.key(), bot.id(), message.message_id);
        }
        if message.chat.kind != ChatKind::Group {
            return format!("{}:{}", chat.key(), message.message_id);
        }
        let id = MessageId::new(bot, message.chat.id, message.message_id);
        let print = blake3::hash(format!("{:?}{}", message.author, message.text).as_bytes());
        let date = message.date.unwrap_or_default();
        let print = format!("{}:at:{date}:{}", chat.key(), &print.to_hex()[..16]);
        match self.places.place_among_equals(id, &print) {
            0 => print,
            place => format!("{print}:{place}"),
        }
    }

    /// True if this bot's view of a message counts. In a basic group with a bot that receives all
    /// messages, only the view of that bot does. The key of a message is the same for all bots, so
    /// no message enters twice if that bot stops and another takes its place.
    pub(super) fn is_designated(&self, bot: &Bot, message: &Message) -> bool {
        message.chat.kind != ChatKind::Group
            || self.designated(message.chat.id).is_none_or(|agent| agent == bot.agent)
    }

    /// Returns the first connected bot that receives all messages of a basic group, by its agent.
    fn designated(&self, chat: i64) -> Option<String> {
        let place = self.places.get(chat)?;
        let hears_all = |bot: &&Arc<Bot>| place.bots.get(&bot.agent).copied().unwrap_or_default();
        let bots = self.bots();
        let mut hearing = bots.iter().filter(|bot| bot.state() == BotState::Hearing);
        hearing.find(hears_all).map(|bot| bot.agent.clone())
    }

    /// Notes that a bot is in a chat, because it received something there.
    fn note_place(&self, bot: &Bot, message: &Message) {
        let hears = !bot.is_private();
        self.places.change(message.chat.id, |place| {
            place.title = message.chat.title.clone().unwrap_or_default();
            place.gone.remove(&bot.agent);
            let known = place.bots.entry(bot.agent.clone()).or_insert(hears);
            *known |= hears;
        });
    }

    /// Makes a pairing code invalid that a message shows to a group. Returns true if the message
    /// had a code.
    ///
    /// # Errors
    /// [`TryAgain`] if the end of the code could not be stored now.
    pub(super) async fn void_code(&self, bot: &Bot, message: &Message) -> Result<bool, TryAgain> {
        let is_group = matches!(message.chat.kind, ChatKind::Group | ChatKind::Supergroup);
        let code = Secret::pairing_code_in(&message.text).filter(|_| is_group);
        let room = Room::new(message.chat.id, message.thread);
        let Some((code, chat)) = code.zip(room.to_chat()) else { return Ok(false) };
        let key = self.key_of(bot, message, &chat);
        if let Some(text) = self.inbox.void_code(code, &chat, &key).await? {
            self.say(bot, &room, &text, Some(message.message_id)).await;
        }
        Ok(true)
    }

    /// Pairs the account that sent a code with the person who made the code, and answers in the
    /// chat.
    async fn pair(
        &self,
        bot: &Bot,
        room: &Room,
        code: &str,
        account: &str,
        message: i64,
    ) -> Result<(), TryAgain> {
        let use_of_it = "What you write to this bot goes to its agent.";
        let text = self.inbox.pair(code, account, use_of_it).await?;
        self.say(bot, room, &text, Some(message)).await;
        Ok(())
    }

    /// Answers a person who is not paired with a line about the bot, at most once a minute in a
    /// chat.
    async fn answer_stranger(
        &self,
        bot: &Bot,
        room: &Room,
        message: &Message,
    ) -> Result<(), TryAgain> {
        if self.inbox.may_answer_stranger(&account_in(room)) {
            let text = format!(
                "I am the bot of the agent {} in a Moothall server. I answer people whose account \
                 is paired with it. If you use that server: `moothall channels pair telegram`, or \
                 the page, makes a link that pairs you.",
                self.agent_of(bot)
            );
            self.say(bot, room, &text, Some(message.message_id)).await;
        }
        Ok(())
    }

    fn is_help(&self, bot: &Bot, message: &Message) -> bool {
        let username = bot.username().unwrap_or_default();
        message
            .command(&username)
            .is_some_and(|command| command.name == "help" && !command.addressed_to_other)
    }

    /// True if a message is a command for a bot of another server.
    fn is_for_other_bot(&self, bot: &Bot, message: &Message) -> bool {
        let username = bot.username().unwrap_or_default();
        let is_for =
            |name: &str| message.command(name).is_some_and(|command| !command.addressed_to_other);
        message.command(&username).is_some_and(|command| command.addressed_to_other)
            && !self.own_names().iter().any(|name| is_for(name))
    }
}

/// Returns the words for an attachment.
fn sent(attachment: &Attachment) -> String {
    let kind = match attachment.kind {
        AttachmentKind::Photo => "a photo",
        AttachmentKind::Voice => "a voice message",
        AttachmentKind::Audio => "a piece of music",
        AttachmentKind::Video => "a video",
        AttachmentKind::File => "a file",
        AttachmentKind::Sticker => "a sticker",
        AttachmentKind::Location => "a place",
        AttachmentKind::Contact => "a contact",
        AttachmentKind::Poll => "a poll",
        AttachmentKind::Other => "something",
    };
    match &attachment.name {
        Some(name) => format!("sent {kind}: {name}"),
        None => format!("sent {kind}"),
    }
}

/// Returns the account of a person, as pairings name it.
pub(super) fn account_of(person: &Person) -> String {
    format!("{TELEGRAM}:{}", person.id)
}
