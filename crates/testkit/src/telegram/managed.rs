//! Managed bots: the keyboard whose button makes one, its token, and who may write to it.

use serde_json::{Value, json};

use super::TelegramServer;
use super::refusal::Refusal;
use super::sending::Params;
use super::world::{Bot, ChatId, ChatKind, PersonId, Sender, StoredMessage, TelegramWorld};

const ADDED_MAX: usize = 10;
const NAME_CHARS_MAX: usize = 64;
const USERNAME_BYTES: std::ops::RangeInclusive<usize> = 5..=32;

impl TelegramWorld {
    /// Changes the keyboard that the person of a chat has, as a message says.
    pub(super) fn set_keyboard(
        &mut self,
        bot: i64,
        chat: ChatId,
        params: &Params,
    ) -> Result<(), Refusal> {
        let Some(markup) = params.get("reply_markup") else { return Ok(()) };
        let kinds = ["inline_keyboard", "keyboard", "remove_keyboard"];
        if kinds.iter().filter(|kind| markup.get(**kind).is_some()).count() != 1 {
            return Err(Refusal::bad("object expected as reply markup"));
        }
        if let Some(rows) = markup.get("keyboard") {
            let buttons: Vec<&Value> = rows
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_array)
                .flatten()
                .collect();
            if buttons.is_empty() {
                return Err(Refusal::bad("reply keyboard is empty"));
            }
            buttons.iter().try_for_each(|button| self.check_key(bot, chat, button))?;
            self.chat_mut(chat).keyboard = rows.clone();
        } else if markup.get("remove_keyboard").is_some() {
            self.chat_mut(chat).keyboard = Value::Null;
        }
        Ok(())
    }

    fn check_key(&self, bot: i64, chat: ChatId, button: &Value) -> Result<(), Refusal> {
        let Some(request) = button.get("request_managed_bot") else { return Ok(()) };
        // The service's words for these refusals are not known.
        if self.chat(chat).kind != ChatKind::Private {
            return Err(Refusal::bad("managed bots can be requested only in private chats"));
        }
        if !self.bot(bot).is_some_and(|state| state.manages) {
            return Err(Refusal::bad("BOT_CANT_MANAGE_BOTS"));
        }
        if request["request_id"].as_i64().is_none_or(|id| i32::try_from(id).is_err()) {
            return Err(Refusal::bad("request_id is out of range"));
        }
        let name = request["suggested_name"].as_str().unwrap_or_default();
        let username = request["suggested_username"].as_str();
        if name.chars().count() > NAME_CHARS_MAX || username.is_some_and(|it| !is_bot_name(it)) {
            return Err(Refusal::bad("the suggested name is invalid"));
        }
        Ok(())
    }

    /// Returns the bot of a request, if the asking bot manages it.
    fn managed(&self, manager: i64, params: &Params) -> Result<i64, Refusal> {
        let id = params.get("user_id").and_then(Value::as_i64).unwrap_or_default();
        let is_own = self.bot(id).is_some_and(|state| state.manager == Some(manager));
        if is_own { Ok(id) } else { Err(Refusal::bad("BOT_ACCESS_FORBIDDEN")) }
    }

    pub(super) fn managed_token(&self, manager: i64, params: &Params) -> Result<Value, Refusal> {
        let id = self.managed(manager, params)?;
        Ok(self.bot(id).map(|state| state.bot.token.clone().into()).unwrap_or_default())
    }

    pub(super) fn set_access(&mut self, manager: i64, params: &Params) -> Result<Value, Refusal> {
        let id = self.managed(manager, params)?;
        let added = params.get("added_user_ids").and_then(Value::as_array);
        let is_known = |user: &Value| user.as_i64().is_some_and(|id| self.people.contains_key(&id));
        if added.is_some_and(|all| all.len() > ADDED_MAX || !all.iter().all(is_known)) {
            return Err(Refusal::bad("USERS_TOO_MUCH"));
        }
        let added = added.cloned().unwrap_or_default();
        let is_restricted = params.get("is_access_restricted") == Some(&Value::Bool(true));
        if let Some(state) = self.bot_mut(id) {
            state.access = is_restricted
                .then(|| added.iter().filter_map(Value::as_i64).map(PersonId).collect());
        }
        Ok(true.into())
    }

    fn tell_manager(&mut self, manager: i64, owner: PersonId, bot: i64) {
        let update = json!({"user": self.user(owner.0), "bot": self.user(bot)});
        self.push(manager, "managed_bot", update);
    }
}

fn is_bot_name(name: &str) -> bool {
    USERNAME_BYTES.contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.to_ascii_lowercase().ends_with("bot")
}

impl TelegramServer {
    /// Lets a bot manage others, as its owner does at @BotFather.
    pub fn let_manage(&self, bot: &Bot) {
        self.change_bot(bot, |state| state.manages = true);
    }

    /// Returns the texts of the keyboard that a person has in a private chat.
    pub fn keyboard(&self, chat: ChatId) -> Vec<String> {
        let rows = self.shared.world().chat(chat).keyboard.clone();
        let buttons = rows.as_array().into_iter().flatten().filter_map(Value::as_array).flatten();
        buttons.map(|button| button["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Makes a bot by the button of a keyboard with this text, under the suggested name.
    ///
    /// # Panics
    /// The person has no such button.
    pub fn tap_new_bot(&self, person: PersonId, chat: ChatId, button: &str) -> Bot {
        let rows = self.shared.world().chat(chat).keyboard.clone();
        let mut buttons =
            rows.as_array().into_iter().flatten().filter_map(Value::as_array).flatten();
        let tapped = buttons.find(|shown| shown["text"] == button).cloned();
        let request = tapped.expect("a shown button")["request_managed_bot"].take();
        let word = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        let manager = chat.bot.expect("a private chat");
        let bot = self.make_managed(person, manager, &word("suggested_username"));
        self.shared.change(|world| {
            let made = json!({"bot": world.user(bot.id)});
            let sender = Sender::Person(person.0);
            world.post(chat, StoredMessage::service(sender, "managed_bot_created", made));
        });
        bot
    }

    /// Makes a bot by a link of a manager, without a button.
    pub fn make_managed_bot(&self, person: PersonId, manager: &Bot, username: &str) -> Bot {
        self.make_managed(person, manager.id, username)
    }

    fn make_managed(&self, person: PersonId, manager: i64, username: &str) -> Bot {
        let bot = self.add_bot(username, username);
        self.change_bot(&bot, |state| state.manager = Some(manager));
        self.shared.change(|world| world.tell_manager(manager, person, bot.id));
        bot
    }

    /// Replaces the token of a managed bot. The old one is not valid any more.
    pub fn renew_token(&self, person: PersonId, bot: &Bot) -> Bot {
        let fresh = Bot { token: format!("{}-renewed", bot.token), ..bot.clone() };
        self.change_bot(bot, |state| state.bot.token.clone_from(&fresh.token));
        self.shared.change(|world| {
            let manager = world.bot(bot.id).and_then(|state| state.manager);
            manager.into_iter().for_each(|manager| world.tell_manager(manager, person, bot.id));
        });
        fresh
    }

    /// Returns the people who may write to a managed bot beside its owner; `None` for all people.
    pub fn may_write_to(&self, bot: &Bot) -> Option<Vec<PersonId>> {
        self.shared.world().bot(bot.id).and_then(|state| state.access.clone())
    }
}
