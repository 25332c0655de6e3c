//! The objects of the wire: users, chats, members and messages, as a bot sees them.

use serde_json::{Map, Value, json};

use super::world::{
    BotState, ChatId, ChatKind, ChatState, Sender, Standing, StoredMessage, TelegramWorld,
};

/// The user behind whom anonymous administrators hide.
const ANONYMOUS: (i64, &str) = (1_087_968_824, "GroupAnonymousBot");
/// The user that stands for channels which write in a group.
const CHANNEL: (i64, &str) = (136_817_688, "Channel_Bot");
/// Number of the channels of [`Sender::Channel`].
const CHANNEL_ID: i64 = -1_009_999_999_999;

impl TelegramWorld {
    /// Returns the user object of a person or bot.
    pub(super) fn user(&self, id: i64) -> Value {
        if let Some(state) = self.bot(id) {
            return json!({"id": id, "is_bot": true, "first_name": state.bot.name, "username": state.bot.username});
        }
        let person = self.people.get(&id).cloned();
        person.map_or_else(
            || json!({"id": id, "is_bot": false, "first_name": "Unknown"}),
            Value::Object,
        )
    }

    /// Returns the chat object.
    pub(super) fn chat_object(&self, chat: ChatId) -> Value {
        let state = self.chat(chat);
        match state.kind {
            ChatKind::Private => {
                let mut object = json!({"id": chat.id, "type": "private"});
                for field in ["first_name", "username"] {
                    if let Some(value) = self.user(chat.id).get(field) {
                        object[field] = value.clone();
                    }
                }
                object
            }
            ChatKind::Group => json!({"id": chat.id, "type": "group", "title": state.title}),
            ChatKind::Supergroup { forum } => {
                let mut object = json!({"id": chat.id, "type": "supergroup", "title": state.title});
                if forum {
                    object["is_forum"] = Value::Bool(true);
                }
                object
            }
        }
    }

    /// Returns a message as a bot sees it.
    pub(super) fn message_object(&self, chat: ChatId, id: i64, bot: i64) -> Value {
        let state = self.chat(chat);
        let Some(message) = state.messages.get(&id) else { return Value::Null };
        let offset = self.offset(chat, bot);
        if message.is_deleted {
            return json!({"chat": self.chat_object(chat), "message_id": id + offset, "date": 0});
        }
        let mut object = self.bare_message(chat, id, message, offset);
        if let Some(replied) = message.reply_to
            && let Some(original) = state.messages.get(&replied)
            && !original.is_deleted
        {
            let reply = self.bare_message(chat, replied, original, offset);
            object.insert("reply_to_message".to_owned(), reply.into());
        }
        object.into()
    }

    /// Returns a message without the one that it replies to.
    pub(super) fn bare_message(
        &self,
        chat: ChatId,
        id: i64,
        message: &StoredMessage,
        offset: i64,
    ) -> Map<String, Value> {
        let mut object = Map::new();
        let mut set = |field: &str, value: Value| object.insert(field.to_owned(), value);
        set("message_id", (id + offset).into());
        set("date", message.date.into());
        set("chat", self.chat_object(chat));
        match &message.sender {
            Sender::Person(user) | Sender::Bot(user) => set("from", self.user(*user)),
            Sender::Anonymous => {
                set("sender_chat", self.chat_object(chat));
                set("from", stand_in(ANONYMOUS, "Group"))
            }
            Sender::Channel(title) => {
                set("sender_chat", json!({"id": CHANNEL_ID, "type": "channel", "title": title}));
                set("from", stand_in(CHANNEL, "Channel"))
            }
        };
        if let Some(thread) = self.thread_shown(chat, message) {
            set("message_thread_id", thread.into());
        }
        if message.thread.is_some() {
            set("is_topic_message", true.into());
        }
        if let Some(date) = message.edit_date {
            set("edit_date", date.into());
        }
        let has_caption =
            ["photo", "voice", "document"].iter().any(|kind| message.extra.contains_key(*kind));
        let (text, entities) =
            if has_caption { ("caption", "caption_entities") } else { ("text", "entities") };
        if !message.text.is_empty() && !message.extra.contains_key("rich_message") {
            set(text, message.text.clone().into());
        }
        if !message.entities.is_empty() {
            set(entities, message.entities.clone().into());
        }
        if !message.keyboard.is_null() {
            set("reply_markup", json!({"inline_keyboard": message.keyboard}));
        }
        object.extend(message.extra.clone());
        object
    }

    /// Returns the thread's number on the wire. In supergroups without topics a reply has one too.
    fn thread_shown(&self, chat: ChatId, message: &StoredMessage) -> Option<i64> {
        let is_plain = matches!(self.chat(chat).kind, ChatKind::Supergroup { forum: false });
        message.thread.or(message.reply_to.filter(|_| is_plain))
    }

    /// Returns the member object of a user.
    pub(super) fn member_object(&self, user: i64, standing: Standing) -> Value {
        let object = self.user(user);
        match standing {
            Standing::Member => json!({"status": "member", "user": object}),
            Standing::Left => json!({"status": "left", "user": object}),
            Standing::Kicked => json!({"status": "kicked", "user": object, "until_date": 0}),
            Standing::Administrator => administrator(&object),
        }
    }

    /// Returns the object of `getMe`.
    pub(super) fn me(&self, state: &BotState) -> Value {
        let mut object = self.user(state.bot.id);
        object["can_join_groups"] = true.into();
        object["can_read_all_group_messages"] = (!state.privacy).into();
        object["can_manage_bots"] = state.manages.into();
        for off in [
            "supports_guest_queries",
            "supports_inline_queries",
            "can_connect_to_business",
            "has_main_web_app",
            "has_topics_enabled",
            "allows_users_to_create_topics",
            "supports_join_request_queries",
        ] {
            object[off] = false.into();
        }
        object
    }

    /// Returns the object of `getChat`.
    pub(super) fn full_chat(&self, chat: ChatId) -> Value {
        let mut object = self.chat_object(chat);
        object["accent_color_id"] = 0.into();
        object["max_reaction_count"] = 11.into();
        object["accepted_gift_types"] = json!({
            "unlimited_gifts": false, "limited_gifts": false, "unique_gifts": false,
            "premium_subscription": false, "gifts_from_channels": false,
        });
        object
    }
}

fn stand_in((id, username): (i64, &str), name: &str) -> Value {
    json!({"id": id, "is_bot": true, "first_name": name, "username": username})
}

fn administrator(user: &Value) -> Value {
    let mut object = json!({"status": "administrator", "user": user, "can_be_edited": false, "is_anonymous": false});
    for right in [
        "can_manage_chat",
        "can_delete_messages",
        "can_manage_video_chats",
        "can_restrict_members",
        "can_promote_members",
        "can_change_info",
        "can_invite_users",
        "can_post_stories",
        "can_edit_stories",
        "can_delete_stories",
        "can_send_welcome_messages",
        "can_pin_messages",
        "can_manage_topics",
    ] {
        object[right] = true.into();
    }
    object
}

impl ChatState {
    /// Returns the word for the chat in refusals.
    pub(super) fn noun(&self) -> &'static str {
        if self.is_supergroup() { "supergroup" } else { "group" }
    }
}
