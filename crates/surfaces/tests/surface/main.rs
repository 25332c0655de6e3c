//! Tests of the surfaces as clients meet them: a real server on a loopback port, with the memory
//! log behind it.
#![allow(clippy::unwrap_used)]

mod access;
mod alike;
mod matrix;
mod reach;
mod server;
mod stage;
mod agent_bridge;
mod assist;
mod backwards;
mod bounds;
mod chats;
mod commands;
mod computers;
mod described;
mod details;
mod effects;
mod floor;
mod folders;
mod follow;
mod gatherings;
mod guards;
mod hostile;
mod links;
mod mcp;
mod names;
mod permissions;
mod persons;
mod reference;
mod remote;
mod rpc;
mod search;
mod sessions;
mod stream;
mod reader_wording;
mod tls;
mod types;
mod trust_http;
mod trust_messages;
#[cfg(target_os = "linux")]
mod unasked;
mod upkeep;
mod reading_guards;
mod states;
mod usage;
