//! What the programs in terminals report by themselves, whatever their makers call it.

use super::SessionId;

/// A report of a program about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Unique; the same report may be brought twice.
    pub id: String,
    /// The session in whose environment it was made.
    pub session: SessionId,
    /// The session's own secret, which its environment holds.
    pub token: String,
    /// The program's own id for its session or thread, where it gives one.
    pub native: Option<String>,
    /// What happened in the program.
    pub news: HookNews,
}

/// What a program reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookNews {
    /// The program began a session of its own.
    Began,
    /// It took a prompt.
    Prompt {
        /// The whole prompt, as the program took it.
        text: String,
    },
    /// It is done with a turn.
    Stopped {
        /// What it said at last; nothing when it said nothing.
        text: Option<String>,
        /// Prompts it had taken, for programs that do not report them one by one: all of its
        /// session so far.
        inputs: Option<Vec<String>>,
        /// The reports of this program hold only what ended normally: its next idle screen ends a
        /// turn too.
        interrupted: bool,
    },
    /// It gave a turn up: its model cannot be reached, say.
    Failed {
        /// What it says of it.
        message: String,
    },
    /// It waits for a person's permission.
    Asks {
        /// What it wants to do, as far as the report holds it.
        action: String,
        /// The report does not hold all of it.
        partial: bool,
    },
    /// The program ended its session.
    Ended,
}

/// What came of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportOutcome {
    /// It counted, and what followed from it is kept.
    Yes,
    /// It was known already, or is of no interest.
    Nothing,
    /// There is no such session, or it is over.
    Unknown,
    /// It did not come from the session it names.
    Forged,
}

/// An answer to a permission that a program's own hook waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// A person allowed the action.
    Allow,
    /// A person did not allow the action.
    Deny,
    /// No person answered in time: the action is not done, and the program may ask again.
    GaveUp,
    /// Too many questions of the program wait for people already: this one was not asked.
    TooMany,
    /// Nobody decided: the program asks the person at its terminal.
    Undecided,
}
