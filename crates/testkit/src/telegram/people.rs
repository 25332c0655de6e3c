//! What a test does in the place of people: make bots and chats, join, speak, press, block.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::TelegramServer;
use super::draft::MessageDraft;
use super::entities;
use super::world::{
    Bot, BotState, ButtonPress, ChatId, ChatKind, ChatState, Membership, MessageKey, PersonId,
    PressAnswer, Sender, Standing, StoredMessage, TelegramWorld, now,
};

const FIRST_BOT: i64 = 700_001;
const FIRST_GROUP: i64 = -4_001;
const FIRST_SUPERGROUP: i64 = -1_001_000_000_001;
const FIRST_UPDATE: i64 = 10_000;

impl TelegramServer {
    /// Makes a bot, in privacy mode as new bots are.
    pub fn add_bot(&self, username: &str, name: &str) -> Bot {
        self.shared.change(|world| {
            let place = world.bots.len();
            let id = FIRST_BOT + i64::try_from(place).unwrap_or_default();
            let token = format!("{id}:{}{place:03}", "AAfake-token_of_a_test_bot_0123456");
            let bot = Bot { id, username: username.to_owned(), name: name.to_owned(), token };
            world.bots.push(BotState {
                bot: bot.clone(),
                privacy: true,
                updates: VecDeque::new(),
                next_update: FIRST_UPDATE * (id - FIRST_BOT + 1),
                allowed: Vec::new(),
                webhook: false,
                commands: Value::Array(Vec::new()),
                manages: false,
                manager: None,
                access: None,
                hidden: Vec::new(),
                polls: 0,
                waiting: 0,
            });
            bot
        })
    }

    /// Makes a person without a username.
    pub fn person(&self, id: i64, first_name: &str) -> PersonId {
        self.add_person(id, json!({"first_name": first_name, "language_code": "en"}))
    }

    /// Makes a person with a username.
    pub fn person_named(&self, id: i64, first_name: &str, username: &str) -> PersonId {
        self.add_person(
            id,
            json!({"first_name": first_name, "username": username, "language_code": "en"}),
        )
    }

    fn add_person(&self, id: i64, fields: Value) -> PersonId {
        let mut user =
            Map::from_iter([("id".to_owned(), id.into()), ("is_bot".to_owned(), false.into())]);
        user.extend(fields.as_object().cloned().unwrap_or_default());
        self.shared.change(|world| world.people.insert(id, user));
        PersonId(id)
    }

    /// Opens the private chat of a person with a bot, as if the person had pressed "Start".
    pub fn private(&self, person: PersonId, bot: &Bot) -> ChatId {
        let chat = ChatId { id: person.0, bot: Some(bot.id) };
        self.shared.change(|world| {
            let mut state = ChatState::new(ChatKind::Private, "");
            let member = Membership { standing: Standing::Member, open_at_join: true };
            state.members.extend([(person.0, member), (bot.id, member)]);
            world.chats.entry(chat).or_insert(state);
        });
        chat
    }

    /// Makes a basic group.
    pub fn group(&self, title: &str) -> ChatId {
        self.add_chat(ChatKind::Group, title)
    }

    /// Makes a supergroup without topics.
    pub fn supergroup(&self, title: &str) -> ChatId {
        self.add_chat(ChatKind::Supergroup { forum: false }, title)
    }

    /// Makes a supergroup with topics.
    pub fn forum(&self, title: &str) -> ChatId {
        self.add_chat(ChatKind::Supergroup { forum: true }, title)
    }

    fn add_chat(&self, kind: ChatKind, title: &str) -> ChatId {
        self.shared.change(|world| world.add_chat(ChatState::new(kind, title)))
    }

    /// Makes a topic and returns its number.
    ///
    /// # Panics
    /// The chat has no topics.
    pub fn topic(&self, chat: ChatId, title: &str) -> i64 {
        self.shared.change(|world| {
            let is_forum = world.chat(chat).kind == ChatKind::Supergroup { forum: true };
            assert!(is_forum, "only a forum has topics");
            let created = json!({"name": title, "icon_color": 7_322_096});
            let mut message =
                StoredMessage::service(Sender::Anonymous, "forum_topic_created", created);
            // The number of the message is that of the topic; General has the first one.
            let next = world.chat(chat).messages.last_key_value().map_or(1, |(last, _)| last + 1);
            let id = next.max(2);
            message.thread = Some(id);
            let state = world.chat_mut(chat);
            state.topics.insert(id, title.to_owned());
            state.messages.insert(id, message);
            world.announce(chat, id, "message");
            id
        })
    }

    /// Adds a bot to a group.
    pub fn join(&self, chat: ChatId, bot: &Bot, by: PersonId) {
        self.set_standing(chat, bot.id, by.0, Standing::Member);
    }

    /// Adds a person to a group.
    pub fn enter(&self, chat: ChatId, person: PersonId) {
        self.set_standing(chat, person.0, person.0, Standing::Member);
    }

    /// Lets a person leave a group.
    pub fn exit(&self, chat: ChatId, person: PersonId) {
        self.set_standing(chat, person.0, person.0, Standing::Left);
    }

    /// Removes a bot from a group.
    pub fn kick(&self, chat: ChatId, bot: &Bot, by: PersonId) {
        self.set_standing(chat, bot.id, by.0, Standing::Kicked);
    }

    /// Makes a bot an administrator, or a plain member again.
    pub fn set_admin(&self, chat: ChatId, bot: &Bot, by: PersonId, is_admin: bool) {
        let standing = if is_admin { Standing::Administrator } else { Standing::Member };
        self.set_standing(chat, bot.id, by.0, standing);
    }

    /// Makes a person an administrator.
    pub fn promote(&self, chat: ChatId, person: PersonId) {
        self.set_standing(chat, person.0, person.0, Standing::Administrator);
    }

    fn set_standing(&self, chat: ChatId, user: i64, by: i64, standing: Standing) {
        self.shared.change(|world| world.set_standing(chat, user, by, standing));
    }

    /// Changes privacy mode. As in the service, it counts for groups that the bot joins later.
    pub fn set_privacy(&self, bot: &Bot, is_on: bool) {
        self.change_bot(bot, |state| state.privacy = is_on);
    }

    /// Sets a webhook, so that polls are refused with 409.
    pub fn set_webhook(&self, bot: &Bot) {
        self.change_bot(bot, |state| state.webhook = true);
    }

    /// Takes a method away from a bot, as if its server were older than the method.
    pub fn hide_method(&self, bot: &Bot, method: &str) {
        self.change_bot(bot, |state| state.hidden.push(method.to_owned()));
    }

    /// Returns the commands that a bot set, as on the wire.
    pub fn commands(&self, bot: &Bot) -> Value {
        self.shared.world().bot(bot.id).map(|state| state.commands.clone()).unwrap_or_default()
    }

    /// Gives a bot any update, of an unknown kind for instance. Its number is the next one.
    pub fn raw_update(&self, bot: &Bot, update: Value) {
        self.change_bot(bot, |state| state.enqueue(update));
    }

    pub(super) fn change_bot(&self, bot: &Bot, change: impl FnOnce(&mut BotState)) {
        self.shared.change(|world| world.bot_mut(bot.id).map(change));
    }

    /// Says something in a chat.
    pub fn say(&self, chat: ChatId, person: PersonId, text: &str) -> MessageKey {
        self.draft(chat, person, text).send()
    }

    /// Begins a message with more than a text.
    pub fn draft(&self, chat: ChatId, person: PersonId, text: &str) -> MessageDraft<'_> {
        MessageDraft::new(self, chat, Sender::Person(person.0), text)
    }

    /// Begins a message of an administrator who hides behind the group.
    pub fn anonymous_admin(&self, chat: ChatId, text: &str) -> MessageDraft<'_> {
        MessageDraft::new(self, chat, Sender::Anonymous, text)
    }

    /// Begins a message of a channel in a group.
    pub fn channel_post(&self, chat: ChatId, channel: &str, text: &str) -> MessageDraft<'_> {
        MessageDraft::new(self, chat, Sender::Channel(channel.to_owned()), text)
    }

    /// Changes the text of a person's message.
    pub fn edit(&self, message: MessageKey, text: &str) {
        self.shared.change(|world| {
            if let Some(stored) = world.chat_mut(message.chat).messages.get_mut(&message.id) {
                stored.text = text.to_owned();
                stored.entities = entities::find(text);
                stored.edit_date = Some(now());
            }
            world.announce(message.chat, message.id, "edited_message");
        });
    }

    /// Deletes a message. As in the service, the bots are not told.
    pub fn delete(&self, message: MessageKey) {
        self.shared.change(|world| {
            if let Some(stored) = world.chat_mut(message.chat).messages.get_mut(&message.id) {
                stored.is_deleted = true;
            }
        });
    }

    /// Presses a button by its text or data. Returns the press's number.
    ///
    /// # Panics
    /// The message has no such button now.
    pub fn press(&self, person: PersonId, message: MessageKey, text_or_data: &str) -> String {
        let shown = self.shown(message.chat).into_iter().find(|shown| shown.key == message);
        let buttons = shown.iter().filter(|shown| !shown.is_deleted).flat_map(|m| &m.buttons);
        let button = buttons
            .flatten()
            .find(|button| button.text == text_or_data || button.data == text_or_data)
            .unwrap_or_else(|| panic!("{message:?} has no button {text_or_data:?}"));
        self.press_data(person, message, &button.data)
    }

    /// Presses a button that the message need not have any more, as on an old screen.
    ///
    /// # Panics
    /// The message is not of a bot.
    pub fn press_data(&self, person: PersonId, message: MessageKey, data: &str) -> String {
        self.shared.change(|world| {
            let stored = world.chat(message.chat).messages.get(&message.id);
            let Some(Sender::Bot(bot)) = stored.map(|stored| stored.sender.clone()) else {
                panic!("{message:?} is not of a bot")
            };
            let object = world.message_object(message.chat, message.id, bot);
            Presser { person: person.0, bot, chat: message.chat }.press(world, object, data)
        })
    }

    /// Returns the answer to a press; `None` while the person's client waits for it.
    pub fn press_answer(&self, press: &str) -> Option<PressAnswer> {
        let world = self.shared.world();
        world.presses.iter().find(|known| known.id == press).and_then(|known| known.answer.clone())
    }

    /// Turns a basic group into a supergroup and returns that.
    pub fn migrate(&self, group: ChatId) -> ChatId {
        self.shared.change(|world| {
            let old = world.chat(group);
            let mut new = ChatState::new(ChatKind::Supergroup { forum: false }, &old.title);
            new.members.clone_from(&old.members);
            let new = world.add_chat(new);
            let to = StoredMessage::service(Sender::Anonymous, "migrate_to_chat_id", new.id.into());
            world.post(group, to);
            let from =
                StoredMessage::service(Sender::Anonymous, "migrate_from_chat_id", group.id.into());
            world.post(new, from);
            world.chat_mut(group).migrated_to = Some(new.id);
            new
        })
    }

    /// Lets a person block a bot.
    pub fn block(&self, person: PersonId, bot: &Bot) {
        let chat = ChatId { id: person.0, bot: Some(bot.id) };
        self.set_standing(chat, bot.id, person.0, Standing::Kicked);
    }

    /// Lets a person unblock a bot.
    pub fn unblock(&self, person: PersonId, bot: &Bot) {
        let chat = ChatId { id: person.0, bot: Some(bot.id) };
        self.set_standing(chat, bot.id, person.0, Standing::Member);
    }

    /// Deletes a group, or the account of a private chat's person.
    pub fn delete_chat(&self, chat: ChatId) {
        self.shared.change(|world| world.chat_mut(chat).is_deleted = true);
    }

    /// Returns a message's number as a bot sees it.
    pub fn id_for(&self, bot: &Bot, message: MessageKey) -> i64 {
        message.id + self.shared.world().offset(message.chat, bot.id)
    }
}

/// A person who presses a button of a bot.
pub(super) struct Presser {
    pub(super) person: i64,
    pub(super) bot: i64,
    pub(super) chat: ChatId,
}

impl Presser {
    /// Tells the bot of the press, and returns its number.
    pub(super) fn press(self, world: &mut TelegramWorld, message: Value, data: &str) -> String {
        let Self { person, bot, chat } = self;
        let id = (4_000_000_000_000_000 + world.presses.len()).to_string();
        world.presses.push(ButtonPress { id: id.clone(), bot, answer: None });
        let query = json!({
            "id": id,
            "from": world.user(person),
            "message": message,
            "chat_instance": chat.id.to_string(),
            "data": data,
        });
        world.push(bot, "callback_query", query);
        id
    }
}

impl TelegramWorld {
    fn add_chat(&mut self, state: ChatState) -> ChatId {
        let first = if state.is_supergroup() { FIRST_SUPERGROUP } else { FIRST_GROUP };
        let number = i64::try_from(self.chats.len()).unwrap_or_default();
        let chat = ChatId { id: first - number, bot: None };
        self.chats.insert(chat, state);
        chat
    }
}
