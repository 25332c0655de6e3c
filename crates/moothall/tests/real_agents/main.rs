//! The real Claude Code, Codex and Gemini programs against fake models: `./scripts/test agents`
//! installs them and runs this.
//!
//! The tests cover the programs' own behaviour: their answers, once per turn, and their reports
//! from a terminal. They have a home folder of their own, and no network beyond this computer.
#![allow(clippy::unwrap_used)]

#[path = "../e2e/harness.rs"]
#[allow(dead_code)]
mod harness;
mod programs;
mod terminal;
mod world;
mod house;

mod print;
mod logins;
mod reports;
mod hosted;
mod linked;
mod across;
mod obeyed;
mod exact;
mod gathered;
mod driven;
mod adopted;
mod records;
mod reasons;
mod timed;
mod approved;
mod resumed;
mod chosen;
mod spent;
