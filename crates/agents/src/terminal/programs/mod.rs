//! What is known of the programs that live in terminals: one vendor, one file, and in each the same
//! four tables. A new version of a program changes its file, and the captures that prove it.

mod passes;
mod records;
mod resuming;
mod search;
mod claude;
mod codex;
mod gemini;
mod other;

use std::io;
use std::path::PathBuf;

use moothall_engine::sessions::{HookNews, NewestTurn, Permit, RecordEnd, Reports};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::VariantArray;

pub use search::Search;
pub(crate) use search::VARIABLES;

pub(crate) use passes::whole;
pub(crate) use resuming::{ResumeSpec, ValueCount, is_native};

use super::hooks::{Fitting, LaunchCommand};
use super::screen::ScreenReading;
use super::screen::cells::Row;
use crate::logins::Login;

/// Whose program it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Vendor {
    /// Anthropic, whose program is Claude Code.
    Claude,
    /// OpenAI, whose program is Codex CLI.
    Codex,
    /// Google, whose program is Gemini CLI.
    Gemini,
    /// Another, of which nothing is known.
    #[default]
    Other,
}

/// What is known of a program.
pub(crate) struct ProgramTable {
    pub(crate) launch: LaunchSpec,
    pub(crate) screen: Screening,
    pub(crate) keys: Keys,
    /// How it reports; nothing where it does not.
    pub(crate) report: Option<Reporting>,
    /// The way to read its own record; `None` if it keeps none.
    pub(crate) record: Option<RecordSpec>,
}

/// The way to read a program's own record of its conversations: files of lines of JSON.
pub(crate) struct RecordSpec {
    /// The folder below which the files lie, by the program's variables.
    pub(crate) folder: fn(&Variables<'_>) -> Option<PathBuf>,
    /// The folders between that one and a file.
    pub(crate) depth: usize,
    /// The program's own id for the conversation of a file, by its name without the ending.
    pub(crate) native: fn(&str) -> Option<&str>,
    /// The prompt that a line records.
    pub(crate) prompt: fn(&Value) -> Option<String>,
    /// Reads the end of a prompt's turn from all lines and the place of the prompt's.
    pub(crate) end: fn(&[&str], usize) -> Option<RecordEnd>,
    /// The steps of a turn that a line records, in their order.
    pub(crate) steps: fn(&Value) -> Vec<passes::Step>,
    /// Reads the newest turn that is over, if the program does not report what a person types.
    pub(crate) newest: fn(&[&str]) -> Option<(NewestTurn, RecordEnd)>,
}

/// Looks up a variable of a program.
pub(crate) type Variables<'a> = dyn Fn(&str) -> Option<PathBuf> + 'a;

/// How a program is started.
pub(crate) struct LaunchSpec {
    /// What it is called: the program, the client, and the word for it in `moothall hook`.
    pub(crate) name: Option<&'static str>,
    /// How it logs in.
    pub(crate) login: Option<&'static Login>,
    /// Its arguments where it runs for one turn, without a terminal. None of them lets it change
    /// anything without being asked.
    pub(crate) once: Option<&'static [&'static str]>,
    /// Its arguments when it runs once more; `None` if nothing is known of them.
    pub(crate) resuming: Option<&'static ResumeSpec>,
    /// What it is given so that it reports and has this server's tools.
    pub(crate) launch_command: fn(&Fitting<'_>) -> io::Result<LaunchCommand>,
}

/// How its screen is read.
pub(crate) struct Screening {
    /// What its rows show.
    pub(crate) read: fn(&[Row]) -> ScreenReading,
    /// Whether its composer can be read.
    pub(crate) has_composer: bool,
}

/// The keys that it takes, by tmux's names.
pub(crate) struct Keys {
    /// Sends off what stands in the composer.
    pub(crate) submit: &'static str,
    /// Interrupts the turn that goes on.
    pub(crate) interrupt: &'static str,
    /// Empties the composer of what was typed.
    pub(crate) clear: &'static str,
    /// Moves to the option above, out of a field too.
    pub(crate) up: &'static str,
    /// Moves to the option below.
    pub(crate) down: &'static str,
    /// Goes on from options of which several can be chosen.
    pub(crate) next: &'static str,
}

impl Keys {
    /// Those of all programs that are known.
    const USUAL: Keys = Keys {
        submit: "Enter",
        interrupt: "Escape",
        clear: "C-c",
        up: "Up",
        down: "Down",
        next: "Right",
    };
}

/// How a program's own hooks report, and what their reports mean.
pub(crate) struct Reporting {
    /// The field in which it gives its own id for the session or thread.
    pub(crate) native: &'static str,
    /// Reads an event, its payload and the record; `None` if they are of no interest.
    pub(crate) news: fn(&str, &Value, &ReportedEnd) -> Option<HookNews>,
    /// The event that ends a turn.
    pub(crate) ends_with: &'static str,
    /// The end of that turn from its own record, if the payload does not have it as it is. Looked
    /// up while the program waits for its hook.
    pub(crate) recorded: fn(&Value) -> ReportedEnd,
    /// What it expects on the standard output of its hook, whatever comes of the report.
    pub(crate) acknowledgement: &'static str,
    /// What it reports at all.
    pub(crate) reports: Reports,
    /// The hook that may decide a permission, where it has one.
    pub(crate) decides: Option<DecisionHook>,
}

/// The end of a reported turn by the program's own record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReportedEnd {
    /// Its last words.
    pub(crate) words: Option<String>,
    /// The error that ended it.
    pub(crate) trouble: Option<String>,
    /// The words before a pass of the talking piece.
    pub(crate) before_pass: Option<String>,
}

/// A hook that waits for a decision.
pub(crate) struct DecisionHook {
    /// The name of the event that it waits with.
    pub(crate) event: &'static str,
    /// Whether what a payload asks can be given or refused without being there.
    pub(crate) answerable: fn(&Value) -> bool,
    /// The words with which it decides; none leave it to the person at the terminal.
    pub(crate) words: fn(Permit) -> String,
}

impl Vendor {
    /// The vendor of a program's name, as `moothall hook` is called with it.
    pub fn of(program: &str) -> Self {
        Self::VARIANTS
            .iter()
            .copied()
            .find(|vendor| vendor.name() == Some(program))
            .unwrap_or_default()
    }

    /// What its program is called, where it is known.
    pub fn name(self) -> Option<&'static str> {
        self.table().launch.name
    }

    pub(crate) const fn table(self) -> &'static ProgramTable {
        match self {
            Vendor::Claude => &claude::TABLE,
            Vendor::Codex => &codex::TABLE,
            Vendor::Gemini => &gemini::TABLE,
            Vendor::Other => &other::TABLE,
        }
    }

    /// The hook of an event that may decide a permission, and is waited for.
    pub(crate) fn decides(self, event: &str) -> Option<&'static DecisionHook> {
        self.table().report.as_ref()?.decides.as_ref().filter(|decides| decides.event == event)
    }
}
