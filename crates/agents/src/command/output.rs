//! The output of a program as text for people, with the usage that it reports.

use std::collections::HashSet;
use std::process::ExitStatus;

use moothall_engine::agent::Job;
use moothall_kernel::event::Fault;
use moothall_kernel::text::clean;

use super::pipes::{Output, STDOUT_BYTES_MAX};
use super::{CommandSpec, ProgramEnd, environment};
use crate::logins::Login;
use crate::terminal::{PrintedSpec, PrintedTurn, Vendor};

impl CommandSpec {
    /// Returns the form of the program's structured output. `None` if its arguments do not ask for
    /// such output, or the program is not known.
    pub(super) fn printed_spec(&self) -> Option<&'static PrintedSpec> {
        let vendor = Login::of(self.program()).map(|login| Vendor::of(login.client))?;
        let spec = vendor.table().launch.printed?;
        (spec.is_asked)(&self.argv).then_some(spec)
    }

    /// Returns the turn that a program's standard output describes. If the output has no structure,
    /// all of it counts as words.
    pub(super) fn turn_in(&self, stdout: &[u8]) -> PrintedTurn {
        let structured =
            self.printed_spec().and_then(|spec| spec.turn(&String::from_utf8_lossy(stdout)));
        let Some(turn) = structured else {
            return PrintedTurn { words: Some(self.readable(stdout)), ..PrintedTurn::default() };
        };
        let readable = |text: String| self.readable(text.as_bytes());
        PrintedTurn { words: turn.words.map(readable), failure: turn.failure.map(readable), ..turn }
    }

    /// Returns the words of a program that has ended. `ended` is `None` if the time limit ended it.
    ///
    /// # Errors
    /// `timeout`, `output_too_large`, `lost`, `exit_status` or `program_failed`.
    pub(super) fn result(
        &self,
        ended: Option<ProgramEnd>,
        turn: PrintedTurn,
        output: &Output,
        (job, prompt): (&Job, &str),
    ) -> Result<String, Fault> {
        match ended {
            None => {
                let quote = quoted(&self.complaint(&turn, &output.stderr.bytes(), prompt));
                let (program, limit) = (self.program(), job.limit.as_secs_f64());
                let message = format!("{program} gave no answer within {limit} s.{quote}");
                Err(Fault::new("timeout", message))
            }
            Some(ProgramEnd::TooLarge) => Err(self.too_large()),
            Some(ProgramEnd::Unknown(error)) => Err(Fault::new(
                "lost",
                format!("{} could not be waited for: {error}.", self.program()),
            )),
            Some(ProgramEnd::Exited(status)) if status.success() => self.words(turn, output),
            Some(ProgramEnd::Exited(status)) => {
                Err(Fault::new("exit_status", self.explain(status, &turn, output, prompt)))
            }
        }
    }

    /// Returns the words of a program that exited with success. If its structured output has
    /// neither words nor a failure, the whole output counts as words. Fails with `output_too_large`
    /// or `program_failed`.
    fn words(&self, turn: PrintedTurn, output: &Output) -> Result<String, Fault> {
        match (turn.words, turn.failure) {
            (Some(words), _) if words.len() > STDOUT_BYTES_MAX => Err(self.too_large()),
            (Some(words), _) => Ok(words),
            (None, Some(failure)) => Err(Fault::new("program_failed", failure)),
            (None, None) => Ok(self.readable(&output.stdout.bytes())),
        }
    }

    fn too_large(&self) -> Fault {
        let limit = STDOUT_BYTES_MAX / 1024;
        let message = format!("{} wrote more than {limit} KiB and was ended.", self.program());
        Fault::new("output_too_large", message)
    }

    /// Returns a message about a program that exited without success: its status, its last words,
    /// and advice if they sound like a missing login.
    fn explain(
        &self,
        status: ExitStatus,
        turn: &PrintedTurn,
        output: &Output,
        prompt: &str,
    ) -> String {
        let said = self.complaint(turn, &output.stderr.bytes(), prompt);
        let cure = Login::of(self.program())
            .and_then(|login| login.cure(&said))
            .map_or_else(String::new, |cure| format!("\n{cure}"));
        format!("{} ended with {status}.{}{cure}", self.program(), quoted(&said))
    }

    /// Returns the last lines of the error in structured output, or else of the standard error, or
    /// else of the words on standard output, because some programs complain there.
    pub(super) fn complaint(&self, turn: &PrintedTurn, stderr: &[u8], prompt: &str) -> String {
        let ends = [
            turn.failure.as_deref().map(|failure| last_words(failure, prompt)),
            Some(last_words(&self.readable(stderr), prompt)),
            turn.words.as_deref().map(|words| last_words(words, prompt)),
        ];
        ends.into_iter().flatten().find(|end| !end.is_empty()).unwrap_or_default()
    }

    /// Returns a program's bytes as text for people: bad UTF-8 is replaced, and colours and control
    /// characters are removed. Secrets given to the program are hidden, in case a prompt made it
    /// print them.
    pub(super) fn readable(&self, bytes: &[u8]) -> String {
        let text = clean(&String::from_utf8_lossy(bytes));
        environment::hide_secrets(text.trim(), &self.added_variables())
    }
}

/// Returns the sentence that quotes a program; empty if it said nothing.
fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(" It said: {said}") }
}

/// Most lines, and most bytes, that are quoted from a failed program's output.
const LAST_LINES: usize = 10;
const LAST_BYTES: usize = 1024;

/// Returns the end of a program's output, at most [`LAST_LINES`] and [`LAST_BYTES`]. The lines of
/// its prompt are left out, because the conversation shows them already.
fn last_words(said: &str, prompt: &str) -> String {
    let asked: HashSet<&str> = prompt.lines().map(str::trim).collect();
    let own: Vec<&str> = said
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty() && !asked.contains(line.trim()))
        .collect();
    let all = own.len();
    let mut text = own[all.saturating_sub(LAST_LINES)..].join("\n");
    let mut cut = all > LAST_LINES;
    if text.len() > LAST_BYTES {
        let from = text.ceil_char_boundary(text.len() - LAST_BYTES);
        text.drain(..from);
        cut = true;
    }
    if cut { format!("… {text}") } else { text }
}
