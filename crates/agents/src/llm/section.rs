//! Agents of `[agents.<client>]` that ask a model.

use std::sync::Arc;

use moothall_engine::run_once::RunOnce;
use moothall_kernel::participant::{Abilities, OnLost, Runtime};

use crate::config::{AgentConfig, ConfigFault, tokens_above_zero, within};
use crate::llm::{self, Llm, LlmSpec};
use crate::runtimes::RuntimeEntry;

pub(crate) static RUNTIME: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::LLM,
    abilities: Abilities::LLM,
    implied_by: Some("provider"),
    keys: &[
        "provider",
        "base_url",
        "api_key",
        "system",
        "max_tokens",
        "temperature",
        "context_tokens",
        "thinks_first",
        "price_input",
        "price_output",
    ],
    refuses_on_lost: |on_lost| {
        (on_lost == OnLost::Fail).then_some(
            "A model is always asked again after a restart; only a command agent can fail instead.",
        )
    },
    build: |config, _, _| Ok(Arc::new(RunOnce::new(Llm::new(config.llm_spec()?)))),
    describe,
};

fn describe(config: &AgentConfig) -> String {
    let model = config.model.as_deref().or(config.profile.model.as_deref()).unwrap_or_default();
    let provider = config.provider.map_or("", Into::into);
    format!("Asks the model {model} ({provider}) for each turn.")
}

impl AgentConfig {
    /// Returns the model of an `llm` agent.
    ///
    /// # Errors
    /// [`ConfigFault`] if provider, model or key is missing, or a value makes no sense.
    pub fn llm_spec(&self) -> Result<LlmSpec, ConfigFault> {
        let provider = self.provider.ok_or_else(|| {
            ConfigFault::new(
                "provider",
                "Name the provider of the model: provider = \"openai\", \
                                          \"anthropic\", \"gemini\" or \"ollama\".",
            )
        })?;
        let base_url = self.base_url.as_deref().map(|url| provider.base_url(url)).transpose();
        let base_url = base_url.map_err(|why| ConfigFault::new("base_url", why))?;
        let api_key = self.api_key.clone().filter(|key| !key.trim().is_empty());
        if api_key.is_none() && base_url.is_none() && provider.needs_key() {
            return Err(ConfigFault::new(
                "api_key",
                "This provider needs a key: api_key = \"${NAME_OF_A_VARIABLE}\".",
            ));
        }
        if api_key
            .as_deref()
            .is_some_and(|key| !key.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
        {
            return Err(ConfigFault::new(
                "api_key",
                "The key contains a character that is not allowed in keys, perhaps a line break.",
            ));
        }
        let prices = self.prices()?;
        Ok(LlmSpec {
            model: self.llm_model()?,
            base_url,
            api_key,
            system: self.system.clone(),
            timeout: self.time_limit()?,
            max_tokens: self
                .max_tokens
                .map(|tokens| tokens_above_zero("max_tokens", tokens))
                .transpose()?,
            temperature: self
                .temperature
                .map(|value| within("temperature", value, 2.0))
                .transpose()?,
            context_tokens: self.context_tokens.map_or(Ok(llm::CONTEXT_TOKENS), |tokens| {
                tokens_above_zero("context_tokens", tokens)
            })?,
            thinks_first: self.thinks_first.unwrap_or_default(),
            price_input: prices.input,
            price_output: prices.output,
            ..LlmSpec::new(provider, "")
        })
    }

    /// Returns the configured model. Fails if there is none, or if the name has a blank, a control
    /// character or `::` in it.
    fn llm_model(&self) -> Result<String, ConfigFault> {
        match self.model.as_deref().or(self.profile.model.as_deref()).map(str::trim) {
            None | Some("") => Err(ConfigFault::new(
                "model",
                "Name the model: model = \"name\", as the provider calls it.",
            )),
            Some(model)
                if model.contains(|c: char| c.is_whitespace() || c.is_control())
                    || model.contains("::") =>
            {
                Err(ConfigFault::new("model", format!("{model:?} is not a valid model name.")))
            }
            Some(model) => Ok(model.to_owned()),
        }
    }
}
