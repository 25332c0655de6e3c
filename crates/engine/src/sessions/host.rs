//! The port to the terminals in which command-line agents live.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use async_trait::async_trait;
use moothall_kernel::permission::PermissionOption;
use serde_json::Value;
use tokio::sync::broadcast;

use crate::ports::{Pane, SessionId, UnixUser};

/// A program to be started in a terminal of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The session that the program belongs to.
    pub session: SessionId,
    /// The session's name, for the window's title.
    pub name: String,
    /// Which program: an entry of the host's programs, e.g. `claude`.
    pub client: String,
    /// More arguments for it.
    pub args: Vec<String>,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// `cwd` is a real path, and the program runs in that very folder or not at all: whoever had it
    /// started may put something else in the folder's place meanwhile.
    pub exact: bool,
    /// Variables for it, beside the few that the host lets through.
    pub env: BTreeMap<String, String>,
    /// The user that it runs as, as [`SessionHost::runs_as`] said; the server's own where there is
    /// none.
    pub run_as: Option<UnixUser>,
}

/// The arguments of a program that runs once more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeArgs {
    /// The arguments.
    pub args: Vec<String>,
    /// The program resumes a conversation of its own with them.
    pub resumes: bool,
    /// Those of the first run that were a prompt, or may have been one.
    pub left_out: Vec<String>,
}

/// A program that runs already, in a terminal that somebody else started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdoptRequest {
    /// The multiplexer's socket: a name or a path.
    pub socket: String,
    /// The pane there, e.g. `%7` or `work:0.1`.
    pub target: String,
    /// Which program it is taken for.
    pub client: String,
}

/// Words for a composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paste {
    /// The session whose program they are for.
    pub session: SessionId,
    /// The words, as they are to stand there.
    pub text: String,
    /// The bytes of the text that are the words of one member each, in their order.
    pub bodies: Vec<Range<usize>>,
}

/// Words that were put into a composer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PasteReport {
    /// The tokens that the program would have obeyed, as they were said; they were written
    /// otherwise.
    pub altered: Vec<String>,
    /// The lines that the program would have changed, and that went as files.
    pub filed: usize,
}

/// What a pane shows, judged by what is known of its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Whether the program can be spoken to.
    pub state: PaneState,
    /// What stands in the program's composer, as far as it can be seen; `None` when it cannot be
    /// told.
    pub composer: Option<String>,
    /// The question the program asks, when it waits for permission.
    pub dialog: Option<Dialog>,
    /// The whole screen as text, without escape sequences.
    pub text: String,
}

/// What a program in a pane is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum PaneState {
    /// It draws its first screen.
    Starting,
    /// It waits for input.
    Idle,
    /// It works, and shows so.
    Busy,
    /// It waits for an answer to a question of its own.
    Asking,
    /// The program is gone and a shell shows; nothing may be typed.
    Shell,
    /// The pane is gone, or belongs to another process now.
    Gone,
}

/// A question of a program, recognised on its screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// What it wants to do, as far as it stands on the screen.
    pub action: String,
    /// Not all of that stands there.
    pub partial: bool,
    /// The answers it offers, in its own words and order. The id of each is the key that chooses
    /// it.
    pub options: Vec<PermissionOption>,
    /// Where it takes words of one's own, if it does.
    pub field: Option<Field>,
    /// The position of the option that its mark points to, from 0, where the arrow keys and Enter
    /// choose one and no digit does.
    pub pointer: Option<usize>,
    /// The program draws all of it, so that no report is needed to say so.
    pub whole: bool,
    /// The positions of the options that are checked, if several can be. The key of one of those
    /// checks it and answers nothing.
    pub checked: Option<Vec<usize>>,
    /// It shows the answer to one question again, and its first option sends that off.
    pub confirms: bool,
}

/// The part of a dialog that takes words. What stands there is no part of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The position of the option that they answer, from 0.
    pub option: usize,
    /// What is typed goes there, digits too.
    pub is_focused: bool,
    /// The words that are typed there already.
    pub words: String,
}

impl Dialog {
    /// All that it shows, to the last blank: with one blank more, a command may be another.
    pub fn content(&self) -> String {
        let labels = self.options.iter().map(|option| option.label.as_str()).collect::<Vec<_>>();
        format!("{}\n\n{}", self.action, labels.join("\n"))
    }

    /// Whether it is the same dialog: that it has the same words in its options says nothing.
    pub fn is_same(&self, other: &Dialog) -> bool {
        self.content() == other.content()
    }

    /// Whether it can be what a report says that the program asks: the beginning of its command, or
    /// else something that it names, stands in it. That is not proof, so both are shown to whoever
    /// decides.
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

/// Without blanks, and without what boxes are drawn with.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !('\u{2500}'..='\u{257f}').contains(c)).collect()
}

/// Whether words of a value, apart from what it is called and of which kind it is, pass a test.
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

/// A key that is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The Enter key, which sends off what was typed.
    Enter,
    /// Escape: interrupts a running turn.
    Escape,
}

/// What a program reports by itself, once it is started here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// The end of each turn, with its words.
    pub turns: bool,
    /// Each prompt when it is taken, and not only with the end of its turn.
    pub prompts: bool,
    /// What it asks permission for.
    pub questions: bool,
}

impl Reports {
    /// A program that reports its turns, its prompts and its questions.
    pub const ALL: Self = Self { turns: true, prompts: true, questions: true };
}

/// A prompt, or the newest turn, that is looked up in a program's own record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[derive(serde::Serialize, serde::Deserialize)]
pub struct RecordQuery {
    /// The program's own id for its conversation, if it has said one.
    pub native: Option<String>,
    /// The line that stands in this prompt alone. `None` asks for the newest turn.
    pub tag: Option<String>,
}

/// A prompt that the program took, by the program's own record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// The program's own id for the conversation in which it took the prompt, if the record says
    /// that.
    pub native: Option<String>,
    /// The end of the prompt's turn; `None` while the record does not tell one.
    pub end: Option<RecordEnd>,
    /// The newest turn, if that was asked for.
    pub newest: Option<NewestTurn>,
}

/// The newest turn of a program by its own record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[derive(serde::Serialize, serde::Deserialize)]
pub struct NewestTurn {
    /// The program's own id for it.
    pub turn: String,
    /// Its prompts, in their order.
    pub prompts: Vec<String>,
}

/// The end of a turn by the program's own record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordEnd {
    /// With these last words; `None` if the program said nothing.
    Said(Option<String>),
    /// With an error, in the program's words.
    Failed(String),
    /// A person interrupted it.
    Interrupted,
}

/// Something that happened in a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaneNews {
    /// It drew something and was quiet since, or goes on drawing for a while.
    Drawn,
    /// The program, or the pane, is gone.
    Died,
}

/// Why a terminal could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostFault {
    /// The multiplexer is not installed, or not usable.
    #[error("{0}")]
    Unavailable(String),
    /// The program is not known, not installed or cannot be started; why, in words for people.
    #[error("{0}")]
    UnknownProgram(String),
    /// No such pane, or it belongs to another process.
    #[error("{0}")]
    Gone(String),
    /// The pane may not be typed into now: a shell shows, the composer is not empty, the program is
    /// busy.
    #[error("{0}")]
    Refused(String),
    /// Anything else, such as a terminal that does not answer; the text is for people.
    #[error("{0}")]
    Failed(String),
}

/// The end of a program, and the last lines of its terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWords {
    /// `with exit status 1`, or `by signal 9`, and the line of its error if it has one.
    pub how: String,
    /// The lines behind its error, or its last lines. For those who may read its screen.
    pub shown: String,
}

impl LastWords {
    /// Returns all of it, for those who may read its screen.
    pub fn whole(&self) -> String {
        match self.shown.as_str() {
            "" => self.how.clone(),
            shown if self.how.contains(": ") => format!("{} / {shown}", self.how),
            shown => format!("{}: {shown}", self.how),
        }
    }

    /// Returns the reason of a session's end without the lines of its program, for those who may
    /// not read its screen.
    pub fn without_lines(why: &str) -> &str {
        why.split(": ").next().unwrap_or(why)
    }
}

/// Terminals, and how to type into them. Every text goes in as data: nothing in it is a key, a
/// command or the end of a paste.
#[async_trait]
pub trait SessionHost: Send + Sync + 'static {
    /// The programs that can be started, by client name, with one sentence each.
    fn programs(&self) -> Vec<(String, String)>;
    /// What a program reports by itself once it is started here.
    fn reports(&self, _client: &str) -> Reports {
        Reports::default()
    }
    /// Where a program works when nobody says where.
    fn home(&self, _client: &str) -> PathBuf {
        std::env::current_dir().unwrap_or_default()
    }
    /// As whom a program runs; nothing where it is the server's own user.
    ///
    /// # Errors
    /// [`HostFault::Refused`] where it is meant to be another user's, and cannot be now.
    fn runs_as(&self, _client: &str) -> Result<Option<UnixUser>, HostFault> {
        Ok(None)
    }
    /// Starts a program. The answer comes when its process runs; [`View::state`] says when it takes
    /// input.
    async fn start(&self, launch: &Launch) -> Result<Pane, HostFault>;
    /// Takes over a program that runs already.
    async fn adopt(&self, adopt: &AdoptRequest) -> Result<Pane, HostFault>;
    /// Listens to a pane, again after a restart too. `client` says how its screen is read.
    async fn watch(
        &self,
        pane: &Pane,
        client: &str,
    ) -> Result<broadcast::Receiver<PaneNews>, HostFault>;
    /// What a pane shows.
    async fn view(&self, pane: &Pane, client: &str) -> Result<View, HostFault>;
    /// Puts text into the composer of an idle program and reads it back; sends nothing off. Looks
    /// first that the pane still runs the program and that its composer is empty.
    /// Tokens that the program would obey inside it are written so that they arrive as words. If
    /// they stand in a patch or in a block of code, that goes as a file.
    async fn paste(&self, pane: &Pane, client: &str, paste: &Paste) -> Result<PasteReport, HostFault>;
    /// Presses a key in a pane. An Enter goes only into the composer with what was pasted last:
    /// [`HostFault::Refused`] if a question covers it, and nothing was sent off then.
    async fn press(&self, pane: &Pane, key: Key) -> Result<(), HostFault>;
    /// Chooses the options at these positions of a dialog, counted from 0; more than one if several
    /// can be checked. Looks right before the key
    /// is pressed that this very dialog stands there; [`HostFault::Refused`] where it does not, and
    /// then no key was pressed. Words of one's own go into the option's field, are read back and
    /// sent off; after any other fault they may stand there, and the same words again are not typed
    /// a second time.
    async fn choose(
        &self,
        pane: &Pane,
        client: &str,
        dialog: &Dialog,
        chosen: &[usize],
        text: Option<&str>,
    ) -> Result<(), HostFault>;
    /// The newest lines, with the history above the screen.
    async fn tail(&self, pane: &Pane, lines: usize) -> Result<String, HostFault>;
    /// Returns the folder in which the program of a pane works, if its terminal says so.
    async fn folder(&self, _pane: &Pane) -> Option<PathBuf> {
        None
    }
    /// Looks a prompt up in the program's own record. `None` if the program keeps no record, or
    /// none that can be read holds the prompt.
    async fn recorded(&self, _pane: &Pane, _client: &str, _query: &RecordQuery) -> Option<Record> {
        None
    }
    /// Ends the program and its pane; one that was adopted is only let go. One that is gone is
    /// ended already.
    async fn end(&self, pane: &Pane) -> Result<(), HostFault>;
    /// How a program ended that is gone, and what it showed at last, as far as its terminal says.
    async fn last_words(&self, _pane: &Pane) -> Option<LastWords> {
        None
    }
    /// Finds the pane of a program whose start an earlier process did not see the end of.
    async fn left(&self, _session: &SessionId) -> Option<Pane> {
        None
    }
    /// True if these are the last words of a program that does not know the conversation that it
    /// was to resume.
    fn has_forgotten(&self, _client: &str, _words: &str) -> bool {
        false
    }
    /// True if a terminal is gone because the multiplexer, or the computer, was restarted.
    async fn is_lost(&self, _pane: &Pane) -> bool {
        false
    }
    /// The arguments with which a program runs once more, made of those that it was started with:
    /// without a prompt, and with a conversation of its own if it can resume that.
    fn resume_args(&self, _client: &str, args: &[String], _native: Option<&str>) -> ResumeArgs {
        ResumeArgs { args: args.to_vec(), ..ResumeArgs::default() }
    }
    /// These sessions are over: what of their programs goes on without a terminal is killed, a
    /// moment later.
    fn reap(&self, _left: Vec<(SessionId, Pane)>) {}
    /// A session is over: nothing that was kept for its program, beside its pane, is needed any
    /// more.
    async fn forget(&self, _session: &SessionId) {}
    /// The command with which a person on this computer looks at the pane and types into it.
    async fn attach(&self, pane: &Pane) -> Result<Vec<String>, HostFault>;
}
