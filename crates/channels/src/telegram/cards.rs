//! Questions of agents as cards with buttons: the people who get them, and the effect of a press.
//!
//! A card goes to the private chats of the people who may answer. In a group, a person without a
//! private chat gets a card that no other member sees. The buttons have a short signed id, and the
//! pairing of the account that presses decides. The page has every card too.

use std::sync::Arc;

use moothall_engine::access::Caller;
use moothall_engine::outbox::{CarryNotes, Outcome, SentPart};
use moothall_engine::ports::Delivery;
use moothall_kernel::ids::{Seq, StreamId};

use super::Telegram;
use super::bot::Bot;
use super::carry::entities_of;
use super::client::{Button, CallFault, EditMessage};
use super::receive::account_of;
use super::room::{Room, TELEGRAM};
use super::text;
use super::update::Press;
use crate::cards::{CardAnswer, NO_MEANING, NOT_PAIRED, card_text, group_line, plain_options};
use crate::carriage::{Carriage, delivered};
use crate::outbound::{Card, Outbound};
use crate::receive::{TryAgain, passing};

/// Longest label of a button, in characters.
const LABEL_CHARS_MAX: usize = 60;
/// The data of the button that opens a group.
pub(super) const OPEN: &str = "open";

/// A message that a bot sent.
struct SentMessage {
    bot: Arc<Bot>,
    chat: i64,
    id: i64,
    /// The person who alone sees it in a group.
    only_to: Option<i64>,
}

impl Telegram {
    /// Sends a question to the people who may answer it. In a group a line without details says
    /// that the agent waits.
    pub(super) async fn carry_card(
        &self,
        mut under_way: Carriage<'_, Room>,
        stream: &StreamId,
        card: Card,
    ) -> Outcome {
        let readers = match self.readers(&under_way.room, stream).await {
            Ok(readers) => readers,
            Err(why) => return Outcome::Later { why, after: None },
        };
        under_way.kept.permission = Some(card.permission.to_string());
        let parts = text::parts(&card_text(&card), None, text::TEXT_UNITS_MAX);
        let Some(part) = parts.first() else { return under_way.done(None) };
        for reader in &readers {
            let account = reader.to_string();
            let has_it = |notes: &CarryNotes| notes.sent.iter().any(|it| it.is_only_to(&account));
            if has_it(&under_way.kept) {
                continue;
            }
            let buttons = |bot: &Bot| buttons_of(bot, stream, &card);
            let over = self.send_card(&mut under_way, *reader, &card.from, part, buttons);
            if let Some(outcome) = over.await {
                return outcome;
            }
            if has_it(&under_way.kept) || !under_way.room.is_group() {
                continue;
            }
            let from = &card.from;
            let over = self.send_ephemeral_card(&mut under_way, *reader, from, part, buttons);
            if let Some(outcome) = over.await {
                return outcome;
            }
        }
        if !under_way.room.is_group() {
            return under_way.done(None);
        }
        let is_card = |sent: &&SentPart| sent.only_to.is_some() || !sent.chat.starts_with('-');
        under_way.before = under_way.kept.sent.iter().filter(is_card).count();
        let line = group_line(&card, !readers.is_empty());
        self.carry_line(under_way, &line).await
    }

    /// Returns the people who may answer a question of this conversation: in a private chat its
    /// person alone, in a group each person who is paired with the right.
    async fn readers(&self, room: &Room, stream: &StreamId) -> Result<Vec<i64>, String> {
        let accounts = self.inbox.answerers(TELEGRAM, stream).await?;
        let all = accounts.iter().filter_map(|account| account.parse().ok());
        Ok(all.filter(|reader| room.is_group() || *reader == room.chat).collect())
    }

    /// Replaces the cards of a question by its text with the outcome, without buttons.
    pub(super) async fn end_card(
        &self,
        under_way: Carriage<'_, Room>,
        delivery: &Delivery,
        permission: &str,
        line: &str,
    ) -> Outcome {
        let Some(hall) = self.weak.enter() else {
            return Outcome::Later { why: "the server is stopping".into(), after: None };
        };
        let is_meant =
            |_: &Delivery, notes: &CarryNotes| notes.permission.as_deref() == Some(permission);
        let (shown, notes) = match delivered(&hall, delivery, is_meant).await {
            Ok(Some(found)) => found,
            Ok(None) => return under_way.done(Some("no card of this question was sent here")),
            Err(error) => return Outcome::Later { why: error.to_string(), after: None },
        };
        let Some(chat) = under_way.room.to_chat() else { return under_way.done(None) };
        let read = Outbound::read(&hall, &shown.stream, shown.through_seq, &chat).await;
        let Ok(Outbound::Card(card)) = read else { return under_way.done(None) };
        let text = format!("{}\n\n{line}", card_text(&card));
        for SentMessage { bot, chat, id, only_to } in
            notes.sent.iter().filter_map(|sent| self.sent_by(sent))
        {
            // The line in the group stays.
            if chat < 0 && only_to.is_none() {
                continue;
            }
            if let Err(later) = self.wait_for_slot(&bot, &Room::new(chat, None)).await {
                return later;
            }
            let parts = text::parts(&text, None, text::TEXT_UNITS_MAX);
            let Some(part) = parts.into_iter().next() else { continue };
            let edit = EditMessage {
                chat_id: chat,
                message_id: id,
                entities: entities_of(&part),
                text: part.text,
                buttons: Vec::new(),
            };
            let edited = match only_to {
                Some(person) => bot.client.edit_ephemeral_text(&edit, person).await,
                None => bot.client.edit_message_text(&edit).await,
            };
            if let Err(fault) = edited {
                if let Some(later) = self.repeated_later(&bot, chat, &fault) {
                    return later;
                }
                tracing::debug!(bot = bot.agent, %fault, "a card could not be ended");
            }
        }
        under_way.done(None)
    }

    /// Deletes the messages of an event whose words were erased. If Telegram keeps one of them, a
    /// line in the chat says so.
    pub(super) async fn erase(
        &self,
        under_way: Carriage<'_, Room>,
        delivery: &Delivery,
        seq: Seq,
        message: Option<String>,
    ) -> Outcome {
        let Some(hall) = self.weak.enter() else {
            return Outcome::Later { why: "the server is stopping".into(), after: None };
        };
        let is_meant = |one: &Delivery, _: &CarryNotes| one.through_seq == seq;
        let notes = match delivered(&hall, delivery, is_meant).await {
            Ok(found) => found.map(|(_, notes)| notes).unwrap_or_default(),
            Err(error) => return Outcome::Later { why: error.to_string(), after: None },
        };
        let mut left = false;
        for sent in &notes.sent {
            let Some(SentMessage { bot, chat, id, only_to }) = self.sent_by(sent) else {
                left = true;
                continue;
            };
            let deleted = match only_to {
                Some(person) => bot.client.delete_ephemeral(chat, person, id).await,
                None => bot.client.delete_message(chat, id).await,
            };
            if let Err(fault) = deleted {
                if let Some(later) = self.repeated_later(&bot, chat, &fault) {
                    return later;
                }
                left = true;
            }
        }
        if let Some(id) = message.and_then(|message| message.parse().ok()) {
            match self.delete_of_person(&under_way.room, id).await {
                Ok(is_deleted) => left |= !is_deleted,
                Err(later) => return later,
            }
        }
        if left {
            let line = "Words were erased here, but Telegram keeps its copy of them: a bot cannot \
                        delete messages of people without admin rights, or after 48 hours.";
            return self.carry_line(under_way, line).await;
        }
        under_way.done(None)
    }

    /// Returns a message that was sent, with the bot that sent it; `None` if the bot or the
    /// message's id is not known.
    fn sent_by(&self, sent: &SentPart) -> Option<SentMessage> {
        let bot = self.bots().into_iter().find(|bot| bot.agent == sent.bot)?;
        let only_to = sent.only_to.as_ref().and_then(|account| account.parse().ok());
        let id = sent.id.as_ref()?.parse().ok()?;
        Some(SentMessage { bot, chat: sent.chat.parse().ok()?, id, only_to })
    }

    /// Deletes a person's message by any bot that may. Returns false if no bot may. Outside
    /// supergroups the number means another message for each bot, so nothing is deleted if there
    /// are several bots.
    async fn delete_of_person(&self, room: &Room, message: i64) -> Result<bool, Outcome> {
        let (chat, bots) = (room.chat, self.speakers(room, None));
        if !room.is_supergroup() && bots.len() != 1 {
            return Ok(false);
        }
        for bot in bots {
            match bot.client.delete_message(chat, message).await {
                Ok(()) => return Ok(true),
                Err(fault) => match self.repeated_later(&bot, chat, &fault) {
                    Some(later) => return Err(later),
                    None => continue,
                },
            }
        }
        Ok(false)
    }

    /// Returns the outcome that puts off an edit or a deletion, if its failure passes by itself;
    /// `None` otherwise. An edit or a deletion that is made twice does no harm.
    pub(super) fn repeated_later(
        &self,
        bot: &Bot,
        chat: i64,
        fault: &CallFault,
    ) -> Option<Outcome> {
        let after = fault.retry_after();
        if let Some(after) = after {
            self.hold(bot, Some(chat), after);
        }
        let passes = after.is_some() || !matches!(fault, CallFault::Refused { .. });
        passes.then(|| Outcome::Later { why: fault.to_string(), after })
    }

    /// Takes a press on a button.
    ///
    /// # Errors
    /// [`TryAgain`] if the answer could not be stored now.
    pub(super) async fn receive_press(&self, bot: &Bot, press: Press) -> Result<(), TryAgain> {
        let account = account_of(&press.by);
        let person = self.inbox.person(&account).await.map_err(passing)?;
        let text = match (person, press.data.as_deref()) {
            (None, _) => NOT_PAIRED.into(),
            (Some(person), Some(OPEN)) => self.press_open(&press, &person).await?,
            (Some(person), Some(data)) => self.press_option(bot, &person, data, &account).await?,
            (Some(_), None) => NO_MEANING.into(),
        };
        let shown: String = text.chars().take(200).collect();
        if let Err(fault) = bot.client.answer_callback_query(&press.id, &shown, false).await {
            tracing::debug!(bot = bot.agent, %fault, "a press could not be answered");
        }
        Ok(())
    }

    /// Answers a question by the option of a button.
    async fn press_option(
        &self,
        bot: &Bot,
        person: &Caller,
        data: &str,
        account: &str,
    ) -> Result<String, TryAgain> {
        let Some(answer) = CardAnswer::read(data, &key_of(bot)) else {
            return Ok(NO_MEANING.into());
        };
        // A question has the same content for every chat of the channel, so the chat does not
        // matter.
        let Some(chat) = Room::new(0, None).to_chat() else { return Ok(NO_MEANING.into()) };
        self.inbox.answer_card(person, account, &answer, &chat).await
    }
}

/// Returns the buttons of a card: one for each option that needs no words.
fn buttons_of(bot: &Bot, stream: &StreamId, card: &Card) -> Vec<Vec<Button>> {
    let key = key_of(bot);
    let button = |(option, label): (usize, &str)| {
        let text: String = label.chars().take(LABEL_CHARS_MAX).collect();
        let answer = CardAnswer { stream: stream.clone(), seq: card.seq, option };
        vec![Button { text, data: answer.code(&key) }]
    };
    plain_options(card).map(button).collect()
}

/// Returns the key by which the buttons of a bot are signed.
fn key_of(bot: &Bot) -> [u8; 32] {
    bot.client.derived_key("moothall 2026 buttons of a bot")
}
