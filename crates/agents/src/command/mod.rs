//! Runtime `command`: a program run once for each turn. It reads the turn from stdin and writes the
//! reply to stdout.
//!
//! The program leads its own process group. The group is killed when the turn ends, for any reason.

mod document;
mod environment;
mod group;
mod output;
mod pipes;
mod section;
mod strays;
mod wording;

pub(crate) use section::RUNTIME;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use moothall_engine::agent::{CallCost, Job, Report, Reporter, WINDOW_LEN};
use moothall_engine::crash;
use moothall_engine::pauses::within;
use moothall_engine::run_once::Work;
use moothall_kernel::compose::TRANSCRIPT_BYTES;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::participant::{Abilities, OnLost, Runtime};
use moothall_kernel::text::is_empty_looking;
use moothall_kernel::thoughts;
use moothall_kernel::time::Millis;
use serde::Deserialize;
use tokio::process::{ChildStdin, Command};

use crate::logins::{self, Login};
use crate::run_as::Account;
use crate::spending::Prices;
pub(crate) use environment::{Environment, is_own as is_own_variable, is_program};
use group::Group;
use pipes::{Output, Stderr, Stdout};
use strays::Mark;

/// The placeholder in an argument for the whole prompt.
pub const PROMPT_PLACEHOLDER: &str = "{prompt}";

/// Time past a turn's limit after which its program is ended here. The conversation's own deadline,
/// which allows for a stopped clock, is meant to end the turn first, so that a turn always ends in
/// the same way.
const BACKSTOP: Duration = Duration::from_secs(1);

/// Least time between two reports of a program's output.
const TELLS_EVERY: Duration = Duration::from_millis(250);

/// The input of a program on stdin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdin {
    /// One JSON document: `bridge, thread, participant, trigger, context_window, prompt`.
    #[default]
    Json,
    /// The prompt as plain text.
    Prompt,
}

/// A program that answers turns.
#[derive(Clone, PartialEq)]
pub struct CommandSpec {
    /// Program and arguments, run without a shell. `{prompt}` in an argument is replaced by the
    /// prompt.
    pub argv: Vec<String>,
    /// The working directory; the server's own if unset.
    pub cwd: Option<PathBuf>,
    /// Variables added to the inherited ones.
    pub env: BTreeMap<String, String>,
    /// The user that the program runs as; the server's own if unset.
    pub run_as: Option<String>,
    /// The form of the program's standard input.
    pub stdin: Stdin,
    /// Longest transcript in a prompt, in bytes.
    pub transcript_bytes: usize,
    /// The server's address, for programs that want to read more.
    pub bridge_url: String,
    /// Time limit of the program for a turn.
    pub timeout: Option<Millis>,
    /// The rule for a turn that a restart lost.
    pub on_lost: OnLost,
    /// The prices of the tokens that the program reports.
    pub prices: Prices,
}

impl fmt::Debug for CommandSpec {
    /// Leaves out the values of variables, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandSpec")
            .field("argv", &self.argv)
            .field("cwd", &self.cwd)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("run_as", &self.run_as)
            .field("stdin", &self.stdin)
            .field("transcript_bytes", &self.transcript_bytes)
            .field("bridge_url", &self.bridge_url)
            .field("timeout", &self.timeout)
            .field("on_lost", &self.on_lost)
            .field("prices", &self.prices)
            .finish()
    }
}

impl CommandSpec {
    /// Returns a program with default settings.
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: None,
            env: BTreeMap::new(),
            run_as: None,
            stdin: Stdin::Json,
            transcript_bytes: TRANSCRIPT_BYTES,
            bridge_url: String::new(),
            timeout: None,
            on_lost: OnLost::Rerun,
            prices: Prices::default(),
        }
    }

    /// Returns the program's file if it could be started now.
    ///
    /// # Errors
    /// `spawn_failed`, which names what is missing: the directory, or the program and the search
    /// path.
    pub fn check(&self) -> Result<PathBuf, Fault> {
        let program = self.program();
        if program.is_empty() {
            return Err(spawn_failed("The command is empty; give it a program and its arguments."));
        }
        let here = self.cwd.as_deref().unwrap_or(Path::new(""));
        if self.cwd.is_some() && !here.is_dir() {
            return Err(spawn_failed(format!(
                "The directory {} does not exist. Create it, or choose another: `cwd` of the \
                 agent, or a new conversation with `--folder`.",
                here.display()
            )));
        }
        let environment = Environment::of(&self.env);
        environment.find(program, here).ok_or_else(|| spawn_failed(missing(program, &environment)))
    }

    /// Returns the program as it runs for a conversation with a folder. A known program that has no
    /// folder and no user of its own works in the folder of the conversation, if its file is found.
    /// Any other program is unchanged: its arguments may name files in the server's folder.
    fn in_room(&self, folder: Option<&str>) -> Self {
        let has_own_place = self.cwd.is_some() || self.run_as.is_some();
        let is_known = !has_own_place && Login::of(self.program()).is_some();
        let Some(folder) = folder.filter(|_| is_known) else { return self.clone() };
        let Ok(program) = self.check() else { return self.clone() };
        let mut argv = self.argv.clone();
        // The file was found from the server's folder. A relative path would name another file in
        // that of the conversation.
        argv[0] = program.to_string_lossy().into_owned();
        Self { argv, cwd: Some(folder.into()), ..self.clone() }
    }

    /// Returns the user that the program runs as, if configured.
    fn account(&self) -> Result<Option<Account>, Fault> {
        self.run_as.as_deref().map(Account::of).transpose().map_err(spawn_failed)
    }

    /// Returns the variables added to the inherited ones: the login of a known program, overridden
    /// by the configured ones.
    fn added_variables(&self) -> BTreeMap<String, String> {
        logins::added_variables(Login::of(self.program()), &self.env)
    }

    fn program(&self) -> &str {
        self.argv.first().map(String::as_str).unwrap_or_default()
    }

    /// Starts the program for a turn, in a process group of its own, with the mark of the turn in
    /// its environment and as the user of `run_as`. Fails with `spawn_failed`.
    fn start(&self, job: &Job, prompt: &str) -> Result<RunningProgram, Fault> {
        let program = self.check()?;
        let account = self.account()?;
        let mark = Mark::of(&job.key);
        let before = account
            .as_ref()
            .map_or_else(|| Ok(Vec::new()), Account::command_prefix)
            .map_err(spawn_failed)?;
        let environment = match &account {
            Some(account) => Environment::of_account(
                account,
                logins::added_variables(Login::of(self.program()), &BTreeMap::new()),
                &self.env,
            ),
            None => Environment::of(&self.added_variables()),
        };
        let mut words = before.into_iter().map(OsString::from).chain([program.into_os_string()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command
            .args(words)
            .args(
                self.argv
                    .iter()
                    .skip(1)
                    .map(|argument| argument.replace(PROMPT_PLACEHOLDER, prompt)),
            )
            .env_clear()
            .envs(environment.pairs())
            .envs(mark.variables())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(cwd) = self.cwd.as_deref().or(account.as_ref().map(Account::home)) {
            command.current_dir(cwd);
        }
        let mut child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::ArgumentListTooLong => spawn_failed(format!(
                "{} could not be started: the prompt is too long for an argument, which the system \
                 bounds at 128 KiB. Leave {PROMPT_PLACEHOLDER} out and give it on standard input: \
                 stdin = \"prompt\".",
                self.program()
            )),
            _ => spawn_failed(format!("{} could not be started: {error}.", self.program())),
        })?;
        let (stdin, output) = (
            child.stdin.take(),
            Output::of(&mut child, self.printed_spec().map(|spec| spec.keeps)),
        );
        let group = Group::of(child, mark);
        crash::point("program_started");
        Ok(RunningProgram { group, stdin, output })
    }

    /// Returns the text for the program's standard input: the JSON document, or the prompt alone.
    async fn document(&self, job: &Job, prompt: String) -> String {
        match self.stdin {
            Stdin::Json => {
                let document = document::json(job, &self.bridge_url, prompt);
                self.worded_json(document).await
            }
            Stdin::Prompt => prompt,
        }
    }

    /// Runs the program for a turn until it exits, takes too long or writes too much, and then ends
    /// its whole group. Returns its words or the fault, and the usage that it reports. Fails with
    /// `spawn_failed`.
    async fn answer(
        &self,
        job: &Job,
        out: &dyn Reporter,
    ) -> Result<(Result<String, Fault>, Usage), Fault> {
        // Processes of an earlier attempt that survived a crash of the server must not run beside
        // this one.
        if job.key.attempt > 1 {
            Mark::of(&job.key).end_all().await;
        }
        let prompt = self.worded(document::prompt(job)).await;
        let mut started = self.start(job, &prompt)?;
        let document = self.document(job, prompt.clone()).await;
        let limit = Duration::from_millis(job.limit.0).saturating_add(BACKSTOP);
        let printed = (started.output.stdout.clone(), started.output.stderr.clone());
        let ended = tokio::select! {
            ended = within(limit, started.attend(document.as_bytes())) => ended,
            never = self.tell_of(&printed, &prompt, out) => match never {},
        };
        let RunningProgram { group, output, .. } = started;
        group.end().await;
        crash::point("program_ended");
        let turn = self.turn_in(&output.stdout.bytes());
        if !matches!(ended, Some(ProgramEnd::Exited(status)) if status.success()) {
            out.report(Report::Printed(turn.words.clone().unwrap_or_default()));
        }
        let usage = self.prices.usage_of(&turn.usage);
        Ok((self.result(ended, turn, &output, (job, &prompt)), usage))
    }

    /// Reports the program's output while it works: a turn that is stopped cannot report it later.
    async fn tell_of(
        &self,
        (stdout, stderr): &(Arc<Stdout>, Arc<Stderr>),
        prompt: &str,
        out: &dyn Reporter,
    ) -> Infallible {
        loop {
            stdout.grown().await;
            let turn = self.turn_in(&stdout.bytes());
            out.report(Report::LastLines(self.complaint(&turn, &stderr.bytes(), prompt)));
            out.report(Report::Printed(turn.words.unwrap_or_default()));
            tokio::time::sleep(TELLS_EVERY).await;
        }
    }
}

#[async_trait]
impl Work for CommandSpec {
    fn runtime(&self) -> Runtime {
        RUNTIME.runtime.clone()
    }

    fn abilities(&self) -> Abilities {
        RUNTIME.abilities
    }

    fn needs_a_place(&self) -> bool {
        true
    }

    fn on_lost(&self) -> OnLost {
        self.on_lost
    }

    fn room(&self) -> usize {
        self.transcript_bytes
    }

    fn window(&self) -> usize {
        match self.stdin {
            Stdin::Json => WINDOW_LEN,
            Stdin::Prompt => 0,
        }
    }

    fn timeout(&self) -> Option<Millis> {
        self.timeout
    }

    /// A program that reports its usage may cost money, and its cost has no known limit.
    fn call_cost(&self) -> CallCost {
        match self.printed_spec() {
            Some(_) => CallCost::Unknown,
            None => CallCost::Nothing,
        }
    }

    async fn run(&self, job: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        // The first poll runs on the stream's task. The process is started after it, on the turn's
        // own.
        tokio::task::yield_now().await;
        let began = Instant::now();
        let (result, usage) = match self.in_room(job.folder.as_deref()).answer(job, out).await {
            Ok(turn) => turn,
            Err(fault) => (Err(fault), Usage::default()),
        };
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        (result.map(|text| words_of(text, out)), Usage { ms, ..usage })
    }
}

/// Separates the thoughts in a program's output from its words: many programs print a model's raw
/// output.
fn words_of(text: String, out: &dyn Reporter) -> String {
    let heard = thoughts::split(&text, "");
    if is_empty_looking(&heard.thoughts) {
        return text;
    }
    if is_empty_looking(&heard.words) {
        out.report(Report::OnlyThought);
        return heard.thoughts;
    }
    out.report(Report::Thought(heard.thoughts));
    heard.words
}

/// A program at work.
struct RunningProgram {
    group: Group,
    stdin: Option<ChildStdin>,
    output: Output,
}

/// The outcome of a program's work.
enum ProgramEnd {
    Exited(ExitStatus),
    TooLarge,
    Unknown(std::io::Error),
}

impl RunningProgram {
    /// Feeds, reads and waits at the same time, so that neither side can block the other.
    ///
    /// The program has ended when it exits. Its children may still hold the pipes; they get
    /// [`pipes::GRACE`] to write the rest, as in a shell pipeline.
    async fn attend(&mut self, document: &[u8]) -> ProgramEnd {
        let mut feeding = std::pin::pin!(pipes::feed(self.stdin.take(), document));
        let mut reading = std::pin::pin!(self.output.read());
        let (mut fed, mut read) = (false, false);
        let exited = loop {
            tokio::select! {
                () = &mut feeding, if !fed => fed = true,
                result = &mut reading, if !read => match result {
                    Ok(()) => read = true,
                    Err(pipes::TooLarge) => return ProgramEnd::TooLarge,
                },
                exited = self.group.exited() => break exited,
            }
        };
        if !read && let Ok(Err(pipes::TooLarge)) = tokio::time::timeout(pipes::GRACE, reading).await
        {
            return ProgramEnd::TooLarge;
        }
        exited.map_or_else(ProgramEnd::Unknown, ProgramEnd::Exited)
    }
}

fn spawn_failed(message: impl Into<String>) -> Fault {
    Fault::new("spawn_failed", message)
}

fn missing(program: &str, environment: &Environment) -> String {
    if program.contains('/') {
        format!("{program} does not exist or may not be executed.")
    } else {
        format!("The program {program} is not installed: it is in none of {}.", environment.path())
    }
}
