//! The port to the terminals in which command-line agents live.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use moothall_kernel::event::Usage;
use moothall_kernel::occupation::ToolUse;
use moothall_kernel::permission::PermissionOption;
use serde_json::Value;
use tokio::sync::broadcast;

use super::hooks::ReportedChoice;
use super::keystrokes::Keystroke;
use super::picture::Picture;
use crate::ports::{Pane, SessionId, UnixUser};

/// A program to start in a new terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The session that the program belongs to.
    pub session: SessionId,
    /// The session's name, used as the title of the window.
    pub name: String,
    /// The program: an entry of the host's programs, e.g. `claude`.
    pub client: String,
    /// Additional arguments of the program.
    pub args: Vec<String>,
    /// The working folder.
    pub cwd: PathBuf,
    /// True if `cwd` is a real path, and the program must run in exactly that folder or not at all.
    /// An agent that requested the start could replace the folder in the meantime.
    pub exact: bool,
    /// Additional variables, besides the few that the host passes on.
    pub env: BTreeMap<String, String>,
    /// The user that the program runs as, from [`SessionHost::runs_as`]; `None` for the server's
    /// own.
    pub run_as: Option<UnixUser>,
}

/// The arguments with which a program runs again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeArgs {
    /// The arguments.
    pub args: Vec<String>,
    /// True if the program resumes a conversation of its own with these arguments.
    pub resumes: bool,
    /// The arguments of the first run that were left out, because they were a prompt or may have
    /// been one.
    pub left_out: Vec<String>,
}

/// A running program to adopt, in a terminal that the server did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdoptRequest {
    /// The multiplexer's socket: a name or a path.
    pub socket: String,
    /// The pane, e.g. `%7` or `work:0.1`.
    pub target: String,
    /// The program that is assumed to run in the pane.
    pub client: String,
}

/// Text for a program's composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paste {
    /// The session whose program gets the text.
    pub session: SessionId,
    /// The text, as it is to stand in the composer.
    pub text: String,
    /// The byte ranges of the text at which members' words stand, in order. Each range has the
    /// words of one member.
    pub bodies: Vec<Range<usize>>,
}

/// The changes made to a text when it was pasted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PasteReport {
    /// The original tokens that the program would have obeyed as commands, and that were written
    /// differently.
    pub altered: Vec<String>,
    /// The number of lines that the program would have changed, and that were put into files.
    pub filed: usize,
}

/// The screen of a pane, interpreted for its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The state of the program.
    pub state: PaneState,
    /// The text in the program's composer, as far as it is visible; `None` if it cannot be read.
    pub composer: Option<String>,
    /// The question of the program, if it waits for permission.
    pub dialog: Option<Dialog>,
    /// The whole screen as text, without escape sequences.
    pub text: String,
    /// The screen in colour.
    pub picture: Picture,
}

/// The state of a program in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum PaneState {
    /// The program draws its first screen.
    Starting,
    /// The program waits for input.
    Idle,
    /// The screen shows that the program works.
    Busy,
    /// The program waits for an answer to its question.
    Asking,
    /// The program exited and a shell shows; nothing may be typed.
    Shell,
    /// The pane does not exist any more, or belongs to another process.
    Gone,
}

/// A question of a program, recognised on its screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// The action that the program asks for, as far as it is on the screen.
    pub action: String,
    /// True if the screen does not show the whole action.
    pub partial: bool,
    /// The answers on offer, in the program's own words and order. The id of each is the key that
    /// chooses it.
    pub options: Vec<PermissionOption>,
    /// The field for free text, if there is one.
    pub field: Option<Field>,
    /// The position of the marked option, from 0, if the arrow keys and Enter choose one and no
    /// digit does.
    pub pointer: Option<usize>,
    /// True if the program always draws the whole action, so that no report is needed to confirm
    /// it.
    pub whole: bool,
    /// The positions of the checked options; `None` if the dialog has no options to check. The key
    /// of such an option only checks it, and does not answer the dialog.
    pub checked: Option<Vec<usize>>,
    /// True if the dialog asks to confirm the answer to one question, and its first option submits
    /// that answer.
    pub confirms: bool,
}

/// The part of a dialog that takes free text. Text in it does not belong to the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The position of the option that the text answers, from 0.
    pub option: usize,
    /// True if typed keys go to the field, digits included.
    pub is_focused: bool,
    /// The text typed so far.
    pub words: String,
}

impl Dialog {
    /// Returns all that the dialog shows. Blanks are included, because one more blank may make
    /// another command.
    pub fn content(&self) -> String {
        let labels = self.options.iter().map(|option| option.label.as_str()).collect::<Vec<_>>();
        format!("{}\n\n{}", self.action, labels.join("\n"))
    }

    /// True if both dialogs show the same action and options. Equal options alone are not enough.
    pub fn is_same(&self, other: &Dialog) -> bool {
        self.content() == other.content()
    }

    /// True if the dialog shows this very question: all of its words, and each of its answers at
    /// the position that it has in the report. False for a question without answers.
    pub fn asks(&self, choice: &ReportedChoice) -> bool {
        let is_offered =
            |(option, (label, description)): (&PermissionOption, &(String, String))| {
                squeezed(&option.label) == squeezed(&format!("{label}{description}"))
            };
        !choice.options.is_empty()
            && self.options.len() >= choice.options.len()
            && squeezed(&self.action).contains(&squeezed(&choice.question))
            && self.options.iter().zip(&choice.options).all(is_offered)
    }

    /// True if the dialog is perhaps the question of a report. If the report has a command, the
    /// dialog has to show the command's beginning, and otherwise some text of the report. A match
    /// is not proof, so the person who decides sees both.
    pub fn shows(&self, reported: &str) -> bool {
        const NAMED_CHARS: usize = 24;
        let shown = squeezed(&self.action);
        let named = |words: &str| {
            let words: String = squeezed(words).chars().take(NAMED_CHARS).collect();
            !words.is_empty() && shown.contains(&words)
        };
        let json =
            reported.find('{').and_then(|at| serde_json::from_str::<Value>(&reported[at..]).ok());
        match json.as_ref().map(|json| (json, json.get("command").and_then(Value::as_str))) {
            Some((_, Some(command))) => named(command),
            Some((json, None)) => any_words(json, &named),
            None => named(reported),
        }
    }
}

/// Returns the text without blanks and box-drawing characters.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !('\u{2500}'..='\u{257f}').contains(c)).collect()
}

/// True if some text in a value passes the test. Fields with a type, a title or a description are
/// skipped.
fn any_words(value: &Value, test: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(words) => test(words),
        Value::Array(values) => values.iter().any(|value| any_words(value, test)),
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "type" | "title" | "description"))
            .any(|(_, value)| any_words(value, test)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A key that types no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The Enter key, which submits the typed text.
    Enter,
    /// The Escape key, which interrupts a running turn.
    Escape,
}

/// The kinds of events that a program reports by itself if this server started it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// True if the program reports the end of each turn, with the words of the turn.
    pub turns: bool,
    /// True if the program reports each prompt as soon as it takes it; false if only with the end
    /// of the turn.
    pub prompts: bool,
    /// True if the program reports its questions for permission.
    pub questions: bool,
}

impl Reports {
    /// All kinds: turns, prompts and questions.
    pub const ALL: Self = Self { turns: true, prompts: true, questions: true };
}

/// A query to a program's own record: for a prompt, for the newest turn, or for the tool in use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[derive(serde::Serialize, serde::Deserialize)]
pub struct RecordQuery {
    /// The program's own id for its conversation, if known.
    pub native: Option<String>,
    /// A line that only the wanted prompt contains. `None` asks for the newest turn.
    pub tag: Option<String>,
    /// True if the query asks only for the tool that the program uses now.
    #[serde(default)]
    pub uses: bool,
}

/// A prompt that the program took, according to its own record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// The program's own id for the conversation in which it took the prompt, if the record has it.
    pub native: Option<String>,
    /// The end of the prompt's turn; `None` while the record does not show one.
    pub end: Option<RecordEnd>,
    /// The newest turn, if the query asked for it.
    pub newest: Option<NewestTurn>,
    /// Tokens and cost of the prompt's turn so far; 0 if the record does not show them.
    #[serde(default)]
    pub usage: Usage,
    /// The tool that the program uses now, if the query asked for it.
    #[serde(default)]
    pub tool: Option<ToolUse>,
}

/// The newest turn of a program, according to its own record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[derive(serde::Serialize, serde::Deserialize)]
pub struct NewestTurn {
    /// The program's own id for the turn.
    pub turn: String,
    /// The prompts of the turn, in order.
    pub prompts: Vec<String>,
}

/// The end of a turn, according to the program's own record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordEnd {
    /// The turn ended with these last words; `None` if the program said nothing.
    Said(Option<String>),
    /// The turn failed with this error, in the program's words.
    Failed(String),
    /// A person interrupted the turn.
    Interrupted,
}

/// A change in a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaneNews {
    /// The program drew something and then paused, or it has drawn for a while without a pause.
    Drawn,
    /// The program exited, or the pane was closed.
    Died,
}

/// The reason why a terminal could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostFault {
    /// The multiplexer is missing or unusable.
    #[error("{0}")]
    Unavailable(String),
    /// The program is unknown, not installed or cannot be started. The text says why, for people.
    #[error("{0}")]
    UnknownProgram(String),
    /// The pane does not exist, or belongs to another process.
    #[error("{0}")]
    Gone(String),
    /// The server must not type into the pane now: it shows a shell, its composer is not empty, or
    /// the program is busy.
    #[error("{0}")]
    Refused(String),
    /// Any other failure, such as a terminal that does not answer. The text is for people.
    #[error("{0}")]
    Failed(String),
}

/// The end of a program, and the last lines of its terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWords {
    /// `with exit status 1` or `by signal 9`, then the program's error line, if it has one.
    pub how: String,
    /// The lines after the error, or the last lines. Only for readers who may see the screen.
    pub shown: String,
}

impl LastWords {
    /// Returns both parts, for readers who may see the screen.
    pub fn whole(&self) -> String {
        match self.shown.as_str() {
            "" => self.how.clone(),
            shown if self.how.contains(": ") => format!("{} / {shown}", self.how),
            shown => format!("{}: {shown}", self.how),
        }
    }

    /// Returns the reason of a session's end without the program's lines, for readers who may not
    /// see its screen.
    pub fn without_lines(why: &str) -> &str {
        why.split(": ").next().unwrap_or(why)
    }
}

/// A program that lives in a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramOffer {
    /// The name of the program: a client of the registry.
    pub client: String,
    /// One sentence about it.
    pub summary: String,
    /// The reason why it cannot be started now, and how to get it; `None` if it is installed.
    pub missing: Option<String>,
}

/// A folder inside another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Name of the folder.
    pub name: String,
    /// True if it is the working copy of a repository.
    pub is_project: bool,
}

/// Terminals, and typing into them. All text is sent as data, so no part of it acts as a key, a
/// command or the end of a paste.
#[async_trait]
pub trait SessionHost: Send + Sync + 'static {
    /// Returns the programs for terminals, in the order of their names.
    fn programs(&self) -> Vec<ProgramOffer>;
    /// Returns the folders directly inside a folder, as the user of a program sees them, in the
    /// order of their names. Hidden folders are left out.
    async fn folders(&self, _client: &str, folder: &Path) -> Result<Vec<FolderEntry>, HostFault> {
        Err(HostFault::Unavailable(format!("{} cannot be listed", folder.display())))
    }
    /// Returns the kinds of events that a program reports by itself if this server started it.
    fn reports(&self, _client: &str) -> Reports {
        Reports::default()
    }
    /// Returns the folder in which a program works by default: its own, that of its user, or the
    /// server's. If the program is a known one, `room` takes the place of the server's.
    fn home(&self, _client: &str, room: Option<&Path>) -> PathBuf {
        room.map_or_else(|| std::env::current_dir().unwrap_or_default(), Path::to_owned)
    }
    /// Returns the user that a program runs as; `None` for the server's own.
    ///
    /// # Errors
    /// [`HostFault::Refused`], if the program is configured for another user, and cannot run as
    /// that user now.
    fn runs_as(&self, _client: &str) -> Result<Option<UnixUser>, HostFault> {
        Ok(None)
    }
    /// Starts a program. Answers when its process runs. [`View::state`] shows when it takes input.
    async fn start(&self, launch: &Launch) -> Result<Pane, HostFault>;
    /// Adopts a running program.
    async fn adopt(&self, adopt: &AdoptRequest) -> Result<Pane, HostFault>;
    /// Subscribes to changes of a pane, also of one that an earlier server process started.
    /// `client` selects the way in which the screen is read.
    async fn watch(
        &self,
        pane: &Pane,
        client: &str,
    ) -> Result<broadcast::Receiver<PaneNews>, HostFault>;
    /// Returns the screen of a pane.
    async fn view(&self, pane: &Pane, client: &str) -> Result<View, HostFault>;
    /// Puts text into the composer of an idle program and reads it back, without submitting it.
    /// First checks that the pane still runs the program and that its composer is empty. Tokens
    /// that the program would obey are rewritten so that they arrive as words. If they stand in a
    /// patch or a block of code, that part is put into a file.
    async fn paste(
        &self,
        pane: &Pane,
        client: &str,
        paste: &Paste,
    ) -> Result<PasteReport, HostFault>;
    /// Presses a key in a pane. Enter is pressed only if the composer holds the last paste.
    /// [`HostFault::Refused`] if a question covers the composer; then nothing was submitted.
    async fn press(&self, pane: &Pane, key: Key) -> Result<(), HostFault>;
    /// Chooses the options of a dialog at these positions, from 0. There may be several if several
    /// options can be checked. Checks right before the key press that this very dialog is still
    /// shown. If it is not, fails with [`HostFault::Refused`] and presses no key. Free text is
    /// typed into the option's field, read back and submitted. After any other fault the text may
    /// still be in the field, and a retry with the same text does not type it again.
    async fn choose(
        &self,
        pane: &Pane,
        client: &str,
        dialog: &Dialog,
        chosen: &[usize],
        text: Option<&str>,
    ) -> Result<(), HostFault>;
    /// Types keystrokes of a person into a pane, as they are.
    async fn type_keys(&self, _pane: &Pane, _keys: &[Keystroke]) -> Result<(), HostFault> {
        Err(HostFault::Refused("This terminal takes no keystrokes from afar.".to_owned()))
    }
    /// Returns the newest lines of a pane, including the history above the screen.
    async fn tail(&self, pane: &Pane, lines: usize) -> Result<String, HostFault>;
    /// Returns the folder in which the program of a pane works, if its terminal says so.
    async fn folder(&self, _pane: &Pane) -> Option<PathBuf> {
        None
    }
    /// Answers a query from the program's own record. `None` if the program has no readable record,
    /// or the record does not have the wanted prompt or turn.
    async fn find_record(
        &self,
        _pane: &Pane,
        _client: &str,
        _query: &RecordQuery,
    ) -> Option<Record> {
        None
    }
    /// Ends the program and closes its pane. An adopted program is only released. Succeeds if the
    /// program has already exited.
    async fn end(&self, pane: &Pane) -> Result<(), HostFault>;
    /// Returns the way in which a program exited, and the last lines that it showed, as far as its
    /// terminal says.
    async fn last_words(&self, _pane: &Pane) -> Option<LastWords> {
        None
    }
    /// Finds the pane of a program whose start an earlier server process did not complete.
    async fn find_left_pane(&self, _session: &SessionId) -> Option<Pane> {
        None
    }
    /// True if these are the last words of a program that could not find the conversation to
    /// resume.
    fn has_forgotten(&self, _client: &str, _words: &str) -> bool {
        false
    }
    /// True if a terminal was lost in a restart of the multiplexer or the computer.
    async fn is_lost(&self, _pane: &Pane) -> bool {
        false
    }
    /// Returns the arguments with which a program runs again. They are made from its first
    /// arguments, without a prompt, and resume the program's own conversation if possible.
    fn resume_args(&self, _client: &str, args: &[String], _native: Option<&str>) -> ResumeArgs {
        ResumeArgs { args: args.to_vec(), ..ResumeArgs::default() }
    }
    /// Kills, after a moment, the processes that outlived the terminals of these ended sessions.
    fn reap(&self, _left: Vec<(SessionId, Pane)>) {}
    /// Deletes the files that are stored for the program of an ended session. Its pane is not
    /// touched.
    async fn forget(&self, _session: &SessionId) {}
    /// Returns the command with which a person on this computer opens the pane and types into it.
    async fn attach(&self, pane: &Pane) -> Result<Vec<String>, HostFault>;
}
