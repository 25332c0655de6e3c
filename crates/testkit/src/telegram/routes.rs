//! The paths `/bot<token>/<method>`, and the way of a call through faults to its answer.

use std::sync::Arc;
use std::time::Instant;

use axum::body::{Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::faults::{TelegramFault, make_odd};
use super::journal::{BotCall, CallOutcome};
use super::refusal::Refusal;
use super::sending::Params;
use super::spec::{self, MethodSpec};
use super::{ServerState, polling};
use crate::connection::ConnectionHandle;

const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
const PAGE: &str = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n";

type Routes = axum::extract::connect_info::IntoMakeServiceWithConnectInfo<Router, ConnectionHandle>;

/// A call whose bot and method are known.
struct PendingCall {
    shared: Arc<ServerState>,
    connection: ConnectionHandle,
    bot: i64,
    username: String,
    spec: &'static MethodSpec,
    method: String,
    params: Params,
}

pub(super) fn routes(shared: Arc<ServerState>) -> Routes {
    let router = Router::new().fallback(answer).with_state(shared);
    router.into_make_service_with_connect_info::<ConnectionHandle>()
}

async fn answer(
    State(shared): State<Arc<ServerState>>,
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, BODY_BYTES_MAX).await.unwrap_or_default();
    let query = parts.uri.query().unwrap_or_default();
    let (token, method) = split(parts.uri.path());
    let found = find(&shared, token, method);
    let params = match &found {
        Ok((_, _, spec)) => read(spec, &parts.headers, query, &bytes),
        Err(refusal) => Err(refusal.clone()),
    };
    let (bot, username, spec, params) = match (found, params) {
        (Ok((bot, username, spec)), Ok(params)) => (bot, username, spec, params),
        (found, Err(refusal)) => {
            let bot = found.map(|(_, username, _)| username).unwrap_or_default();
            let body = serde_json::from_slice(&bytes).unwrap_or_default();
            record(
                &shared,
                BotCall {
                    bot,
                    method: method.to_owned(),
                    body,
                    outcome: outcome(&refusal),
                    at: Instant::now(),
                },
            );
            return refuse(&refusal);
        }
        (Err(refusal), Ok(_)) => return refuse(&refusal),
    };
    let method = method.to_owned();
    PendingCall { shared, connection, bot, username, spec, method, params }.answer().await
}

impl PendingCall {
    async fn answer(mut self) -> Response {
        let fault = self.shared.change(|world| world.faults.take(self.bot, &self.method));
        match &fault {
            Some(TelegramFault::Hold(gate)) => {
                self.shared.change(|world| world.held += 1);
                gate.pass().await;
            }
            Some(TelegramFault::Delay(time)) => tokio::time::sleep(*time).await,
            _ => {}
        }
        if let Some(response) = fault.as_ref().and_then(|fault| self.prevent(fault)) {
            return response;
        }
        let is_silent =
            matches!(fault, Some(TelegramFault::ResetAfter | TelegramFault::BadGatewayAfter));
        let result = self.run(is_silent, fault.as_ref()).await;
        match fault {
            Some(TelegramFault::HoldAnswer(gate)) => gate.pass().await,
            Some(TelegramFault::BadGatewayAfter) => return bad_gateway(),
            Some(TelegramFault::UnreadableAnswer) => return "It is done.".into_response(),
            Some(TelegramFault::ResetAfter) => {
                self.connection.reset();
                return StatusCode::OK.into_response();
            }
            _ => {}
        }
        match result {
            Ok(result) => Json(json!({"ok": true, "result": result})).into_response(),
            Err(refusal) => refuse(&refusal),
        }
    }

    /// Returns the response of a fault that keeps the call from being done.
    fn prevent(&self, fault: &TelegramFault) -> Option<Response> {
        let refusal = match fault {
            TelegramFault::Drop => {
                self.note(CallOutcome::Loss);
                self.connection.close();
                return Some(StatusCode::OK.into_response());
            }
            TelegramFault::BadGateway => {
                self.note(CallOutcome::Loss);
                return Some(bad_gateway());
            }
            TelegramFault::TooMany(retry_after) => Refusal::too_many(retry_after.clone()),
            TelegramFault::Refuse(code, description) => Refusal::new(*code, description),
            TelegramFault::Conflict => Refusal::conflict(
                "terminated by other getUpdates request; make sure that only one bot instance is running",
            ),
            _ => return None,
        };
        self.note(outcome(&refusal));
        Some(refuse(&refusal))
    }

    /// Does the call and records it in one step, so that a test never sees one without the other.
    async fn run(
        &mut self,
        is_silent: bool,
        fault: Option<&TelegramFault>,
    ) -> Result<Value, Refusal> {
        let is_lenient = self.shared.world().is_lenient;
        if let Err(refusal) = self.spec.check(&mut self.params, is_lenient) {
            self.note(outcome(&refusal));
            return Err(refusal);
        }
        let is_poll = self.spec.name == "getUpdates";
        let polled = if is_poll {
            Some(polling::poll(&self.shared, self.bot, &self.params).await)
        } else {
            None
        };
        self.shared.change(|world| {
            let result =
                polled.unwrap_or_else(|| world.run(self.bot, self.spec.name, &self.params));
            let result = result.map(|mut result| {
                match (fault, result.as_object_mut()) {
                    (Some(TelegramFault::OddAnswer), _) => make_odd(&mut result),
                    (Some(TelegramFault::OldAnswer(field)), Some(object)) => {
                        object.remove(field);
                    }
                    _ => {}
                }
                result
            });
            let outcome = match &result {
                Ok(result) if is_silent => CallOutcome::Silence(result.clone()),
                Ok(result) => CallOutcome::Success(result.clone()),
                Err(refusal) => outcome(refusal),
            };
            world.journal.push(self.call(outcome));
            result
        })
    }

    fn call(&self, outcome: CallOutcome) -> BotCall {
        BotCall {
            bot: self.username.clone(),
            method: self.method.clone(),
            body: Value::Object(self.params.clone()),
            outcome,
            at: Instant::now(),
        }
    }

    fn note(&self, outcome: CallOutcome) {
        record(&self.shared, self.call(outcome));
    }
}

fn record(shared: &ServerState, call: BotCall) {
    shared.change(|world| world.journal.push(call));
}

fn outcome(refusal: &Refusal) -> CallOutcome {
    CallOutcome::Refusal { code: refusal.code, description: refusal.description.clone() }
}

/// Returns the token and the method of a path.
fn split(path: &str) -> (&str, &str) {
    path.strip_prefix("/bot").and_then(|rest| rest.split_once('/')).unwrap_or_default()
}

/// Returns the bot's number and name, and the method.
fn find(
    shared: &ServerState,
    token: &str,
    method: &str,
) -> Result<(i64, String, &'static MethodSpec), Refusal> {
    let is_token = token.split_once(':').is_some_and(|(id, key)| {
        !key.is_empty() && !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
    });
    if !is_token {
        return Err(Refusal::new(404, "Not Found"));
    }
    let world = shared.world();
    let Some(state) = world.bots.iter().find(|state| state.bot.token == token) else {
        return Err(Refusal::new(401, "Unauthorized"));
    };
    let is_there = |spec: &&MethodSpec| !state.hidden.iter().any(|hidden| hidden == spec.name);
    let Some(spec) = spec::method(method).filter(is_there) else {
        return Err(Refusal::new(404, "Not Found: method not found"));
    };
    Ok((state.bot.id, state.bot.username.clone(), spec))
}

/// Reads the parameters from the query and from a body of JSON or of a form.
fn read(
    spec: &MethodSpec,
    headers: &HeaderMap,
    query: &str,
    bytes: &Bytes,
) -> Result<Params, Refusal> {
    let mut params = spec.typed(pairs(query));
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default();
    if bytes.is_empty() {
        return Ok(params);
    }
    if kind.starts_with("application/json") {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(body)) => params.extend(body),
            _ => return Err(Refusal::bad("can't parse JSON object")),
        }
    } else if kind.starts_with("application/x-www-form-urlencoded") {
        params.extend(spec.typed(pairs(&String::from_utf8_lossy(bytes))));
    } else {
        return Err(Refusal::bad("the fake reads JSON and forms without files only"));
    }
    Ok(params)
}

/// Returns the names and values of a form.
fn pairs(form: &str) -> Vec<(String, String)> {
    let pairs = form.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

/// Decodes `+` and `%XX`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let escaped = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match (first, escaped) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            (byte, _) => bytes.push(*byte),
        }
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn bad_gateway() -> Response {
    (StatusCode::BAD_GATEWAY, [(header::CONTENT_TYPE, "text/html")], PAGE).into_response()
}

fn refuse(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.code).unwrap_or(StatusCode::BAD_REQUEST);
    (status, Json(refusal.body())).into_response()
}
