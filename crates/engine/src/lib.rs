//! Runs the rules of the kernel: one task for each live stream, ports to logs and agents, and everything that is not a rule.

pub mod ports;
pub mod memory;
pub mod agent;
pub mod codec;
pub mod presence;
pub mod registry;
pub mod hall;
pub mod slash;
pub mod run_once;
pub mod crash;
mod inner;
mod directory;
mod mail;
mod live;
mod settle;
mod effects;
mod reconcile;
mod brief;
mod partial;
mod attendance;
mod wakes;

pub use effects::came_from;
pub use memory::MemoryLog;
