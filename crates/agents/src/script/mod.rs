//! Runtime `script`: agents that need no key and cost nothing. Their answers depend on the turn
//! alone, so that a rerun after a crash gives the same answer.

mod analyst;
mod critic;
mod lines;
mod room;
mod section;
mod text;
mod writer;

pub(crate) use section::RUNTIME;

use async_trait::async_trait;
use moothall_engine::agent::{Job, Reporter};
use moothall_engine::run_once::Work;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::participant::{Abilities, Runtime};
use moothall_kernel::pass::PASS;

pub use lines::{ScriptLine, ScriptSpec};
use room::TurnView;

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
        let words = match self {
            Demo::Analyst => analyst::speak(&room),
            Demo::Writer => writer::speak(&room),
            Demo::Critic => critic::speak(&room),
        };
        words.unwrap_or_else(|| PASS.to_owned())
    }
}

#[async_trait]
impl Work for Demo {
    fn runtime(&self) -> Runtime {
        RUNTIME.runtime.clone()
    }

    /// Returns 0: the agent reads the newest messages and not its prompt.
    fn room(&self) -> usize {
        0
    }

    fn abilities(&self) -> Abilities {
        RUNTIME.abilities
    }

    async fn run(&self, job: &Job, _out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        (Ok(self.answer(job)), Usage::default())
    }
}
