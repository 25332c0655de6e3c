//! The real program, from outside: started on a free port, spoken to over HTTP and from the command line, killed and started again.
#![allow(clippy::unwrap_used)]

mod harness;
mod terminal;

mod talk;
mod bridge;
mod doors;
mod chat;
mod chat_plain;
mod crash;
mod access;
mod long_talk;
mod archive;
mod upkeep;
mod models;
mod hostile;
mod trouble;
mod hook;
mod links;
mod typed;
mod rough;
mod mcp;
mod sessions;
#[expect(dead_code, reason = "the tests of the surfaces do more with it")]
#[path = "../../../surfaces/tests/surface/stage.rs"]
mod stage;
#[cfg(feature = "crash-points")]
mod crash_points;
