//! Requests that wait for consent. They are not in the log: after a crash their senders ask again.

use std::collections::BTreeMap;

use moothall_kernel::command::{Refusal, Rejection};
use moothall_kernel::time::Millis;

use super::deciding::Item;
use super::io::RequestId;
use crate::answers::HallError;

/// Maximum number of requests of a stream that wait for consent; more are refused as overload.
pub(super) const AWAITED_MAX: usize = 256;

/// Waiting requests, by the id of the request about which the principal is asked.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingConsents(BTreeMap<RequestId, PendingConsent>);

#[derive(Clone, Debug)]
struct PendingConsent {
    /// Deadline on the steady clock.
    until: Millis,
    /// The request and its repetitions with the same key: one question serves all of them.
    items: Vec<Item>,
}

/// The result of adding a request.
pub(super) enum PutOutcome {
    /// The principal has to be asked.
    First,
    /// The principal is being asked about the same request already.
    Joined,
    /// Too many requests wait; the item comes back.
    Full(Box<Item>),
}

impl PendingConsents {
    /// Adds a request that waits for consent until a deadline. A repetition of a waiting request
    /// joins that request's question and its deadline.
    pub(super) fn put(&mut self, id: RequestId, item: Item, until: Millis) -> PutOutcome {
        if self.0.values().map(|question| question.items.len()).sum::<usize>() >= AWAITED_MAX {
            return PutOutcome::Full(Box::new(item));
        }
        if let Some(question) =
            self.0.values_mut().find(|question| question.items[0].repeats(&item))
        {
            question.items.push(item);
            return PutOutcome::Joined;
        }
        self.0.insert(id, PendingConsent { until, items: vec![item] });
        PutOutcome::First
    }

    /// Removes and returns the items whose question was answered. Returns none if the answer is
    /// late or the question is unknown.
    pub(super) fn answered(&mut self, id: RequestId, now: Millis) -> Vec<Item> {
        match self.0.get(&id) {
            Some(question) if now < question.until => self.take([id]),
            Some(_) | None => Vec::new(),
        }
    }

    /// Removes and returns the items whose deadline has passed.
    pub(super) fn take_over(&mut self, now: Millis) -> Vec<Item> {
        let over: Vec<_> = self
            .0
            .iter()
            .filter(|(_, question)| question.until <= now)
            .map(|(id, _)| *id)
            .collect();
        self.take(over)
    }

    /// Removes and returns all waiting items.
    pub(super) fn take_all(&mut self) -> Vec<Item> {
        let all: Vec<_> = self.0.keys().copied().collect();
        self.take(all)
    }

    /// Removes these questions. Returns their items, marked so that they need no further consent.
    fn take(&mut self, ids: impl IntoIterator<Item = RequestId>) -> Vec<Item> {
        let questions = ids.into_iter().filter_map(|id| self.0.remove(&id));
        questions.flat_map(|question| question.items).map(Item::agreed).collect()
    }

    /// Returns the earliest deadline.
    pub(super) fn until(&self) -> Option<Millis> {
        self.0.values().map(|question| question.until).min()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the error for a request that the principal refused.
pub(super) fn refused(why: &str) -> HallError {
    let message = format!("The request was denied: {why}");
    HallError::Rejected(Box::new(Rejection::new(Refusal::Forbidden, "not_agreed", message)))
}

/// Returns the error for a request that got no consent in time.
pub(super) fn unanswered() -> HallError {
    let message = "The request was not approved in time, so nothing was decided; send it again.";
    HallError::Rejected(Box::new(Rejection::new(Refusal::Conflict, "unanswered", message)))
}
