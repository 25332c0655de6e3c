//! The providers of models: the address and the protocol for each.

use reqwest::Url;
use serde::Deserialize;

use super::names;
use super::wire::Wire;

/// A provider of models, which implies the protocol of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[derive(strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Provider {
    /// OpenAI, and every server that is compatible with its chat completions API.
    Openai,
    /// OpenAI's Responses API. `Openai` uses it too for the newest models, if no base URL is set.
    OpenaiResponses,
    /// The Messages API of Anthropic.
    Anthropic,
    /// The Gemini API of Google.
    Gemini,
    /// Ollama's own protocol.
    Ollama,
}

impl Provider {
    /// Returns the address that is used if no base URL is set.
    pub const fn default_base_url(self) -> &'static str {
        match self {
            Provider::Openai | Provider::OpenaiResponses => "https://api.openai.com/v1/",
            Provider::Anthropic => "https://api.anthropic.com/v1/",
            Provider::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
            Provider::Ollama => "http://localhost:11434/",
        }
    }

    /// Returns the path at which the protocol begins, for an address that has only a host.
    const fn root(self) -> &'static str {
        match self {
            Provider::Openai | Provider::OpenaiResponses | Provider::Anthropic => "/v1/",
            Provider::Gemini => "/v1beta/",
            Provider::Ollama => "/",
        }
    }

    /// True if the provider's own address needs a key. A base URL of the operator's may work
    /// without one.
    pub const fn needs_key(self) -> bool {
        match self {
            Provider::Openai
            | Provider::OpenaiResponses
            | Provider::Anthropic
            | Provider::Gemini => true,
            Provider::Ollama => false,
        }
    }

    /// Returns the protocol for a model. OpenAI itself offers its newest models through Responses
    /// only; `own_url` is true if another address is configured.
    fn wire(self, model: &str, own_url: bool) -> Wire {
        match self {
            Provider::Openai if !own_url && names::is_of_responses(model) => Wire::Responses,
            Provider::Openai => Wire::Chat,
            Provider::OpenaiResponses => Wire::Responses,
            Provider::Anthropic => Wire::Anthropic,
            Provider::Gemini => Wire::Gemini,
            Provider::Ollama => Wire::Ollama,
        }
    }

    /// Removes the part of a path that a request adds, because people paste the address of the
    /// endpoint.
    fn without_endpoint(self, path: &str) -> &str {
        let path = path.trim_end_matches('/');
        let path = path.split_once("/models/").map_or(path, |(base, call)| {
            if self == Provider::Gemini && call.contains(':') { base } else { path }
        });
        let endpoints: &[&str] = match self {
            Provider::Openai | Provider::OpenaiResponses => {
                &["/chat/completions", "/completions", "/responses", "/models"]
            }
            Provider::Anthropic => &["/messages", "/models"],
            Provider::Gemini => &["/models"],
            Provider::Ollama => &["/api/chat", "/api/generate", "/api/tags", "/api", "/v1"],
        };
        endpoints.iter().find_map(|endpoint| path.strip_suffix(endpoint)).unwrap_or(path)
    }

    /// Returns a base URL in the form that requests are made from. A URL without a path gets the
    /// provider's usual path.
    ///
    /// # Errors
    /// One sentence for people, without the URL, which may hold a secret.
    pub fn base_url(self, given: &str) -> Result<String, &'static str> {
        let Ok(mut url) = Url::parse(given.trim()) else {
            return Err("This is not an address; write it like \"http://127.0.0.1:8080/v1\".");
        };
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err("The address must begin with http:// or https:// and name a host.");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("Put the credentials into api_key, not into the address.");
        }
        let own = self.without_endpoint(url.path()).to_owned();
        url.set_path(&own);
        match url.path().to_owned().as_str() {
            "/" => url.set_path(self.root()),
            path if !path.ends_with('/') => url.set_path(&format!("{path}/")),
            _ => {}
        }
        Ok(url.into())
    }
}

/// The address, model and key of one agent's requests.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) provider: Provider,
    pub(super) model: String,
    pub(super) base_url: Option<String>,
    pub(super) api_key: Option<String>,
}

impl Target {
    pub(super) fn address(&self) -> &str {
        self.base_url.as_deref().unwrap_or(self.provider.default_base_url())
    }

    /// Returns the protocol of the agent's requests.
    pub(super) fn wire(&self) -> Wire {
        self.provider.wire(&self.model, self.base_url.is_some())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_address_gets_the_path_its_provider_expects() {
        for (provider, given, expected) in [
            (Provider::Anthropic, "http://localhost:1", "http://localhost:1/v1/"),
            (Provider::Openai, "https://gw.example/openai/v1", "https://gw.example/openai/v1/"),
            (
                Provider::Openai,
                "https://gw.example/v1?api-version=1",
                "https://gw.example/v1/?api-version=1",
            ),
            (Provider::Gemini, "http://localhost:1/", "http://localhost:1/v1beta/"),
            (Provider::Ollama, "http://localhost:11434", "http://localhost:11434/"),
            (Provider::Ollama, "http://localhost:11434/api/chat", "http://localhost:11434/"),
            (Provider::Ollama, "http://localhost:11434/v1/", "http://localhost:11434/"),
            (Provider::Openai, "http://h/v1/chat/completions", "http://h/v1/"),
            (Provider::Openai, "http://h/chat/completions", "http://h/v1/"),
            (
                Provider::Openai,
                "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
                "https://x.openai.azure.com/openai/deployments/d/?api-version=1",
            ),
            (Provider::OpenaiResponses, "http://h/v1/responses/", "http://h/v1/"),
            (Provider::Anthropic, "http://h/v1/messages", "http://h/v1/"),
            (
                Provider::Gemini,
                "http://h/v1beta/models/gemini-2.5-pro:streamGenerateContent",
                "http://h/v1beta/",
            ),
        ] {
            assert_eq!(provider.base_url(given).unwrap(), expected);
        }
        for bad in [
            "",
            "localhost",
            "ftp://h/",
            "file:///etc/passwd",
            "http://u:CANARY@h/",
            "http://CANARY@h/",
        ] {
            assert!(!Provider::Openai.base_url(bad).unwrap_err().contains("CANARY"), "{bad}");
        }
    }

    #[test]
    fn the_newest_openai_models_are_asked_through_responses_where_openai_itself_is_asked() {
        assert_eq!(Provider::Openai.wire("gpt-6-astra", false), Wire::Responses);
        assert_eq!(Provider::Openai.wire("gpt-6-astra", true), Wire::Chat);
        assert_eq!(Provider::Openai.wire("gpt-4o", false), Wire::Chat);
    }
}
