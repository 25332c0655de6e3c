//! The methods that ask or set something beside messages, and the table of all methods.

use serde_json::{Value, json};

use super::entities::utf16;
use super::refusal::Refusal;
use super::sending::Params;
use super::world::{
    ChatId, ChatKind, Membership, PressAnswer, Sender, Standing, StoredMessage, TelegramWorld, now,
};

const ANSWER_UTF16_MAX: usize = 200;
const COMMANDS_MAX: usize = 100;
const COMMAND_CHARS_MAX: usize = 32;
const DESCRIPTION_CHARS_MAX: usize = 256;
const ACTIONS: [&str; 11] = [
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
];
/// Methods that count against the rates.
const RATED: [&str; 10] = [
    "sendMessage",
    "sendRichMessage",
    "editMessageText",
    "editMessageReplyMarkup",
    "deleteMessage",
    "sendChatAction",
    "editEphemeralMessageText",
    "deleteEphemeralMessage",
    "sendMessageDraft",
    "sendRichMessageDraft",
];

impl TelegramWorld {
    /// Carries out a method other than `getUpdates`.
    pub(super) fn run(
        &mut self,
        bot: i64,
        method: &str,
        params: &Params,
    ) -> Result<Value, Refusal> {
        if RATED.contains(&method) {
            let chat = self.chat_of(bot, params)?;
            self.rates.count(bot, chat)?;
        }
        match method {
            "getMe" => Ok(self.bot(bot).map(|state| self.me(state)).unwrap_or_default()),
            "deleteWebhook" => Ok(self.delete_webhook(bot, params)),
            "setMyCommands" => self.set_commands(bot, params),
            "setMyName" => Ok(self.set_name(bot, params)),
            "sendMessage" | "sendRichMessage" => self.send(bot, params),
            "sendMessageDraft" | "sendRichMessageDraft" => self.show_draft(bot, params),
            "editEphemeralMessageText" => self.edit_ephemeral(bot, params),
            "deleteEphemeralMessage" => self.delete_ephemeral(bot, params),
            "editMessageText" => self.edit_text(bot, params),
            "editMessageReplyMarkup" => self.edit_keyboard(bot, params),
            "deleteMessage" => self.delete(bot, params),
            "sendChatAction" => self.show_action(bot, params),
            "answerCallbackQuery" => self.answer_press(bot, params),
            "getChat" => self.chat_of(bot, params).map(|chat| self.full_chat(chat)),
            "getChatMember" => self.member(bot, params),
            "getChatAdministrators" => self.administrators(bot, params),
            "getManagedBotToken" => self.managed_token(bot, params),
            "setManagedBotAccessSettings" => self.set_access(bot, params),
            "leaveChat" => self.leave(bot, params),
            "getFile" => Err(Refusal::bad("wrong file_id or the file is temporarily unavailable")),
            _ => Err(Refusal::new(404, "Not Found: method not found")),
        }
    }

    fn delete_webhook(&mut self, bot: i64, params: &Params) -> Value {
        if let Some(state) = self.bot_mut(bot) {
            state.webhook = false;
            if params.get("drop_pending_updates") == Some(&Value::Bool(true)) {
                state.updates.clear();
            }
        }
        true.into()
    }

    fn set_commands(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let commands = params.get("commands").cloned().unwrap_or_default();
        let all = commands.as_array().map_or(&[][..], Vec::as_slice);
        if all.len() > COMMANDS_MAX {
            return Err(Refusal::bad("BOT_COMMANDS_TOO_MUCH"));
        }
        for command in all {
            let name = command["command"].as_str().unwrap_or_default();
            let is_name =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            if name.is_empty() || name.len() > COMMAND_CHARS_MAX || !name.bytes().all(is_name) {
                return Err(Refusal::bad("BOT_COMMAND_INVALID"));
            }
            let length = command["description"].as_str().unwrap_or_default().chars().count();
            if !(1..=DESCRIPTION_CHARS_MAX).contains(&length) {
                return Err(Refusal::bad("BOT_COMMAND_DESCRIPTION_INVALID"));
            }
        }
        if let Some(state) = self.bot_mut(bot) {
            state.commands = commands;
        }
        Ok(true.into())
    }

    fn set_name(&mut self, bot: i64, params: &Params) -> Value {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(state) = self.bot_mut(bot) {
            state.bot.name = name;
        }
        true.into()
    }

    fn show_action(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let chat = self.chat_of(bot, params)?;
        self.thread_of(chat, params)?;
        let action = params.get("action").and_then(Value::as_str).unwrap_or_default();
        if !ACTIONS.contains(&action) {
            return Err(Refusal::bad("wrong parameter action in request"));
        }
        Ok(true.into())
    }

    fn answer_press(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let text = params.get("text").and_then(Value::as_str).unwrap_or_default();
        if utf16(text) > ANSWER_UTF16_MAX {
            return Err(Refusal::bad("MESSAGE_TOO_LONG"));
        }
        let id = params.get("callback_query_id").and_then(Value::as_str);
        let press = self.presses.iter_mut().find(|press| {
            press.bot == bot && Some(press.id.as_str()) == id && press.answer.is_none()
        });
        let Some(press) = press else {
            return Err(Refusal::bad(
                "query is too old and response timeout expired or query ID is invalid",
            ));
        };
        let is_alert = params.get("show_alert") == Some(&Value::Bool(true));
        press.answer = Some(PressAnswer { text: text.to_owned(), is_alert });
        Ok(true.into())
    }

    fn member(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let chat = self.chat_of(bot, params)?;
        let user = params.get("user_id").and_then(Value::as_i64).unwrap_or_default();
        if !self.people.contains_key(&user) && self.bot(user).is_none() {
            return Err(Refusal::bad("invalid user_id specified"));
        }
        let standing = self.chat(chat).standing(user).unwrap_or(Standing::Left);
        Ok(self.member_object(user, standing))
    }

    fn administrators(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let chat = self.chat_of(bot, params)?;
        if self.chat(chat).kind == ChatKind::Private {
            return Err(Refusal::bad("there are no administrators in the private chat"));
        }
        let with_bots = params.get("return_bots") == Some(&Value::Bool(true));
        let members = self.chat(chat).members.iter().filter(|(user, member)| {
            // The service leaves other bots out unless asked.
            let is_listed = with_bots || **user == bot || self.bot(**user).is_none();
            member.standing == Standing::Administrator && is_listed
        });
        Ok(members.map(|(user, member)| self.member_object(*user, member.standing)).collect())
    }

    fn leave(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let chat = self.chat_of(bot, params)?;
        if self.chat(chat).kind == ChatKind::Private {
            return Err(Refusal::bad("can't leave a private chat"));
        }
        self.set_standing(chat, bot, bot, Standing::Left);
        Ok(true.into())
    }

    /// Changes a user's standing. A bot hears of its own, and the others of joins and leaves.
    pub(super) fn set_standing(&mut self, chat: ChatId, user: i64, by: i64, new: Standing) {
        let is_open = self.bot(user).is_some_and(|state| !state.privacy);
        let members = &mut self.chat_mut(chat).members;
        let old = members.get(&user).copied();
        let was = old.map_or(Standing::Left, |member| member.standing);
        let open_at_join =
            if was.is_in() { old.is_some_and(|member| member.open_at_join) } else { is_open };
        members.insert(user, Membership { standing: new, open_at_join });
        if self.bot(user).is_some() {
            let update = json!({
                "chat": self.chat_object(chat),
                "from": self.user(by),
                "date": now(),
                "old_chat_member": self.member_object(user, was),
                "new_chat_member": self.member_object(user, new),
            });
            self.push(user, "my_chat_member", update);
        }
        if was.is_in() != new.is_in() && self.chat(chat).kind != ChatKind::Private {
            self.note_coming_or_going(chat, user, by, new.is_in());
        }
    }

    fn note_coming_or_going(&mut self, chat: ChatId, user: i64, by: i64, is_coming: bool) {
        let sender = if self.bot(by).is_some() { Sender::Bot(by) } else { Sender::Person(by) };
        let object = self.user(user);
        let (field, value) = if is_coming {
            ("new_chat_members", json!([object]))
        } else {
            ("left_chat_member", object)
        };
        self.post(chat, StoredMessage::service(sender, field, value));
    }
}
