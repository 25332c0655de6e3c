//! The ways in which a model's answer can end, as far as providers tell them apart.

use serde::{Deserialize, Serialize};

/// The end of a model's answer, as far as its provider tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::IntoStaticStr, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Ending {
    /// The model was done.
    Stop,
    /// It reached a limit of tokens, and the rest is missing.
    Length,
    /// A filter of its provider ended it.
    Filter,
    /// The model refused to answer.
    Refusal,
    /// The model asked for a tool.
    Tool,
    /// Its provider reported an error.
    Error,
    /// The connection broke before the end.
    Cut,
}
