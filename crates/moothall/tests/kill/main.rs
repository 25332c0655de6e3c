//! kill -9 at every named point, and repeatedly under load. Acknowledged events survive, no
//! position is missing, no reply is visible twice, and afterwards every message is answered or
//! explained.
//!
//! The tests record all acknowledgements outside of the server, and compare them with the server's
//! state at rest.
#![allow(clippy::unwrap_used)]

mod chance;
mod house;
mod ledger;
mod reader;
mod world;
mod writer;
mod oracle;

mod points;
mod random;
mod alone;
mod format;
mod power;
mod chats;
mod computers;
