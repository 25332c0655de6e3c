//! Words of people and bots that are not known to the server. They are dropped and counted, or
//! stored as data if the operator wants that. (Ruling 44.)

use moothall_kernel::chat::{Chat, OverheardWords, PostOrigin};
use moothall_kernel::ids::StreamId;

use super::Telegram;
use super::bot::Bot;
use super::room::{Room, TELEGRAM};
use super::update::{Author, Message};
use crate::config::StrangersRule;
use crate::receive::{TryAgain, passing};

impl Telegram {
    /// Takes a message whose author is not a person. A message of a bot of this server is in the
    /// conversation already, so it is only noted and judged later.
    ///
    /// # Errors
    /// [`TryAgain`] if the words could not be stored now.
    pub(super) async fn receive_from_other(
        &self,
        bot: &Bot,
        message: &Message,
    ) -> Result<(), TryAgain> {
        if let Author::Bot { id, .. } = message.author
            && self.bots().iter().any(|bot| bot.id() == id)
        {
            self.note_own_words(id, message);
            return Ok(());
        }
        let room = Room::new(message.chat.id, message.thread);
        let Some(chat) = room.to_chat().filter(|_| self.is_designated(bot, message)) else {
            return Ok(());
        };
        let stream = self.inbox.bound(&chat).await.map_err(passing)?;
        self.hear_stranger(bot, message, chat, stream).await
    }

    /// Takes words of an unknown author in a chat. They are dropped unless the chat is bound and
    /// the rule is to observe. Observed words are stored, but wake no agent and command nothing.
    /// Messages without text, and those of anonymous admins and channels, are dropped in any case.
    ///
    /// # Errors
    /// [`TryAgain`] if the words could not be stored now.
    pub(super) async fn hear_stranger(
        &self,
        bot: &Bot,
        message: &Message,
        chat: Chat,
        stream: Option<StreamId>,
    ) -> Result<(), TryAgain> {
        let stream = stream.filter(|_| self.settings.strangers == StrangersRule::Observe);
        let author = stream.zip(stranger(&message.author));
        let Some((stream, (id, name))) = author.filter(|_| !message.text.is_empty()) else {
            self.inbox.drop_words(&chat);
            return Ok(());
        };
        let key = self.key_of(bot, message, &chat);
        let origin = PostOrigin {
            chat,
            identity: Some(format!("{TELEGRAM}:{id}")),
            message: Some(message.message_id.to_string()),
        };
        let words = OverheardWords { origin, name, body: message.text.clone() };
        self.inbox.overhear(&stream, words, key).await.map_err(passing)
    }
}

/// Returns the account and the name of an author that has an account of its own; `None` for
/// anonymous admins and channels, which share an account.
fn stranger(author: &Author) -> Option<(i64, String)> {
    match author {
        Author::Person(person) => Some((person.id, person.name.clone())),
        Author::Bot { id, username } => Some((*id, username.clone().unwrap_or_default())),
        Author::Anonymous { .. } | Author::Channel | Author::Unknown => None,
    }
}
