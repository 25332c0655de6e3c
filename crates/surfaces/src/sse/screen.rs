//! The event stream of a session's terminal.
//!
//! Each event has the whole screen, so a slow reader misses nothing: all changes since its last
//! event become one event.

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

/// Minimum time between two screens.
const PAUSE: Duration = Duration::from_millis(100);

/// Returns the screen of a session's terminal, now and after each change.
pub(crate) fn screens(app: App, watched: ScreenWatch) -> impl Stream<Item = Bytes> {
    let _reading = app.meters.reader();
    let silence = Silence::new(&app.closing);
    // Boxed, because `unfold` moves the reader with every item.
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
    /// The program has exited. The last screen is sent first, and then `ended`.
    Ends,
    /// The stream is over.
    Over,
}

struct ScreenReader {
    silence: Silence,
    watched: ScreenWatch,
    shown: Option<ScreenAnswer>,
    state: ScreenState,
    _reading: OpenStream,
}

impl ScreenReader {
    /// Returns the next bytes of the stream: a screen that has changed, or a keep-alive. `None`
    /// after the last event.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.state {
                ScreenState::Over => return None,
                ScreenState::Ends => {
                    self.state = ScreenState::Over;
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

    /// Waits until the pane has changed, and merges all changes until then. Returns an item that
    /// must be sent instead of a screen.
    async fn wait(&mut self) -> Option<Bytes> {
        let first = tokio::select! {
            news = self.watched.news.recv() => news,
            broken = self.silence.broken() => match broken {
                SilenceEnd::KeepAlive => return Some(Bytes::from_static(b": keep-alive\n\n")),
                SilenceEnd::GoingAway => {
                    self.state = ScreenState::Over;
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

    /// Returns the screen, if it differs from the one sent last.
    async fn look(&mut self) -> Option<Bytes> {
        match self.view().await {
            Ok(screen) if self.shown.as_ref() == Some(&screen) => None,
            Ok(screen) => {
                let piece = signal("screen", &screen);
                self.shown = Some(screen);
                Some(piece)
            }
            // A terminal that cannot be read any more ends the stream.
            Err(error) => {
                tracing::debug!(session = %self.watched.session(), %error, "a screen cannot be read");
                if self.state != ScreenState::Over {
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
