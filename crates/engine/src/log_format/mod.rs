//! The storage format of all durable logs, in every database: envelope and body of an event, its
//! checksum, the numbers of states, and verification. Each database can read the events of another.

pub mod codec;
mod chain;
mod stored;
mod kinds;
mod walk;

pub use chain::{BodyHash, ChainLink, snapshot_sum};
pub use kinds::{code_of, state_of};
pub use stored::{StoredEvent, StoredParts};
pub use walk::Walk;
