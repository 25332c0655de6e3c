//! Ways in: HTTP and server-sent events, and the wire types that they and the command line share.

pub mod wire;
