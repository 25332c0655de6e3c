//! The client of Discord's REST interface: a call, its answer as a JSON value, and errors that say
//! if the call was perhaps made.
//!
//! An answer is never read into a closed type: a message whose answer has an unknown word was sent
//! all the same. A call waits for a limit of Discord for at most [`PATIENCE`]. A longer limit is an
//! error, because the outbox has the words and tries again.

mod fault;
mod limits;
mod methods;
mod token;
#[cfg(test)]
mod tests;

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use moothall_kernel::text::{cut, for_terminal};
use reqwest::{Method, StatusCode};
use serde_json::Value;
use tokio::time::Instant;

pub use fault::RestFailure;
pub use methods::{CardButton, CommandEntry, HookKey, NewMessage, PAGE, id_in};
pub use token::{DiscordToken, NotADiscordToken};

use limits::Limits;

const API: &str = "/api/v10";
const AGENT: &str = concat!("DiscordBot (moothall, ", env!("CARGO_PKG_VERSION"), ")");
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time for one call, from its beginning to the end of its answer.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Time after which an unused connection is closed: before the service closes it, because a message
/// on a connection that closes is a message of which nothing is known.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time for which a call waits for its turn. A longer one is refused.
pub const PATIENCE: Duration = Duration::from_secs(3);
/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// Longest description of an error that is kept, in bytes.
const WHY_BYTES_MAX: usize = 300;

/// The part of a path that says what a call is about, and its proof.
struct CallTarget {
    method: Method,
    path: String,
    /// Calls of one bucket are limited together.
    bucket: String,
    /// True if the path has a token of its own.
    is_signed: bool,
}

impl CallTarget {
    /// Returns a call with the bot's token.
    fn of_bot(method: Method, path: String) -> Self {
        // Limits are kept for each method and channel; the ids of messages do not matter.
        let parts: Vec<&str> = path.split(['/', '?']).take(4).collect();
        let bucket = format!("{method} {}", parts.join("/"));
        Self { method, path, bucket, is_signed: false }
    }

    /// Returns a call with a token in its path.
    fn signed(method: Method, path: String) -> Self {
        Self { is_signed: true, ..Self::of_bot(method, path) }
    }
}

/// Makes the HTTP client that all bots of a server share. It follows no redirects: they would take
/// the token to an address that no operator configured. It does not share connections between
/// calls that are under way, so that a dead connection costs one call.
///
/// # Errors
/// The reason in words.
pub fn connector(rest_url: &str) -> Result<reqwest::Client, String> {
    // Fails if a provider is installed already. Every caller installs the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(CALL_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(AGENT)
        .http1_only()
        .no_gzip();
    // A system may lack certificates; an address without TLS needs none.
    let builder = if rest_url.starts_with("http:") { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| error.to_string())
}

/// The calls of one bot. Clones are cheap and share their connections and limits.
#[derive(Clone)]
pub struct RestClient {
    http: reqwest::Client,
    rest_url: Arc<str>,
    token: Arc<DiscordToken>,
    limits: Arc<Limits>,
}

impl fmt::Debug for RestClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("token", &self.token).finish_non_exhaustive()
    }
}

impl RestClient {
    /// Makes the client of a bot. `http` comes from [`connector`] with the same address.
    pub fn new(http: reqwest::Client, rest_url: &str, token: DiscordToken) -> Self {
        let rest_url = rest_url.trim_end_matches('/').into();
        Self { http, rest_url, token: Arc::new(token), limits: Arc::default() }
    }

    /// Returns the token, for the gateway.
    pub(super) fn token(&self) -> &DiscordToken {
        &self.token
    }

    /// Returns a key that is made of the bot's token for one purpose.
    pub fn derived_key(&self, context: &str) -> [u8; 32] {
        blake3::derive_key(context, self.token.reveal().as_bytes())
    }

    /// Makes a call after a short wait for Discord's limits, and returns its result; `Null` if
    /// Discord did it but its answer cannot be read.
    async fn call(&self, target: CallTarget, body: Option<&Value>) -> Result<Value, RestFailure> {
        let after = self.limits.wait(&target.bucket, Instant::now());
        if after > PATIENCE {
            return Err(RestFailure::Limited { after });
        }
        tokio::time::sleep_until(Instant::now() + after).await;
        let url = format!("{}{API}{}", self.rest_url, target.path);
        let mut request = self.http.request(target.method, url);
        if !target.is_signed {
            request = request.header("authorization", format!("Bot {}", self.token.reveal()));
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(|error| self.unanswered(error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let answer = whole(response).await;
        // Bytes that are not UTF-8 cost their letters, not the answer.
        let answer: Option<Value> =
            answer.and_then(|bytes| serde_json::from_str(&String::from_utf8_lossy(&bytes)).ok());
        if status == StatusCode::TOO_MANY_REQUESTS {
            let (bucket, now) = (&target.bucket, Instant::now());
            let after = self.limits.note_refusal(bucket, &headers, answer.as_ref(), now);
            return Err(RestFailure::Limited { after });
        }
        self.limits.note_headers(&target.bucket, &headers, Instant::now());
        self.result(status.as_u16(), answer)
    }

    /// Returns the result in an answer, or the error for its status. After an error of Discord's
    /// server it is not known if the call was done.
    fn result(&self, status: u16, answer: Option<Value>) -> Result<Value, RestFailure> {
        match (status, answer) {
            // Discord carried out the call, so an answer that cannot be read does not matter.
            (200..300, answer) => Ok(answer.unwrap_or_default()),
            (500.., _) => Err(RestFailure::Maybe { why: format!("Discord answered {status}") }),
            (_, Some(answer)) if answer["message"].is_string() => Err(RestFailure::Refused {
                status,
                code: answer["code"].as_u64().unwrap_or_default(),
                text: self.clean(&described(&answer)),
            }),
            _ => {
                let why = format!("the server answered {status} without an answer of Discord");
                Err(RestFailure::NotSent { why })
            }
        }
    }

    /// Returns the error of a call without an answer: not sent if no connection was made, and
    /// unknown otherwise.
    fn unanswered(&self, error: reqwest::Error) -> RestFailure {
        let is_unsent = error.is_connect() || error.is_builder();
        let why = self.clean(&cause(&error.without_url()));
        if is_unsent { RestFailure::NotSent { why } } else { RestFailure::Maybe { why } }
    }

    /// Returns a text from outside without the token, without control characters and short.
    fn clean(&self, text: &str) -> String {
        cut(&for_terminal(&self.token.strike(text)), WHY_BYTES_MAX).to_owned()
    }
}

/// Returns the message of a refusal, with the first message about a field of the call.
fn described(answer: &Value) -> String {
    let message = answer["message"].as_str().unwrap_or_default();
    match first_error(&answer["errors"]) {
        Some(detail) => format!("{message}: {detail}"),
        None => message.to_owned(),
    }
}

/// Returns the first message in a tree of errors.
fn first_error(errors: &Value) -> Option<String> {
    let here = errors["_errors"][0]["message"].as_str().map(str::to_owned);
    here.or_else(|| {
        errors
            .as_object()?
            .iter()
            .find_map(|(name, inner)| first_error(inner).map(|text| format!("{name}: {text}")))
    })
}

/// Returns the body of a response; `None` if it breaks off or is too long.
async fn whole(mut response: reqwest::Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > ANSWER_BYTES_MAX {
            return None;
        }
    }
    Some(body)
}

/// Returns the innermost cause of an error.
fn cause(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}
