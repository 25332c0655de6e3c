//! A budget of turns is exceeded in no hour, even after crashes.

use moothall_kernel::budget::{HOUR, start_of};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::time::Timestamp;

use super::{Checker, ConversationModel, Scene, Verdict};

pub(super) struct Budget {
    limit: Option<u64>,
    hour: Timestamp,
    /// Number of turns granted in that hour.
    turns: u64,
}

impl Budget {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { limit, hour: Timestamp::default(), turns: 0 }
    }
}

impl Checker for Budget {
    fn name(&self) -> &'static str {
        "budget"
    }

    fn event(
        &mut self,
        _room: &ConversationModel,
        _scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        let Some(limit) = self.limit else { return Ok(()) };
        let hour = start_of(recorded.ts, HOUR);
        if hour > self.hour {
            (self.hour, self.turns) = (hour, 0);
        }
        if let Event::TurnGranted { turn, .. } = &recorded.event {
            self.turns += 1;
            if self.turns > limit {
                return Err(format!(
                    "turn {turn} is the {}th of an hour that has {limit}",
                    self.turns
                ));
            }
        }
        Ok(())
    }
}
