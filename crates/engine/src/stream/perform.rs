//! Performs the outputs of a stream's host: on the log, the budgets, the agents, the waiting
//! callers and the listeners.

use std::sync::{Arc, PoisonError};

use moothall_kernel::Conversation;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::occupation::{ToolUse, TurnProgress};
use moothall_kernel::participant::Address;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Millis;
use tokio::time::Instant;

use super::batch::unwritable;
use super::brief::{read_messages, read_span};
use super::effects::memberships_in;
use super::elsewhere::AgentElsewhere;
use super::idempotency::look_up;
use super::io::{EndReason, Input, Lookups, Output, RequestId, Verdict};
use super::load::load;
use super::mail::Waiter;
use super::reporter::{self, TurnReporter};
use super::shell::Shell;
use crate::answers::{HallChange, Signal};
use crate::crash;
use crate::hall::reservations::TurnPayer;
use crate::ports::{
    Acquisition, AppendError, AppendResult, EventLog, LogError, StreamBatch, Target,
};
use crate::runtime::agent::{Agent, Job, TurnKey};
use crate::stream::updates::Subscription;

impl Shell {
    /// Performs one output. Returns the input that it requests, if it requests one.
    pub(super) async fn perform(&mut self, output: Output) -> Result<Option<Input>, EndReason> {
        match output {
            Output::Lookup { keys } => return Ok(Some(Input::Found(self.look_up(keys).await))),
            Output::Ask { id, principal, request, until } => {
                self.asking.ask(id, principal, request, self.at(until))
            }
            Output::Charge { charges } => {
                let paid = self.hall.budgets.charge(&charges, self.hall.now());
                return Ok(Some(Input::Charged { paid, budgets: self.hall.budgets.facts() }));
            }
            Output::GiveBack { charges } => self.hall.budgets.give_back(&charges, self.hall.now()),
            Output::Acquire => {
                let acquired = self.hall.store.log.acquire(&self.stream, &self.hall.owner).await;
                match &acquired {
                    Ok(Acquisition::Epoch(_)) => crash::point("writer_became"),
                    Ok(Acquisition::Held(lease)) if self.may_warn() => {
                        tracing::warn!(stream = %self.stream, owner = %lease.owner, until = lease.until.millis(), "another process holds the lease of the stream");
                    }
                    Ok(Acquisition::Held(_)) => {}
                    Err(error) => self.warn(error),
                }
                return Ok(Some(Input::Acquired(acquired)));
            }
            Output::Append { batch } => {
                return Ok(Some(Input::Appended(self.append(*batch).await)));
            }
            Output::Reload => {
                tracing::warn!(stream = %self.stream, "the stream is not at the position that its \
                                                       writer expected; reading it again");
                // Boxed, because it is rare: without the box the future of every output would be as
                // large.
                let loaded = Box::pin(load(&*self.hall.store.log, &self.stream)).await;
                return Ok(Some(Input::Loaded(loaded.map(|(loaded, _)| Box::new(loaded)))));
            }
            Output::Read { after, count } => {
                return Ok(Some(Input::Read(
                    read_span(&*self.hall.store.log, &self.stream, after, count).await,
                )));
            }
            Output::ReadMessages { before, limit } => {
                return Ok(Some(Input::Read(
                    read_messages(&*self.hall.store.log, &self.stream, before, limit).await,
                )));
            }
            Output::Count { events, charges } => {
                if let Some(state) = self.host.conversation() {
                    self.hall.meters.committed(&self.stream, state, &events);
                    self.hall.voices.note(state, &events);
                    // The standing is noted before `settle`, because the budget must have the cost
                    // when its reservation ends.
                    self.note_standing(state);
                }
                self.hall.reservations.settle(&self.stream, &events);
                self.hall.meters.charged(&charges);
            }
            Output::Broken(broken) => {
                tracing::error!(stream = %self.stream, %broken, "a bug in Moothall: a decision \
                                                                 broke a rule and was discarded");
                self.hall.meters.broken(broken.rule);
            }
            Output::Answer { answers } => self.answer(answers),
            Output::Publish { events } => {
                crash::point("before_publish");
                self.handle.updates.events(&events);
                self.hall.occupations.note_change(&self.stream);
                if let Some(state) = self.host.conversation() {
                    let (head, waits_for_people) = (state.head(), state.waits_for_people());
                    // The end of a turn withdraws its questions without an event of their own.
                    let changed = std::mem::replace(&mut self.waits, waits_for_people);
                    let concerns_people = changed != waits_for_people
                        || events.iter().any(|one| one.event.concerns_people());
                    let _ = self.hall.changes.send(HallChange::Head {
                        stream: self.stream.clone(),
                        head,
                        waits_for_people,
                        concerns_people,
                    });
                }
                crash::point("after_publish");
            }
            Output::Signal(signal) => {
                self.note_progress(&signal);
                self.handle.updates.signal(|| signal);
            }
            Output::Presence { participant, state, details } => {
                self.hall.note_presence(&self.stream, participant, state.to_owned(), details);
            }
            Output::Show { ids } => ids.into_iter().for_each(|id| self.show(id)),
            Output::Start { job } => self.start(*job),
            Output::Probe { key, participant } => {
                crash::point("turn_granted");
                if let Some(agent) = self.agent_of(&key, &participant) {
                    reporter::probe(self.streams.clone(), key, agent);
                }
            }
            Output::Cancel { key } => self.with_agent(&key, |agent| agent.cancel(&key)),
            Output::Lapse { key } => self.with_agent(&key, |agent| agent.lapsed(&key)),
            Output::Begun { key, delivery } => {
                self.with_agent(&key, |agent| agent.confirm_start(&key, delivery))
            }
            Output::Permit { key, permission, given } => {
                self.with_agent(&key, |agent| agent.permit(&key, &permission, given.as_ref()));
            }
            Output::CarryOut { request } => self.hall.residents.carry_out(&self.stream, &request),
            Output::Wake { at } => {
                self.wake = at.map(|at| self.at(at));
                // Every completed look ends with a `Wake`, so the agents of ended turns are dropped
                // here.
                self.agents_of_turns.retain(|key, _| self.host.runs(key));
            }
            Output::Close { why } => return Err(why),
        }
        Ok(None)
    }

    /// Notes a sign of work on a turn, from which the states of participants are made.
    fn note_progress(&self, signal: &Signal) {
        let (turn, progress) = match signal {
            Signal::Delta { turn, .. } => (turn, TurnProgress::Writing),
            Signal::Progress { turn, text, .. } => {
                let tool = ToolUse { tool: None, line: Some(text.clone()) };
                (turn, TurnProgress::Working(tool))
            }
            Signal::Presence(_) => return,
        };
        self.hall.occupations.note_progress(&self.stream, *turn, progress);
    }

    /// Converts a time of the steady clock.
    fn at(&self, time: Millis) -> Instant {
        self.steady.instant_of(time)
    }

    /// Looks up claims by key, and the other facts that decisions need.
    async fn look_up(&mut self, keys: Vec<String>) -> Lookups {
        let now = self.hall.now();
        let earlier = look_up(&*self.hall.store.log, &keys, now).await;
        crash::point("keys_looked_up");
        let here = self.hall.attendees(&self.stream, self.host.conversation(), now);
        Lookups {
            earlier,
            here,
            budgets: self.hall.budgets.facts(),
            voices: self.hall.voices.facts(),
        }
    }

    /// Appends a batch. Before it, the sessions learn of the coming events, and an error of theirs
    /// prevents the append. After it, carries out the consequences outside the host: metrics,
    /// erasures, deliveries, news of memberships, and the steps of the sessions. Returns the ids of
    /// the deliveries.
    async fn append(&mut self, batch: StreamBatch) -> Result<Vec<u64>, AppendError> {
        let events = batch.events.clone();
        if let Some(state) = self.host.conversation() {
            let leaving = self.hall.residents.before_commit(&self.stream, state, &events).await;
            leaving.map_err(|error| {
                self.warn(&error);
                unwritable(&error)
            })?;
        }
        crash::point("before_append");
        crash::before_append(&events);
        let memberships = memberships_in(&batch.claims);
        let owed: Vec<Target> =
            batch.deliveries.iter().map(|delivery| delivery.target.clone()).collect();
        let begun = std::time::Instant::now();
        let appended = match planted::has(Bug::MarkApart) {
            true => append_apart(&*self.hall.store.log, batch).await,
            false => self.hall.store.log.append(vec![batch]).await,
        };
        self.hall.meters.appended(events.len(), begun.elapsed(), appended.as_ref().map(drop));
        let appended = appended?;
        self.has_warned = false;
        self.hall.copiers.hear(&events);
        self.snapshots.hear(&events);
        owed.iter().for_each(|target| self.hall.outbox.serve(target));
        self.hall.tell_of_memberships(&self.stream, &memberships, &events);
        crash::after_append(&events);
        crash::point("after_append");
        if let Some(state) = self.host.conversation() {
            self.hall.residents.after_commit(&self.stream, state, &events).await;
        }
        Ok(appended.into_iter().flat_map(|appended| appended.deliveries).collect())
    }

    /// True for the first failure since the last append, because the retries fail in the same way.
    fn may_warn(&mut self) -> bool {
        !std::mem::replace(&mut self.has_warned, true)
    }

    fn warn(&mut self, error: &LogError) {
        if self.may_warn() {
            tracing::warn!(stream = %self.stream, %error, "the stream cannot be written to");
        }
    }

    /// Answers waiting requests with their verdicts. Skips a caller that does not wait any more.
    fn answer(&mut self, answers: Vec<(RequestId, Verdict)>) {
        crash::point("before_ack");
        for (id, verdict) in answers {
            self.asking.forget(id);
            if let Some(Waiter::Answer(reply)) = self.waiting.remove(&id) {
                let _ = reply.send(verdict);
            }
        }
        crash::point("after_ack");
    }

    /// Shows the committed state to a request: answers a question, begins a subscription, or notes
    /// a drain.
    fn show(&mut self, id: RequestId) {
        match self.waiting.remove(&id) {
            Some(Waiter::Question(question)) => {
                question(Ok(self.host.committed()));
            }
            Some(Waiter::Subscriber(subscriber)) => {
                let (head, partials) = (self.host.committed().head(), self.host.partials());
                let _ = subscriber.send(Ok(Subscription {
                    head,
                    partials,
                    updates: self.handle.updates.subscribe(),
                }));
            }
            Some(Waiter::Drained(done)) => self.leaving.push(done),
            Some(Waiter::Answer(_)) | None => {}
        }
    }

    /// Returns the value that reserves money for a turn; `None` if the turn does not exist. Notes
    /// the conversation's own spending before, because the turn reserves money of that budget too.
    fn payer(&self, key: &TurnKey) -> Option<TurnPayer> {
        let state = self.host.conversation()?;
        let account = state.turn(key.turn)?.account().clone();
        self.note_standing(state);
        Some(TurnPayer {
            reservations: self.hall.reservations.clone(),
            budgets: self.hall.budgets.clone(),
            clock: self.hall.clock.clone(),
            account,
            own: self.own.clone(),
        })
    }

    /// Notes what was spent of the conversation's own budget, for turns that reserve money.
    fn note_standing(&self, state: &Conversation) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = state.standing();
    }

    /// Starts a turn with its agent, or passes a newer job to an agent that has the turn waiting.
    /// Does nothing if the agent cannot be found.
    fn start(&mut self, job: Job) {
        crash::point("turn_granted");
        crash::point("prompt_built");
        let Some(agent) = self.agent_of(&job.key, &job.participant) else { return };
        let payer = self.payer(&job.key);
        let reporter = TurnReporter::new(self.streams.clone(), job.key.clone(), payer);
        agent.ensure(job, Arc::new(reporter));
        crash::point("agent_started");
    }

    /// Returns the agent of a turn. If this process has started or probed the turn before, it is
    /// the same agent; otherwise it is looked up in the registry that the host has seen.
    fn agent_of(&mut self, key: &TurnKey, participant: &ParticipantId) -> Option<Arc<dyn Agent>> {
        if let Some(agent) = self.agents_of_turns.get(key) {
            return Some(agent.clone());
        }
        let participant = self.host.conversation()?.participant(participant)?;
        let address = participant.address.as_ref();
        let agent = match participant.facts.abilities.lives_in_session {
            true if address.is_some_and(Address::is_elsewhere) => {
                Arc::new(AgentElsewhere::new(self.hall.offers.clone(), self.streams.clone()))
            }
            true => self.hall.residents.agent(address),
            false => {
                self.agents.registry.get(participant.profile.client.as_deref()?)?.agent.clone()
            }
        };
        self.agents_of_turns.insert(key.clone(), agent.clone());
        Some(agent)
    }

    /// Calls the agent of a turn, if this process has started or probed the turn.
    fn with_agent(&self, key: &TurnKey, tell: impl FnOnce(&dyn Agent)) {
        if let Some(agent) = self.agents_of_turns.get(key) {
            tell(&**agent);
        }
    }
}

/// Appends a batch without its marks, and then the marks in a second append. This is a planted bug.
async fn append_apart(
    log: &dyn EventLog,
    mut batch: StreamBatch,
) -> Result<Vec<AppendResult>, AppendError> {
    let later = StreamBatch {
        expected_head: batch.events.last().map_or(batch.expected_head, |last| last.seq),
        marks: std::mem::take(&mut batch.marks),
        events: Vec::new(),
        claims: Vec::new(),
        deliveries: Vec::new(),
        charges: Vec::new(),
        ..batch.clone()
    };
    let appended = log.append(vec![batch]).await?;
    if !later.marks.is_empty() {
        log.append(vec![later]).await?;
    }
    Ok(appended)
}
