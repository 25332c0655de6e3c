//! Questions of agents as cards with buttons.
//!
//! In a channel, the message is a line without details. Its button shows the question to the person
//! who presses it, and to that person alone, if the person may answer it. In a direct chat, the
//! message is the question itself. The pairing of the account that presses decides. The page has
//! every card too.

use std::sync::Arc;

use moothall_engine::outbox::{CarryNotes, Outcome};
use moothall_engine::ports::Delivery;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, StreamId};

use super::Discord;
use super::bot::DiscordBot;
use super::carry::{ChannelCarriage, VoiceResult, later};
use super::client::CardButton;
use super::names::cut_units;
use super::room::DISCORD;
use super::text;
use crate::cards::{CardAnswer, NO_MEANING, card_text, group_line, plain_options};
use crate::carriage::delivered;
use crate::outbound::{Card, Outbound};

/// Longest label of a button.
const LABEL_UNITS_MAX: usize = 80;
/// Label of the button that shows a question.
const SHOW_LABEL: &str = "Show the question";
/// Beginning of the id of the button that shows a question. A code that names the question follows.
const SHOW: &str = "show:";
/// The answer to a person who may not see a question.
const NO_RIGHT_TO_ANSWER: &str = "This needs a pairing with the right permissions:answer.";

/// The meaning of a button.
pub(super) enum CardPress {
    /// Shows a question.
    Show(CardAnswer),
    /// Answers a question.
    Answer(CardAnswer),
}

impl CardPress {
    /// Reads the id of a button of a bot; `None` if this server did not make it.
    pub(super) fn read(bot: &DiscordBot, id: &str) -> Option<Self> {
        let key = key_of(bot);
        match id.strip_prefix(SHOW) {
            Some(code) => CardAnswer::read(code, &key).map(Self::Show),
            None => CardAnswer::read(id, &key).map(Self::Answer),
        }
    }
}

impl Discord {
    /// Sends a question to a direct chat. In a channel, sends a line without the question, which
    /// says that the agent waits for an answer.
    pub(super) async fn carry_card(
        &self,
        mut under_way: ChannelCarriage<'_>,
        delivery: &Delivery,
        card: Card,
    ) -> Outcome {
        let readers = match self.inbox.answerers(DISCORD, &delivery.stream).await {
            Ok(readers) => readers,
            Err(why) => return Outcome::later(why),
        };
        under_way.kept.permission = Some(card.permission.to_string());
        let bots = self.askers(&under_way, &card.from);
        if under_way.kept.sent.len() == 1 {
            return under_way.done(None);
        }
        for bot in &bots {
            let shown = if under_way.room.with.is_some() {
                (shown_text(&card), buttons_of(bot, &delivery.stream, &card))
            } else {
                let has_readers = !readers.is_empty();
                (group_line(&card, has_readers), show_button(bot, delivery, &card, has_readers))
            };
            let (content, buttons) = shown;
            let part = (content.as_str(), buttons);
            match self.send_card(&mut under_way, delivery, bot, part).await {
                VoiceResult::Yes => return under_way.done(None),
                VoiceResult::NotByThisVoice(_) => {}
                VoiceResult::Over(outcome) => return outcome,
            }
        }
        under_way.failed("no bot of this server can write in the channel")
    }

    /// Returns the bots that may send a card, the best first. If an earlier message is in doubt,
    /// only the bot that sent it may.
    fn askers(
        &self,
        under_way: &ChannelCarriage<'_>,
        from: &ParticipantId,
    ) -> Vec<Arc<DiscordBot>> {
        let mut bots = self.bots_in(&under_way.room);
        if let Some(doubt) = &under_way.kept.doubt {
            bots.retain(|bot| bot.agent == doubt.part.bot);
        }
        bots.sort_by_key(|bot| {
            let is_here = bot.guilds.channel(under_way.room.channel).is_some();
            (!is_here, bot.agent != from.as_str())
        });
        bots
    }

    /// Replaces the card of a question by words that the question is over, without buttons.
    pub(super) async fn end_card(
        &self,
        under_way: ChannelCarriage<'_>,
        delivery: &Delivery,
        permission: &str,
        line: &str,
    ) -> Outcome {
        let Some(hall) = self.weak.enter() else {
            return Outcome::later("the server is stopping");
        };
        let is_meant =
            |_: &Delivery, notes: &CarryNotes| notes.permission.as_deref() == Some(permission);
        let (shown, notes) = match delivered(&hall, delivery, is_meant).await {
            Ok(Some(found)) => found,
            Ok(None) => return under_way.done(Some("no card of this question was sent here")),
            Err(error) => return Outcome::later(error.to_string()),
        };
        let Some(chat) = under_way.room.to_chat() else { return under_way.done(None) };
        let read = Outbound::read(&hall, &shown.stream, shown.through_seq, &chat).await;
        let Ok(Outbound::Card(card)) = read else { return under_way.done(None) };
        let text = match under_way.room.with {
            Some(_) => cut_units(&format!("{}\n\n{line}", card_text(&card)), text::TEXT_UNITS_MAX),
            None => format!("The question of {} is over.", card.name),
        };
        for sent in &notes.sent {
            let bot = self.bots().into_iter().find(|bot| bot.agent == sent.bot);
            let message = sent.id.as_ref().and_then(|id| id.parse::<u64>().ok());
            let Some((bot, message)) = bot.zip(message) else { continue };
            match bot.client.edit(under_way.room.channel, message, &text).await {
                Ok(()) => {}
                Err(fault) if fault.is_passing() => return later(&fault),
                Err(fault) => tracing::debug!(%fault, "a card could not be ended"),
            }
        }
        under_way.done(None)
    }

    /// Returns the question that a press shows, with the buttons of its answers. An account that
    /// may not answer it gets the reason, without buttons.
    pub(super) async fn question(
        &self,
        bot: &DiscordBot,
        account: &str,
        shown: &CardAnswer,
        chat: &Chat,
    ) -> (String, Vec<CardButton>) {
        let words = |text: &str| (text.to_owned(), Vec::new());
        let readers = match self.inbox.answerers(DISCORD, &shown.stream).await {
            Ok(readers) => readers,
            Err(why) => return words(&why),
        };
        let is_reader = |reader: &String| account == format!("{DISCORD}:{reader}");
        if !readers.iter().any(is_reader) {
            return words(NO_RIGHT_TO_ANSWER);
        }
        let Some(hall) = self.weak.enter() else { return words("The server is stopping.") };
        match Outbound::read(&hall, &shown.stream, shown.seq, chat).await {
            Ok(Outbound::Card(card)) => (shown_text(&card), buttons_of(bot, &shown.stream, &card)),
            _ => words(NO_MEANING),
        }
    }
}

/// Returns the text of a card as one message.
fn shown_text(card: &Card) -> String {
    let parts = text::parts(&card_text(card), None);
    match parts.len() {
        0 | 1 => parts.concat(),
        _ => format!("{}…\n\nAll of it is on the page.", cut_units(&parts[0], LONG_CARD_UNITS)),
    }
}

/// Longest beginning of a question that is too long for one message.
const LONG_CARD_UNITS: usize = 1900;

/// Returns the button that shows a question, if it can be answered here.
fn show_button(
    bot: &DiscordBot,
    delivery: &Delivery,
    card: &Card,
    has_readers: bool,
) -> Vec<CardButton> {
    if !has_readers || card.options.is_empty() {
        return Vec::new();
    }
    let (stream, seq) = (delivery.stream.clone(), card.seq);
    let code = CardAnswer { stream, seq, option: 0 }.code(&key_of(bot));
    vec![CardButton { label: SHOW_LABEL.to_owned(), id: format!("{SHOW}{code}") }]
}

/// Returns the buttons of a card: one for each option that needs no words.
fn buttons_of(bot: &DiscordBot, stream: &StreamId, card: &Card) -> Vec<CardButton> {
    let key = key_of(bot);
    let button = |(option, label): (usize, &str)| {
        let answer = CardAnswer { stream: stream.clone(), seq: card.seq, option };
        CardButton { label: cut_units(label, LABEL_UNITS_MAX), id: answer.code(&key) }
    };
    plain_options(card).map(button).collect()
}

/// Returns the key by which the buttons of a bot are signed.
fn key_of(bot: &DiscordBot) -> [u8; 32] {
    bot.client.derived_key("moothall 2026 buttons of a bot in discord")
}
