//! Live streams: a state machine that is the only writer of its stream, and the task around it.
//!
//! [`host`] decides. [`io`] lists all of its inputs and outputs. `shell` is the task: it feeds
//! inputs to the host, performs the outputs, and waits. A caller that drives a [`Host`] in another
//! way, as the simulator does, gets the same conversation.

pub mod io;
pub mod host;
mod deciding;
pub(crate) mod batch;
mod awaited;
mod runs;
pub(crate) mod updates;
pub(crate) mod shown;
mod duty;
mod news;
mod tail;
pub(crate) mod brief;
mod partial;
pub(crate) mod effects;
pub(crate) mod remote_effects;
pub(crate) mod elsewhere;
pub(crate) mod hosting;
pub mod load;
mod snapshots;
pub mod idempotency;
pub(crate) mod mail;
mod reporter;
pub(crate) mod asking;
mod alarm;
pub(crate) mod shell;
mod perform;
#[cfg(test)]
mod tests;

pub use asking::ConsentAsker;
pub use host::Host;
pub use io::{
    Around, Condition, Consent, EndReason, Input, ItemBody, LoadedStream, Lookups, Now, Output,
    OwedItems, PriorRequest, ReadOnlyReason, RefusalNote, RequestId, StartMode, Taking, Verdict,
};
