//! The looks at a program's own record for the tool that it uses. They are made for programs that
//! do not report their uses of tools.
//!
//! The tool is shown to people and decides nothing, so a look runs beside the task of the session.
//! A program that works draws its clock each second, and each drawing allows one look.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Least time between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// The last look, and its start.
#[derive(Default)]
pub(super) struct ToolLook {
    last: Option<(Instant, JoinHandle<()>)>,
}

impl ToolLook {
    /// True if the last look is over, and long enough ago.
    pub(super) fn is_due(&self) -> bool {
        self.last.as_ref().is_none_or(|(at, look)| look.is_finished() && at.elapsed() >= PAUSE)
    }

    pub(super) fn began(&mut self, look: JoinHandle<()>) {
        self.last = Some((Instant::now(), look));
    }
}
