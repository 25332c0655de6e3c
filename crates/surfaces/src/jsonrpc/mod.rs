//! JSON-RPC 2.0 for agents that hold conversations within tasks: frames, errors, the table of
//! methods, and the document that is made of it. Nothing here has a connection or asks the engine.

pub mod frame;
pub mod code;
pub mod methods;
mod params;
mod document;

pub use document::openrpc;
