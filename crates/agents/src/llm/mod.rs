//! Runtime `llm`: a call to a model provider for each turn. The model's memory is rebuilt from the
//! log each time.
//!
//! The part of the log that no longer fits is summed up by the model, and the log stores the
//! summary. The answer is streamed. After a word of its answer was shown, a request is not
//! repeated. The limits here bound the time, the length and the reported cost of an answer,
//! whatever the provider does.

mod provider;
mod names;
mod frames;
mod halves;
mod wire;
mod client;
mod history;
mod summary;
mod seen;
mod errors;
mod backoff;
mod waits;
mod circuit;
mod turn;
mod section;

pub(crate) use section::RUNTIME;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use moothall_engine::agent::{CallCost, Job, Reporter};
use moothall_engine::run_once::Work;
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::participant::{Abilities, Runtime};
use moothall_kernel::time::Millis;

use circuit::Circuit;
pub use provider::Provider;
use provider::Target;
use turn::Turn;
use wire::Settings;

/// Tokens of system text, history and question together, if the configuration does not say.
pub const CONTEXT_TOKENS: usize = 24_000;

/// Tokens left for an answer, if the configuration does not say.
const ANSWER_TOKENS: usize = 4_096;

/// Longest answer, in bytes.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// Time past a turn's limit after which this module ends the turn's requests. The conversation's
/// own deadline is meant to end the turn first.
const BACKSTOP: Duration = Duration::from_secs(1);

/// Most bytes of a transcript that a prompt reads, however large the model's context. Of earlier
/// messages a prompt has at most the summary.
const READ_BYTES_MAX: usize = 1024 * 1024;

/// Longest silence of a provider. Half of the turn's time limit counts if that is less.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// A model of a provider.
#[derive(Clone, PartialEq)]
pub struct LlmSpec {
    /// The provider whose protocol the model speaks.
    pub provider: Provider,
    /// The model, as the provider calls it.
    pub model: String,
    /// The base URL, as [`Provider::base_url`] returns it; the provider's own address if unset.
    pub base_url: Option<String>,
    /// The key that the provider asks for; unset if it asks for none.
    pub api_key: Option<String>,
    /// System text that follows the conversation's own.
    pub system: Option<String>,
    /// Time limit of the model for a turn.
    pub timeout: Option<Millis>,
    /// Longest answer in tokens; the provider decides if unset.
    pub max_tokens: Option<u32>,
    /// Sampling temperature; the provider decides if unset.
    pub temperature: Option<f64>,
    /// Tokens of system text, history and question together.
    pub context_tokens: usize,
    /// True if the model's template already opens its thoughts, so that its answer has only the
    /// closing tag.
    pub thinks_first: bool,
    /// Price of a million tokens read, in a currency of the operator's choice; not known if
    /// unset.
    pub price_input: Option<f64>,
    /// Price of a million tokens written, in the same currency; not known if unset.
    pub price_output: Option<f64>,
}

impl fmt::Debug for LlmSpec {
    /// Leaves out key and address: the address may carry a secret too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmSpec")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl LlmSpec {
    /// Returns the default settings for a model, at the provider's own address and without a key.
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: None,
            api_key: None,
            system: None,
            timeout: None,
            max_tokens: None,
            temperature: None,
            context_tokens: CONTEXT_TOKENS,
            thinks_first: false,
            price_input: None,
            price_output: None,
        }
    }

    /// Returns the tokens of a request and its answer together.
    fn window(&self) -> usize {
        let answer = self.max_tokens.map_or(ANSWER_TOKENS, |tokens| tokens as usize);
        self.context_tokens.saturating_add(answer)
    }

    /// Returns the cost of these tokens, in millionths of the currency. A price per million tokens
    /// in units is the price per token in millionths.
    fn cost_micros(&self, usage: &Usage) -> u64 {
        let cost = usage.input_tokens as f64 * self.price_input.unwrap_or_default()
            + usage.output_tokens as f64 * self.price_output.unwrap_or_default();
        cost.round() as u64
    }

    /// Returns the highest cost of one request: all of its context read, and `max_tokens` written.
    /// The cost is unknown if a price is unset, or if written tokens have a price and `max_tokens`
    /// is unset.
    fn call_cost(&self) -> CallCost {
        let (Some(input), Some(output)) = (self.price_input, self.price_output) else {
            return CallCost::Unknown;
        };
        let written = match self.max_tokens {
            _ if output == 0.0 => 0,
            Some(tokens) => u64::from(tokens),
            None => return CallCost::Unknown,
        };
        let usage = Usage {
            input_tokens: self.context_tokens as u64,
            output_tokens: written,
            ..Usage::default()
        };
        match self.cost_micros(&usage) {
            0 if input == 0.0 => CallCost::Nothing,
            micros => CallCost::AtMost { micros },
        }
    }

    /// Returns the number of written tokens that this money pays for, after the price of
    /// `asked_bytes` read is taken from it. It is 0 if the money does not pay for reading, or for
    /// one written token. Otherwise it is `None` if written tokens cost nothing.
    fn tokens_for(&self, micros: u64, asked_bytes: usize) -> Option<u32> {
        let read = asked_bytes.div_ceil(history::BYTES_PER_TOKEN) as f64;
        let left = micros as f64 - read * self.price_input.unwrap_or_default();
        match self.price_output.filter(|price| *price > 0.0) {
            _ if left < 0.0 => Some(0),
            Some(price) => Some((left / price) as u32),
            None => None,
        }
    }
}

/// An agent that asks a model.
pub struct Llm {
    spec: LlmSpec,
    target: Target,
    circuit: Arc<Circuit>,
    client: OnceLock<Result<reqwest::Client, String>>,
}

impl Llm {
    /// Makes the agent of a model. It connects at its first turn, not here.
    pub fn new(spec: LlmSpec) -> Self {
        let target = Target {
            provider: spec.provider,
            model: spec.model.clone(),
            base_url: spec.base_url.clone(),
            api_key: spec.api_key.clone(),
        };
        let circuit = Circuit::of(&target);
        Self { spec, target, circuit, client: OnceLock::new() }
    }

    fn client(&self) -> Result<&reqwest::Client, Fault> {
        let client = self.client.get_or_init(|| client::connector(self.target.address()));
        client.as_ref().map_err(|error| {
            Fault::new("provider_unavailable", format!("Connections cannot be made here: {error}."))
        })
    }

    /// Returns the settings of a request. If `affordable` is less than the configured limit of
    /// tokens, it is the limit. Without a configured limit there is none.
    fn settings(&self, affordable: Option<u32>) -> Settings<'_> {
        let (model, effort) = names::split(&self.spec.model);
        let max_tokens = self.spec.max_tokens;
        Settings {
            model,
            effort,
            temperature: self.spec.temperature,
            window: self.spec.window(),
            max_tokens: max_tokens.map(|most| affordable.map_or(most, |tokens| tokens.min(most))),
        }
    }
}

#[async_trait]
impl Work for Llm {
    fn runtime(&self) -> Runtime {
        RUNTIME.runtime.clone()
    }

    fn abilities(&self) -> Abilities {
        RUNTIME.abilities
    }

    fn room(&self) -> usize {
        self.spec.context_tokens.saturating_mul(history::BYTES_PER_TOKEN).min(READ_BYTES_MAX)
    }

    /// Returns 0: the prompt alone carries the messages.
    fn window(&self) -> usize {
        0
    }

    fn timeout(&self) -> Option<Millis> {
        self.spec.timeout
    }

    fn call_cost(&self) -> CallCost {
        self.spec.call_cost()
    }

    /// Answers a turn. The conversation's deadline ends the turn at its limit. If it does not, this
    /// method fails with `timeout` after a further [`BACKSTOP`]. The returned usage is that of all
    /// requests, even if the model answered none of them.
    async fn run(&self, job: &Job, out: &dyn Reporter) -> (Result<String, Fault>, Usage) {
        // The first poll runs on the stream's task. The history is rebuilt after that poll, on the
        // turn's own task.
        tokio::task::yield_now().await;
        let began = Instant::now();
        let limit = Duration::from_millis(job.limit.0);
        let mut turn = Turn::new(self, job, out, began + limit);
        let result = match tokio::time::timeout(limit.saturating_add(BACKSTOP), turn.answer()).await
        {
            Ok(result) => result,
            Err(_) => {
                let who = self.spec.provider;
                Err(Fault::new(
                    "timeout",
                    format!("{who} gave no whole answer within {} s.", job.limit.as_secs_f64()),
                ))
            }
        };
        (result, turn.usage(began))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_for_a_million_tokens() {
        let spec = LlmSpec {
            price_input: Some(3.0),
            price_output: Some(15.0),
            ..LlmSpec::new(Provider::Anthropic, "m")
        };
        let usage = Usage { input_tokens: 1_000_000, output_tokens: 100, ..Usage::default() };
        assert_eq!(spec.cost_micros(&usage), 3_001_500);
        let dear = LlmSpec { price_output: Some(f64::MAX), ..spec };
        assert_eq!(dear.cost_micros(&usage), u64::MAX);
    }

    #[test]
    fn a_call_costs_at_most_its_context_and_its_limit_and_a_price_of_nothing_is_a_price() {
        let spec = |input, output, max_tokens| LlmSpec {
            price_input: input,
            price_output: output,
            max_tokens,
            context_tokens: 1000,
            ..LlmSpec::new(Provider::Anthropic, "m")
        };
        let cost = |input, output, most| spec(input, output, most).call_cost();
        assert_eq!(cost(Some(2.0), Some(3.0), Some(100)), CallCost::AtMost { micros: 2300 });
        assert_eq!(cost(Some(2.0), Some(3.0), None), CallCost::Unknown);
        assert_eq!(cost(None, Some(3.0), Some(100)), CallCost::Unknown);
        assert_eq!(cost(Some(2.0), Some(0.0), None), CallCost::AtMost { micros: 2000 });
        assert_eq!(cost(Some(0.0), Some(0.0), None), CallCost::Nothing);
        let spec = spec(Some(2.0), Some(3.0), Some(100));
        let bytes = 10 * history::BYTES_PER_TOKEN;
        assert_eq!(spec.tokens_for(200, bytes), Some(60));
        assert_eq!(spec.tokens_for(23, bytes), Some(1));
        for too_little in [0, 5, 20, 22] {
            assert_eq!(spec.tokens_for(too_little, bytes), Some(0), "{too_little}");
        }
        let free = LlmSpec { price_output: Some(0.0), ..spec.clone() };
        assert_eq!((free.tokens_for(20, bytes), free.tokens_for(19, bytes)), (None, Some(0)));
        let free = LlmSpec { price_input: None, ..free };
        assert_eq!(free.tokens_for(0, bytes), None);
    }
}
