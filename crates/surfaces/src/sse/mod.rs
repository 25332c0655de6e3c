//! Server-sent events: frames, keep-alives, and what ends a stream.
//!
//! What a stream says comes from the door: a thread's from its reader, the hall's from its changes,
//! a terminal's from who watches it. Here it becomes bytes. The next piece is made only when the
//! connection can take one; a reader that has fallen too far behind is told to `resync` and cut,
//! and can go on where it was.

pub mod frames;
mod hall;
mod thread;
mod screen;
mod silence;

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use serde::Serialize;
use tokio::sync::watch;

pub(crate) use hall::changes;
pub(crate) use screen::screens;
pub(crate) use thread::events;

/// How long a stream may be silent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A stream as an answer.
pub fn answer(stream: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let body = Body::from_stream(futures_util::StreamExt::map(stream, Ok::<_, Infallible>));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, body).into_response()
}

/// Whether an answer is a stream of events.
pub fn is_stream(response: &Response) -> bool {
    response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream")
}

/// The last words to whoever lost the credential that opened the stream.
pub fn signed_out() -> Bytes {
    signal("signed-out", &serde_json::json!({}))
}

/// A named event without an id: it does not move the reader's place.
fn signal(name: &str, data: &impl Serialize) -> Bytes {
    let json = serde_json::to_string(data).unwrap_or_default();
    format!("event: {name}\ndata: {json}\n\n").into()
}

/// What a reader is told when it was too slow: read on after this position.
fn resync(after: u64) -> Bytes {
    signal("resync", &serde_json::json!({ "after": after }))
}

/// The same for the whole hall: list the threads again.
fn resync_hall() -> Bytes {
    signal("resync", &serde_json::json!({}))
}

/// The thread is gone: there is nothing to come back for.
fn deleted() -> Bytes {
    signal("deleted", &serde_json::json!({}))
}

fn going_away() -> Bytes {
    signal("going-away", &serde_json::json!({ "retry_ms": 1000 }))
}

/// Resolves when the server begins to go down.
pub(crate) async fn closed(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|closing| *closing).await.is_err() {
        std::future::pending().await
    }
}
