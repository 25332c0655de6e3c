//! How much the fold of a log remembers. These numbers are part of the meaning of every log that
//! there is: another value would make another state of the same events. A rule has a number of its
//! own, and may look at no more than what is remembered here.

use crate::model::time::Millis;

/// Times at which one agent's words woke another, for each pair.
pub(crate) const WOKEN_KEPT: usize = 20;
/// Fingerprints of the latest contributions.
pub(crate) const FINGERPRINTS_KEPT: usize = 8;
/// Turns that ended lately, and whose they were.
pub(crate) const ENDED_KEPT: usize = 64;
/// Permissions that were settled lately.
pub(crate) const SETTLED_KEPT: usize = 64;
/// Messages that waited in the queue, and that somebody is to be told of yet.
pub(crate) const WAITED_KEPT: usize = 256;
/// Causes of a turn: the first and the newest. A client may say by one which turn it answers, and a
/// turn that begins without the newest is about the newest that its prompt shows.
pub(crate) const CAUSES_KEPT: usize = 32;
/// How long a turn that a restart lost waits again, in logs whose event does not say it.
pub(crate) const LOST_WAITS: Millis = Millis::from_secs(3600);
/// How long a round waits for a turn, in policies that do not say it.
pub(crate) const PATIENCE_UNSAID: Millis = Millis::from_secs(30);
/// Times at which an agent's own words were said, since a person spoke.
pub(crate) const OWN_KEPT: usize = 30;
/// Times at which words without proof lifted a guard's hold.
pub(crate) const LIFTS_KEPT: usize = 6;
