//! What should run is made to run: jobs, their reports, alarms, and leaps of time.

use moothall_kernel::command::{Actor, Command, Post};
use moothall_kernel::compose::compose;
use moothall_kernel::event::{Event, Fault, To, Usage};
use moothall_kernel::ids::{PermissionId, Seq};
use moothall_kernel::participant::{OnLost, Runtime};
use moothall_kernel::permission::{PermissionOption, Question};
use moothall_kernel::policy::PolicyName;
use moothall_kernel::time::Millis;

use super::agents::{self, Job, Report};
use super::bug::Bug;
use super::check::{Objection, prompts};
use super::host::{Origin, Request};
use super::world::{World, object};

impl World {
    /// Compares what should run with what runs, and makes up the difference.
    pub(crate) fn reconcile(&mut self, room: usize) -> Result<(), Objection> {
        let duties = self.hosts[room].committed.duties();
        self.hosts[room].wake_at = duties.wake_at;
        let wanted: Vec<_> = duties.run.iter().map(|run| (run.turn, run.attempt)).collect();
        self.cancel_others(room, &wanted);
        for run in duties.run {
            let runs = self.jobs.iter().any(|job| job.room == room && !job.orphan && (job.turn, job.attempt) == (run.turn, run.attempt));
            if runs {
                continue;
            }
            if run.started {
                self.report_lost(room, run.turn, run.attempt);
            } else {
                self.hire(room, run.turn, run.attempt)?;
            }
        }
        Ok(())
    }

    /// Ends jobs that nobody waits for any more. Some do not notice.
    fn cancel_others(&mut self, room: usize, wanted: &[(moothall_kernel::ids::TurnNo, u32)]) {
        for job in self.jobs.iter_mut().filter(|job| job.room == room && !job.orphan && !wanted.contains(&(job.turn, job.attempt))) {
            job.orphan = true;
            if self.rng.chance(60) {
                job.timeline.clear();
            }
        }
        self.jobs.retain(|job| !job.orphan || !job.timeline.is_empty());
    }

    fn report_lost(&mut self, room: usize, turn: moothall_kernel::ids::TurnNo, attempt: u32) {
        let host = &mut self.hosts[room];
        if !host.lost.insert((turn, attempt)) {
            return;
        }
        let Some(open) = host.committed.turn(turn) else { return };
        let fails = host.committed.participant(&open.participant).is_some_and(|p| p.facts.on_lost == OnLost::Fail);
        let command = if fails {
            let fault = Fault::new("interrupted", "a restart interrupted it");
            Command::Finished { turn, attempt, result: Err(fault), usage: Usage::default() }
        } else {
            Command::Lost { turn, attempt }
        };
        host.ask(Origin::Engine, command);
    }

    /// Composes the prompt and sets a runtime to work.
    fn hire(&mut self, room: usize, turn: moothall_kernel::ids::TurnNo, attempt: u32) -> Result<(), Objection> {
        let state = &self.hosts[room].committed;
        let Some(open) = state.turn(turn) else { return Ok(()) };
        let Some(participant) = state.participant(&open.participant) else {
            return Err(Objection { checker: "turns", message: format!("{} should run turn {turn} and is not invited", open.participant) });
        };
        let through = state.head();
        let fresh = self.benches[room].room.head == through;
        if fresh && self.rng.chance(40) {
            let events = self.log.read(room, Seq(0));
            let prompt = compose(state, open, participant.cursor, through, &events);
            let verdict = prompts::check(&self.benches[room].room, &self.marks, &open.participant, participant.name(), through, &prompt);
            object("prompts", verdict)?;
        }
        self.last_job += 1;
        let circle = state.policy().name == PolicyName::TalkingPiece;
        self.jobs.push(Job {
            id: self.last_job,
            room,
            turn,
            attempt,
            participant: open.participant.clone(),
            runtime: participant.facts.runtime,
            through,
            orphan: false,
            timeline: agents::timeline(&mut self.rng, self.time, circle),
            unsure: Vec::new(),
        });
        Ok(())
    }

    /// A crash takes jobs with it; those that live elsewhere say again what was not acknowledged.
    pub(crate) fn forget_jobs(&mut self) {
        self.jobs.retain(Job::survives);
        let now = self.time;
        for job in &mut self.jobs {
            for report in job.unsure.drain(..).rev() {
                job.timeline.push_front((now, report));
            }
        }
    }

    /// When something will happen by itself.
    pub(crate) fn next_happening(&self) -> Option<i64> {
        let reports = self.jobs.iter().filter_map(|job| job.timeline.front()).map(|(at, _)| *at);
        let alarms = self.hosts.iter().filter(|host| host.slept != host.wake_at).filter_map(|host| host.wake_at);
        reports.chain(alarms.map(|at| at.millis() - self.skew)).min()
    }

    /// Everything that is due is put before the hosts.
    pub(crate) fn collect(&mut self) {
        loop {
            let due = self.jobs.iter().position(|job| job.timeline.front().is_some_and(|(at, _)| *at <= self.time));
            let Some(at) = due else { break };
            self.hear(at);
        }
        self.jobs.retain(|job| !job.orphan || !job.timeline.is_empty());
        let clock = self.clock();
        for host in &mut self.hosts {
            let due = host.is_idle() && host.wake_at.is_some_and(|at| at <= clock) && host.slept != host.wake_at;
            if due && self.bug == Some(Bug::LostWakeUp) && self.rng.chance(20) {
                host.slept = host.wake_at;
            } else if due {
                host.ask(Origin::Engine, Command::Tick);
            }
        }
    }

    /// A job reports.
    fn hear(&mut self, at: usize) {
        let Some((_, report)) = self.jobs[at].timeline.pop_front() else { return };
        let job = self.jobs[at].clone();
        let request = self.request_of(&job, &report);
        self.jobs[at].unsure.push(report);
        self.hosts[job.room].queue.push_back(request);
    }

    fn request_of(&mut self, job: &Job, report: &Report) -> Request {
        let (turn, attempt) = (job.turn, job.attempt);
        let command = match report {
            Report::Started => Command::Started { turn, attempt, through: job.through },
            Report::Lost => Command::Lost { turn, attempt },
            Report::Ask(within) => {
                self.last_permission += 1;
                let permission = PermissionId::new(format!("p{}", self.last_permission));
                let question = Box::new(Question::new("run \u{1b}[31mrm", PermissionOption::allow_or_deny()));
                Command::AskPermission { permission, turn, question, within: Millis(*within) }
            }
            Report::Answer | Report::Pass | Report::Empty | Report::TooLong | Report::Directive | Report::Fail => {
                return self.finish(job, report);
            }
        };
        Request { origin: Origin::Runtime(job.id), command, key: None }
    }

    /// A client that answers by posting speaks for itself; for the others, the runtime reports.
    fn finish(&mut self, job: &Job, report: &Report) -> Request {
        let state = &self.hosts[job.room].committed;
        let result = agents::result(&mut self.rng, job, report, state, &mut self.marks);
        let by = Actor::named(job.participant.clone());
        match result {
            Ok(text) if job.runtime == Runtime::Remote => {
                let posted = !text.trim().is_empty() && (*report != Report::Pass || self.rng.chance(50));
                let post = Post { by: by.clone(), to: To::All, body: text, reply_to: None, tags: Vec::new(), typed_at: None };
                let command = if posted { Command::Post(post) } else { Command::Pass { by, to: None } };
                Request { origin: Origin::Client, command, key: Some(self.key()) }
            }
            result => {
                let usage = Usage { ms: 5, ..Usage::default() };
                let command = Command::Finished { turn: job.turn, attempt: job.attempt, result, usage };
                Request { origin: Origin::Runtime(job.id), command, key: None }
            }
        }
    }

    /// A key for a request that may be repeated.
    pub(crate) fn key(&mut self) -> String {
        self.last_key += 1;
        format!("idem:{}", self.last_key)
    }

    /// Permissions that wait for a person.
    pub(crate) fn open_permissions(&self, room: usize) -> Vec<PermissionId> {
        let mut open = Vec::new();
        for recorded in self.log.read(room, Seq(0)) {
            match recorded.event {
                Event::PermissionRequested { permission, .. } => open.push(permission),
                Event::PermissionAnswered { permission, .. }
                | Event::PermissionExpired { permission }
                | Event::PermissionWithdrawn { permission, .. } => open.retain(|id| *id != permission),
                _ => {}
            }
        }
        open
    }
}
