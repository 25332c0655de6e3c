//! Groups: their opening, the agents in them, and their new ids.

use tokio::time::Instant;

use moothall_engine::access::{AccessError, Caller};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::slash::{self, Slash};

use super::Telegram;
use super::bot::Bot;
use super::cards::OPEN;
use super::client::{Button, SendMessage};
use super::receive::account_of;
use super::room::Room;
use super::update::{Author, ChatKind, MemberStatus, Membership, Message, Press, PressedMessage};
use crate::groups::{NO_RIGHT_TO_OPEN, WAITING};
use crate::inbox::{InboundWords, OpeningChat};
use crate::receive::{TryAgain, passing};

impl Telegram {
    /// Takes the news that a bot was added to a group, removed from it, or got other rights there.
    /// If the bot was removed, its agent leaves the group's conversation, unless that conversation
    /// is bound to another chat too. If the bot is in a bound group, its agent is invited into the
    /// conversation, as far as the rights of the person permit. If a person who may open groups
    /// added the bot to an unbound group, the group is opened; otherwise it waits.
    ///
    /// # Errors
    /// [`TryAgain`] if the change could not be stored now.
    pub(super) async fn receive_membership(
        &self,
        bot: &Bot,
        change: Membership,
        update: i64,
    ) -> Result<(), TryAgain> {
        if !matches!(change.chat.kind, ChatKind::Group | ChatKind::Supergroup) {
            return Ok(());
        }
        // A status that is newer than this server does not tell if the bot is in the chat.
        if matches!(change.new, MemberStatus::Unknown(_)) {
            return Ok(());
        }
        let (chat_id, agent) = (change.chat.id, bot.agent.clone());
        let room = Room::new(chat_id, None);
        let Some(chat) = room.to_chat() else { return Ok(()) };
        if !change.new.is_inside() {
            self.places.change(chat_id, |place| {
                place.told_deaf.remove(&agent);
                place.gone.insert(agent.clone());
                place.bots.remove(&agent)
            });
            return self.inbox.take_out(&chat, &self.agent_of(bot)).await;
        }
        // People who change a bot's privacy mode add the bot again, and Telegram sends no other
        // update about the change.
        if let Ok(info) = bot.client.get_me().await {
            bot.set_info(info);
        }
        let hears = change.sees_all || !bot.is_private();
        let is_new = self.places.change(chat_id, |place| {
            place.title = change.chat.title.clone().unwrap_or_default();
            place.gone.remove(&agent);
            place.bots.insert(agent.clone(), hears).is_none()
        });
        let _opening = self.opening.lock().await;
        let person = match &change.by {
            Author::Person(person) => {
                self.inbox.person(&account_of(person)).await.map_err(passing)?
            }
            _ => None,
        };
        let stream = self.inbox.bound(&chat).await.map_err(passing)?;
        match (stream, person) {
            (Some(stream), person) => {
                let agent = self.agent_of(bot);
                let line = self.inbox.bring_in_joined(&stream, &agent, person.as_ref()).await?;
                if let Some(line) = line {
                    self.say(bot, &room, &line, None).await;
                }
                self.tell_if_deaf(bot, &room).await;
                Ok(())
            }
            // A change of a bot's rights opens nothing.
            (None, Some(person)) if !change.old.is_inside() && self.inbox.may_open(&person) => {
                let key = format!("{chat}:{update}");
                let title = change.chat.title.unwrap_or_default();
                let place = OpeningChat { chat, title, key };
                let opened = self.inbox.open(&person, &place, &[self.agent_of(bot)]).await;
                self.tell_opened(bot, &room, opened).await
            }
            (None, _) if is_new => {
                self.wait_for_opening(bot, &room).await;
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }

    /// Sends a line to the chat if a bot receives only what is addressed to it there, unless the
    /// chat has had such a line.
    async fn tell_if_deaf(&self, bot: &Bot, room: &Room) {
        let place = self.places.get(room.chat).unwrap_or_default();
        let is_deaf = place.bots.get(&bot.agent) == Some(&false);
        let known = self.bots().into_iter().find(|known| known.agent == bot.agent);
        if let Some(known) = known.filter(|_| is_deaf && !place.told_deaf.contains(&bot.agent))
            && let Some(line) = self.deaf_line(room, &[known])
        {
            self.say(bot, room, &line, None).await;
        }
    }

    /// Tells the chat the reason if it could not be opened. A chat that was opened does not wait
    /// any more.
    async fn tell_opened(
        &self,
        bot: &Bot,
        room: &Room,
        opened: Result<StreamId, AccessError>,
    ) -> Result<(), TryAgain> {
        match self.inbox.opening_refused(opened)? {
            None => self.places.change(room.chat, |place| place.waiting_since = None),
            Some(refusal) => self.say(bot, room, &refusal, None).await,
        }
        Ok(())
    }

    /// Says, the first time, that the group waits for a person who opens it.
    pub(super) async fn wait_for_opening(&self, bot: &Bot, room: &Room) {
        let is_first = self
            .places
            .change(room.chat, |place| place.waiting_since.replace(Instant::now()).is_none());
        if !is_first {
            return;
        }
        let text = format!("{WAITING}; otherwise the bots leave after an hour.");
        let button = Button { text: "Open".into(), data: OPEN.into() };
        let message = SendMessage {
            chat_id: room.chat,
            thread: room.topic,
            text,
            buttons: vec![vec![button]],
            ..SendMessage::default()
        };
        let sending = bot.sent.note(message.chat_id, bot.client.send_message(&message));
        if let Err(fault) = sending.await {
            tracing::warn!(bot = bot.agent, %fault, "a group could not be told that it waits");
        }
    }

    /// Opens a group because a person pressed the button. Returns the words for that person.
    ///
    /// # Errors
    /// [`TryAgain`] if the group could not be opened now.
    pub(super) async fn press_open(
        &self,
        press: &Press,
        person: &Caller,
    ) -> Result<String, TryAgain> {
        let Some(PressedMessage { chat: chat_id, message_id }) = press.message else {
            return Ok("This button has no meaning any more.".into());
        };
        let room = Room::new(chat_id, None);
        let Some(chat) = room.to_chat().filter(|_| room.is_group()) else {
            return Ok("This is not a group.".into());
        };
        if !self.inbox.may_open(person) {
            return Ok(NO_RIGHT_TO_OPEN.into());
        }
        self.look_from_all(&room).await;
        let _opening = self.opening.lock().await;
        if self.inbox.bound(&chat).await.map_err(passing)?.is_some() {
            return Ok("The group is open already.".into());
        }
        let place = self.places.get(chat_id).unwrap_or_default();
        let key = format!("{chat}:press:{message_id}");
        let opening = OpeningChat { chat, title: place.title, key };
        let opened = self.inbox.open(person, &opening, &self.agents_in(chat_id)).await;
        match self.inbox.opening_refused(opened)? {
            None => {
                self.places.change(chat_id, |place| place.waiting_since = None);
                Ok("The group is open.".into())
            }
            Some(refusal) => Ok(refusal),
        }
    }

    /// Takes words of a paired person in a chat without a conversation. `/group create` opens the
    /// chat. In a topic of an open group, words of a person who may open groups open the topic. In
    /// a chat that was dissolved, words for one agent enter the group's conversation with that
    /// agent alone (a talk). If the binding ended in another way, only words of a person who may
    /// open groups do so. A chat that was never bound still waits, and its words are not stored.
    pub(super) async fn receive_unbound(
        &self,
        bot: &Bot,
        room: &Room,
        message: &Message,
        person: &Caller,
        account: String,
    ) -> Result<(), TryAgain> {
        let Some(chat) = room.to_chat() else { return Ok(()) };
        let words = self.words_of(bot, message, chat.clone(), account, None);
        let key = format!("{chat}:{}", message.message_id);
        let place = OpeningChat { chat, title: title_of(message), key };
        if let Ok(Slash::GroupCreate(agents)) = slash::parse(&words.text) {
            let _opening = self.opening.lock().await;
            let opened = self.inbox.open_with(person, &place, &agents).await;
            return self.tell_opened(bot, room, opened).await;
        }
        let is_topic_of_open_group =
            room.topic.is_some() && self.is_bound(&Room::new(room.chat, None)).await?;
        if is_topic_of_open_group && self.inbox.may_open(person) {
            let _opening = self.opening.lock().await;
            let opened = self.inbox.open(person, &place, &self.agents_in(room.chat)).await;
            self.tell_opened(bot, room, opened).await?;
            return Box::pin(self.receive_again(bot, message, person)).await;
        }
        let Some(earlier) = self.inbox.earlier_binding(&words.chat).await? else {
            // The group was never opened. It still waits, and nothing of it is stored.
            self.places.change(room.chat, |place| {
                let _ = place.waiting_since.get_or_insert_with(Instant::now);
            });
            return Ok(());
        };
        // A group that was dissolved is for talks with one agent alone. If its binding was ended
        // in another way, a person with the right to open groups decided that, and may change it.
        let may_talk = self.inbox.is_dissolved(&earlier).await? || self.inbox.may_open(person);
        match self.agent_addressed(message, &words).filter(|_| may_talk) {
            Some(agent) => self.talk_alone(bot, room, message, person, words, &agent).await,
            None => Ok(()),
        }
    }

    async fn is_bound(&self, room: &Room) -> Result<bool, TryAgain> {
        let Some(chat) = room.to_chat() else { return Ok(false) };
        Ok(self.inbox.bound(&chat).await.map_err(passing)?.is_some())
    }

    /// Posts a message in the conversation of its chat, which has just been opened.
    async fn receive_again(
        &self,
        bot: &Bot,
        message: &Message,
        person: &Caller,
    ) -> Result<(), TryAgain> {
        let room = Room::new(message.chat.id, message.thread);
        let Some(chat) = room.to_chat() else { return Ok(()) };
        let Some(stream) = self.inbox.bound(&chat).await.map_err(passing)? else { return Ok(()) };
        let Author::Person(author) = &message.author else { return Ok(()) };
        let words = self.words_of(bot, message, chat, account_of(author), None);
        self.enter(bot, &room, message, person, &stream, words).await
    }

    /// Returns the agent that a message names by a mention or a reply.
    fn agent_addressed(&self, message: &Message, words: &InboundWords) -> Option<String> {
        let named = message.names();
        let by_name = self.bots().iter().find_map(|bot| {
            let username = bot.username()?;
            named
                .iter()
                .any(|name| name.eq_ignore_ascii_case(&username))
                .then(|| self.agent_of(bot))
        });
        by_name.or_else(|| words.to.as_ref().map(ToString::to_string))
    }

    /// Posts words in the group's conversation with one agent alone (a talk). The first such words
    /// open it, and words of other paired people enter the same conversation.
    async fn talk_alone(
        &self,
        bot: &Bot,
        room: &Room,
        message: &Message,
        person: &Caller,
        words: InboundWords,
        agent: &str,
    ) -> Result<(), TryAgain> {
        let alone = room.clone().with(agent);
        let Some(chat) = alone.to_chat() else { return Ok(()) };
        let stream = match self.inbox.bound(&chat).await.map_err(passing)? {
            Some(stream) => stream,
            None => {
                let title = format!("{} with {agent}", title_of(message));
                let key = format!("{chat}:{}", message.message_id);
                let place = OpeningChat { chat: chat.clone(), title, key };
                match self.inbox.open_private(person, &place, agent).await {
                    Ok(stream) => stream,
                    Err(error) => return self.refuse(bot, room, message, error).await,
                }
            }
        };
        let to = Some(ParticipantId::new(agent));
        let words = InboundWords { chat, to, ..words };
        self.enter(bot, &alone, message, person, &stream, words).await
    }

    /// Moves the binding of a group that became a supergroup, and the bindings of its talks with
    /// agents.
    ///
    /// # Errors
    /// [`TryAgain`] if the change could not be stored now.
    pub(super) async fn migrate(&self, from: i64, to: i64) -> Result<(), TryAgain> {
        self.places.note_move(from, to);
        let talks = self.bots().iter().map(|bot| Some(self.agent_of(bot))).collect::<Vec<_>>();
        for with in talks.into_iter().chain([None]) {
            let room = |chat| Room { chat, topic: None, with: with.clone() };
            let (Some(old), Some(new)) = (room(from).to_chat(), room(to).to_chat()) else {
                continue;
            };
            self.inbox.move_binding(old, new).await?;
        }
        Ok(())
    }
}

/// Returns the title of a message's chat.
fn title_of(message: &Message) -> String {
    message.chat.title.clone().unwrap_or_else(|| "Telegram".to_owned())
}
