//! The paths of the client-server API that an application service uses.

use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::world::{HomeserverFault, HomeserverRefusal, HomeserverWorld, is_ghost};
use super::{AS_TOKEN, DOMAIN, HomeserverState};
use crate::connection::ConnectionHandle;

const BODY_BYTES_MAX: usize = 1 << 20;

type HomeserverRoutes =
    axum::extract::connect_info::IntoMakeServiceWithConnectInfo<Router, ConnectionHandle>;

/// A call of the service.
struct Call {
    method: String,
    /// The segments of the path behind `/_matrix/client/`.
    path: Vec<String>,
    /// The whole path, by which transactions are known.
    whole: String,
    user: String,
    body: Value,
}

pub(super) fn routes(shared: Arc<HomeserverState>) -> HomeserverRoutes {
    let router = Router::new().fallback(answer).with_state(shared);
    router.into_make_service_with_connect_info::<ConnectionHandle>()
}

async fn answer(
    State(shared): State<Arc<HomeserverState>>,
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, BODY_BYTES_MAX).await.unwrap_or_default();
    let authorization = parts.headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
    if authorization != Some(format!("Bearer {AS_TOKEN}").as_str()) {
        return refuse(&HomeserverRefusal::new(
            StatusCode::UNAUTHORIZED,
            "M_UNKNOWN_TOKEN",
            "The token is unknown.",
        ));
    }
    if shared.world().is_away {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    let Some(call) = read(parts.method.as_str(), parts.uri.path(), parts.uri.query(), &bytes)
    else {
        return refuse(&HomeserverRefusal::new(
            StatusCode::BAD_REQUEST,
            "M_NOT_JSON",
            "That is not JSON.",
        ));
    };
    let is_send = call.path.get(3).is_some_and(|word| word == "send");
    if let Some(txn) = call.path.last().filter(|_| is_send) {
        shared.change(|world| world.newest_txn.clone_from(txn));
    }
    let fault = shared.change(|world| if is_send { world.faults.pop_front() } else { None });
    match &fault {
        Some(HomeserverFault::ResetBefore) => {
            connection.reset();
            return StatusCode::OK.into_response();
        }
        Some(HomeserverFault::Vanish { sent }) => {
            shared.change(|world| {
                if *sent {
                    let _ = world.answer(&call);
                }
                world.is_away = true;
            });
            connection.reset();
            return StatusCode::OK.into_response();
        }
        Some(HomeserverFault::TooMany(millis)) => {
            let body = json!({"errcode": "M_LIMIT_EXCEEDED", "error": "Too many requests",
                "retry_after_ms": millis});
            return refuse(&HomeserverRefusal { status: StatusCode::TOO_MANY_REQUESTS, body });
        }
        Some(HomeserverFault::Refuse(code)) => {
            return refuse(&HomeserverRefusal::new(StatusCode::FORBIDDEN, code, "It is refused."));
        }
        _ => {}
    }
    let result = shared.change(|world| world.answer(&call));
    match fault {
        Some(HomeserverFault::ResetAfter) => {
            connection.reset();
            StatusCode::OK.into_response()
        }
        Some(HomeserverFault::BadGatewayAfter) => StatusCode::BAD_GATEWAY.into_response(),
        _ => match result {
            Ok(body) => Json(body).into_response(),
            Err(refusal) => refuse(&refusal),
        },
    }
}

fn refuse(refusal: &HomeserverRefusal) -> Response {
    (refusal.status, Json(refusal.body.clone())).into_response()
}

/// Reads a call; `None` if its body is not JSON.
fn read(method: &str, path: &str, query: Option<&str>, bytes: &Bytes) -> Option<Call> {
    let inner = path.strip_prefix("/_matrix/client/").unwrap_or_default();
    let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let user = pairs.filter(|(key, _)| *key == "user_id").map(|(_, value)| decoded(value)).next();
    let body = if bytes.is_empty() { json!({}) } else { serde_json::from_slice(bytes).ok()? };
    Some(Call {
        method: method.to_owned(),
        path: inner.split('/').map(decoded).collect(),
        whole: path.to_owned(),
        user: user.unwrap_or_else(|| format!("@moothall:{DOMAIN}")),
        body,
    })
}

/// Returns a segment of a path without its percent signs.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        let hex = behind.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl HomeserverWorld {
    fn answer(&mut self, call: &Call) -> Result<Value, HomeserverRefusal> {
        let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
        let (user, body) = (call.user.as_str(), &call.body);
        if !is_ghost(user) {
            return Err(HomeserverRefusal::forbidden("The service may not speak as this user."));
        }
        if !self.users.contains(user) && user != format!("@moothall:{DOMAIN}") {
            return Err(HomeserverRefusal::forbidden("The service has not registered this user."));
        }
        match (call.method.as_str(), path.as_slice()) {
            ("GET", ["v3", "account", "whoami"]) => Ok(json!({"user_id": user})),
            ("POST", ["v1", "appservice", _, "ping"]) => Ok(json!({"duration_ms": 1})),
            ("POST", ["v3", "register"]) => self.register(body),
            ("PUT", ["v3", "profile", of, "displayname"]) if *of == user => {
                self.names.insert(user.to_owned(), body["displayname"].to_string());
                Ok(json!({}))
            }
            ("POST", ["v3", "join", room]) => self.join(room, user).map(|()| json!({})),
            ("POST", ["v3", "createRoom"]) => self.create(user, body),
            ("GET", ["v3", "user", of, "account_data", kind]) if *of == user => {
                let kept = self.kept.get(&(user.to_owned(), (*kind).to_owned()));
                kept.cloned().ok_or_else(|| HomeserverRefusal::missing("Nothing is kept."))
            }
            ("PUT", ["v3", "user", of, "account_data", kind]) if *of == user => {
                self.kept.insert((user.to_owned(), (*kind).to_owned()), body.clone());
                Ok(json!({}))
            }
            (method, ["v3", "rooms", room, rest @ ..]) => {
                self.answer_in_room(call, method, room, rest)
            }
            _ => Err(HomeserverRefusal::new(
                StatusCode::NOT_FOUND,
                "M_UNRECOGNIZED",
                "Unknown request.",
            )),
        }
    }

    fn answer_in_room(
        &mut self,
        call: &Call,
        method: &str,
        room: &str,
        rest: &[&str],
    ) -> Result<Value, HomeserverRefusal> {
        let (user, body) = (call.user.as_str(), &call.body);
        let is_leave = rest == ["leave"];
        if !is_leave && !self.room(room)?.is_in(user) {
            return Err(HomeserverRefusal::forbidden("You are not in this room."));
        }
        match (method, rest) {
            ("POST", ["leave"]) => {
                self.room(room)?;
                self.set_member(room, user, user, "leave", json!({}));
                Ok(json!({}))
            }
            ("POST", ["invite"]) => {
                let invited = body["user_id"].as_str().unwrap_or_default();
                self.invite(room, user, invited, false).map(|()| json!({}))
            }
            ("GET", ["joined_members"]) => {
                let members = &self.room(room)?.members;
                let joined = members.iter().filter(|(_, it)| *it == "join");
                let joined: serde_json::Map<String, Value> =
                    joined.map(|(user, _)| (user.clone(), json!({}))).collect();
                Ok(json!({"joined": joined}))
            }
            ("GET", ["state", "m.room.member", of]) => {
                let membership = self.room(room)?.members.get(*of);
                let membership =
                    membership.ok_or_else(|| HomeserverRefusal::missing("No such member."))?;
                Ok(json!({"membership": membership}))
            }
            ("GET", ["state", kind, ""]) => {
                let content = self.room(room)?.state.get(*kind);
                content.cloned().ok_or_else(|| HomeserverRefusal::missing("No such state."))
            }
            ("GET", ["event", id]) => {
                let mut events = self.room(room)?.events.iter();
                let event = events.find(|event| event["event_id"] == *id);
                event.cloned().ok_or_else(|| HomeserverRefusal::missing("No such event."))
            }
            ("GET", ["messages"]) => {
                let events: Vec<&Value> = self.room(room)?.events.iter().rev().collect();
                Ok(json!({"chunk": events}))
            }
            ("PUT", ["send", kind, _]) => {
                if let Some(id) = self.sent.get(&call.whole) {
                    return Ok(json!({"event_id": id}));
                }
                let id = self.send(room, user, kind, body)?;
                self.sent.insert(call.whole.clone(), id.clone());
                Ok(json!({"event_id": id}))
            }
            ("PUT", ["redact", target, _]) => self.redact(room, user, target).map(|()| json!({})),
            ("PUT", ["typing", of]) if *of == user => {
                self.typing.push(user.to_owned());
                Ok(json!({}))
            }
            _ => Err(HomeserverRefusal::new(
                StatusCode::NOT_FOUND,
                "M_UNRECOGNIZED",
                "Unknown request.",
            )),
        }
    }

    fn register(&mut self, body: &Value) -> Result<Value, HomeserverRefusal> {
        let user = format!("@{}:{DOMAIN}", body["username"].as_str().unwrap_or_default());
        if body["type"] != "m.login.application_service" || !is_ghost(&user) {
            return Err(HomeserverRefusal::new(
                StatusCode::BAD_REQUEST,
                "M_EXCLUSIVE",
                "This name is not in the namespace of the service.",
            ));
        }
        match self.users.insert(user.clone()) {
            true => Ok(json!({"user_id": user})),
            false => Err(HomeserverRefusal::new(
                StatusCode::BAD_REQUEST,
                "M_USER_IN_USE",
                "The name is taken.",
            )),
        }
    }

    fn create(&mut self, user: &str, body: &Value) -> Result<Value, HomeserverRefusal> {
        let room = self.make_room(user, json!({}));
        let is_direct = body["is_direct"] == true;
        for invited in body["invite"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.invite(&room, user, invited, is_direct)?;
        }
        Ok(json!({"room_id": room}))
    }
}
