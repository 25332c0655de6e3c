//! Options on the command line of the stand-in program.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

/// The text for `--help`.
pub const HELP: &str = "\
A stand-in for a command-line agent in a terminal, to be driven in tests. It draws like Claude Code, takes bracketed pastes, and
calls hooks like it. It asks no model: it answers from a list, or repeats what it was told.

Usage: fake-tui [OPTIONS]

  --name NAME         what it calls itself
  --work MS           how long a turn takes (default 0)
  --answers FILE      what it says, one answer a line (\\n breaks lines), turn after turn; afterwards it repeats what it was told
  --quiet             says nothing unless a prompt asks it to
  --log FILE          adds a line of JSON, {\"prompt\": …}, for each prompt that it takes
  --settings FILE     hooks, as in Claude Code's settings (a file, or the JSON itself): SessionStart, UserPromptSubmit,
                      PermissionRequest, Stop, SessionEnd; each a shell command with JSON on its stdin
  --session-id ID     its own id for its session (default fake-PID)
  --start-delay MS    draws nothing for so long
  --lose-enters N     does not notice the first N Enters, but draws its screen anew with each
  --half MS           draws the upper half of its screen alone for so long after the first paste
  --half-arrow MS     the same after the first arrow in a question
  --plant MS          asks something of its own so long after the first paste; what it was told is said on its screen
  --plant-enter MS    the same after the first Enter
  --help              prints this

Other options are taken and ignored. What a prompt may hold, anywhere in it:

  [say:TEXT]          answer TEXT
  [silent]            answer nothing
  [work:MS]           take that long for this turn; `[work:hold]` works until Esc is pressed
  [tool:COMMAND]      report the use of a tool, and not its end
  [ask:ACTION]        ask for permission first; \"no\" ends the turn with \"Not allowed: ACTION\"; of several, one after the other
  [choose:QUESTION|A|B]
                      ask which of these first, with a field for other words; the turn ends with \"Chosen: ANSWER\"
  [shell]             become a shell
  [die] [die:CODE]    exit

Keys: Enter sends; Esc interrupts a turn, without a Stop hook; 1 and 2 answer a question, Up leaves a field; Ctrl-C twice exits.
What is sent during a turn waits for its end, and all that waited is then answered at once.";

/// The options of the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    pub(super) name: String,
    pub(super) work: Duration,
    pub(super) answers: Vec<String>,
    pub(super) log: Option<PathBuf>,
    pub(super) settings: Value,
    pub(super) session_id: String,
    pub(super) start_delay: Duration,
    pub(super) lose_enters: usize,
    pub(super) quiet: bool,
    pub(super) half: Option<Duration>,
    pub(super) half_arrow: Option<Duration>,
    pub(super) plant: Option<Duration>,
    pub(super) plant_enter: Option<Duration>,
}

impl Options {
    /// Parses a command line; `None` for `--help`.
    ///
    /// # Errors
    /// A sentence, if a value is missing or invalid.
    pub fn read(arguments: impl IntoIterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self {
            name: "fake-tui".to_owned(),
            session_id: format!("fake-{}", std::process::id()),
            ..Self::default()
        };
        let mut arguments = arguments.into_iter();
        while let Some(flag) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{flag} needs a value."));
            match flag.as_str() {
                "--help" | "-h" => return Ok(None),
                "--name" => options.name = value()?,
                "--quiet" => options.quiet = true,
                "--work" => options.work = millis(&value()?)?,
                "--answers" => options.answers = lines(&file(&value()?)?),
                "--log" => options.log = Some(value()?.into()),
                "--settings" => options.settings = settings(&value()?)?,
                "--session-id" => options.session_id = value()?,
                "--start-delay" => options.start_delay = millis(&value()?)?,
                "--half" => options.half = Some(millis(&value()?)?),
                "--half-arrow" => options.half_arrow = Some(millis(&value()?)?),
                "--plant" => options.plant = Some(millis(&value()?)?),
                "--plant-enter" => options.plant_enter = Some(millis(&value()?)?),
                "--lose-enters" => {
                    options.lose_enters =
                        value()?.parse().map_err(|_| "--lose-enters takes a number.".to_owned())?
                }
                _ => {}
            }
        }
        Ok(Some(options))
    }

    /// Returns the commands of a hook.
    pub(super) fn hooks(&self, event: &str) -> Vec<String> {
        let groups = self.settings["hooks"][event].as_array().cloned().unwrap_or_default();
        let entries =
            groups.iter().flat_map(|group| group["hooks"].as_array().cloned().unwrap_or_default());
        entries.filter_map(|entry| entry["command"].as_str().map(str::to_owned)).collect()
    }
}

fn millis(text: &str) -> Result<Duration, String> {
    text.parse()
        .map(Duration::from_millis)
        .map_err(|_| format!("{text} is no number of milliseconds."))
}

fn file(path: &str) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|why| format!("{path}: {why}."))
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.replace("\\n", "\n")).collect()
}

fn settings(given: &str) -> Result<Value, String> {
    let text = if given.trim_start().starts_with('{') { given.to_owned() } else { file(given)? };
    serde_json::from_str(&text).map_err(|why| format!("The settings are no JSON: {why}."))
}
