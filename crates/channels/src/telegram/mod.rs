//! Telegram: one bot for each agent, over the Bot API.

pub mod client;
pub mod bucket;
pub mod text;
pub mod update;
