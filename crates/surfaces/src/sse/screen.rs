//! The stream of what a session's terminal shows.
//!
//! Each event has the whole screen, so there is nothing to catch up with: whatever happened while
//! the reader was slow is one event.

use std::time::Duration;

use axum::body::Bytes;
use futures_util::{Stream, stream};
use moothall_engine::access::AccessError;
use moothall_engine::door::ScreenWatch;
use moothall_engine::sessions::PaneNews;
use serde_json::json;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::silence::{Silence, SilenceEnd};
use super::{going_away, signal};
use crate::http::App;
use crate::meters::OpenStream;
use crate::wire::ScreenAnswer;

/// The shortest time between two screens.
const PAUSE: Duration = Duration::from_millis(100);

/// What a session's terminal shows, now and whenever that changes.
pub(crate) fn screens(app: App, watched: ScreenWatch) -> impl Stream<Item = Bytes> {
    let _reading = app.meters.reader();
    let silence = Silence::new(&app.closing);
    // Boxed, because it is moved with every piece.
    let reader = Box::new(ScreenReader {
        silence,
        watched,
        shown: None,
        state: ScreenState::Begins,
        _reading,
    });
    stream::unfold(
        reader,
        |mut reader| async move { reader.next().await.map(|piece| (piece, reader)) },
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScreenState {
    Begins,
    Listens,
    /// The program is gone: its last screen was sent, that it ended was not.
    Ends,
    SessionAct,
}

struct ScreenReader {
    silence: Silence,
    watched: ScreenWatch,
    shown: Option<ScreenAnswer>,
    state: ScreenState,
    _reading: OpenStream,
}

impl ScreenReader {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.state {
                ScreenState::SessionAct => return None,
                ScreenState::Ends => {
                    self.state = ScreenState::SessionAct;
                    return Some(signal("ended", &json!({ "session": self.watched.session() })));
                }
                ScreenState::Begins => self.state = ScreenState::Listens,
                ScreenState::Listens => {
                    if let Some(piece) = self.wait().await {
                        return Some(piece);
                    }
                }
            }
            if let Some(piece) = self.look().await {
                return Some(piece);
            }
        }
    }

    /// Waits until the pane drew, and takes everything that happened until then together. A piece
    /// is what is to be sent instead.
    async fn wait(&mut self) -> Option<Bytes> {
        let first = tokio::select! {
            news = self.watched.news.recv() => news,
            broken = self.silence.broken() => match broken {
                SilenceEnd::KeepAlive => return Some(Bytes::from_static(b": keep-alive\n\n")),
                SilenceEnd::GoingAway => {
                    self.state = ScreenState::SessionAct;
                    return Some(going_away());
                }
            },
        };
        self.silence.begin();
        match first {
            Ok(PaneNews::Drawn) | Err(RecvError::Lagged(_)) => {
                tokio::time::sleep(PAUSE).await;
                self.take_waiting();
            }
            Ok(PaneNews::Died) | Err(RecvError::Closed) => self.state = ScreenState::Ends,
        }
        None
    }

    fn take_waiting(&mut self) {
        loop {
            match self.watched.news.try_recv() {
                Ok(PaneNews::Drawn) | Err(TryRecvError::Lagged(_)) => {}
                Ok(PaneNews::Died) | Err(TryRecvError::Closed) => {
                    return self.state = ScreenState::Ends;
                }
                Err(TryRecvError::Empty) => return,
            }
        }
    }

    /// The screen, if it is not the one that was sent last.
    async fn look(&mut self) -> Option<Bytes> {
        match self.view().await {
            Ok(screen) if self.shown.as_ref() == Some(&screen) => None,
            Ok(screen) => {
                let piece = signal("screen", &screen);
                self.shown = Some(screen);
                Some(piece)
            }
            // A terminal that cannot be looked at any more is over for whoever looks at it.
            Err(error) => {
                tracing::debug!(session = %self.watched.session(), %error, "a screen cannot be read");
                if self.state != ScreenState::SessionAct {
                    self.state = ScreenState::Ends;
                }
                None
            }
        }
    }

    async fn view(&self) -> Result<ScreenAnswer, AccessError> {
        Ok(ScreenAnswer::of(self.watched.session(), self.watched.view().await?))
    }
}
