//! Tokens and cost of programs, as they report them, and the prices of their tokens.
//!
//! The numbers are the program's own word. A number that cannot be right is not counted, with a
//! warning: a count of tokens becomes 0, and a cost becomes unknown, so that the prices decide.

use moothall_kernel::event::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most tokens in one number of a report.
const TOKENS_MAX: u64 = 1_000_000_000;

/// Highest cost in a report, in units of the currency.
const COST_MAX: f64 = 100_000.0;

/// Prices of a million tokens, in the currency of the budgets. An unset price is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// Tokens that the model read.
    pub input: Option<f64>,
    /// Tokens that the model read from its provider's cache. If unset, their price is that of
    /// `input`.
    pub cached: Option<f64>,
    /// Tokens that the model wrote.
    pub output: Option<f64>,
}

/// Tokens and cost that a program reports. A count of 0 may mean that it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReportedUsage {
    /// Tokens read, those from a cache included.
    pub(crate) input: u64,
    /// Tokens read from a cache.
    pub(crate) cached: u64,
    /// Tokens written, thoughts included.
    pub(crate) output: u64,
    /// The cost in millionths, if the program knows it.
    pub(crate) cost_micros: Option<u64>,
}

impl Prices {
    /// Returns the usage with its cost: the cost that the program reports, or else the sum of the
    /// prices of its tokens. The price of a million tokens in units of the currency is the price of
    /// one token in millionths of it.
    pub(crate) fn usage_of(&self, used: &ReportedUsage) -> Usage {
        let price = |price: Option<f64>| price.unwrap_or_default();
        let fresh = used.input.saturating_sub(used.cached) as f64;
        let priced = fresh * price(self.input)
            + used.cached as f64 * price(self.cached.or(self.input))
            + used.output as f64 * price(self.output);
        Usage {
            ms: 0,
            input_tokens: used.input,
            output_tokens: used.output,
            cost_micros: used.cost_micros.unwrap_or(priced.round() as u64),
        }
    }
}

impl ReportedUsage {
    /// Returns the sum of both. The sum has a cost only if both have one.
    pub(crate) fn with(self, more: Self) -> Self {
        Self {
            input: self.input.saturating_add(more.input),
            cached: self.cached.saturating_add(more.cached),
            output: self.output.saturating_add(more.output),
            cost_micros: self
                .cost_micros
                .zip(more.cost_micros)
                .map(|(one, other)| one.saturating_add(other)),
        }
    }
}

/// Returns the sum of these counts of tokens. Missing and impossible ones count as 0.
pub(crate) fn tokens(report: &Value, fields: &[&str]) -> u64 {
    fields.iter().map(|field| count(report, field)).fold(0, u64::saturating_add)
}

/// Returns one count of tokens; 0 with a warning if the value is impossible, and 0 if it is
/// missing.
fn count(report: &Value, field: &str) -> u64 {
    let Some(value) = report.get(field).filter(|value| !value.is_null()) else { return 0 };
    match value.as_u64().filter(|count| *count <= TOKENS_MAX) {
        Some(count) => count,
        None => {
            tracing::warn!(field, %value, "a program reports an impossible number of tokens, \
                                           which is not counted");
            0
        }
    }
}

/// Returns a reported cost in millionths; `None` if missing or impossible.
pub(crate) fn cost_micros(report: &Value, field: &str) -> Option<u64> {
    let value = report.get(field).filter(|value| !value.is_null())?;
    let cost = value.as_f64().filter(|cost| (0.0..=COST_MAX).contains(cost));
    if cost.is_none() {
        tracing::warn!(field, %value, "a program reports an impossible cost, which is not counted");
    }
    cost.map(|cost| (cost * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn impossible_numbers_are_not_counted() {
        for absurd in [
            json!(-5),
            json!(1e300),
            json!(1.5),
            json!("12"),
            json!({}),
            json!(u64::MAX),
            json!(null),
        ] {
            let report = json!({"input": absurd, "output": 7});
            assert_eq!(tokens(&report, &["input", "output", "missing"]), 7, "{report}");
        }
        for absurd in [json!(-0.1), json!(1e300), json!("1"), json!([]), json!(null)] {
            assert_eq!(cost_micros(&json!({"cost": absurd}), "cost"), None);
        }
        assert_eq!(cost_micros(&json!({"cost": 0.096655}), "cost"), Some(96_655));
        assert_eq!(cost_micros(&json!({"cost": 0}), "cost"), Some(0));
    }

    #[test]
    fn the_programs_own_cost_counts_before_the_prices() {
        let prices = Prices { input: Some(3.0), cached: Some(0.3), output: Some(15.0) };
        let used = ReportedUsage { input: 1000, cached: 900, output: 10, cost_micros: None };
        assert_eq!(prices.usage_of(&used).cost_micros, 300 + 270 + 150);
        let plain = Prices { cached: None, ..prices };
        assert_eq!(plain.usage_of(&used).cost_micros, 3000 + 150);
        let own = ReportedUsage { cost_micros: Some(5), ..used };
        assert_eq!(prices.usage_of(&own).cost_micros, 5);
        assert_eq!(own.with(used).cost_micros, None, "half of a cost is none");
        assert_eq!(Prices::default().usage_of(&used).cost_micros, 0);
    }
}
