//! One run: a session, its program, the server that drives it and crashes, and the clock.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

use moothall_engine::agent::{PermissionAnswer, Probe, Report};
use moothall_engine::ports::Durability;
use moothall_engine::sessions::{Activity, Origin, Reports, Session};
use moothall_engine::stream::Now;
use moothall_kernel::ids::PermissionId;
use moothall_kernel::permission::Question;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_terminals::Checkpoints;
use moothall_terminals::turn::{Around, Input, Machine, Output, Reply, RequestId};

use super::super::Stats;
use super::super::check::Objection;
use super::super::rng::Rng;
use super::super::story::Story;
use super::book::Book;
use super::check::{self, Watch, object};
use super::program::Program;
use super::spool::Spool;

mod perform;

/// Number of steps in which anything may go wrong.
const WILD_STEPS: u64 = 2_000;
/// Maximum number of steps until everything comes to rest.
const CALM_STEPS_MAX: u64 = 8_000;
/// Maximum number of turns in one run.
const TURNS_MAX: usize = 12;

pub(super) struct SessionWorld {
    pub(super) stats: Stats,
    pub(super) story: Story,
    rng: Rng,
    /// Milliseconds since the run began.
    time: i64,
    calm: bool,
    book: Book,
    spool: Spool,
    program: Program,
    watch: Watch,
    server: Option<SessionProcess>,
    /// Time at which another server starts, if one will.
    restart_at: Option<i64>,
    /// Time before which no report of the spool is delivered.
    stalled_until: i64,
    /// True if a person wanted an Escape.
    escape_wanted: bool,
    session_is_over: bool,
}

/// A process, as far as it drives the session.
struct SessionProcess {
    machine: Machine,
    inputs: VecDeque<MachineInput>,
    outstanding: Option<MachineWait>,
    wake: Option<i64>,
    /// Reports on their way to the conversation.
    reports: VecDeque<ConversationInput>,
    caught_up: bool,
    /// The person's last answer and its question.
    answered: Option<check::Answer>,
    is_ending: bool,
    /// Turns whose results this process has saved.
    done: BTreeSet<u64>,
    last_request: u64,
}

/// A future input of the machine.
enum MachineInput {
    Input(Box<Input>),
    Begun(u64),
    TakenAway(u64, bool),
    /// A turn that an earlier process granted.
    TakeUp(u64),
}

/// The operation that the machine waits for.
enum MachineWait {
    /// The machine's output, not carried out yet.
    Wanted(Box<Output>),
    /// The result, which the machine does not know yet.
    Done(Box<Input>),
}

/// A report to the conversation.
enum ConversationInput {
    Started(u64),
    Finished(u64),
    Asked(u64, PermissionId, Box<Question>),
    Withdrawn(u64, PermissionId),
}

impl SessionWorld {
    pub(super) fn new(seed: u64, with_story: bool) -> Self {
        let mut rng = Rng::new(seed ^ 0x7465_726d);
        let late = Reports { turns: true, prompts: false, questions: false };
        let reports = [Reports { questions: false, ..Reports::ALL }, late, Reports::default()]
            [rng.weighted(&[6, 3, 1])];
        Self {
            stats: Stats::default(),
            story: Story::new(with_story),
            rng,
            time: 0,
            calm: false,
            book: Book::default(),
            spool: Spool::default(),
            program: Program::new(reports),
            watch: Watch::default(),
            server: None,
            restart_at: Some(0),
            stalled_until: 0,
            escape_wanted: false,
            session_is_over: false,
        }
    }

    /// Runs with faults for a while, and then without until everything is at rest.
    pub(super) fn live(&mut self) -> Result<(), Objection> {
        for _ in 0..WILD_STEPS {
            self.something_happens();
            self.step()?;
        }
        self.calm = true;
        self.stalled_until = 0;
        for _ in 0..CALM_STEPS_MAX {
            if !self.step()? && !self.tidy_up() {
                let doing = self.server.as_ref().map(|server| server.machine.doing());
                return check::quiet(&self.book, doing);
            }
        }
        object("ends", "it never comes to rest".into())
    }

    /// Does one of the pending steps, chosen by chance. Returns false if none is pending.
    fn step(&mut self) -> Result<bool, Objection> {
        self.stats.steps += 1;
        self.program.go_on(&mut self.rng, &mut self.spool, self.time);
        if self.server.is_none() {
            if self.restart_at.is_none_or(|at| at > self.time) {
                return Ok(self.wait());
            }
            self.restart();
        }
        self.bring_news();
        let Some(server) = &self.server else { return Ok(false) };
        let ready = [
            server.outstanding.is_some(),
            server.outstanding.is_none() && !server.inputs.is_empty(),
            !server.reports.is_empty(),
        ];
        match self.rng.weighted(&ready.map(u64::from)) {
            _ if ready == [false; 3] => return Ok(self.wait()),
            0 => self.go_on()?,
            1 => self.tell_next()?,
            _ => self.commit_next(),
        }
        Ok(true)
    }

    /// Lets time pass until something happens by itself. Returns false if nothing will.
    fn wait(&mut self) -> bool {
        let wake = self.server.as_ref().and_then(|server| server.wake);
        let restart = self.restart_at.filter(|_| self.server.is_none());
        let report = self
            .spool
            .next_at()
            .filter(|_| self.server.is_some())
            .map(|at| at.max(self.stalled_until));
        let next =
            [wake, restart, report, self.program.next_at(self.time)].into_iter().flatten().min();
        // A wake-up in the past is due now.
        self.time = next.map_or(self.time, |at| at.max(self.time + 1));
        next.is_some()
    }

    /// Sends the server its own events: the terminal drew, its alarm is due, a report arrived.
    fn bring_news(&mut self) {
        let Some(server) = &mut self.server else { return };
        if std::mem::take(&mut self.program.has_drawn) {
            server.inputs.push_back(MachineInput::input(Input::Drawn));
        }
        if server.wake.take_if(|at| *at <= self.time).is_some() {
            server.inputs.push_back(MachineInput::input(Input::Tick));
        }
        if self.time >= self.stalled_until
            && let Some(hook) = self.spool.next(self.time)
        {
            server.last_request += 1;
            let id = RequestId(server.last_request);
            self.story.tell(|| format!("{} brought {} {:?}", self.time, hook.id, hook.news));
            server.inputs.push_back(MachineInput::input(Input::Hook { id, hook }));
        }
        if self.spool.before_start == 0 && !std::mem::replace(&mut server.caught_up, true) {
            server.inputs.push_back(MachineInput::input(Input::CaughtUp));
        }
    }

    fn restart(&mut self) {
        if self.session_is_over {
            // The ended session takes no more turns.
            for turn in self.book.open() {
                self.book.end(turn);
            }
            self.restart_at = None;
            return;
        }
        self.story.tell(|| format!("{} the server starts", self.time));
        self.spool.restart(self.time);
        let mut inputs = VecDeque::from([MachineInput::input(Input::Drawn)]);
        inputs.extend(self.book.open().into_iter().map(MachineInput::TakeUp));
        let asked =
            self.book.asked.keys().map(|permission| ("home".into(), permission.clone())).collect();
        let machine = Machine::new(session(self.book.native.clone()), self.book.earlier(), asked);
        let (outstanding, wake, reports, answered, done) = <_>::default();
        let server = SessionProcess {
            machine,
            inputs,
            outstanding,
            wake,
            reports,
            caught_up: false,
            answered,
            is_ending: false,
            done,
            last_request: 0,
        };
        self.server = Some(server);
    }

    fn crash(&mut self) {
        if self.server.take().is_some() {
            self.stats.crashes += 1;
            self.spool.is_brought = false;
            self.restart_at = Some(self.time + [0, 500, 15_000][self.rng.weighted(&[3, 3, 1])]);
            self.story.tell(|| format!("{} the server dies", self.time));
        }
    }

    /// Makes something happen by chance, or nothing.
    fn something_happens(&mut self) {
        match self.rng.below(2000) {
            0..30 if self.book.turns.len() < TURNS_MAX && !self.session_is_over => self.grant(),
            30..45 => self.crash(),
            45..51 => self.end_one(true),
            51..55 => self.end_one(false),
            55..70 => self.program.typed(&mut self.rng, &mut self.spool, self.time),
            70..85 if self.program.dialog.is_some() => {
                self.program.touched(&mut self.rng, self.time)
            }
            85..88 => self.program.touched(&mut self.rng, self.time),
            88..93 => self.program.lie(&mut self.spool, self.time),
            93..110 => self.program.redraw(&mut self.rng, self.time),
            110..150 => self.answer(),
            150..155 => self.stalled_until = self.time + self.rng.below(30_000) as i64,
            155 if self.stats.turns > 4 => self.program.die(),
            157..162 => self.interrupt(),
            // Half of the time nothing happens, and time passes.
            1_000..2_000
                if self.server.as_ref().is_none_or(|server| server.outstanding.is_none()) =>
            {
                self.time += self.rng.below(600) as i64;
            }
            _ => {}
        }
    }

    fn grant(&mut self) {
        let turn = self.book.grant();
        self.stats.turns += 1;
        self.story.tell(|| format!("{} job {turn} is offered", self.time));
        if let Some(server) = &mut self.server {
            server.inputs.push_back(MachineInput::input(Input::Offered(Book::job(turn))));
        }
    }

    /// Ends a turn: a person cancels it, or its time is up.
    fn end_one(&mut self, interrupt: bool) {
        let Some(turn) = self.rng.pick(&self.book.open()).copied() else { return };
        self.book.end(turn);
        self.story.tell(|| format!("{} job {turn} is taken away", self.time));
        if let Some(server) = &mut self.server {
            server.inputs.push_back(MachineInput::TakenAway(turn, interrupt));
        }
    }

    fn interrupt(&mut self) {
        if let Some(server) = &mut self.server {
            server.last_request += 1;
            self.escape_wanted = true;
            server
                .inputs
                .push_back(MachineInput::input(Input::Interrupt(RequestId(server.last_request))));
        }
    }

    /// Answers a question as a person would from outside, or lets it expire.
    fn answer(&mut self) {
        let Some(server) = &mut self.server else { return };
        let open = self
            .book
            .turns
            .values_mut()
            .filter(|turn| !turn.is_over)
            .find(|turn| !turn.asked.is_empty());
        let (of_turn, is_turns) =
            open.map(|turn| (turn.asked.pop_first(), true)).unwrap_or_default();
        let Some((permission, question)) = of_turn.or_else(|| self.book.asked.pop_first()) else {
            return;
        };
        // A question outside a turn waits as long as its dialog is open.
        let option = [Some("y"), Some("n"), None]
            [if self.calm { 0 } else { self.rng.weighted(&[3, 1, u64::from(is_turns)]) }];
        let given = option.map(|option| given(&question, option));
        self.story.tell(|| format!("{} {permission} is answered: {given:?}", self.time));
        server
            .inputs
            .push_back(MachineInput::input(Input::Permitted { permission, given: given.clone() }));
        server.answered = Some(check::Answer {
            action: question.action,
            text: given.and_then(|given| given.text),
        });
    }

    /// Sends a person when nothing else happens. Returns false if there is nothing for them to do.
    fn tidy_up(&mut self) -> bool {
        let in_a_turn =
            self.book.turns.values().any(|turn| !turn.is_over && !turn.asked.is_empty());
        let in_no_turn = !self.book.asked.is_empty() && self.program.dialog.is_some();
        if in_a_turn || in_no_turn {
            self.answer();
        } else if self.program.dialog.is_some() {
            self.program.touched(&mut self.rng, self.time);
        } else if !self.program.composer.is_empty() {
            self.program.tidied();
        } else if !self.spool.is_empty() && self.server.is_some() {
            self.spool.is_brought = false;
        } else {
            return false;
        }
        true
    }

    fn tell_next(&mut self) -> Result<(), Objection> {
        let Some(next) = self.server.as_mut().and_then(|server| server.inputs.pop_front()) else {
            return Ok(());
        };
        match next {
            MachineInput::Input(input) => self.tell(*input),
            MachineInput::Begun(turn) => self.tell(Input::Begun {
                key: Book::key(turn),
                delivery: self.book.row_of(turn).map(|(row, _)| row),
            }),
            MachineInput::TakenAway(turn, interrupt) => {
                self.escape_wanted |= interrupt;
                self.tell(Input::TakenAway {
                    key: Book::key(turn),
                    interrupt,
                    delivery: self.book.row_of(turn).map(|(row, _)| row),
                })
            }
            MachineInput::TakeUp(turn) => {
                self.resume(turn);
                Ok(())
            }
        }
    }

    /// Resumes a turn that an earlier process granted.
    fn resume(&mut self, turn: u64) {
        let (Some(server), Some(known)) = (&mut self.server, self.book.turns.get(&turn)) else {
            return;
        };
        if known.is_over {
            return;
        }
        // Loading takes time.
        if self.rng.chance(50) && !server.inputs.is_empty() {
            return server.inputs.push_back(MachineInput::TakeUp(turn));
        }
        if known.is_started && server.machine.probe(&Book::key(turn)) == Probe::Unknown {
            self.book.end(turn);
            return;
        }
        server.inputs.push_back(MachineInput::input(Input::Offered(Book::job(turn))));
        if known.is_started {
            server.inputs.push_back(MachineInput::Begun(turn));
        }
    }

    /// Gives the machine an input and carries out its outputs, except those that the machine waits
    /// for.
    fn tell(&mut self, input: Input) -> Result<(), Objection> {
        let Some(server) = &mut self.server else { return Ok(()) };
        let checkpoints = Checkpoints::default();
        let now = Now {
            wall: Timestamp::from_millis(1_700_000_000_000 + self.time),
            steady: Millis(self.time as u64),
        };
        let around = Around {
            now,
            reports: self.program.reports,
            checkpoints: &checkpoints,
            question_limit: None,
        };
        self.story.tell(|| {
            format!("{} < {}", self.time, moothall_kernel::text::cut(&format!("{input:?}"), 200))
        });
        let twin = self.rng.chance(5).then(|| (server.machine.clone(), input.clone()));
        let outputs = server.machine.handle(&around, input);
        if let Some((mut twin, input)) = twin
            && twin.handle(&around, input.clone()) != outputs
        {
            return object("determinism", format!("{input:?} led to two things"));
        }
        let started = |output: &Output| match output {
            Output::Report { key, report: Report::Started { .. } } => Some(key.turn.0),
            Output::Report { .. }
            | Output::See { .. }
            | Output::Mark { .. }
            | Output::Paste { .. }
            | Output::Press { .. }
            | Output::Choose { .. }
            | Output::Keep { .. }
            | Output::Recall { .. }
            | Output::LookUp { .. }
            | Output::Reply { .. }
            | Output::Missing { .. }
            | Output::AskInNoTurn { .. }
            | Output::WithdrawInNoTurn { .. }
            | Output::Tell { .. }
            | Output::There
            | Output::Wake { .. } => None,
        };
        if let Some(turn) =
            outputs.iter().filter_map(started).find(|turn| server.done.contains(turn))
        {
            return object("again", format!("job {turn} is begun again after its answer was kept"));
        }
        outputs.into_iter().for_each(|output| self.carry_out(output));
        self.end_session();
        Ok(())
    }

    /// After the end of a session, only delivers the remaining reports to its conversations.
    fn end_session(&mut self) {
        let is_over =
            self.server.as_ref().is_some_and(|server| server.machine.doing() == Activity::Ended);
        self.session_is_over |= is_over;
        if is_over {
            while self.server.as_ref().is_some_and(|server| !server.reports.is_empty()) {
                self.commit_next();
            }
        }
    }

    fn carry_out(&mut self, output: Output) {
        self.story.tell(|| {
            format!("{}   > {}", self.time, moothall_kernel::text::cut(&format!("{output:?}"), 200))
        });
        let Some(server) = &mut self.server else { return };
        match output {
            Output::Mark { lasting: Durability::Synced, .. }
            | Output::See { .. }
            | Output::Paste { .. }
            | Output::Press { .. }
            | Output::Choose { .. }
            | Output::Keep { .. }
            | Output::Recall { .. }
            | Output::LookUp { .. } => {
                server.outstanding = Some(MachineWait::Wanted(Box::new(output)))
            }
            // A failed write is like a crash before it.
            Output::Mark { delivery, from, to, lasting: Durability::Written, .. } => {
                drop(self.book.mark(delivery, &from, to))
            }
            Output::Report { key, report } => server.reports.extend(said(key.turn.0, report)),
            Output::Reply { reply, .. } => self.replied(reply),
            Output::Missing { died } if died && !server.is_ending => {
                server.is_ending = true;
                server
                    .inputs
                    .push_back(MachineInput::input(Input::Ended("its program ended".into())));
            }
            Output::AskInNoTurn { permission, question, .. } => {
                drop(self.book.asked.insert(permission, *question))
            }
            Output::WithdrawInNoTurn { permission, .. } => {
                drop(self.book.asked.remove(&permission))
            }
            Output::Missing { .. } | Output::There | Output::Tell { .. } => {}
            Output::Wake { at } => server.wake = at.map(|at| at.0 as i64),
        }
    }

    fn replied(&mut self, reply: Reply) {
        match reply {
            Reply::Heard(Ok(_)) => self.spool.taken(!self.calm && self.rng.chance(5)),
            Reply::Heard(Err(_)) => self.spool.is_brought = false,
            Reply::Interrupted(Ok(Some(key))) => {
                self.book.end(key.turn.0);
                self.server.iter_mut().for_each(|server| {
                    server.inputs.push_back(MachineInput::TakenAway(key.turn.0, true))
                });
            }
            Reply::Interrupted(Ok(None) | Err(_)) | Reply::Permit(_) | Reply::Looked => {}
        }
    }

    fn fails(&mut self, percent: u64) -> bool {
        !self.calm && self.rng.chance(percent)
    }

    /// Delivers the next report to the conversation.
    fn commit_next(&mut self) {
        let Some(server) = &mut self.server else { return };
        match server.reports.pop_front() {
            Some(ConversationInput::Started(turn)) => {
                server.inputs.extend(self.book.start(turn).map(|_| MachineInput::Begun(turn)))
            }
            Some(ConversationInput::Finished(turn)) => {
                self.book.end(turn);
            }
            Some(ConversationInput::Asked(turn, permission, question)) => {
                self.book
                    .turns
                    .entry(turn)
                    .and_modify(|turn| drop(turn.asked.insert(permission, *question)));
            }
            Some(ConversationInput::Withdrawn(turn, permission)) => {
                self.book.turns.entry(turn).and_modify(|turn| drop(turn.asked.remove(&permission)));
            }
            None => {}
        }
    }
}

impl MachineInput {
    fn input(input: Input) -> Self {
        MachineInput::Input(Box::new(input))
    }
}

fn said(turn: u64, report: Report) -> Option<ConversationInput> {
    use ConversationInput::Withdrawn;
    match report {
        Report::Started { .. } => Some(ConversationInput::Started(turn)),
        Report::Finished { .. } => Some(ConversationInput::Finished(turn)),
        Report::Permission { permission, question, .. } => {
            Some(ConversationInput::Asked(turn, permission, question))
        }
        Report::Withdrawn { permission, .. } => Some(Withdrawn(turn, permission)),
        Report::Delta(_)
        | Report::Progress(_)
        | Report::Used(_)
        | Report::Thought(_)
        | Report::OnlyThought
        | Report::Printed(_)
        | Report::LastLines(_)
        | Report::Ended(_)
        | Report::Summarised { .. } => None,
    }
}

fn session(native: Option<String>) -> Session {
    Session {
        id: "home".into(),
        name: "ada".into(),
        client: "claude".into(),
        computer: String::new(),
        cwd: PathBuf::from("/"),
        pane: None,
        native,
        origin: Origin::Started,
        token_hash: String::new(),
        started_at: Timestamp::from_millis(0),
        ended: None,
        started_by: None,
        run_as: None,
        until: None,
        args: Vec::new(),
        memory: None,
        lost: false,
        left: Vec::new(),
    }
}

/// Returns a person's answer. A yes is given in words if the question takes words.
fn given(question: &Question, option: &str) -> PermissionAnswer {
    match question.options.iter().find(|offered| offered.takes_text) {
        Some(taker) if option == "y" => PermissionAnswer {
            option: taker.id.clone(),
            text: Some(format!("words for {}", question.action)),
        },
        Some(_) | None => PermissionAnswer { option: option.to_owned(), text: None },
    }
}
