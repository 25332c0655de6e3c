//! The paths of all providers that the fake server imitates.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::reply::{Act, Reply};
use super::requests::ParsedRequest;
use super::wire::{Speech, Wire};
use super::{HandlerState, OpenAnswer, Request, echo, steps};

const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;
const MODELS: [&str; 3] = ["fake-small", "fake-large", "fake-slow"];

pub(super) fn routes(shared: Arc<HandlerState>) -> Router {
    Router::new()
        .route("/", get(|| async { "Fake models: Anthropic, OpenAI, Gemini and Ollama.\n" }))
        .route(
            "/v1/messages",
            post(|state, uri, headers, body| ask(Wire::Anthropic, state, uri, headers, body)),
        )
        .route("/v1/messages/count_tokens", post(count_anthropic))
        .route(
            "/v1/chat/completions",
            post(|state, uri, headers, body| ask(Wire::Chat, state, uri, headers, body)),
        )
        .route(
            "/v1/responses",
            post(|state, uri, headers, body| ask(Wire::Responses, state, uri, headers, body)),
        )
        .route("/v1/models", get(models))
        .route("/v1beta/models", get(gemini_models))
        .route("/v1beta/models/{call}", post(gemini))
        .route(
            "/api/chat",
            post(|state, uri, headers, body| ask(Wire::Ollama, state, uri, headers, body)),
        )
        .route("/api/tags", get(ollama_models))
        .fallback(|| async {
            (
                StatusCode::NOT_FOUND,
                Json(json!({"error": {"type": "not_found_error", "message": "no such path"}})),
            )
        })
        .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
        .with_state(shared)
}

fn json_of(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_default()
}

async fn ask(
    wire: Wire,
    State(shared): State<Arc<HandlerState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = json_of(&body);
    let asked = ParsedRequest::read(wire, &headers, &body);
    answer(wire, &shared, &uri, asked, body).await
}

/// Answers `models/{model}:{method}`, with the model in the path.
async fn gemini(
    state: State<Arc<HandlerState>>,
    Path(call): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = json_of(&body);
    let (model, method) = call.rsplit_once(':').unwrap_or((&call, "generateContent"));
    let asked = ParsedRequest {
        model: model.to_owned(),
        stream: method == "streamGenerateContent",
        ..ParsedRequest::read(Wire::Gemini, &headers, &body)
    };
    if method == "countTokens" {
        return Json(json!({"totalTokens": asked.chars.div_ceil(4)})).into_response();
    }
    answer(Wire::Gemini, &state.0, &uri, asked, body).await
}

async fn answer(
    wire: Wire,
    shared: &Arc<HandlerState>,
    uri: &Uri,
    asked: ParsedRequest,
    body: Value,
) -> Response {
    let ParsedRequest { model, key, stream, newest, .. } = asked.clone();
    let reply = match &asked.schema {
        Some(schema) => Some(Reply::text(&echo::fitting(schema).to_string())),
        None => shared.reply(&asked, &body),
    };
    let open = shared.open(Request { path: uri.to_string(), model, key, stream, newest, body });
    let reply = reply.unwrap_or_else(|| Reply::text(&echo::answer(&asked.model, &asked.newest)));
    if !reply.delay.is_zero() {
        tokio::time::sleep(reply.delay).await;
    }
    match &reply.act {
        Act::Hang => std::future::pending::<Response>().await,
        Act::Refuse { status, kind, retry_after, message } => {
            let body = wire.refusal(*status, kind.as_deref(), message);
            refuse(*status, retry_after.as_deref(), body)
        }
        Act::RefuseEndlessly => {
            (StatusCode::INTERNAL_SERVER_ERROR, steps::endless(open)).into_response()
        }
        Act::Page => page(),
        Act::Raw { content_type, pieces, then } => {
            ([(header::CONTENT_TYPE, *content_type)], steps::raw(pieces, *then, open))
                .into_response()
        }
        Act::Fail { kind, message, .. } if !asked.stream => {
            refuse(500, None, wire.refusal(500, Some(kind), message))
        }
        act => speak(wire, &asked, &reply, act, open),
    }
}

fn refuse(status: u16, retry_after: Option<&str>, body: Value) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (code, Json(body)).into_response();
    if let Some(value) = retry_after.and_then(|value| value.parse().ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

fn page() -> Response {
    let page = "<!doctype html>\n<html><head><title>Sign in</title></head>\n\n<body>Please sign in to the network.</body></html>\n";
    ([(header::CONTENT_TYPE, "text/html")], page).into_response()
}

fn speak(
    wire: Wire,
    asked: &ParsedRequest,
    reply: &Reply,
    act: &Act,
    open: OpenAnswer,
) -> Response {
    let text = match act {
        Act::Say(pieces) | Act::Stall(pieces) | Act::Break(pieces) | Act::End(pieces) => {
            pieces.concat()
        }
        Act::Endless(piece) => piece.clone(),
        Act::Call { before, .. } => before.clone(),
        _ => String::new(),
    };
    let call = match act {
        Act::Call { name, arguments, .. } => Some((name.clone(), arguments.clone())),
        Act::BreakInCall => Some(("weather".to_owned(), json!({"city": "Paris"}))),
        _ => None,
    };
    let tokens = reply.tokens(asked.chars, text.chars().count());
    let speech = Speech {
        model: reply.model.clone().unwrap_or_else(|| asked.model.clone()),
        tokens,
        text,
        call,
    };
    if asked.stream {
        let body = steps::body(wire, &speech, reply, open);
        ([(header::CONTENT_TYPE, wire.content_type())], body).into_response()
    } else {
        let whole = wire.whole(&speech).to_string();
        let body = match act {
            Act::Break(_) | Act::End(_) | Act::BreakInCall => steps::half(&whole, open),
            _ => Body::from(whole),
        };
        ([(header::CONTENT_TYPE, "application/json")], body).into_response()
    }
}

async fn count_anthropic(body: Bytes) -> Json<Value> {
    Json(json!({"input_tokens": json_of(&body).to_string().chars().count().div_ceil(4)}))
}

/// Lists the models. OpenAI and Anthropic use the same path, and this answer suits both.
async fn models() -> Json<Value> {
    let model = |id: &&str| {
        json!({
            "id": id, "object": "model", "type": "model", "display_name": id, "created": 0, "created_at": "1970-01-01T00:00:00Z",
            "owned_by": "fake",
        })
    };
    let all: Vec<Value> = MODELS.iter().map(model).collect();
    Json(
        json!({"object": "list", "data": all, "has_more": false, "first_id": MODELS[0], "last_id": MODELS[2]}),
    )
}

async fn gemini_models() -> Json<Value> {
    let model = |id: &&str| json!({"name": format!("models/{id}"), "supportedGenerationMethods": ["generateContent"]});
    Json(json!({"models": MODELS.iter().map(model).collect::<Vec<_>>()}))
}

async fn ollama_models() -> Json<Value> {
    let model = |id: &&str| json!({"name": id, "model": id, "size": 0});
    Json(json!({"models": MODELS.iter().map(model).collect::<Vec<_>>()}))
}
