//! The connection to a provider: one request, and the frames of its answer.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Client, StatusCode};
use tokio::time::timeout;

use super::frames::{Frame, FrameTooLong, Frames};
use super::provider::Target;
use super::wire::{Request, Settings};

/// Longest body of a refused request that is read, in bytes.
const REFUSAL_BYTES_MAX: usize = 1 << 20;
/// Most bytes of one response: the longest answer in very small pieces, together with thoughts.
const ANSWER_BYTES_MAX: usize = 16 << 20;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why a connection stopped before a whole answer.
#[derive(Debug)]
pub(super) enum StreamEnd {
    /// The connection failed or broke.
    Connection(reqwest::Error),
    /// The provider was silent for too long.
    Silence,
    /// The response or one of its frames exceeded its limit.
    Overlong,
    /// The provider refused the request.
    Refused { status: StatusCode, headers: Box<HeaderMap>, body: String },
    /// The base URL is not valid.
    Address,
}

impl From<reqwest::Error> for StreamEnd {
    fn from(error: reqwest::Error) -> Self {
        StreamEnd::Connection(error)
    }
}

impl From<FrameTooLong> for StreamEnd {
    fn from(FrameTooLong: FrameTooLong) -> Self {
        StreamEnd::Overlong
    }
}

/// Makes the HTTP client for an address. The client follows no redirects, which would take key and
/// conversation to an address that no operator configured. It does not decompress, so that a small
/// body cannot grow large.
///
/// # Errors
/// The reason in words.
pub(super) fn connector(address: &str) -> Result<Client, String> {
    // Fails if a provider is installed already. Every caller installs the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .no_gzip();
    // A system may lack certificates; an address without TLS needs none.
    let builder = if address.starts_with("http:") { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| error.to_string())
}

/// An answer that is being received.
pub(super) struct ModelAnswer {
    response: reqwest::Response,
    frames: Frames,
    bytes: usize,
    over: bool,
}

impl ModelAnswer {
    /// Sends a request and waits until its answer begins, at most for `silence`. An answer with
    /// another status than success is an error.
    pub(super) async fn to(
        client: &Client,
        target: &Target,
        request: &Request,
        settings: &Settings<'_>,
        silence: Duration,
    ) -> Result<Self, StreamEnd> {
        let wire = target.wire();
        let url = wire.url(target.address(), settings.model).ok_or(StreamEnd::Address)?;
        // A server that asks for no key gets a placeholder: some reject a request without one.
        let key = target.api_key.as_deref().unwrap_or("none");
        let mut asking = client.post(url.clone()).json(&wire.body(request, settings));
        for (name, value) in wire.key_headers(&url, key) {
            asking = asking.header(name, value);
        }
        let response = timeout(silence, asking.send()).await.map_err(|_| StreamEnd::Silence)??;
        let mut answer = Self { response, frames: Frames::default(), bytes: 0, over: false };
        if answer.response.status().is_success() {
            return Ok(answer);
        }
        Err(answer.refusal(silence).await?)
    }

    /// Returns the next frame, or `None` after the last one. Fails if the provider is silent for
    /// `silence`.
    pub(super) async fn next(&mut self, silence: Duration) -> Result<Option<Frame>, StreamEnd> {
        loop {
            if let Some(frame) = self.frames.next() {
                return Ok(Some(frame));
            }
            if self.over {
                return Ok(None);
            }
            let chunk = timeout(silence, self.response.chunk()).await;
            match chunk.map_err(|_| StreamEnd::Silence)?? {
                Some(bytes) => {
                    self.bytes += bytes.len();
                    if self.bytes > ANSWER_BYTES_MAX {
                        return Err(StreamEnd::Overlong);
                    }
                    self.frames.push(&bytes)?;
                }
                None => {
                    self.frames.end();
                    self.over = true;
                }
            }
        }
    }

    /// Reads the body of an answer without success, and returns it with its status and headers.
    /// Fails with [`StreamEnd::Overlong`] if the body is longer than [`REFUSAL_BYTES_MAX`].
    async fn refusal(&mut self, silence: Duration) -> Result<StreamEnd, StreamEnd> {
        let (mut body, response) = (Vec::new(), &mut self.response);
        // The received part of a body that breaks off is used, because the status decides most of
        // the error.
        while let Ok(Ok(Some(bytes))) = timeout(silence, response.chunk()).await {
            body.extend_from_slice(&bytes);
            if body.len() > REFUSAL_BYTES_MAX {
                return Err(StreamEnd::Overlong);
            }
        }
        Ok(StreamEnd::Refused {
            status: response.status(),
            headers: Box::new(response.headers().clone()),
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }
}
