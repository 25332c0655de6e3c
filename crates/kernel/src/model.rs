//! The data of a conversation: its events, its state, and the fold that makes state from events. No
//! decisions are made here.

pub mod ids;
pub mod time;
pub(crate) mod abilities;
pub mod participant;
pub(crate) mod settings;
pub(crate) mod usage;
pub mod budget;
pub mod permission;
pub mod start;
pub mod talk;
pub mod request;
pub mod ending;
pub mod gathering;
pub mod task_event;
pub mod task;
pub mod message_part;
pub mod silence;
pub mod event;
pub(crate) mod actor;
pub(crate) mod post;
pub(crate) mod rejection;
pub mod task_command;
pub mod command;
pub mod summary;
pub(crate) mod fold;
pub(crate) mod entries;
pub(crate) mod message_count;
pub mod own;
pub mod voices;
pub mod refused;
pub(crate) mod contribution;
pub mod state;
mod apply;
pub(crate) mod spending;
pub(crate) mod snapshot;
pub mod invariants;
