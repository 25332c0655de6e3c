//! Progress of turns, and the changes that a report makes to them: the data of the machine.

use moothall_engine::agent::{Job, TurnKey};
use moothall_engine::sessions::ReportOutcome;
use moothall_kernel::time::Millis;

use super::io::{KeptItem, RequestId};

/// The turn that has the terminal.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) key: TurnKey,
    pub(super) tag: String,
    pub(super) stage: Stage,
    /// The delivery's row, once it is known.
    pub(super) delivery: Option<u64>,
    /// The prompt to type. Unset after a restart until the conversation sends it again.
    pub(super) job: Option<Box<Job>>,
    /// True if the prompt came back into the composer and was sent a second time.
    pub(super) sent_again: bool,
    /// True if the prompt was pasted and not sent: a question came first, or the composer was
    /// emptied.
    pub(super) is_pasted: bool,
    /// True if the prompt is typed a second time because it vanished before it was sent.
    pub(super) is_anew: bool,
    /// True if the program has finished work without naming its prompt. The prompt may have been
    /// this turn's.
    pub(super) is_doubtful: bool,
}

/// A turn that was taken away or given up while the program worked on its prompt, or may have.
#[derive(Clone, Debug)]
pub(super) struct LateTurn {
    pub(super) key: TurnKey,
    pub(super) tag: String,
    /// True if the program reported that it took the prompt.
    pub(super) is_taken: bool,
    /// True if the turn ran out of time; false after any other end.
    pub(super) lapsed: bool,
}

impl LateTurn {
    /// Returns the late turn of a current one, as one that did not run out of time.
    pub(super) fn of(current: &Current) -> Self {
        Self {
            key: current.key.clone(),
            tag: current.tag.clone(),
            is_taken: current.stage == Stage::Accepted,
            lapsed: false,
        }
    }
}

/// The time a report had to arrive before the program's record is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// The screen has just become idle: a report may be on its way.
    Soon,
    /// The grace period has passed without a report.
    Over,
}

/// Screen content that only a person at the terminal can read or answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnreadableScreen {
    pub(super) since: Millis,
    /// True if people were notified at the session's home.
    pub(super) announced: bool,
}

/// Progress of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// The turn's start is on its way to the log.
    Offered,
    /// The turn's start is committed; its prompt may be typed.
    Begun,
    /// An earlier process began to type the prompt. Reports and the screen will show how far it
    /// came.
    Typing,
    /// The prompt was typed and sent.
    Sent,
    /// The program works but does not report accepted prompts. Only its final report names the
    /// prompt.
    Working,
    /// The program took the prompt.
    Accepted,
}

/// The source of the prompt that the program works on, if it is not a turn's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptSource {
    /// No such prompt.
    Nothing,
    /// Words that a person typed at the terminal.
    Person,
    /// A reminder from the program's own surroundings. Its answer is dropped.
    Checkpoint,
}

/// The changes of a report, which are applied after all its writes are committed.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) request: Option<RequestId>,
    pub(super) heard: ReportOutcome,
    pub(super) native: Option<String>,
    /// True if the program took the prompt of the current turn.
    pub(super) accepted: bool,
    /// True if the program took the prompt of a turn that was taken away.
    pub(super) accepted_late: bool,
    /// True if the program took both in one prompt although they were typed apart: the answer
    /// cannot be attributed.
    pub(super) is_mixed: bool,
    /// The tag of the last reported prompt, or the prompt itself, if its turn has already ended.
    pub(super) is_over: Option<String>,
    pub(super) typed: PromptSource,
    pub(super) inputs_seen: Option<usize>,
    /// True if the program finished its work.
    pub(super) ended: bool,
    /// True if the report is about something the screen shows.
    pub(super) looks: bool,
    pub(super) steps: Vec<(String, KeptItem)>,
}

impl Draft {
    pub(super) fn keep(&mut self, id: &str, step: KeptItem) {
        self.steps.push((id.to_owned(), step));
    }
}
