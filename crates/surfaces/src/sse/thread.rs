//! The event stream of one thread.

use std::collections::VecDeque;

use axum::body::Bytes;
use futures_util::{Stream, stream};
use moothall_engine::access::AccessError;
use moothall_engine::answers::HallError;
use moothall_engine::door::{Reader, ReaderItem};
use moothall_kernel::ids::Seq;

use super::frames::{page_bytes, signal_bytes};
use super::silence::{Silence, SilenceEnd};
use super::{deleted, going_away, resync, signal};
use crate::http::App;
use crate::meters::OpenStream;
use crate::wire::TurnContext;

/// Returns the event stream of one thread: first a comment with `head`, the position of the
/// thread's newest event, and then the items of the reader.
pub(crate) fn events(app: App, reader: Reader, head: Seq) -> impl Stream<Item = Bytes> {
    let hello = format!("retry: 1000\n: head {head}\n\n").into();
    let _reading = app.meters.reader();
    let silence = Silence::new(&app.closing);
    let ready = VecDeque::from([hello]);
    // Boxed, because `unfold` moves the writer with every item.
    let writer = Box::new(Writer { app, silence, reader, ready, over: false, _reading });
    stream::unfold(
        writer,
        |mut writer| async move { writer.next().await.map(|bytes| (bytes, writer)) },
    )
}

/// A reader with the bytes that are ready to send.
struct Writer {
    app: App,
    silence: Silence,
    reader: Reader,
    ready: VecDeque<Bytes>,
    over: bool,
    _reading: OpenStream,
}

impl Writer {
    /// Returns the next bytes of the stream. `None` after the last event, which says why the stream
    /// ends.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Some(bytes);
            }
            if self.over {
                return None;
            }
            match self.advance().await {
                Ok(()) => {}
                Err(AccessError::Hall(HallError::Deleted(_))) => {
                    self.end(deleted(self.reader.stream()));
                }
                Err(error) => {
                    tracing::warn!(thread = %self.reader.stream(), %error, "a stream ends");
                    self.end(going_away());
                }
            }
        }
    }

    fn end(&mut self, last: Bytes) {
        self.over = true;
        self.ready.push_back(last);
    }

    /// Encodes the next item. If there is none, waits until there may be one, or until a keep-alive
    /// or `going-away` is due, which it encodes.
    async fn advance(&mut self) -> Result<(), AccessError> {
        if let Some(piece) = self.reader.next().await? {
            self.write(piece);
            self.silence.begin();
            return Ok(());
        }
        // `biased`, so that items from before the shutdown are sent before `going-away`.
        tokio::select! {
            biased;
            () = self.reader.listen() => {}
            broken = self.silence.broken() => match broken {
                SilenceEnd::KeepAlive => self.ready.push_back(format!(": head {}\n\n", self.reader.passed()).into()),
                SilenceEnd::GoingAway => self.end(going_away()),
            },
        }
        Ok(())
    }

    /// Encodes an item of the reader. A reader that is too far behind gets `resync`, which ends the
    /// stream.
    fn write(&mut self, piece: ReaderItem) {
        let stream = self.reader.stream();
        match piece {
            ReaderItem::Page(events) => self.ready.push_back(page_bytes(stream, &events)),
            ReaderItem::Batch(batch) => {
                self.ready.extend(self.app.frames.of(stream, batch.all()).pieces(batch.seen()))
            }
            ReaderItem::Partial(partial) => self.ready.push_back(signal_bytes(stream, &partial)),
            ReaderItem::Signal(signal) => {
                self.ready.push_back(self.app.frames.of_signal(stream, &signal))
            }
            ReaderItem::Turn(context) => {
                self.ready.push_back(signal("turn", &TurnContext::of(stream, &context)))
            }
            ReaderItem::Lagged(after) => {
                self.app.meters.resync();
                let last = resync(stream, after.0);
                self.end(last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::http::HttpOptions;
    use crate::surface::Surface;
    use futures_util::StreamExt;
    use moothall_engine::MemoryLog;
    use moothall_engine::access::{Caller, Mode};
    use moothall_engine::hall::{Hall, HallParts};
    use moothall_engine::ports::{Store, SystemClock};
    use moothall_kernel::command::{Actor, ClientCommand, Post};
    use moothall_kernel::ids::StreamId;
    use moothall_kernel::policy::Policy;
    use moothall_kernel::view::Viewer;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::sync::watch;
    use tokio::time::Instant;

    async fn hall() -> Hall {
        let parts = HallParts {
            store: Store::of(Arc::new(MemoryLog::new())),
            clock: Arc::new(SystemClock),
            registry: Default::default(),
            defaults: Policy::default(),
            budgets: Default::default(),
            owner: "test".into(),
        };
        Hall::open(parts).await.unwrap()
    }

    /// Creates a thread in the hall, and a stream from its newest event on.
    async fn begin(hall: &Hall) -> (StreamId, impl Stream<Item = Bytes>) {
        let answer =
            hall.create("t".into(), Policy::default(), Actor::human("user"), None).await.unwrap();
        let reader = hall
            .as_(Caller::anonymous(Mode::Local))
            .follow(&answer.stream, Viewer::Operator, answer.head)
            .await
            .unwrap();
        (answer.stream, events(app(hall), reader, answer.head))
    }

    fn app(hall: &Hall) -> App {
        let surface =
            Surface::new(hall.clone(), HttpOptions::new("127.0.0.1:5111".parse().unwrap()));
        App::of(&surface, Default::default(), watch::channel(false).1)
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_says_the_head_every_fifteen_seconds() {
        let hall = hall().await;
        let mut stream = Box::pin(begin(&hall).await.1);
        assert_eq!(stream.next().await.unwrap(), "retry: 1000\n: head 1\n\n");
        let before = Instant::now();
        assert_eq!(stream.next().await.unwrap(), ": head 1\n\n");
        assert_eq!(Instant::now() - before, Duration::from_secs(15));
    }

    #[tokio::test]
    async fn more_than_a_thousand_events_behind_is_too_far() {
        let hall = hall().await;
        let (id, stream) = begin(&hall).await;
        let post = |n: usize| {
            hall.submit(
                &id,
                ClientCommand::Post(Post::new(Actor::human("user"), format!("message {n}"))),
                None,
            )
        };
        let mut stream = Box::pin(stream);
        stream.next().await.unwrap();
        let (first, posted) = tokio::join!(stream.next(), post(0));
        posted.unwrap();
        assert!(first.unwrap().starts_with(b"id: 2\n"));
        for n in 1..=1026 {
            post(n).await.unwrap();
        }
        let resync = format!("event: resync\ndata: {{\"thread\":\"{id}\",\"after\":2}}\n\n");
        assert_eq!(stream.next().await.unwrap(), resync);
        assert_eq!(stream.next().await, None);
    }
}
