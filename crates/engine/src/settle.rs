//! Deciding and appending: what was drained together is decided together, appended at once, and answered only then.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use moothall_kernel::budget::Charge;
use moothall_kernel::command::{Command, Facts, Refusal, Rejection};
use moothall_kernel::decide::{Decision, Unkept};
use moothall_kernel::event::{Event, Recorded};
use moothall_kernel::ids::Seq;
use moothall_kernel::time::{Millis, Timestamp};
use tokio::time::Instant;

use crate::brief::read_one;
use crate::crash;
use crate::effects::effects;
use crate::erase;
use crate::hall::{Answer, Bell, HallError, Idempotency};
use crate::inner::Inner;
use crate::live::{Live, Over, RETRY, RETRY_FULL};
use crate::mail::{Reply, Submitted, Wanted};
use crate::once::ANSWERED;
use crate::ports::{AppendError, Catalog, Claim, ClaimChange, Epoch, LogError, StreamBatch};
use crate::sessions;

/// The claims that idempotency keys take.
pub(crate) const IDEM: &str = "idem";
/// How long the log notes who writes a stream.
const EPOCH_TTL: Millis = Millis::from_secs(60);
/// How long a request's key is remembered.
const IDEM_TTL: Millis = Millis::from_secs(24 * 3600);

/// A command to be decided, and who waits for the answer. The engine's own have nobody waiting, and are never lost.
pub(crate) struct Item {
    wanted: Wanted,
    asked: Option<(Option<Idempotency>, Reply)>,
}

/// What was decided about an item; told when it is committed.
type Verdict = Result<Answer, HallError>;

/// A batch that was decided and is not yet appended.
#[derive(Default)]
struct Decided {
    events: Vec<Recorded>,
    charges: Vec<Charge>,
    keys: Vec<ClaimChange>,
    verdicts: Vec<Verdict>,
}

/// Stored answers to the keyed commands of a batch, by claim key.
type Stored = HashMap<String, Claim>;

/// Keys taken by a batch that is being decided: whoever comes second gets the answer of the first.
type Taken = HashMap<String, (String, Answer)>;

impl Item {
    /// A command of the engine itself.
    pub(crate) fn own(command: Command) -> Self {
        Self { wanted: Wanted::Decision(command), asked: None }
    }

    /// A command from outside.
    pub(crate) fn asked(submitted: Submitted) -> Self {
        Self { wanted: submitted.wanted, asked: Some((submitted.idempotency, submitted.reply)) }
    }

    /// Tells whoever waits. Nobody may be waiting any more, and that is fine.
    pub(crate) fn answer(self, verdict: Verdict) {
        if let Some((_, reply)) = self.asked {
            let _ = reply.send(verdict);
        }
    }

    fn key(&self) -> Option<&Idempotency> {
        self.asked.as_ref()?.0.as_ref()
    }

    /// The key under which a command is decided once.
    fn idempotency(&self) -> Option<&Idempotency> {
        match self.wanted {
            Wanted::Decision(_) => self.key(),
            Wanted::Keeping(_) => None,
        }
    }
}

/// The key of the claim that an idempotency key takes.
pub(crate) fn claim_key(idempotency: &Idempotency) -> String {
    format!("{}:{}", idempotency.principal, idempotency.key)
}

impl Live {
    /// Decides and appends everything; the items are one append unless a key turns out to be taken.
    ///
    /// # Errors
    /// [`Over`] when this task may not go on. Every item has been answered by then.
    pub(crate) async fn settle_all(&mut self, items: Vec<Item>) -> Result<(), Over> {
        let mut batches = VecDeque::from([items]);
        while let Some(batch) = batches.pop_front() {
            match self.settle(batch).await {
                Ok(again) => batches.extend(again.into_iter().map(|item| vec![item])),
                Err(over) => {
                    batches.into_iter().flatten().for_each(|item| item.answer(Err(over.0.clone())));
                    return Err(over);
                }
            }
        }
        Ok(())
    }

    /// One batch. Returns the items that have to be decided one at a time.
    async fn settle(&mut self, items: Vec<Item>) -> Result<Vec<Item>, Over> {
        if items.is_empty() {
            return Ok(items);
        }
        let stored = self.stored(&items).await;
        crash::point("keys_looked_up");
        let decided = self.decide(&items, &stored).await;
        match self.append(&decided).await {
            Ok(()) => {
                self.commit(items, decided);
                Ok(Vec::new())
            }
            Err(error) => {
                self.hall.purses.give_back(&decided.charges, self.hall.now());
                self.undo(items, error).await
            }
        }
    }

    /// What is already known about the keys of these items.
    async fn stored(&self, items: &[Item]) -> Result<Stored, HallError> {
        let now = self.hall.now();
        let keys = items.iter().filter_map(Item::idempotency).map(claim_key);
        let lookups = keys.map(|key| async move { self.hall.log.claim(IDEM, &key, now).await });
        let mut stored = Stored::new();
        for found in join_all(lookups).await {
            stored.extend(found?.map(|claim| (claim.key.clone(), claim)));
        }
        Ok(stored)
    }

    async fn decide(&mut self, items: &[Item], stored: &Result<Stored, HallError>) -> Decided {
        let now = self.hall.now();
        let mut decided = Decided::default();
        let mut taken = Taken::new();
        for item in items {
            let command = match (&item.wanted, item.key()) {
                (Wanted::Decision(command), _) => command,
                (Wanted::Keeping(answer), key) => {
                    let claim = key.map(|key| self.claim_of(ANSWERED, key, answer.clone(), now));
                    decided.keys.extend(claim.map(ClaimChange::Take));
                    decided.verdicts.push(Ok(self.nothing_new()));
                    continue;
                }
            };
            let verdict = match item.idempotency() {
                None => self.decide_one(now, command, &mut decided),
                Some(idempotency) => match self.known(idempotency, stored, &taken).await {
                    Some(verdict) => verdict,
                    None => {
                        let verdict = self.decide_one(now, command, &mut decided);
                        if let Ok(answer) = &verdict {
                            decided.keys.push(self.take_key(idempotency, answer, now));
                            taken.insert(claim_key(idempotency), (idempotency.fingerprint.clone(), answer.clone()));
                        }
                        verdict
                    }
                },
            };
            decided.verdicts.push(verdict);
        }
        decided
    }

    /// The answer to a request whose key was used before; nothing when it is new, or when the one before was refused.
    async fn known(&self, idempotency: &Idempotency, stored: &Result<Stored, HallError>, taken: &Taken) -> Option<Verdict> {
        let key = claim_key(idempotency);
        match stored {
            Err(error) => Some(Err(error.clone())),
            Ok(stored) => match stored.get(&key) {
                Some(claim) => Some(replay(&self.hall, claim, idempotency).await),
                None => taken.get(&key).map(|(fingerprint, answer)| again(fingerprint, answer, idempotency)),
            },
        }
    }

    fn decide_one(&mut self, now: Timestamp, command: &Command, decided: &mut Decided) -> Verdict {
        let Decision { events, outcome, charges, unkept } = self.decide_paid(now, command, &decided.events);
        let first = events.first().cloned();
        decided.events.extend(events);
        decided.charges.extend(charges);
        if let Some(unkept) = unkept {
            self.count_unkept(unkept);
        }
        match outcome {
            Ok(()) => Ok(self.answer_with(first)),
            Err(rejection) => Err(HallError::Rejected(Box::new(rejection))),
        }
    }

    /// Decides until the budgets can pay for it: when another conversation has spent the rest in between, the next try knows.
    fn decide_paid(&mut self, now: Timestamp, command: &Command, before: &[Recorded]) -> Decision {
        loop {
            let working = self.working.get_or_insert_with(|| {
                let mut working = self.committed.clone();
                before.iter().for_each(|event| working.apply(event));
                working
            });
            let facts = Facts { unkept: self.unkept.clone(), ..self.hall.facts(working, now) };
            let decision = working.decide(now, command.clone(), &facts);
            if self.hall.purses.charge(&decision.charges, now) {
                return decision;
            }
            self.working = None;
        }
    }

    fn answer_with(&self, event: Option<Recorded>) -> Answer {
        Answer { event, ..self.nothing_new() }
    }

    /// Notes words that nobody keeps, until an event tells of them. What a restart forgets of that is only how many there were.
    fn count_unkept(&mut self, unkept: Unkept) {
        let (count, sum) = self.unkept.entry(unkept.participant).or_default();
        *count += 1;
        *sum += unkept.bytes;
    }

    /// Forgets what an event has told.
    fn told_of_unkept(&mut self, events: &[Recorded]) {
        for recorded in events {
            if let Event::Unkept { participant, until: None, .. } = &recorded.event {
                self.unkept.remove(participant);
            }
        }
    }

    fn nothing_new(&self) -> Answer {
        let head = self.working.as_ref().unwrap_or(&self.committed).head();
        Answer { stream: self.stream.clone(), event: None, head, replayed: false }
    }

    fn take_key(&self, idempotency: &Idempotency, answer: &Answer, now: Timestamp) -> ClaimChange {
        let outcome = answer.event.as_ref().map(|event| event.seq.to_string()).unwrap_or_default();
        ClaimChange::Take(self.claim_of(IDEM, idempotency, outcome, now))
    }

    fn claim_of(&self, namespace: &str, idempotency: &Idempotency, outcome: String, now: Timestamp) -> Claim {
        Claim {
            namespace: namespace.into(),
            key: claim_key(idempotency),
            stream: self.stream.clone(),
            fingerprint: idempotency.fingerprint.clone(),
            outcome,
            expires: Some(now + IDEM_TTL),
        }
    }

    async fn append(&mut self, decided: &Decided) -> Result<(), AppendError> {
        if decided.events.is_empty() && decided.keys.is_empty() {
            return Ok(());
        }
        let epoch = self.epoch().await?;
        let state = self.working.as_ref().unwrap_or(&self.committed);
        let terminal_of = |turn| sessions::target_of(state.participant(&state.turn(turn)?.participant)?);
        let owed = effects(&self.stream, self.committed.bindings(), terminal_of, &decided.events);
        let mut claims = owed.claims;
        claims.extend(decided.keys.iter().cloned());
        let batch = StreamBatch {
            stream: self.stream.clone(),
            epoch,
            expected_head: self.committed.head(),
            events: decided.events.clone(),
            claims,
            deliveries: owed.deliveries,
            charges: decided.charges.clone(),
            catalog: self.catalog(),
        };
        let leaving = self.hall.sessions.before_commit(&self.stream, &self.committed, &decided.events).await;
        leaving.map_err(|error| self.unwritable(&error))?;
        crash::point("before_append");
        crash::before_append(&decided.events);
        let begun = std::time::Instant::now();
        let appended = self.hall.log.append(vec![batch]).await;
        self.hall.meters.appended(decided.events.len(), begun.elapsed(), appended.as_ref().map(drop));
        appended?;
        crash::after_append(&decided.events);
        crash::point("after_append");
        self.hall.sessions.after_commit(&self.stream, &decided.events).await;
        Ok(())
    }

    /// Becomes the stream's writer. Should another have written since the stream was read, the append will find that out.
    async fn epoch(&mut self) -> Result<Epoch, AppendError> {
        if let Some(epoch) = self.epoch {
            return Ok(epoch);
        }
        let acquired = self.hall.log.acquire(&self.stream, &self.hall.owner, EPOCH_TTL).await;
        let epoch = acquired.map_err(|error| self.unwritable(&error))?;
        crash::point("writer_became");
        self.epoch = Some(epoch);
        Ok(epoch)
    }

    fn unwritable(&self, error: &LogError) -> AppendError {
        match error {
            LogError::Full => AppendError::Full,
            LogError::Fatal(reason) => AppendError::Fatal(reason.clone()),
            LogError::NotFound(_) | LogError::Damaged { .. } | LogError::Unreadable(_) | LogError::Failed(_) => {
                tracing::warn!(stream = %self.stream, %error, "cannot be written to");
                AppendError::Overloaded
            }
        }
    }

    fn catalog(&self) -> Catalog {
        Catalog::of(self.working.as_ref().unwrap_or(&self.committed))
    }

    /// The batch is in the log: now the state counts, and everybody may know.
    fn commit(&mut self, items: Vec<Item>, decided: Decided) {
        let Decided { mut events, verdicts, charges, .. } = decided;
        events.iter().for_each(|event| self.committed.apply(event));
        erase::within(&mut events);
        debug_assert!(self.working.as_ref().is_none_or(|working| *working == self.committed), "state is a fold of its events");
        self.told_of_unkept(&events);
        self.tail.push(&events);
        self.hall.meters.committed(&self.stream, &self.committed, &events);
        self.hall.meters.charged(&charges);
        crash::point("before_ack");
        items.into_iter().zip(verdicts).for_each(|(item, verdict)| item.answer(verdict));
        crash::point("after_ack");
        if events.is_empty() {
            return;
        }
        crash::point("before_publish");
        let events = Arc::new(events);
        self.seat.updates.events(&events);
        let _ = self.hall.bells.send(Bell::Head { stream: self.stream.clone(), head: self.committed.head() });
        crash::point("after_publish");
        self.take_note(&events);
    }

    /// The batch is not in the log: forget what was decided, and tell why.
    async fn undo(&mut self, items: Vec<Item>, error: AppendError) -> Result<Vec<Item>, Over> {
        self.working = None;
        match error {
            AppendError::Claimed(_) if items.len() > 1 => return Ok(items),
            AppendError::Claimed(claim) => {
                for item in items {
                    let verdict = self.claimed(&item, &claim).await;
                    item.answer(verdict);
                }
            }
            AppendError::Full => self.put_back(items, &HallError::DiskFull, RETRY_FULL),
            AppendError::Overloaded => self.put_back(items, &HallError::Overloaded, RETRY),
            AppendError::Conflict { .. } => {
                tracing::warn!(stream = %self.stream, %error, "read again");
                self.put_back(items, &HallError::Overloaded, RETRY);
                self.reload().await?;
            }
            AppendError::Fenced { .. } => return Err(give_up(items, HallError::Overloaded)),
            AppendError::Fatal(reason) => {
                self.hall.fail(&reason);
                return Err(give_up(items, HallError::Failed(format!("the log failed: {reason}"))));
            }
        }
        Ok(Vec::new())
    }

    /// Refuses what was asked, and keeps the engine's own commands for another try: an agent's answer must not be lost.
    fn put_back(&mut self, items: Vec<Item>, error: &HallError, pause: Duration) {
        let (asked, own): (Vec<Item>, Vec<Item>) = items.into_iter().partition(|item| item.asked.is_some());
        asked.into_iter().for_each(|item| item.answer(Err(error.clone())));
        if !own.is_empty() {
            self.pending.splice(0..0, own);
            self.retry_at = Some(Instant::now() + pause);
        }
    }

    async fn claimed(&self, item: &Item, claim: &Claim) -> Verdict {
        match item.idempotency() {
            Some(idempotency) if claim.namespace == IDEM && claim.key == claim_key(idempotency) => {
                replay(&self.hall, claim, idempotency).await
            }
            _ => Err(HallError::Rejected(Box::new(taken(claim)))),
        }
    }
}

fn give_up(items: Vec<Item>, error: HallError) -> Over {
    items.into_iter().for_each(|item| item.answer(Err(error.clone())));
    Over(error)
}

fn taken(claim: &Claim) -> Rejection {
    let message = format!("`{}:{}` belongs to conversation {}; unbind it there first.", claim.namespace, claim.key, claim.stream);
    Rejection::new(Refusal::Conflict, "taken", message)
}

/// The answer of a first request, for a second one with the same key.
fn again(fingerprint: &str, answer: &Answer, idempotency: &Idempotency) -> Verdict {
    if fingerprint != idempotency.fingerprint {
        return Err(HallError::KeyReused);
    }
    Ok(Answer { replayed: true, ..answer.clone() })
}

/// The answer that the holder of a claim got, read back from the log.
///
/// # Errors
/// [`HallError::KeyReused`] when it belongs to another request.
pub(crate) async fn replay(hall: &Inner, claim: &Claim, idempotency: &Idempotency) -> Verdict {
    if claim.fingerprint != idempotency.fingerprint {
        return Err(HallError::KeyReused);
    }
    let head = hall.find(&claim.stream).await?.head;
    let event = match claim.outcome.parse() {
        Ok(seq) => Some(read_one(&*hall.log, &claim.stream, Seq(seq)).await?),
        Err(_) => None,
    };
    Ok(Answer { stream: claim.stream.clone(), event, head, replayed: true })
}
