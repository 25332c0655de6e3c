//! JSON-RPC 2.0 for agents that converse within tasks: frames, errors, the table of methods, the
//! OpenRPC document made from it, and connections.
//!
//! `connection` reads and writes frames, `calls` passes requests to the door, and `convert`
//! converts answers and notices to wire types.

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
