//! The rules of a conversation: who may speak now, what was said, what is still owed.
//!
//! Pure: time, ids and facts come in as arguments; no clock, no randomness, no I/O. A [`Conversation`] is a fold of
//! [`event::Event`]s. [`Conversation::handle`] decides about a [`command::Command`] and returns the events;
//! [`Conversation::apply`] is the only way state changes.

pub mod ids;
pub mod time;
pub mod text;
pub mod names;
pub mod pass;
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
