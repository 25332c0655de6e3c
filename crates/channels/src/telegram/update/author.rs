//! The accounts in updates: the author of a message, and the status of an account in a chat.

use serde_json::Value;

use super::{Chat, ChatKind, text_of};

/// Account of the admins who hide their own account.
const ANONYMOUS_ADMIN: i64 = 1_087_968_824;
/// Account in whose name channels write in groups.
const CHANNEL_BOT: i64 = 136_817_688;
/// Account of Telegram itself, in whose name posts of a linked channel come into its group.
const TELEGRAM: i64 = 777_000;

/// The author of a message. Only a [`Person`] can be paired with one of the hall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// A person under their own account.
    Person(Person),
    /// A bot.
    Bot {
        /// Id of the bot.
        id: i64,
        /// Username of the bot, without `@`.
        username: Option<String>,
    },
    /// An admin who writes in the name of the group.
    Anonymous {
        /// Title of the group.
        chat_title: Option<String>,
    },
    /// A channel, or an account that writes in the name of one.
    Channel,
    /// An author that cannot be determined.
    Unknown,
}

/// A person's account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Id of the account. It never changes.
    pub id: i64,
    /// First and last name, as the person chose them; may be empty.
    pub name: String,
    /// Username without `@`. It may pass to another account.
    pub username: Option<String>,
    /// Language of the person's program, such as `de` or `pt-br`.
    pub language: Option<String>,
}

/// The status of an account in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberStatus {
    /// The owner of the chat.
    Owner,
    /// An admin.
    Administrator,
    /// A member.
    Member,
    /// A member with fewer rights.
    Restricted,
    /// Not a member.
    Left,
    /// Not a member, and may not come back.
    Kicked,
    /// A status that is not known here.
    Unknown(String),
}

impl Person {
    /// Reads the account of a person; `None` if it is a bot's or has no id.
    pub(super) fn read(value: &Value) -> Option<Self> {
        match Author::of_account(value) {
            Author::Person(person) => Some(person),
            _ => None,
        }
    }
}

impl Author {
    /// Reads the author of a message in a chat. A message in the name of a chat has an account in
    /// `from` that did not write it.
    pub(super) fn read(message: &Value, chat: &Chat) -> Self {
        let sender = &message["sender_chat"];
        if chat.kind == ChatKind::Channel || sender["type"] == "channel" {
            return Author::Channel;
        }
        match sender["id"].as_i64() {
            Some(id) if id == chat.id => Author::Anonymous {
                chat_title: text_of(&sender["title"]).or_else(|| chat.title.clone()),
            },
            Some(_) => Author::Channel,
            None if !sender.is_null() => Author::Unknown,
            None => Author::of_account(&message["from"]),
        }
    }

    /// Reads an account.
    pub(super) fn of_account(value: &Value) -> Self {
        let username = text_of(&value["username"]);
        match value["id"].as_i64() {
            Some(ANONYMOUS_ADMIN) => Author::Anonymous { chat_title: None },
            Some(CHANNEL_BOT | TELEGRAM) => Author::Channel,
            Some(id) if value["is_bot"] == true => Author::Bot { id, username },
            Some(id) => {
                let names = [&value["first_name"], &value["last_name"]];
                let names: Vec<&str> = names.into_iter().filter_map(Value::as_str).collect();
                let language = text_of(&value["language_code"]);
                let name = names.join(" ").trim().to_owned();
                Author::Person(Person { id, name, username, language })
            }
            None => Author::Unknown,
        }
    }
}

impl MemberStatus {
    /// Reads a member of a chat.
    pub(crate) fn read(member: &Value) -> Self {
        match member["status"].as_str().unwrap_or_default() {
            "creator" => MemberStatus::Owner,
            "administrator" => MemberStatus::Administrator,
            "member" => MemberStatus::Member,
            // A restriction outlives the membership.
            "restricted" if member["is_member"] == false => MemberStatus::Left,
            "restricted" => MemberStatus::Restricted,
            "left" => MemberStatus::Left,
            "kicked" => MemberStatus::Kicked,
            word => MemberStatus::Unknown(word.to_owned()),
        }
    }

    /// True if the account administers the chat. A bot that does sees all messages of people.
    pub fn is_admin(&self) -> bool {
        matches!(self, MemberStatus::Owner | MemberStatus::Administrator)
    }

    /// True if the account is in the chat. An unknown status counts as outside.
    pub fn is_inside(&self) -> bool {
        self.is_admin() || matches!(self, MemberStatus::Member | MemberStatus::Restricted)
    }
}
