//! Server-sent events: frames, keep-alives, and the ends of streams.
//!
//! The items come from the door: those of a thread from its reader, those of the hall from its
//! changes, and those of a terminal from a watch. This module turns them into bytes. The next item
//! is made only when the connection can take it. A reader of a thread or of the hall that is too
//! far behind gets `resync` as its last event. It resumes a thread after its last position. A
//! reader of the hall lists the threads again.

pub mod frames;
mod follows;
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
use moothall_kernel::ids::StreamId;
use serde::Serialize;
use tokio::sync::watch;

pub(crate) use follows::{FollowList, FollowingStreams, Follows, SCREENS_MAX, THREADS_MAX};
pub(crate) use hall::changes;
pub(crate) use screen::screens;
pub(crate) use thread::events;

/// Time without an item after which a keep-alive is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Returns a response with a stream as its body.
pub fn answer(stream: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let body = Body::from_stream(futures_util::StreamExt::map(stream, Ok::<_, Infallible>));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, body).into_response()
}

/// True if a response is an event stream.
pub fn is_stream(response: &Response) -> bool {
    response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream")
}

/// Returns the last event for a client whose credential was revoked or expired.
pub fn signed_out() -> Bytes {
    signal("signed-out", &serde_json::json!({}))
}

/// Encodes a named event without an id, which leaves the client's position unchanged.
fn signal(name: &str, data: &impl Serialize) -> Bytes {
    let json = serde_json::to_string(data).unwrap_or_default();
    format!("event: {name}\ndata: {json}\n\n").into()
}

/// Returns the event for a reader of a thread that was too slow: read on after this position.
fn resync(thread: &StreamId, after: u64) -> Bytes {
    signal("resync", &serde_json::json!({ "thread": thread, "after": after }))
}

/// Returns the event for a reader of the hall that was too slow: list the threads again.
fn resync_hall() -> Bytes {
    signal("resync", &serde_json::json!({}))
}

/// Returns the last event of a deleted thread.
fn deleted(thread: &StreamId) -> Bytes {
    signal("deleted", &serde_json::json!({ "thread": thread }))
}

fn going_away() -> Bytes {
    signal("going-away", &serde_json::json!({ "retry_ms": 1000 }))
}

/// Resolves when the server begins to shut down. Never resolves if the sender was dropped before.
pub(crate) async fn closed(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|closing| *closing).await.is_err() {
        std::future::pending().await
    }
}
