//! Runtime `script`: agents that need no key and cost nothing. Their answers depend on the turn
//! alone, so that a rerun after a crash gives the same answer.

mod analyst;
mod circle;
mod critic;
mod lines;
mod room;
mod section;
mod text;
mod writer;

pub(crate) use section::RUNTIME;

use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::agent::{Job, Reporter};
use moothall_engine::run_once::Work;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::participant::{Abilities, Runtime};
use moothall_kernel::pass::PASS;

pub use lines::{ScriptLine, ScriptSpec};
use room::TurnView;

/// Time before the answer at the human pace, and before each of its words.
const THINKS: Duration = Duration::from_millis(900);
const WORD: Duration = Duration::from_millis(45);

/// The built-in demo agents, in the order in which they are invited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::Display, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Demo {
    /// Takes a message apart; volunteers for numbers and questions.
    Analyst,
    /// Drafts; volunteers when asked to write something.
    Writer,
    /// Objects; volunteers when another agent has spoken.
    Critic,
}

impl Demo {
    /// Returns one sentence for people.
    pub const fn summary(self) -> &'static str {
        match self {
            Demo::Analyst => {
                "Demo: analyses a message; volunteers when there are numbers or a question."
            }
            Demo::Writer => {
                "Demo: drafts a short text from the messages; volunteers when asked to write."
            }
            Demo::Critic => "Demo: raises one objection; volunteers when another agent has spoken.",
        }
    }

    /// Returns the answer to this turn: never empty, and a pass only if the turn allows one.
    pub fn answer(self, job: &Job) -> String {
        let room = TurnView::new(job);
        if let Some(words) = circle::speak(self, &room) {
            return words;
        }
        let words = match self {
            Demo::Analyst => analyst::speak(&room),
            Demo::Writer => writer::speak(&room),
            Demo::Critic => critic::speak(&room),
        };
        words.unwrap_or_else(|| PASS.to_owned())
    }
}

/// The pace at which a demo agent answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// At the pace of a quick human writer, so that turns and streaming can be watched.
    #[default]
    Human,
    /// At once, for tests and measurements.
    Instant,
}

/// A demo agent with its pace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacedDemo {
    pub(crate) demo: Demo,
    pub(crate) pace: Pace,
}

#[async_trait]
impl Work for PacedDemo {
    fn runtime(&self) -> Runtime {
        RUNTIME.runtime.clone()
    }

    /// Returns 0: the agent reads the messages of its window, and needs no transcript in its
    /// prompt.
    fn room(&self) -> usize {
        0
    }

    fn abilities(&self) -> Abilities {
        RUNTIME.abilities
    }

    async fn run(&self, job: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        let answer = self.demo.answer(job);
        if self.pace == Pace::Human {
            tokio::time::sleep(THINKS).await;
            if answer != PASS {
                lines::stream(&answer, WORD, out).await;
            }
        }
        (Ok(answer), Usage::default())
    }
}
