//! Usage of turns: time, tokens and money.

use serde::{Deserialize, Serialize};

/// Time, tokens and money used by a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Milliseconds from start to end.
    pub ms: u64,
    /// Tokens that the model read, as its provider counted them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub input_tokens: u64,
    /// Tokens that the model wrote, as its provider counted them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub output_tokens: u64,
    /// Cost in millionths of the currency of the configured prices.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_micros: u64,
}

impl Usage {
    /// Returns the sum of both.
    #[must_use]
    pub const fn with(self, more: &Usage) -> Usage {
        Usage {
            ms: self.ms.saturating_add(more.ms),
            input_tokens: self.input_tokens.saturating_add(more.input_tokens),
            output_tokens: self.output_tokens.saturating_add(more.output_tokens),
            cost_micros: self.cost_micros.saturating_add(more.cost_micros),
        }
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}
