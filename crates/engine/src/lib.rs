//! Runs the rules of the kernel: one task for each live stream, ports to logs and agents, and
//! everything that is not a rule.
//!
//! [`hall::Hall`] is the front door. The task of a stream decides each command by the kernel's
//! rules, appends the events, and only then answers and publishes them. After that it starts and
//! ends turns until they agree with the state.
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
//! let parts = HallParts {
//!     store,
//!     clock,
//!     registry: Default::default(),
//!     defaults: Default::default(),
//!     budgets: Default::default(),
//!     owner: "example".into(),
//! };
//! let hall = Hall::open(parts).await?;
//! let user = Actor::human("user");
//! let stream = hall.create("Lunch".into(), hall.defaults(), user.clone(), None).await?.stream;
//! let hello = ClientCommand::Post(Post::new(user, "Soup or salad?"));
//! let answer = hall.submit(&stream, hello, None).await?;
//! assert_eq!(answer.head, Seq(2));
//! let read = hall.read(&stream, Seq(1), None).await?;
//! assert_eq!(read.events, answer.event.into_iter().collect::<Vec<_>>());
//! # Ok(())
//! # }
//! ```

pub mod ports;
pub mod memory;
pub mod log_format;
pub mod answers;
pub mod content;
pub mod crash;
pub mod runtime;
pub mod stream;
pub mod outbox;
pub mod hall;
pub mod access;
mod paired;
pub mod sessions;
pub mod channels;
pub mod computers;
pub mod tasks;
pub mod door;

pub use access::reach;
pub use hall::presences::ParticipantPresence;
pub use hall::{
    budgets, context, erase, marks, meters, occupation, presence, reservations, residents, search,
    voices,
};
pub use memory::MemoryLog;
pub use runtime::{agent, pauses, places, registry, run_once, turn};
