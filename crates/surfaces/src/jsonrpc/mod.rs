//! JSON-RPC 2.0 for agents that hold conversations within tasks: frames, errors, the table of
//! methods, the document that is made of it, and connections.
//!
//! `connection` reads and writes, `calls` gives the door what was asked, and `convert` writes what
//! it answers and what agents are told.

pub mod frame;
pub mod code;
pub mod methods;
mod params;
mod document;
mod convert;
mod faults;
mod manager;
mod calls;
mod under_way;
mod guarded;
mod connection;
pub(crate) mod socket;

pub use document::openrpc;
pub(crate) use params::read as read_object;
