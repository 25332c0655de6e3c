//! The real program from the outside: started on a free port, used over HTTP and from the command
//! line, killed and restarted.
#![allow(clippy::unwrap_used)]

mod guards;
mod chat_restore;
mod chat_words;
mod telegram;
mod discord;
mod channels;
mod matrix;
mod everywhere;
mod computers;
mod harness;
mod terminal;

mod talk;
mod tasks;
mod background;
mod overview;
mod bridge;
mod doors;
mod chat;
mod chat_plain;
mod crash;
mod access;
mod manners;
mod waiting;
mod ways;
mod users;
mod as_whom;
mod doctor;
mod in_session;
mod long_talk;
mod memory;
mod archive;
mod upkeep;
mod budgets;
mod models;
mod logins;
mod reload;
mod hostile;
mod disk_faults;
mod hints;
mod hook;
mod own_program;
mod left;
mod limits;
mod links;
mod before;
mod gather;
mod gather_trail;
mod on_demand;
mod typed;
mod rooms;
mod rough;
mod mcp;
mod clients;
mod sessions;
#[expect(dead_code, reason = "the tests of the surfaces do more with it")]
#[path = "../../../surfaces/tests/surface/stage.rs"]
mod stage;
#[cfg(feature = "crash-points")]
mod crash_points;
