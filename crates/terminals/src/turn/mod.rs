//! The way of a turn through a terminal, from its offer to its end, as one state machine.
//!
//! A [`Machine`] belongs to one session. It is told what happens ([`Input`]) and answers with what
//! it wants ([`Output`]); it has no clock but the time it is given, no chance and no order of a
//! hash, and it never waits. Whatever it wants to know before it goes on is one question, and what
//! comes meanwhile waits for the answer. The task of the session (`runner.rs`) only carries out.
//!
//! ```text
//! offered ─ Report Started → begun ─ Mark sending (synced) → Paste → Press Enter → sent
//!         → accepted ─ Keep the result → over
//! ```
//!
//! Three promises rest on this order. *Nothing is typed twice*: a prompt is typed when its row
//! moved from `pending` to `sending`, and only then; after a restart, `sending` becomes `pending`
//! again where it is proven that the program never took it, and `unknown` otherwise. *An answer
//! goes to the turn whose prompt was taken*: the tag in the program's report says which. *A key
//! goes into the dialog that it is meant for*.
//! (`docs/decisions/0026-a-terminals-turn-is-one-state-machine.md`)

mod io;
mod asks;
mod stage;
mod machine;
mod typing;
mod screen;
mod reports;
mod record;
mod questions;
mod no_turn;
#[cfg(test)]
mod tests;

pub use io::{Around, Input, KeptItem, Output, Reply, RequestId, Seen, UnfinishedDelivery};
pub use machine::Machine;
