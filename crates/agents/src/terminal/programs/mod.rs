//! The tables of the programs that live in terminals: one file for each vendor, all with the same
//! tables. A new version of a program changes its file, and the captured screens that test it.

mod details;
mod passes;
mod printed;
mod records;
mod resuming;
mod search;
mod claude;
mod codex;
mod gemini;
mod other;

use std::io;
use std::path::{Path, PathBuf};

use moothall_engine::sessions::{HookNews, NewestTurn, Permit, RecordEnd, Reports};
use moothall_kernel::occupation::ToolUse;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::VariantArray;

pub use search::Search;
pub(crate) use search::VARIABLES;

pub(crate) use passes::whole;
pub(crate) use printed::{PrintedSpec, PrintedTurn};
pub(crate) use resuming::{ResumeSpec, ValueCount, is_native};

use super::hooks::{Fitting, LaunchCommand};
use super::screen::ScreenReading;
use super::screen::cells::Row;
use crate::logins::Login;
use crate::spending::ReportedUsage;

/// The vendor of a program.
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
    /// Any other vendor; its program is treated as unknown.
    #[default]
    Other,
}

/// The facts about a program.
pub(crate) struct ProgramTable {
    pub(crate) launch: LaunchSpec,
    pub(crate) screen: ScreenReader,
    pub(crate) keys: Keys,
    /// The hooks by which it reports; `None` if it does not.
    pub(crate) report: Option<HookReader>,
    /// The form of its own record; `None` if it keeps none.
    pub(crate) record: Option<RecordSpec>,
}

/// The form of a program's own record of its conversations: files of lines of JSON.
pub(crate) struct RecordSpec {
    /// Returns the folder below which the files lie, by the program's variables.
    pub(crate) folder: fn(&Variables<'_>) -> Option<PathBuf>,
    /// The number of folders between the folder of the records and a file.
    pub(crate) depth: usize,
    /// Returns the program's own id for the conversation of a file, from its name without the
    /// ending.
    pub(crate) native: fn(&str) -> Option<&str>,
    /// Returns the prompt that a line records.
    pub(crate) prompt: fn(&Value) -> Option<String>,
    /// Returns the end of a prompt's turn, from all lines and the index of the prompt's line.
    pub(crate) end: fn(&[&str], usize) -> Option<RecordEnd>,
    /// Returns the steps of a turn that a line records, in their order.
    pub(crate) steps: fn(&Value) -> Vec<passes::Step>,
    /// Returns the usage of a prompt's turn, from all lines, the index of the prompt's line and the
    /// file of the record.
    pub(crate) usage: fn(&[&str], usize, &Path) -> ReportedUsage,
    /// Returns the newest finished turn, if the program does not report typed prompts.
    pub(crate) newest: fn(&[&str]) -> Option<(NewestTurn, RecordEnd)>,
    /// Returns the tool call that is still open at the end of a record. `None` for programs that
    /// report their uses of tools, or do not record them in time.
    pub(crate) open_call: Option<fn(&str) -> Option<ToolUse>>,
}

/// A lookup of a program's variables.
pub(crate) type Variables<'a> = dyn Fn(&str) -> Option<PathBuf> + 'a;

/// The start of a program.
pub(crate) struct LaunchSpec {
    /// The name of the program, of its client, and of the argument of `moothall hook`.
    pub(crate) name: Option<&'static str>,
    /// The command that installs it, for people.
    pub(crate) install: Option<&'static str>,
    /// The login of the program.
    pub(crate) login: Option<&'static Login>,
    /// The arguments for one turn without a terminal. None of them allows changes without asking.
    pub(crate) once: Option<&'static [&'static str]>,
    /// The structured output of such a turn, if it has one.
    pub(crate) printed: Option<&'static PrintedSpec>,
    /// The arguments for a further run; `None` if they are not known.
    pub(crate) resuming: Option<&'static ResumeSpec>,
    /// Returns the arguments and variables by which it reports and has this server's tools.
    pub(crate) launch_command: fn(&Fitting<'_>) -> io::Result<LaunchCommand>,
}

/// The reader of a program's screen.
pub(crate) struct ScreenReader {
    /// Reads the rows of a screen.
    pub(crate) read: fn(&[Row]) -> ScreenReading,
    /// True if the composer can be read.
    pub(crate) has_composer: bool,
}

/// The keys of a program, by tmux's names.
pub(crate) struct Keys {
    /// Submits the text in the composer.
    pub(crate) submit: &'static str,
    /// Interrupts the running turn.
    pub(crate) interrupt: &'static str,
    /// Clears the composer.
    pub(crate) clear: &'static str,
    /// Moves to the option above, out of a field too.
    pub(crate) up: &'static str,
    /// Moves to the option below.
    pub(crate) down: &'static str,
    /// Leaves options of which several can be chosen, for the next step.
    pub(crate) next: &'static str,
}

impl Keys {
    /// The keys of all known programs.
    const USUAL: Keys = Keys {
        submit: "Enter",
        interrupt: "Escape",
        clear: "C-c",
        up: "Up",
        down: "Down",
        next: "Right",
    };
}

/// The hooks of a program, and the meaning of their reports.
pub(crate) struct HookReader {
    /// The field with the program's own id for the session or thread.
    pub(crate) native: &'static str,
    /// Reads an event, its payload and the record; `None` if the event is ignored.
    pub(crate) news: fn(&str, &Value, &ReportedEnd) -> Option<HookNews>,
    /// The event that ends a turn.
    pub(crate) ends_with: &'static str,
    /// Returns the end of that turn from the program's own record, for a payload that lacks a part
    /// of it. Called while the program waits for its hook.
    pub(crate) recorded: fn(&Value) -> ReportedEnd,
    /// The output that the program expects from its hook, whatever the outcome of the report.
    pub(crate) acknowledgement: &'static str,
    /// The kinds of reports that it makes.
    pub(crate) reports: Reports,
    /// The hook that may decide a permission, if there is one.
    pub(crate) decides: Option<DecisionHook>,
    /// The hooks around each use of a tool, if there are any.
    pub(crate) tools: Option<ToolHooks>,
}

/// The hooks around each use of a tool. Their payload holds `tool_name` and `tool_input`.
pub(crate) struct ToolHooks {
    /// The event before a use.
    pub(crate) before: &'static str,
    /// The events after a use.
    pub(crate) after: &'static [&'static str],
}

impl ToolHooks {
    /// Returns the meaning of an event; `None` if it is not about a tool.
    fn news(&self, event: &str, payload: &Value) -> Option<HookNews> {
        if event == self.before {
            let tool = records::word(payload, "tool_name");
            return Some(HookNews::Uses(Some(details::tool_use(tool, &payload["tool_input"]))));
        }
        self.after.contains(&event).then_some(HookNews::Uses(None))
    }
}

/// The end of a reported turn, from the program's own record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReportedEnd {
    /// The last words of the turn.
    pub(crate) words: Option<String>,
    /// The error that ended it.
    pub(crate) trouble: Option<String>,
    /// The words right before a pass of the talking piece.
    pub(crate) before_pass: Option<String>,
}

/// A hook that waits for a decision on a permission.
pub(crate) struct DecisionHook {
    /// The name of its event.
    pub(crate) event: &'static str,
    /// True if the permission in a payload can be decided away from the terminal.
    pub(crate) answerable: fn(&Value) -> bool,
    /// Returns the output that decides on the permission in a payload; empty leaves the decision to
    /// the person at the terminal.
    pub(crate) words: fn(Permit, &Value) -> String,
}

impl Vendor {
    /// Returns the vendor by its program's name, the argument of `moothall hook`.
    pub fn of(program: &str) -> Self {
        Self::VARIANTS
            .iter()
            .copied()
            .find(|vendor| vendor.name() == Some(program))
            .unwrap_or_default()
    }

    /// Returns the name of the vendor's program, if known.
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

    /// Returns the meaning of an event, its payload and the record; `None` if the event is ignored.
    pub(crate) fn news(
        self,
        event: &str,
        payload: &Value,
        recorded: &ReportedEnd,
    ) -> Option<HookNews> {
        let report = self.table().report.as_ref()?;
        let tools = report.tools.as_ref();
        tools
            .and_then(|tools| tools.news(event, payload))
            .or_else(|| (report.news)(event, payload, recorded))
    }

    /// True if an event passes: the hook sends it to a server that runs, and does not store it for
    /// a later one.
    pub(crate) fn passes(self, event: &str) -> bool {
        let tools = self.table().report.as_ref().and_then(|report| report.tools.as_ref());
        tools.is_some_and(|tools| tools.before == event || tools.after.contains(&event))
    }

    /// Returns the hook for an event, if that event waits for a decision on a permission.
    pub(crate) fn decides(self, event: &str) -> Option<&'static DecisionHook> {
        self.table().report.as_ref()?.decides.as_ref().filter(|decides| decides.event == event)
    }
}
