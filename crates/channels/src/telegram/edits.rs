//! Messages that people edit: the new words replace those that wait; later ones are told.

use moothall_kernel::slash;

use super::Telegram;
use super::bot::Bot;
use super::receive::{TryAgain, account_of, passing};
use super::room::Room;
use super::update::{Author, ChatKind, Message};
use crate::inbox::InboundWords;

/// Number of hexadecimal digits that tell the edits of a message apart.
const PRINT_CHARS: usize = 16;

impl Telegram {
    /// Takes a message that was edited. Telegram sends edits of link previews too, and several bots
    /// see the same edit, so only new words count, and each once.
    ///
    /// # Errors
    /// [`TryAgain`] if the words could not be stored now.
    pub(super) async fn receive_edit(&self, bot: &Bot, message: &Message) -> Result<(), TryAgain> {
        let Author::Person(author) = &message.author else { return Ok(()) };
        let agent = (message.chat.kind == ChatKind::Private).then(|| self.agent_of(bot));
        let room = match &agent {
            Some(agent) => Room::new(message.chat.id, None).with(agent),
            None => Room::new(message.chat.id, message.thread),
        };
        let Some(chat) = room.to_chat().filter(|_| self.is_designated(bot, message)) else {
            return Ok(());
        };
        let account = account_of(author);
        let Some(person) = self.inbox.person(&account).await.map_err(passing)? else {
            return Ok(());
        };
        let Some(stream) = self.inbox.bound(&chat).await.map_err(passing)? else { return Ok(()) };
        let words = self.words_of(message, chat.clone(), account, agent);
        let known = self.places.seq_of(message.chat.id, message.message_id);
        let earlier = match known {
            Some(seq) => Some(seq),
            None => self.inbox.place_of(&chat, &words.key).await.map_err(passing)?,
        };
        // A command took effect when it was sent, so its edit means nothing.
        let Some(earlier) = earlier.filter(|_| !slash::is_command_line(&words.text)) else {
            return Ok(());
        };
        let text = slash::words(&words.text).to_owned();
        let print = blake3::hash(text.as_bytes()).to_hex();
        let key = format!("edit:{}:{}", words.key, &print[..PRINT_CHARS]);
        let words = InboundWords { key, text, ..words };
        match self.inbox.edit(&person, &stream, earlier, words).await {
            Ok(Some(seq)) => {
                self.places.note_message(message.chat.id, message.message_id, seq);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) => self.refuse(bot, &room, message, error).await,
        }
    }
}
