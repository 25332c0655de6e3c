//! The calls of the client-server API that the channel makes, under the registration's token.

use std::sync::Arc;
use std::time::Duration;

use moothall_kernel::text::{cut, for_terminal};
use reqwest::Method;
use serde_json::{Value, json};

/// Longest time for a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time until a connection is open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest text of an error that is kept, in bytes.
const WHY_BYTES_MAX: usize = 300;
/// Longest wait that is taken from an answer.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The error of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatrixFault {
    /// The call did not reach the homeserver.
    #[error("the homeserver was not reached: {why}")]
    NotSent {
        /// Cause in words.
        why: String,
    },
    /// The homeserver may have done what the call asks, or not.
    #[error("it is not known if the homeserver did it: {why}")]
    Maybe {
        /// Cause in words.
        why: String,
    },
    /// The homeserver refused the call and did nothing.
    #[error("the homeserver refused it ({code}): {text}")]
    Refused {
        /// Status of the answer.
        status: u16,
        /// Code of the error, such as `M_FORBIDDEN`.
        code: String,
        /// Description by the homeserver.
        text: String,
        /// Time for which the homeserver wants no such call.
        retry_after: Option<Duration>,
    },
}

impl MatrixFault {
    /// True if the homeserver refused the call with this code.
    pub fn is(&self, wanted: &str) -> bool {
        matches!(self, MatrixFault::Refused { code, .. } if code == wanted)
    }

    /// True if the homeserver does not know the registration's token.
    pub fn is_unauthorised(&self) -> bool {
        matches!(self, MatrixFault::Refused { status: 401, .. })
    }

    /// Returns the time for which the homeserver wants no such call, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            MatrixFault::Refused { retry_after, .. } => *retry_after,
            MatrixFault::NotSent { .. } | MatrixFault::Maybe { .. } => None,
        }
    }

    /// True if the same call may succeed later without a change by people.
    pub fn is_passing(&self) -> bool {
        !matches!(self, MatrixFault::Refused { .. }) || self.retry_after().is_some()
    }
}

/// The calls to a homeserver. Clones are cheap and share their connections.
#[derive(Clone)]
pub struct MatrixClient {
    http: reqwest::Client,
    homeserver: Arc<str>,
    token: Arc<str>,
}

impl MatrixClient {
    /// Makes the client of a homeserver. It follows no redirects: they would take the token to an
    /// address that no operator configured.
    ///
    /// # Errors
    /// The reason in words.
    pub fn new(homeserver: &str, token: &str) -> Result<Self, String> {
        // Fails if a provider is installed already. Every caller installs the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(CALL_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .http1_only()
            .no_gzip();
        // A system may lack certificates; an address without TLS needs none.
        let plain = homeserver.starts_with("http:");
        let builder = if plain { builder.tls_certs_only([]) } else { builder };
        let http = builder.build().map_err(|error| error.to_string())?;
        let homeserver = homeserver.trim_end_matches('/').into();
        Ok(Self { http, homeserver, token: token.into() })
    }

    /// Returns a key that is made of the token for one purpose.
    pub fn derived_key(&self, context: &str) -> [u8; 32] {
        blake3::derive_key(context, self.token.as_bytes())
    }

    /// Calls a path, as one of the server's accounts.
    ///
    /// # Errors
    /// [`MatrixFault`], which says if the call may be made again.
    async fn call(
        &self,
        method: Method,
        path: &str,
        user: &str,
        body: Option<&Value>,
    ) -> Result<Value, MatrixFault> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{joint}user_id={}", segment(user));
        self.request(method, &path, body).await
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, MatrixFault> {
        let url = format!("{}{path}", self.homeserver);
        let request = self.http.request(method, url).bearer_auth(&*self.token);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = request.send().await.map_err(|error| unanswered(&error))?;
        let status = response.status().as_u16();
        match response.json::<Value>().await {
            Ok(answer) if (200..300).contains(&status) => Ok(answer),
            Ok(answer) if status < 500 => Err(refused(status, &answer)),
            // The homeserver carried out the call, so the answer does not matter.
            _ if (200..300).contains(&status) => Ok(Value::Null),
            _ => Err(MatrixFault::Maybe { why: format!("it answered {status}") }),
        }
    }

    async fn get(&self, path: &str, user: &str) -> Result<Value, MatrixFault> {
        self.call(Method::GET, path, user, None).await
    }

    async fn post(&self, path: &str, user: &str, body: &Value) -> Result<Value, MatrixFault> {
        self.call(Method::POST, path, user, Some(body)).await
    }

    async fn put(&self, path: &str, user: &str, body: &Value) -> Result<Value, MatrixFault> {
        self.call(Method::PUT, path, user, Some(body)).await
    }

    /// Returns the id of the relay, as the homeserver knows it.
    pub async fn whoami(&self) -> Result<String, MatrixFault> {
        let answer = self.request(Method::GET, "/_matrix/client/v3/account/whoami", None).await?;
        let id = answer["user_id"].as_str().map(str::to_owned);
        id.ok_or_else(|| MatrixFault::Maybe { why: "its answer names no user".into() })
    }

    /// Asks the homeserver to reach this server, and returns when it did.
    pub async fn ping(&self, service: &str, relay: &str) -> Result<(), MatrixFault> {
        let path = format!("/_matrix/client/v1/appservice/{}/ping", segment(service));
        self.post(&path, relay, &json!({})).await.map(drop)
    }

    /// Makes an account. An account that exists already counts as made.
    pub async fn register(&self, localpart: &str, relay: &str) -> Result<(), MatrixFault> {
        let body = json!({"type": "m.login.application_service", "username": localpart,
            "inhibit_login": true});
        match self.post("/_matrix/client/v3/register", relay, &body).await {
            Err(fault) if !fault.is("M_USER_IN_USE") => Err(fault),
            _ => Ok(()),
        }
    }

    /// Sets the name that people see for an account.
    pub async fn set_name(&self, user: &str, name: &str) -> Result<(), MatrixFault> {
        let path = format!("/_matrix/client/v3/profile/{}/displayname", segment(user));
        self.put(&path, user, &json!({"displayname": name})).await.map(drop)
    }

    /// Joins a room, by its id or by an alias.
    pub async fn join(&self, room: &str, user: &str) -> Result<(), MatrixFault> {
        let path = format!("/_matrix/client/v3/join/{}", segment(room));
        self.post(&path, user, &json!({})).await.map(drop)
    }

    /// Leaves a room, or rejects its invitation.
    pub async fn leave(&self, room: &str, user: &str) -> Result<(), MatrixFault> {
        let path = format!("/_matrix/client/v3/rooms/{}/leave", segment(room));
        self.post(&path, user, &json!({})).await.map(drop)
    }

    /// Invites an account to a room.
    pub async fn invite(&self, room: &str, by: &str, user: &str) -> Result<(), MatrixFault> {
        let path = format!("/_matrix/client/v3/rooms/{}/invite", segment(room));
        self.post(&path, by, &json!({"user_id": user})).await.map(drop)
    }

    /// Makes a room, and returns its id.
    pub async fn create_room(&self, by: &str, wanted: &Value) -> Result<String, MatrixFault> {
        let made = self.post("/_matrix/client/v3/createRoom", by, wanted).await?;
        let id = made["room_id"].as_str().map(str::to_owned);
        id.ok_or_else(|| MatrixFault::Maybe { why: "its answer names no room".into() })
    }

    /// Returns the members of a room.
    pub async fn members(&self, room: &str, by: &str) -> Result<Vec<String>, MatrixFault> {
        let path = format!("/_matrix/client/v3/rooms/{}/joined_members", segment(room));
        let answer = self.get(&path, by).await?;
        let members = answer["joined"].as_object().into_iter().flatten();
        Ok(members.map(|(user, _)| user.clone()).collect())
    }

    /// Returns the content of a state event by its type and its key; `None` if the room has none.
    pub async fn state(
        &self,
        room: &str,
        by: &str,
        (kind, key): (&str, &str),
    ) -> Result<Option<Value>, MatrixFault> {
        let (room, key) = (segment(room), segment(key));
        let path = format!("/_matrix/client/v3/rooms/{room}/state/{kind}/{key}");
        match self.get(&path, by).await {
            Ok(content) => Ok(Some(content)),
            Err(fault) if fault.is("M_NOT_FOUND") => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Sends an event under a transaction id, and returns the event's id. The homeserver remembers
    /// the transaction for a while, and answers a repeated one with the same id.
    pub async fn send(
        &self,
        room: &str,
        by: &str,
        kind: &str,
        txn: &str,
        content: &Value,
    ) -> Result<Option<String>, MatrixFault> {
        let room = segment(room);
        let path = format!("/_matrix/client/v3/rooms/{room}/send/{kind}/{}", segment(txn));
        let answer = self.put(&path, by, content).await?;
        Ok(answer["event_id"].as_str().map(str::to_owned))
    }

    /// Redacts an event. An event that does not exist any more counts as redacted.
    pub async fn redact(&self, room: &str, by: &str, event: &str) -> Result<(), MatrixFault> {
        let (room, event) = (segment(room), segment(event));
        // The transaction is named after the event, so that a repeated call redacts once.
        let path = format!("/_matrix/client/v3/rooms/{room}/redact/{event}/erase-{event}");
        match self.put(&path, by, &json!({})).await {
            Err(fault) if !fault.is("M_NOT_FOUND") => Err(fault),
            _ => Ok(()),
        }
    }

    /// Shows for a while that an account is typing.
    pub async fn typing(&self, room: &str, by: &str, span: Duration) -> Result<(), MatrixFault> {
        let (room, user) = (segment(room), segment(by));
        let path = format!("/_matrix/client/v3/rooms/{room}/typing/{user}");
        let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        self.put(&path, by, &json!({"typing": true, "timeout": millis})).await.map(drop)
    }

    /// Returns a page of a room's events, the newest first, and the place of the next page.
    pub async fn history(
        &self,
        room: &str,
        by: &str,
        from: Option<&str>,
    ) -> Result<(Vec<Value>, Option<String>), MatrixFault> {
        let from = from.map_or_else(String::new, |from| format!("&from={}", segment(from)));
        let room = segment(room);
        let path = format!("/_matrix/client/v3/rooms/{room}/messages?dir=b&limit=100{from}");
        let mut answer = self.get(&path, by).await?;
        let next = answer["end"].as_str().map(str::to_owned);
        let events = match answer["chunk"].take() {
            Value::Array(events) => events,
            _ => Vec::new(),
        };
        Ok((events, next))
    }

    /// Returns an event of a room.
    pub async fn event(&self, room: &str, by: &str, event: &str) -> Result<Value, MatrixFault> {
        let (room, event) = (segment(room), segment(event));
        self.get(&format!("/_matrix/client/v3/rooms/{room}/event/{event}"), by).await
    }

    /// Returns a value that an account stored at the homeserver; an empty object if there is none.
    pub async fn kept(&self, by: &str, kind: &str) -> Result<Value, MatrixFault> {
        let path = format!("/_matrix/client/v3/user/{}/account_data/{kind}", segment(by));
        match self.get(&path, by).await {
            Err(fault) if fault.is("M_NOT_FOUND") => Ok(json!({})),
            answer => answer,
        }
    }

    /// Stores a value of an account at the homeserver.
    pub async fn keep(&self, by: &str, kind: &str, value: &Value) -> Result<(), MatrixFault> {
        let path = format!("/_matrix/client/v3/user/{}/account_data/{kind}", segment(by));
        self.put(&path, by, value).await.map(drop)
    }
}

/// Returns a text as one segment of a path or one value of a query.
fn segment(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(letter).collect()
}

fn refused(status: u16, answer: &Value) -> MatrixFault {
    let text = answer["error"].as_str().unwrap_or("no description");
    let code = answer["errcode"].as_str().unwrap_or("no code");
    let wait = answer["retry_after_ms"].as_u64().map(Duration::from_millis);
    let is_limited = status == 429;
    MatrixFault::Refused {
        status,
        code: cut(&for_terminal(code), WHY_BYTES_MAX).to_owned(),
        text: cut(&for_terminal(text), WHY_BYTES_MAX).to_owned(),
        retry_after: is_limited
            .then(|| wait.unwrap_or(Duration::from_secs(1)).min(RETRY_AFTER_MAX)),
    }
}

/// Returns the error of a call without an answer.
fn unanswered(error: &reqwest::Error) -> MatrixFault {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let why = cut(&for_terminal(&cause.to_string()), WHY_BYTES_MAX).to_owned();
    if error.is_connect() || error.is_builder() {
        MatrixFault::NotSent { why }
    } else {
        MatrixFault::Maybe { why }
    }
}
