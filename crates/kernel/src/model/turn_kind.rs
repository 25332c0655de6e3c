//! The purposes of turns, which events and offers of turns name.

use serde::{Deserialize, Serialize};

/// The purpose of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TurnKind {
    /// The participant says something.
    #[default]
    Reply,
    /// The participant only listens; its output stays in the trace.
    Listen,
}
