//! Sizes of the memories in a state that is folded from a log. They are part of the meaning of
//! existing logs: another value would fold the same events into another state. Rules have limits of
//! their own, which must not exceed these sizes.

use crate::model::time::Millis;

/// Times at which one agent's words gave another a turn, for each pair.
pub(crate) const WOKEN_KEPT: usize = 20;
/// Fingerprints of contributions.
pub(crate) const FINGERPRINTS_KEPT: usize = 8;
/// Recently ended turns.
pub(crate) const ENDED_KEPT: usize = 64;
/// Recently settled permissions.
pub(crate) const SETTLED_KEPT: usize = 64;
/// Messages that waited in the queue and that some participant has not been shown yet.
pub(crate) const WAITED_KEPT: usize = 256;
/// Causes of a turn: the first and the newest. A client may name one to say which turn it answers,
/// and a turn that starts without the newest is about the newest that its prompt shows.
pub(crate) const CAUSES_KEPT: usize = 32;
/// Time for which a turn lost in a restart waits, for logs whose event does not give it.
pub(crate) const LOST_WAITS: Millis = Millis::from_secs(3600);
/// Time for which a round waits for a turn, for policies that do not give it.
pub(crate) const PATIENCE_UNSAID: Millis = Millis::from_secs(30);
/// Times of agents' own words since a person spoke.
pub(crate) const OWN_KEPT: usize = 30;
/// Times at which words without proof lifted a guard's hold.
pub(crate) const LIFTS_KEPT: usize = 6;
