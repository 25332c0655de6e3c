//! Deciding and appending. Requests that share their lookups are decided together, appended in one
//! batch, and answered only after that.

use std::sync::Arc;

use moothall_kernel::Conversation;
use moothall_kernel::budget::Budgets;
use moothall_kernel::command::{Command, Facts, Refusal, Rejection};
use moothall_kernel::decide::{Decision, DroppedWords};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::invariants::BrokenRule;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::{Millis, Timestamp};

use super::awaited::PutOutcome;
use super::deciding::{Item, PendingBatch, PendingPayment};
use super::effects::effects;
use super::host::{Host, RETRY_FULL, Stage};
use super::hosting::MissingTurn;
use super::idempotency::{ANSWERED, IDEM, IDEM_TTL, claim_key};
use super::io::{
    Around, Condition, EndReason, ItemBody, Lookups, Output, PriorRequest, RequestId, Verdict,
};
use super::remote_effects::remote_effects;
use crate::answers::{Answer, HallError, Idempotency};
use crate::hall::copies;
use crate::ports::{
    Acquisition, AppendError, COMMANDER, Catalog, Claim, ClaimChange, Epoch, LogError, StreamBatch,
};
use crate::sessions::target_of;

/// First pause before a retry after the log was overloaded. It doubles up to [`RETRY_FULL`] until
/// an append succeeds.
const RETRY: Millis = Millis(50);
const DOUBLINGS_MAX: u32 = 5;

impl Host {
    /// Decides the items that have no verdict yet, in order, and then requests the append. An item
    /// that needs consent leaves the batch. Stops at an item whose costs have to be charged first.
    pub(super) fn decide(&mut self, mut deciding: PendingBatch, around: &Around<'_>) {
        while let Some(item) = deciding.items.get(deciding.verdicts.len()) {
            let known =
                item.idempotency().and_then(|key| deciding.known(key)).or_else(|| item.too_far());
            if let Some(verdict) = known {
                let last = deciding.last(self.committed.head());
                deciding.push(verdict, last);
                continue;
            }
            let command = match item.wanted.clone() {
                ItemBody::Decision(command) => command,
                ItemBody::Owing => {
                    self.accept(&mut deciding, undecided());
                    continue;
                }
                ItemBody::Probing(key) => {
                    let last = deciding.last(self.committed.head());
                    deciding.owed.push(self.state_of(&key).delivery(0, last));
                    self.accept(&mut deciding, undecided());
                    continue;
                }
                ItemBody::Missing { turn, attempt } => match self.miss(turn, attempt) {
                    MissingTurn::Ends(command) => command.into(),
                    MissingTurn::Waits(offer) => {
                        let last = deciding.last(self.committed.head());
                        deciding.owed.push(offer.delivery(0, last));
                        self.accept(&mut deciding, undecided());
                        continue;
                    }
                    MissingTurn::Over => {
                        self.accept(&mut deciding, undecided());
                        continue;
                    }
                },
                ItemBody::Keeping(answer) => {
                    let claim = item
                        .key()
                        .map(|key| self.claim_of(ANSWERED, key, answer.clone(), deciding.now));
                    deciding.keys.extend(claim.map(ClaimChange::Take));
                    let last = deciding.last(self.committed.head());
                    deciding.push(Ok(self.nothing_new()), last);
                    continue;
                }
            };
            if item.condition.is_some() {
                // The item is removed from the batch, because items and verdicts are paired by
                // their position.
                let item = deciding.items.remove(deciding.verdicts.len());
                self.ask(item, command, around);
                continue;
            }
            let decision = self.decide_one(command, &deciding);
            if decision.charges.is_empty() {
                self.accept(&mut deciding, decision);
                continue;
            }
            let mut charges = decision.charges.clone();
            if planted::has(Bug::ChargedTwice) {
                charges.extend(decision.charges.clone());
            }
            self.out.push(Output::Charge { charges });
            self.stage = Stage::Paying(Box::new(PendingPayment { deciding, decision }));
            return;
        }
        self.append(deciding, around);
    }

    /// Asks for consent to a request. The request leaves its batch and returns when consent was
    /// given. Refuses it if too many requests wait.
    fn ask(&mut self, item: Item, command: Command, around: &Around<'_>) {
        let (Some(id), Some(Condition { principal, within })) = (item.id(), item.condition.clone())
        else {
            return;
        };
        let until = Millis(around.now.steady.0.saturating_add(within.0));
        match self.awaited.put(id, item, until) {
            PutOutcome::First => {
                self.out.push(Output::Ask { id, principal, request: Box::new(command), until })
            }
            PutOutcome::Joined => {}
            PutOutcome::Full(item) => self.refuse(vec![*item], &HallError::Overloaded),
        }
    }

    /// Decides one command on the working state, which has the events of the earlier decisions of
    /// the batch, and applies its events there.
    fn decide_one(&mut self, command: Command, deciding: &PendingBatch) -> Decision {
        let committed = &self.committed;
        let working = self.working.get_or_insert_with(|| {
            let mut working = committed.clone();
            // A refused charge dropped the working state, but the earlier decisions of the batch
            // stand.
            deciding.events.iter().for_each(|event| working.apply(event));
            working
        });
        let state = working.conversation();
        let may_end = |turn| state.is_some_and(|state| command.may_end(turn, state));
        let facts = Facts {
            budgets: deciding.found.budgets.clone(),
            voices: deciding.found.voices.clone(),
            unkept: self.unkept.clone(),
            shown: self.runs.shown_answers(may_end),
            ..state
                .map(|state| deciding.found.here.facts(state, &command.brings()))
                .unwrap_or_default()
        };
        working.decide(deciding.now, command, &facts)
    }

    /// Continues after the budgets were charged. If they could not be, because another conversation
    /// spent the rest in the meantime, decides the item again with the new budgets.
    pub(super) fn charged(
        &mut self,
        paying: PendingPayment,
        paid: bool,
        budgets: Arc<Budgets>,
        around: &Around<'_>,
    ) {
        let PendingPayment { mut deciding, decision } = paying;
        deciding.found.budgets = budgets;
        if paid {
            self.accept(&mut deciding, decision);
        } else {
            // The working state has the events of the decision that could not be paid.
            self.working = None;
        }
        self.decide(deciding, around);
    }

    /// Adds a decision to the batch.
    fn accept(&mut self, deciding: &mut PendingBatch, decision: Decision) {
        let Decision { events, outcome, charges, unkept } = decision;
        let verdict = match outcome {
            Ok(()) => Ok(Answer { event: events.first().cloned(), ..self.nothing_new() }),
            Err(rejection) => Err(HallError::Rejected(Box::new(rejection))),
        };
        // The voices are only updated for a later item of the batch, because `note` copies them,
        // and other streams share them.
        if deciding.items.len() > deciding.verdicts.len() + 1 {
            self.let_hear(&mut deciding.found, &events);
        }
        deciding.events.extend(events);
        deciding.charges.extend(charges);
        if let Some(unkept) = unkept {
            self.count_unkept(unkept);
        }
        let last = deciding.last(self.committed.head());
        let item = &deciding.items[deciding.verdicts.len()];
        if verdict.is_ok() {
            deciding
                .owed
                .extend(item.owing.owed.iter().map(|owed| owed.delivery(item.owing.hops, last)));
        }
        let held_back = self.held_back(&verdict, &deciding.events);
        if let (Some(key), Some(answer)) =
            (item.idempotency(), verdict.as_ref().ok().or(held_back.as_ref()))
        {
            let outcome =
                answer.event.as_ref().map(|event| event.seq.to_string()).unwrap_or_default();
            deciding.keys.push(ClaimChange::Take(self.claim_of(IDEM, key, outcome, deciding.now)));
            let earlier =
                PriorRequest { fingerprint: key.fingerprint.clone(), answer: Ok(answer.clone()) };
            deciding.taken.insert(claim_key(key), earlier);
        }
        deciding.push(verdict, last);
    }

    /// Returns the answer to remember for words that were held back; `None` for every other
    /// verdict. A retry by the client then gets the same answer, even if the rules have changed.
    fn held_back(&self, verdict: &Verdict, events: &[RecordedEvent]) -> Option<Answer> {
        let Err(HallError::Rejected(rejection)) = verdict else { return None };
        let kept =
            events.last().filter(|_| rejection.is_held_back() && rejection.kept.is_some())?;
        Some(Answer { event: Some(kept.clone()), ..self.nothing_new() })
    }

    /// Adds what was said to the voices, for the decisions after this one.
    fn let_hear(&self, found: &mut Lookups, events: &[RecordedEvent]) {
        let is_said = |recorded: &&RecordedEvent| matches!(recorded.event, Event::Posted(_));
        let Some(state) = self.working().conversation() else { return };
        for recorded in events.iter().filter(is_said) {
            Arc::make_mut(&mut found.voices).note(state, recorded);
        }
    }

    /// Counts rejected words that were not stored, until an event reports them. A restart loses
    /// only their number.
    fn count_unkept(&mut self, unkept: DroppedWords) {
        let (count, sum) = self.unkept.entry(unkept.participant).or_default();
        *count += 1;
        *sum += unkept.bytes;
    }

    /// Forgets the counts that an event has reported.
    fn forget_reported(&mut self, events: &[RecordedEvent]) {
        for recorded in events {
            if let Event::Discarded { participant, until: None, .. } = &recorded.event {
                self.unkept.remove(participant);
            }
        }
    }

    /// Returns the answer to a request that recorded no event. Other answers add their event to it.
    pub(super) fn nothing_new(&self) -> Answer {
        Answer {
            stream: self.stream.clone(),
            event: None,
            head: self.working().head(),
            replayed: false,
        }
    }

    /// Returns the claim that remembers an outcome under an idempotency key. It expires after
    /// [`IDEM_TTL`]. The claim of a command from another stream lasts until its delivery is
    /// settled.
    fn claim_of(
        &self,
        namespace: &str,
        idempotency: &Idempotency,
        outcome: String,
        now: Timestamp,
    ) -> Claim {
        Claim {
            namespace: namespace.into(),
            key: claim_key(idempotency),
            stream: self.stream.clone(),
            fingerprint: idempotency.fingerprint.clone(),
            outcome,
            expires: match idempotency.principal == COMMANDER {
                // A command from another stream may be submitted again until its delivery is
                // settled.
                true => planted::has(Bug::CommandClaimLapses).then_some(now),
                false => Some(now + IDEM_TTL),
            },
        }
    }

    /// Requests the append of a decided batch. Drops its decisions if they break an invariant. A
    /// batch without events, claims, deliveries and marks is answered without an append. If the
    /// host is not the writer of the stream (it has no epoch), it first requests an epoch.
    fn append(&mut self, deciding: PendingBatch, around: &Around<'_>) {
        let owes = !deciding.owed.is_empty() || !deciding.marks.is_empty();
        if deciding.events.is_empty() && deciding.keys.is_empty() && !owes {
            return self.commit(deciding, &[], around);
        }
        let checked = self
            .committed
            .check_next(&deciding.events)
            .and_then(|()| self.working().check_invariants());
        if let Err(broken) = checked {
            return self.broken(deciding, broken);
        }
        match self.epoch {
            Some(epoch) => self.append_under(epoch, Box::new(deciding)),
            // If another process has appended since, the append fails with `Conflict`.
            None => {
                self.out.push(Output::Acquire);
                self.stage = Stage::Acquiring(Box::new(deciding));
            }
        }
    }

    /// Continues with the append after the log made this host the writer. Otherwise drops the
    /// decisions, and retries or refuses the items.
    pub(super) fn acquired(
        &mut self,
        deciding: Box<PendingBatch>,
        result: Result<Acquisition, LogError>,
        around: &Around<'_>,
    ) {
        match result {
            Ok(Acquisition::Epoch(epoch)) => {
                self.epoch = Some(epoch);
                self.append_under(epoch, deciding);
            }
            // Another process holds the lease. This is treated as overload, so the engine's own
            // commands retry.
            Ok(Acquisition::Held(_)) => self.undo(*deciding, AppendError::Overloaded, around),
            Err(error) => self.undo(*deciding, unwritable(&error), around),
        }
    }

    /// Requests the append under the epoch of the writer, with the claims and deliveries that
    /// follow from the events.
    fn append_under(&mut self, epoch: Epoch, mut deciding: Box<PendingBatch>) {
        let state = self.working();
        let terminal_of = |turn| {
            let conversation = state.conversation()?;
            target_of(conversation.participant(&conversation.turn(turn)?.participant)?)
        };
        // `effects` replays the events on the state before them, so it gets the bindings and
        // members from before the batch.
        let bound = self.conversation().into_iter().flat_map(Conversation::bindings);
        let members = self.conversation().filter(|own| own.task().is_some()).map(|own| {
            own.participants().iter().map(|participant| participant.id.clone()).collect()
        });
        let owed = effects(&self.stream, bound, members, terminal_of, &deciding.events);
        let mut claims = owed.claims;
        claims.extend(deciding.keys.iter().cloned());
        let mut deliveries = owed.deliveries;
        let (before, after) = (self.conversation(), state.conversation());
        deliveries.extend(remote_effects(before, after, &deciding.events));
        deliveries.append(&mut deciding.owed);
        // Every delivery has a place, `None` if it has no turn, because `inserted` pairs them by
        // position.
        deciding.prompts =
            deliveries.iter().map(|delivery| Some((delivery.turn?, delivery.attempt))).collect();
        let batch = StreamBatch {
            stream: self.stream.clone(),
            epoch,
            expected_head: self.committed.head(),
            events: deciding.events.clone(),
            claims,
            deliveries,
            marks: std::mem::take(&mut deciding.marks),
            charges: deciding.charges.clone(),
            catalog: Catalog::of(state),
        };
        if planted::has(Bug::AcknowledgeBeforeCommit) {
            let answers = answers(&deciding.items, deciding.verdicts.clone());
            self.out.push(Output::Answer { answers });
        }
        if planted::has(Bug::PublishBeforeCommit) && !deciding.events.is_empty() {
            self.out.push(Output::Publish { events: Arc::new(deciding.events.clone()) });
        }
        self.out.push(Output::Append { batch: Box::new(batch) });
        self.stage = Stage::Appending(deciding);
    }

    /// Handles the result of an append: commits the batch, or undoes it after an error.
    /// `deliveries` are the ids of its deliveries.
    pub(super) fn appended(
        &mut self,
        deciding: PendingBatch,
        result: Result<Vec<u64>, AppendError>,
        around: &Around<'_>,
    ) {
        match result {
            Ok(deliveries) => {
                self.retries = 0;
                self.commit(deciding, &deliveries, around)
            }
            Err(AppendError::Fenced { .. }) if planted::has(Bug::FencedWriterGoesOn) => {
                self.commit(deciding, &[], around)
            }
            Err(error) => self.undo(deciding, error, around),
        }
    }

    /// Applies an appended batch, then answers and publishes it. `deliveries` are the ids of its
    /// deliveries.
    fn commit(&mut self, deciding: PendingBatch, deliveries: &[u64], around: &Around<'_>) {
        let PendingBatch { items, mut events, charges, verdicts, prompts, .. } = deciding;
        self.runs.inserted(&prompts, deliveries);
        events.iter().for_each(|event| self.committed.apply(event));
        // `committed` applies the whole words, as `working` did; they are erased only for later
        // readers.
        copies::erase_within_batch(&mut events);
        debug_assert!(
            self.working.as_ref().is_none_or(|working| *working == self.committed),
            "state is a fold of its events"
        );
        self.forget_reported(&events);
        self.tail.push(&events);
        let answers = answers(&items, verdicts);
        let events = Arc::new(events);
        if !events.is_empty() {
            self.out.push(Output::Count { events: events.clone(), charges });
        }
        self.out.push(Output::Answer { answers });
        if !events.is_empty() {
            self.out.push(Output::Publish { events: events.clone() });
            self.on_committed(&events);
        }
        self.next_batch(around);
    }

    /// Drops decisions whose events break an invariant. Refuses a single item, even a command of
    /// the engine, because a retry would break the same rule. Several items are decided again one
    /// at a time. The state is loaded again, because it may have been wrong before.
    fn broken(&mut self, deciding: PendingBatch, broken: BrokenRule) {
        let items = self.forget_decided(deciding);
        let error = HallError::Failed(broken.to_string());
        self.out.push(Output::Broken(broken));
        self.refuse_alone(items, &error);
        self.out.push(Output::Reload);
        self.stage = Stage::Reloading;
    }

    /// Drops the decisions of a batch and gives its charges back. Returns its items.
    fn forget_decided(&mut self, deciding: PendingBatch) -> Vec<Item> {
        self.working = None;
        let PendingBatch { items, charges, .. } = deciding;
        if !charges.is_empty() && !planted::has(Bug::ChargeNotGivenBack) {
            self.out.push(Output::GiveBack { charges });
        }
        items
    }

    /// Drops the decisions of a batch that was not appended. The error decides if its items are
    /// retried or refused, or if the stream closes.
    fn undo(&mut self, deciding: PendingBatch, error: AppendError, around: &Around<'_>) {
        let items = self.forget_decided(deciding);
        match error {
            AppendError::Claimed(claim) => self.claimed(items, &claim),
            AppendError::Marked { through, .. } => self.marked(items, through, &error.to_string()),
            AppendError::Full => {
                self.put_back(items, &HallError::DiskFull, around.now.steady, RETRY_FULL)
            }
            AppendError::Overloaded => {
                self.put_back(items, &HallError::Overloaded, around.now.steady, RETRY)
            }
            AppendError::Conflict { .. } => {
                self.put_back(items, &HallError::Overloaded, around.now.steady, RETRY);
                self.out.push(Output::Reload);
                self.stage = Stage::Reloading;
                return;
            }
            AppendError::Fenced { .. } => return self.close(EndReason::Fenced),
            AppendError::Fatal(reason) => return self.close(EndReason::Fatal(reason)),
        }
        self.next_batch(around);
    }

    /// Handles a claim that was already taken. Several items are decided again one at a time, to
    /// find the item that wants the claim. If that claim is the idempotency key of the item, the
    /// item is decided once more, to get the answer of the earlier request. Otherwise the item is
    /// refused.
    fn claimed(&mut self, mut items: Vec<Item>, claim: &Claim) {
        if let [item] = &mut items[..] {
            let own = claim.namespace == IDEM && item.claim_key().as_ref() == Some(&claim.key);
            if own && !item.again {
                item.again = true;
                // It goes to the front, because later requests come after it in batches of their
                // own.
                self.batches.push_front(items);
            } else {
                let error = if own {
                    HallError::Overloaded
                } else {
                    HallError::Rejected(Box::new(taken(claim)))
                };
                self.refuse(items, &error);
            }
        } else {
            self.batches.extend(items.into_iter().map(|item| vec![item]));
        }
    }

    /// Handles a mark that does not follow the last mark of its channel, which is at `through`.
    /// Several items are decided again one at a time. An item whose row was taken before is refused
    /// as taken.
    fn marked(&mut self, items: Vec<Item>, through: u64, why: &str) {
        let taken = |item: &Item| item.taking.as_ref().is_some_and(|it| it.mark.through <= through);
        let error = match items.iter().all(taken) {
            true => HallError::Taken { through },
            // An earlier row is missing. The sending computer sends both again.
            false => HallError::Failed(why.to_owned()),
        };
        self.refuse_alone(items, &error);
    }

    /// Refuses client requests, and puts the engine's own commands back for a retry, because an
    /// agent's answer must not be lost. The pause before the retry doubles with each retry, up to
    /// [`RETRY_FULL`].
    fn put_back(&mut self, items: Vec<Item>, error: &HallError, now: Millis, pause: Millis) {
        let (asked, own): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| item.asked.is_some());
        self.refuse(asked, error);
        let lost = *error == HallError::DiskFull && planted::has(Bug::RetryLostWhenFull);
        if !own.is_empty() && !lost {
            // The commands go in front of newer ones, because deadlines have to move before a timer
            // reads them.
            self.pending.splice(0..0, own);
            // The number of doublings is bounded, because a shift by 64 bits would panic.
            let pause = (pause.0 << self.retries.min(DOUBLINGS_MAX)).min(RETRY_FULL.0);
            self.retries = self.retries.saturating_add(1);
            self.retry_at = Some(Millis(now.0 + pause));
        }
    }

    /// Refuses a single item. Several items are decided again one at a time, to find the item that
    /// the error is about.
    fn refuse_alone(&mut self, items: Vec<Item>, error: &HallError) {
        if items.len() == 1 {
            self.refuse(items, error);
        } else {
            self.batches.extend(items.into_iter().map(|item| vec![item]));
        }
    }

    /// Answers the items that are requests of a waiting sender with an error.
    pub(super) fn refuse(&mut self, items: Vec<Item>, error: &HallError) {
        let answers: Vec<_> =
            items.iter().filter_map(|item| Some((item.id()?, Err(error.clone())))).collect();
        if !answers.is_empty() {
            self.out.push(Output::Answer { answers });
        }
    }
}

/// Returns the empty decision, for an item without a command.
fn undecided() -> Decision {
    Decision { events: Vec::new(), outcome: Ok(()), charges: Vec::new(), unkept: None }
}

/// Pairs each waiting request with its verdict. Items without a waiting sender are left out.
fn answers(items: &[Item], mut verdicts: Vec<Verdict>) -> Vec<(RequestId, Verdict)> {
    if planted::has(Bug::AnswersSwapped) {
        verdicts.reverse();
    }
    items.iter().zip(verdicts).filter_map(|(item, verdict)| Some((item.id()?, verdict))).collect()
}

/// Maps an error of the log to the error of an append.
pub(super) fn unwritable(error: &LogError) -> AppendError {
    match error {
        LogError::Full => AppendError::Full,
        LogError::Fatal(reason) => AppendError::Fatal(reason.clone()),
        LogError::NotFound(_)
        | LogError::Deleted(_)
        | LogError::Damaged { .. }
        | LogError::DamagedRow { .. }
        | LogError::Unreadable(_)
        | LogError::Failed(_) => AppendError::Overloaded,
    }
}

/// Returns the error for a claim that another conversation holds, such as a binding.
fn taken(claim: &Claim) -> Rejection {
    let message = format!(
        "`{}:{}` belongs to conversation {}; unbind it there first.",
        claim.namespace, claim.key, claim.stream
    );
    Rejection::new(Refusal::Conflict, "taken", message)
}
