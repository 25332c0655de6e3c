//! The post between computers, as parts that a host puts together.
//!
//! Two computers that know each other share a random key. Each stores the rows that it owes the
//! other, seals them, and puts them into the other's stream at a Redis that both reach. The post
//! may lose, repeat and reorder everything. So the sender numbers its rows. The receiver takes them
//! in order, each of them once, and acknowledges only rows that its own log has committed.
//!
//! The crate has no log, no hall and no clock of its own. The host owns the durable rows and marks,
//! reads the time, and decides what another computer may do.
//!
//! ```
//! use std::time::Instant;
//!
//! use moothall_computers::channel::{ChannelKey, IncomingChannel, OutgoingChannel};
//! use moothall_computers::envelope::Entry;
//! use moothall_computers::frame::Frame;
//! use moothall_computers::id::{ComputerId, LogId};
//! use moothall_computers::keys::{Opener, PairKey, Sealer};
//! use moothall_computers::post::PostId;
//!
//! let (server, laptop) = (ComputerId::random(1)?, ComputerId::random(8)?);
//! let (pair, log, now) = (PairKey::random(), LogId::random(), Instant::now());
//! let sealer = Sealer::new(server, log);
//! let key = ChannelKey { sender: server, log, receiver: laptop };
//! let mut outgoing = OutgoingChannel::new(key, 1, [], now);
//! outgoing.push("a row".as_bytes().into())?;
//! let (number, body) = outgoing.next_row(now).expect("a row to send");
//! let entry = sealer.seal(laptop, &pair, &Frame::row(number, &body).encode())?.encode();
//!
//! let letter = Opener::new(laptop).open(&pair, Entry::decode(&entry)?)?;
//! let mut incoming = IncomingChannel::new(key, 0);
//! if let Frame::Row(row) = Frame::decode(&letter.body)? {
//!     incoming.receive(row, PostId::from("1-0"));
//! }
//! assert!(incoming.acknowledgement().is_none(), "the row is not in the receiver's log yet");
//! incoming.committed(1)?;
//! let through = incoming.acknowledgement().expect("an acknowledgement");
//! assert_eq!(outgoing.acknowledge(through, now)?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Tests share a host with the tests of the outside, which call the crate by its name.
#[cfg(test)]
extern crate self as moothall_computers;

pub mod id;
pub mod keys;
pub mod envelope;
pub mod frame;
pub mod channel;
pub mod post;
#[cfg(any(test, feature = "fakes"))]
pub mod memory_post;
pub mod redis_post;
pub mod invitation;
pub mod pairs;
pub mod bridge;
mod random;
