//! Server surfaces: HTTP, server-sent events, MCP and JSON-RPC, with the wire types that they and
//! the command line share.
//!
//! [`serve()`] serves a hall on a listener; [`router()`] returns the routes without a listener.
//! All types that cross the wire are in [`wire`]. The guards before the routes reject foreign web
//! pages and host names, and find out who the caller is. [`ROUTES`] says what each route needs. In
//! local mode, a request without a credential names its own sender in `from`.
//!
//! ```
//! let described = moothall_surfaces::openapi();
//! assert!(described.paths.paths.contains_key("/threads/{id}/events"));
//! ```

pub mod wire;
pub mod json;
mod strict;
pub mod error;
pub mod next_steps;
mod request;
mod ask;
mod gather;
mod parse_event;
mod control;
mod submit;
mod held_answers;
mod explain;
mod ui;
mod http;
mod sse;
mod mcp;
pub mod jsonrpc;
mod peer;
mod tls;
mod eager;
mod serve;
mod meters;
mod stalled_writer;
mod rates;
mod slots;
mod counted;
mod surface;
pub mod reference;

pub use http::{HttpOptions, ROUTES, Route, UnknownPeerRights, here, openapi};
pub use jsonrpc::openrpc;
pub use mcp::{actions_of_tools, reading_tools};
pub use meters::{Gauge, Gauges};
pub use peer::{UnknownPeer, try_to_ask};
pub use rates::Limits;
pub use serve::{serve, serve_through};
pub use surface::{Surface, router};
pub use tls::{Tls, TlsFault};
