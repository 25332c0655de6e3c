//! Agents that live in terminals: command-line programs as sessions, their turns, and the links
//! between them.
//!
//! [`Sessions`] are registered with a hall as its residents
//! (`moothall_engine::sessions::Residents`), and are reached through its door. Each session types
//! one turn at a time, driven by a state machine ([`turn`]) that the session's task serves. The
//! programs run behind `moothall_engine::sessions::SessionHost`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use moothall_engine::MemoryLog;
//! use moothall_engine::hall::{Hall, HallParts};
//! use moothall_engine::ports::{Store, SystemClock};
//! use moothall_engine::sessions::SessionError;
//! use moothall_terminals::Sessions;
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
//! let without_terminals = Sessions::new(None);
//! let hall = Hall::open_with(parts, Arc::new(without_terminals)).await?;
//! assert!(matches!(hall.sessions(), Err(SessionError::Unavailable(_))));
//! # Ok(())
//! # }
//! ```

pub mod turn;
mod config;
mod faults;
mod mail;
mod secrets;
mod tags;
mod sagas;
mod directory;
mod offers;
mod undoing;
mod reserved;
mod naming;
mod rights;
mod rooms;
mod convene;
mod handles;
mod resume;
mod listeners;
mod links;
mod links_elsewhere;
mod messages;
mod messages_elsewhere;
mod requests;
mod starts;
mod asking;
mod taken;
mod watching;
mod tools;
mod runner;
mod watch;
mod perform;
mod agent;
mod port;

pub use config::{Checkpoints, SessionParts, SessionsConfig};
pub use directory::Sessions;
pub use moothall_engine::sessions::{ConversationPlan, JoiningSession, SessionSource};
