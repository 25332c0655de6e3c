//! Requests that wait until somebody agrees to them. They are in no log: after a crash whoever made
//! one asks again.

use std::collections::BTreeMap;

use moothall_kernel::command::{Refusal, Rejection};
use moothall_kernel::time::Millis;

use super::deciding::Item;
use super::io::RequestId;
use crate::answers::HallError;

/// So many requests of a stream may wait for somebody; more are refused as overload.
pub(super) const AWAITED_MAX: usize = 256;

/// What waits, under the id of the request about which somebody is asked.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingConsents(BTreeMap<RequestId, PendingConsent>);

#[derive(Clone, Debug)]
struct PendingConsent {
    /// On the steady clock.
    until: Millis,
    /// The request, and its repetitions with the same key: nobody is asked twice about one thing.
    items: Vec<Item>,
}

/// What came of putting a request here.
pub(super) enum PutOutcome {
    /// Somebody has to be asked.
    First,
    /// Somebody is being asked about the same request.
    Joined,
    /// Too many wait. It comes back.
    Full(Box<Item>),
}

impl PendingConsents {
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

    /// What may be decided, or not, now that there is an answer. Nothing when it comes too late, or
    /// when nobody waits for it.
    pub(super) fn answered(&mut self, id: RequestId, now: Millis) -> Vec<Item> {
        match self.0.get(&id) {
            Some(question) if now < question.until => self.take([id]),
            Some(_) | None => Vec::new(),
        }
    }

    /// What has waited long enough.
    pub(super) fn take_over(&mut self, now: Millis) -> Vec<Item> {
        let over: Vec<_> = self
            .0
            .iter()
            .filter(|(_, question)| question.until <= now)
            .map(|(id, _)| *id)
            .collect();
        self.take(over)
    }

    pub(super) fn take_all(&mut self) -> Vec<Item> {
        let all: Vec<_> = self.0.keys().copied().collect();
        self.take(all)
    }

    fn take(&mut self, ids: impl IntoIterator<Item = RequestId>) -> Vec<Item> {
        let questions = ids.into_iter().filter_map(|id| self.0.remove(&id));
        questions.flat_map(|question| question.items).map(Item::agreed).collect()
    }

    /// When the first of them has waited long enough.
    pub(super) fn until(&self) -> Option<Millis> {
        self.0.values().map(|question| question.until).min()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What is said where somebody did not agree.
pub(super) fn refused(why: &str) -> HallError {
    let message = format!("It was not agreed to: {why}");
    HallError::Rejected(Box::new(Rejection::new(Refusal::Forbidden, "not_agreed", message)))
}

/// What is said where nobody agreed in time.
pub(super) fn unanswered() -> HallError {
    let message =
        "Nobody agreed to it in time, so nothing was decided; send it again to ask again.";
    HallError::Rejected(Box::new(Rejection::new(Refusal::Conflict, "unanswered", message)))
}
