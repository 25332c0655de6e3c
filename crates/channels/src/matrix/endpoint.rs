//! The address at which the homeserver reaches the server: it sends transactions of events there,
//! and asks for accounts and rooms.
//!
//! It is a listener of its own. The homeserver often runs as another user of the computer, to whom
//! the server's own address answers nothing in local mode, and each request here proves itself by
//! the registration's token.

use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::Matrix;
use super::names::Ghost;

/// Longest transaction, in bytes: 500 events of the largest permitted size.
const BODY_BYTES_MAX: usize = 64 << 20;
/// Pause before a listener is made again that could not be made.
const BIND_PAUSE: Duration = Duration::from_secs(1);

type Answer = (StatusCode, Json<Value>);

/// Serves the homeserver until the channel is closed.
pub(super) async fn listen(matrix: Weak<Matrix>, bind: String) {
    let listener = loop {
        match TcpListener::bind(&bind).await {
            Ok(listener) => break listener,
            Err(error) => tracing::error!(bind, %error, "there is no address for the homeserver"),
        }
        tokio::time::sleep(BIND_PAUSE).await;
    };
    let router = Router::new()
        .route("/_matrix/app/v1/transactions/{txn}", put(transaction))
        .route("/_matrix/app/v1/users/{user}", get(user))
        .route("/_matrix/app/v1/rooms/{alias}", get(room))
        .route("/_matrix/app/v1/ping", post(ping))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(matrix.clone(), prove))
        .with_state(matrix);
    if let Err(error) = axum::serve(listener, router).await {
        tracing::error!(bind, %error, "the listener for the homeserver ended");
    }
}

fn refusal(status: StatusCode, code: &str, text: &str) -> Answer {
    (status, Json(json!({"errcode": code, "error": text})))
}

fn done() -> Answer {
    (StatusCode::OK, Json(json!({})))
}

/// Refuses a request without the token of the registration.
async fn prove(
    State(matrix): State<Weak<Matrix>>,
    request: Request,
    next: Next,
) -> Result<Response, Answer> {
    let open = of(&matrix)?;
    let bearer = request.headers().get(header::AUTHORIZATION).and_then(|text| text.to_str().ok());
    let bearer = bearer.and_then(|text| text.strip_prefix("Bearer ")).unwrap_or_default();
    // Hashes compare in constant time, and tell nothing of the token.
    if blake3::hash(bearer.as_bytes()) != blake3::hash(open.registration.hs_token.as_bytes()) {
        return Err(refusal(
            StatusCode::FORBIDDEN,
            "M_FORBIDDEN",
            "The token is not the hs_token of this server's registration.",
        ));
    }
    drop(open);
    Ok(next.run(request).await)
}

fn of(matrix: &Weak<Matrix>) -> Result<Arc<Matrix>, Answer> {
    matrix.upgrade().ok_or_else(|| {
        refusal(StatusCode::SERVICE_UNAVAILABLE, "M_UNKNOWN", "The server is stopping.")
    })
}

/// Takes a transaction. One that cannot be stored now is sent again by the homeserver.
async fn transaction(
    State(matrix): State<Weak<Matrix>>,
    Path(txn): Path<String>,
    Json(mut body): Json<Value>,
) -> Result<Answer, Answer> {
    let events = match body["events"].take() {
        Value::Array(events) => events,
        _ => return Err(refusal(StatusCode::BAD_REQUEST, "M_BAD_JSON", "There are no events.")),
    };
    match of(&matrix)?.take_transaction(&txn, &events).await {
        Ok(()) => Ok(done()),
        Err(again) => {
            tracing::warn!(txn, why = again.why, "a transaction waits to be stored");
            Err(refusal(StatusCode::SERVICE_UNAVAILABLE, "M_UNKNOWN", "Send it again later."))
        }
    }
}

/// Answers if an account of the server exists, and makes an agent's first.
async fn user(
    State(matrix): State<Weak<Matrix>>,
    Path(user): Path<String>,
) -> Result<Answer, Answer> {
    let open = of(&matrix)?;
    let domain = open.health.domain().unwrap_or_default();
    let ghost = Ghost::of(&user, &domain).filter(|ghost| open.is_known(ghost));
    match ghost {
        Some(ghost) if open.prepare(&ghost).await.is_ok() => Ok(done()),
        _ => Err(refusal(StatusCode::NOT_FOUND, "M_NOT_FOUND", "There is no such agent.")),
    }
}

/// Makes the room of a conversation, if the alias names one.
async fn room(
    State(matrix): State<Weak<Matrix>>,
    Path(alias): Path<String>,
) -> Result<Answer, Answer> {
    match of(&matrix)?.open_alias(&alias).await {
        Ok(true) => Ok(done()),
        Ok(false) => {
            Err(refusal(StatusCode::NOT_FOUND, "M_NOT_FOUND", "There is no such conversation."))
        }
        Err(why) => Err(refusal(StatusCode::SERVICE_UNAVAILABLE, "M_UNKNOWN", &why)),
    }
}

async fn ping(State(matrix): State<Weak<Matrix>>) -> Result<Answer, Answer> {
    of(&matrix).map(|_| done())
}
