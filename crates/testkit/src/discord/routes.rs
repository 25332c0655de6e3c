//! The paths `/api/v10/…`, and the way of a call through faults to its answer.

use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::{ConnectInfo, FromRequestParts, Request, State, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Map, Value, json};

use super::checks::Body;
use super::faults::RestFault;
use super::journal::{CallResult, RestCall};
use super::limits::BucketState;
use super::refusal::RestRefusal;
use super::spec::{self, Proof, RouteSpec};
use super::{DiscordState, gateway};
use crate::connection::ConnectionHandle;

const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
const API: &str = "/api/v10";
const PAGE: &str = "<html>\r\n<head><title>error</title></head>\r\n<body>\r\n<center><h1>error</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n";

type DiscordRoutes =
    axum::extract::connect_info::IntoMakeServiceWithConnectInfo<Router, ConnectionHandle>;

/// A call whose route is known.
#[derive(Clone)]
pub(super) struct RouteCall {
    pub(super) spec: &'static RouteSpec,
    pub(super) ids: Vec<String>,
    pub(super) query: Map<String, Value>,
    pub(super) body: Body,
}

impl RouteCall {
    /// Returns an id of the path; 0 if it is not a number.
    pub(super) fn id(&self, number: usize) -> u64 {
        self.ids.get(number).and_then(|id| id.parse().ok()).unwrap_or_default()
    }

    fn into_record(self, bot: &str, outcome: CallResult) -> RestCall {
        let body = self.body.get("list").cloned().unwrap_or(Value::Object(self.body.clone()));
        let route = self.spec.name.to_owned();
        RestCall { bot: bot.to_owned(), route, ids: self.ids, body, outcome }
    }
}

/// A call and the one who makes it.
struct PendingRouteCall {
    shared: Arc<DiscordState>,
    connection: ConnectionHandle,
    /// The bot with its name; 0 for a token in the path.
    bot: (u64, String),
    call: RouteCall,
}

pub(super) fn routes(shared: Arc<DiscordState>) -> DiscordRoutes {
    let router = Router::new().fallback(answer).with_state(shared);
    router.into_make_service_with_connect_info::<ConnectionHandle>()
}

async fn answer(
    State(shared): State<Arc<DiscordState>>,
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request,
) -> Response {
    let (mut parts, body) = request.into_parts();
    if !parts.uri.path().starts_with("/api") {
        return match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
            Ok(upgrade) => gateway::accept(upgrade, shared, connection),
            Err(refusal) => refusal.into_response(),
        };
    }
    let bytes = to_bytes(body, BODY_BYTES_MAX).await.unwrap_or_default();
    let path = parts.uri.path().strip_prefix(API).unwrap_or_default();
    let Some((spec, ids)) = spec::find(parts.method.as_str(), path) else {
        return refuse(&RestRefusal::no_route());
    };
    let ids = ids.into_iter().map(str::to_owned).collect();
    let query = pairs(parts.uri.query().unwrap_or_default());
    let call = RouteCall { spec, ids, query, body: Body::new() };
    let found = find_bot(&shared, spec, &parts.headers);
    let read = found.and_then(|bot| Ok((bot, read(spec, &parts.headers, &bytes)?)));
    match read {
        Ok((bot, body)) => {
            PendingRouteCall { shared, connection, bot, call: RouteCall { body, ..call } }
                .answer()
                .await
        }
        Err(refusal) => {
            let record = call.into_record("", outcome(&refusal));
            shared.change(|world| world.journal.push(record));
            refuse(&refusal)
        }
    }
}

/// Returns the bot whose token a call has.
fn find_bot(
    shared: &DiscordState,
    spec: &RouteSpec,
    headers: &HeaderMap,
) -> Result<(u64, String), RestRefusal> {
    if spec.proof == Proof::Path {
        return Ok((0, String::new()));
    }
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = given.and_then(|value| value.strip_prefix("Bot ")).unwrap_or_default();
    let world = shared.world();
    let mut bots = world.bots.values();
    let found = bots.find(|state| state.bot.token == token && !state.is_revoked);
    let found = found.map(|state| (state.bot.id, state.bot.name.clone()));
    found.ok_or_else(RestRefusal::unauthorized)
}

/// Reads a body of JSON.
fn read(spec: &RouteSpec, headers: &HeaderMap, bytes: &Bytes) -> Result<Body, RestRefusal> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if bytes.is_empty() || !spec.takes_body() {
        return Ok(Body::new());
    }
    if !kind.is_some_and(|kind| kind.starts_with("application/json")) {
        let message = "Expected \"Content-Type\" header to be one of {'application/json'}.";
        return Err(RestRefusal::new(400, 50_035, message));
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(Value::Array(list)) => Ok(Body::from_iter([("list".to_owned(), Value::Array(list))])),
        _ => Err(RestRefusal::new(400, 50_109, "The request body contains invalid JSON.")),
    }
}

impl PendingRouteCall {
    async fn answer(mut self) -> Response {
        let fault = self.shared.change(|world| world.faults.take(self.call.spec.name));
        if let Some(RestFault::Hold(gate)) = &fault {
            self.shared.change(|world| world.held += 1);
            gate.pass().await;
        }
        if let Some(response) = fault.as_ref().and_then(|fault| self.prevent(fault)) {
            return response;
        }
        let bucket = self.count();
        if bucket.as_ref().is_some_and(|bucket| bucket.is_over) {
            let after = bucket.as_ref().map(|bucket| bucket.reset_after).unwrap_or_default();
            self.note(CallResult::Loss);
            return limited(after, "user", bucket.as_ref());
        }
        let is_silent = matches!(fault, Some(RestFault::ResetAfter | RestFault::BadGatewayAfter));
        let result = self.run(is_silent);
        match fault {
            Some(RestFault::HoldAnswer(gate)) => gate.pass().await,
            Some(RestFault::BadGatewayAfter) => return bad_gateway(),
            Some(RestFault::UnreadableAnswer) => return "It is done.".into_response(),
            Some(RestFault::ResetAfter) => {
                self.connection.reset();
                return StatusCode::OK.into_response();
            }
            _ => {}
        }
        let response = match result {
            Ok(Value::Null) => StatusCode::NO_CONTENT.into_response(),
            Ok(result) => Json(result).into_response(),
            Err(refusal) => refuse(&refusal),
        };
        with_headers(response, bucket.as_ref().map(BucketState::headers).unwrap_or_default())
    }

    /// Returns the response of a fault that keeps the call from being done.
    fn prevent(&self, fault: &RestFault) -> Option<Response> {
        let response = match fault {
            RestFault::Drop => {
                self.connection.close();
                StatusCode::OK.into_response()
            }
            RestFault::BadGateway => bad_gateway(),
            RestFault::TooMany(after) => limited(*after, "user", None),
            RestFault::TooManyEverywhere(after) => limited(*after, "global", None),
            RestFault::Banned(after) => {
                let page = (StatusCode::TOO_MANY_REQUESTS, PAGE).into_response();
                with_headers(page, vec![("retry-after", after.to_string())])
            }
            RestFault::Refuse(status, code, message) => {
                let refusal = RestRefusal::new(*status, *code, message);
                self.note(outcome(&refusal));
                return Some(refuse(&refusal));
            }
            _ => return None,
        };
        self.note(CallResult::Loss);
        Some(response)
    }

    /// Counts the call against the rates. Channels and webhooks have buckets of their own.
    fn count(&self) -> Option<BucketState> {
        let major = self.call.ids.first().map(String::as_str).unwrap_or_default();
        let bucket = format!("{}:{}:{major}", self.bot.0, self.call.spec.name);
        self.shared.world().limits.count(&bucket)
    }

    /// Does the call and records it in one step, so that a test never sees one without the other.
    fn run(&mut self, is_silent: bool) -> Result<Value, RestRefusal> {
        let Self { shared, call, bot, .. } = self;
        shared.change(|world| {
            let checked = call.spec.check(&call.query, &mut call.body, world.is_lenient);
            let result = checked.and_then(|()| world.run(bot.0, call));
            let outcome = match &result {
                Ok(result) if is_silent => CallResult::Silence(result.clone()),
                Ok(result) => CallResult::Success(result.clone()),
                Err(refusal) => outcome(refusal),
            };
            world.journal.push(call.clone().into_record(&bot.1, outcome));
            result
        })
    }

    fn note(&self, outcome: CallResult) {
        let record = self.call.clone().into_record(&self.bot.1, outcome);
        self.shared.change(|world| world.journal.push(record));
    }
}

fn outcome(refusal: &RestRefusal) -> CallResult {
    CallResult::Refusal { status: refusal.status, code: refusal.code(), message: refusal.message() }
}

/// Returns the names and values of a query. The values that callers send are plain.
fn pairs(query: &str) -> Map<String, Value> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.into())).collect()
}

fn bad_gateway() -> Response {
    (StatusCode::BAD_GATEWAY, [(header::CONTENT_TYPE, "text/html")], PAGE).into_response()
}

/// Returns the response to one call too many.
fn limited(after: f64, scope: &'static str, bucket: Option<&BucketState>) -> Response {
    let is_global = scope == "global";
    let body = json!({
        "message": "You are being rate limited.", "retry_after": after, "global": is_global,
    });
    let response = (StatusCode::TOO_MANY_REQUESTS, Json(body)).into_response();
    let mut headers = vec![
        ("retry-after", format!("{:.0}", after.ceil())),
        ("x-ratelimit-scope", scope.to_owned()),
    ];
    if is_global {
        headers.push(("x-ratelimit-global", "true".to_owned()));
    }
    // Without a state of rates the bucket is one that this call alone knows.
    let state =
        BucketState { bucket: "fault".to_owned(), remaining: 0, reset_after: after, is_over: true };
    headers.extend(bucket.unwrap_or(&state).headers());
    with_headers(response, headers)
}

fn with_headers(mut response: Response, headers: Vec<(&'static str, String)>) -> Response {
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

fn refuse(refusal: &RestRefusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    (status, Json(refusal.body.clone())).into_response()
}
