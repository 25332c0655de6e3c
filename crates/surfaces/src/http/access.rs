//! What stands between a request and its handler: whose credential it carries, and whether that is enough for this route.
//!
//! [`ROUTES`] has a row for each route and method. A route without a row is refused, so whoever adds one adds a row here: what it needs,
//! and where it reaches. Handlers get the [`Caller`] as an extension of the request, and through [`crate::request`].

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use moothall_engine::access::{Access, AccessError, Caller, Mode, Over, Revocations, Scope};
use moothall_engine::hall::Hall;
use moothall_engine::sessions::SessionError;
use moothall_kernel::ids::StreamId;

use super::App;
use crate::error::{ApiError, ApiResult, Code, Refused};
use crate::mcp;
use crate::peer::Peer;
use crate::rates::Streaming;
use crate::request::stream_id;
use crate::seats::Seat;
use crate::sse;

/// What a request has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing, and nothing is looked at.
    Nothing,
    /// A credential in token mode, whatever it allows; in local mode nothing.
    Entry,
    /// This scope. In local mode everybody has the scopes of conversations.
    Scope(Scope),
    /// A credential with this scope, in local mode too.
    Proof(Scope),
}

/// Where a route reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// No conversation is touched.
    Nowhere,
    /// The conversation that `{id}` names: what is out of the caller's reach is not found.
    Thread,
    /// The conversation of the turn that `{id}` names.
    Turn,
    /// Many conversations; the handler shows only what the caller reaches.
    Reachable,
    /// Sessions and links that the caller sees, or something new that becomes theirs: not for credentials that are bound to conversations.
    Own,
    /// The session that `{id}` names, and what is wanted of it.
    Session(Over),
    /// The link that `{id}` names: what is out of the caller's reach is not found.
    Link,
    /// The whole server: not for credentials that are bound to conversations.
    Everywhere,
}

/// A route and method, what it needs, and where it reaches.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Its template.
    pub path: &'static str,
    /// Its method; `HEAD` goes with `GET`.
    pub method: &'static str,
    /// What a request has to show.
    pub need: Need,
    /// Where it reaches.
    pub place: Place,
}

const fn get(path: &'static str, need: Need, place: Place) -> Route {
    Route { path, method: "GET", need, place }
}

const fn post(path: &'static str, need: Need, place: Place) -> Route {
    Route { path, method: "POST", need, place }
}

const fn put(path: &'static str, need: Need, place: Place) -> Route {
    Route { path, method: "PUT", need, place }
}

const READ: Need = Need::Scope(Scope::ThreadsRead);
const WRITE: Need = Need::Scope(Scope::ThreadsWrite);
const CONTROL: Need = Need::Scope(Scope::TurnsControl);
const ERASE: Need = Need::Proof(Scope::ThreadsAdmin);
const ADMIN: Need = Need::Proof(Scope::ServerAdmin);
/// Nothing that starts, types into, reads or ends a terminal is a conversation call.
const DRIVE: Need = Need::Proof(Scope::SessionsDrive);
const ANSWER: Need = Need::Proof(Scope::PermissionsAnswer);

/// Every route but the page's own files.
pub const ROUTES: &[Route] = &[
    get("/ping", Need::Nothing, Place::Nowhere),
    get("/healthz", Need::Nothing, Place::Nowhere),
    get("/metrics", Need::Entry, Place::Everywhere),
    get("/openapi.json", Need::Entry, Place::Nowhere),
    get("/docs", Need::Entry, Place::Nowhere),
    get("/docs/", Need::Entry, Place::Nowhere),
    get("/docs/{*rest}", Need::Entry, Place::Nowhere),
    post("/session", Need::Nothing, Place::Nowhere),
    get("/session", Need::Entry, Place::Nowhere),
    post("/session/end", Need::Entry, Place::Nowhere),
    post("/invitations/accept", Need::Nothing, Place::Nowhere),
    post("/threads/{id}/invitations", Need::Proof(Scope::ParticipantsInvite), Place::Thread),
    get("/tokens", ADMIN, Place::Everywhere),
    post("/tokens", ADMIN, Place::Everywhere),
    post("/tokens/{id}/revoke", ADMIN, Place::Everywhere),
    get("/audit", ADMIN, Place::Everywhere),
    get("/usage", READ, Place::Reachable),
    post("/budgets/raise", ADMIN, Place::Everywhere),
    get("/agents", READ, Place::Nowhere),
    get("/commands", READ, Place::Nowhere),
    get("/threads", READ, Place::Reachable),
    post("/threads", WRITE, Place::Own),
    get("/events/stream", READ, Place::Reachable),
    get("/search", READ, Place::Reachable),
    get("/threads/{id}/events", READ, Place::Thread),
    // The content of an event says what else is needed: see `moothall_engine::access`.
    post("/threads/{id}/events", WRITE, Place::Thread),
    get("/threads/{id}/events/stream", READ, Place::Thread),
    get("/threads/{id}/state", READ, Place::Thread),
    get("/threads/{id}/presence", READ, Place::Thread),
    post("/threads/{id}/presence", WRITE, Place::Thread),
    get("/threads/{id}/turns", READ, Place::Thread),
    post("/threads/{id}/preview", READ, Place::Thread),
    put("/threads/{id}/read", READ, Place::Thread),
    post("/threads/{id}/commands", WRITE, Place::Thread),
    post("/threads/{id}/stop", CONTROL, Place::Thread),
    // Only the one whose turn it is, and operators: the handler looks.
    get("/turns/{id}/context", READ, Place::Turn),
    post("/turns/{id}/cancel", CONTROL, Place::Turn),
    post("/threads/{id}/kept/{seq}/publish", CONTROL, Place::Thread),
    post("/threads/{id}/events/{event}/redact", ERASE, Place::Thread),
    get("/sessions", READ, Place::Own),
    post("/sessions", DRIVE, Place::Own),
    get("/sessions/{id}", READ, Place::Session(Over::Seeing)),
    // What a terminal shows, and what its program was told elsewhere, may be more than a reader of conversations is to see.
    get("/sessions/{id}/screen", DRIVE, Place::Session(Over::Looking)),
    get("/sessions/{id}/screen/stream", DRIVE, Place::Session(Over::Looking)),
    get("/sessions/{id}/data", DRIVE, Place::Session(Over::Telling)),
    get("/sessions/{id}/attach", DRIVE, Place::Session(Over::Sitting)),
    post("/sessions/{id}/messages", DRIVE, Place::Session(Over::Telling)),
    post("/sessions/{id}/interrupt", DRIVE, Place::Session(Over::Steering)),
    post("/sessions/{id}/end", DRIVE, Place::Session(Over::Steering)),
    get("/links", READ, Place::Own),
    post("/links", DRIVE, Place::Own),
    get("/links/{id}", READ, Place::Link),
    post("/links/{id}/close", DRIVE, Place::Link),
    // The conversation is in the body.
    post("/permissions/{id}/answer", ANSWER, Place::Reachable),
    // Each tool says what it needs: see `crate::mcp`.
    post(mcp::PATH, Need::Entry, Place::Reachable),
];

/// How a credential came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// Not at all.
    Nothing,
    /// In the `Authorization` header.
    Header,
    /// In the cookie of a browser that signed in.
    Cookie,
}

/// The header that a page of ours sends with what changes something, and no form or link can.
const OWN_HEADER: HeaderName = HeaderName::from_static("x-moothall");
/// Nothing longer is a credential.
const CREDENTIAL_BYTES_MAX: usize = 256;

/// The name of the cookie. Cookies of one host are the same for all its ports, so the port is in the name.
pub fn cookie_name(port: u16) -> String {
    format!("moothall_{port}")
}

/// Lets a request through to its handler, with the caller as an extension, or refuses and records it.
pub async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let Some(template) = request.extensions().get::<MatchedPath>().cloned() else { return next.run(request).await };
    let revocations = app.access.listen();
    let (mut parts, body) = request.into_parts();
    let method = parts.method.clone();
    let thread = thread_of(&template, &mut parts).await;
    parts.extensions.insert(app.rates.clone());
    let admitted = match admit(&app, &mut parts, template.as_str()).await {
        Ok(caller) => {
            charge(&app, &caller, &parts, template.as_str()).map(|streaming| (caller.clone(), streaming)).map_err(|error| (caller, error))
        }
        Err(refused) => Err(refused),
    };
    let (caller, streaming, response) = match admitted {
        Ok((caller, streaming)) => (caller, streaming, next.run(Request::from_parts(parts, body)).await),
        Err((caller, error)) => (caller, None, error.into_response()),
    };
    if let Some(Refused(briefly)) = response.extensions().get() {
        app.access.refused(&caller, format!("{method} {}: {briefly}", template.as_str())).await;
    }
    if sse::is_stream(&response) { leashed(response, revocations, &app, caller, Leash { thread, streaming }) } else { response }
}

/// The conversation that a route names.
async fn thread_of(template: &MatchedPath, parts: &mut Parts) -> Option<StreamId> {
    let names_one = template.as_str().starts_with("/threads/{id}");
    if names_one { stream_id(&named(parts).await) } else { None }
}

/// The end of every route that answers with a stream.
const STREAM: &str = "/stream";

/// Whether there is room for this request: a seat for whoever asks, what its principal may still write, and a stream more.
fn charge(app: &App, caller: &Caller, parts: &Parts, template: &str) -> ApiResult<Option<Streaming>> {
    let row = row(template, &parts.method)?;
    let spare = parts.extensions.get::<Arc<Seat>>().is_some_and(|seat| seat.is_spare());
    if spare && row.need != Need::Nothing && caller.must_prove(Scope::ServerAdmin).is_err() {
        return Err(ApiError::plain(Code::NoSeats));
    }
    // What a call of a tool is charged depends on the tool.
    if row.method != "GET" && row.need != Need::Nothing && row.path != mcp::PATH {
        let key = parts.headers.get("idempotency-key").and_then(|key| key.to_str().ok());
        app.rates.write(caller, key)?;
    }
    if row.path.ends_with(STREAM) { app.rates.stream(caller).map(Some) } else { Ok(None) }
}

/// The rows of a route.
fn rows(template: &str) -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(move |row| row.path == template)
}

/// The row of a route that there is, for surfaces that do the same under another name.
pub(crate) fn row_of(method: &str, template: &str) -> Option<&'static Route> {
    rows(template).find(|row| row.method == method)
}

impl Need {
    /// Whether what the caller has is enough.
    pub(crate) fn check(self, caller: &Caller) -> ApiResult<()> {
        match self {
            Need::Nothing | Need::Entry => {}
            Need::Scope(scope) => caller.must(scope)?,
            Need::Proof(scope) => caller.must_prove(scope)?,
        }
        Ok(())
    }
}

/// The row of a request; no row, no answer.
fn row(template: &str, method: &Method) -> ApiResult<&'static Route> {
    let asked = if method == Method::HEAD { "GET" } else { method.as_str() };
    let unknown = || if rows(template).next().is_none() { Code::NotFound } else { Code::MethodNotAllowed };
    rows(template).find(|row| row.method == asked).ok_or_else(|| ApiError::plain(unknown()))
}

/// Somebody who presents nothing, by the connection that the request came on.
fn anonymous(app: &App, parts: &Parts) -> Caller {
    let seen = parts.extensions.get::<Peer>().is_some_and(|peer| *peer == Peer::Owner);
    if seen { app.access.anonymous() } else { app.access.anonymous().unseen() }
}

async fn admit(app: &App, parts: &mut Parts, template: &str) -> Result<Caller, (Caller, ApiError)> {
    let anonymous = anonymous(app, parts);
    let row = match row(template, &parts.method) {
        Ok(row) => row,
        Err(error) => return Err((anonymous, error)),
    };
    let (caller, via) = match row.need {
        Need::Nothing => (anonymous, Via::Nothing),
        Need::Entry | Need::Scope(_) | Need::Proof(_) => {
            let identified = identify(&app.access, parts, &app.cookie).await.map_err(|error| (anonymous.clone(), error))?;
            identified.unwrap_or((anonymous, Via::Nothing))
        }
    };
    let checked = match check(app.access.mode(), row, &caller, via, parts) {
        Ok(()) => within_reach(app, row.place, &caller, parts).await,
        refused => refused,
    };
    checked.map_err(|error| (caller.clone(), error))?;
    parts.extensions.insert(caller.clone());
    parts.extensions.insert(via);
    Ok(caller)
}

/// Who asks, by the credential in the headers. Nothing in the address is ever one.
async fn identify(access: &Access, parts: &Parts, cookie: &str) -> ApiResult<Option<(Caller, Via)>> {
    if let Some(credential) = bearer(&parts.headers)? {
        let caller = access.identify(credential).await?.ok_or_else(ApiError::unauthenticated)?;
        return Ok(Some((caller, Via::Header)));
    }
    if let Some(credential) = session_cookie(&parts.headers, cookie)
        && let Some(caller) = access.identify(credential).await?
    {
        return Ok(Some((caller, Via::Cookie)));
    }
    // Browsers send old cookies unasked, so one that is worth nothing is the same as none.
    Ok(None)
}

/// The credential of the `Authorization` header, which comes once and reads `Bearer …`.
pub(super) fn bearer(headers: &HeaderMap) -> ApiResult<Option<&str>> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let Some(first) = given.next() else { return Ok(None) };
    let credential = first.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
    let credential = credential.filter(|text| text.len() <= CREDENTIAL_BYTES_MAX && given.next().is_none());
    credential.map(Some).ok_or_else(ApiError::unauthenticated)
}

fn session_cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let found = pairs.find(|(given, _)| *given == name).map(|(_, value)| value);
    found.filter(|value| value.len() <= CREDENTIAL_BYTES_MAX)
}

/// Whether what the caller has is what the route needs.
fn check(mode: Mode, row: &Route, caller: &Caller, via: Via, parts: &Parts) -> ApiResult<()> {
    if mode == Mode::Token && !caller.is_proven() && row.need != Need::Nothing {
        return Err(ApiError::unauthenticated());
    }
    if via == Via::Cookie && row.method != "GET" {
        check_page(&parts.headers)?;
    }
    row.need.check(caller)
}

/// A cookie comes with whatever a browser sends, so a request that changes something must show that it is of a page of ours. That the
/// origin is one of ours was checked before.
fn check_page(headers: &HeaderMap) -> ApiResult<()> {
    let own = headers.get(OWN_HEADER).is_some_and(|value| value == HeaderValue::from_static("1"));
    if own && headers.contains_key(header::ORIGIN) {
        return Ok(());
    }
    let message = "A request with a cookie needs the headers `X-Moothall: 1` and `Origin`. Programs send `Authorization: Bearer` instead.";
    Err(ApiError::forbidden(message, "with a cookie alone"))
}

/// Whether the caller reaches where the route leads.
async fn within_reach(app: &App, place: Place, caller: &Caller, parts: &mut Parts) -> ApiResult<()> {
    match place {
        Place::Nowhere | Place::Reachable => Ok(()),
        Place::Everywhere => Ok(caller.must_reach_all()?),
        Place::Own => Ok(caller.must_be_unbound()?),
        Place::Session(over) => {
            caller.must_be_unbound()?;
            over_session(&app.hall, caller, over, &named(parts).await).await
        }
        Place::Link => {
            caller.must_be_unbound()?;
            let named = stream_id(&named(parts).await);
            let reached = named.is_none_or(|id| caller.reach.includes(&id));
            if reached { Ok(()) } else { Err(ApiError::from(SessionError::NoLink)) }
        }
        Place::Thread | Place::Turn => {
            let named = named(parts).await;
            let id = if place == Place::Turn { named.rsplit_once('.').map_or("", |(stream, _)| stream) } else { &named };
            let reached = caller.reach.only().is_none() || stream_id(id).is_some_and(|id: StreamId| caller.reach.includes(&id));
            if reached { Ok(()) } else { Err(ApiError::no_thread(id)) }
        }
    }
}

/// Whether the caller may do this with the session that a word means. That there is none, or no terminal at all, the handler says.
pub(crate) async fn over_session(hall: &Hall, caller: &Caller, over: Over, word: &str) -> ApiResult<()> {
    match hall.permit_over(caller, over, word).await {
        Ok(_) | Err(AccessError::Session(SessionError::Invalid(_) | SessionError::Unavailable(_))) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What the path says at `{id}`, decoded as the handler will see it.
async fn named(parts: &mut Parts) -> String {
    let params = RawPathParams::from_request_parts(parts, &()).await.ok();
    let id = params.iter().flatten().find(|(name, _)| *name == "id").map(|(_, value)| value.to_owned());
    id.unwrap_or_default()
}

/// What an open stream is held by.
struct Leash {
    /// The conversation that it shows, where it is one.
    thread: Option<StreamId>,
    /// Its place among the streams of its principal.
    streaming: Option<Streaming>,
}

/// A stream of events that ends when the credential behind it is worth nothing any more, or does not reach the conversation any more.
fn leashed(response: Response, revocations: Revocations, app: &App, caller: Caller, leash: Leash) -> Response {
    let (parts, body) = response.into_parts();
    let Leash { thread, streaming } = leash;
    let (now, reach) = (app.hall.now(), caller.reach.clone());
    let lost = async move {
        let left = async {
            match &thread {
                Some(thread) => reach.left(thread).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = revocations.lost(caller, now) => {}
            () = left => {}
        }
    };
    let open = (body.into_data_stream(), Box::pin(lost), streaming);
    let events = stream::unfold(Some(open), |open| async move {
        let (mut events, mut lost, streaming) = open?;
        tokio::select! {
            biased;
            () = &mut lost => Some((Ok(sse::signed_out()), None)),
            event = events.next() => Some((event?, Some((events, lost, streaming)))),
        }
    });
    Response::from_parts(parts, Body::from_stream(events))
}
