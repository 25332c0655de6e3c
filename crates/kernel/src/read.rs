//! What is read off a state and its events: who sees what, what is owed to the world, what a
//! participant is told, what would happen.

pub mod view;
pub mod duties;
pub(crate) mod folded;
pub(crate) mod templates;
pub(crate) mod frames;
pub mod compose;
pub mod search;
pub mod silence;
pub mod pending;
pub mod preview;
pub mod gathering;
pub mod guards;
