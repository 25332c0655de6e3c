//! Deliveries to Telegram: the bot that speaks, the messages of a text, and the failures.
//!
//! Before each message a note says that it is being sent, and the next note says that it was. After
//! a crash between the two the delivery is `unknown`: people see it, and no message is repeated.

use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

use moothall_engine::channels::BotState;
use moothall_engine::hall::HallError;
use moothall_engine::outbox::{CarryNotes, DeliveryNotes, Outcome, SentPart};
use moothall_engine::ports::Delivery;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, Seq};
use serde_json::Value;

use super::Telegram;
use super::bot::Bot;
use super::client::{Button, CallFault, Method, SendMessage, SendRichMessage};
use super::places::MessageId;
use super::rich::{self, Piece};
use super::room::{Room, account_in};
use super::text::{self, Part};
use crate::carriage::Carriage;
use crate::outbound::{Outbound, OutboundWords};

/// Longest time for which a delivery waits for a bot's turn before it is put off.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause of deliveries while no bot can send.
const NO_BOT_PAUSE: Duration = Duration::from_secs(60);

/// Longest time between the note that a message is being sent and the message, if the bot waits for
/// its turn. A crash within this time leaves the delivery `unknown`, so it is not longer than a
/// note takes.
const NOTE_LEAD: Duration = Duration::from_millis(50);

/// The result of sending one message.
enum SendResult {
    /// The message was sent.
    Yes,
    /// This bot cannot write in the chat. Another one may be able to.
    NotByThisBot(String),
    /// Telegram refused the rich form of the message; its text was not sent.
    NotRich,
    /// The delivery ends, or is put off.
    Over(Outcome),
}

impl Telegram {
    /// Carries a delivery to a chat of Telegram.
    pub(super) async fn carry_to(
        &self,
        delivery: &Delivery,
        chat: &Chat,
        notes: &DeliveryNotes<'_>,
    ) -> Outcome {
        if self.is_stopped() {
            let why = "the channel waits for `moothall channels resume`".to_owned();
            return Outcome::Later { why, after: None };
        }
        let Some(mut room) = Room::of(chat) else {
            return Outcome::Failed(format!("{} is not a place in Telegram", chat.key()));
        };
        // A delivery from before the group became a supergroup has the former id.
        room.chat = self.places.moved_to(room.chat);
        let mut under_way = Carriage::new(delivery, room, notes);
        if let Some(part) = under_way.kept.sending {
            return under_way
                .unknown(format!("message {} was on its way when the server stopped", part + 1));
        }
        let Some(hall) = self.weak.enter() else {
            return Outcome::Later { why: "the server is stopping".into(), after: None };
        };
        let read = Outbound::read(&hall, &delivery.stream, delivery.through_seq, chat).await;
        let content = match read {
            Ok(content) => content,
            Err(error) => return Outcome::Later { why: error.to_string(), after: None },
        };
        // An erasure is carried to people too whose pairing is over.
        let is_read = !matches!(content, Outbound::Nothing | Outbound::Erasure { .. });
        match self.has_reader(&under_way.room).await {
            Err(error) => return Outcome::Later { why: error.to_string(), after: None },
            Ok(false) if is_read => {
                return under_way.failed("the account of this chat is not paired");
            }
            Ok(_) => {}
        }
        match content {
            Outbound::Nothing => under_way.done(None),
            Outbound::Words(words) => self.carry_words(under_way, words).await,
            Outbound::Line(line) => self.carry_line(under_way, &line).await,
            Outbound::Card(card) => self.carry_card(under_way, &delivery.stream, card).await,
            Outbound::CardOver { permission, line } => {
                self.end_card(under_way, delivery, permission.as_str(), &line).await
            }
            Outbound::Erasure { seq, message } => {
                self.erase(under_way, delivery, seq, message).await
            }
            Outbound::Opening { agents } => {
                under_way.kept.plain = true;
                self.look_from_all(&under_way.room).await;
                let line = self.opening(&under_way.room, &agents);
                self.carry_line(under_way, &line).await
            }
        }
    }

    /// True for a group, and for a private chat whose account is paired. After the end of a pairing
    /// the chat stays bound, because a person may pair the account anew.
    pub(super) async fn has_reader(&self, room: &Room) -> Result<bool, HallError> {
        if room.is_group() {
            return Ok(true);
        }
        Ok(self.inbox.person(&account_in(room)).await?.is_some())
    }

    /// Carries words by the bots that may speak for their speaker, the best first. A bot that is
    /// not the speaker's own names the speaker in a first line. The drafts of the speaker's own
    /// bots are closed before the words are sent.
    async fn carry_words(&self, under_way: Carriage<'_, Room>, words: OutboundWords) -> Outcome {
        let speaker = words.place.is_none().then_some(&words.from);
        let speakers = self.speakers(&under_way.room, speaker);
        let room = under_way.room.chat;
        let own = |bot: &Bot| words.place.is_none() && self.agent_of(bot) == words.from.as_str();
        let head = match &words.place {
            Some(place) => format!("{} ({place}):", words.name),
            None => format!("{}:", words.name),
        };
        let pieces = |bot: &Bot, notes: &CarryNotes| {
            let head = (!own(bot)).then_some(head.as_str());
            rich::pieces(&words.text, head, self.may_be_rich(bot), notes)
        };
        for bot in speakers.iter().filter(|bot| own(bot)) {
            self.drafts.close(bot, room, under_way.event.1).await;
        }
        self.carry_pieces(under_way, &speakers, pieces, words.reply_to).await
    }

    /// Carries a line of the server itself, by the first bot that can speak in the chat.
    pub(super) async fn carry_line(&self, under_way: Carriage<'_, Room>, line: &str) -> Outcome {
        let speakers = self.speakers(&under_way.room, None);
        let pieces = |_: &Bot, _: &CarryNotes| {
            rich::text_pieces(text::plain(line, None, text::TEXT_UNITS_MAX))
        };
        self.carry_pieces(under_way, &speakers, pieces, None).await
    }

    /// Sends the messages of a text by the first of some bots that can speak in the chat. After the
    /// first message the bot stays the same, and its refusal fails the delivery. Messages that were
    /// sent before a crash are not sent again.
    async fn carry_pieces(
        &self,
        mut under_way: Carriage<'_, Room>,
        speakers: &[Arc<Bot>],
        pieces: impl Fn(&Bot, &CarryNotes) -> Vec<Piece>,
        reply_to: Option<Seq>,
    ) -> Outcome {
        if speakers.is_empty() {
            // A person can add a bot or its new token, so the words wait.
            let why = "no bot of this server can send".to_owned();
            return Outcome::Later { why, after: Some(NO_BOT_PAUSE) };
        }
        let mut why = "no bot of this server is in the chat".to_owned();
        for bot in speakers {
            // A text that was begun by one bot is not ended by another.
            if under_way.text_sent().first().is_some_and(|sent| sent.bot != bot.agent) {
                continue;
            }
            let mut now = pieces(bot, &under_way.kept);
            let mut begun = false;
            while let Some(piece) = now.get(under_way.text_sent().len()) {
                let reply_to = reply_to.filter(|_| under_way.text_sent().is_empty());
                let reply_to = reply_to.and_then(|seq| self.number_of(bot, &under_way, seq));
                match self.send_piece(&mut under_way, bot, piece, reply_to).await {
                    SendResult::Yes => begun = true,
                    SendResult::NotRich => now = pieces(bot, &under_way.kept),
                    SendResult::NotByThisBot(reason) if !begun => {
                        why = reason;
                        break;
                    }
                    SendResult::NotByThisBot(reason) => return under_way.failed(reason),
                    SendResult::Over(outcome) => return outcome,
                }
            }
            if under_way.text_sent().len() == now.len() {
                return under_way.done(None);
            }
        }
        under_way.failed(why)
    }

    /// Returns the number under which a bot sees the message of an event in the chat.
    fn number_of(&self, bot: &Bot, under_way: &Carriage<'_, Room>, seq: Seq) -> Option<i64> {
        let event = (under_way.event.0.clone(), seq);
        self.message_at(bot, under_way.room.chat, &event)
    }

    async fn send_piece(
        &self,
        under_way: &mut Carriage<'_, Room>,
        bot: &Bot,
        piece: &Piece,
        reply_to: Option<i64>,
    ) -> SendResult {
        match piece {
            Piece::Rich(markdown) => self.send_rich(under_way, bot, markdown, reply_to).await,
            Piece::Text(part) => self.send_part(under_way, bot, part, reply_to, &[]).await,
        }
    }

    /// Sends one rich message, after its note. If Telegram refuses its form, the text goes as text
    /// with entities from here on.
    async fn send_rich(
        &self,
        under_way: &mut Carriage<'_, Room>,
        bot: &Bot,
        markdown: &str,
        reply_to: Option<i64>,
    ) -> SendResult {
        under_way.kept.rich = true;
        if let Err(later) = self.note_until_slot(under_way, bot).await {
            return SendResult::Over(later);
        }
        let message = SendRichMessage {
            chat_id: under_way.room.chat,
            thread: under_way.room.topic,
            markdown: markdown.to_owned(),
            reply_to,
        };
        match bot.sent.note(message.chat_id, bot.client.send_rich_message(&message)).await {
            Ok(id) => self.note_sent(under_way, bot, id),
            Err(CallFault::Maybe { why }) => SendResult::Over(under_way.unknown(why)),
            Err(fault) => {
                under_way.kept.sending = None;
                if !fault.is_form_refused() {
                    return self.after_fault(under_way, bot, fault).await;
                }
                if fault.is_unknown_method() {
                    bot.note_lacking(Method::SendRichMessage);
                }
                tracing::debug!(bot = bot.agent, %fault, "a rich message was refused");
                let sent = under_way.text_sent().len();
                under_way.kept.rich = sent > 0;
                under_way.kept.text_after = Some(sent);
                SendResult::NotRich
            }
        }
    }

    /// Notes a message that was sent.
    fn note_sent(
        &self,
        under_way: &mut Carriage<'_, Room>,
        bot: &Bot,
        id: Option<i64>,
    ) -> SendResult {
        let chat = under_way.room.chat;
        let sent = SentPart {
            bot: bot.agent.clone(),
            chat: chat.to_string(),
            id: id.map(|id| id.to_string()),
            only_to: None,
        };
        under_way.kept.sent.push(sent);
        under_way.kept.sending = None;
        if let Some(id) = id {
            self.order.note_own(chat, id);
            self.messages.note(MessageId::new(bot, chat, id), under_way.event.clone());
        }
        SendResult::Yes
    }

    /// Sends one message, after its note. If Telegram refuses its entities, sends it without them.
    async fn send_part(
        &self,
        under_way: &mut Carriage<'_, Room>,
        bot: &Bot,
        part: &Part,
        reply_to: Option<i64>,
        buttons: &[Vec<Button>],
    ) -> SendResult {
        if let Err(later) = self.note_until_slot(under_way, bot).await {
            return SendResult::Over(later);
        }
        let entities = if under_way.kept.plain { Vec::new() } else { entities_of(part) };
        let message = SendMessage {
            chat_id: under_way.room.chat,
            thread: under_way.room.topic,
            text: part.text.clone(),
            entities,
            reply_to,
            buttons: buttons.to_vec(),
            silent: false,
        };
        match bot.sent.note(message.chat_id, bot.client.send_message(&message)).await {
            Ok(id) => self.note_sent(under_way, bot, id),
            Err(CallFault::Maybe { why }) => SendResult::Over(under_way.unknown(why)),
            Err(fault) => {
                under_way.kept.sending = None;
                if fault.is_entity_fault() && !under_way.kept.plain {
                    under_way.kept.plain = true;
                    return Box::pin(self.send_part(under_way, bot, part, reply_to, buttons)).await;
                }
                self.after_fault(under_way, bot, fault).await
            }
        }
    }

    /// Stores that no message is being sent any more, and returns the result that follows from the
    /// fault of the call.
    async fn after_fault(
        &self,
        under_way: &mut Carriage<'_, Room>,
        bot: &Bot,
        fault: CallFault,
    ) -> SendResult {
        if let Err(later) = under_way.write().await {
            return SendResult::Over(later);
        }
        let why = fault.to_string();
        if fault.is_unauthorised() {
            bot.set_state(BotState::Revoked, self.inbox.hall().now());
            return SendResult::NotByThisBot(why);
        }
        if fault.is_gone() {
            self.places.change(under_way.room.chat, |place| {
                place.bots.remove(&bot.agent);
                place.gone.insert(bot.agent.clone());
            });
            return SendResult::NotByThisBot(why);
        }
        match fault {
            CallFault::NotSent { .. } => SendResult::Over(Outcome::Later { why, after: None }),
            CallFault::Refused { retry_after: Some(after), .. } => {
                self.hold(bot, Some(under_way.room.chat), after);
                SendResult::Over(Outcome::Later { why, after: Some(after) })
            }
            CallFault::Refused { migrate_to: Some(to), .. } => {
                let from = under_way.room.chat;
                let moved = self.migrate(from, to).await;
                let after = moved.is_err().then_some(PATIENCE);
                SendResult::Over(Outcome::Later { why, after })
            }
            CallFault::Refused { .. } | CallFault::Maybe { .. } => {
                SendResult::Over(under_way.failed(why))
            }
        }
    }

    /// Waits until a bot may send in a chat, up to [`PATIENCE`].
    ///
    /// # Errors
    /// The outcome of a delivery that is put off, because the wait is longer.
    pub(super) async fn wait_for_slot(&self, bot: &Bot, room: &Room) -> Result<(), Outcome> {
        self.book_slot(bot, room, Duration::ZERO).await.map(drop)
    }

    /// Waits until a bot may send the next message of a delivery, and notes just before that time
    /// that the message is being sent. A wait longer than [`PATIENCE`], or a hold, puts the
    /// delivery off.
    pub(super) async fn note_until_slot(
        &self,
        under_way: &mut Carriage<'_, Room>,
        bot: &Bot,
    ) -> Result<(), Outcome> {
        let slot = match self.book_slot(bot, &under_way.room, NOTE_LEAD).await {
            Ok(slot) => slot,
            Err(later) => return Err(under_way.put_off(later).await),
        };
        under_way.note_sending().await?;
        tokio::time::sleep_until(slot).await;
        let started = bot.bucket().start(Instant::now(), under_way.room.chat);
        let Err(held_until) = started else { return Ok(()) };
        under_way.kept.sending = None;
        Err(under_way.put_off(too_many(held_until)).await)
    }

    /// Takes a bot's next slot in a chat, at most `lead` before the slot's time, and returns that
    /// time. A wait longer than [`PATIENCE`] puts the delivery off.
    async fn book_slot(&self, bot: &Bot, room: &Room, lead: Duration) -> Result<Instant, Outcome> {
        let patience = Instant::now() + PATIENCE;
        loop {
            let booked = bot.bucket().book(Instant::now(), lead, room.chat, room.is_group());
            match booked {
                Ok(slot) => return Ok(slot),
                Err(ready_at) if ready_at > patience => return Err(too_many(ready_at)),
                Err(ready_at) => tokio::time::sleep_until(ready_at).await,
            }
        }
    }

    /// Returns the bots that may speak in a chat for a participant, the best first: the
    /// participant's own, then those that stand for the participant, then those known to be in the
    /// chat, then the others. Bots known to be outside the chat come last in any case. In a talk
    /// with one agent, only the agent's bots speak.
    pub(super) fn speakers(&self, room: &Room, from: Option<&ParticipantId>) -> Vec<Arc<Bot>> {
        let place = self.places.get(room.chat).unwrap_or_default();
        let is_own = |agent: &str| from.is_some_and(|from| from.as_str() == agent);
        let stands_for_it = |bot: &Bot| is_own(&self.agent_of(bot));
        let is_here = |bot: &Bot| place.bots.contains_key(&bot.agent);
        let may_speak = |bot: &Arc<Bot>| {
            bot.can_send() && room.with.as_ref().is_none_or(|with| *with == self.agent_of(bot))
        };
        let mut bots: Vec<Arc<Bot>> = self.bots().into_iter().filter(may_speak).collect();
        // A bot that is known to be outside comes last, also for its own agent. A bot about which
        // Telegram has reported nothing since the start is perhaps in the chat.
        bots.sort_by_key(|bot| {
            let is_gone = place.gone.contains(&bot.agent);
            (is_gone, !is_own(&bot.agent), !stands_for_it(bot), !is_here(bot))
        });
        bots
    }

    /// Sends a question's card to a person's private chat, by the first bot that may write there.
    /// Returns the outcome if the delivery ends or is put off.
    pub(super) async fn send_card(
        &self,
        under_way: &mut Carriage<'_, Room>,
        person: i64,
        from: &ParticipantId,
        part: &Part,
        buttons: impl Fn(&Bot) -> Vec<Vec<Button>>,
    ) -> Option<Outcome> {
        let room = std::mem::replace(&mut under_way.room, Room::new(person, None));
        let mut over = None;
        for bot in self.speakers(&Room::new(person, None), Some(from)) {
            let rows = buttons(&bot);
            match self.send_part(under_way, &bot, part, None, &rows).await {
                SendResult::Yes => break,
                SendResult::NotByThisBot(_) | SendResult::NotRich => {}
                SendResult::Over(outcome) => {
                    over = Some(outcome);
                    break;
                }
            }
        }
        under_way.room = room;
        over
    }
}

/// Returns the outcome of a delivery that waits for its turn.
fn too_many(until: Instant) -> Outcome {
    let why = "Telegram takes no more messages in this chat for now".to_owned();
    Outcome::Later { why, after: Some(until.saturating_duration_since(Instant::now())) }
}

/// Returns the entities of a part in Telegram's form.
pub(super) fn entities_of(part: &Part) -> Vec<Value> {
    part.entities.iter().filter_map(|entity| serde_json::to_value(entity).ok()).collect()
}
