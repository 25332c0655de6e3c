//! Transactions to the service: events in their order, sent until the service takes them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{HS_TOKEN, HomeserverState};

/// Number of events in a transaction.
const EVENTS_MAX: usize = 500;
/// Pause before a transaction is sent again.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Sends the service what happens, until the homeserver ends.
pub(super) async fn push_all(shared: Arc<HomeserverState>, port: u16) {
    let mut number = 0;
    let mut changes = shared.changes.subscribe();
    loop {
        let events = shared.change(|world| {
            let count = if world.is_held { 0 } else { world.outgoing.len().min(EVENTS_MAX) };
            let events: Vec<Value> = world.outgoing.drain(..count).collect();
            world.is_pushing = !events.is_empty();
            events
        });
        changes.mark_unchanged();
        if events.is_empty() {
            if changes.changed().await.is_err() {
                return;
            }
            continue;
        }
        number += 1;
        let path = format!("/_matrix/app/v1/transactions/{number}");
        let body = json!({"events": events});
        while !matches!(request(port, "PUT", &path, &body).await, Ok(200)) {
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        shared.change(|world| {
            world.pushed.extend(events);
            world.is_pushing = false;
        });
    }
}

/// Makes a request to the service, and returns the status of the answer.
pub(super) async fn request(port: u16, method: &str, path: &str, body: &Value) -> io::Result<u16> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let body = body.to_string();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {HS_TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
