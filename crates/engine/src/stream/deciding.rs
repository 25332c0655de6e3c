//! A batch on its way from requests to an append: the data that `batch.rs` works on.

use std::collections::BTreeMap;

use moothall_kernel::budget::Charge;
use moothall_kernel::command::{ClientCommand, Command, Refusal, Rejection};
use moothall_kernel::decide::Decision;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ParticipantId, Seq, TurnNo};
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Timestamp;

use super::idempotency::claim_key;
use super::io::{
    Condition, ItemBody, Lookups, OwedItems, PriorRequest, RequestId, Taking, Verdict,
    counts_as_taken,
};
use crate::answers::{Answer, HallError, Idempotency};
use crate::outbox::HOPS_MAX;
use crate::ports::{ClaimChange, NewDelivery, PostMark};

/// A command to decide, and the request that waits for its answer. The engine's own commands have
/// no such request. They are retried while the log cannot take them.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) wanted: ItemBody,
    pub(super) asked: Option<(RequestId, Option<Idempotency>)>,
    /// The consent that is still missing.
    pub(super) condition: Option<Condition>,
    /// True if the item was decided before, and another request with its idempotency key was
    /// appended first.
    pub(super) again: bool,
    /// Deliveries to insert with the append.
    pub(super) owing: OwedItems,
    /// The rows of another computer that the item takes, if any.
    pub(super) taking: Option<Box<Taking>>,
}

impl Item {
    /// Makes the item of a command of the engine itself.
    pub(super) fn internal(command: impl Into<Command>) -> Self {
        Self {
            wanted: ItemBody::Decision(command.into()),
            asked: None,
            condition: None,
            again: false,
            owing: OwedItems::default(),
            taking: None,
        }
    }

    /// Makes the item of a request from outside.
    pub(super) fn external(
        id: RequestId,
        wanted: ItemBody,
        idempotency: Option<Idempotency>,
    ) -> Self {
        Self {
            wanted,
            asked: Some((id, idempotency)),
            condition: None,
            again: false,
            owing: OwedItems::default(),
            taking: None,
        }
    }

    /// Returns the item with deliveries to insert.
    pub(super) fn owing(self, owing: OwedItems) -> Self {
        Self { owing, ..self }
    }

    /// Returns the item as one that takes rows of another computer.
    pub(super) fn taking(self, taking: Option<Box<Taking>>) -> Self {
        Self { taking, ..self }
    }

    /// Returns the item with a condition for consent.
    pub(super) fn on(self, condition: Option<Condition>) -> Self {
        Self { condition, ..self }
    }

    /// Returns the item without its condition, because consent was given or is not awaited any
    /// more.
    pub(super) fn agreed(self) -> Self {
        self.on(None)
    }

    /// Returns the item with its post limited to these readers.
    pub(super) fn only_for(mut self, readers: &[ParticipantId]) -> Self {
        if let ItemBody::Decision(Command::Client(ClientCommand::Post(post))) = &mut self.wanted {
            post.only_for = Some(readers.to_vec());
        }
        self
    }

    /// True if both are the same request, by key and content, with consent from the same principal.
    pub(super) fn repeats(&self, other: &Item) -> bool {
        let asked_of =
            |item: &Item| item.condition.as_ref().map(|condition| condition.principal.clone());
        self.key().is_some() && self.key() == other.key() && asked_of(self) == asked_of(other)
    }

    /// Returns the claim key that keeps the item from being decided twice; `None` without a key.
    pub(super) fn claim_key(&self) -> Option<String> {
        self.idempotency().map(claim_key)
    }

    /// Returns the rejection of a command whose chain would exceed `HOPS_MAX`; `None` for others.
    pub(super) fn too_far(&self) -> Option<Verdict> {
        let too_far = self.owing.hops >= HOPS_MAX && !self.owing.owed.is_empty();
        let why = || format!("{HOPS_MAX} commands triggered each other, so this one was stopped.");
        too_far.then(|| {
            Err(HallError::Rejected(Box::new(Rejection::new(
                Refusal::Conflict,
                "chain_too_long",
                why(),
            ))))
        })
    }

    pub(super) fn id(&self) -> Option<RequestId> {
        self.asked.as_ref().map(|(id, _)| *id)
    }

    pub(super) fn key(&self) -> Option<&Idempotency> {
        self.asked.as_ref()?.1.as_ref()
    }

    /// Returns the key that keeps the item from being decided twice. `None` for an item without a
    /// key, and for an item that only stores an answer or is about a turn's state.
    pub(super) fn idempotency(&self) -> Option<&Idempotency> {
        match self.wanted {
            ItemBody::Decision(_) if planted::has(Bug::RetryRunsTwice) => None,
            ItemBody::Decision(_) | ItemBody::Owing => self.key(),
            // A stored answer has a claim of its own. The mark of a row from another computer makes
            // sure that the row does not take effect twice.
            ItemBody::Keeping(_) | ItemBody::Probing(_) | ItemBody::Missing { .. } => None,
        }
    }
}

/// A batch on its way from requests to an append.
#[derive(Clone, Debug)]
pub(super) struct PendingBatch {
    pub(super) items: Vec<Item>,
    pub(super) found: Lookups,
    pub(super) now: Timestamp,
    /// Verdicts of the first items, in order. They are sent when the batch is committed.
    pub(super) verdicts: Vec<Verdict>,
    /// The length of `events` after each verdict, which divides them among the requests.
    pub(super) ends: Vec<usize>,
    pub(super) events: Vec<RecordedEvent>,
    pub(super) charges: Vec<Charge>,
    pub(super) keys: Vec<ClaimChange>,
    /// Deliveries that the requests of the batch insert.
    pub(super) owed: Vec<NewDelivery>,
    /// The marks of the rows that the batch takes, one for each channel.
    pub(super) marks: Vec<PostMark>,
    /// The turns whose prompts are deliveries of this batch, in the order of the deliveries.
    pub(super) prompts: Vec<Option<(TurnNo, u32)>>,
    /// Keys taken by this batch. A second request with the same key gets the answer of the first.
    pub(super) taken: BTreeMap<String, PriorRequest>,
}

impl PendingBatch {
    pub(super) fn new(items: Vec<Item>, found: Lookups, now: Timestamp) -> Self {
        let (verdicts, ends, events, charges, keys, owed, marks, prompts, taken) = <_>::default();
        Self {
            items,
            found,
            now,
            verdicts,
            ends,
            events,
            charges,
            keys,
            owed,
            marks,
            prompts,
            taken,
        }
    }

    /// Adds the verdict of the next item, after its events were added. If the item takes rows of
    /// another computer, the batch moves their mark, and sends their sender a refusal if the
    /// verdict is one. `last` is the newest event.
    pub(super) fn push(&mut self, verdict: Verdict, last: Seq) {
        let item = &self.items[self.verdicts.len()];
        if let Some(taking) = item.taking.as_ref().filter(|_| counts_as_taken(&verdict)) {
            let refused = verdict
                .as_ref()
                .err()
                .and_then(|error| taking.refusal_entry(error.refusal_code()?, &error.to_string()));
            self.owed.extend(refused.map(|entry| entry.delivery(item.owing.hops, last)));
            merge(&mut self.marks, &taking.mark);
        }
        self.verdicts.push(verdict);
        self.ends.push(self.events.len());
    }

    /// Returns the position of the newest event of the batch, or the head before it.
    pub(super) fn last(&self, head: Seq) -> Seq {
        self.events.last().map_or(head, |event| event.seq)
    }

    /// Returns the events of each decision.
    pub(super) fn decisions(&self) -> Vec<Vec<RecordedEvent>> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(from, to)| self.events[from..*to].to_vec()).collect()
    }

    /// Returns the answer of an earlier request with the same key. `None` if the request is new, or
    /// if the earlier one was refused without being held back. Returns an error if the key was used
    /// for another request, or if the earlier requests could not be looked up.
    pub(super) fn known(&self, idempotency: &Idempotency) -> Option<Verdict> {
        let key = claim_key(idempotency);
        let earlier = match &self.found.earlier {
            Err(error) => return Some(Err(error.clone())),
            Ok(earlier) => earlier.get(&key).or_else(|| self.taken.get(&key))?,
        };
        if earlier.fingerprint != idempotency.fingerprint {
            return Some(Err(HallError::KeyReused));
        }
        Some(earlier.answer.clone().map(|answer| Answer { replayed: true, ..answer }))
    }
}

/// Adds a mark, or extends the mark of the rows directly before it, because many rows are one
/// change of the log.
fn merge(marks: &mut Vec<PostMark>, next: &PostMark) {
    let before = marks.iter_mut().find(|mark| mark.channel == next.channel);
    match before.filter(|mark| mark.through == next.before) {
        Some(mark) => mark.through = next.through,
        // A mark that does not follow on stays separate, so that the log sees the gap and refuses
        // it.
        None => marks.push(next.clone()),
    }
}

/// A decision that waits for its charge.
#[derive(Clone, Debug)]
pub(super) struct PendingPayment {
    pub(super) deciding: PendingBatch,
    pub(super) decision: Decision,
}
