//! How a request becomes durable: decide, append, acknowledge, publish. A crash can fall before each.

use std::collections::BTreeSet;

use moothall_kernel::command::{Command, Facts};
use moothall_kernel::event::{Change, Event, Recorded};
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::pass::is_pass;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::view::{Viewer, visible};

use super::bug::Bug;
use super::check::{Objection, Scene};
use super::host::{Decision, Origin, Pending, Request};
use super::log::{Batch, Refused, Take};
use super::marks;
use super::story;
use super::world::{World, object};

/// So many turns after its end, a result is remembered to be somebody's.
const REMEMBERED: u64 = 60;

impl World {
    /// One host, chosen by chance, takes its next stage.
    pub(crate) fn advance_somebody(&mut self) -> Result<(), Objection> {
        let room = self.rng.below(self.hosts.len() as u64) as usize;
        self.advance(room)
    }

    /// The next stage of a host.
    pub(crate) fn advance(&mut self, room: usize) -> Result<(), Objection> {
        match &self.hosts[room].pending {
            Some(pending) if pending.appended => self.acknowledge(room),
            Some(_) => self.append(room),
            None => self.decide(room),
        }
    }

    fn decide(&mut self, room: usize) -> Result<(), Objection> {
        if self.hosts[room].queue.is_empty() {
            return Ok(());
        }
        let expected_head = self.hosts[room].committed.head();
        let epoch = self.hosts[room].epoch;
        let mut batch = Batch { room, epoch, expected_head, events: Vec::new(), takes: Vec::new(), releases: Vec::new() };
        let mut decisions = Vec::new();
        for _ in 0..self.rng.between(1, 4) {
            let Some(request) = self.hosts[room].queue.pop_front() else { break };
            if let Some(key) = request.key.as_ref().filter(|_| self.bug != Some(Bug::RetryRunsTwice)) {
                if batch.takes.iter().any(|take| take.key == *key) {
                    self.hosts[room].queue.push_front(request);
                    break;
                }
                if let Some((_, answer)) = self.log.holder(key) {
                    self.replay(room, answer);
                    continue;
                }
            }
            decisions.push(self.decide_one(room, request, &mut batch)?);
        }
        self.hosts[room].pending = Some(Pending { batch, decisions, appended: false });
        self.cut_corners(room)
    }

    /// A request that took effect already gets the answer of that time.
    fn replay(&mut self, room: usize, answer: Option<Seq>) {
        let event = answer.and_then(|seq| self.log.read(room, Seq(seq.0 - 1)).into_iter().next());
        self.acknowledged.extend(event.map(|event| (room, event)));
        self.story.tell(|| format!("  room {room}: a repeated request is answered with {answer:?}"));
    }

    fn decide_one(&mut self, room: usize, mut request: Request, batch: &mut Batch) -> Result<Decision, Objection> {
        self.confuse_attempts(room, &mut request);
        let now = self.clock();
        let facts = Facts { offline: self.offline[room].clone(), budgets: self.budgets.clone(), ..Facts::default() };
        let host = &mut self.hosts[room];
        let twin = self.rng.chance(5).then(|| host.working.clone());
        let before: BTreeSet<String> = host.working.bindings().map(str::to_owned).collect();
        let last_ts = host.working.last_ts();
        let decision = host.working.decide(now, request.command.clone(), &facts);
        if let Some(mut twin) = twin
            && (twin.decide(now, request.command.clone(), &facts) != decision || twin != host.working)
        {
            return Err(Objection { checker: "determinism", message: format!("{:?} was decided in two ways", request.command) });
        }
        let downtime = host.downtime.take();
        let (mut events, refused) = (decision.events, decision.outcome.err().map(|rejection| rejection.code));
        if self.distort(&mut events, now, last_ts) {
            let host = &mut self.hosts[room];
            host.working = host.committed.clone();
            batch.events.iter().chain(&events).for_each(|recorded| host.working.apply(recorded));
        }
        claim(&before, &events, &request, refused.is_none() && self.bug != Some(Bug::RetryRunsTwice), batch);
        self.story.tell(|| {
            let refused = refused.map_or(String::new(), |code| format!(" → refused: {code}"));
            format!("  room {room} decides {}{refused}", brief(&request.command))
        });
        for recorded in &events {
            self.story.tell(|| story::line(room, recorded));
        }
        batch.events.extend(events.iter().cloned());
        Ok(Decision { request, events, refused, offline: facts.offline, downtime })
    }

    fn append(&mut self, room: usize) -> Result<(), Objection> {
        let Some(mut pending) = self.hosts[room].pending.take() else { return Ok(()) };
        let outcome = if pending.batch.events.is_empty() { Ok(()) } else { self.log.append(&pending.batch) };
        match outcome {
            Ok(()) => {
                self.story.tell(|| format!("  room {room} appended up to {}", self.log.head(room)));
                self.examine(room, &pending)?;
                pending.appended = true;
                self.hosts[room].pending = Some(pending);
                self.check_claims()
            }
            Err(refused) => {
                self.story.tell(|| format!("  room {room} could not append: {refused:?}"));
                self.withdraw(room, pending, &refused);
                Ok(())
            }
        }
    }

    /// The working state is dropped; what the engine owes is decided anew, what a client asked is refused.
    fn withdraw(&mut self, room: usize, pending: Pending, refused: &Refused) {
        let host = &mut self.hosts[room];
        host.working = host.committed.clone();
        for decision in pending.decisions.into_iter().rev() {
            host.downtime = host.downtime.or(decision.downtime);
            let innocent = matches!(refused, Refused::Claimed(key) if !wants(&decision, key));
            if decision.request.origin != Origin::Client || innocent {
                host.queue.push_front(decision.request);
            }
        }
    }

    /// Every checker looks at every event that reached the disk.
    fn examine(&mut self, room: usize, pending: &Pending) -> Result<(), Objection> {
        for decision in &pending.decisions {
            for (place, recorded) in decision.events.iter().enumerate() {
                let scene = Scene {
                    offline: &decision.offline,
                    decision: &decision.events,
                    place,
                    downtime: decision.downtime,
                    marks: &self.marks,
                };
                self.benches[room].event(&scene, recorded)?;
                self.stats.events += 1;
                self.stats.turns += u64::from(matches!(recorded.event, Event::TurnGranted { .. }));
                self.filed.extend(recorded.event.body().and_then(marks::first).map(|mark| (room, mark)));
            }
            let unmoved = decision.events.is_empty() && decision.downtime.is_some_and(|downtime| downtime > Millis(0));
            let waits = !self.benches[room].room.turns.is_empty() || self.benches[room].room.gathering;
            if unmoved && waits {
                return Err(Objection { checker: "deadlines", message: "the server was down, and no deadline moved".into() });
            }
        }
        Ok(())
    }

    fn check_claims(&self) -> Result<(), Objection> {
        let mut bound = BTreeSet::new();
        let twice = self.benches.iter().flat_map(|bench| &bench.room.bound).find(|target| !bound.insert(*target));
        object("claims", twice.map_or(Ok(()), |target| Err(format!("two conversations hold {target}"))))
    }

    fn acknowledge(&mut self, room: usize) -> Result<(), Objection> {
        let Some(pending) = self.hosts[room].pending.take() else { return Ok(()) };
        let host = &mut self.hosts[room];
        host.committed = host.working.clone();
        for decision in &pending.decisions {
            if decision.request.origin == Origin::Client && decision.refused.is_none() {
                self.acknowledged.extend(decision.events.iter().map(|recorded| (room, recorded.clone())));
            }
            self.runtime_was_heard(room, decision)?;
        }
        self.benches[room].step(&self.hosts[room].committed)?;
        self.publish(room)?;
        self.reconcile(room)
    }

    /// A runtime that was acknowledged forgets its words, so they must be on disk.
    fn runtime_was_heard(&mut self, room: usize, decision: &Decision) -> Result<(), Objection> {
        let Origin::Runtime(id) = decision.request.origin else { return Ok(()) };
        if let Some(job) = self.jobs.iter_mut().find(|job| job.id == id) {
            job.unsure.clear();
        }
        let Command::Finished { turn, result: Ok(text), .. } = &decision.request.command else { return Ok(()) };
        let Some(mark) = marks::first(text).filter(|_| !is_pass(text)) else { return Ok(()) };
        let ended = &self.benches[room].room.turns_ended;
        let forgotten = ended.get(turn).is_some_and(|place| ended.len() as u64 - place > REMEMBERED);
        if forgotten || self.filed.contains(&(room, mark)) {
            return Ok(());
        }
        Err(Objection { checker: "words", message: format!("the words with mark {mark}, for turn {turn}, were thrown away") })
    }

    /// Tells the readers what is committed.
    pub(crate) fn publish(&mut self, room: usize) -> Result<(), Objection> {
        let head = self.hosts[room].committed.head();
        let after = self.readers[room].iter().map(|reader| reader.through).min().unwrap_or_default();
        let events = self.log.read(room, after);
        self.tell_readers(room, &events, head)
    }

    fn tell_readers(&mut self, room: usize, events: &[Recorded], through: Seq) -> Result<(), Objection> {
        let leak = self.bug == Some(Bug::AudienceLeak);
        for reader in &mut self.readers[room] {
            let told = reader.through;
            for recorded in events.iter().filter(|recorded| recorded.seq > told && recorded.seq <= through) {
                let leaks = leak && recorded.event.kind() == "kept" && matches!(reader.viewer, Viewer::Participant(_));
                if visible(&recorded.event, &reader.viewer) || leaks {
                    object("audience", reader.see(recorded))?;
                }
            }
            reader.through = reader.through.max(through);
        }
        Ok(())
    }

    /// Planted: answers, or tells readers, before the append.
    fn cut_corners(&mut self, room: usize) -> Result<(), Objection> {
        let Some(pending) = self.hosts[room].pending.clone() else { return Ok(()) };
        if self.bug == Some(Bug::AcknowledgeBeforeCommit) {
            let asked = pending.decisions.iter().filter(|decision| decision.request.origin == Origin::Client);
            self.acknowledged.extend(asked.flat_map(|decision| &decision.events).map(|recorded| (room, recorded.clone())));
        }
        if self.bug == Some(Bug::PublishBeforeCommit) {
            self.tell_readers(room, &pending.batch.events, self.hosts[room].working.head())?;
        }
        Ok(())
    }

    /// Planted: any result counts for the attempt that runs.
    fn confuse_attempts(&self, room: usize, request: &mut Request) {
        if self.bug != Some(Bug::NoAttemptFencing) {
            return;
        }
        if let Command::Finished { turn, attempt, .. } = &mut request.command
            && let Some(open) = self.hosts[room].working.turn(*turn)
        {
            *attempt = open.attempt;
        }
    }

    /// Planted: changes what the kernel decided on its way to the log.
    fn distort(&self, events: &mut [Recorded], now: Timestamp, last_ts: Timestamp) -> bool {
        let mut distorted = false;
        for recorded in events {
            if self.bug == Some(Bug::TimeGoesBackwards) && now < last_ts {
                recorded.ts = recorded.ts - last_ts.since(now);
                distorted = true;
            }
            if let Event::TurnStarted { from_seq, .. } = &mut recorded.event
                && self.bug == Some(Bug::CauseCoveredTwice)
                && *from_seq > Seq(0)
            {
                *from_seq = Seq(0);
                distorted = true;
            }
        }
        distorted
    }
}

/// Keys that these events take and release, and the client's own.
fn claim(before: &BTreeSet<String>, events: &[Recorded], request: &Request, keyed: bool, batch: &mut Batch) {
    let mut bound = before.clone();
    for recorded in events {
        let Event::Controlled { changes, .. } = &recorded.event else { continue };
        for change in changes {
            match change {
                Change::Bound { target } if bound.insert(target.clone()) => {
                    batch.releases.retain(|key| key != target);
                    batch.takes.push(Take { key: target.clone(), answer: None });
                }
                Change::Unbound { target } if bound.remove(target) => {
                    let taken_here = batch.takes.len();
                    batch.takes.retain(|take| take.key != *target);
                    if batch.takes.len() == taken_here {
                        batch.releases.push(target.clone());
                    }
                }
                _ => {}
            }
        }
    }
    if let Some(key) = request.key.as_ref().filter(|_| keyed) {
        batch.takes.push(Take { key: key.clone(), answer: events.first().map(|recorded| recorded.seq) });
    }
}

fn wants(decision: &Decision, key: &str) -> bool {
    let binds = |change: &Change| matches!(change, Change::Bound { target } if target == key);
    let bound = decision.events.iter().any(|recorded| match &recorded.event {
        Event::Controlled { changes, .. } => changes.iter().any(binds),
        _ => false,
    });
    bound || decision.request.key.as_deref() == Some(key)
}

/// A command in one line.
fn brief(command: &Command) -> String {
    let whole = format!("{command:?}");
    moothall_kernel::text::cut(&whole, 160).to_owned()
}

/// Whose words a client posts.
pub(crate) fn mark_for(world: &mut World, author: &ParticipantId) -> String {
    world.marks.make(author.clone(), None)
}
