//! The methods of the Bot API, with their arguments and the parts of their results that are used.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CallFault, Client, Method};
use crate::telegram::update::{Chat, GENERAL_TOPIC, MemberStatus};

/// Most updates of one poll: Telegram's limit.
const UPDATES_MAX: usize = 100;
/// Kinds of updates that are asked for. Telegram remembers the list.
const UPDATES: [&str; 6] = [
    "message",
    "edited_message",
    "callback_query",
    "my_chat_member",
    "managed_bot",
    "stopped_message_generation",
];
/// Longest answer to a press, in characters.
const PRESS_ANSWER_CHARS_MAX: usize = 200;

/// The facts that a bot learns about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotInfo {
    /// Id of the bot.
    pub id: i64,
    /// Username of the bot, without `@`.
    pub username: String,
    /// Name of the bot, as people see it.
    pub name: String,
    /// True if the bot's privacy mode is off: it hears all messages of the groups it is in.
    pub can_read_all_group_messages: bool,
    /// True if people can add the bot to groups.
    pub can_join_groups: bool,
    /// True if the bot can manage bots that people make by its buttons.
    pub can_manage_bots: bool,
}

/// A button under a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// Text of the button.
    pub text: String,
    /// Data that a press brings back, at most 64 bytes.
    pub data: String,
}

/// A command that Telegram offers to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotCommand {
    /// Name without `/`, at most 32 of `a-z`, `0-9` and `_`.
    pub command: String,
    /// Description, at most 256 characters.
    pub description: String,
}

/// A message to be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SendMessage {
    /// Chat that gets the message.
    pub chat_id: i64,
    /// Topic of the chat; `None` for the General topic.
    pub thread: Option<i64>,
    /// Text, at most 4,096 UTF-16 units.
    pub text: String,
    /// Entities of the text, in Telegram's form.
    pub entities: Vec<Value>,
    /// Message to reply to. The message is sent without it if it is deleted meanwhile.
    pub reply_to: Option<i64>,
    /// Rows of buttons under the message.
    pub buttons: Vec<Vec<Button>>,
    /// True if the message makes no sound.
    pub silent: bool,
}

/// A new text for a message that the bot sent. Buttons that are not repeated vanish.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditMessage {
    /// Chat of the message.
    pub chat_id: i64,
    /// Id of the message.
    pub message_id: i64,
    /// New text, at most 4,096 UTF-16 units.
    pub text: String,
    /// Entities of the text, in Telegram's form.
    pub entities: Vec<Value>,
    /// Rows of buttons under the message.
    pub buttons: Vec<Vec<Button>>,
}

impl SendMessage {
    pub(super) fn body(&self) -> Value {
        let mut body = text_body(self.chat_id, &self.text, &self.entities, &self.buttons);
        put_place(&mut body, self.thread, self.reply_to);
        if self.silent {
            body["disable_notification"] = true.into();
        }
        body
    }
}

impl EditMessage {
    pub(super) fn body(&self) -> Value {
        let mut body = text_body(self.chat_id, &self.text, &self.entities, &self.buttons);
        body["message_id"] = self.message_id.into();
        body
    }
}

/// Puts the topic and the message to reply to into a body. Telegram refuses the General topic.
pub(super) fn put_place(body: &mut Value, thread: Option<i64>, reply_to: Option<i64>) {
    if let Some(thread) = thread.filter(|thread| *thread != GENERAL_TOPIC) {
        body["message_thread_id"] = thread.into();
    }
    if let Some(message_id) = reply_to {
        body["reply_parameters"] =
            json!({ "message_id": message_id, "allow_sending_without_reply": true });
    }
}

/// Returns the parts that messages and edits share.
fn text_body(chat_id: i64, text: &str, entities: &[Value], buttons: &[Vec<Button>]) -> Value {
    let mut body = json!({
        "chat_id": chat_id,
        "text": text,
        "link_preview_options": { "is_disabled": true },
    });
    if !entities.is_empty() {
        body["entities"] = entities.into();
    }
    if !buttons.is_empty() {
        body["reply_markup"] = keyboard(buttons);
    }
    body
}

fn keyboard(rows: &[Vec<Button>]) -> Value {
    let button = |button: &Button| json!({ "text": button.text, "callback_data": button.data });
    let row = |row: &Vec<Button>| row.iter().map(button).collect::<Value>();
    json!({ "inline_keyboard": rows.iter().map(row).collect::<Value>() })
}

/// Returns the error of an answer without its necessary parts.
fn unread(method: Method) -> CallFault {
    CallFault::Maybe { why: format!("the answer to {} cannot be read", method.name()) }
}

/// Calls with arguments and results of their own. Each fails with the [`CallFault`] of
/// [`Client::call`].
impl Client {
    /// Returns the facts about the bot.
    pub async fn get_me(&self) -> Result<BotInfo, CallFault> {
        let me = self.call(Method::GetMe, &json!({})).await?;
        let text = |name: &str| me[name].as_str().unwrap_or_default().to_owned();
        Ok(BotInfo {
            id: me["id"].as_i64().ok_or_else(|| unread(Method::GetMe))?,
            username: text("username"),
            name: text("first_name"),
            can_read_all_group_messages: me["can_read_all_group_messages"] == true,
            can_join_groups: me["can_join_groups"] == true,
            can_manage_bots: me["can_manage_bots"] == true,
        })
    }

    /// Returns the next updates, and confirms those before `offset`. Waits for the first one, at
    /// most for `timeout`. If an answer cannot be read, perhaps because it is too long, asks for
    /// one update alone. Otherwise the same answer would come for ever.
    pub async fn get_updates(
        &self,
        offset: Option<i64>,
        timeout: Duration,
    ) -> Result<Vec<Value>, CallFault> {
        let mut body = json!({
            "timeout": timeout.as_secs(),
            "limit": UPDATES_MAX,
            "allowed_updates": UPDATES,
        });
        if let Some(offset) = offset {
            body["offset"] = offset.into();
        }
        if let Value::Array(updates) = self.call(Method::GetUpdates, &body).await? {
            return Ok(updates);
        }
        body["limit"] = 1.into();
        match self.call(Method::GetUpdates, &body).await? {
            Value::Array(updates) => Ok(updates),
            _ => Err(unread(Method::GetUpdates)),
        }
    }

    /// Ends the use of a webhook, which excludes polls. Updates that wait are kept.
    pub async fn delete_webhook(&self) -> Result<(), CallFault> {
        self.done(Method::DeleteWebhook, json!({ "drop_pending_updates": false })).await
    }

    /// Sets the commands that Telegram offers to people.
    pub async fn set_my_commands(&self, commands: &[BotCommand]) -> Result<(), CallFault> {
        let command =
            |it: &BotCommand| json!({ "command": it.command, "description": it.description });
        let commands: Value = commands.iter().map(command).collect();
        self.done(Method::SetMyCommands, json!({ "commands": commands })).await
    }

    /// Sends a message. Returns its id; `None` if it was sent but the answer cannot be read.
    pub async fn send_message(&self, message: &SendMessage) -> Result<Option<i64>, CallFault> {
        let sent = self.call(Method::SendMessage, &message.body()).await?;
        Ok(sent["message_id"].as_i64())
    }

    /// Changes the text of a message. An edit that changes nothing counts as done.
    pub async fn edit_message_text(&self, edit: &EditMessage) -> Result<(), CallFault> {
        let edited = self.done(Method::EditMessageText, edit.body()).await;
        edited.or_else(|fault| if fault.is_not_modified() { Ok(()) } else { Err(fault) })
    }

    /// Replaces the buttons of a message; without rows it has none. An edit that changes nothing
    /// counts as done.
    pub async fn edit_reply_markup(
        &self,
        chat_id: i64,
        message_id: i64,
        buttons: &[Vec<Button>],
    ) -> Result<(), CallFault> {
        let mut body = json!({ "chat_id": chat_id, "message_id": message_id });
        if !buttons.is_empty() {
            body["reply_markup"] = keyboard(buttons);
        }
        let edited = self.done(Method::EditMessageReplyMarkup, body).await;
        edited.or_else(|fault| if fault.is_not_modified() { Ok(()) } else { Err(fault) })
    }

    /// Deletes a message. A message that does not exist counts as deleted.
    pub async fn delete_message(&self, chat_id: i64, message_id: i64) -> Result<(), CallFault> {
        let body = json!({ "chat_id": chat_id, "message_id": message_id });
        let deleted = self.done(Method::DeleteMessage, body).await;
        deleted.or_else(|fault| if fault.is_already_deleted() { Ok(()) } else { Err(fault) })
    }

    /// Shows for five seconds that the bot is typing.
    pub async fn send_chat_action(
        &self,
        chat_id: i64,
        thread: Option<i64>,
    ) -> Result<(), CallFault> {
        let mut body = json!({ "chat_id": chat_id, "action": "typing" });
        put_place(&mut body, thread, None);
        self.done(Method::SendChatAction, body).await
    }

    /// Answers a press, with a text that its person sees for a moment, or in a window of its own
    /// (`alert`). Only the first 200 characters are sent.
    pub async fn answer_callback_query(
        &self,
        press: &str,
        text: &str,
        alert: bool,
    ) -> Result<(), CallFault> {
        let text: String = text.chars().take(PRESS_ANSWER_CHARS_MAX).collect();
        let body = json!({ "callback_query_id": press, "text": text, "show_alert": alert });
        self.done(Method::AnswerCallbackQuery, body).await
    }

    /// Returns the status of an account in a chat. A bot that is an admin sees all messages there.
    pub async fn get_chat_member(
        &self,
        chat_id: i64,
        account: i64,
    ) -> Result<MemberStatus, CallFault> {
        let body = json!({ "chat_id": chat_id, "user_id": account });
        let member = self.call(Method::GetChatMember, &body).await?;
        if member.is_null() {
            return Err(unread(Method::GetChatMember));
        }
        Ok(MemberStatus::read(&member))
    }

    /// Returns a chat; `None` if its description cannot be read.
    pub async fn get_chat(&self, chat_id: i64) -> Result<Option<Chat>, CallFault> {
        let chat = self.call(Method::GetChat, &json!({ "chat_id": chat_id })).await?;
        Ok(Chat::read(&chat))
    }

    /// Leaves a chat.
    pub async fn leave_chat(&self, chat_id: i64) -> Result<(), CallFault> {
        self.done(Method::LeaveChat, json!({ "chat_id": chat_id })).await
    }

    /// Calls a method whose result says nothing.
    pub(super) async fn done(&self, method: Method, body: Value) -> Result<(), CallFault> {
        self.call(method, &body).await.map(drop)
    }
}
