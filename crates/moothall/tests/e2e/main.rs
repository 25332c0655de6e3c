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
mod archive;
mod upkeep;
mod models;
mod hostile;
mod trouble;
#[cfg(feature = "crash-points")]
mod crash_points;
