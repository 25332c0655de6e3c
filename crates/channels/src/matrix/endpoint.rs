//! The address at which the homeserver reaches the server: it sends transactions of events there,
//! and asks for accounts and rooms.
//!
//! It is a listener of its own. The homeserver often runs as another user of the computer, and in
//! local mode the server's own address answers nothing to that user. Each request here proves
//! itself by the registration's token.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post, put};
use axum::{Extension, Json, Router};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

use super::Matrix;
use super::names::Ghost;

/// Longest transaction, in bytes: 500 events of the largest permitted size.
const BODY_BYTES_MAX: usize = 64 << 20;
/// Most connections that have not shown the token.
const UNPROVEN_MAX: usize = 64;
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
    let routes = Router::new()
        .route("/_matrix/app/v1/transactions/{txn}", put(transaction))
        .route("/_matrix/app/v1/users/{user}", get(user))
        .route("/_matrix/app/v1/rooms/{alias}", get(room))
        .route("/_matrix/app/v1/ping", post(ping))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(matrix.clone(), prove))
        .with_state(matrix);
    accept(&listener, &routes).await;
}

/// Serves connections without end. Any program of the computer can open connections. So if
/// [`UNPROVEN_MAX`] have not shown the token, or if a connection cannot be accepted, the oldest of
/// these is closed. Connections that have shown the token stay.
async fn accept(listener: &TcpListener, routes: &Router) {
    let mut connections = JoinSet::new();
    let mut unproven: VecDeque<(ConnectionProof, AbortHandle)> = VecDeque::new();
    loop {
        // A `JoinSet` keeps the result of each finished task until it is joined.
        while connections.try_join_next().is_some() {}
        let accepted = listener.accept().await;
        unproven.retain(|(proof, task)| !proof.is_shown() && !task.is_finished());
        if (accepted.is_err() || unproven.len() >= UNPROVEN_MAX)
            && let Some((_, oldest)) = unproven.pop_front()
        {
            oldest.abort();
        }
        match accepted {
            Ok((stream, _)) => {
                let proof = ConnectionProof::default();
                let service =
                    TowerToHyperService::new(routes.clone().layer(Extension(proof.clone())));
                let task = connections.spawn(async move {
                    let served =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    if let Err(error) = served.await {
                        tracing::debug!(%error, "a connection of the homeserver failed");
                    }
                });
                unproven.push_back((proof, task));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection of the homeserver could not be accepted");
                tokio::time::sleep(BIND_PAUSE).await;
            }
        }
    }
}

/// A mark of a connection: a request on it showed the token of the registration.
#[derive(Clone, Default)]
struct ConnectionProof(Arc<AtomicBool>);

impl ConnectionProof {
    fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_shown(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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
    if let Some(proof) = request.extensions().get::<ConnectionProof>() {
        proof.note();
    }
    Ok(next.run(request).await)
}

fn of(matrix: &Weak<Matrix>) -> Result<Arc<Matrix>, Answer> {
    matrix.upgrade().ok_or_else(|| {
        refusal(StatusCode::SERVICE_UNAVAILABLE, "M_UNKNOWN", "The server is stopping.")
    })
}

/// Takes a transaction. If it cannot be stored now, the homeserver sends it again.
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

/// Answers the homeserver if an account of this server exists. The relay and the agents of the
/// registry exist, and the account is made before the answer.
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
