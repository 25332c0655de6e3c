//! One run: conversations, their hosts, the disk beneath and the clock above.

use std::collections::BTreeSet;
use std::sync::Arc;

use moothall_kernel::Conversation;
use moothall_kernel::budget::{Budgets, Limit, Limits};
use moothall_kernel::command::{Actor, Command, Control};
use moothall_kernel::event::Recorded;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::policy::PolicyName;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::view::Viewer;

use super::Stats;
use super::actions::Habits;
use super::agents::Job;
use super::bug::Bug;
use super::check::audience::Reader;
use super::check::{Bench, Objection, Verdict};
use super::host::{Host, Origin, Pending, Request, stream};
use super::log::ModelLog;
use super::marks::Marks;
use super::people;
use super::rng::Rng;
use super::story::Story;

/// When every run begins, in milliseconds.
const DAWN: i64 = 1_763_000_000_000;
/// A run that does not come to rest in so many leaps of time never will.
const LEAPS_MAX: u32 = 4_000;

pub(crate) struct World {
    pub(crate) rng: Rng,
    pub(crate) bug: Option<Bug>,
    /// The time that passes, in milliseconds.
    pub(crate) time: i64,
    /// What the computer's clock shows beyond it.
    pub(crate) skew: i64,
    pub(crate) log: ModelLog,
    pub(crate) hosts: Vec<Host>,
    pub(crate) benches: Vec<Bench>,
    pub(crate) readers: Vec<Vec<Reader>>,
    pub(crate) offline: Vec<BTreeSet<ParticipantId>>,
    /// What each conversation may spend, in some worlds.
    pub(crate) budgets: Arc<Budgets>,
    pub(crate) marks: Marks,
    /// Marks that reached the disk, seen or kept.
    pub(crate) filed: BTreeSet<(usize, usize)>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) last_job: u64,
    /// What clients were told is done.
    pub(crate) acknowledged: Vec<(usize, Recorded)>,
    /// What clients were not told and will ask again.
    pub(crate) unanswered: Vec<(usize, Request)>,
    /// Appends of a replaced writer, still on their way.
    pub(crate) stray: Vec<Pending>,
    pub(crate) epochs: Vec<u64>,
    pub(crate) last_key: u64,
    pub(crate) last_permission: u64,
    pub(crate) habits: Habits,
    pub(crate) stats: Stats,
    pub(crate) story: Story,
}

impl World {
    pub(crate) fn new(seed: u64, bug: Option<Bug>, told: bool) -> Self {
        let mut rng = Rng::new(seed);
        let rooms = rng.between(1, 3) as usize;
        let habits = Habits::new(&mut rng);
        let turns = seed.is_multiple_of(4).then_some(3 + seed % 30);
        let limits = Limits { conversation: Limit { turns, ..Limit::default() }, ..Limits::default() };
        let budgets = Arc::new(Budgets { limits, ..Budgets::default() });
        Self {
            bug,
            time: DAWN,
            skew: 0,
            log: ModelLog::new(rooms, bug),
            hosts: Vec::new(),
            benches: (0..rooms).map(|room| Bench::new(Conversation::new(stream(room)), turns)).collect(),
            readers: (0..rooms).map(|_| Vec::new()).collect(),
            offline: vec![BTreeSet::new(); rooms],
            budgets,
            marks: Marks::default(),
            filed: BTreeSet::new(),
            jobs: Vec::new(),
            last_job: 0,
            acknowledged: Vec::new(),
            unanswered: Vec::new(),
            stray: Vec::new(),
            epochs: vec![0; rooms],
            last_key: 0,
            last_permission: 0,
            habits,
            stats: Stats::default(),
            story: Story::new(told),
            rng,
        }
    }

    /// What the computer's clock shows.
    pub(crate) fn clock(&self) -> Timestamp {
        Timestamp::from_millis(self.time + self.skew)
    }

    pub(crate) fn live(&mut self) -> Result<(), Objection> {
        self.begin()?;
        let steps = self.rng.between(60, 260);
        for _ in 0..steps {
            self.stats.steps += 1;
            self.act()?;
            for _ in 0..self.rng.below(5) {
                self.advance_somebody()?;
            }
            if self.rng.chance(2) {
                self.rest()?;
            }
        }
        self.rest()?;
        self.wake_everything()?;
        self.rest()?;
        self.crash()?;
        self.rest()?;
        self.compare_with_disk()
    }

    /// Conversations, and who is in them.
    fn begin(&mut self) -> Result<(), Objection> {
        for room in 0..self.benches.len() {
            let epoch = self.log.acquire(room);
            self.epochs[room] = epoch;
            self.hosts.push(Host::load(room, epoch, &[]));
            let policy = people::policy(&mut self.rng);
            let circle = policy.name == PolicyName::TalkingPiece;
            self.story.tell(|| format!("room {room}: {policy:?}"));
            self.hosts[room].ask(Origin::Client, Command::Create { name: "Room".into(), policy, by: Actor::named("user") });
            let first = if circle { 3 } else { 1 };
            let agents = self.rng.between(first, 8) as usize;
            let mut controls: Vec<_> = (0..agents).map(|number| Control::Invite(people::invite(&mut self.rng, number, circle))).collect();
            if self.rng.chance(30) {
                controls.push(Control::Invite(people::invite_person(circle)));
            }
            if self.rng.chance(40) {
                controls.push(Control::Discussion { on: true, allow_agent_mentions: true });
            }
            if self.rng.chance(40) {
                controls.push(Control::InvitedAuto(true));
            }
            self.hosts[room].ask(Origin::Client, Command::Control { by: Actor::named("user"), controls });
            let member = ParticipantId::new(people::AGENTS[self.rng.below(agents as u64) as usize].0);
            let viewers = [Viewer::Operator, Viewer::Guest, Viewer::Participant(member), Viewer::Participant(ParticipantId::user())];
            self.readers[room] = viewers.into_iter().map(Reader::new).collect();
            self.settle(room)?;
        }
        Ok(())
    }

    /// Lets one host go through all its stages.
    pub(crate) fn settle(&mut self, room: usize) -> Result<(), Objection> {
        while !self.hosts[room].is_idle() {
            self.advance(room)?;
        }
        Ok(())
    }

    /// Lets everything happen that will happen by itself, then asks whether anything is missing.
    pub(crate) fn rest(&mut self) -> Result<(), Objection> {
        self.log.full = false;
        self.story.tell(|| "— rest —".into());
        for _ in 0..LEAPS_MAX {
            for room in 0..self.hosts.len() {
                self.settle(room)?;
            }
            let Some(next) = self.next_happening() else {
                return self.ask_at_rest();
            };
            self.time = self.time.max(next);
            self.collect();
        }
        let message =
            format!("nothing comes to rest; open are {:?}", self.benches.iter().map(|bench| &bench.room.turns).collect::<Vec<_>>());
        Err(Objection { checker: "rest", message })
    }

    fn ask_at_rest(&mut self) -> Result<(), Objection> {
        for (bench, offline) in self.benches.iter_mut().zip(&self.offline) {
            bench.rest(offline)?;
        }
        Ok(())
    }

    /// Lifts whatever keeps conversations still.
    fn wake_everything(&mut self) -> Result<(), Objection> {
        for room in 0..self.hosts.len() {
            let by = Actor::named("user");
            self.hosts[room].ask(Origin::Client, Command::Archive { on: false, by: by.clone() });
            self.hosts[room].ask(Origin::Client, Command::Control { by, controls: vec![Control::Resume] });
            self.offline[room].clear();
            self.hosts[room].ask(Origin::Engine, Command::Tick);
        }
        Ok(())
    }

    /// What clients were told, and what readers saw, is what the disk has.
    pub(crate) fn compare_with_disk(&mut self) -> Result<(), Objection> {
        for room in 0..self.benches.len() {
            let disk = self.log.read(room, moothall_kernel::ids::Seq(0));
            let lasts = |recorded: &Recorded| disk.get(recorded.seq.0 as usize - 1) == Some(recorded);
            if let Some((_, lost)) = self.acknowledged.iter().find(|(at, recorded)| *at == room && !lasts(recorded)) {
                let message = format!("{} was acknowledged in room {room} and is gone: {lost:?}", lost.seq);
                return Err(Objection { checker: "acknowledged", message });
            }
            for reader in &self.readers[room] {
                object("audience", reader.compare(&disk))?;
            }
        }
        Ok(())
    }

    /// The server dies and comes back.
    pub(crate) fn crash(&mut self) -> Result<(), Objection> {
        self.stats.crashes += 1;
        let downtime =
            [self.rng.between(1, 999), self.rng.between(1000, 60_000), self.rng.between(60_000, 9_000_000)][self.rng.weighted(&[2, 2, 1])];
        self.story.tell(|| format!("✗ crash; down for {downtime} ms"));
        self.time += downtime as i64;
        self.forget_jobs();
        for room in 0..self.hosts.len() {
            self.restart(room, Millis(downtime))?;
        }
        self.compare_with_disk()?;
        self.deliver_stray()?;
        for room in 0..self.hosts.len() {
            self.publish(room)?;
            self.reconcile(room)?;
        }
        Ok(())
    }

    fn restart(&mut self, room: usize, downtime: Millis) -> Result<(), Objection> {
        let old = &mut self.hosts[room];
        let mut owed = old.downtime.take().unwrap_or_default();
        let mut requests: Vec<Request> = old.queue.drain(..).collect();
        if let Some(pending) = old.pending.take() {
            requests.extend(pending.decisions.iter().map(|decision| decision.request.clone()));
            if !pending.appended {
                owed = pending.decisions.iter().find_map(|decision| decision.downtime).unwrap_or(owed);
                if self.rng.chance(30) {
                    self.stray.push(pending);
                }
            }
        }
        let again = requests.into_iter().filter(|request| request.origin == Origin::Client && request.key.is_some());
        self.unanswered.extend(again.map(|request| (room, request)));
        let epoch = self.log.acquire(room);
        self.epochs[room] = epoch;
        let mut events = self.log.read(room, moothall_kernel::ids::Seq(0));
        if self.bug == Some(Bug::GuardNotRestored) {
            events.retain(|recorded| recorded.event.kind() != "held");
        }
        let mut host = Host::load(room, epoch, &events);
        let owed = Millis(owed.0 + downtime.0);
        host.downtime = Some(owed);
        if self.bug != Some(Bug::DowntimeForgotten) {
            host.ask(Origin::Engine, Command::Resume { downtime: owed });
        }
        self.hosts[room] = host;
        self.benches[room].step(&self.hosts[room].committed)
    }

    /// Writes of a replaced writer reach the disk late, and must be refused.
    fn deliver_stray(&mut self) -> Result<(), Objection> {
        for stray in std::mem::take(&mut self.stray) {
            if self.log.append(&stray.batch).is_ok() && !stray.batch.events.is_empty() {
                let message = format!("an append of epoch {} was taken in epoch {}", stray.batch.epoch, self.epochs[stray.batch.room]);
                return Err(Objection { checker: "fencing", message });
            }
        }
        Ok(())
    }
}

/// A verdict under a checker's name.
pub(crate) fn object(checker: &'static str, verdict: Verdict) -> Result<(), Objection> {
    verdict.map_err(|message| Objection { checker, message })
}
