//! HTTP client of a server: requests, error messages for people, and streams that resume without
//! loss.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use futures_util::{Stream, StreamExt};
use moothall_agents::terminal::hooks::SpoolFolder;
use moothall_kernel::ids::ParticipantId;
use moothall_surfaces::next_steps::Reader;
use moothall_surfaces::wire::WhoAmI;
use reqwest::header::{HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Certificate, ClientBuilder, Method, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::credential::Credential;
use crate::fault::{Exit, Fault};
use crate::paint::{detail, fine_detail};
use crate::reach::is_loopback;
use crate::sse::{Frame, Parser};
use crate::threads::short;

/// Timeout for connecting.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Silence after which a connection is dead. Streams send data at least every 15 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(45);

/// Delays between attempts to reconnect. The first are short, for a server that restarts.
pub const RETRY_MS: [u64; 7] = [100, 250, 500, 1000, 2000, 3000, 3000];

/// A client of one server.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    /// The session's folder, which holds the current address of the server.
    spool: Option<PathBuf>,
    credential: Credential,
    name: String,
    /// True if the credential is a person's.
    is_person: bool,
    /// Id of the log in the first answer. Later requests send it, since their positions refer to
    /// this log.
    log: OnceLock<HeaderValue>,
}

/// Header with the id of the log of an answer, or of a request's position.
const LOG: &str = "moothall-log";

/// The required part of an error answer.
#[derive(serde::Deserialize)]
struct Refusal {
    error: RefusalBody,
}

#[derive(serde::Deserialize)]
struct RefusalBody {
    code: String,
    message: String,
}

impl Client {
    /// Creates a client that trusts the certificates in the file if one is given, otherwise the
    /// system's.
    ///
    /// # Errors
    /// The address is not an http or https URL, or the file has no certificates.
    pub fn new(server: &str, cacert: Option<&Path>) -> Result<Self, Fault> {
        let url = reqwest::Url::parse(server)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else {
            return Err(Fault::new(Exit::Usage, format!("{server:?} is not a server's address"))
                .try_this(
                    "use --server http://127.0.0.1:5111, or https://… for a server with TLS",
                ));
        };
        // A client needs an installed TLS provider. An error means that one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = trusting(reqwest::Client::builder(), &url, cacert)?;
        // A proxy must not be used for this computer.
        let http = if is_loopback(server) { http.no_proxy() } else { http };
        // Redirects could change a request and send it to another server.
        let http =
            http.redirect(Policy::none()).connect_timeout(CONNECT_WITHIN).read_timeout(SILENCE_MAX);
        let http = http.user_agent(concat!("moothall/", env!("CARGO_PKG_VERSION"))).build();
        let http = http.map_err(|error| {
            Fault::new(Exit::Failure, "cannot create the HTTP client").because(innermost(&error))
        })?;
        let (base, name) =
            (server.trim_end_matches('/').to_owned(), ParticipantId::USER.to_owned());
        let log = OnceLock::new();
        Ok(Self {
            http,
            base,
            spool: None,
            credential: Credential::None,
            name,
            is_person: false,
            log,
        })
    }

    /// Makes the client read the server's address from the session's folder before each request: a
    /// program may outlive a server process.
    #[must_use]
    pub fn at_home(self, spool: Option<PathBuf>) -> Self {
        Self { spool, ..self }
    }

    /// Returns the current credential, if there is one.
    pub fn credential(&self) -> Option<String> {
        self.credential.read()
    }

    /// True if the server runs on this computer as the caller's own user. Only then does it find a
    /// folder of the caller under the same path and with the same rights.
    pub fn runs_as_caller(&self) -> bool {
        self.credential.is_own_startup()
    }

    /// Returns the current address of the server.
    pub fn base(&self) -> String {
        let now = self.spool.as_deref().and_then(SpoolFolder::server);
        now.map_or_else(|| self.base.clone(), |url| url.trim_end_matches('/').to_owned())
    }

    /// Sets the credential.
    #[must_use]
    pub fn with(self, credential: Credential) -> Self {
        Self { credential, ..self }
    }

    /// Asks the server for the holder of a given or joined credential.
    ///
    /// # Errors
    /// The server is unreachable or refuses.
    pub async fn introduced(mut self) -> Result<Self, Fault> {
        if matches!(self.credential, Credential::Given(_) | Credential::Joined(_))
            && let Some(principal) = self.get::<WhoAmI>("/session").await?.principal
        {
            self.is_person = principal.kind == "human";
            self.name = principal.id;
        }
        Ok(self)
    }

    /// True if the credential is that of the person with this id.
    pub fn is_person(&self, id: &str) -> bool {
        self.is_person && self.name == id
    }

    /// Returns the id that requests without a named speaker use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends JSON text, and returns status and text of the answer, even of a refusal.
    ///
    /// # Errors
    /// The server is unreachable.
    pub async fn pass_on(
        &self,
        path: &str,
        headers: &[(&str, String)],
        json: String,
    ) -> Result<(StatusCode, String), Fault> {
        let request = self.request(Method::POST, path).header("Content-Type", "application/json");
        let request = request.header("Accept", "application/json, text/event-stream").body(json);
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        let response = request.send().await.map_err(|error| self.unanswered(&error))?;
        let status = response.status();
        Ok((status, response.text().await.map_err(|error| self.lost(&error))?))
    }

    /// Sends a GET request.
    ///
    /// # Errors
    /// The server is unreachable or refuses.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        self.decode(self.send(self.request(Method::GET, path)).await?).await
    }

    /// Sends a DELETE request; repeating it has no further effect.
    ///
    /// # Errors
    /// The server is unreachable or refuses.
    pub async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        self.decode(self.send(self.request(Method::DELETE, path)).await?).await
    }

    /// Sends a POST request with an idempotency key. The key makes retries safe, so the request is
    /// sent again after 429, and after a broken connection, even across a restart of the server.
    ///
    /// # Errors
    /// The server is unreachable or refuses.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Fault> {
        let key = uuid::Uuid::now_v7().to_string();
        let request =
            || self.request(Method::POST, path).header("Idempotency-Key", &key).json(body);
        let broken = match unhurried(request()).await {
            // A request without a connection had no effect, so its error is final.
            Err(error) if !error.is_connect() && !error.is_builder() => error,
            answer => return self.decode(self.check(answer).await?).await,
        };
        for wait in RETRY_MS {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            // A refused connection may mean by now that the server is restarting.
            if let Ok(response) = unhurried(request()).await {
                return self.decode(self.check(Ok(response)).await?).await;
            }
        }
        Err(Fault::new(
            Exit::Unavailable,
            format!(
                "the connection to {} was lost; the server may have received the request or not",
                self.base()
            ),
        )
        .because(innermost(&broken))
        .try_this("check before you repeat it: moothall tail - --no-follow"))
    }

    /// Sends a POST request with the caller's idempotency key, so that the caller can retry until
    /// an answer comes.
    ///
    /// # Errors
    /// The server is unreachable or refuses.
    pub async fn post_keyed<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        key: &str,
    ) -> Result<T, Fault> {
        self.decode(
            self.send(self.request(Method::POST, path).header("Idempotency-Key", key).json(body))
                .await?,
        )
        .await
    }

    /// Opens a stream of events.
    ///
    /// # Errors
    /// The server is unreachable or refuses.
    pub async fn stream(
        &self,
        path: &str,
        last_event_id: Option<&str>,
    ) -> Result<impl Stream<Item = Frame> + use<>, Fault> {
        let mut request = self.request(Method::GET, path).header("Accept", "text/event-stream");
        if let Some(id) = last_event_id {
            request = request.header("Last-Event-ID", id);
        }
        let response = self.send(request).await?;
        let mut parser = Parser::default();
        // A broken connection ends the stream; the reader resumes at its last position.
        let bytes = response.bytes_stream().take_while(|chunk| std::future::ready(chunk.is_ok()));
        Ok(bytes.flat_map(move |chunk| {
            futures_util::stream::iter(parser.push(&chunk.unwrap_or_default()))
        }))
    }

    /// Builds a request with the credential and, once known, the log's identity.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base()));
        let request = match self.log.get() {
            Some(log) => request.header(LOG, log),
            None => request,
        };
        match self.credential.read() {
            Some(credential) => request.bearer_auth(credential),
            None => request,
        }
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Fault> {
        let answer = unhurried(request).await;
        self.check(answer).await
    }

    /// Returns a successful response. Turns a failed connection, a redirect or any other status
    /// into an error; notes the log's identity that the response names.
    async fn check(&self, answer: reqwest::Result<Response>) -> Result<Response, Fault> {
        let response = answer.map_err(|error| self.unreachable(&error))?;
        if let Some(log) = response.headers().get(LOG) {
            self.log.get_or_init(|| log.clone());
        }
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        if let Some(place) = response.headers().get(LOCATION).filter(|_| status.is_redirection()) {
            let place = String::from_utf8_lossy(place.as_bytes());
            return Err(Fault::new(
                Exit::Usage,
                format!("the server at {} redirects to another address", self.base()),
            )
            .because(format_args!("the response was {status}: {place}"))
            .try_this("name the other address with --server"));
        }
        let thread = thread_of(response.url());
        let text = response.text().await.unwrap_or_default();
        let fault = reopening(refusal(status, &text), thread.as_deref());
        let withheld =
            fault.exit == Exit::Denied && matches!(self.credential, Credential::Withheld);
        Err(if withheld {
            fault.try_this(
                "run this in your own terminal: a command inside a session has no rights of a \
                 person",
            )
        } else {
            fault
        })
    }

    /// Reads a response as JSON. An error means that the connection broke or that another program
    /// answered.
    async fn decode<T: DeserializeOwned>(&self, response: Response) -> Result<T, Fault> {
        let foreign = |error: &dyn std::error::Error| {
            Fault::new(
                Exit::Failure,
                format!("the program at {} is not a Moothall server of this version", self.base()),
            )
            .because(error)
            .try_this("check --server, and that client and server have the same version")
        };
        let bytes = response.bytes().await.map_err(|error| self.unreachable(&error))?;
        serde_json::from_slice(&bytes).map_err(|error| foreign(&error))
    }

    /// Distinguishes a request that reached no server from one that may have had its effect.
    fn unanswered(&self, error: &reqwest::Error) -> Fault {
        if error.is_connect() || error.is_builder() {
            self.unreachable(error)
        } else {
            self.lost(error)
        }
    }

    fn lost(&self, error: &reqwest::Error) -> Fault {
        let what = format!("the response of the server at {} was lost", self.base());
        Fault::new(Exit::Unavailable, what).because(innermost(error)).try_this(
            "the request may have succeeded: repeat a send_message with the same `key`, which \
             never sends it twice; without a key, check first",
        )
    }

    fn unreachable(&self, error: &reqwest::Error) -> Fault {
        Fault::new(Exit::Unavailable, format!("no server answers at {}", self.base()))
            .because(innermost(error))
            .try_this(if innermost(error).contains("CaUsedAsEndEntity") {
                "give the server a certificate that is not one of an authority: `openssl req \
                 -x509` with -addext basicConstraints=critical,CA:FALSE (docs/operations.md, \
                 \"Serve others\")"
            } else if is_about_trust(error) {
                "name the certificate or the authority to trust with --cacert FILE"
            } else {
                "start a server with `moothall serve`, or name another one with --server URL"
            })
    }
}

/// Sets the trusted certificates. http loads none, so that it works on a computer without
/// certificates.
fn trusting(
    http: ClientBuilder,
    url: &reqwest::Url,
    cacert: Option<&Path>,
) -> Result<ClientBuilder, Fault> {
    let Some(file) = cacert.filter(|_| url.scheme() == "https") else {
        return Ok(if url.scheme() == "http" { http.tls_certs_only([]) } else { http });
    };
    let fault = |why: &dyn std::fmt::Display| {
        Fault::new(Exit::Usage, format!("cannot use the certificates in {}", file.display()))
            .because(why)
            .try_this("give --cacert a PEM file that contains \"BEGIN CERTIFICATE\"")
    };
    let text = std::fs::read(file).map_err(|error| fault(&error))?;
    let trusted = Certificate::from_pem_bundle(&text).map_err(|error| fault(&innermost(&error)))?;
    if trusted.is_empty() {
        return Err(fault(&"the file contains no certificate"));
    }
    Ok(http.tls_certs_only(trusted))
}

/// True if a connection failed because of the server's certificate.
fn is_about_trust(error: &reqwest::Error) -> bool {
    let mut causes =
        std::iter::successors(Some(error as &(dyn std::error::Error + 'static)), |error| {
            error.source()
        });
    causes.any(|cause| cause.to_string().contains("certificate"))
}

/// Maximum number of retries, and longest wait, after an answer with `Retry-After`.
const LATER_TRIES: u32 = 5;
const LATER_MAX: Duration = Duration::from_secs(10);

/// Sends a request, and retries after 429. That is safe because the server has done nothing yet.
/// `--verbose` prints the answer and its duration.
async fn unhurried(request: RequestBuilder) -> reqwest::Result<Response> {
    let begun = Instant::now();
    let answer = retried(request).await?;
    detail(|| {
        let (status, url) = (answer.status().as_u16(), answer.url());
        format!("{status} {url} after {} ms", begun.elapsed().as_millis())
    });
    fine_detail(|| {
        let size = answer.content_length().map_or("unknown".to_owned(), |size| size.to_string());
        format!("    {:?}, {size} bytes", answer.version())
    });
    Ok(answer)
}

async fn retried(request: RequestBuilder) -> reqwest::Result<Response> {
    for _ in 0..LATER_TRIES {
        let Some(again) = request.try_clone() else { break };
        let answer = again.send().await?;
        match later(&answer) {
            Some(wait) => {
                fine_detail(|| format!("busy; tried again after {} s", wait.as_secs()));
                tokio::time::sleep(wait).await;
            }
            None => return Ok(answer),
        }
    }
    // The last try returns its answer as it is, and so does a body that cannot be sent twice.
    request.send().await
}

/// Returns the requested wait of a 429, if it is at most `LATER_MAX`.
fn later(answer: &Response) -> Option<Duration> {
    let wait = answer
        .headers()
        .get(RETRY_AFTER)
        .filter(|_| answer.status() == StatusCode::TOO_MANY_REQUESTS)?;
    wait.to_str().ok()?.parse().ok().map(Duration::from_secs).filter(|wait| *wait <= LATER_MAX)
}

/// Returns the last cause of the chain, which names the actual failure.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    std::iter::successors(Some(error), |error| error.source())
        .last()
        .map_or_else(String::new, ToString::to_string)
}

/// Help for a request without a valid credential.
const NO_CREDENTIAL: &str = "run this as the user that runs the server, or name its data folder \
                             (`moothall token create NAME --data DIR`); or give a token with \
                             --token-file FILE or MOOTHALL_TOKEN; or accept an invitation: \
                             moothall join LINK";

/// Returns the error for a failed response: its exit code by the status, its message from the
/// server's JSON, or only the status if the body is anything else.
fn refusal(status: StatusCode, text: &str) -> Fault {
    let exit = match status.as_u16() {
        401 | 403 => Exit::Denied,
        429 | 503 => Exit::TryLater,
        507 => Exit::Io,
        _ => Exit::Failure,
    };
    match serde_json::from_str::<Refusal>(text) {
        Ok(Refusal { error }) => {
            let why = format!("{} ({})", error.code, status.as_u16());
            let message = Reader::CommandLine.reword(&error.message);
            let fault = Fault::new(exit, message).because(why).coded(error.code);
            if status == StatusCode::UNAUTHORIZED { fault.try_this(NO_CREDENTIAL) } else { fault }
        }
        Err(_) => Fault::new(exit, format!("the server answered {status}")),
    }
}

/// Returns the conversation that a request was about.
fn thread_of(url: &reqwest::Url) -> Option<String> {
    let mut parts = url.path_segments()?.skip_while(|part| *part != "threads").skip(1);
    parts.next().map(str::to_owned)
}

/// Adds the command that reopens an archived conversation.
fn reopening(fault: Fault, thread: Option<&str>) -> Fault {
    match thread.filter(|_| fault.code.as_deref() == Some("thread_archived")) {
        Some(thread) => fault.try_this(format!("moothall unarchive {}", short(thread))),
        None => fault,
    }
}

/// Escapes text as one path segment.
pub fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
                out.push(char::from(byte))
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_path_piece_cannot_leave_its_place() {
        assert_eq!(segment("../a b?"), "%2E%2E%2Fa%20b%3F");
    }

    #[test]
    fn refusals_become_faults_by_kind() {
        let body = r#"{"error": {"code": "thread_paused", "message": "The thread is paused."}}"#;
        let fault = refusal(StatusCode::CONFLICT, body);
        assert_eq!((fault.exit, fault.what.as_str()), (Exit::Failure, "The thread is paused."));
        assert_eq!(refusal(StatusCode::SERVICE_UNAVAILABLE, "").exit, Exit::TryLater);
        assert_eq!(refusal(StatusCode::INSUFFICIENT_STORAGE, "<html>").exit, Exit::Io);
        assert_eq!(refusal(StatusCode::FORBIDDEN, body).exit, Exit::Denied);
    }

    #[test]
    fn only_http_addresses_are_servers() {
        assert!(
            Client::new("http://127.0.0.1:5111/", None)
                .is_ok_and(|client| client.base == "http://127.0.0.1:5111")
        );
        assert!(Client::new("https://example.org", None).is_ok());
        for bad in ["127.0.0.1:5111", "ftp://example.org", "http://", "x"] {
            assert_eq!(Client::new(bad, None).unwrap_err().exit, Exit::Usage, "{bad}");
        }
    }

    #[test]
    fn certificates_that_are_none_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, "no certificate\n").unwrap();
        for file in [file.as_path(), Path::new("/nowhere/ca.pem")] {
            let fault = Client::new("https://example.org", Some(file)).unwrap_err();
            assert!(fault.exit == Exit::Usage && fault.what.contains("ca.pem"), "{fault}");
            assert!(
                Client::new("http://example.org", Some(file)).is_ok(),
                "nothing is looked at that is not needed"
            );
        }
    }
}
