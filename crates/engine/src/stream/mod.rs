//! A live stream: the state machine that is its only writer, and the task around it.
//!
//! [`host`] decides, and lists in [`io`] everything that it is told and everything that it wants.
//! `shell` is the task: it brings what comes in, carries out what is wanted, and waits. Whoever
//! drives a [`Host`] some other way, as the simulator does, gets the same conversation.

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
    Around, StartMode, Condition, Consent, PriorRequest, Lookups, Input, Loaded, Now, Output, OwedItems,
    RequestId, ReadOnlyReason, Verdict, ItemBody, EndReason,
};
