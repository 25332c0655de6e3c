//! The ways in which the answer of a model can end, as far as its provider tells them apart.

use serde::{Deserialize, Serialize};

/// The reason for which a model's answer ended, as far as its provider gives one.
///
/// Its words are shown as the answer, unless the turn failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::EnumString, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Ending {
    /// The model had finished.
    Stop,
    /// The model reached a limit of tokens; the rest is missing.
    Length,
    /// A filter of the provider ended the answer.
    Filter,
    /// The model refused to answer.
    Refusal,
    /// The model asked for a tool.
    Tool,
    /// The provider reported an error.
    Error,
    /// The connection broke before the end.
    Cut,
}

impl Ending {
    /// Returns a phrase for people about an incomplete answer; `None` if the answer is complete.
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
