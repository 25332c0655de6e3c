//! Drives the hosts: chooses their inputs and carries out their outputs. A crash can fall between
//! any two steps.

use std::collections::BTreeSet;

use moothall_engine::ParticipantPresence;
use moothall_engine::agent::Probe;
use moothall_engine::hall::{Answer, HallError};
use moothall_engine::ports::{AppendError, LogError, StreamBatch};
use moothall_engine::stream::{Around, EndReason, Input, Lookups, Now, Output, RequestId, Verdict};
use moothall_kernel::command::{ClientCommand, Command};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::Seq;
use moothall_kernel::time::Millis;
use moothall_kernel::view::visible;

use super::check::{Objection, Scene};
use super::consent;
use super::log::{Fault, is_same};
use super::marks;
use super::people;
use super::server::{HostInput, HostWait, Server};
use super::story;
use super::world::{DAWN, World, object};

impl World {
    /// Advances one host, chosen by chance.
    pub(crate) fn advance_somebody(&mut self) -> Result<(), Objection> {
        let room = self.rng.below(self.servers.len() as u64) as usize;
        self.advance(room)
    }

    /// Makes the next step of a host: gives it an input, or carries out one of its outputs.
    pub(crate) fn advance(&mut self, room: usize) -> Result<(), Objection> {
        match self.servers[room].outstanding.take() {
            Some(HostWait::Done(input)) => {
                if self.rng.chance(30) {
                    self.tell_some(room)?;
                }
                self.tell(room, *input)
            }
            Some(HostWait::Wanted(Output::Append { batch })) => {
                let result = self.append(room, *batch)?;
                self.servers[room].outstanding =
                    Some(HostWait::Done(Box::new(Input::Appended(result))));
                Ok(())
            }
            Some(HostWait::Wanted(output)) => match self.do_at_once(room, &output) {
                Some(input) => self.tell(room, input),
                None => Ok(()),
            },
            None if self.servers[room].is_idle(self.now().steady) => Ok(()),
            None => {
                self.tell_some(room)?;
                self.look(room)
            }
        }
    }

    fn tell_some(&mut self, room: usize) -> Result<(), Objection> {
        for _ in 0..self.rng.between(1, 4) {
            let Some(next) = self.servers[room].queue.pop_front() else { break };
            let input = match next {
                HostInput::Asked(request) => self.servers[room].request(request),
                HostInput::Report(job, key, report) => {
                    self.note_reported(room, job, &key, &report);
                    Input::Report { key, report, receipt: None }
                }
                HostInput::Probed(key, probe) => {
                    self.note_probed(&key, &probe);
                    Input::Probed { key, probe }
                }
                HostInput::Consent(answered) => self.note_consent(room, answered),
                HostInput::Refresh => Input::Refresh,
            };
            self.tell(room, input)?;
        }
        Ok(())
    }

    /// Sends `Look` to the host. If the clock was set forward meanwhile, time stood still for its
    /// conversation.
    fn look(&mut self, room: usize) -> Result<(), Objection> {
        let (skew, time, waits) = (self.skew, self.time, self.benches[room].room.waits());
        let server = &mut self.servers[room];
        let gap = Millis(u64::try_from(skew - server.lead).unwrap_or(0));
        server.lead = server.lead.max(skew).max(server.host.committed().last_ts().millis() - time);
        server.is_new = false;
        // A host reports the gap if a clock could change anything, and the rules move deadlines if
        // something waits.
        if gap > moothall_engine::stream::host::GAP && waits && waits_for_time(server) {
            server.owed.push_front(gap);
        }
        self.tell(room, Input::Look)
    }

    /// Returns the moment on both clocks.
    pub(crate) fn now(&self) -> Now {
        Now { wall: self.clock(), steady: Millis((self.time - DAWN) as u64) }
    }

    /// Gives the host an input and carries out its outputs, except those that the host waits for.
    fn tell(&mut self, room: usize, input: Input) -> Result<(), Objection> {
        let now = self.now();
        let server = &mut self.servers[room];
        let around = Around { now, draining: false, agents: &server.roster };
        let twin = self.rng.chance(5).then(|| (server.host.clone(), input.clone()));
        let outputs = server.host.handle(&around, input);
        if let Some((mut twin, input)) = twin
            && (twin.handle(&around, input.clone()) != outputs
                || twin.working() != server.host.working())
        {
            return Err(Objection {
                checker: "determinism",
                message: format!("{input:?} led to two things"),
            });
        }
        for output in outputs {
            self.carry_out(room, output)?;
        }
        let committed = self.servers[room].host.committed();
        if self.shutter.chance(3) && committed.head() > Seq(0) {
            object(
                "snapshots",
                self.disk.keep(room, committed).and_then(|()| self.disk.check_snapshot(room)),
            )?;
        }
        self.benches[room].step(self.servers[room].room())
    }

    fn carry_out(&mut self, room: usize, output: Output) -> Result<(), Objection> {
        match output {
            Output::Lookup { .. }
            | Output::Charge { .. }
            | Output::Acquire
            | Output::Append { .. }
            | Output::Reload
            | Output::Read { .. }
            | Output::ReadMessages { .. } => {
                self.servers[room].outstanding = Some(HostWait::Wanted(output))
            }
            Output::Ask { id, until, .. } => self.asked(room, id, until)?,
            Output::Broken(broken) => {
                return Err(Objection { checker: "invariants", message: broken.to_string() });
            }
            Output::GiveBack { charges } => {
                self.budgets_shared.give_back(&charges, self.clock());
                self.paid -= charges.iter().map(|charge| charge.turns as i64).sum::<i64>();
            }
            Output::Answer { answers } => {
                for (id, verdict) in answers {
                    self.answered(room, id, verdict)?;
                }
            }
            Output::Publish { events } => self.published(room, &events)?,
            Output::Start { job } => self.hire(room, *job)?,
            Output::Probe { key, .. } => {
                let runs =
                    self.jobs.iter().any(|job| job.key() == key && !job.orphan && !job.reported);
                let probe = if runs { Probe::Running } else { Probe::Unknown };
                self.servers[room].queue.push_back(HostInput::Probed(key, probe));
            }
            Output::Cancel { key } | Output::Lapse { key } => self.cancel(&key),
            Output::Wake { at } => {
                self.servers[room].wake = at;
                self.look_after_remotes(room);
            }
            Output::CarryOut { request } => self.begin_request(room, &request)?,
            Output::Close { why } => self.closed(room, &why)?,
            Output::Count { events, .. } => {
                let state = self.servers[room].host.conversation();
                state.into_iter().for_each(|state| self.voices.note(state, &events));
            }
            Output::Signal(_)
            | Output::Presence { .. }
            | Output::Show { .. }
            | Output::Begun { .. }
            | Output::Permit { .. } => {}
        }
        Ok(())
    }

    /// Carries out an output that takes no time.
    fn do_at_once(&mut self, room: usize, output: &Output) -> Option<Input> {
        let now = self.clock();
        match output {
            Output::Lookup { keys } => {
                let earlier = self.disk.look_up(keys, now);
                let everybody = people::everybody();
                let reachable: BTreeSet<_> =
                    everybody.into_iter().filter(|id| !self.offline[room].contains(id)).collect();
                let takers =
                    reachable.iter().filter(|id| id.as_str() != people::READER).cloned().collect();
                let here =
                    ParticipantPresence { takers, reachable, ..ParticipantPresence::default() };
                self.servers[room].offline = self.offline[room].clone();
                Some(Input::Found(Lookups {
                    earlier,
                    here,
                    budgets: self.budgets_shared.facts(),
                    voices: self.voices.facts(),
                }))
            }
            Output::Charge { charges } => {
                let paid = self.budgets_shared.charge(charges, now);
                if paid {
                    self.paid += charges.iter().map(|charge| charge.turns as i64).sum::<i64>();
                }
                Some(Input::Charged { paid, budgets: self.budgets_shared.facts() })
            }
            Output::Acquire if !self.calm && self.rng.chance(2) => {
                Some(Input::Acquired(Err(LogError::Failed("it could not be noted".into()))))
            }
            Output::Acquire => Some(Input::Acquired(self.disk.acquire(room))),
            Output::Reload => Some(Input::Loaded(self.disk.load(room).map(Box::new))),
            Output::Read { after, count } => {
                Some(Input::Read(self.disk.span(room, *after, *count)))
            }
            Output::ReadMessages { before, limit } => {
                Some(Input::Read(self.disk.messages(room, *before, *limit)))
            }
            Output::Append { .. }
            | Output::Ask { .. }
            | Output::GiveBack { .. }
            | Output::Broken(_)
            | Output::Count { .. }
            | Output::Answer { .. }
            | Output::Publish { .. }
            | Output::Signal(_)
            | Output::Presence { .. }
            | Output::Show { .. }
            | Output::Start { .. }
            | Output::Probe { .. }
            | Output::Cancel { .. }
            | Output::Lapse { .. }
            | Output::Begun { .. }
            | Output::Permit { .. }
            | Output::CarryOut { .. }
            | Output::Wake { .. }
            | Output::Close { .. } => None,
        }
    }

    /// Appends to the log, or injects a fault.
    fn append(
        &mut self,
        room: usize,
        batch: StreamBatch,
    ) -> Result<Result<Vec<u64>, AppendError>, Objection> {
        let fault = match self.rng.below(100) {
            _ if self.calm => None,
            0 => Some(Fault::Conflict),
            1 | 2 => Some(Fault::Overloaded),
            _ => None,
        };
        let inserted = batch.deliveries.clone();
        let charged: u64 = batch.charges.iter().map(|charge| charge.turns).sum();
        let result = self.disk.append(batch, fault);
        match &result {
            Ok(ids) => {
                self.commands.note(&inserted, ids);
                self.spent += charged as i64;
                let decisions = self.servers[room].host.appending();
                self.examine(room, &decisions)?;
                self.check_claims()?;
            }
            Err(error) => self.story.tell(|| format!("  room {room} could not append: {error}")),
        }
        Ok(result)
    }

    /// Shows every event that reached the disk to all checkers.
    pub(crate) fn examine(
        &mut self,
        room: usize,
        decisions: &[Vec<RecordedEvent>],
    ) -> Result<(), Objection> {
        for decision in decisions {
            let downtime = self.servers[room].owed.pop_front();
            let bench = &self.benches[room];
            let offline = bench.room.offline_among(&self.servers[room].offline);
            for (place, recorded) in decision.iter().enumerate() {
                self.story.tell(|| story::line(room, recorded));
                let scene =
                    Scene { offline: &offline, decision, place, downtime, marks: &self.marks };
                object("consent", self.consents.check(self.servers[room].number, recorded))?;
                object("errands", self.commands.check(room, recorded))?;
                self.benches[room].event(&scene, recorded)?;
                self.stats.events += 1;
                self.stats.turns += u64::from(matches!(recorded.event, Event::TurnGranted { .. }));
                self.filed
                    .extend(recorded.event.body().and_then(marks::first).map(|mark| (room, mark)));
            }
            let waits = self.benches[room].room.waits();
            if decision.is_empty() && downtime.is_some() && waits {
                return Err(Objection {
                    checker: "deadlines",
                    message: "time stood still, and no deadline moved".into(),
                });
            }
        }
        Ok(())
    }

    fn check_claims(&self) -> Result<(), Objection> {
        let mut bound = BTreeSet::new();
        // An archived conversation has released its keys, and takes them again when it is reopened.
        let open = self.benches.iter().filter(|bench| !bench.room.archived);
        let twice = open.flat_map(|bench| &bench.room.bound).find(|target| !bound.insert(*target));
        object(
            "claims",
            twice.map_or(Ok(()), |target| Err(format!("two conversations hold {target}"))),
        )
    }

    /// Takes the answer to a client's request. An event acknowledged as done has to be on the disk.
    pub(crate) fn answered(
        &mut self,
        room: usize,
        id: RequestId,
        verdict: Verdict,
    ) -> Result<(), Objection> {
        let Some(request) = self.servers[room].waiting.remove(&id) else { return Ok(()) };
        self.forget_consent(room, &request);
        if let Some(delivery) = request.delivery {
            self.note_carried(room, delivery, &verdict);
        }
        match verdict {
            Ok(Answer { event: Some(event), .. }) => {
                let kept = self.disk.at(room, event.seq);
                if !kept.is_some_and(|kept| is_same(&event, &kept)) {
                    let message = format!(
                        "{} was acknowledged in room {room} and is not on the disk: {event:?}",
                        event.seq
                    );
                    return Err(Objection { checker: "acknowledged", message });
                }
                object("answers", fits(&request.command, &event))?;
                self.acknowledged.push((room, event));
            }
            Err(HallError::Rejected(rejection)) if consent::may_ask_again(&rejection, &request) => {
                self.unanswered.push((room, request))
            }
            Ok(_) | Err(HallError::Rejected(_)) => {}
            Err(_) if request.key.is_some() => self.unanswered.push((room, request)),
            Err(_) => {}
        }
        Ok(())
    }

    /// Shows committed events to the readers.
    fn published(&mut self, room: usize, events: &[RecordedEvent]) -> Result<(), Objection> {
        for recorded in events {
            if !self.disk.at(room, recorded.seq).is_some_and(|kept| is_same(recorded, &kept)) {
                return Err(Objection {
                    checker: "audience",
                    message: format!("{} was told and is not on the disk", recorded.seq),
                });
            }
        }
        if let Some(first) = events.first() {
            self.catch_up(room, Seq(first.seq.0 - 1))?;
        }
        self.show(room, events)
    }

    /// Lets the readers read unpublished events from the log, up to a position.
    pub(crate) fn catch_up(&mut self, room: usize, through: Seq) -> Result<(), Objection> {
        let after =
            self.readers[room].iter().map(|reader| reader.through).min().unwrap_or_default();
        if after >= through {
            return Ok(());
        }
        let missed: Vec<_> = self
            .disk
            .read(room, after)
            .into_iter()
            .take_while(|recorded| recorded.seq <= through)
            .collect();
        self.show(room, &missed)
    }

    fn show(&mut self, room: usize, events: &[RecordedEvent]) -> Result<(), Objection> {
        let Some(last) = events.last() else { return Ok(()) };
        for reader in &mut self.readers[room] {
            let through = reader.through;
            for recorded in events.iter().filter(|recorded| recorded.seq > through) {
                if visible(&recorded.event, &reader.viewer) {
                    object("audience", reader.see(recorded))?;
                }
            }
            reader.through = through.max(last.seq);
        }
        Ok(())
    }

    /// Reopens a conversation whose host closed. Its runtimes continue their work.
    fn closed(&mut self, room: usize, why: &EndReason) -> Result<(), Objection> {
        self.story.tell(|| format!("  room {room} is closed: {why:?}"));
        self.reopen(room)
    }
}

/// True if a conversation has anything that a clock could change.
pub(crate) fn waits_for_time(server: &Server) -> bool {
    let duties = server.host.committed().duties();
    !duties.run.is_empty() || !duties.requests.is_empty() || duties.wake_at.is_some()
}

/// Checks that the event that answers a request is about the request.
fn fits(command: &Command, event: &RecordedEvent) -> Result<(), String> {
    let Command::Client(ClientCommand::Post(post)) = command else { return Ok(()) };
    // A remote client's post may start and end its turn before its words. Words that are not for
    // all participants are kept in the trace.
    let said = event.event.body().filter(|body| !body.is_empty()).and_then(marks::first);
    let same = said.is_none() || said == marks::first(&post.body);
    if same { Ok(()) } else { Err(format!("{command:?} was answered with {event:?}")) }
}
