//! Ephemeral cards: in a group, a question that one person alone sees.
//!
//! They are for people who may answer but have no private chat with a bot of this server. Only an
//! admin may send them, and Telegram does not promise that they arrive. So the line in the group
//! stays, and the page has the question too.

use std::sync::Arc;

use moothall_engine::outbox::{Outcome, SentPart};
use moothall_kernel::ids::ParticipantId;

use super::Telegram;
use super::bot::Bot;
use super::carry::entities_of;
use super::client::{Button, CallFault, EphemeralId, Method, SendMessage};
use super::room::Room;
use super::text::Part;
use crate::carriage::Carriage;

impl Telegram {
    /// Sends a card to one member of a group, by the first bot that is an admin there. Returns the
    /// outcome if the delivery ends or is put off. Returns `None` if a bot sent the card, and also
    /// if no bot could send it.
    pub(super) async fn send_ephemeral_card(
        &self,
        under_way: &mut Carriage<'_, Room>,
        person: i64,
        from: &ParticipantId,
        part: &Part,
        buttons: impl Fn(&Bot) -> Vec<Vec<Button>>,
    ) -> Option<Outcome> {
        let room = under_way.room.clone();
        for bot in self.speakers(&room, Some(from)) {
            if !self.may_send_ephemeral(&bot, room.chat, person).await {
                continue;
            }
            if let Err(later) = self.note_until_slot(under_way, &bot).await {
                return Some(later);
            }
            let message = SendMessage {
                chat_id: room.chat,
                thread: room.topic,
                text: part.text.clone(),
                entities: entities_of(part),
                buttons: buttons(&bot),
                ..SendMessage::default()
            };
            let sent = bot.client.send_ephemeral(&message, person).await;
            if let Ok(EphemeralId::Public(id)) = sent {
                self.take_back(&bot, room.chat, id).await;
            }
            if !matches!(sent, Err(CallFault::Maybe { .. })) {
                under_way.kept.sending = None;
            }
            match sent {
                Ok(EphemeralId::Public(_)) => {}
                Ok(EphemeralId::Known(id)) => {
                    note_card(under_way, &bot, person, Some(id));
                    return None;
                }
                Ok(EphemeralId::Unread) => {
                    note_card(under_way, &bot, person, None);
                    return None;
                }
                Err(CallFault::Maybe { why }) => return Some(under_way.unknown(why)),
                Err(fault) => {
                    if let Some(later) = self.repeated_later(&bot, room.chat, &fault) {
                        return Some(under_way.put_off(later).await);
                    }
                    tracing::debug!(bot = bot.agent, %fault, "a card was not taken");
                }
            }
            if let Err(later) = under_way.write().await {
                return Some(later);
            }
        }
        None
    }

    /// True if a bot can show a person something in a group: the bot is an admin, the person is a
    /// member, and the bot's Bot API server knows messages for one person. An older Bot API server
    /// would show them to all members.
    async fn may_send_ephemeral(&self, bot: &Arc<Bot>, chat: i64, person: i64) -> bool {
        if bot.lacks(Method::DeleteEphemeralMessage) {
            return false;
        }
        let status = async |account| bot.client.get_chat_member(chat, account).await;
        if !status(bot.id()).await.is_ok_and(|own| own.is_admin())
            || !status(person).await.is_ok_and(|member| member.is_inside())
        {
            return false;
        }
        // The number 0 belongs to no message, so this call deletes nothing. Its answer shows if the
        // method is known.
        match bot.client.delete_ephemeral(chat, person, 0).await {
            Err(fault) if fault.is_unknown_method() => {
                bot.note_lacking(Method::DeleteEphemeralMessage);
                false
            }
            Ok(()) | Err(CallFault::Refused { .. }) => true,
            Err(CallFault::NotSent { .. } | CallFault::Maybe { .. }) => false,
        }
    }

    /// Deletes a card that an older Bot API server showed to the whole group. Notes that this bot
    /// cannot send such cards.
    async fn take_back(&self, bot: &Bot, chat: i64, id: i64) {
        tracing::error!(bot = bot.agent, chat, "a card for one person was shown to a group");
        bot.note_lacking(Method::DeleteEphemeralMessage);
        if let Err(fault) = bot.client.delete_message(chat, id).await {
            tracing::error!(bot = bot.agent, chat, %fault, "it could not be deleted");
        }
    }
}

/// Notes a card that one member of a group was shown.
fn note_card(under_way: &mut Carriage<'_, Room>, bot: &Bot, person: i64, id: Option<i64>) {
    under_way.kept.sent.push(SentPart {
        bot: bot.agent.clone(),
        chat: under_way.room.chat.to_string(),
        id: id.map(|id| id.to_string()),
        only_to: Some(person.to_string()),
    });
}
