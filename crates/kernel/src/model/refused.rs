//! Limits on refused words that are stored. (docs/decisions/0017-bounds.md)
//!
//! Refused words are stored in the trace. Without a limit, a muted participant could fill the disk.
//! So the trace takes a limited amount of each participant in an hour, and the rest is only
//! counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ids::ParticipantId;
use crate::model::time::{Millis, Timestamp};

/// Maximum number of refused contributions of one participant that are stored within [`WINDOW`].
pub const KEPT_MAX: u32 = 20;
/// Maximum of their bytes.
pub const KEPT_BYTES_MAX: u64 = 1024 * 1024;
/// The window, which begins with the first stored contribution.
pub const WINDOW: Millis = Millis::from_secs(3600);
/// Participants whose words were recently refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Refusals(pub(crate) BTreeMap<ParticipantId, RefusedWords>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RefusedWords {
    pub(crate) since: Timestamp,
    pub(crate) kept: u32,
    pub(crate) bytes: u64,
    /// True if the limit was exceeded, so that words are only counted.
    pub(crate) over: bool,
}

impl RefusedWords {
    pub(crate) fn until(&self) -> Timestamp {
        self.since + WINDOW
    }
}

impl Refusals {
    /// Counts stored words of a participant; its first ones begin its window. `counted` is 0 for
    /// words that the limit does not count.
    pub(crate) fn apply_kept(&mut self, participant: &ParticipantId, counted: u64, ts: Timestamp) {
        if counted == 0 {
            return;
        }
        // Entries over the limit stay until an event records their count.
        self.0.retain(|_, refused| refused.over || refused.until() > ts);
        let refused = self.0.entry(participant.clone()).or_insert(RefusedWords {
            since: ts,
            kept: 0,
            bytes: 0,
            over: false,
        });
        refused.kept += 1;
        refused.bytes += counted;
    }

    /// Marks a participant's window as exceeded. Without `until`, removes the window, because its
    /// sum is recorded.
    pub(crate) fn apply_unkept(&mut self, participant: &ParticipantId, until: Option<Timestamp>) {
        match (until, self.0.get_mut(participant)) {
            (Some(_), Some(refused)) => refused.over = true,
            (None, Some(_)) => drop(self.0.remove(participant)),
            (Some(_) | None, None) => {}
        }
    }

    /// Returns the next time at which a count of words that were not stored is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.0.values().filter(|refused| refused.over).map(RefusedWords::until).min()
    }

    /// Returns the participants whose window has ended and whose count has to be recorded.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<ParticipantId> {
        let due = self.0.iter().filter(|(_, refused)| refused.over && refused.until() <= now);
        due.map(|(participant, _)| participant.clone()).collect()
    }
}
