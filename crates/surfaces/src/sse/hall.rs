//! The event stream of the whole hall: notifications about threads and sessions, and presence. They
//! have no position to resume from, so a client lists the threads after it has opened the stream.

use axum::body::Bytes;
use futures_util::{Stream, stream};
use moothall_engine::door::Changes;
use moothall_engine::hall;
use tokio::sync::broadcast::error::RecvError;

use super::silence::{Silence, SilenceEnd};
use super::{going_away, resync_hall, signal};
use crate::http::{App, presence_update};
use crate::meters::OpenStream;
use crate::wire::Bell;

/// Returns notifications from now on, about threads within the caller's reach.
pub(crate) fn changes(app: App, changes: Changes) -> impl Stream<Item = Bytes> {
    let _reading = app.meters.reader();
    let silence = Silence::new(&app.closing);
    // Boxed, because `unfold` moves the reader with every item.
    let reader =
        Box::new(HallReader { app, silence, changes, begun: false, over: false, _reading });
    stream::unfold(
        reader,
        |mut reader| async move { reader.next().await.map(|piece| (piece, reader)) },
    )
}

struct HallReader {
    app: App,
    silence: Silence,
    changes: Changes,
    begun: bool,
    over: bool,
    _reading: OpenStream,
}

impl HallReader {
    /// Returns the next bytes of the stream: its opening, then a change or a keep-alive. `None`
    /// after the last event.
    async fn next(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        if !std::mem::replace(&mut self.begun, true) {
            return Some(Bytes::from_static(b"retry: 1000\n: open\n\n"));
        }
        let received = tokio::select! {
            received = self.changes.next() => received,
            broken = self.silence.broken() => return match broken {
                SilenceEnd::KeepAlive => Some(Bytes::from_static(b": keep-alive\n\n")),
                SilenceEnd::GoingAway => self.end(going_away()),
            },
        };
        self.silence.begin();
        match received {
            Ok(change) => Some(frame(change)),
            Err(RecvError::Lagged(_)) => {
                self.app.meters.resync();
                self.end(resync_hall())
            }
            Err(RecvError::Closed) => self.end(going_away()),
        }
    }

    fn end(&mut self, last: Bytes) -> Option<Bytes> {
        self.over = true;
        Some(last)
    }
}

/// Encodes a change as an event. A change of a thread's head is an event without a name.
fn frame(change: hall::HallChange) -> Bytes {
    match change {
        hall::HallChange::Head { stream, head, waits_for_people } => {
            let event = Bell {
                thread: stream.to_string(),
                head: head.0,
                waits_for_people: waits_for_people as u64,
            };
            let json = serde_json::to_string(&event).unwrap_or_default();
            format!("data: {json}\n\n").into()
        }
        hall::HallChange::Presence { stream, presence } => {
            signal("presence", &presence_update(&stream, &presence))
        }
        hall::HallChange::Sessions => Bytes::from_static(b"event: sessions\ndata: {}\n\n"),
    }
}
