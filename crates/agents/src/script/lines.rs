//! An agent that recites lines: for operators who try things out, and for tests.

use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::agent::{Job, Report, Reporter};
use moothall_engine::run_once::Work;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::participant::{Abilities, Runtime};
use moothall_kernel::time::Millis;
use serde::Deserialize;

use super::RUNTIME;

/// One answer. `{message}` stands for the message that caused the turn, `{name}` for the agent's
/// own name; `[PASS]` is a pass.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "LineForm")]
pub struct ScriptLine {
    /// The text, with its placeholders not yet replaced.
    pub text: String,
    /// Delay before the answer, in milliseconds.
    pub delay_ms: u64,
    /// Time for each streamed word, in milliseconds; 0 sends the answer at once.
    pub word_ms: u64,
}

/// A line as configuration writes it: the words alone, or a table.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a string, or a table with `text`, `delay_ms` and `word_ms`"
)]
enum LineForm {
    Text(String),
    Table(LineTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineTable {
    text: String,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    word_ms: u64,
}

impl From<LineForm> for ScriptLine {
    fn from(written: LineForm) -> Self {
        match written {
            LineForm::Text(text) => ScriptLine { text, delay_ms: 0, word_ms: 0 },
            LineForm::Table(LineTable { text, delay_ms, word_ms }) => {
                ScriptLine { text, delay_ms, word_ms }
            }
        }
    }
}

/// The answers of a reciting agent. The n-th turn of a conversation, counted over all its agents,
/// gets the n-th line, and after the last line the first again. The turn's number decides, so that
/// a rerun after a crash gives the same answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptSpec {
    /// The lines, at least one.
    pub replies: Vec<ScriptLine>,
    /// The agent's own time limit.
    pub timeout: Option<Millis>,
}

impl ScriptSpec {
    fn line(&self, job: &Job) -> Option<&ScriptLine> {
        let count = u64::try_from(self.replies.len()).ok().filter(|count| *count > 0)?;
        let index = job.key.turn.0.saturating_sub(1) % count;
        self.replies.get(usize::try_from(index).ok()?)
    }
}

#[async_trait]
impl Work for ScriptSpec {
    fn runtime(&self) -> Runtime {
        RUNTIME.runtime.clone()
    }

    fn abilities(&self) -> Abilities {
        RUNTIME.abilities
    }

    fn timeout(&self) -> Option<Millis> {
        self.timeout
    }

    /// Returns the line of a turn after its delay; without lines, an empty text. With `word_ms`,
    /// the words are reported one by one. The usage is the configured time, not a measured one.
    async fn run(&self, job: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        let Some(line) = self.line(job) else {
            return (Ok(String::new()), Usage::default());
        };
        if line.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(line.delay_ms)).await;
        }
        let text = filled(&line.text, job);
        let mut ms = line.delay_ms;
        if line.word_ms > 0 {
            let words = stream(&text, Duration::from_millis(line.word_ms), out).await;
            ms += line.word_ms * words;
        }
        (Ok(text), Usage { ms, ..Usage::default() })
    }
}

/// Reports the words of a text one by one, each after a pause. Returns their number.
pub(super) async fn stream(text: &str, pause: Duration, out: &dyn Reporter) -> u64 {
    let mut words = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        tokio::time::sleep(pause).await;
        out.report(Report::Delta(word.to_owned()));
        words += 1;
    }
    words
}

/// Replaces the placeholders of a line in one pass, so that a message cannot bring in another
/// placeholder.
fn filled(line: &str, job: &Job) -> String {
    let message = job.trigger.event.body().unwrap_or_default();
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let (value, length) = match rest {
            _ if rest.starts_with("{message}") => (message, "{message}".len()),
            _ if rest.starts_with("{name}") => (job.name.as_str(), "{name}".len()),
            _ => ("{", 1),
        };
        out.push_str(value);
        rest = &rest[length..];
    }
    out + rest
}
