//! Transactions of events. An event takes effect one time, even if the homeserver repeats it.
//!
//! The homeserver sends a transaction again until it is answered. The effect of an event in the log
//! has the event's id as its key. The newest events are also remembered, so that a repeated
//! transaction of 500 events costs little.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::Matrix;
use super::client::MatrixFault;
use super::names::Ghost;
use super::room::MatrixRoom;
use crate::receive::TryAgain;

/// Number of events that are remembered.
const EVENTS_MAX: usize = 10_000;
/// Number of times that an event is tried after an unknown failure. A full disk or a busy server do
/// not count.
const TRIES_MAX: u32 = 8;

/// The events that were received lately.
#[derive(Default)]
pub(super) struct EventMemory {
    events: BTreeSet<String>,
    order: VecDeque<String>,
    /// The events that could not be stored, with the number of tries.
    tries: BTreeMap<String, u32>,
}

impl EventMemory {
    fn note(&mut self, event: &str) {
        self.tries.remove(event);
        if self.events.insert(event.to_owned()) {
            self.order.push_back(event.to_owned());
        }
        if self.order.len() > EVENTS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.events.remove(&oldest);
        }
    }

    /// Counts an unknown failure of an event. Returns true if the event is to be tried again.
    fn goes_on(&mut self, event: &str) -> bool {
        let tries = self.tries.entry(event.to_owned()).or_default();
        *tries += 1;
        *tries < TRIES_MAX
    }
}

/// The parts of an event that each kind has.
pub(super) struct RoomEvent<'a> {
    /// The id of the event.
    pub(super) id: &'a str,
    /// The room in which it happened.
    pub(super) room: MatrixRoom,
    /// The user who made it.
    pub(super) sender: &'a str,
    /// The whole event.
    pub(super) event: &'a Value,
}

impl<'a> RoomEvent<'a> {
    /// Reads an event; `None` if it lacks a part.
    fn read(event: &'a Value) -> Option<Self> {
        Some(Self {
            id: event["event_id"].as_str()?,
            room: MatrixRoom::new(event["room_id"].as_str().filter(|room| room.starts_with('!'))?),
            sender: event["sender"].as_str()?,
            event,
        })
    }

    /// Returns the content of the event.
    pub(super) fn content(&self) -> &'a Value {
        &self.event["content"]
    }
}

/// Returns the reason to receive an event again after a call that failed.
pub(super) fn unanswered(fault: &MatrixFault) -> TryAgain {
    TryAgain { why: fault.to_string(), is_known: !matches!(fault, MatrixFault::Refused { .. }) }
}

impl Matrix {
    /// Takes the events of a transaction that were not taken before, in their order. An event that
    /// failed [`TRIES_MAX`] times for unknown reasons is dropped.
    ///
    /// # Errors
    /// [`TryAgain`] if the channel is stopped, or if an event could not be stored now. The events
    /// before it are stored.
    pub(super) async fn take_transaction(
        &self,
        txn: &str,
        events: &[Value],
    ) -> Result<(), TryAgain> {
        if self.is_stopped() {
            let why = "the channel waits for `moothall channels resume matrix`".to_owned();
            return Err(TryAgain { why, is_known: true });
        }
        let mut received = self.received.lock().await;
        self.health.note_heard(self.inbox.hall().now());
        for heard in events.iter().filter_map(RoomEvent::read) {
            if received.events.contains(heard.id) {
                continue;
            }
            match self.receive(&heard).await {
                Err(again) if again.is_known || received.goes_on(heard.id) => return Err(again),
                Err(again) => {
                    let (event, why) = (heard.id, again.why);
                    tracing::error!(txn, event, why, "an event could not be stored");
                }
                Ok(()) => {}
            }
            received.note(heard.id);
        }
        Ok(())
    }

    async fn receive(&self, heard: &RoomEvent<'_>) -> Result<(), TryAgain> {
        let domain = self.domain().await.map_err(|fault| unanswered(&fault))?;
        let kind = heard.event["type"].as_str().unwrap_or_default();
        if kind == "m.room.member" {
            return self.receive_member(heard, &domain).await;
        }
        // The homeserver also sends the events of this server's own accounts.
        if Ghost::of(heard.sender, &domain).is_some() {
            return Ok(());
        }
        match kind {
            "m.room.message" => self.receive_message(heard, &domain).await,
            "m.reaction" => self.receive_reaction(heard).await,
            "m.room.redaction" => self.receive_redaction(heard).await,
            "m.room.encryption" | "m.room.encrypted" => self.receive_encryption(heard).await,
            "m.room.tombstone" => self.receive_tombstone(heard, &domain).await,
            "m.room.name" => {
                let title = super::places::title_of(heard.content());
                self.places.change(&heard.room.id, |place| place.title = title);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
