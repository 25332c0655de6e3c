//! The stream of one thread.

use axum::body::Bytes;
use futures_util::{Stream, stream};
use moothall_engine::access::AccessError;
use moothall_engine::door::{Action, Door};
use moothall_engine::hall::{Connected, Subscription, Update};
use moothall_engine::ports::PAGE_BYTES_MAX;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::view::Viewer;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::frames::{Encoded, signal_bytes};
use super::owed::Owed;
use super::{KEEP_ALIVE, closed, going_away, resync};
use crate::http::App;
use crate::meters::Reading;

/// Events read from the log at once.
const PAGE: usize = 256;

/// Where a stream begins, and for whom.
pub struct Start {
    /// The hall as the reader has it.
    pub door: Door,
    /// The thread.
    pub stream: StreamId,
    /// Who looks.
    pub viewer: Viewer,
    /// It begins after this.
    pub after: Seq,
    /// The thread's newest event.
    pub head: Seq,
    /// While the stream is open, its participant counts as connected.
    pub _connected: Option<Connected>,
}

/// The events after a position, each once, then those that come.
pub(crate) fn events(app: App, start: Start) -> impl Stream<Item = Bytes> {
    let hello = format!("retry: 1000\n: head {}\n\n", start.head).into();
    let _reading = app.meters.reader();
    let owed = Owed::to(&start.viewer);
    let reader = Reader { app, sent: start.after, start, ready: VecDeque::from([hello]), live: None, owed, over: false, _reading };
    stream::unfold(reader, |mut reader| async move { reader.next().await.map(|piece| (piece, reader)) })
}

struct Reader {
    app: App,
    /// `start.after` is the newest position that was passed, seen or not.
    start: Start,
    ready: VecDeque<Bytes>,
    /// The newest position before what is in `ready`.
    sent: Seq,
    live: Option<Subscription>,
    owed: Owed,
    over: bool,
    _reading: Reading,
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(piece);
            }
            if self.over {
                return None;
            }
            self.sent = self.start.after;
            if let Err(error) = self.advance().await {
                tracing::warn!(thread = %self.start.stream, %error, "a stream ends");
                self.end(going_away());
            }
        }
    }

    fn end(&mut self, last: Bytes) {
        self.over = true;
        self.ready.push_back(last);
    }

    /// One step: read on, begin to listen, or listen.
    async fn advance(&mut self) -> Result<(), AccessError> {
        let until = match &self.live {
            Some(live) if self.start.after >= live.head => {
                let frames = self.owed.frames(&self.start.door, &self.start.stream).await?;
                if frames.is_empty() {
                    self.listen().await;
                }
                self.ready.extend(frames);
                return Ok(());
            }
            Some(live) => Some(live.head),
            None => None,
        };
        if !self.read(until).await? && self.live.is_none() {
            self.subscribe().await?;
        }
        Ok(())
    }

    /// Reads a page of the log, up to a position where one is given. Whether there was anything.
    async fn read(&mut self, until: Option<Seq>) -> Result<bool, AccessError> {
        let after = self.start.after;
        let span = until.map_or(PAGE, |until| usize::try_from(until.0 - after.0).unwrap_or(PAGE).min(PAGE));
        let page = self.start.door.page(Action::ReadThread, &self.start.stream, &self.start.viewer, after, span).await?;
        let moved = page.through > after;
        self.owed.look_again();
        let encoded = Encoded::new(&self.start.stream, Arc::new(page.events));
        self.ready.extend(encoded.pieces(&self.start.viewer, after));
        // Where the log shows nothing up to the head, there is nothing that this version can show.
        self.start.after = page.through.max(if moved { after } else { until.unwrap_or(after) });
        Ok(moved)
    }

    async fn subscribe(&mut self) -> Result<(), AccessError> {
        let live = self.start.door.subscribe(&self.start.stream).await?;
        let partials = live.partials.iter().map(|partial| signal_bytes(&self.start.stream, partial));
        self.ready.extend(partials);
        self.live = Some(live);
        Ok(())
    }

    /// Waits for what comes, and takes what has come: a page of it, the rest waits where it costs nothing for each reader.
    async fn listen(&mut self) {
        let Some(live) = &mut self.live else { return };
        let received = tokio::select! {
            received = live.updates.recv() => received,
            () = closed(&mut self.app.closing) => return self.end(going_away()),
            () = tokio::time::sleep(KEEP_ALIVE) => return self.ready.push_back(format!(": head {}\n\n", self.start.after).into()),
        };
        match received {
            Ok(update) => self.take(update),
            Err(RecvError::Lagged(_)) => return self.cut(),
            // The stream's task ended; whatever it appended is in the log.
            Err(RecvError::Closed) => self.live = None,
        }
        self.take_waiting();
    }

    /// Takes what waits behind the first update.
    fn take_waiting(&mut self) {
        while let Some(live) = &mut self.live {
            if self.ready.iter().map(Bytes::len).sum::<usize>() > PAGE_BYTES_MAX {
                return;
            }
            match live.updates.try_recv() {
                Ok(update) => self.take(update),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Lagged(_)) => return self.cut(),
                Err(TryRecvError::Closed) => self.live = None,
            }
        }
    }

    fn take(&mut self, update: Update) {
        match update {
            Update::Events(batch) => {
                self.owed.observe(&batch);
                let encoded = self.app.frames.of(&self.start.stream, &batch);
                self.ready.extend(encoded.pieces(&self.start.viewer, self.start.after));
                self.start.after = self.start.after.max(encoded.through());
            }
            Update::Signal(signal) => self.ready.push_back(self.app.frames.of_signal(&self.start.stream, &signal)),
        }
    }

    /// What waits is let go; the reader can go on after the last event that it got.
    fn cut(&mut self) {
        self.live = None;
        self.ready.clear();
        self.app.meters.resync();
        self.end(resync(self.sent.0));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::rates::{Limits, Rates};
    use futures_util::StreamExt;
    use moothall_engine::MemoryLog;
    use moothall_engine::access::{Access, Caller, Mode};
    use moothall_engine::hall::{Hall, HallParts};
    use moothall_engine::ports::{Store, SystemClock};
    use moothall_kernel::command::{Actor, ClientCommand, Post};
    use moothall_kernel::policy::Policy;
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

    async fn begin(hall: &Hall) -> Start {
        let answer = hall.create("t".into(), Policy::default(), Actor::human("user"), None).await.unwrap();
        Start {
            door: hall.as_(Caller::anonymous(Mode::Local)),
            stream: answer.stream,
            viewer: Viewer::Operator,
            after: answer.head,
            head: answer.head,
            _connected: None,
        }
    }

    fn app(hall: &Hall) -> App {
        App {
            entrance: hall.entrance(),
            base: "http://localhost".into(),
            frames: Arc::default(),
            presences: Arc::default(),
            access: Arc::new(Access::new(hall.clone(), Mode::Local, None)),
            cookie: "moothall".into(),
            tokens_made: Arc::default(),
            meters: Arc::default(),
            rates: Rates::new(Mode::Local, Limits::default()),
            gauges: Default::default(),
            closing: watch::channel(false).1,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_says_the_head_every_fifteen_seconds() {
        let hall = hall().await;
        let mut stream = Box::pin(events(app(&hall), begin(&hall).await));
        assert_eq!(stream.next().await.unwrap(), "retry: 1000\n: head 1\n\n");
        let before = Instant::now();
        assert_eq!(stream.next().await.unwrap(), ": head 1\n\n");
        assert_eq!(Instant::now() - before, Duration::from_secs(15));
    }

    #[tokio::test]
    async fn more_than_a_thousand_events_behind_is_too_far() {
        let hall = hall().await;
        let start = begin(&hall).await;
        let id = start.stream.clone();
        let post = |n: usize| hall.submit(&id, ClientCommand::Post(Post::new(Actor::human("user"), format!("message {n}"))), None);
        let mut stream = Box::pin(events(app(&hall), start));
        stream.next().await.unwrap();
        let (first, posted) = tokio::join!(stream.next(), post(0));
        posted.unwrap();
        assert!(first.unwrap().starts_with(b"id: 2\n"));
        for n in 1..=1026 {
            post(n).await.unwrap();
        }
        assert_eq!(stream.next().await.unwrap(), "event: resync\ndata: {\"after\":2}\n\n");
        assert_eq!(stream.next().await, None);
    }
}
