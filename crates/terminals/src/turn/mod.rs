//! The life of a turn in a terminal, from its offer to its end, as one state machine.
//!
//! A [`Machine`] belongs to one session. It takes inputs ([`Input`]) and returns outputs
//! ([`Output`]). It is deterministic: time comes in with each input, and it uses no randomness and
//! no hash order. It never blocks: a question is an output, and while an answer is outstanding
//! other inputs queue up. The session's task (`runner.rs`) carries out the outputs.
//!
//! ```text
//! offered ─ Report Started → begun ─ Mark sending (synced) → Paste → Press Enter → sent
//!         → accepted ─ Keep the result → over
//! ```
//!
//! Three promises depend on this order. *A prompt is typed at most once*: the machine types it only
//! after its row moved from `pending` to `sending`. After a restart, `sending` becomes `sent` if
//! the prompt is found on the screen or in the program's record, `pending` if it is proven that the
//! program never took the prompt, and `unknown` otherwise. *An answer goes to the turn whose prompt
//! was taken*: the tag in the program's report names the turn. *A key goes into the dialog that it
//! is meant for*. (`docs/decisions/0026-a-terminals-turn-is-one-state-machine.md`)

mod io;
mod asks;
mod choices;
mod stage;
mod wait;
mod machine;
mod typing;
mod screen;
mod reports;
mod record;
mod questions;
mod no_turn;
#[cfg(test)]
mod tests;

pub use io::{Around, Input, KeptItem, Output, PaneContent, Reply, RequestId, UnfinishedDelivery};
pub use machine::Machine;
