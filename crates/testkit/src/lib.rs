//! Never shipped: the simulator, conformance suites for the ports, and helpers for other crates'
//! tests.

pub mod needs;
#[cfg(target_os = "linux")]
pub mod filter;
pub mod measure;
pub mod fuzz;
pub mod conformance;
pub mod sim;
#[cfg(feature = "fakes")]
pub mod model_server;
#[cfg(feature = "fakes")]
pub mod fake_tui;
#[cfg(feature = "fakes")]
mod connection;
#[cfg(feature = "fakes")]
pub mod telegram;
#[cfg(feature = "fakes")]
pub mod matrix;
#[cfg(feature = "fakes")]
pub mod discord;
#[cfg(feature = "fakes")]
pub mod redis;
#[cfg(feature = "fakes")]
mod redis_command;
#[cfg(feature = "fakes")]
pub mod redis_wire;
