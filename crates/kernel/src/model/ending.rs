//! The ways in which a model's answer can end, as far as providers tell them apart.

use serde::{Deserialize, Serialize};

/// The end of a model's answer, as far as its provider tells it.
///
/// Any of them but an error and a cut makes an answer of the words that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::EnumString, strum::VariantArray)]
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

impl Ending {
    /// Returns a phrase for people about words that may not be all; nothing if they are.
    pub const fn phrase(self) -> Option<&'static str> {
        match self {
            Ending::Stop => None,
            Ending::Length => Some("cut short by a limit of tokens"),
            Ending::Filter => Some("cut short by a filter of the provider"),
            Ending::Refusal => Some("the model refused to go on"),
            Ending::Tool => Some("the model asked for a tool and ended"),
            Ending::Error => Some("cut short by an error of the provider"),
            Ending::Cut => Some("the connection broke off"),
        }
    }
}
