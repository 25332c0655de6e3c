//! Extractors for the body, the ids in the path, the query and the idempotency key.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use futures_util::StreamExt;
use moothall_engine::access::{Caller, Mode};
use moothall_engine::crash;
use moothall_engine::door::{Action, Door, Entrance};
use moothall_engine::hall::Idempotency;
use moothall_kernel::Conversation;
use moothall_kernel::command::Actor;
use moothall_kernel::event::Recipient;
use moothall_kernel::ids::{EventId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use moothall_kernel::time::Timestamp;
use moothall_kernel::view::Viewer;
use moothall_kernel::{mentions, names};
use serde_json::{Map, Value};

use crate::error::{ApiError, ApiResult, Code};
use crate::json::{self, SAFE_INTEGER};
use crate::rates::{Limits, Rates};
use crate::strict::{self, Inbound};
use crate::wire::{self, EventTypes};

/// Maximum size of a body: 1 MiB.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Maximum size of a body on routes that need no credential: 8 KiB.
pub const OPEN_BODY_BYTES_MAX: usize = 8 << 10;
/// Time limit for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum length of a word in a path.
const WORD_BYTES_MAX: usize = 256;
/// Maximum `limit` of a page.
pub const LIMIT_MAX: usize = 1000;

/// Maximum size of this request's body, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct BodyMax(pub usize);

/// A JSON object, read strictly, with the request's caller and idempotency key.
pub struct Body {
    /// The fields as they were sent. Keys are unique.
    pub fields: Map<String, Value>,
    caller: Caller,
    rates: Rates,
    /// The idempotency key, and a hash of the request that carries it.
    once: Option<(String, String)>,
}

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        crash::point("before_parse");
        let (parts, body) = request.into_parts();
        let key = idempotency_key(&parts.headers)?;
        let most = parts.extensions.get().map_or(BODY_BYTES_MAX, |BodyMax(most)| *most);
        let bytes = collect(&parts.headers, body, most).await?;
        let fields = if bytes.is_empty() { Map::new() } else { object(&parts.headers, &bytes)? };
        let once = key.map(|key| (key, fingerprint(&parts, &fields)));
        crash::point("after_parse");
        Ok(Self { fields, caller: caller(&parts), rates: rates(&parts), once })
    }
}

/// Returns the caller that the guard before the routes found. Without a guard, returns an anonymous
/// caller, who has no rights.
pub fn caller(parts: &Parts) -> Caller {
    parts.extensions.get::<Caller>().cloned().unwrap_or_else(|| Caller::anonymous(Mode::Token))
}

/// The address of the client. `None` without a connection, as in tests that call routes directly.
pub struct Address(pub Option<IpAddr>);

impl<S: Send + Sync> FromRequestParts<S> for Address {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(
            parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip()),
        ))
    }
}

/// Returns the rate limits that the guard attached, or unlimited rates if the route has no guard.
pub fn rates(parts: &Parts) -> Rates {
    parts
        .extensions
        .get::<Rates>()
        .cloned()
        .unwrap_or_else(|| Rates::new(Mode::Local, Limits::default()))
}

fn object(headers: &HeaderMap, bytes: &[u8]) -> ApiResult<Map<String, Value>> {
    check_content_type(headers)?;
    match json::read(bytes)? {
        Value::Object(fields) => Ok(fields),
        _ => Err(ApiError::new(Code::MalformedJson, "The body must be a JSON object.")),
    }
}

/// Accepts only JSON. A web page can send the simple content types across origins without a
/// preflight request.
fn check_content_type(headers: &HeaderMap) -> ApiResult<()> {
    let given =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let shown = if essence.is_empty() { "missing" } else { essence };
    let message =
        format!("The Content-Type header is {shown}; send `Content-Type: application/json`.");
    Err(ApiError::new(Code::WrongContentType, message))
}

/// Reads a whole body with the content type JSON.
pub async fn whole(headers: &HeaderMap, body: axum::body::Body) -> ApiResult<Vec<u8>> {
    check_content_type(headers)?;
    collect(headers, body, BODY_BYTES_MAX).await
}

/// Reads a body of at most `most` bytes within [`BODY_TIMEOUT`]. Rejects a body whose announced
/// length is greater, without reading it.
async fn collect(headers: &HeaderMap, body: axum::body::Body, most: usize) -> ApiResult<Vec<u8>> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse::<u64>().ok());
    if announced.is_some_and(|length| length > most as u64) {
        return Err(too_large(most));
    }
    let reading = read_at_most(body, most);
    tokio::time::timeout(BODY_TIMEOUT, reading)
        .await
        .unwrap_or_else(|_| Err(ApiError::plain(Code::RequestTimeout)))
}

fn too_large(most: usize) -> ApiError {
    ApiError::new(Code::TooLarge, format!("The body is larger than {most} bytes."))
}

/// Reads a body. Rejects it as soon as it has more than `max` bytes.
async fn read_at_most(body: axum::body::Body, max: usize) -> ApiResult<Vec<u8>> {
    let mut chunks = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk =
            chunk.map_err(|_| ApiError::new(Code::MalformedJson, "The body ended too early."))?;
        if bytes.len() + chunk.len() > max {
            return Err(too_large(max));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Reads the idempotency key. Rejects a header that occurs twice or is not a key ([`is_key`]).
fn idempotency_key(headers: &HeaderMap) -> ApiResult<Option<String>> {
    let mut given = headers.get_all("idempotency-key").iter();
    let Some(first) = given.next() else { return Ok(None) };
    let key = first.to_str().ok().filter(|key| is_key(key));
    match (key, given.next()) {
        (Some(key), None) => Ok(Some(key.into())),
        _ => Err(ApiError::plain(Code::BadIdempotencyKey)),
    }
}

/// True if the key has 1 to 255 visible ASCII characters.
pub fn is_key(key: &str) -> bool {
    (1..=255).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic())
}

/// Returns the idempotency key of a tool call, with a fingerprint of its tool and arguments.
pub fn key_of_tool(
    by: &Actor,
    key: Option<&str>,
    tool: &str,
    arguments: &Map<String, Value>,
) -> ApiResult<Option<Idempotency>> {
    let Some(key) = key else { return Ok(None) };
    if !is_key(key) {
        let message = "'key' must have 1 to 255 visible ASCII characters without a space, e.g. a \
            UUID.";
        return Err(ApiError::new(Code::BadIdempotencyKey, message));
    }
    let text = format!("{tool}\n{}", json::canonical(&Value::Object(arguments.clone())));
    let fingerprint = blake3::hash(text.as_bytes()).to_hex().to_string();
    Ok(Some(Idempotency { principal: by.id.to_string(), key: key.to_owned(), fingerprint }))
}

/// Returns a hash of the method, the path and the fields, to distinguish requests with one key.
fn fingerprint(parts: &Parts, fields: &Map<String, Value>) -> String {
    let canonical = json::canonical(&Value::Object(fields.clone()));
    let text = format!("{} {}\n{canonical}", parts.method, parts.uri.path());
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl Body {
    /// Returns the idempotency key of this request, if it has one. Keys are separate for each
    /// sender.
    pub fn idempotency(&self, by: &Actor) -> Option<Idempotency> {
        let (key, fingerprint) = self.once.clone()?;
        Some(Idempotency { principal: by.id.to_string(), key, fingerprint })
    }

    /// Reads the fields as the type that this route accepts.
    pub fn read<T: Inbound>(&self) -> ApiResult<T> {
        strict::read(&self.fields)
    }

    /// Returns the asker of a body that may have only `from`, as [`Body::asker_named`] does.
    pub fn asker(&self) -> ApiResult<Actor> {
        let wire::Actor { from } = self.read()?;
        self.asker_named(from.as_deref())
    }

    /// Returns the asker: the principal, or the participant `from` if the caller is an
    /// administrator or has no credential. Without both, the asker is `user`, unproven.
    pub fn asker_named(&self, from: Option<&str>) -> ApiResult<Actor> {
        Ok(self.caller.asking_as(named(from)?)?)
    }

    /// Returns the speaker: as [`Body::asker_named`], but without a credential `from` is required.
    pub fn speaker(&self, from: Option<&str>) -> ApiResult<Actor> {
        let named = self.caller.acting_as(named(from)?)?;
        named.ok_or_else(|| {
            ApiError::new(Code::MissingFrom, "'from' is missing: give the speaker's name.")
        })
    }

    /// Returns the caller whose credential came with the request.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the hall with the caller's rights.
    pub fn door(&self, entrance: &Entrance) -> Door {
        entrance.of(self.caller.clone())
    }

    /// Returns the rate limits that apply to the caller.
    pub fn rates(&self) -> &Rates {
        &self.rates
    }
}

impl Inbound for wire::Actor {}

/// Rejects a top-level field that only the server may set.
pub fn refuse_server_field(key: &str) -> ApiResult<()> {
    if matches!(key, "id" | "ts" | "seq" | "via") || key.starts_with("sys.") || key == "sys" {
        return Err(ApiError::new(
            Code::ServerField,
            format!("'{key}' is set by the server; leave it out."),
        ));
    }
    Ok(())
}

/// Reads the participant that a request names as its sender, if it names one.
pub fn named(from: Option<&str>) -> ApiResult<Option<ParticipantId>> {
    from.filter(|from| !from.is_empty()).map(sender).transpose()
}

/// Reads a sender's name. Rejects names of the server itself.
fn sender(from: &str) -> ApiResult<ParticipantId> {
    if from == ParticipantId::MOOTHALL || from == "system" {
        let message = format!("'{from}' is the server's own id; use another one.");
        return Err(ApiError::new(Code::ReservedSender, message));
    }
    participant(from, "from")
}

/// Returns the error for a program that claims to be a person.
pub fn not_a_person() -> ApiError {
    let message =
        "A program cannot speak as a person: give its own name as 'from', e.g. \"planner\".";
    ApiError::new(Code::WrongSpeaker, message)
}

/// Reads a participant's id from the field of a request.
pub fn participant(id: &str, field: &str) -> ApiResult<ParticipantId> {
    if id == ParticipantId::USER {
        return Ok(ParticipantId::user());
    }
    match names::check_id(id) {
        Ok(()) => Ok(ParticipantId::new(id)),
        Err(fault) => {
            let shown: String = id.chars().take(64).collect();
            Err(ApiError::new(
                Code::InvalidParticipant,
                format!("'{field}': the id {shown:?} {}.", fault.explain()),
            ))
        }
    }
}

/// Reads a message's recipient: all participants, or one by id or nickname. A word for no
/// participant is returned as an id, if it can be one: the kernel rejects it with more detail.
pub async fn addressee(
    door: &Door,
    action: Action,
    stream: &StreamId,
    to: Option<&str>,
) -> ApiResult<Recipient> {
    let Some(word) = to.filter(|to| !matches!(*to, "" | "all")) else { return Ok(Recipient::All) };
    let name = word.to_owned();
    // The id of a member that left must not resolve to another member's nickname.
    let called = move |state: &Conversation| {
        let has_left = state.departed().any(|(id, _)| id.as_str() == name);
        mentions::called(&name, state.participants()).filter(|_| !has_left)
    };
    let found = door.view(action, stream, called).await;
    match found.map_err(|error| ApiError::at_door(error, stream))? {
        Some(id) => Ok(Recipient::One(id)),
        None => participant(word, "to").map(Recipient::One),
    }
}

/// The thread in the path.
pub struct ThreadId(pub StreamId);

impl<S: Send + Sync> FromRequestParts<S> for ThreadId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let id = path_segment(parts, state).await.ok_or_else(|| ApiError::no_thread(""))?;
        stream_id(&id).map(Self).ok_or_else(|| ApiError::no_thread(&id))
    }
}

/// The turn in the path.
pub struct TurnRef {
    /// The id of the turn's thread.
    pub stream: StreamId,
    /// The number of the turn in its thread.
    pub turn: TurnNo,
}

impl<S: Send + Sync> FromRequestParts<S> for TurnRef {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let id = path_segment(parts, state).await.unwrap_or_default();
        let found = id
            .rsplit_once('.')
            .and_then(|(stream, turn)| Some((stream_id(stream)?, digits(turn)?)));
        let (stream, turn) = found.ok_or_else(|| ApiError::plain(Code::UnknownTurn))?;
        Ok(Self { stream, turn: TurnNo(turn) })
    }
}

/// The trace entry in the path, which has words that were not posted.
pub struct KeptRef {
    /// The id of the entry's thread.
    pub stream: StreamId,
    /// The position of the entry in its thread.
    pub seq: Seq,
}

impl<S: Send + Sync> FromRequestParts<S> for KeptRef {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let named = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Ok(Path((id, seq))) = named else { return Err(ApiError::no_thread("")) };
        let stream = stream_id(&id).ok_or_else(|| ApiError::no_thread(&id))?;
        let seq = digits(&seq).map(Seq).ok_or_else(|| ApiError::plain(Code::UnknownEvent))?;
        Ok(Self { stream, seq })
    }
}

/// The event in the path.
pub struct EventRef {
    /// The id of the event's thread.
    pub stream: StreamId,
    /// The id of the event.
    pub event: EventId,
}

impl<S: Send + Sync> FromRequestParts<S> for EventRef {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let named = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Ok(Path((id, event))) = named else { return Err(ApiError::no_thread("")) };
        let stream = stream_id(&id).ok_or_else(|| ApiError::no_thread(&id))?;
        let event = event.parse().map_err(|()| ApiError::plain(Code::UnknownEvent))?;
        Ok(Self { stream, event })
    }
}

/// The session in the path: an id, the beginning of one, or a name. The engine resolves it.
pub struct SessionWord(pub String);

impl<S: Send + Sync> FromRequestParts<S> for SessionWord {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let word = path_segment(parts, state).await.filter(|word| word.len() <= WORD_BYTES_MAX);
        word.map(Self).ok_or_else(|| ApiError::plain(Code::SessionNotFound))
    }
}

/// The link in the path.
pub struct LinkId(pub StreamId);

impl<S: Send + Sync> FromRequestParts<S> for LinkId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let id = path_segment(parts, state).await.and_then(|id| stream_id(&id));
        id.map(Self).ok_or_else(|| ApiError::plain(Code::LinkNotFound))
    }
}

/// The permission in the path.
pub struct PermissionRef(pub PermissionId);

impl<S: Send + Sync> FromRequestParts<S> for PermissionRef {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let id = path_segment(parts, state).await.filter(|id| id.len() <= WORD_BYTES_MAX);
        id.map(|id| Self(PermissionId::new(id))).ok_or_else(|| ApiError::plain(Code::NotFound))
    }
}

/// Returns the only part of the path that varies.
pub async fn path_segment<S: Send + Sync>(parts: &mut Parts, state: &S) -> Option<String> {
    Path::<String>::from_request_parts(parts, state).await.ok().map(|Path(id)| id)
}

/// Reads the id of a stream. Other characters are rejected before anything is looked up.
pub fn stream_id(id: &str) -> Option<StreamId> {
    let plain = (1..=64).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    plain.then(|| StreamId::new(id))
}

/// Reads a number that consists of digits alone.
pub fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// The query of a request. Each parameter occurs at most once.
pub struct Params {
    pairs: Vec<(String, String)>,
    caller: Caller,
}

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = ApiError;

    /// Reads the query. Rejects a parameter that appears twice.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        let pairs = pairs(&parts.uri)?;
        for (place, (name, _)) in pairs.iter().enumerate() {
            if pairs[..place].iter().any(|(earlier, _)| earlier == name) {
                return Err(ApiError::new(
                    Code::InvalidParameter,
                    format!("The parameter {name:?} appears twice."),
                ));
            }
        }
        Ok(Self { pairs, caller: caller(parts) })
    }
}

/// Returns the parameters of a query, in order.
pub fn pairs(uri: &Uri) -> ApiResult<Vec<(String, String)>> {
    let read = Query::try_from_uri(uri).map(|Query(pairs)| pairs);
    read.map_err(|_| ApiError::new(Code::InvalidParameter, "The query cannot be read."))
}

impl Params {
    /// Returns the caller.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns a parameter, if it is present.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Reads a parameter with `parse`; `None` if it is absent. `expected` names the accepted values
    /// in the error.
    fn parsed<T>(
        &self,
        name: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> ApiResult<Option<T>> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let shown: String = text.chars().take(40).collect();
        let refused = || {
            ApiError::new(
                Code::InvalidParameter,
                format!("'{name}' takes {expected}, not {shown:?}."),
            )
        };
        parse(text).map(Some).ok_or_else(refused)
    }

    /// Returns `limit`, from 1 to 1000.
    pub fn limit(&self) -> ApiResult<Option<usize>> {
        let parse = |text: &str| {
            digits(text)
                .and_then(|n| usize::try_from(n).ok())
                .filter(|n| (1..=LIMIT_MAX).contains(n))
        };
        self.parsed("limit", "a whole number from 1 to 1000", parse)
    }

    /// Returns a position or cursor, at most the largest integer that every JSON reader keeps
    /// exact.
    pub fn number(&self, name: &str) -> ApiResult<Option<u64>> {
        self.parsed(name, "a whole number below 2^53", |text| {
            digits(text).filter(|number| *number <= SAFE_INTEGER)
        })
    }

    /// Returns a parameter that is `true` or `false`, or `None` if it is missing.
    pub fn flag(&self, name: &str) -> ApiResult<Option<bool>> {
        self.parsed(name, "true or false", |text| text.parse().ok())
    }

    /// True if a parameter is `1` or `true`. False for `0`, `false` or a missing parameter.
    pub fn switch(&self, name: &str) -> ApiResult<bool> {
        let parse = |text: &str| match text {
            "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        };
        Ok(self.parsed(name, "1 or 0", parse)?.unwrap_or(false))
    }

    /// Returns `types`, the event types to include. Without it, the usual ones.
    pub fn types(&self) -> ApiResult<EventTypes> {
        let Some(list) = self.get("types") else { return Ok(EventTypes::usual()) };
        EventTypes::parse(list).map_err(|word| {
            let shown: String = word.chars().take(40).collect();
            let message = format!(
                "'types' takes these words, separated by commas: {}. {shown:?} is unknown.",
                EventTypes::EVERY.list()
            );
            ApiError::new(Code::UnknownType, message)
        })
    }

    /// Returns the time in `since`, or `None` if it is missing.
    pub fn since(&self) -> ApiResult<Option<Timestamp>> {
        self.time("since")
    }

    /// Returns a parameter that is a time, or `None` if it is missing.
    pub fn time(&self, name: &str) -> ApiResult<Option<Timestamp>> {
        // Without a zone, UTC.
        let parse = |text: &str| text.parse().ok().or_else(|| format!("{text}Z").parse().ok());
        self.parsed(name, "a time such as 2026-01-21T01:30:49.826Z", parse)
    }

    /// Returns the view of the caller, or of the participant in `as` if the caller may look as that
    /// one.
    pub fn viewer(&self) -> ApiResult<Viewer> {
        Ok(self.caller.viewer(self.named()?)?)
    }

    /// Returns the participant as whom the caller looks. Without `as`, returns `None` for an
    /// operator, and for a caller without a credential.
    pub fn viewing_as(&self) -> ApiResult<Option<ParticipantId>> {
        Ok(self.caller.looking_as(self.named()?)?)
    }

    fn named(&self) -> ApiResult<Option<ParticipantId>> {
        self.get("as").map(|id| participant(id, "as")).transpose()
    }

    /// Returns the hall with the caller's rights.
    pub fn door(&self, entrance: &Entrance) -> Door {
        entrance.of(self.caller.clone())
    }

    /// Returns the position after which a stream resumes, at most `head`, or `None` without one.
    /// `Last-Event-ID`, which a reconnecting browser sends, takes precedence over `after`.
    pub fn resume_after(&self, headers: &HeaderMap, head: Seq) -> ApiResult<Option<Seq>> {
        // An unreadable header becomes text without digits, so that it is rejected.
        let header = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("?"));
        let Some(text) = header.or_else(|| self.get("after")) else { return Ok(None) };
        let position = digits(text).map(Seq).filter(|seq| *seq <= head);
        position.map(Some).ok_or_else(|| ApiError::no_position(head))
    }
}
