//! How far turns have come, and what a report of the program changes about that: the data of the
//! machine.

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
    /// What to type; unknown after a restart until the conversation says it again.
    pub(super) job: Option<Box<Job>>,
    /// It came back into the composer, and was sent off once more.
    pub(super) sent_again: bool,
    /// It was pasted and not sent off: a question came in between, or its composer was emptied.
    pub(super) is_pasted: bool,
    /// It is typed a second time, as it was gone before it was sent off.
    pub(super) is_anew: bool,
    /// The program reported something since a restart that names no prompt: it may have been this
    /// one.
    pub(super) is_doubtful: bool,
}

/// A turn that was taken away while the program worked on it, or may have.
#[derive(Clone, Debug)]
pub(super) struct LateTurn {
    pub(super) key: TurnKey,
    pub(super) tag: String,
    /// The program said that it took its prompt.
    pub(super) is_taken: bool,
    /// Its time was over; otherwise somebody ended it.
    pub(super) lapsed: bool,
}

impl LateTurn {
    pub(super) fn of(current: &Current) -> Self {
        Self {
            key: current.key.clone(),
            tag: current.tag.clone(),
            is_taken: current.stage == Stage::Accepted,
            lapsed: false,
        }
    }
}

/// The time that a report had when the program's record is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// The screen is idle for the first time: a report may be on its way.
    Soon,
    /// No report comes any more.
    Over,
}

/// Something stands on the screen that only a person at the terminal can read or answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnreadableScreen {
    pub(super) since: Millis,
    /// People were told of it at the session's home.
    pub(super) told: bool,
}

/// How far the turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Its start is on its way to the log.
    Offered,
    /// Its start is kept; it may be typed.
    Begun,
    /// An earlier process began to type it; the program's reports and its screen will say how far
    /// it came.
    Typing,
    /// It was typed and sent off.
    Sent,
    /// The program works. It does not report the prompts that it accepts, so only its final report
    /// says which one it ran.
    Working,
    /// The program took it.
    Accepted,
}

/// Whose prompt the program works on, when it is not a turn's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptSource {
    /// It works on nobody's prompt.
    Nothing,
    /// Words that a person typed at the terminal.
    Person,
    /// A reminder of the program's own surroundings; the answer to it is nobody's business.
    Checkpoint,
}

/// What a report changes once everything is kept.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) request: Option<RequestId>,
    pub(super) heard: ReportOutcome,
    pub(super) native: Option<String>,
    /// The program took the prompt of the current turn.
    pub(super) accepted: bool,
    /// It took the prompt of a turn that was taken away.
    pub(super) accepted_late: bool,
    /// It took both in one prompt, which were not typed together: nothing says whose the answer is.
    pub(super) is_mixed: bool,
    /// The tag of the last prompt that it names, if that is of a turn that is over.
    pub(super) is_over: Option<String>,
    pub(super) typed: PromptSource,
    pub(super) inputs_seen: Option<usize>,
    /// The program is done with what it worked on.
    pub(super) ended: bool,
    /// It is about what the screen shows.
    pub(super) looks: bool,
    pub(super) steps: Vec<(String, KeptItem)>,
}

impl Draft {
    pub(super) fn keep(&mut self, id: &str, step: KeptItem) {
        self.steps.push((id.to_owned(), step));
    }
}
