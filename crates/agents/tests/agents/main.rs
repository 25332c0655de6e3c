//! Agents at work: the built-in ones in small conversations, and real programs that misbehave.
#![allow(clippy::unwrap_used)]

mod common;

mod command;
mod config;
mod demo;
mod script;
mod story;
mod discover;
mod vendors;
mod spool;
mod llm;
mod llm_faults;
mod screens;
mod fuzz;
mod looking;
mod terminal;
mod offers;
mod answering;
mod between;
mod llm_memory;
mod llm_quirks;
