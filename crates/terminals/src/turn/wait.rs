//! The question for which a session's machine waits.

use moothall_engine::sessions::View;

use super::asks::{Choice, HookQuestion};
use super::io::RequestId;
use super::stage::{Draft, Patience};

/// The outstanding question, and its purpose.
#[derive(Clone, Debug, Default)]
pub(super) enum Wait {
    /// No outstanding question.
    #[default]
    Nothing,
    /// The screen, to see what the program does, maybe for a waiting request. `patient` is false
    /// once the screen has stayed the same for a while.
    Look { patient: bool, looker: Option<RequestId> },
    /// The screen, to see if a prompt may be typed.
    Free,
    /// The screen, to see if the program is still idle after the grace period.
    Grace,
    /// The history, for the words of a program without reports.
    Harvest,
    /// The synced write that records that the prompt is about to be typed.
    Row,
    /// The paste of the prompt into the composer.
    Paste,
    /// The key that sends the prompt.
    Enter,
    /// The key that sends the prompt a second time.
    Again,
    /// The key that sends a prompt found in the composer after a restart. `tag_seen` is true if the
    /// screen or its history showed the prompt's tag.
    Found { tag_seen: bool, looker: Option<RequestId> },
    /// The key that interrupts a turn that was taken away.
    Escape,
    /// The key that interrupts, for a caller who waits for the result.
    Interrupt(RequestId),
    /// The key of an option.
    Choice(Box<Choice>),
    /// The program's own record of the turn, with the idle screen that was seen.
    LookUp { view: Box<View>, patience: Patience },
    /// The program's record of its newest turn, which no report has explained.
    LookUpNewest { view: Box<View> },
    /// The program's record of a prompt that the screen does not show after a restart.
    Untraced { looker: Option<RequestId> },
    /// The writes that follow from a report.
    Keep(Box<Draft>),
    /// The earlier answer to a hook's question.
    Recall(Box<HookQuestion>),
}
