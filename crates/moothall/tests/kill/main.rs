//! kill -9 at every named point, and again and again under load: nothing acknowledged is lost, no
//! position is missing, no reply is visible twice, and every message is answered or explained
//! afterwards.
//!
//! What was acknowledged is remembered here, outside the server, and compared with what the server
//! has when it is at rest again.
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
