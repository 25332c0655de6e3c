//! A delivery to a chat under way: its notes, and its outcomes.
//!
//! Before each message the delivery stores a note that the message is being sent. The next note
//! says that it was sent. After a crash the notes say which messages may be repeated.

use moothall_engine::outbox::{CarryNotes, DeliveryNotes, Outcome, SentPart};
use moothall_engine::ports::{Delivery, LogError};
use moothall_engine::residents::ResidentHall;
use moothall_kernel::ids::{Seq, StreamId};

/// Number of a chat's deliveries that one query reads, to look up a card or a message.
const LOOKED_UP: usize = 500;

/// A delivery under way. `R` is the channel's own form of a place.
pub(crate) struct Carriage<'a, R> {
    /// The place to which the delivery goes.
    pub(crate) room: R,
    /// The conversation and the position of the event that is carried.
    pub(crate) event: (StreamId, Seq),
    /// The notes of earlier attempts, with those of this one.
    pub(crate) kept: CarryNotes,
    /// The number of messages in the notes that were sent before the text itself: cards.
    pub(crate) before: usize,
    notes: &'a DeliveryNotes<'a>,
}

impl<'a, R> Carriage<'a, R> {
    /// Returns a delivery to a place, with the notes of an earlier attempt.
    pub(crate) fn new(delivery: &Delivery, room: R, notes: &'a DeliveryNotes<'a>) -> Self {
        let event = (delivery.stream.clone(), delivery.through_seq);
        Self { room, event, kept: CarryNotes::read(&delivery.evidence), before: 0, notes }
    }

    /// Stores the notes, before a step that must not be repeated.
    ///
    /// # Errors
    /// The outcome of a delivery that is put off, if the notes cannot be stored.
    pub(crate) async fn write(&self) -> Result<(), Outcome> {
        let kept = self.notes.write(&self.kept.text()).await;
        kept.map_err(|error| Outcome::Later { why: error.to_string(), after: None })
    }

    /// Notes that the next message is being sent.
    pub(crate) async fn note_sending(&mut self) -> Result<(), Outcome> {
        self.kept.sending = Some(self.kept.sent.len());
        self.write().await
    }

    /// Stores the notes, and returns the outcome of a delivery that is put off. The next attempt
    /// goes on from the notes, so it does not repeat the messages that were sent.
    pub(crate) async fn put_off(&self, later: Outcome) -> Outcome {
        self.write().await.err().unwrap_or(later)
    }

    /// Returns the messages of the text itself that were sent.
    pub(crate) fn text_sent(&self) -> &[SentPart] {
        self.kept.sent.get(self.before..).unwrap_or_default()
    }

    /// Returns the outcome of a delivery that arrived, or that had no content to carry.
    pub(crate) fn done(mut self, why: Option<&str>) -> Outcome {
        self.kept.why = why.map(str::to_owned);
        Outcome::Done(self.kept.text())
    }

    /// Returns the outcome of a delivery that cannot arrive.
    pub(crate) fn failed(&self, why: impl Into<String>) -> Outcome {
        Outcome::Failed(CarryNotes { why: Some(why.into()), ..self.kept.clone() }.text())
    }

    /// Returns the outcome of a delivery that may have arrived.
    pub(crate) fn unknown(&self, why: impl Into<String>) -> Outcome {
        Outcome::Unknown(CarryNotes { why: Some(why.into()), ..self.kept.clone() }.text())
    }
}

/// Returns the newest earlier delivery of the same conversation to the same chat that passes a
/// test, with its notes.
pub(crate) async fn delivered(
    hall: &ResidentHall,
    delivery: &Delivery,
    is_meant: impl Fn(&Delivery, &CarryNotes) -> bool,
) -> Result<Option<(Delivery, CarryNotes)>, LogError> {
    let mut before = Some(delivery.id);
    loop {
        let page = hall.store().outbox.of_target(&delivery.target, before, LOOKED_UP).await?;
        let is_last = page.len() < LOOKED_UP;
        before = page.last().map(|one| one.id);
        for one in page.into_iter().filter(|one| one.stream == delivery.stream) {
            let notes = CarryNotes::read(&one.evidence);
            if is_meant(&one, &notes) {
                return Ok(Some((one, notes)));
            }
        }
        if is_last {
            return Ok(None);
        }
    }
}
