//! Access control before the handlers: identifies the caller, and asks the door if the caller may
//! do what the route does.
//!
//! [`ROUTES`] has a row for each route and method, which names an [`Action`]. A route without a row
//! is rejected. The engine defines what an action needs and where it reaches (`door/action.rs`). It
//! is asked here, before a request's body is read, and again by the handler's own calls. Handlers
//! get the [`Caller`] as an extension of the request, and through [`crate::request`].

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

use super::observe::note_caller;
use super::{App, UnknownPeerRights};
use crate::error::{ApiError, ApiResult, Code, RefusalNote, reword_for_reader};
use crate::mcp;
use crate::next_steps::Reader;
use crate::peer::{Peer, UnknownPeer};
use crate::rates::StreamSlot;
use crate::request::{BodyMax, OPEN_BODY_BYTES_MAX, is_key, stream_id};
use crate::slots::ConnectionSlot;
use crate::sse;

/// A route and method, with the action that defines its needed rights and its reach.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The path, with names in braces for the parts that vary.
    pub path: &'static str,
    /// The method. `GET` includes `HEAD`.
    pub method: &'static str,
    /// The action of the door.
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

/// All routes except the page's own files.
pub const ROUTES: &[Route] = &[
    get("/ping", Action::CheckHealth),
    get("/healthz", Action::CheckHealth),
    // The path that MoltZap's clients use.
    get("/health", Action::CheckHealth),
    get("/metrics", Action::ReadMetrics),
    get("/openapi.json", Action::ReadDescription),
    get("/openrpc.json", Action::ReadDescription),
    post("/api/v1/auth/register", Action::RegisterAgent),
    post("/api/v1/auth/claim", Action::ClaimAgent),
    // The first call on the connection names the caller.
    get("/ws", Action::OpenConnection),
    get("/docs", Action::ReadDescription),
    get("/docs/", Action::ReadDescription),
    get("/docs/{*rest}", Action::ReadDescription),
    post("/session", Action::SignIn),
    get("/session", Action::AskWhoIAm),
    post("/session/end", Action::SignOut),
    post("/invitations/accept", Action::AcceptInvitation),
    post("/threads/{id}/invitations", Action::HandOutInvitation),
    post("/invitations", Action::CreateToken),
    get("/tokens", Action::ListTokens),
    post("/tokens", Action::CreateToken),
    post("/tokens/{id}/revoke", Action::RevokeToken),
    get("/channels", Action::ListChannels),
    post("/channels/{channel}/bots", Action::ManageChannels),
    delete("/channels/{channel}/bots/{agent}", Action::ManageChannels),
    post("/channels/{channel}/bots/{agent}/offer", Action::ManageChannels),
    post("/channels/{channel}/resume", Action::ManageChannels),
    post("/channels/{channel}/pairings", Action::PairAccount),
    get("/pairings", Action::PairAccount),
    delete("/pairings/{id}", Action::PairAccount),
    get("/computers", Action::ListComputers),
    post("/computers/invitations", Action::ManageComputers),
    post("/computers/join", Action::ManageComputers),
    post("/computers/resume", Action::ManageComputers),
    delete("/computers/{name}", Action::ManageComputers),
    get("/registrations", Action::ListRegistrations),
    post("/registrations/{agent}/revoke", Action::RevokeAgent),
    post("/registrations/{agent}/free", Action::FreeAgent),
    get("/apps", Action::ListApps),
    delete("/apps/{id}", Action::FreeApp),
    post("/apps/{id}/transfer", Action::TransferApp),
    post("/tasks", Action::BeginTaskFor),
    get("/audit", Action::ReadAudit),
    get("/usage", Action::ReadUsage),
    get("/guards", Action::ReadGuards),
    get("/states", Action::ReadStates),
    get("/needs", Action::ReadNeeds),
    post("/budgets/raise", Action::RaiseBudget),
    get("/agents", Action::ListAgents),
    get("/commands", Action::ListAgents),
    get("/start", Action::ListThreads),
    get("/threads", Action::ListThreads),
    post("/threads", Action::BeginThread),
    delete("/threads/{id}", Action::Delete),
    get("/events/stream", Action::ListenToAll),
    put("/events/stream/{id}", Action::ListenToAll),
    get("/search", Action::Search),
    get("/threads/{id}/events", Action::ReadThread),
    post("/threads/{id}/events", Action::Post),
    get("/threads/{id}/events/stream", Action::ReadThread),
    get("/threads/{id}/state", Action::ReadThread),
    get("/threads/{id}/presence", Action::ReadPresence),
    post("/threads/{id}/presence", Action::TellPresence),
    get("/threads/{id}/turns", Action::ListTurns),
    get("/threads/{id}/deliveries", Action::ReadThread),
    post("/threads/{id}/deliveries/{delivery}/again", Action::SendAgain),
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
    get("/folders", Action::ListFolders),
    get("/sessions/{id}", Action::ReadSession),
    get("/sessions/{id}/screen", Action::ReadScreen),
    get("/sessions/{id}/screen/stream", Action::ReadScreen),
    get("/sessions/{id}/data", Action::ReadSessionData),
    get("/sessions/{id}/attach", Action::Attach),
    post("/sessions/{id}/keys", Action::TypeKeys),
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
    // The thread is named in the body.
    post("/permissions/{id}/answer", Action::AnswerPermission),
    post(mcp::PATH, Action::CallTools),
];

/// The place where a credential was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    /// The request has no credential.
    Nothing,
    /// In the `Authorization` header.
    Header,
    /// In the cookie of a signed-in browser.
    Cookie,
}

/// The header that our page sends with writing requests. Forms and links cannot set it.
const OWN_HEADER: HeaderName = HeaderName::from_static("x-moothall");
/// Maximum length of a credential. A longer text cannot be one.
const CREDENTIAL_BYTES_MAX: usize = 256;

/// Returns the name of the cookie. It contains the port, because browsers share cookies between all
/// ports of a host.
pub fn cookie_name(port: u16) -> String {
    format!("moothall_{port}")
}

/// Passes a request on to its handler with the caller as an extension, or rejects it. A denial is
/// recorded. An event stream ends when its caller loses the credential or the thread. The page's
/// files and unknown paths need no credential, because a browser loads the page before it can sign
/// in.
pub async fn guard(app: &App, request: Request, next: Next) -> Response {
    let template = request.extensions().get::<MatchedPath>().cloned();
    let Some(template) = template.filter(|template| !app.page.contains(template.as_str())) else {
        return next.run(request).await;
    };
    // Listen before the credential is checked, so that a revocation in between is not missed.
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
            let slot = parts.extensions.get::<Arc<ConnectionSlot>>().cloned();
            let response = next.run(Request::from_parts(parts, body)).await;
            // On a route without a credential, success means that the key or code in the body was
            // valid.
            if let Some(slot) =
                slot.filter(|_| method == Method::POST && response.status().is_success())
            {
                slot.vouch();
            }
            (caller, streaming, response)
        }
        Err((caller, error)) => (caller, None, error.into_response()),
    };
    let mut response = reword_for_reader(response, Reader::over_http(&caller));
    note_caller(&mut response, &caller);
    if let Some(RefusalNote(briefly)) = response.extensions().get() {
        app.access.record_refusal(&caller, format!("{method} {template}: {briefly}")).await;
    }
    if sse::is_stream(&response) {
        end_with_credential(response, revocations, app, caller, StreamGuard { thread, streaming })
    } else {
        response
    }
}

/// Returns the thread in the path of a route, or `None` for a route outside of `/threads/{id}`.
async fn thread_of(template: &MatchedPath, parts: &mut Parts) -> Option<StreamId> {
    let names_one = template.as_str().starts_with("/threads/{id}");
    if names_one { stream_id(&named(parts).await) } else { None }
}

/// The end of the path of every route that answers with a stream.
const STREAM: &str = "/stream";

/// Admits on a spare connection slot only requests of operators, and short ones with
/// [`Need::Nothing`]. Counts a writing request against the caller's write rate, except a tool call
/// and a request with [`Need::Nothing`]. For a request for a stream, takes and returns one of the
/// caller's stream slots. Returns `None` for other routes.
fn charge(
    app: &App,
    caller: &Caller,
    parts: &Parts,
    template: &str,
) -> ApiResult<Option<StreamSlot>> {
    let row = row(template, &parts.method)?;
    let spare = parts.extensions.get::<Arc<ConnectionSlot>>().is_some_and(|slot| slot.is_spare());
    // A WebSocket would occupy a spare slot, which has to be free again after one answer.
    let is_short = row.action.need() == Need::Nothing && row.action != Action::OpenConnection;
    if spare && !is_short && caller.must_prove(Scope::ServerAdmin).is_err() {
        return Err(ApiError::plain(Code::NoSeats));
    }
    // The charge for a tool call depends on the tool.
    if row.method != "GET" && row.action.need() != Need::Nothing && row.path != mcp::PATH {
        let key = parts.headers.get("idempotency-key").and_then(|key| key.to_str().ok());
        let key = key.filter(|key| is_key(key));
        app.rates.write(caller, key)?;
    }
    if row.path.ends_with(STREAM) { app.rates.stream(caller).map(Some) } else { Ok(None) }
}

/// Returns the path under which [`ROUTES`] lists a route. The MCP route has two paths.
fn row_path(template: &str) -> &str {
    if template == mcp::PATH_WITH_SLASH { mcp::PATH } else { template }
}

/// Returns the rows of a path.
fn rows(template: &str) -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(move |row| row.path == template)
}

/// Returns the row of a request, or the error for an unknown path or method.
fn row(template: &str, method: &Method) -> ApiResult<&'static Route> {
    let asked = if method == Method::HEAD { "GET" } else { method.as_str() };
    let unknown =
        || if rows(template).next().is_none() { Code::NotFound } else { Code::MethodNotAllowed };
    rows(template).find(|row| row.method == asked).ok_or_else(|| ApiError::plain(unknown()))
}

/// Returns the caller of a request without a credential. The caller is marked as unseen, unless its
/// process belongs to the owner or the server does not distinguish users.
fn anonymous(app: &App, parts: &Parts) -> Caller {
    let seen = parts.extensions.get::<Peer>().is_some_and(|peer| *peer == Peer::Owner);
    if seen { app.access.anonymous() } else { app.access.anonymous().unseen() }
}

/// Returns the reason why the process owner is unknown, if the route therefore needs a credential.
/// Health checks and sign-in never do. With [`UnknownPeerRights::Converse`], no route does.
fn unknown_owner(app: &App, row: &Route, parts: &Parts) -> Option<UnknownPeer> {
    let Some(Peer::Unknown(why)) = parts.extensions.get() else { return None };
    let open = matches!(row.action, Action::CheckHealth | Action::SignIn);
    (app.unasked == UnknownPeerRights::SignIn && !open).then_some(*why)
}

/// Identifies the caller of a request, and checks what the route needs. An error comes with the
/// caller as far as known.
///
/// The caller and the place of the credential become extensions of an admitted request. With
/// [`Need::Nothing`], the route accepts only a small body, and the credential is not read unless
/// the process owner is unknown. Any other route marks the connection as a known caller's.
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
        (Need::Entry | Need::Scope(_) | Need::Proof(_), Some(slot)) => slot.vouch(),
        (Need::Entry | Need::Scope(_) | Need::Proof(_), None) => {}
    }
    parts.extensions.insert(caller.clone());
    parts.extensions.insert(via);
    Ok(caller)
}

/// Finds the caller by the credential in the headers. Returns `None` without a credential, and for
/// a cookie whose credential is not valid. An invalid `Authorization` header is an error.
/// Credentials in the URL are ignored.
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
    // Browsers continue to send expired cookies, so such a cookie counts as absent.
    Ok(None)
}

/// Returns the credential of the `Authorization` header, or `None` without that header. Rejects a
/// header that occurs twice, or does not read `Bearer …` with at most 256 bytes.
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

/// Checks a writing request with a cookie for the headers of our page.
fn check(row: &Route, via: CredentialSource, parts: &Parts) -> ApiResult<()> {
    if via == CredentialSource::Cookie && row.method != "GET" {
        check_page(&parts.headers)
    } else {
        Ok(())
    }
}

/// Rejects a request without the headers that only our page sends. Browsers attach the cookie to
/// any request, so the cookie alone is not enough. The value of `Origin` was checked before.
fn check_page(headers: &HeaderMap) -> ApiResult<()> {
    let own = headers.get(OWN_HEADER).is_some_and(|value| value == HeaderValue::from_static("1"));
    if own && headers.contains_key(header::ORIGIN) {
        return Ok(());
    }
    let message = "A request with a cookie needs the headers `X-Moothall: 1` and `Origin`. Programs send `Authorization: Bearer` instead.";
    Err(ApiError::forbidden(message, "with a cookie but without the page's headers"))
}

/// Checks that the door lets the caller perform the action on the target in the path.
async fn enter(door: &Door, action: Action, parts: &mut Parts) -> ApiResult<()> {
    door.may(action)?;
    match action.acts_on() {
        ActionTarget::Nowhere
        | ActionTarget::Reachable
        | ActionTarget::Everywhere
        | ActionTarget::Own
        | ActionTarget::Task => Ok(()),
        ActionTarget::Session(over) => {
            Ok(door.check_session_action(over, &named(parts).await).await?)
        }
        ActionTarget::Link => {
            let named = stream_id(&named(parts).await);
            // A malformed id passes here, and the handler reports it.
            let Some(id) = named else { return Ok(()) };
            Ok(door.reaches_link(&id).await?)
        }
        ActionTarget::Thread => enter_thread(door, &named(parts).await),
        ActionTarget::Turn => {
            let named = named(parts).await;
            enter_thread(door, named.rsplit_once('.').map_or("", |(stream, _)| stream))
        }
    }
}

/// Checks that the caller reaches a thread. With a malformed id, a caller who reaches all threads
/// passes, and the handler reports the id.
fn enter_thread(door: &Door, id: &str) -> ApiResult<()> {
    let reached = match stream_id(id) {
        Some(stream) => door.reaches(&stream).is_ok(),
        None => door.caller().reach == Reach::All,
    };
    if reached { Ok(()) } else { Err(ApiError::no_thread(id)) }
}

/// Returns the value of `{id}` in the path, decoded as the handler will see it.
async fn named(parts: &mut Parts) -> String {
    let params = RawPathParams::from_request_parts(parts, &()).await.ok();
    let id =
        params.iter().flatten().find(|(name, _)| *name == "id").map(|(_, value)| value.to_owned());
    id.unwrap_or_default()
}

/// The conditions under which a stream stays open.
struct StreamGuard {
    /// The thread of the stream, if it has one.
    thread: Option<StreamId>,
    /// The stream's slot among those of its principal.
    streaming: Option<StreamSlot>,
}

/// Wraps an event stream. The stream ends with `signed-out` if the caller's credential is revoked
/// or expires, if the calling session ends, or if the caller loses access to the thread.
fn end_with_credential(
    response: Response,
    revocations: Revocations,
    app: &App,
    caller: Caller,
    guard: StreamGuard,
) -> Response {
    let (parts, body) = response.into_parts();
    let StreamGuard { thread, streaming } = guard;
    let (now, reach) = (app.entrance.now(), caller.reach.clone());
    let lost = async move {
        let left = async {
            match &thread {
                Some(thread) => reach.wait_until_left(thread).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = revocations.wait_until_lost(caller, now) => {}
            () = left => {}
        }
    };
    let mut open = Some((body.into_data_stream(), Box::pin(lost), streaming));
    let events = stream::poll_fn(move |cx| {
        let Some((events, lost, _)) = &mut open else { return Poll::Ready(None) };
        // The loss is polled first, so that a caller without access gets no further event.
        if lost.as_mut().poll(cx).is_ready() {
            open = None;
            return Poll::Ready(Some(Ok(sse::signed_out())));
        }
        events.poll_next_unpin(cx)
    });
    Response::from_parts(parts, Body::from_stream(events))
}
