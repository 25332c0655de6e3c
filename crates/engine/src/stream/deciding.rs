//! A batch on its way from what was asked to what is appended: what `batch.rs` works on.

use std::collections::BTreeMap;

use moothall_kernel::budget::Charge;
use moothall_kernel::command::{ClientCommand, Command, Refusal, Rejection};
use moothall_kernel::decide::Decision;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ParticipantId, TurnNo};
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Timestamp;

use super::idempotency::claim_key;
use super::io::{Condition, PriorRequest, Lookups, OwedItems, RequestId, Verdict, ItemBody};
use crate::answers::{Answer, HallError, Idempotency};
use crate::outbox::HOPS_MAX;
use crate::ports::{ClaimChange, NewDelivery};

/// A command to be decided, and who waits for the answer. The engine's own have nobody waiting, and
/// are never lost.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) wanted: ItemBody,
    pub(super) asked: Option<(RequestId, Option<Idempotency>)>,
    /// Who has to agree before it is decided, and did not yet.
    pub(super) condition: Option<Condition>,
    /// It was decided once already, and lost the race for its idempotency key.
    pub(super) again: bool,
    /// What is to be inserted with the append that it leads to.
    pub(super) owing: OwedItems,
}

impl Item {
    /// A command of the engine itself.
    pub(super) fn internal(command: impl Into<Command>) -> Self {
        Self {
            wanted: ItemBody::Decision(command.into()),
            asked: None,
            condition: None,
            again: false,
            owing: OwedItems::default(),
        }
    }

    /// A request from outside.
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
        }
    }

    /// The same; this goes along.
    pub(super) fn owing(self, owing: OwedItems) -> Self {
        Self { owing, ..self }
    }

    /// The same, where somebody has to agree first.
    pub(super) fn on(self, condition: Option<Condition>) -> Self {
        Self { condition, ..self }
    }

    /// It may be decided now.
    pub(super) fn agreed(self) -> Self {
        self.on(None)
    }

    /// The same; what is said with it is for these alone.
    pub(super) fn only_for(mut self, readers: &[ParticipantId]) -> Self {
        if let ItemBody::Decision(Command::Client(ClientCommand::Post(post))) = &mut self.wanted {
            post.only_for = Some(readers.to_vec());
        }
        self
    }

    /// Whether it is the same request, asked about with the same words to the same person.
    pub(super) fn repeats(&self, other: &Item) -> bool {
        let asked_of =
            |item: &Item| item.condition.as_ref().map(|condition| condition.principal.clone());
        self.key().is_some() && self.key() == other.key() && asked_of(self) == asked_of(other)
    }

    /// The claim of the key under which it is decided once.
    pub(super) fn claim_key(&self) -> Option<String> {
        self.idempotency().map(claim_key)
    }

    /// The refusal of what would make a chain of commands longer than one may be.
    pub(super) fn too_far(&self) -> Option<Verdict> {
        let too_far = self.owing.hops >= HOPS_MAX && !self.owing.owed.is_empty();
        let why = || {
            format!(
                "It follows from {HOPS_MAX} commands that follow from each other, and must not lead to another."
            )
        };
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

    pub(super) fn idempotency(&self) -> Option<&Idempotency> {
        match self.wanted {
            ItemBody::Decision(_) if planted::has(Bug::RetryRunsTwice) => None,
            ItemBody::Decision(_) | ItemBody::Owing => self.key(),
            ItemBody::Keeping(_) => None,
        }
    }
}

/// A batch on its way from what was asked to what is appended.
#[derive(Clone, Debug)]
pub(super) struct PendingBatch {
    pub(super) items: Vec<Item>,
    pub(super) found: Lookups,
    pub(super) now: Timestamp,
    /// Of the first items, in their order; told when it is committed.
    pub(super) verdicts: Vec<Verdict>,
    /// The length of `events` after each verdict, by which they are divided among the requests.
    pub(super) ends: Vec<usize>,
    pub(super) events: Vec<RecordedEvent>,
    pub(super) charges: Vec<Charge>,
    pub(super) keys: Vec<ClaimChange>,
    /// What its requests owe elsewhere.
    pub(super) owed: Vec<NewDelivery>,
    /// The turns whose prompts are deliveries of this batch, in the order of the deliveries.
    pub(super) prompts: Vec<Option<(TurnNo, u32)>>,
    /// Keys taken by this batch: whoever comes second gets the answer of the first.
    pub(super) taken: BTreeMap<String, PriorRequest>,
}

impl PendingBatch {
    pub(super) fn new(items: Vec<Item>, found: Lookups, now: Timestamp) -> Self {
        let (verdicts, ends, events, charges, keys, owed, prompts, taken) = <_>::default();
        Self { items, found, now, verdicts, ends, events, charges, keys, owed, prompts, taken }
    }

    pub(super) fn push(&mut self, verdict: Verdict) {
        self.verdicts.push(verdict);
        self.ends.push(self.events.len());
    }

    /// The events of each decision.
    pub(super) fn decisions(&self) -> Vec<Vec<RecordedEvent>> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(from, to)| self.events[from..*to].to_vec()).collect()
    }

    /// The answer to a request whose key was used before; nothing when it is new, or when the one
    /// before was refused.
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

/// A decision that waits to be paid.
#[derive(Clone, Debug)]
pub(super) struct PendingPayment {
    pub(super) deciding: PendingBatch,
    pub(super) decision: Decision,
}
