//! Reports that programs in terminals make by themselves, independent of their vendors.

use moothall_kernel::occupation::ToolUse;
use moothall_kernel::permission::ActionDetail;
use serde::{Deserialize, Serialize};

use super::SessionId;

/// A report of a program about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The unique id. The same report may arrive twice.
    pub id: String,
    /// The session in whose environment the report was made.
    pub session: SessionId,
    /// The secret of the session, from its environment.
    pub token: String,
    /// The program's own id for its session or thread, if it gives one.
    pub native: Option<String>,
    /// The event in the program.
    pub news: HookNews,
}

/// An event that a program reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookNews {
    /// The program began a session of its own.
    Began,
    /// The program took a prompt.
    Prompt {
        /// The whole prompt, as the program took it.
        text: String,
    },
    /// The program finished a turn.
    Stopped {
        /// The last words of the turn; `None` if the program said nothing.
        text: Option<String>,
        /// All prompts of the program's session so far, if the program does not report them one by
        /// one.
        inputs: Option<Vec<String>>,
        /// True if the program does not report interrupted turns.
        interrupted: bool,
    },
    /// The program gave up a turn, for example because it cannot reach its model.
    Failed {
        /// The program's error message.
        message: String,
    },
    /// The program waits for a person's permission.
    Asks(ReportedQuestion),
    /// The program uses a tool; `None` if it has ended the use. Such a report is sent only once,
    /// and is not stored for a later start of the server.
    Uses(Option<ToolUse>),
    /// The program ended its session.
    Ended,
}

/// A question that a program reports by itself, in addition to the dialog that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedQuestion {
    /// The action that the program wants to take, as far as the report has it.
    pub action: String,
    /// True if the report does not have the whole action.
    pub partial: bool,
    /// The parts of the action, if the report has them one by one.
    pub detail: Option<ActionDetail>,
    /// The program's own offers not to ask again. Each has its number in the report, and words that
    /// say which actions it covers.
    pub always: Vec<(usize, String)>,
    /// The questions to the person, in their order, if the program asks for a choice.
    pub choices: Vec<ReportedChoice>,
}

/// A question of a program to its user, with the answers on offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedChoice {
    /// The few words that the program shows in place of the question.
    pub header: String,
    /// The words of the question.
    pub question: String,
    /// The answers that the agent offers, each with its label and its description, which may be
    /// empty.
    pub options: Vec<(String, String)>,
}

impl ReportedQuestion {
    /// Returns a question of which only the action is known.
    pub fn new(action: impl Into<String>, partial: bool) -> Self {
        Self {
            action: action.into(),
            partial,
            detail: None,
            always: Vec::new(),
            choices: Vec::new(),
        }
    }
}

/// The outcome of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportOutcome {
    /// The report was new, and its effects are committed.
    Yes,
    /// The report was known already, or is of no interest.
    Nothing,
    /// The session does not exist, or has ended.
    Unknown,
    /// The report does not come from the session that it names.
    Forged,
}

/// The answer to a permission that a program's own hook waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permit {
    /// A person allowed the action.
    Allow,
    /// A person allowed the action, and took the program's offer with this number not to ask again.
    AllowAlways(usize),
    /// A person did not allow the action.
    Deny,
    /// A person did not allow the action, and told the agent why.
    DenyBecause(String),
    /// No person answered in time. The action is not done, and the program may ask again.
    GaveUp,
    /// Too many questions of the program already wait for people, so this one was not asked.
    TooMany,
    /// Moothall has no decision, so the program asks the person at its terminal.
    Undecided,
}
