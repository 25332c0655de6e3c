//! What every log that lasts writes the same way, whatever database it writes to: how an event
//! becomes an envelope and a body, what its checksum covers, the numbers that stand for states, and
//! what a walk compares. A log that was written by one reads in the other.

pub mod codec;
mod chain;
mod stored;
mod kinds;
mod walk;

pub use chain::{BodyHash, ChainLink, snapshot_sum};
pub use kinds::{code_of, state_of};
pub use stored::{StoredEvent, StoredParts};
pub use walk::Walk;
