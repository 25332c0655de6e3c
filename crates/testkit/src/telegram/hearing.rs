//! Who hears a message: privacy mode, administrators, bots among bots.

use super::entities;
use super::world::{ChatId, ChatKind, Membership, Sender, Standing, StoredMessage, TelegramWorld};

impl TelegramWorld {
    /// Adds a message to a chat, tells the bots that hear it, and returns its number.
    pub(super) fn post(&mut self, chat: ChatId, mut message: StoredMessage) -> i64 {
        message.meant_for = self.meant_for(chat, &message);
        let id = self.chat_mut(chat).add(message);
        self.announce(chat, id, "message");
        id
    }

    /// Sends an update about a message to the bots that hear it.
    pub(super) fn announce(&mut self, chat: ChatId, id: i64, kind: &str) {
        let Some(message) = self.chat(chat).messages.get(&id) else { return };
        for bot in self.hearers(chat, message) {
            let object = self.message_object(chat, id, bot);
            self.push(bot, kind, object);
        }
    }

    /// Returns the bots that hear a message.
    fn hearers(&self, chat: ChatId, message: &StoredMessage) -> Vec<i64> {
        let state = self.chat(chat);
        if state.kind == ChatKind::Private {
            let bot = chat.bot.filter(|bot| {
                message.sender != Sender::Bot(*bot)
                    && state.standing(*bot).is_some_and(Standing::is_in)
            });
            return bot.into_iter().collect();
        }
        let is_of_bot = matches!(message.sender, Sender::Bot(_));
        let bots = state.members.iter().filter(|(user, member)| {
            member.standing.is_in()
                && self.bot(**user).is_some()
                && message.sender != Sender::Bot(**user)
        });
        let hears = |(user, member): &(&i64, &Membership)| {
            let is_meant = message.meant_for == Some(**user);
            let hears_all = member.open_at_join || member.standing == Standing::Administrator;
            if message.is_service {
                return true;
            }
            (!is_of_bot || self.bots_hear_bots) && (hears_all || is_meant)
        };
        bots.filter(hears).map(|(user, _)| *user).collect()
    }

    /// Returns the only bot in privacy mode that hears a message. A reply goes before a command.
    pub(super) fn meant_for(&self, chat: ChatId, message: &StoredMessage) -> Option<i64> {
        let state = self.chat(chat);
        let replied = message.reply_to.and_then(|id| state.messages.get(&id));
        let answered = replied.and_then(|original| match original.sender {
            Sender::Bot(bot) => Some(bot),
            _ => original.meant_for,
        });
        answered.or_else(|| {
            let command = entities::command(&message.text, &message.entities)?;
            match command.addressee {
                None => state.last_bot,
                Some(name) => self
                    .bots
                    .iter()
                    .find(|state| state.bot.username.eq_ignore_ascii_case(name))
                    .map(|state| state.bot.id),
            }
        })
    }
}
