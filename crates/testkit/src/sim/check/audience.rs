//! A reader sees no event outside its audience. It sees every event meant for it, in order, and
//! only lasting ones.

use std::collections::BTreeSet;

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::Seq;
use moothall_kernel::view::Viewer;

use super::Verdict;

/// Kinds of events for all readers.
const PUBLIC: [&str; 24] = [
    "created",
    "renamed",
    "archived",
    "unarchived",
    "deleted",
    "controlled",
    "posted",
    "foreign",
    "noticed",
    "overheard",
    "permission_requested",
    "permission_answered",
    "permission_expired",
    "permission_withdrawn",
    "question_asked",
    "start_requested",
    "start_settled",
    "talk_requested",
    "talk_settled",
    "stopped",
    "held",
    "budget_spent",
    "redacted",
    "gathering",
];

/// A reader that follows a conversation.
pub(crate) struct Reader {
    pub(crate) viewer: Viewer,
    seen: BTreeSet<Seq>,
    newest: Seq,
    /// Newest event that was offered to the reader.
    pub(crate) through: Seq,
}

impl Reader {
    pub(crate) fn new(viewer: Viewer) -> Self {
        Self { viewer, seen: BTreeSet::new(), newest: Seq(0), through: Seq(0) }
    }

    /// Shows an event to the reader.
    pub(crate) fn see(&mut self, recorded: &RecordedEvent) -> Verdict {
        if !may_see(&recorded.event, &self.viewer) {
            return Err(format!(
                "{:?} was shown {} at {}",
                self.viewer,
                recorded.event.kind(),
                recorded.seq
            ));
        }
        if recorded.seq <= self.newest {
            return Err(format!("{:?} saw {} after {}", self.viewer, recorded.seq, self.newest));
        }
        self.newest = recorded.seq;
        self.seen.insert(recorded.seq);
        Ok(())
    }

    /// Checks that the reader saw exactly the log's events for it.
    pub(crate) fn compare(&self, log: &[RecordedEvent]) -> Verdict {
        let meant = log.iter().filter(|recorded| {
            recorded.seq <= self.through && may_see(&recorded.event, &self.viewer)
        });
        let meant: BTreeSet<_> = meant.map(|recorded| recorded.seq).collect();
        if meant == self.seen {
            return Ok(());
        }
        let missed: Vec<_> = meant.difference(&self.seen).collect();
        let gone: Vec<_> = self.seen.difference(&meant).collect();
        Err(format!("{:?} missed {missed:?} and saw {gone:?}, which do not exist", self.viewer))
    }
}

fn may_see(event: &Event, viewer: &Viewer) -> bool {
    let own = match (event, viewer) {
        (
            Event::TurnGranted { participant, .. } | Event::TurnEnded { participant, .. },
            Viewer::Participant(id),
        ) => participant == id,
        _ => false,
    };
    own || *viewer == Viewer::Operator || PUBLIC.contains(&event.kind())
}
