//! Questions of agents: the people who get them, and the effect of a reply or a reaction.
//!
//! In a room a line without details says that an agent waits. The question itself goes to the
//! private rooms of the people who may answer, by the relay. A homeserver can write in the name of
//! any of its users, so accounts answer only if the operator trusts it. (Ruling 43.)

use moothall_engine::access::Caller;
use moothall_engine::outbox::{CarryNotes, Outcome};
use moothall_engine::ports::Delivery;
use moothall_kernel::ids::StreamId;
use serde_json::{Value, json};

use super::Matrix;
use super::carry::{PartResult, part_of};
use super::client::MatrixFault;
use super::content::{CARD, card_content, edit_of};
use super::events::{RoomEvent, unanswered};
use super::message::replied_event;
use super::names::Ghost;
use super::room::{MATRIX, MatrixRoom, account_of};
use crate::cards::{CardAnswer, NOT_PAIRED, card_text, group_line, plain_options};
use crate::carriage::{Carriage, delivered};
use crate::outbound::{Card, Outbound};
use crate::receive::{TryAgain, passing};

/// The kind of the relay's value that names its private rooms with people.
const DIRECT: &str = "m.direct";
/// The answer if the operator does not trust the homeserver.
const NOT_TRUSTED: &str = "Questions are answered on the page: this server does not trust its \
                           homeserver with answers. An operator can set trusted = true.";

impl Matrix {
    /// Sends a question to the private rooms of the people who may answer it. The room of the
    /// conversation gets a line without details. In a talk with an agent, the question goes to the
    /// talk if a person who may answer is in it.
    pub(super) async fn carry_card(
        &self,
        mut under_way: Carriage<'_, MatrixRoom>,
        delivery: &Delivery,
        card: Card,
    ) -> Outcome {
        let readers = match self.readers(&delivery.stream).await {
            Ok(readers) => readers,
            Err(why) => return Outcome::later(why),
        };
        under_way.kept.permission = Some(card.permission.to_string());
        let content = self.card(&delivery.stream, &card);
        if let Some(agent) = under_way.room.with.clone() {
            let place = match self.place(&under_way.room.id).await {
                Ok(place) => place.unwrap_or_default(),
                Err(fault) => return self.later(&fault),
            };
            if !readers.iter().any(|reader| place.members.contains(reader)) {
                let line = group_line(&card, false);
                return self.carry_line(under_way, delivery, &line).await;
            }
            let said_by = |_: &Ghost| vec![content.clone()];
            let own = Ghost::Agent(agent);
            return self.carry_parts(under_way, delivery, Some(&own), said_by, None).await;
        }
        for reader in &readers {
            let sent = &under_way.kept.sent;
            if sent.iter().any(|sent| sent.only_to.as_ref() == Some(reader)) {
                continue;
            }
            let room = match self.private_room(reader).await {
                Ok(room) => room,
                Err(fault) if fault.is_passing() => return self.later(&fault),
                Err(_) => continue,
            };
            let part = part_of(&Ghost::Relay, &room, Some(reader.clone()));
            match self.send_part(&mut under_way, delivery, part, content.clone()).await {
                PartResult::Yes | PartResult::NotByThisAccount(_) => {}
                PartResult::Over(outcome) => return outcome,
            }
        }
        let sent = under_way.kept.sent.iter();
        under_way.before = sent.filter(|sent| sent.only_to.is_some()).count();
        let line = group_line(&card, !readers.is_empty());
        self.carry_line(under_way, delivery, &line).await
    }

    /// Returns the users who may answer the questions of a conversation.
    async fn readers(&self, stream: &StreamId) -> Result<Vec<String>, String> {
        match self.settings.trusted {
            true => self.inbox.answerers(MATRIX, stream).await,
            false => Ok(Vec::new()),
        }
    }

    /// Returns the content of a card, with its numbered answers.
    fn card(&self, stream: &StreamId, card: &Card) -> Value {
        let answer = CardAnswer { stream: stream.clone(), seq: card.seq, option: 0 };
        let mut content = card_content(&numbered(card));
        content[CARD] = answer.code(&self.card_key()).into();
        content
    }

    /// Returns the key by which the cards of the server are signed.
    fn card_key(&self) -> [u8; 32] {
        self.client.derived_key("moothall 2026 cards in matrix")
    }

    /// Returns the room of the relay with one person. Makes a new room if there is none, or if the
    /// known one is encrypted or was left.
    async fn private_room(&self, user: &str) -> Result<String, MatrixFault> {
        self.prepare(&Ghost::Relay).await?;
        let relay = Ghost::Relay.user_id(&self.domain().await?).unwrap_or_default();
        let kept = self.client.kept(&relay, DIRECT).await?;
        for room in kept[user].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let place = self.place(room).await?.unwrap_or_default();
            let is_usable = place.members.contains(&relay) && !place.is_encrypted;
            if is_usable
                && matches!(
                    self.membership(room, &relay, user).await?.as_deref(),
                    Some("join" | "invite")
                )
            {
                return Ok(room.to_owned());
            }
        }
        let wanted = json!({"preset": "trusted_private_chat", "is_direct": true,
            "invite": [user], "name": "Moothall"});
        let room = self.client.create_room(&relay, &wanted).await?;
        self.keep_private_room(user, &room).await;
        Ok(room)
    }

    /// Stores the private room of a person at the homeserver. If that fails, another is made later.
    pub(super) async fn keep_private_room(&self, user: &str, room: &str) {
        let kept = async {
            let relay = Ghost::Relay.user_id(&self.domain().await?).unwrap_or_default();
            let mut kept = self.client.kept(&relay, DIRECT).await?;
            kept[user] = json!([room]);
            self.client.keep(&relay, DIRECT, &kept).await
        };
        if let Err(fault) = kept.await {
            tracing::warn!(user, %fault, "a private room could not be kept");
        }
    }

    /// Replaces the text of a question's cards by the question with its outcome. The line in a room
    /// stays.
    pub(super) async fn end_card(
        &self,
        under_way: Carriage<'_, MatrixRoom>,
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
        let domain = match self.domain().await {
            Ok(domain) => domain,
            Err(fault) => return self.later(&fault),
        };
        let new = card_content(&format!("{}\n\n{line}", card_text(&card)));
        let is_talk = under_way.room.with.is_some();
        // The line in a room stays.
        let cards = notes.sent.iter().filter(|sent| is_talk || sent.only_to.is_some());
        for (number, sent) in cards.enumerate() {
            let Some(event) = &sent.id else { continue };
            let (user, txn) =
                (format!("@{}:{domain}", sent.bot), format!("end-{}-{number}", delivery.id));
            let edit = edit_of(event, &new);
            let sent = self.client.send(&sent.chat, &user, "m.room.message", &txn, &edit).await;
            if let Err(fault) = sent {
                if fault.is_passing() {
                    return self.later(&fault);
                }
                tracing::debug!(%fault, "a card could not be ended");
            }
        }
        under_way.done(None)
    }

    /// Takes a reaction, which answers a question if it is a number on a card.
    ///
    /// # Errors
    /// [`TryAgain`] if the answer could not be stored now.
    pub(super) async fn receive_reaction(&self, heard: &RoomEvent<'_>) -> Result<(), TryAgain> {
        let relation = &heard.content()["m.relates_to"];
        let (Some(event), Some(key)) = (relation["event_id"].as_str(), relation["key"].as_str())
        else {
            return Ok(());
        };
        let Some(option) = option_of(key) else { return Ok(()) };
        let person = self.inbox.person(&account_of(heard.sender)).await.map_err(passing)?;
        self.answer(heard, event, option, person.as_ref()).await.map(drop)
    }

    /// Takes a reply of a person to a card. Returns false if the message is not such a reply.
    ///
    /// # Errors
    /// [`TryAgain`] if the answer could not be stored now.
    pub(super) async fn receive_reply_to_card(
        &self,
        heard: &RoomEvent<'_>,
        person: &Caller,
    ) -> Result<bool, TryAgain> {
        let option = option_of(super::content::words_of(heard.content()).trim());
        match (replied_event(heard.content()), option) {
            (Some(event), Some(option)) => self.answer(heard, event, option, Some(person)).await,
            _ => Ok(false),
        }
    }

    /// Answers the question of a card. Returns false if the message is not a card of this server.
    async fn answer(
        &self,
        heard: &RoomEvent<'_>,
        event: &str,
        option: usize,
        person: Option<&Caller>,
    ) -> Result<bool, TryAgain> {
        let Some(shown) = self.event_in(&heard.room.id, event).await else { return Ok(false) };
        // Another member of the room can copy a card's code into a message with other words. So
        // only messages of the server's own accounts count.
        let domain = self.domain().await.map_err(|fault| unanswered(&fault))?;
        let by = shown["sender"].as_str().and_then(|user| Ghost::of(user, &domain));
        let code = shown["content"][CARD].as_str().filter(|_| by.is_some());
        let Some(card) = code.and_then(|code| CardAnswer::read(code, &self.card_key())) else {
            return Ok(false);
        };
        let Some(chat) = heard.room.to_chat() else { return Ok(false) };
        let text = match person {
            None => NOT_PAIRED.to_owned(),
            Some(_) if !self.settings.trusted => NOT_TRUSTED.to_owned(),
            Some(person) => {
                let answer = CardAnswer { option, ..card };
                let account = account_of(heard.sender);
                self.inbox.answer_card(person, &account, &answer, &chat).await?
            }
        };
        self.say(&heard.room, &text, heard.id).await;
        Ok(true)
    }
}

/// Returns the text of a card with its answers.
fn numbered(card: &Card) -> String {
    let options: Vec<String> =
        plain_options(card).map(|(number, label)| format!("{}. {label}", number + 1)).collect();
    if options.is_empty() {
        return card_text(card);
    }
    format!(
        "{}\n\n{}\n\nTo answer, react to this message with the number, or reply with it.",
        card_text(card),
        options.join("\n")
    )
}

/// Returns the option that a reaction or a reply names by its number.
fn option_of(text: &str) -> Option<usize> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    // After the digit, a reaction may have the characters that draw a key around it.
    let rest = &text[digits.len()..];
    let is_number =
        rest.is_empty() || rest.chars().all(|letter| "\u{fe0f}\u{20e3}".contains(letter));
    digits.parse::<usize>().ok().filter(|_| is_number)?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_options() {
        for (text, option) in [
            ("1", Some(0)),
            ("2\u{fe0f}\u{20e3}", Some(1)),
            ("0", None),
            ("👍", None),
            ("1st", None),
        ] {
            assert_eq!(option_of(text), option, "{text}");
        }
    }
}
