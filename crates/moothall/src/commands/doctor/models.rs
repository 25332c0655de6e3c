//! Checks of a model: its key and address, and with `--ping` the address's answer to a request.

use std::time::Duration;

use moothall_agents::llm::{LlmSpec, Provider};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, StatusCode, Url};

use super::{Finding, Verdict};

const CHECK: &str = "model";
/// Time limit for the answer of an address.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Version of Anthropic's protocol.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Checks a model. With `ping`, sends a request to its address.
pub async fn examine(client: &str, spec: &LlmSpec, ping: bool) -> Finding {
    let base = spec.base_url.as_deref().unwrap_or(spec.provider.default_base_url());
    let at = Url::parse(base)
        .ok()
        .and_then(|url| Some(format!("{}{}", url.host_str()?, port_of(&url))))
        .unwrap_or_else(|| "?".to_owned());
    let key = if spec.api_key.is_some() { "with a key" } else { "without a key" };
    let about = format!("{client}: {} of {}, {key}, at {at}", spec.model, spec.provider);
    if !ping {
        return Finding::new(CHECK, Verdict::Ok, about);
    }
    match ask(spec, base).await {
        Ok(answer) => judge(about, answer.status(), client),
        Err(error) => Finding::new(
            CHECK,
            Verdict::Fail,
            format!("{about}: it does not answer ({})", short(&error)),
        )
        .fix(format!(
            "check the network and its proxies, or correct base_url in [agents.{client}]"
        )),
    }
}

fn port_of(url: &Url) -> String {
    url.port().map_or_else(String::new, |port| format!(":{port}"))
}

/// Turns the status of a request for the list of models into a finding. Only a rejected key fails.
fn judge(about: String, status: StatusCode, client: &str) -> Finding {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Finding::new(CHECK, Verdict::Fail, format!("{about}: it rejects the key")).fix(format!(
                "set a valid key in api_key of [agents.{client}], or in the variable that it names"
            ))
        }
        status if status.is_success() => {
            Finding::new(CHECK, Verdict::Ok, format!("{about}: it answers"))
        }
        // A gateway may work without a list of models.
        status => Finding::new(
            CHECK,
            Verdict::Info,
            format!("{about}: it answers the request for its models with {}", status.as_u16()),
        ),
    }
}

/// Requests the list of models, which costs nothing.
async fn ask(spec: &LlmSpec, base: &str) -> reqwest::Result<Response> {
    // reqwest needs an installed TLS provider. An error means that the same one is already
    // installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http =
        reqwest::Client::builder().redirect(Policy::none()).timeout(ANSWER_WITHIN).build()?;
    let path = if spec.provider == Provider::Ollama { "api/tags" } else { "models" };
    let request = http.get(format!("{}/{path}", base.trim_end_matches('/')));
    with_key(request, spec).send().await
}

/// Adds the model's key to a request, in the header of its provider.
fn with_key(request: RequestBuilder, spec: &LlmSpec) -> RequestBuilder {
    let Some(key) = &spec.api_key else { return request };
    match spec.provider {
        Provider::Openai | Provider::OpenaiResponses | Provider::Ollama => request.bearer_auth(key),
        Provider::Anthropic => {
            request.header("x-api-key", key).header("anthropic-version", ANTHROPIC_VERSION)
        }
        Provider::Gemini => request.header("x-goog-api-key", key),
    }
}

/// Describes an error without the address, which may contain a secret.
fn short(error: &reqwest::Error) -> &'static str {
    match error {
        error if error.is_timeout() => "timeout",
        error if error.is_connect() => "no connection",
        _ => "invalid response",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use moothall_testkit::model_server::ModelServer;

    fn spec(base: &str) -> LlmSpec {
        LlmSpec {
            base_url: Some(base.to_owned()),
            api_key: Some("CANARY-key".to_owned()),
            ..LlmSpec::new(Provider::Openai, "m")
        }
    }

    #[tokio::test]
    async fn an_address_is_asked_and_no_secret_is_shown() {
        let server = ModelServer::start().await.unwrap();
        let base = format!("{}/v1/", server.url().replace("http://", "http://user:CANARY-pass@"));
        for (ping, verdicts) in [(false, &[Verdict::Ok][..]), (true, &[Verdict::Ok, Verdict::Info])]
        {
            let found = examine("ada", &spec(&base), ping).await;
            assert!(verdicts.contains(&found.verdict), "{found:?}");
            assert!(
                !format!("{found:?}").contains("CANARY") && found.found.contains("127.0.0.1:"),
                "{found:?}"
            );
        }
        // The listener is already closed here, so connections to its address fail.
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let found = examine("ada", &spec(&format!("http://{gone}/CANARY/")), true).await;
        assert!(
            found.verdict == Verdict::Fail && !format!("{found:?}").contains("CANARY"),
            "{found:?}"
        );
        assert_eq!(judge(String::new(), StatusCode::UNAUTHORIZED, "ada").verdict, Verdict::Fail);
    }
}
