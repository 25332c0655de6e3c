//! The hall as surfaces see it, on a memory log, with scripted agents and tokio's clock.
#![allow(clippy::unwrap_used)]

mod common;

mod budgets;
mod commands;
mod consent;
mod counting;
mod deletion;
mod elsewhere;
mod door;
mod guards;
mod lifetime;
mod outbox;
mod reader;
mod remote;
mod residents;
mod snapshots;
mod taking;
mod turns;
mod unwritable;
