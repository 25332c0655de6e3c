//! Messages that people edit. New words replace words that no agent took up. If an agent took them
//! up, a notice shows the new words.

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::slash;

use super::Telegram;
use super::bot::Bot;
use super::places::MessageId;
use super::receive::account_of;
use super::room::Room;
use super::update::{Author, ChatKind, Message};
use crate::inbox::InboundWords;
use crate::receive::{TryAgain, passing};

impl Telegram {
    /// Takes a message that was edited. Telegram reports the preview of a link as an edit too, and
    /// several bots see the same edit, so an edit without new words does nothing. Edits of commands
    /// and of unpaired people do nothing either. If an edit shows a pairing code to a group, the
    /// code is made invalid.
    ///
    /// # Errors
    /// [`TryAgain`] if the words could not be stored now.
    pub(super) async fn receive_edit(&self, bot: &Bot, message: &Message) -> Result<(), TryAgain> {
        if self.void_code(bot, message).await? {
            return Ok(());
        }
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
        let words = self.words_of(bot, message, chat, account, agent);
        // A command took effect when it was sent, so its edit means nothing.
        if slash::is_command_line(&words.text) {
            return Ok(());
        }
        let id = MessageId::new(bot, message.chat.id, message.message_id);
        for talk in self.talks_in(&room) {
            let Some(chat) = talk.to_chat() else { continue };
            let Some(stream) = self.inbox.bound(&chat).await.map_err(passing)? else { continue };
            let earlier = match self.messages.event_of(&id) {
                Some((of, seq)) if of == stream => Some(seq),
                _ => self.inbox.place_of(&stream, &chat, &words.key).await.map_err(passing)?,
            };
            let Some(earlier) = earlier else { continue };
            let to = talk.with.map(ParticipantId::new).or(words.to.clone());
            let words = InboundWords { chat, to, ..words }.replacing();
            return match self.inbox.edit(&person, &stream, earlier, words).await {
                Ok(Some(seq)) => {
                    self.messages.note(id, (stream, seq));
                    Ok(())
                }
                Ok(None) => Ok(()),
                Err(error) => self.refuse(bot, &room, message, error).await,
            };
        }
        Ok(())
    }

    /// Returns a place, and the places of the talks with one agent in it. A message of the place is
    /// in the conversation of one of these.
    fn talks_in(&self, room: &Room) -> Vec<Room> {
        let mut talks = vec![room.clone()];
        if room.with.is_none() {
            talks.extend(self.bots().iter().map(|bot| room.clone().with(&self.agent_of(bot))));
        }
        talks
    }
}
