//! Runs the rules of the kernel: one task for each live stream, ports to logs and agents, and everything that is not a rule.
//!
//! [`hall::Hall`] is the front door. A command sent through it is decided by the kernel in its stream's own task, appended,
//! and only then answered and told to listeners; what should be running afterwards is compared with what runs.
//!
//! ```
//! use std::sync::Arc;
//!
//! use moothall_engine::MemoryLog;
//! use moothall_engine::hall::{Hall, HallParts};
//! use moothall_engine::ports::{Store, SystemClock};
//! use moothall_kernel::command::{Actor, ClientCommand, Post};
//! use moothall_kernel::ids::Seq;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), moothall_engine::hall::HallError> {
//! let (store, clock) = (Store::of(Arc::new(MemoryLog::new())), Arc::new(SystemClock));
//! let parts = HallParts { store, clock, registry: Default::default(), defaults: Default::default(), budgets: Default::default(), owner: "example".into() };
//! let hall = Hall::open(parts).await?;
//! let stream = hall.create("Lunch".into(), hall.defaults(), Actor::human("user"), None).await?.stream;
//! let hello = ClientCommand::Post(Post::new(Actor::human("user"), "Soup or salad?"));
//! let answer = hall.submit(&stream, hello, None).await?;
//! assert_eq!(answer.head, Seq(2));
//! assert_eq!(hall.read(&stream, Seq(1), None).await?.events, answer.event.into_iter().collect::<Vec<_>>());
//! # Ok(())
//! # }
//! ```

pub mod reach;
pub mod ports;
pub mod memory;
pub mod turn;
pub mod agent;
pub mod log_format;
pub mod presence;
pub mod answers;
pub mod registry;
pub mod hall;
pub mod inside;
pub mod context;
pub mod content;
mod slash;
pub mod search;
pub mod marks;
pub mod access;
pub mod door;
pub mod meters;
pub mod pauses;
pub mod places;
pub mod run_once;
pub mod sessions;
pub mod budgets;
pub mod crash;
pub mod stream;
pub mod outbox;
mod services;
mod inner;
mod directory;
mod shown;
mod updates;
mod once;
pub mod erase;
mod delete;
mod retention;
mod outlived;
mod copies;
mod spending;
mod counted;
mod keyed_locks;
mod presences;
mod wakes;

pub use memory::MemoryLog;
pub use presences::Attendees;
pub use stream::effects::came_from;
