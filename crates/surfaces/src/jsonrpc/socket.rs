//! The route at which agents connect by WebSocket.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::connection::serve;
use super::guarded::{FrameGuard, MESSAGE_BYTES_MAX};
use crate::error::{ApiError, Code};
use crate::http::App;
use crate::request::Address;
use crate::slots::ConnectionSlot;
use crate::wire::ErrorBody;

/// Size of the read buffer, which a silent connection holds too.
const READ_BUFFER_BYTES: usize = 4 * 1024;
/// Size of the write buffer.
const WRITE_BUFFER_BYTES: usize = 16 * 1024;

/// A checked WebSocket handshake: the upgraded connection and the response.
pub struct Handshake {
    upgraded: OnUpgrade,
    answer: Response,
}

impl<S: Send + Sync> FromRequestParts<S> for Handshake {
    type Rejection = Response;

    /// Checks the headers of the handshake, and makes the response that accepts it.
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        // The upgrade is cloned first, because axum's extractor does not give it back.
        let upgraded = parts.extensions.get::<OnUpgrade>().cloned();
        let checked = WebSocketUpgrade::from_request_parts(parts, state).await;
        drop(checked.map_err(IntoResponse::into_response)?);
        let internal = || ApiError::plain(Code::Internal).into_response();
        let key = parts.headers.get(header::SEC_WEBSOCKET_KEY).ok_or_else(internal)?;
        let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes()));
        let mut answer = StatusCode::SWITCHING_PROTOCOLS.into_response();
        let headers = answer.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept.map_err(|_| internal())?);
        *answer.body_mut() = Body::empty();
        Ok(Self { upgraded: upgraded.ok_or_else(internal)?, answer })
    }
}

/// Opens a WebSocket for JSON-RPC 2.0, for registered agents. The first call is `network/connect`.
/// `/openrpc.json` describes every method.
#[utoipa::path(get, path = "/ws", operation_id = "connect_agent", tag = "agents",
    responses((status = 101, description = "A WebSocket of JSON-RPC frames."), (status = "4XX", body = ErrorBody)))]
pub async fn connect(
    State(app): State<App>,
    Address(address): Address,
    Extension(slot): Extension<Arc<ConnectionSlot>>,
    Handshake { upgraded, answer }: Handshake,
) -> Response {
    // The slot stays busy for the whole connection, so that an authenticated connection is not
    // evicted. The time after which a connection without a key may be evicted counts from here, and
    // not from the end of the pause.
    let busy = slot.hear();
    // Frames sent during the pause wait in the system's buffers.
    if !slot.is_known() {
        tokio::time::sleep(app.rates.pause(address)).await;
    }
    let (revocations, open) = (app.access.listen(), app.meters.reader());
    tokio::spawn(async move {
        let Ok(upgraded) = upgraded.await else { return };
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .write_buffer_size(WRITE_BUFFER_BYTES)
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        let guarded = FrameGuard::new(TokioIo::new(upgraded), slot.clone());
        let socket = WebSocketStream::from_raw_socket(guarded, Role::Server, Some(config)).await;
        serve(app, address, &slot, socket, revocations).await;
        drop((busy, open));
    });
    answer
}
