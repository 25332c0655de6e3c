//! What takes turns: the port to agents, the registry of those that exist, and how many of them run
//! at once.

pub mod turn;
pub mod agent;
pub mod registry;
pub mod places;
pub mod pauses;
pub mod run_once;
