//! The event stream of a session's terminal.
//!
//! Each event has the whole screen. All changes since a slow reader's last event become one event,
//! so the reader always gets the newest screen.

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

/// Time between the first notice of a change and the next screen. Changes in this time are merged.
/// The last screen of a program that has exited does not wait.
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
    /// The program has exited, or its screen cannot be read any more. A changed screen that can
    /// still be read is sent first, and then `ended`.
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
    /// Returns the next bytes of the stream: a screen that has changed, a keep-alive, or the last
    /// event, `ended` or `going-away`. Returns `None` after the last event.
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

    /// Waits for a change of the pane, and then [`PAUSE`] longer, so that the changes in that time
    /// become one screen. If a keep-alive or `going-away` is due before any change, returns these
    /// bytes; otherwise `None`.
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

    /// Takes the notices that wait, because one screen shows all their changes. An exit of the
    /// program among them ends the stream.
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

    /// Returns the screen, if it differs from the one sent last. A screen that cannot be read ends
    /// the stream.
    async fn look(&mut self) -> Option<Bytes> {
        match self.view().await {
            Ok(screen) if self.shown.as_ref() == Some(&screen) => None,
            Ok(screen) => {
                let piece = signal("screen", &screen);
                self.shown = Some(screen);
                Some(piece)
            }
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
