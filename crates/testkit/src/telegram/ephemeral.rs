//! Ephemeral messages: one member of a group sees them.

use serde_json::Value;

use super::TelegramServer;
use super::people::Presser;
use super::refusal::Refusal;
use super::sending::{MessageContent, Params, keyboard_of};
use super::shown::{ShownMessage, show};
use super::world::{
    ChatId, ChatKind, MessageKey, PersonId, Sender, Standing, StoredMessage, TelegramWorld,
};

/// An ephemeral message that the service keeps.
#[derive(Clone, Debug)]
pub(super) struct StoredEphemeral {
    receiver: i64,
    message: StoredMessage,
}

impl TelegramWorld {
    /// Sends a message that one member sees, as the parameters of the request say.
    pub(super) fn send_ephemeral(
        &mut self,
        bot: i64,
        chat: ChatId,
        message: StoredMessage,
        parameters: &Value,
    ) -> Result<Value, Refusal> {
        let state = self.chat(chat);
        // The service's words for these refusals are not known.
        if state.kind == ChatKind::Private {
            return Err(Refusal::bad("ephemeral messages can be sent only in groups"));
        }
        if state.standing(bot) != Some(Standing::Administrator) {
            return Err(Refusal::bad("CHAT_ADMIN_REQUIRED"));
        }
        let receiver = parameters["receiver_user_id"].as_i64().unwrap_or_default();
        let is_member = state.standing(receiver).is_some_and(Standing::is_in);
        if !is_member || self.bot(receiver).is_some() {
            return Err(Refusal::bad("USER_NOT_PARTICIPANT"));
        }
        let sent = &mut self.chat_mut(chat).ephemeral;
        let id = sent.last_key_value().map_or(29_341_834, |(last, _)| last + 1);
        sent.insert(id, StoredEphemeral { receiver, message });
        Ok(self.ephemeral_object(chat, id))
    }

    fn ephemeral_object(&self, chat: ChatId, id: i64) -> Value {
        let Some(sent) = self.chat(chat).ephemeral.get(&id) else { return Value::Null };
        let mut object = Value::Object(self.bare_message(chat, 0, &sent.message, 0));
        object["ephemeral_message_id"] = id.into();
        object["receiver_user"] = self.user(sent.receiver);
        object
    }

    pub(super) fn edit_ephemeral(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let (chat, id) = self.ephemeral_of(bot, params, "edit")?;
        let content = MessageContent::of(params)?;
        let keyboard = keyboard_of(params)?;
        if let Some(sent) = self.chat_mut(chat).ephemeral.get_mut(&id) {
            content.fill(&mut sent.message);
            sent.message.keyboard = keyboard;
        }
        Ok(true.into())
    }

    pub(super) fn delete_ephemeral(&mut self, bot: i64, params: &Params) -> Result<Value, Refusal> {
        let (chat, id) = self.ephemeral_of(bot, params, "delete")?;
        self.chat_mut(chat).ephemeral.remove(&id);
        Ok(true.into())
    }

    /// Returns the number of a request's ephemeral message, if the bot sent it to that person.
    fn ephemeral_of(&self, bot: i64, params: &Params, act: &str) -> Result<(ChatId, i64), Refusal> {
        let chat = self.chat_of(bot, params)?;
        let number = |name: &str| params.get(name).and_then(Value::as_i64).unwrap_or_default();
        let id = number("ephemeral_message_id");
        let is_own = |sent: &StoredEphemeral| {
            sent.receiver == number("receiver_user_id") && sent.message.sender == Sender::Bot(bot)
        };
        if self.chat(chat).ephemeral.get(&id).is_some_and(is_own) {
            return Ok((chat, id));
        }
        Err(Refusal::bad(&format!("message to {act} not found")))
    }
}

impl TelegramServer {
    /// Returns the ephemeral messages that a person sees in a chat, oldest first.
    pub fn shown_only_to(&self, chat: ChatId, person: PersonId) -> Vec<ShownMessage> {
        let world = self.shared.world();
        let sent = world.chat(chat).ephemeral.iter();
        let own = sent.filter(|(_, sent)| sent.receiver == person.0);
        own.map(|(id, sent)| show(&world, MessageKey { chat, id: *id }, &sent.message)).collect()
    }

    /// Presses a button of an ephemeral message by its text. Returns the press's number.
    ///
    /// # Panics
    /// The person sees no such button.
    pub fn press_ephemeral(&self, person: PersonId, message: MessageKey, text: &str) -> String {
        let shown = self.shown_only_to(message.chat, person);
        let of = shown.iter().filter(|shown| shown.key == message).flat_map(|m| &m.buttons);
        let button = of.flatten().find(|button| button.text == text).expect("a shown button");
        self.shared.change(|world| {
            let sent = world.chat(message.chat).ephemeral.get(&message.id);
            let Some(Sender::Bot(bot)) = sent.map(|sent| sent.message.sender.clone()) else {
                panic!("{message:?} is not of a bot")
            };
            let object = world.ephemeral_object(message.chat, message.id);
            Presser { person: person.0, bot, chat: message.chat }.press(world, object, &button.data)
        })
    }
}
