//! Views of a state and its events: who sees which event, the engine's duties, prompts, searches
//! and previews.

pub mod view;
pub mod duties;
pub(crate) mod folded;
pub(crate) mod templates;
pub(crate) mod frames;
pub mod compose;
pub mod search;
pub mod silence;
pub mod turns;
pub mod pending;
pub mod cards;
pub mod occupation;
pub mod preview;
pub mod gathering;
pub mod guards;
