//! What stands between a request and its handler: whose credential it carries, and whether the door
//! lets its holder do what the route does.
//!
//! [`ROUTES`] has a row for each route and method, which names an [`Action`]. A route without a row
//! is refused. What an action needs, and where it reaches, the engine knows (`door/action.rs`): it
//! is asked here, before the body of a request is read, and again by what the handler calls.
//! Handlers get the [`Caller`] as an extension of the request, and through [`crate::request`].

use std::sync::Arc;
use std::task::Poll;

use axum::body::Body;
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use moothall_engine::access::{Access, Caller, Reach, Revocations, Scope};
use moothall_engine::door::{Action, ActionTarget, Door, Need};
use moothall_kernel::ids::StreamId;

use super::{App, UnknownPeerRights};
use crate::error::{ApiError, ApiResult, Code, RefusalNote, told};
use crate::mcp;
use crate::peer::{Peer, UnknownPeer};
use crate::rates::Streaming;
use crate::request::{BodyMax, OPEN_BODY_BYTES_MAX, stream_id};
use crate::seats::ConnectionSlot;
use crate::sse;
use crate::ways::Reader;

/// A route and method, and what it does: the row of that action says what it needs and where it
/// reaches.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Its path, with names in braces for the parts that vary.
    pub path: &'static str,
    /// Its method; `HEAD` goes with `GET`.
    pub method: &'static str,
    /// The action of the door that it asks for.
    pub action: Action,
}

const fn get(path: &'static str, action: Action) -> Route {
    Route { path, method: "GET", action }
}

const fn post(path: &'static str, action: Action) -> Route {
    Route { path, method: "POST", action }
}

const fn put(path: &'static str, action: Action) -> Route {
    Route { path, method: "PUT", action }
}

const fn delete(path: &'static str, action: Action) -> Route {
    Route { path, method: "DELETE", action }
}

/// Every route but the page's own files.
pub const ROUTES: &[Route] = &[
    get("/ping", Action::CheckHealth),
    get("/healthz", Action::CheckHealth),
    // As MoltZap's clients ask.
    get("/health", Action::CheckHealth),
    get("/metrics", Action::ReadMetrics),
    get("/openapi.json", Action::ReadDescription),
    get("/openrpc.json", Action::ReadDescription),
    post("/api/v1/auth/register", Action::RegisterAgent),
    post("/api/v1/auth/claim", Action::ClaimAgent),
    // Whose the connection is comes with the first call.
    get("/ws", Action::OpenConnection),
    get("/docs", Action::ReadDescription),
    get("/docs/", Action::ReadDescription),
    get("/docs/{*rest}", Action::ReadDescription),
    post("/session", Action::SignIn),
    get("/session", Action::AskWhoIAm),
    post("/session/end", Action::SignOut),
    post("/invitations/accept", Action::AcceptInvitation),
    post("/threads/{id}/invitations", Action::HandOutInvitation),
    get("/tokens", Action::ListTokens),
    post("/tokens", Action::CreateToken),
    post("/tokens/{id}/revoke", Action::RevokeToken),
    get("/registrations", Action::ListRegistrations),
    post("/registrations/{agent}/revoke", Action::RevokeAgent),
    post("/registrations/{agent}/free", Action::FreeAgent),
    get("/apps", Action::ListApps),
    delete("/apps/{id}", Action::FreeApp),
    post("/apps/{id}/transfer", Action::TransferApp),
    get("/audit", Action::ReadAudit),
    get("/usage", Action::ReadUsage),
    get("/guards", Action::ReadGuards),
    post("/budgets/raise", Action::RaiseBudget),
    get("/agents", Action::ListAgents),
    get("/commands", Action::ListAgents),
    get("/threads", Action::ListThreads),
    post("/threads", Action::BeginThread),
    delete("/threads/{id}", Action::Delete),
    get("/events/stream", Action::ListenToAll),
    get("/search", Action::Search),
    get("/threads/{id}/events", Action::ReadThread),
    post("/threads/{id}/events", Action::Post),
    get("/threads/{id}/events/stream", Action::ReadThread),
    get("/threads/{id}/state", Action::ReadThread),
    get("/threads/{id}/presence", Action::ReadPresence),
    post("/threads/{id}/presence", Action::TellPresence),
    get("/threads/{id}/turns", Action::ListTurns),
    post("/threads/{id}/preview", Action::Preview),
    put("/threads/{id}/read", Action::MarkRead),
    post("/threads/{id}/commands", Action::RunCommand),
    post("/threads/{id}/stop", Action::Stop),
    get("/turns/{id}/context", Action::ReadContext),
    post("/turns/{id}/cancel", Action::CancelTurn),
    post("/threads/{id}/kept/{seq}/publish", Action::Publish),
    post("/threads/{id}/events/{event}/redact", Action::Erase),
    get("/sessions", Action::ListSessions),
    post("/sessions", Action::StartSession),
    get("/sessions/{id}", Action::ReadSession),
    get("/sessions/{id}/screen", Action::ReadScreen),
    get("/sessions/{id}/screen/stream", Action::ReadScreen),
    get("/sessions/{id}/data", Action::ReadSessionData),
    get("/sessions/{id}/attach", Action::Attach),
    post("/sessions/{id}/messages", Action::SendMessage),
    post("/sessions/{id}/interrupt", Action::Interrupt),
    post("/sessions/{id}/end", Action::EndSession),
    post("/sessions/{id}/resume", Action::ResumeSession),
    get("/links", Action::ListLinks),
    post("/links", Action::MakeLink),
    get("/links/{id}", Action::ReadLink),
    post("/links/{id}/close", Action::CloseLink),
    get("/gatherings", Action::ListGatherings),
    post("/gatherings", Action::StartGathering),
    get("/gatherings/{id}", Action::ReadGathering),
    post("/gatherings/{id}/pass", Action::Pass),
    post("/gatherings/{id}/end", Action::Gather),
    // The conversation is in the body.
    post("/permissions/{id}/answer", Action::AnswerPermission),
    post(mcp::PATH, Action::CallTools),
];

/// How a credential came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    /// None came with the request.
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

/// The name of the cookie. Cookies of one host are the same for all its ports, so the port is in
/// the name.
pub fn cookie_name(port: u16) -> String {
    format!("moothall_{port}")
}

/// Lets a request through to its handler, with the caller as an extension, or refuses and records
/// it. Whoever is to sign in needs the page first, so nobody is asked who they are for its own
/// files, nor for what is nowhere.
pub async fn guard(app: &App, request: Request, next: Next) -> Response {
    let template = request.extensions().get::<MatchedPath>().cloned();
    let Some(template) = template.filter(|template| !app.page.contains(template.as_str())) else {
        return next.run(request).await;
    };
    let revocations = app.access.listen();
    let (mut parts, body) = request.into_parts();
    let method = parts.method.clone();
    let thread = thread_of(&template, &mut parts).await;
    let template = row_path(template.as_str());
    parts.extensions.insert(app.rates.clone());
    let admitted = match admit(app, &mut parts, template).await {
        Ok(caller) => charge(app, &caller, &parts, template)
            .and_then(|streaming| {
                app.known.check(template, &parts.method, &parts.uri).map(|()| streaming)
            })
            .map(|streaming| (caller.clone(), streaming))
            .map_err(|error| (caller, error)),
        Err(refused) => Err(refused),
    };
    let (caller, streaming, response) = match admitted {
        Ok((caller, streaming)) => {
            let seat = parts.extensions.get::<Arc<ConnectionSlot>>().cloned();
            let response = next.run(Request::from_parts(parts, body)).await;
            // On a route without a credential it was a key or code in the body that was good.
            if let Some(seat) =
                seat.filter(|_| method == Method::POST && response.status().is_success())
            {
                seat.vouch();
            }
            (caller, streaming, response)
        }
        Err((caller, error)) => (caller, None, error.into_response()),
    };
    let response = told(response, Reader::over_http(&caller));
    if let Some(RefusalNote(briefly)) = response.extensions().get() {
        app.access.refused(&caller, format!("{method} {template}: {briefly}")).await;
    }
    if sse::is_stream(&response) {
        leashed(response, revocations, app, caller, StreamGuard { thread, streaming })
    } else {
        response
    }
}

/// The conversation that a route names.
async fn thread_of(template: &MatchedPath, parts: &mut Parts) -> Option<StreamId> {
    let names_one = template.as_str().starts_with("/threads/{id}");
    if names_one { stream_id(&named(parts).await) } else { None }
}

/// The end of every route that answers with a stream.
const STREAM: &str = "/stream";

/// Whether there is room for this request: a seat for whoever asks, what its principal may still
/// write, and a stream more.
fn charge(
    app: &App,
    caller: &Caller,
    parts: &Parts,
    template: &str,
) -> ApiResult<Option<Streaming>> {
    let row = row(template, &parts.method)?;
    let spare = parts.extensions.get::<Arc<ConnectionSlot>>().is_some_and(|seat| seat.is_spare());
    // A connection on a seat that is kept back ends with its answer, so none is opened there.
    let is_short = row.action.need() == Need::Nothing && row.action != Action::OpenConnection;
    if spare && !is_short && caller.must_prove(Scope::ServerAdmin).is_err() {
        return Err(ApiError::plain(Code::NoSeats));
    }
    // What a call of a tool is charged depends on the tool.
    if row.method != "GET" && row.action.need() != Need::Nothing && row.path != mcp::PATH {
        let key = parts.headers.get("idempotency-key").and_then(|key| key.to_str().ok());
        app.rates.write(caller, key)?;
    }
    if row.path.ends_with(STREAM) { app.rates.stream(caller).map(Some) } else { Ok(None) }
}

/// The path by which the rows know a route: one is reached under two.
fn row_path(template: &str) -> &str {
    if template == mcp::PATH_WITH_SLASH { mcp::PATH } else { template }
}

/// The rows of a route.
fn rows(template: &str) -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(move |row| row.path == template)
}

/// The row of a request; no row, no answer.
fn row(template: &str, method: &Method) -> ApiResult<&'static Route> {
    let asked = if method == Method::HEAD { "GET" } else { method.as_str() };
    let unknown =
        || if rows(template).next().is_none() { Code::NotFound } else { Code::MethodNotAllowed };
    rows(template).find(|row| row.method == asked).ok_or_else(|| ApiError::plain(unknown()))
}

/// Somebody who presents nothing, by the connection that the request came on.
fn anonymous(app: &App, parts: &Parts) -> Caller {
    let seen = parts.extensions.get::<Peer>().is_some_and(|peer| *peer == Peer::Owner);
    if seen { app.access.anonymous() } else { app.access.anonymous().unseen() }
}

/// Returns why the system does not say whose process asks, if this route takes a credential then.
fn unknown_owner(app: &App, row: &Route, parts: &Parts) -> Option<UnknownPeer> {
    let Some(Peer::Unknown(why)) = parts.extensions.get() else { return None };
    let open = matches!(row.action, Action::CheckHealth | Action::SignIn);
    (app.unasked == UnknownPeerRights::SignIn && !open).then_some(*why)
}

async fn admit(app: &App, parts: &mut Parts, template: &str) -> Result<Caller, (Caller, ApiError)> {
    let anonymous = anonymous(app, parts);
    let row = match row(template, &parts.method) {
        Ok(row) => row,
        Err(error) => return Err((anonymous, error)),
    };
    let unknown = unknown_owner(app, row, parts);
    let (caller, via) = if row.action.need() == Need::Nothing && unknown.is_none() {
        (anonymous, CredentialSource::Nothing)
    } else {
        let identified = identify(&app.access, parts, &app.cookie)
            .await
            .map_err(|error| (anonymous.clone(), error))?;
        identified.unwrap_or((anonymous, CredentialSource::Nothing))
    };
    if let Some(why) = unknown.filter(|_| !caller.is_proven()) {
        return Err((caller, ApiError::owner_unknown(why)));
    }
    let checked = match check(row, via, parts) {
        Ok(()) => enter(&app.entrance.of(caller.clone()), row.action, parts).await,
        refused => refused,
    };
    checked.map_err(|error| (caller.clone(), error))?;
    match (row.action.need(), parts.extensions.get::<Arc<ConnectionSlot>>()) {
        (Need::Nothing, _) => drop(parts.extensions.insert(BodyMax(OPEN_BODY_BYTES_MAX))),
        (Need::Entry | Need::Scope(_) | Need::Proof(_), Some(seat)) => seat.vouch(),
        (Need::Entry | Need::Scope(_) | Need::Proof(_), None) => {}
    }
    parts.extensions.insert(caller.clone());
    parts.extensions.insert(via);
    Ok(caller)
}

/// Who asks, by the credential in the headers. Nothing in the address is ever one.
async fn identify(
    access: &Access,
    parts: &Parts,
    cookie: &str,
) -> ApiResult<Option<(Caller, CredentialSource)>> {
    if let Some(credential) = bearer(&parts.headers)? {
        let caller = access.identify(credential).await?.ok_or_else(ApiError::unauthenticated)?;
        return Ok(Some((caller, CredentialSource::Header)));
    }
    if let Some(credential) = session_cookie(&parts.headers, cookie)
        && let Some(caller) = access.identify(credential).await?
    {
        return Ok(Some((caller, CredentialSource::Cookie)));
    }
    // Browsers send old cookies unasked, so one that is worth nothing is the same as none.
    Ok(None)
}

/// The credential of the `Authorization` header, which comes once and reads `Bearer …`.
pub(super) fn bearer(headers: &HeaderMap) -> ApiResult<Option<&str>> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let Some(first) = given.next() else { return Ok(None) };
    let credential = first.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
    let credential =
        credential.filter(|text| text.len() <= CREDENTIAL_BYTES_MAX && given.next().is_none());
    credential.map(Some).ok_or_else(ApiError::unauthenticated)
}

fn session_cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let found = pairs.find(|(given, _)| *given == name).map(|(_, value)| value);
    found.filter(|value| value.len() <= CREDENTIAL_BYTES_MAX)
}

/// Whether a request that changes something comes from a page of ours, where it comes from a page.
fn check(row: &Route, via: CredentialSource, parts: &Parts) -> ApiResult<()> {
    if via == CredentialSource::Cookie && row.method != "GET" {
        check_page(&parts.headers)
    } else {
        Ok(())
    }
}

/// A cookie comes with whatever a browser sends, so a request that changes something must show that
/// it is of a page of ours. That the origin is one of ours was checked before.
fn check_page(headers: &HeaderMap) -> ApiResult<()> {
    let own = headers.get(OWN_HEADER).is_some_and(|value| value == HeaderValue::from_static("1"));
    if own && headers.contains_key(header::ORIGIN) {
        return Ok(());
    }
    let message = "A request with a cookie needs the headers `X-Moothall: 1` and `Origin`. Programs send `Authorization: Bearer` instead.";
    Err(ApiError::forbidden(message, "with a cookie alone"))
}

/// Whether the door lets the caller do this where the route leads.
async fn enter(door: &Door, action: Action, parts: &mut Parts) -> ApiResult<()> {
    door.may(action)?;
    match action.acts_on() {
        ActionTarget::Nowhere
        | ActionTarget::Reachable
        | ActionTarget::Everywhere
        | ActionTarget::Own
        | ActionTarget::Task => Ok(()),
        ActionTarget::Session(over) => Ok(door.may_over(over, &named(parts).await).await?),
        ActionTarget::Link => {
            let named = stream_id(&named(parts).await);
            Ok(named.map_or(Ok(()), |id| door.reaches_link(&id))?)
        }
        ActionTarget::Thread => enter_thread(door, &named(parts).await),
        ActionTarget::Turn => {
            let named = named(parts).await;
            enter_thread(door, named.rsplit_once('.').map_or("", |(stream, _)| stream))
        }
    }
}

/// Whoever reaches everything is told by the handler what is wrong with an id.
fn enter_thread(door: &Door, id: &str) -> ApiResult<()> {
    let reached = match stream_id(id) {
        Some(stream) => door.reaches(&stream).is_ok(),
        None => door.caller().reach == Reach::All,
    };
    if reached { Ok(()) } else { Err(ApiError::no_thread(id)) }
}

/// What the path says at `{id}`, decoded as the handler will see it.
async fn named(parts: &mut Parts) -> String {
    let params = RawPathParams::from_request_parts(parts, &()).await.ok();
    let id =
        params.iter().flatten().find(|(name, _)| *name == "id").map(|(_, value)| value.to_owned());
    id.unwrap_or_default()
}

/// What an open stream is held by.
struct StreamGuard {
    /// The conversation that it shows, where it is one.
    thread: Option<StreamId>,
    /// Its place among the streams of its principal.
    streaming: Option<Streaming>,
}

/// A stream of events that ends when the credential behind it is worth nothing any more, or does
/// not reach the conversation any more.
fn leashed(
    response: Response,
    revocations: Revocations,
    app: &App,
    caller: Caller,
    leash: StreamGuard,
) -> Response {
    let (parts, body) = response.into_parts();
    let StreamGuard { thread, streaming } = leash;
    let (now, reach) = (app.entrance.now(), caller.reach.clone());
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
    let mut open = Some((body.into_data_stream(), Box::pin(lost), streaming));
    let events = stream::poll_fn(move |cx| {
        let Some((events, lost, _)) = &mut open else { return Poll::Ready(None) };
        if lost.as_mut().poll(cx).is_ready() {
            open = None;
            return Poll::Ready(Some(Ok(sse::signed_out())));
        }
        events.poll_next_unpin(cx)
    });
    Response::from_parts(parts, Body::from_stream(events))
}
