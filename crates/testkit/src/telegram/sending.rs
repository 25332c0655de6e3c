//! The methods that change what people see: send, edit, delete.

use serde_json::{Map, Value, json};

use super::entities;
use super::refusal::Refusal;
use super::world::{
    ChatId, ChatKind, ChatState, Sender, Standing, StoredMessage, TelegramWorld, now,
};

const TEXT_UTF16_MAX: usize = 4096;
const RICH_CHARS_MAX: usize = 32_768;
const RICH_BLOCKS_MAX: usize = 500;
const RICH_COLUMNS_MAX: usize = 20;
const BUTTON_DATA_BYTES_MAX: usize = 64;
const BUTTONS_MAX: usize = 100;
/// The number of the topic General, which must not be sent.
const GENERAL: i64 = 1;

/// Parameters of a checked request.
pub(super) type Params = Map<String, Value>;

/// The content of a message: its text with entities, or a rich message.
pub(super) struct MessageContent {
    pub(super) text: String,
    entities: Vec<Value>,
    rich: Option<Value>,
}

impl TelegramWorld {
    /// Returns the chat of a request, if the bot may act there.
    pub(super) fn chat_of(&self, bot: i64, params: &Params) -> Result<ChatId, Refusal> {
        let number = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
        let id = params.get("chat_id").and_then(number);
        let found = id.and_then(|id| self.find_chat(bot, id));
        let Some((chat, state)) = found else { return Err(self.no_chat(bot, id)) };
        if let Some(to) = state.migrated_to {
            return Err(Refusal::migrated(to));
        }
        let noun = state.noun();
        match (state.kind, state.standing(bot)) {
            (ChatKind::Private, _) if state.is_deleted => {
                Err(Refusal::forbidden("user is deactivated"))
            }
            (_, _) if state.is_deleted => Err(Refusal::forbidden("the group chat was deleted")),
            (_, Some(standing)) if standing.is_in() => Ok(chat),
            (ChatKind::Private, Some(_)) => Err(Refusal::forbidden("bot was blocked by the user")),
            (_, Some(Standing::Kicked)) => {
                Err(Refusal::forbidden(&format!("bot was kicked from the {noun} chat")))
            }
            (_, Some(_)) => {
                Err(Refusal::forbidden(&format!("bot is not a member of the {noun} chat")))
            }
            (_, None) => Err(Refusal::bad("chat not found")),
        }
    }

    /// Returns the refusal of a chat that the bot does not have. A person with whom it shares a
    /// group is known to it, but has to write first.
    fn no_chat(&self, bot: i64, id: Option<i64>) -> Refusal {
        let shares = |state: &ChatState| {
            let is_in = |user| state.standing(user).is_some_and(Standing::is_in);
            state.kind != ChatKind::Private && id.is_some_and(is_in) && is_in(bot)
        };
        if self.chats.values().any(shares) {
            return Refusal::forbidden("bot can't initiate conversation with a user");
        }
        Refusal::bad("chat not found")
    }

    fn find_chat(&self, bot: i64, id: i64) -> Option<(ChatId, &ChatState)> {
        let own = ChatId { id, bot: Some(bot) };
        let chat = if self.chats.contains_key(&own) { own } else { ChatId { id, bot: None } };
        self.chats.get(&chat).map(|state| (chat, state))
    }

    pub(super) fn send(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let chat = self.chat_of(bot, params)?;
        let content = MessageContent::of(params)?;
        let thread = self.thread_of(chat, params)?;
        let reply_to = self.reply_of(bot, chat, params)?;
        let mut message = StoredMessage::new(Sender::Bot(bot), "");
        message.thread = thread;
        message.reply_to = reply_to;
        message.keyboard = keyboard_of(params)?;
        content.fill(&mut message);
        if let Some(parameters) = params.get("ephemeral_message_parameters") {
            return self.send_ephemeral(bot, chat, message, parameters);
        }
        self.set_keyboard(bot, chat, params)?;
        let id = self.post(chat, message);
        Ok(self.message_object(chat, id, bot))
    }

    /// Returns the topic of a request.
    pub(super) fn thread_of(&self, chat: ChatId, params: &Params) -> Result<Option<i64>, Refusal> {
        let Some(thread) = params.get("message_thread_id").and_then(Value::as_i64) else {
            return Ok(None);
        };
        if thread == GENERAL || !self.chat(chat).topics.contains_key(&thread) {
            return Err(Refusal::bad("message thread not found"));
        }
        Ok(Some(thread))
    }

    fn reply_of(&self, bot: i64, chat: ChatId, params: &Params) -> Result<Option<i64>, Refusal> {
        let Some(reply) = params.get("reply_parameters") else { return Ok(None) };
        let id = reply["message_id"].as_i64().map(|id| id - self.offset(chat, bot));
        let is_there = |id: &i64| self.chat(chat).messages.get(id).is_some_and(|m| !m.is_deleted);
        match id.filter(is_there) {
            Some(id) => Ok(Some(id)),
            None if reply["allow_sending_without_reply"] == true => Ok(None),
            None => Err(Refusal::bad("message to be replied not found")),
        }
    }

    /// Returns the number of a message of a request in its chat, if the message is still there.
    fn message_of(
        &self,
        bot: i64,
        chat: ChatId,
        params: &Params,
        act: &str,
    ) -> Result<i64, Refusal> {
        let id = params.get("message_id").and_then(Value::as_i64).unwrap_or_default();
        let id = id - self.offset(chat, bot);
        let is_there = self.chat(chat).messages.get(&id).is_some_and(|m| !m.is_deleted);
        if is_there { Ok(id) } else { Err(Refusal::bad(&format!("message to {act} not found"))) }
    }

    pub(super) fn edit_text(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let chat = self.chat_of(bot, params)?;
        let id = self.message_of(bot, chat, params, "edit")?;
        let content = MessageContent::of(params)?;
        let keyboard = keyboard_of(params)?;
        self.change(bot, chat, id, |message| {
            content.fill(message);
            message.keyboard = keyboard;
        })
    }

    pub(super) fn edit_keyboard(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let chat = self.chat_of(bot, params)?;
        let id = self.message_of(bot, chat, params, "edit")?;
        let keyboard = keyboard_of(params)?;
        self.change(bot, chat, id, |message| message.keyboard = keyboard)
    }

    fn change(
        &mut self,
        bot: i64,
        chat: ChatId,
        id: i64,
        change: impl FnOnce(&mut StoredMessage),
    ) -> Result<Value, Refusal> {
        let Some(message) = self.chat_mut(chat).messages.get_mut(&id) else {
            return Err(Refusal::bad("message to edit not found"));
        };
        if message.sender != Sender::Bot(bot) || message.is_service {
            return Err(Refusal::bad("message can't be edited"));
        }
        let mut changed = message.clone();
        change(&mut changed);
        if changed.text == message.text
            && changed.entities == message.entities
            && changed.keyboard == message.keyboard
            && changed.extra == message.extra
        {
            return Err(Refusal::bad(
                "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
            ));
        }
        changed.edit_date = Some(now());
        *message = changed;
        self.announce(chat, id, "edited_message");
        Ok(self.message_object(chat, id, bot))
    }

    pub(super) fn delete(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let chat = self.chat_of(bot, params)?;
        let id = self.message_of(bot, chat, params, "delete")?;
        let is_admin = self.chat(chat).standing(bot) == Some(Standing::Administrator);
        let is_private = self.chat(chat).kind == ChatKind::Private;
        if let Some(message) = self.chat_mut(chat).messages.get_mut(&id) {
            if message.sender != Sender::Bot(bot) && !is_admin && !is_private {
                return Err(Refusal::bad("message can't be deleted"));
            }
            message.is_deleted = true;
        }
        Ok(true.into())
    }
}

impl MessageContent {
    pub(super) fn of(params: &Params) -> Result<Self, Refusal> {
        match (params.get("text"), params.get("rich_message")) {
            (Some(_), Some(_)) => Err(Refusal::bad("text and rich_message can't be used together")),
            (None, Some(rich)) => Self::rich(rich),
            (text, None) => Self::plain(text, params.get("entities")),
        }
    }

    fn plain(text: Option<&Value>, given: Option<&Value>) -> Result<Self, Refusal> {
        let text = text.and_then(Value::as_str).unwrap_or_default();
        let given = given.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let (text, mut entities) = entities::check(text, given)?;
        if text.is_empty() {
            return Err(Refusal::bad("message text is empty"));
        }
        if entities::utf16(&text) > TEXT_UTF16_MAX {
            return Err(Refusal::bad("message is too long"));
        }
        let covers = |found: &Value| {
            entities.iter().any(|entity| {
                let end = |of: &Value| of["offset"].as_i64().zip(of["length"].as_i64());
                let ranges = end(entity).zip(end(found));
                ranges.is_some_and(|((a, x), (b, y))| a < b + y && b < a + x)
            })
        };
        let detected: Vec<Value> =
            entities::find(&text).into_iter().filter(|found| !covers(found)).collect();
        entities.extend(detected);
        Ok(Self { text, entities, rich: None })
    }

    /// Reads a rich message. The fake shows it as one paragraph.
    fn rich(rich: &Value) -> Result<Self, Refusal> {
        let markdown = rich["markdown"].as_str().unwrap_or_default().trim();
        if markdown.is_empty() {
            return Err(Refusal::bad("rich message is empty"));
        }
        if markdown.chars().count() > RICH_CHARS_MAX {
            return Err(Refusal::bad("rich message is too long"));
        }
        // The service's words for these two are not known.
        if rich_blocks(markdown) > RICH_BLOCKS_MAX {
            return Err(Refusal::bad("rich message has too many blocks"));
        }
        let columns = |line: &str| line.trim().trim_matches('|').matches('|').count() + 1;
        if markdown.lines().any(|line| line.contains("|") && columns(line) > RICH_COLUMNS_MAX) {
            return Err(Refusal::bad("rich message has too many columns"));
        }
        let blocks = json!([{"type": "paragraph", "text": markdown}]);
        let rich = Some(json!({"blocks": blocks}));
        Ok(Self { text: markdown.to_owned(), entities: Vec::new(), rich })
    }

    pub(super) fn fill(self, message: &mut StoredMessage) {
        message.text = self.text;
        message.entities = self.entities;
        message.extra.remove("rich_message");
        message.extra.extend(self.rich.map(|rich| ("rich_message".to_owned(), rich)));
    }
}

/// Returns the number of blocks of Markdown at most: each line between empty ones counts once, and
/// each line of a list or a table by itself.
fn rich_blocks(markdown: &str) -> usize {
    let mut was_empty = true;
    let begins = |line: &&str| {
        let text = line.trim_start();
        let is_row = ["- ", "* ", "+ ", "|", "#", ">"].iter().any(|sign| text.starts_with(sign));
        let is_first = std::mem::replace(&mut was_empty, text.is_empty()) && !text.is_empty();
        is_row || is_first
    };
    markdown.lines().filter(begins).count()
}

/// Returns the rows of buttons of a request; null without any.
pub(super) fn keyboard_of(params: &Params) -> Result<Value, Refusal> {
    let rows = params.get("reply_markup").map(|markup| markup["inline_keyboard"].clone());
    let rows = rows.unwrap_or_default();
    let buttons: Vec<&Value> =
        rows.as_array().into_iter().flatten().filter_map(Value::as_array).flatten().collect();
    if buttons.len() > BUTTONS_MAX {
        return Err(Refusal::bad("reply markup is too long"));
    }
    buttons.iter().try_for_each(|button| check_button(button))?;
    Ok(if buttons.is_empty() { Value::Null } else { rows })
}

fn check_button(button: &Value) -> Result<(), Refusal> {
    if button["text"].as_str().is_none_or(str::is_empty) {
        return Err(Refusal::bad("can't parse inline keyboard button: text is empty"));
    }
    let actions = ["callback_data", "url", "copy_text"];
    match actions.iter().filter(|action| button.get(**action).is_some()).count() {
        0 => return Err(Refusal::bad("text buttons are unallowed in the inline keyboard")),
        1 => {}
        _ => return Err(Refusal::bad("an inline keyboard button has exactly one action")),
    }
    let data = button["callback_data"].as_str();
    if data.is_some_and(|data| data.is_empty() || data.len() > BUTTON_DATA_BYTES_MAX) {
        return Err(Refusal::bad("BUTTON_DATA_INVALID"));
    }
    let url = button["url"].as_str();
    if url.is_some_and(|url| !["https://", "http://", "tg://"].iter().any(|s| url.starts_with(s))) {
        return Err(Refusal::bad("BUTTON_URL_INVALID"));
    }
    Ok(())
}
