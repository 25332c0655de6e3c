//! Agents at work: jobs, their reports, alarms, and leaps of time.

use moothall_engine::agent::Report as Said;
use moothall_engine::agent::{self, Probe, TurnKey};
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::event::{Event, Usage};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, TurnNo};
use moothall_kernel::participant::{Abilities, Participant};
use moothall_kernel::pass::is_pass;
use moothall_kernel::permission::{PermissionOption, Question};
use moothall_kernel::time::Millis;

use super::agents::{self, Job, PlannedReport};
use super::check::promises::promise;
use super::check::{Objection, prompts};
use super::marks;
use super::server::{ClientRequest, HostInput};
use super::world::{DAWN, World, object};

impl World {
    /// Sets a runtime to work, once even if asked repeatedly. Checks its prompt.
    pub(crate) fn hire(&mut self, room: usize, job: agent::Job) -> Result<(), Objection> {
        let fresh = self.benches[room].room.head == job.through;
        if fresh && self.rng.chance(40) {
            let verdict = prompts::check(
                &self.benches[room].room,
                &self.marks,
                &job.participant,
                &job.name,
                job.through,
                &job.prompt,
            );
            object("prompts", verdict)?;
        }
        let host = self.servers[room].number;
        if let Some(known) =
            self.jobs.iter_mut().find(|known| known.key() == job.key && !known.orphan)
        {
            known.through = known.through.max(job.through);
            known.host = host;
            return Ok(());
        }
        // A runtime has by now dropped a job that it began before its cancellation.
        self.jobs.retain(|known| known.key() != job.key);
        let known = self.servers[room].room().participant(&job.participant);
        let abilities = known.map_or(Abilities::PLAIN, |p| p.facts.abilities);
        self.employ(room, job.key.turn, job.key.attempt, job.participant, abilities, job.through);
        Ok(())
    }

    fn employ(
        &mut self,
        room: usize,
        turn: TurnNo,
        attempt: u32,
        participant: ParticipantId,
        abilities: Abilities,
        through: Seq,
    ) {
        self.last_job += 1;
        let circle = promise(self.servers[room].room().policy().name).circle;
        let timeline = agents::timeline(&mut self.rng, self.time, circle, self.habits.dawdle);
        let (id, host, orphan, unsure, reported) =
            (self.last_job, self.servers[room].number, false, Vec::new(), false);
        self.jobs.push(Job {
            id,
            host,
            room,
            turn,
            attempt,
            participant,
            abilities,
            through,
            orphan,
            timeline,
            unsure,
            reported,
        });
    }

    /// Updates the jobs of remote clients, which notice by themselves that they have a turn and
    /// that it has ended.
    pub(crate) fn look_after_remotes(&mut self, room: usize) {
        let state = self.servers[room].room();
        let head = state.head();
        let remote =
            |id: &ParticipantId| state.participant(id).is_some_and(Participant::answers_by_posting);
        let wanted: Vec<_> =
            state.duties().run.into_iter().filter(|run| remote(&run.participant)).collect();
        let over: Vec<TurnKey> = self
            .jobs
            .iter()
            .filter(|job| job.room == room && job.comes_by_itself() && !job.orphan)
            .filter(|job| {
                !wanted.iter().any(|run| (run.turn, run.attempt) == (job.turn, job.attempt))
            })
            .map(Job::key)
            .collect();
        over.iter().for_each(|key| self.cancel(key));
        for run in wanted {
            let known = self.jobs.iter().any(|job| {
                job.room == room
                    && !job.orphan
                    && (job.turn, job.attempt) == (run.turn, run.attempt)
            });
            if !known {
                self.employ(room, run.turn, run.attempt, run.participant, Abilities::REMOTE, head);
            }
        }
        // Forget final reports when the host has processed them.
        if self.servers[room].host.is_settled() {
            let done = |job: &Job| job.room == room && job.reported && job.timeline.is_empty();
            self.jobs.retain(|job| !done(job));
            self.jobs.iter_mut().filter(|job| job.room == room).for_each(|job| job.unsure.clear());
        }
    }

    /// Cancels a job. Some runtimes do not notice.
    pub(crate) fn cancel(&mut self, key: &TurnKey) {
        for job in self.jobs.iter_mut().filter(|job| !job.orphan && job.key() == *key) {
            job.orphan = true;
            if self.rng.chance(60) {
                job.timeline.clear();
            }
        }
        self.jobs.retain(|job| !job.orphan || !job.timeline.is_empty());
    }

    /// Drops the jobs that a crash ends. A terminal keeps typed prompts, but there are none before
    /// the turn runs.
    pub(crate) fn forget_jobs(&mut self) {
        let benches = &self.benches;
        let is_typed = |job: &Job| {
            benches[job.room].room.turns.get(&job.turn).is_none_or(|open| open.running.is_some())
        };
        self.jobs.retain(|job| job.survives() && (job.comes_by_itself() || is_typed(job)));
    }

    /// Repeats the reports of runtimes that survive, since they may be lost.
    pub(crate) fn repeat_reports(&mut self, room: usize) {
        let now = self.time;
        for job in self.jobs.iter_mut().filter(|job| job.room == room && job.survives()) {
            for report in job.unsure.drain(..).rev() {
                job.timeline.push_front((now, report));
                job.reported = false;
            }
        }
    }

    /// Returns the time at which something happens by itself.
    pub(crate) fn next_happening(&self) -> Option<i64> {
        let reports = self.jobs.iter().filter_map(|job| job.timeline.front()).map(|(at, _)| *at);
        let alarms = self.servers.iter().filter_map(|server| server.wake);
        let starts = self.beginnings.iter().map(|beginning| beginning.due);
        reports
            .chain(alarms.map(|at| DAWN + at.0 as i64))
            .chain(starts)
            .chain(self.consents.next())
            .chain(self.commands.wait().then_some(self.time))
            .min()
    }

    /// Puts all due reports into the queues of the hosts.
    pub(crate) fn collect(&mut self) {
        loop {
            let due = self
                .jobs
                .iter()
                .position(|job| job.timeline.front().is_some_and(|(at, _)| *at <= self.time));
            let Some(at) = due else { break };
            self.hear(at);
        }
        self.tell_of_starts();
        self.tell_of_consents();
        self.jobs.retain(|job| !job.orphan || !job.timeline.is_empty());
    }

    /// Sends the next report of this job to the server.
    fn hear(&mut self, at: usize) {
        let Some((_, report)) = self.jobs[at].timeline.pop_front() else { return };
        let job = self.jobs[at].clone();
        let input = self.host_input(&job, &report);
        self.jobs[at].unsure.push(report);
        self.servers[job.room].queue.extend(input);
    }

    fn host_input(&mut self, job: &Job, report: &PlannedReport) -> Option<HostInput> {
        let said = |said| Some(HostInput::Report(job.id, job.key(), said));
        match report {
            PlannedReport::Started if job.comes_by_itself() => None,
            PlannedReport::Started => said(Said::Started { through: job.through }),
            PlannedReport::Lost => Some(HostInput::Probed(job.key(), Probe::Lost)),
            PlannedReport::Ask(within) => {
                self.last_permission += 1;
                let permission = PermissionId::new(format!("p{}", self.last_permission));
                let question =
                    Box::new(Question::new("run \u{1b}[31mrm", PermissionOption::allow_or_deny()));
                said(Said::Permission { permission, question, within: Millis(*within) })
            }
            PlannedReport::Answer
            | PlannedReport::Pass
            | PlannedReport::Empty
            | PlannedReport::TooLong
            | PlannedReport::Directive
            | PlannedReport::Fail => Some(self.finish(job, report)),
        }
    }

    /// Finishes a job. A client that answers by posting posts itself; for others the runtime
    /// reports.
    fn finish(&mut self, job: &Job, report: &PlannedReport) -> HostInput {
        let state = self.servers[job.room].room();
        let result = agents::result(&mut self.rng, job, report, state, &mut self.marks);
        let by = Actor::named(job.participant.clone());
        match result {
            Ok(text) if job.comes_by_itself() => {
                let posted = !text.trim().is_empty()
                    && (*report != PlannedReport::Pass || self.rng.chance(50));
                let post = Post::new(by.clone(), text);
                let command = if posted {
                    ClientCommand::Post(post)
                } else {
                    ClientCommand::Pass { by, to: None, reply_to: None, at_once: false }
                };
                HostInput::Asked(ClientRequest::new(command, Some(self.key())))
            }
            result => HostInput::Report(
                job.id,
                job.key(),
                Said::Finished { result, usage: Usage { ms: 5, ..Usage::default() } },
            ),
        }
    }

    /// Notes that a report reached the host. From now on its final words must not be lost.
    pub(crate) fn note_reported(&mut self, room: usize, job: u64, key: &TurnKey, report: &Said) {
        let Said::Finished { result, .. } = report else { return };
        if let Some(job) = self.jobs.iter_mut().find(|known| known.id == job) {
            job.reported = true;
        }
        let mark =
            result.as_ref().ok().filter(|text| !is_pass(text)).and_then(|text| marks::first(text));
        self.owed_words.extend(mark.map(|mark| (room, key.turn, mark)));
    }

    /// Notes that the host will take a job for dead.
    pub(crate) fn note_probed(&mut self, key: &TurnKey, probe: &Probe) {
        if *probe == Probe::Lost {
            self.jobs
                .iter_mut()
                .filter(|job| job.key() == *key)
                .for_each(|job| job.reported = true);
        }
    }

    /// Returns a key for a request that may be repeated.
    pub(crate) fn key(&mut self) -> String {
        self.last_key += 1;
        format!("{}", self.last_key)
    }

    /// Returns the permissions that wait for a person.
    pub(crate) fn open_permissions(&self, room: usize) -> Vec<PermissionId> {
        let mut open = Vec::new();
        for recorded in self.disk.read(room, Seq(0)) {
            match recorded.event {
                Event::PermissionRequested { permission, .. }
                | Event::QuestionAsked { permission, .. }
                | Event::StartRequested { permission, .. }
                | Event::TalkRequested { permission, .. } => open.push(permission),
                Event::PermissionAnswered { permission, .. }
                | Event::PermissionExpired { permission }
                | Event::PermissionWithdrawn { permission, .. } => {
                    open.retain(|id| *id != permission)
                }
                _ => {}
            }
        }
        open
    }
}
