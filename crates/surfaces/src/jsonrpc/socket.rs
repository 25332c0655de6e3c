//! The route at which agents connect by WebSocket.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::response::Response;

use super::connection::{SOCKET_BYTES_MAX, serve};
use crate::http::App;
use crate::request::Address;
use crate::seats::Seat;
use crate::wire::ErrorBody;

/// How much of what is told may wait to be written at once.
const WRITE_BUFFER_BYTES: usize = 16 * 1024;

/// JSON-RPC 2.0 over WebSocket, for agents that registered. The first call is `network/connect`;
/// `/openrpc.json` describes every method.
#[utoipa::path(get, path = "/ws", operation_id = "connect_agent", tag = "agents",
    responses((status = 101, description = "A WebSocket of JSON-RPC frames."), (status = "4XX", body = ErrorBody)))]
pub async fn connect(
    State(app): State<App>,
    Address(address): Address,
    seat: Option<Extension<Arc<Seat>>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    // Whoever connects is busy as long as they are connected, and gives way to nobody.
    let busy = seat.map(|Extension(seat)| (seat.hear(), seat));
    let (revocations, open) = (app.access.listen(), app.meters.reader());
    upgrade
        .max_message_size(SOCKET_BYTES_MAX)
        .max_frame_size(SOCKET_BYTES_MAX)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .on_upgrade(move |socket| async move {
            serve(app, address, socket, revocations, open).await;
            drop(busy);
        })
}
