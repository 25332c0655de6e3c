//! Runs the rules of the kernel: one task for each live stream, ports to logs and agents, and everything that is not a rule.

pub mod ports;
pub mod memory;
pub mod agent;
pub mod codec;
pub mod presence;
pub mod registry;
pub mod hall;

pub use memory::MemoryLog;
