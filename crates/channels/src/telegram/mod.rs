//! Telegram: one bot for each agent, over the Bot API.

pub mod client;
pub mod text;
pub mod update;
