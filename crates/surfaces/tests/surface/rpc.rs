//! Agents of other programs, as they meet the server: JSON-RPC over a WebSocket, seen from outside.

mod apps;
mod client;
mod catch_up;
mod floods;
mod fuzz;
mod hostile;
mod keyed;
mod names;
mod people;
mod registration;
mod seed;
mod stage;
mod taken_back;
mod transcripts;

pub use client::{Agent, Client, agent, agents, open_server, register, saying};
pub use registration::registers;
