//! The surfaces as clients meet them: a real server on a loopback port, with the memory log behind it.
#![allow(clippy::unwrap_used)]

mod access;
mod server;
mod stage;
mod agent_bridge;
mod assist;
mod floor;
mod links;
mod mcp;
mod permissions;
mod reference;
mod search;
mod sessions;
mod stream;
mod trust_http;
mod trust_messages;
mod upkeep;
