//! The event stream of the whole hall: changes of threads, sessions, presence and states. They have
//! no position to resume from, so a client lists the threads after it has opened the stream. A
//! stream may also follow threads and terminals.

use std::collections::VecDeque;

use axum::body::Bytes;
use futures_util::{Stream, stream};
use moothall_engine::door::{Changes, Door};
use moothall_engine::hall;
use moothall_kernel::ids::ParticipantId;
use tokio::sync::broadcast::error::RecvError;

use super::follows::Follows;
use super::silence::{Silence, SilenceEnd};
use super::{going_away, resync_hall, signal};
use crate::http::{App, presence_update};
use crate::meters::OpenStream;
use crate::wire::{Bell, NeedEntry, NeedsSignal, OccupationEntry, StatesSignal};

/// Returns the event stream of the hall: the changes within the caller's reach from now on, and the
/// bytes of the threads and terminals in `follows`. `reader` is the participant whose needs are
/// sent.
pub(crate) fn changes(
    app: App,
    changes: Changes,
    reader: ParticipantId,
    follows: Option<Follows>,
) -> impl Stream<Item = Bytes> {
    let _reading = app.meters.reader();
    let silence = Silence::new(&app.closing);
    let mut ready = VecDeque::from([Bytes::from_static(b"retry: 1000\n: open\n\n")]);
    ready.extend(follows.iter().map(Follows::opened));
    // Boxed, because `unfold` moves the reader with every item.
    let listener = Box::new(HallReader {
        app,
        silence,
        changes,
        reader,
        follows,
        ready,
        over: false,
        _reading,
    });
    stream::unfold(listener, |mut reader| async move {
        reader.next().await.map(|piece| (piece, reader))
    })
}

struct HallReader {
    app: App,
    silence: Silence,
    changes: Changes,
    reader: ParticipantId,
    follows: Option<Follows>,
    ready: VecDeque<Bytes>,
    over: bool,
    _reading: OpenStream,
}

impl HallReader {
    /// Returns the next bytes of the stream: first its opening, then changes, bytes of followed
    /// sources, and keep-alives. Returns `None` after the last event, `resync` or `going-away`.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(piece);
            }
            if self.over {
                return None;
            }
            self.advance().await;
        }
    }

    /// Opens and closes sources as the client has requested. If that gives nothing to send, waits
    /// for the next change, bytes of a source, keep-alive or shutdown.
    async fn advance(&mut self) {
        if let Some(follows) = &mut self.follows {
            self.ready.extend(follows.adopt().await);
        }
        if !self.ready.is_empty() {
            return;
        }
        tokio::select! {
            received = self.changes.next() => self.take(received).await,
            piece = next_followed(&mut self.follows) => {
                self.silence.begin();
                self.ready.extend(piece);
            }
            broken = self.silence.broken() => match broken {
                SilenceEnd::KeepAlive => self.ready.push_back(Bytes::from_static(b": keep-alive\n\n")),
                SilenceEnd::GoingAway => self.end(going_away()),
            },
        }
    }

    /// Encodes a received change. A reader that was too slow gets `resync`, which ends the stream.
    async fn take(&mut self, received: Result<hall::HallChange, RecvError>) {
        self.silence.begin();
        match received {
            Ok(change) => {
                let frames = frames(self.changes.door(), &self.reader, change).await;
                self.ready.push_back(frames);
            }
            Err(RecvError::Lagged(_)) => {
                self.app.meters.resync();
                self.end(resync_hall());
            }
            Err(RecvError::Closed) => self.end(going_away()),
        }
    }

    fn end(&mut self, last: Bytes) {
        self.over = true;
        self.ready.push_back(last);
    }
}

async fn next_followed(follows: &mut Option<Follows>) -> Option<Bytes> {
    match follows {
        Some(follows) => follows.next().await,
        None => std::future::pending().await,
    }
}

/// Encodes a change as the caller of the door sees it. If the change may alter the requests that
/// wait for people in its thread, a second event lists those that wait for `reader` now.
pub(crate) async fn frames(door: &Door, reader: &ParticipantId, change: hall::HallChange) -> Bytes {
    let concerned = match &change {
        hall::HallChange::Head { stream, concerns_people: true, .. } => Some(stream.clone()),
        hall::HallChange::Head { .. }
        | hall::HallChange::Presence { .. }
        | hall::HallChange::States { .. }
        | hall::HallChange::Sessions => None,
    };
    let first = frame(door, change);
    let Some(stream) = concerned else { return first };
    // If the conversation cannot be read, only its new head is sent. The reader gets the error when
    // it reads the conversation.
    let Ok(needs) = door.needs_in(&stream, reader).await else { return first };
    let needs = needs.iter().map(NeedEntry::of).collect();
    let signal = signal("needs", &NeedsSignal { thread: stream.to_string(), needs });
    [first, signal].concat().into()
}

/// Encodes a change as an event, as the caller of the door sees it. A change of a thread's head is
/// an event without a name.
fn frame(door: &Door, change: hall::HallChange) -> Bytes {
    match change {
        hall::HallChange::Head { stream, head, waits_for_people, concerns_people: _ } => {
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
        hall::HallChange::States { stream, states } => {
            let seen = states.iter().map(|one| door.seen(&stream, one.clone()));
            let states = seen.map(|one| OccupationEntry::of(&one)).collect();
            signal("states", &StatesSignal { thread: stream.to_string(), states })
        }
        hall::HallChange::Sessions => Bytes::from_static(b"event: sessions\ndata: {}\n\n"),
    }
}
