//! One run: conversations, their hosts, the disk below and the clock.

use std::collections::BTreeSet;

use moothall_engine::budgets::{Amounts, BudgetsConfig, SharedBudgets};
use moothall_engine::registry::Roster;
use moothall_engine::stream::host::GAP;
use moothall_engine::stream::{Around, Host, Input, LoadedStream, Now, Output, StartMode};
use moothall_engine::voices::VoiceBook;
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::view::Viewer;

use super::Stats;
use super::actions::Habits;
use super::agents::Job;
use super::check::audience::Reader;
use super::check::promises::promise;
use super::check::{Bench, Objection, Verdict};
use super::consent::Consents;
use super::cross_commands::CrossCommands;
use super::drive::waits_for_time;
use super::log::{Disk, is_same, stream};
use super::marks::Marks;
use super::people;
use super::rng::Rng;
use super::server::{ClientRequest, HostInput, HostWait, Server};
use super::starts::PendingStart;
use super::story::Story;

/// Start of every run, in milliseconds.
pub(crate) const DAWN: i64 = 1_763_000_000_000;
/// Maximum number of leaps of time until a run comes to rest. A turn waits for an hour, and each of
/// three rooms checks every second that its client is still there.
const LEAPS_MAX: u32 = 12_000;
/// Number of ended turns after which a result may be forgotten.
const REMEMBERED: u64 = 60;

pub(crate) struct World {
    pub(crate) rng: Rng,
    /// The elapsing time, in milliseconds.
    pub(crate) time: i64,
    /// Difference of the computer's clock from it, in milliseconds.
    pub(crate) skew: i64,
    pub(crate) disk: Disk,
    pub(crate) servers: Vec<Server>,
    /// Hosts of a dead process, with an append still in progress.
    zombies: Vec<(usize, Server)>,
    /// True if the disk has no faults now.
    pub(crate) calm: bool,
    pub(crate) benches: Vec<Bench>,
    pub(crate) readers: Vec<Vec<Reader>>,
    pub(crate) offline: Vec<BTreeSet<ParticipantId>>,
    /// Budgets of conversations, in some worlds.
    pub(crate) budgets_shared: SharedBudgets,
    pub(crate) voices: VoiceBook,
    budgets: BudgetsConfig,
    /// Number of turns that this process charged to the budgets.
    pub(crate) paid: i64,
    /// Number of turns that it should have charged: those that reached the disk.
    pub(crate) spent: i64,
    /// Final words that a runtime reported, by room, turn and mark. They have to reach the disk.
    pub(crate) owed_words: Vec<(usize, moothall_kernel::ids::TurnNo, usize)>,
    pub(crate) marks: Marks,
    /// Marks that reached the disk, visible or kept in the trace.
    pub(crate) filed: BTreeSet<(usize, usize)>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) last_job: u64,
    last_host: u64,
    /// Events that clients were told are done.
    pub(crate) acknowledged: Vec<(usize, RecordedEvent)>,
    /// Unanswered requests that clients will repeat.
    pub(crate) unanswered: Vec<(usize, ClientRequest)>,
    pub(crate) last_key: u64,
    pub(crate) last_permission: u64,
    /// Programs that this process is starting.
    pub(crate) beginnings: Vec<PendingStart>,
    pub(crate) consents: Consents,
    pub(crate) commands: CrossCommands,
    pub(crate) habits: Habits,
    pub(crate) stats: Stats,
    pub(crate) story: Story,
    /// Randomness for snapshots. It is separate, so that nothing else in a run depends on them.
    pub(crate) shutter: Rng,
    /// Randomness for words and edits that come from chats, in the runs that have them.
    pub(crate) chats: Option<Rng>,
}

/// The smallest seed whose run has words and edits from chats.
const FIRST_WITH_CHATS: u64 = 1_000_000;

impl World {
    pub(crate) fn new(seed: u64, with_story: bool) -> Self {
        let mut rng = Rng::new(seed);
        let rooms = rng.between(1, 3) as usize;
        let habits = Habits::new(&mut rng);
        let turns = seed.is_multiple_of(4).then_some(3 + seed % 30);
        let conversation = Amounts { turns_per_hour: turns, ..Amounts::default() };
        let budgets = BudgetsConfig { conversation, ..BudgetsConfig::default() };
        Self {
            time: DAWN,
            skew: 0,
            disk: Disk::default(),
            servers: Vec::new(),
            zombies: Vec::new(),
            calm: true,
            benches: (0..rooms)
                .map(|room| Bench::new(Conversation::new(stream(room)), turns))
                .collect(),
            readers: (0..rooms).map(|_| Vec::new()).collect(),
            offline: vec![BTreeSet::new(); rooms],
            budgets_shared: SharedBudgets::new(&budgets),
            voices: VoiceBook::default(),
            budgets,
            paid: 0,
            spent: 0,
            owed_words: Vec::new(),
            marks: Marks::default(),
            filed: BTreeSet::new(),
            jobs: Vec::new(),
            last_job: 0,
            last_host: 0,
            acknowledged: Vec::new(),
            unanswered: Vec::new(),
            last_key: 0,
            last_permission: 0,
            beginnings: Vec::new(),
            consents: Consents::new(seed),
            commands: CrossCommands::new(seed),
            habits,
            stats: Stats::default(),
            story: Story::new(with_story),
            shutter: Rng::new(!seed),
            chats: (seed >= FIRST_WITH_CHATS).then(|| Rng::new(seed.rotate_left(16))),
            rng,
        }
    }

    /// Returns the time of the computer's clock.
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
            self.carry_commands()?;
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

    /// Creates the conversations and invites their participants.
    fn begin(&mut self) -> Result<(), Objection> {
        for room in 0..self.benches.len() {
            let roster = people::roster(&mut self.rng);
            let empty = LoadedStream::new(Conversation::new(stream(room)), None);
            let server = self.serve(room, StartMode::New, empty, roster);
            self.servers.push(server);
            let policy = people::policy(&mut self.rng);
            let circle = promise(policy.name).circle;
            self.story.tell(|| format!("room {room}: {policy:?}"));
            self.servers[room].ask(ClientCommand::Create {
                name: "Room".into(),
                policy,
                folder: None,
                by: Actor::named("user"),
            });
            let first = if circle { 3 } else { 1 };
            let agents = self.rng.between(first, 8) as usize;
            let mut controls = Vec::new();
            for number in 0..agents {
                controls.push(Control::Invite(people::invite(
                    &mut self.rng,
                    number,
                    circle,
                    &self.servers[room].roster,
                )));
            }
            if self.rng.chance(30) {
                controls.push(Control::Invite(people::invite_person(circle)));
            }
            if self.rng.chance(40) {
                controls.push(Control::Discussion { on: true, allow_agent_mentions: true });
            }
            if self.rng.chance(40) {
                controls.push(Control::InvitedAuto(true));
            }
            self.servers[room].ask(ClientCommand::Control { by: Actor::named("user"), controls });
            let member =
                ParticipantId::new(people::AGENTS[self.rng.below(agents as u64) as usize].0);
            let viewers = [
                Viewer::Operator,
                Viewer::Guest,
                Viewer::Participant(member),
                Viewer::Participant(ParticipantId::user()),
            ];
            self.readers[room] = viewers.into_iter().map(Reader::new).collect();
            self.settle(room)?;
        }
        self.calm = false;
        Ok(())
    }

    fn serve(
        &mut self,
        room: usize,
        begin: StartMode,
        loaded: LoadedStream,
        roster: Roster,
    ) -> Server {
        let around = Around { now: self.now(), draining: false, agents: &roster };
        let host = Host::new(stream(room), loaded, begin, &around);
        self.last_host += 1;
        let lead = self.skew.max(host.committed().last_ts().millis() - self.time);
        Server::new(self.last_host, host, roster, lead)
    }

    /// Runs one host until it is idle.
    pub(crate) fn settle(&mut self, room: usize) -> Result<(), Objection> {
        while !self.servers[room].is_idle(self.now().steady) {
            self.advance(room)?;
        }
        Ok(())
    }

    /// Lets all pending work finish, then asks the checkers if anything is missing.
    pub(crate) fn rest(&mut self) -> Result<(), Objection> {
        self.disk.full = false;
        self.calm = true;
        self.story.tell(|| "— rest —".into());
        self.wake_zombies()?;
        for _ in 0..LEAPS_MAX {
            for room in 0..self.servers.len() {
                self.settle(room)?;
            }
            let Some(next) = self.next_happening() else {
                self.calm = false;
                return self.ask_at_rest();
            };
            self.time = self.time.max(next);
            self.collect();
            self.carry_commands()?;
        }
        let message = format!(
            "nothing comes to rest; open are {:?}",
            self.benches.iter().map(|bench| &bench.room.turns).collect::<Vec<_>>()
        );
        Err(Objection { checker: "rest", message })
    }

    fn ask_at_rest(&mut self) -> Result<(), Objection> {
        for (bench, offline) in self.benches.iter_mut().zip(&self.offline) {
            let offline = bench.room.offline_among(offline);
            bench.rest(&offline)?;
        }
        object(
            "purses",
            if self.paid == self.spent {
                Ok(())
            } else {
                Err(format!("{} turns were paid for {}", self.paid, self.spent))
            },
        )?;
        self.ask_for_words()?;
        self.ask_for_consents()?;
        self.check_cross_commands()?;
        self.ask_for_jobs()
    }

    /// Checks that all words that runtimes reported are on the disk, visible or kept, unless their
    /// turn is forgotten.
    fn ask_for_words(&mut self) -> Result<(), Objection> {
        for (room, turn, mark) in std::mem::take(&mut self.owed_words) {
            let ended = &self.benches[room].room.turns_ended;
            let forgotten =
                ended.get(&turn).is_some_and(|place| ended.len() as u64 - place > REMEMBERED);
            if !forgotten && !self.filed.contains(&(room, mark)) {
                let message = format!(
                    "the words with mark {mark}, for turn {turn} of room {room}, were thrown away"
                );
                return Err(Objection { checker: "words", message });
            }
        }
        Ok(())
    }

    /// Checks that no runtime works on an ended turn without having been told.
    fn ask_for_jobs(&mut self) -> Result<(), Objection> {
        let host = |job: &Job| self.servers[job.room].number;
        let idle = |job: &&Job| {
            job.host == host(job) && !job.orphan && !job.reported && !job.comes_by_itself()
        };
        let open = |job: &Job| {
            self.benches[job.room]
                .room
                .turns
                .get(&job.turn)
                .is_some_and(|open| open.attempt == job.attempt)
        };
        match self.jobs.iter().filter(idle).find(|job| !open(job)) {
            Some(job) => Err(Objection {
                checker: "runtimes",
                message: format!("nobody told that it is over: {job:?}"),
            }),
            None => Ok(()),
        }
    }

    /// Reopens and resumes all conversations, and brings all clients online.
    fn wake_everything(&mut self) -> Result<(), Objection> {
        self.calm = true;
        for room in 0..self.servers.len() {
            let by = Actor::named("user");
            self.servers[room].ask(ClientCommand::Archive { on: false, by: by.clone() });
            self.servers[room].ask(ClientCommand::Control { by, controls: vec![Control::Resume] });
            self.offline[room].clear();
        }
        Ok(())
    }

    /// Checks that the disk has all events that clients and readers were told of.
    pub(crate) fn compare_with_disk(&mut self) -> Result<(), Objection> {
        for room in 0..self.benches.len() {
            let disk = self.disk.read(room, Seq(0));
            let lasts = |recorded: &RecordedEvent| {
                disk.get(recorded.seq.0 as usize - 1).is_some_and(|kept| is_same(recorded, kept))
            };
            if let Some((_, lost)) =
                self.acknowledged.iter().find(|(at, recorded)| *at == room && !lasts(recorded))
            {
                let message =
                    format!("{} was acknowledged in room {room} and is gone: {lost:?}", lost.seq);
                return Err(Objection { checker: "acknowledged", message });
            }
            for reader in &self.readers[room] {
                object("audience", reader.compare(&disk))?;
            }
        }
        Ok(())
    }

    /// Crashes the server and restarts it.
    pub(crate) fn crash(&mut self) -> Result<(), Objection> {
        self.stats.crashes += 1;
        let downtime = [
            self.rng.between(1, 999),
            self.rng.between(1000, 60_000),
            self.rng.between(60_000, 9_000_000),
        ][self.rng.weighted(&[2, 2, 1])];
        self.story.tell(|| format!("✗ crash; down for {downtime} ms"));
        self.time += downtime as i64;
        self.forget_jobs();
        self.beginnings.clear();
        self.commands.crash();
        self.owed_words.clear();
        self.budgets_shared = SharedBudgets::new(&self.budgets);
        self.voices = VoiceBook::default();
        (self.paid, self.spent) = (0, 0);
        for room in 0..self.servers.len() {
            // Requests and answers of people survive the crash. Reports of runtimes die with the
            // process.
            self.servers[room]
                .queue
                .retain(|input| matches!(input, HostInput::Asked(_) | HostInput::Consent(_)));
            self.reopen(room)?;
        }
        self.compare_with_disk()?;
        for room in 0..self.servers.len() {
            self.catch_up(room, Seq(u64::MAX))?;
        }
        Ok(())
    }

    /// Loads a conversation anew: all knowledge of its old host is lost. An append of the old host
    /// may still reach the disk late.
    pub(crate) fn reopen(&mut self, room: usize) -> Result<(), Objection> {
        object("snapshots", self.disk.check_snapshot(room))?;
        let loaded = match self.disk.load(room) {
            Ok(loaded) => loaded,
            Err(error) => {
                return Err(Objection {
                    checker: "disk",
                    message: format!("room {room} cannot be loaded: {error}"),
                });
            }
        };
        let roster = self.servers[room].roster.clone();
        let mut server = self.serve(room, StartMode::Existing(self.clock()), loaded, roster);
        let downtime = self.clock().since(server.host.committed().last_ts());
        if downtime > GAP && waits_for_time(&server) && self.benches[room].room.waits() {
            server.owed.push_back(downtime);
        }
        let mut old = std::mem::replace(&mut self.servers[room], server);
        let mut again: Vec<ClientRequest> = old.waiting.values().cloned().collect();
        for input in std::mem::take(&mut old.queue) {
            match input {
                HostInput::Asked(request) => again.push(request),
                HostInput::Report(..)
                | HostInput::Probed(..)
                | HostInput::Consent(_)
                | HostInput::Refresh => self.servers[room].queue.push_back(input),
            }
        }
        self.forget_carried(room);
        self.unanswered.extend(
            again
                .into_iter()
                .filter(|request| request.key.is_some())
                .map(|request| (room, request)),
        );
        self.repeat_reports(room);
        self.owed_words.retain(|(at, ..)| *at != room);
        if matches!(old.outstanding, Some(HostWait::Wanted(Output::Append { .. })))
            && self.rng.chance(30)
        {
            self.zombies.push((room, old));
        }
        self.benches[room].step(self.servers[room].room())
    }

    /// Lets the appends of replaced hosts reach the disk late. The answers that their clients get
    /// have to be true.
    pub(crate) fn wake_zombies(&mut self) -> Result<(), Objection> {
        for (room, mut zombie) in std::mem::take(&mut self.zombies) {
            let Some(HostWait::Wanted(Output::Append { batch })) = zombie.outstanding.take() else {
                continue;
            };
            let late = self.servers[room].host.committed().head() > batch.expected_head;
            std::mem::swap(&mut self.servers[room], &mut zombie);
            let inserted = batch.deliveries.clone();
            let result = self.disk.append(*batch, None);
            self.commands.note(&inserted, result.as_deref().unwrap_or_default());
            let examined = match &result {
                Ok(_) if late => Err(Objection {
                    checker: "fencing",
                    message: format!("a replaced writer appended to room {room}"),
                }),
                Ok(_) => self.examine(room, &self.servers[room].host.appending()),
                Err(_) => Ok(()),
            };
            let kept = result.is_ok();
            self.story.tell(|| format!("  room {room}: a replaced host hears {result:?}"));
            let server = &mut self.servers[room];
            let around = Around {
                now: zombie_now(self.time, self.skew),
                draining: true,
                agents: &server.roster,
            };
            let outputs = server.host.handle(&around, Input::Appended(result));
            let mut heard = examined;
            for output in outputs {
                if let (Ok(()), Output::Answer { answers }) = (&heard, output) {
                    heard = answers
                        .into_iter()
                        .try_for_each(|(id, verdict)| self.answered(room, id, verdict));
                }
            }
            std::mem::swap(&mut self.servers[room], &mut zombie);
            heard?;
            if kept {
                // The new host would notice that only with its next append, which may come late. So
                // load it again now.
                self.settle(room)?;
                self.reopen(room)?;
            }
        }
        Ok(())
    }
}

fn zombie_now(time: i64, skew: i64) -> Now {
    Now { wall: Timestamp::from_millis(time + skew), steady: Millis((time - DAWN) as u64) }
}

/// Returns a verdict under a checker's name.
pub(crate) fn object(checker: &'static str, verdict: Verdict) -> Result<(), Objection> {
    verdict.map_err(|message| Objection { checker, message })
}
