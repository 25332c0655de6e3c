//! Running turns: the port to agents, the registry of agents, and the limit of turns at a time.

pub mod turn;
pub mod agent;
pub mod registry;
pub mod places;
pub mod pauses;
pub mod run_once;
