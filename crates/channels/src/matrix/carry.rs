//! Deliveries to Matrix: the account that speaks, the messages of a text, and the failures.

use std::time::Duration;

use moothall_engine::hall::HallError;
use moothall_engine::outbox::{CarryNotes, DeliveryNotes, Outcome, PartInDoubt, SentPart};
use moothall_engine::ports::Delivery;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::{ParticipantId, Seq};
use serde_json::{Value, json};

use super::Matrix;
use super::client::MatrixFault;
use super::content::{TXN, Voice, contents};
use super::names::Ghost;
use super::room::{MatrixRoom, account_of};
use crate::carriage::{Carriage, delivered};
use crate::groups::opening_line;
use crate::outbound::{Outbound, OutboundWords};

/// Pause of deliveries while the homeserver does not know the registration.
const REVOKED_PAUSE: Duration = Duration::from_secs(60);

/// The result of sending one message.
pub(super) enum PartResult {
    /// The message was sent.
    Yes,
    /// This account cannot write in the room. Another one may be able to.
    NotByThisAccount(String),
    /// The delivery ends, or is put off.
    Over(Outcome),
}

impl Matrix {
    /// Carries a delivery to a chat of Matrix.
    pub(super) async fn carry_to(
        &self,
        delivery: &Delivery,
        chat: &Chat,
        notes: &DeliveryNotes<'_>,
    ) -> Outcome {
        if self.is_stopped() {
            return Outcome::later("the channel waits for `moothall channels resume matrix`");
        }
        let Some(room) = MatrixRoom::of(chat) else {
            return Outcome::Failed(format!("{} is not a place in Matrix", chat.key()));
        };
        let mut under_way = Carriage::new(delivery, room, notes);
        let Some(hall) = self.weak.enter() else {
            return Outcome::later("the server is stopping");
        };
        if let Err(outcome) = self.settle_doubt(&mut under_way, delivery).await {
            return outcome;
        }
        let read = Outbound::read(&hall, &delivery.stream, delivery.through_seq, chat).await;
        let content = match read {
            Ok(content) => content,
            Err(error) => return Outcome::later(error.to_string()),
        };
        // An erasure is carried to people too whose pairing is over.
        let is_read = !matches!(content, Outbound::Nothing | Outbound::Erasure { .. });
        match self.has_reader(&under_way.room).await {
            Err(why) => return Outcome::later(why),
            Ok(false) if is_read => return under_way.failed("no account of this talk is paired"),
            Ok(_) => {}
        }
        match content {
            Outbound::Nothing => under_way.done(None),
            Outbound::Words(words) => self.carry_words(under_way, delivery, words).await,
            Outbound::Line(line) => self.carry_line(under_way, delivery, &line).await,
            Outbound::Card(card) => self.carry_card(under_way, delivery, card).await,
            Outbound::CardOver { permission, line } => {
                self.end_card(under_way, delivery, permission.as_str(), &line).await
            }
            Outbound::Erasure { seq, message } => {
                self.erase(under_way, delivery, seq, message).await
            }
            Outbound::Opening { agents } => self.carry_opening(under_way, delivery, &agents).await,
        }
    }

    /// True for a room, and for a talk in which a paired person is.
    async fn has_reader(&self, room: &MatrixRoom) -> Result<bool, String> {
        if room.with.is_none() {
            return Ok(true);
        }
        let domain = self.domain().await.map_err(|fault| fault.to_string())?;
        let place = self.place(&room.id).await.map_err(|fault| fault.to_string())?;
        let place = place.unwrap_or_default();
        for user in place.people(&domain) {
            let person: Result<_, HallError> = self.inbox.person(&account_of(user)).await;
            if person.map_err(|error| error.to_string())?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Brings the accounts of the agents into a room that was bound, and sends the room's first
    /// line.
    async fn carry_opening(
        &self,
        under_way: Carriage<'_, MatrixRoom>,
        delivery: &Delivery,
        agents: &[ParticipantId],
    ) -> Outcome {
        if under_way.room.with.is_none() {
            for agent in agents {
                let ghost = Ghost::Agent(agent.to_string());
                if let Err(fault) = self.enter(&under_way.room.id, &ghost).await {
                    return self.later(&fault);
                }
            }
        }
        self.carry_line(under_way, delivery, &opening_line(agents)).await
    }

    /// Carries words by the account of their speaker if possible: that of the agent, or a ghost of
    /// the person. Another account names the speaker in a first line.
    async fn carry_words(
        &self,
        under_way: Carriage<'_, MatrixRoom>,
        delivery: &Delivery,
        words: OutboundWords,
    ) -> Outcome {
        let own = match (&words.place, words.is_person) {
            (None, _) => Some(Ghost::Agent(words.from.to_string())),
            (Some(_), true) => Some(Ghost::Person(words.from.to_string())),
            (Some(_), false) => None,
        };
        let head = match &words.place {
            Some(place) => format!("{} ({place}):", words.name),
            None => format!("{}:", words.name),
        };
        let said_by = |ghost: &Ghost| {
            let head = (own.as_ref() != Some(ghost)).then_some(head.as_str());
            contents(&words.text, head, Voice::Words)
        };
        self.carry_parts(under_way, delivery, own.as_ref(), said_by, words.reply_to).await
    }

    /// Carries a line of the server itself, by the relay if it can speak in the room. In a talk the
    /// agent's account sends it.
    pub(super) async fn carry_line(
        &self,
        under_way: Carriage<'_, MatrixRoom>,
        delivery: &Delivery,
        line: &str,
    ) -> Outcome {
        let said_by = |_: &Ghost| contents(line, None, Voice::Notice);
        self.carry_parts(under_way, delivery, None, said_by, None).await
    }

    /// Sends the messages of a text by the first account that can speak in the room. After the
    /// first message the account stays the same, and its refusal fails the delivery. Messages that
    /// were sent before a crash are not sent again.
    pub(super) async fn carry_parts(
        &self,
        mut under_way: Carriage<'_, MatrixRoom>,
        delivery: &Delivery,
        own: Option<&Ghost>,
        said_by: impl Fn(&Ghost) -> Vec<Value>,
        reply_to: Option<Seq>,
    ) -> Outcome {
        let room = under_way.room.id.clone();
        let mut why = "no account of this server is in the room. Invite one".to_owned();
        for ghost in self.speakers(&under_way.room, own).await {
            // A text that was begun by one account is not ended by another.
            let begun_by = under_way.text_sent().first().map(|sent| sent.bot.clone());
            if begun_by.is_some_and(|bot| bot != ghost.localpart()) {
                continue;
            }
            match self.enter(&room, &ghost).await {
                Ok(true) => {}
                Ok(false) => continue,
                Err(fault) => return self.later(&fault),
            }
            let all = said_by(&ghost);
            while let Some(content) = all.get(under_way.text_sent().len()) {
                let mut content = content.clone();
                let first = under_way.text_sent().is_empty();
                if let Some(event) = self.reply_target(&under_way, reply_to).filter(|_| first) {
                    content["m.relates_to"] = json!({"m.in_reply_to": {"event_id": event}});
                }
                let part = part_of(&ghost, &room, None);
                match self.send_part(&mut under_way, delivery, part, content).await {
                    PartResult::Yes => {}
                    PartResult::NotByThisAccount(reason) if first => {
                        why = reason;
                        break;
                    }
                    PartResult::NotByThisAccount(reason) => return under_way.failed(reason),
                    PartResult::Over(outcome) => return outcome,
                }
            }
            if under_way.text_sent().len() == all.len() {
                return under_way.done(None);
            }
        }
        under_way.failed(why)
    }

    /// Returns the accounts that may speak in a room, the best first: the speaker's own, then the
    /// relay, then the agents that are in the room. In a talk, only the agent's account speaks.
    async fn speakers(&self, room: &MatrixRoom, own: Option<&Ghost>) -> Vec<Ghost> {
        if let Some(agent) = &room.with {
            return vec![Ghost::Agent(agent.clone())];
        }
        let place = self.place(&room.id).await.ok().flatten().unwrap_or_default();
        let domain = self.health.domain().unwrap_or_default();
        let mut all: Vec<Ghost> = own.cloned().into_iter().chain([Ghost::Relay]).collect();
        let others = place.ghosts(&domain).into_iter().filter(|it| matches!(it, Ghost::Agent(_)));
        let others: Vec<Ghost> = others.filter(|ghost| !all.contains(ghost)).collect();
        all.extend(others);
        all
    }

    fn reply_target(
        &self,
        under_way: &Carriage<'_, MatrixRoom>,
        reply_to: Option<Seq>,
    ) -> Option<String> {
        let at = (under_way.event.0.clone(), reply_to?);
        let room = &under_way.room.id;
        let (first, last) =
            ((room.clone(), String::new()), (room.clone(), "\u{10ffff}".to_owned()));
        self.messages.message_of(first..=last, &at).map(|(_, event)| event)
    }

    /// Sends one message, after its note. The note has the time of the first attempt, and stays
    /// while it is not known if the message was sent.
    pub(super) async fn send_part(
        &self,
        under_way: &mut Carriage<'_, MatrixRoom>,
        delivery: &Delivery,
        part: SentPart,
        mut content: Value,
    ) -> PartResult {
        let Ok(domain) = self.domain().await else {
            return PartResult::Over(Outcome::later("the homeserver is not reached"));
        };
        let txn = self.txn_of(under_way, delivery);
        content[TXN] = txn.as_str().into();
        let was_in_doubt = under_way.kept.doubt.is_some();
        if !was_in_doubt {
            let since = self.inbox.hall().now().millis();
            under_way.kept.doubt = Some(PartInDoubt { part: part.clone(), since });
        }
        if let Err(later) = under_way.note_sending().await {
            return PartResult::Over(later);
        }
        let user = format!("@{}:{domain}", part.bot);
        let sent = self.client.send(&part.chat, &user, "m.room.message", &txn, &content).await;
        match sent {
            Ok(event) => {
                self.note_sent(under_way, part, event);
                PartResult::Yes
            }
            Err(fault) => self.after_fault(under_way, fault, &part, was_in_doubt).await,
        }
    }

    /// Notes a message that was sent.
    pub(super) fn note_sent(
        &self,
        under_way: &mut Carriage<'_, MatrixRoom>,
        part: SentPart,
        event: Option<String>,
    ) {
        if let Some(event) = &event {
            self.note_message(&part.chat, event, under_way.event.clone());
        }
        under_way.kept.sent.push(SentPart { id: event, ..part });
        (under_way.kept.sending, under_way.kept.doubt) = (None, None);
    }

    /// Returns the result that follows from the fault of a send. If the message was perhaps sent,
    /// the notes keep that doubt, and the next attempt looks for the message in the room.
    async fn after_fault(
        &self,
        under_way: &mut Carriage<'_, MatrixRoom>,
        fault: MatrixFault,
        part: &SentPart,
        was_in_doubt: bool,
    ) -> PartResult {
        self.note_fault(&fault);
        if !was_in_doubt && !matches!(fault, MatrixFault::Maybe { .. }) {
            (under_way.kept.sending, under_way.kept.doubt) = (None, None);
        }
        if let Err(later) = under_way.write().await {
            return PartResult::Over(later);
        }
        if fault.is_passing() || fault.is_unauthorised() {
            return PartResult::Over(self.later(&fault));
        }
        // The homeserver refuses before it looks at the transaction, so an earlier attempt that is
        // in doubt has perhaps arrived.
        if was_in_doubt {
            return PartResult::Over(under_way.unknown(fault.to_string()));
        }
        if fault.is("M_FORBIDDEN") || fault.is("M_NOT_FOUND") {
            self.places.remove(&part.chat);
            return PartResult::NotByThisAccount(format!(
                "{} may not speak there: {fault}",
                part.bot
            ));
        }
        PartResult::Over(under_way.failed(fault.to_string()))
    }

    /// Returns the outcome of a delivery that is put off because of a fault.
    pub(super) fn later(&self, fault: &MatrixFault) -> Outcome {
        self.note_fault(fault);
        let after = fault.retry_after();
        let after = after.or_else(|| fault.is_unauthorised().then_some(REVOKED_PAUSE));
        Outcome::Later { why: fault.to_string(), after }
    }

    /// Redacts the messages of an event whose words were erased. If the homeserver keeps one of
    /// them, a line in the room says so.
    async fn erase(
        &self,
        under_way: Carriage<'_, MatrixRoom>,
        delivery: &Delivery,
        seq: Seq,
        message: Option<String>,
    ) -> Outcome {
        let Some(hall) = self.weak.enter() else {
            return Outcome::later("the server is stopping");
        };
        let is_meant = |one: &Delivery, _: &CarryNotes| one.through_seq == seq;
        let notes = match delivered(&hall, delivery, is_meant).await {
            Ok(found) => found.map(|(_, notes)| notes).unwrap_or_default(),
            Err(error) => return Outcome::later(error.to_string()),
        };
        let domain = match self.domain().await {
            Ok(domain) => domain,
            Err(fault) => return self.later(&fault),
        };
        let room = under_way.room.id.clone();
        let own = notes.sent.into_iter().filter_map(|sent| Some((sent.chat, sent.bot, sent.id?)));
        let relay = Ghost::Relay.localpart();
        let all = own.chain(message.map(|event| (room, relay, event)));
        let mut is_left = false;
        for (room, bot, event) in all {
            match self.client.redact(&room, &format!("@{bot}:{domain}"), &event).await {
                Ok(()) => {}
                Err(fault) if fault.is_passing() => return self.later(&fault),
                Err(_) => is_left = true,
            }
        }
        if is_left {
            let line = "Words were erased here, but this room keeps its copy of them: the accounts \
                        of the server may not redact them.";
            return self.carry_line(under_way, delivery, line).await;
        }
        under_way.done(None)
    }
}

/// Returns a message that is to be sent.
pub(super) fn part_of(ghost: &Ghost, room: &str, only_to: Option<String>) -> SentPart {
    SentPart { bot: ghost.localpart(), chat: room.to_owned(), id: None, only_to }
}
