//! The rules of a conversation: who may speak now, what was said, what is still owed.
//!
//! Pure: time, ids and facts come in as arguments; no clock, no randomness, no I/O. A [`Conversation`] is a fold of
//! [`event::Event`]s. [`Conversation::decide`] decides about a [`command::Command`] and returns the events;
//! [`Conversation::apply`] is the only way state changes. `(Ruling 8)` is a rule of `docs/rules.md`.
//!
//! ```
//! use moothall_kernel::Conversation;
//! use moothall_kernel::command::{Actor, ClientCommand, Facts, Post};
//! use moothall_kernel::event::Event;
//! use moothall_kernel::policy::Policy;
//! use moothall_kernel::time::Timestamp;
//!
//! let (now, facts, user) = (Timestamp::from_millis(0), Facts::default(), Actor::human("user"));
//! let mut lunch = Conversation::new("lunch".into());
//! let create = ClientCommand::Create { name: "Lunch".into(), policy: Policy::default(), by: user.clone() };
//! let created = lunch.decide(now, create, &facts);
//! let said = lunch.decide(now, ClientCommand::Post(Post::new(user, "Soup or salad?")), &facts);
//! assert!(matches!(said.events[0].event, Event::Posted(_)));
//! let events = [created.events, said.events].concat();
//! assert_eq!(Conversation::fold("lunch".into(), &events), lunch);
//! ```

pub mod ids;
pub mod time;
pub mod text;
pub mod names;
pub mod pass;
mod patience;
mod abilities;
pub mod participant;
mod settings;
pub mod policy;
pub mod event;
mod usage;
pub mod budget;
pub mod permission;
pub mod command;
pub mod gathering;
mod fold;
mod entries;
pub mod state;
mod said;
mod apply;
mod snapshot;
pub mod invariants;
mod spending;
pub mod mentions;
pub mod control;
pub mod decide;
mod floor;
pub mod say;
pub mod start;
mod turns;
pub mod refused;
pub mod summary;
pub mod duties;
pub mod aggregate;
pub mod view;
pub mod search;
mod frames;
pub mod compose;
pub mod preview;
pub mod slash;
pub mod planted;

pub use aggregate::Aggregate;
pub use snapshot::STATE_VERSION;
pub use state::Conversation;
