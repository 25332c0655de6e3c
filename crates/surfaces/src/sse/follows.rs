//! The sources that one stream of the hall follows: threads and terminals. The client changes
//! them while the stream is open, so that a page needs one connection.

use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use moothall_engine::door::{Action, Door, EventFilter};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::view::Viewer;
use tokio::sync::Notify;
use uuid::Uuid;

use super::{events, screens, signal};
use crate::error::{ApiError, ApiResult, Code};
use crate::http::App;
use crate::next_steps::Reader;
use crate::wire::{EventTypes, FollowSignal, StreamOpened};

/// Maximum number of threads that one stream follows.
pub(crate) const THREADS_MAX: usize = 16;
/// Maximum number of terminals that one stream shows.
pub(crate) const SCREENS_MAX: usize = 4;

/// The sources that a client names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FollowList {
    /// The threads, with the positions after which their events begin. Without a position, a thread
    /// that the stream follows already continues, and any other thread begins with new events.
    pub threads: Vec<(StreamId, Option<Seq>)>,
    /// The sessions whose terminals are shown.
    pub screens: Vec<String>,
}

/// A source of one stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Thread(StreamId),
    Screen(String),
}

impl Source {
    /// Returns a signal about the source.
    fn signal(&self, name: &str, more: FollowSignal) -> Bytes {
        let (thread, session) = match self {
            Source::Thread(id) => (Some(id.to_string()), None),
            Source::Screen(word) => (None, Some(word.clone())),
        };
        signal(name, &FollowSignal { thread, session, ..more })
    }
}

/// A client's request for a source. The number distinguishes the request from an earlier one for
/// the same source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    number: u64,
    after: Option<Seq>,
}

/// The sources that one stream is to follow.
#[derive(Debug, Default)]
struct Wishes {
    newest: u64,
    sources: BTreeMap<Source, Wish>,
}

impl Wishes {
    /// Replaces the requested sources. A source that was requested before continues, unless the
    /// list gives it a position.
    fn replace(&mut self, list: FollowList) {
        let mut before = std::mem::take(&mut self.sources);
        let threads = list.threads.into_iter().map(|(id, after)| (Source::Thread(id), after));
        let screens = list.screens.into_iter().map(|word| (Source::Screen(word), None));
        for (source, after) in threads.chain(screens) {
            let kept = before.remove(&source).filter(|_| after.is_none());
            let wish = kept.unwrap_or_else(|| {
                self.newest += 1;
                Wish { number: self.newest, after }
            });
            self.sources.insert(source, wish);
        }
    }

    /// Removes a source that ended or was refused, unless the client has requested it again since.
    fn forget(&mut self, source: &Source, number: u64) {
        if self.sources.get(source).is_some_and(|wish| wish.number == number) {
            self.sources.remove(source);
        }
    }
}

/// One open stream, as requests find it.
#[derive(Debug)]
struct FollowingStream {
    /// The principal that opened the stream; `None` without a credential.
    owner: Option<ParticipantId>,
    wishes: Mutex<Wishes>,
    changed: Notify,
}

impl FollowingStream {
    fn wishes(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All open streams that follow sources, by their ids.
#[derive(Debug, Default)]
pub(crate) struct FollowingStreams(Mutex<HashMap<String, Arc<FollowingStream>>>);

impl FollowingStreams {
    /// Replaces the sources of a stream.
    ///
    /// # Errors
    /// [`Code::UnknownStream`], also for the stream of another principal.
    pub(crate) fn change(&self, id: &str, door: &Door, list: FollowList) -> ApiResult<()> {
        let found = self.open_streams().get(id).filter(|open| open.owner == owner(door)).cloned();
        let open = found.ok_or_else(|| ApiError::plain(Code::UnknownStream))?;
        open.wishes().replace(list);
        open.changed.notify_one();
        Ok(())
    }

    fn open_streams(&self) -> MutexGuard<'_, HashMap<String, Arc<FollowingStream>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn owner(door: &Door) -> Option<ParticipantId> {
    door.caller().principal().map(|principal| principal.id.clone())
}

/// A source that is open.
struct Followed {
    source: Source,
    number: u64,
    pieces: BoxStream<'static, Bytes>,
}

/// The reader for whom sources are opened.
struct SourceReader {
    app: App,
    door: Door,
    viewer: Viewer,
    types: EventTypes,
}

/// The sources of one open stream. The stream's id is valid until this is dropped.
pub(crate) struct Follows {
    reader: SourceReader,
    id: String,
    open: Arc<FollowingStream>,
    followed: Vec<Followed>,
    /// The source that is asked first the next time.
    turn: usize,
}

impl Drop for Follows {
    fn drop(&mut self) {
        self.reader.app.following.open_streams().remove(&self.id);
    }
}

impl Follows {
    /// Registers a stream with the sources that it is to follow. [`Follows::adopt`] opens them.
    /// Events are limited to these types and to what this viewer may see.
    pub(crate) fn new(
        app: &App,
        door: Door,
        viewer: Viewer,
        types: EventTypes,
        list: FollowList,
    ) -> Self {
        let mut wishes = Wishes::default();
        wishes.replace(list);
        let open = Arc::new(FollowingStream {
            owner: owner(&door),
            wishes: Mutex::new(wishes),
            changed: Notify::new(),
        });
        let id = Uuid::new_v4().simple().to_string();
        app.following.open_streams().insert(id.clone(), open.clone());
        let reader = SourceReader { app: app.clone(), door, viewer, types };
        Self { reader, id, open, followed: Vec::new(), turn: 0 }
    }

    /// Returns the first event of the stream, which names it.
    pub(super) fn opened(&self) -> Bytes {
        signal("open", &StreamOpened { stream: self.id.clone() })
    }

    /// Closes the sources that the client no longer requests or has requested anew. Then opens all
    /// requested sources that are not open. Returns a signal for each source that was opened or
    /// refused.
    pub(super) async fn adopt(&mut self) -> Vec<Bytes> {
        let wanted = self.open.wishes().sources.clone();
        let is_wanted =
            |one: &Followed| wanted.get(&one.source).is_some_and(|wish| wish.number == one.number);
        self.followed.retain(is_wanted);
        let mut signals = Vec::new();
        for (source, wish) in wanted {
            if self.followed.iter().any(|one| one.source == source) {
                continue;
            }
            match self.reader.follow(&source, wish.after).await {
                Ok((after, pieces)) => {
                    signals.push(
                        source
                            .signal("following", FollowSignal { after, ..FollowSignal::default() }),
                    );
                    self.followed.push(Followed { source, number: wish.number, pieces });
                }
                Err(error) => signals.push(self.refuse(&source, wish.number, error)),
            }
        }
        signals
    }

    /// Forgets the request for a source that cannot be opened. Returns the signal `refused` with
    /// the error.
    fn refuse(&self, source: &Source, number: u64, error: ApiError) -> Bytes {
        self.open.wishes().forget(source, number);
        let mut detail = error.detail().clone();
        detail.message = Reader::over_http(self.reader.door.caller()).reword(&detail.message);
        source.signal("refused", FollowSignal { error: Some(detail), ..FollowSignal::default() })
    }

    /// Returns the next bytes of a source. If a source has ended, removes it and returns the signal
    /// `left`. Returns `None` if the client has changed the sources. Cancel-safe: dropping the
    /// future loses no bytes.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        let (open, followed, turn) = (&self.open, &mut self.followed, &mut self.turn);
        let (at, piece) = tokio::select! {
            () = open.changed.notified() => return None,
            next = poll_fn(|cx| poll_next(followed, turn, cx)) => next,
        };
        Some(piece.unwrap_or_else(|| self.leave(at)))
    }

    /// Removes a source that has ended. Returns the signal `left` about it.
    fn leave(&mut self, at: usize) -> Bytes {
        let ended = self.followed.remove(at);
        self.open.wishes().forget(&ended.source, ended.number);
        ended.source.signal("left", FollowSignal::default())
    }
}

impl SourceReader {
    /// Opens a source. Returns the position after which a thread's events begin.
    async fn follow(
        &self,
        source: &Source,
        after: Option<Seq>,
    ) -> ApiResult<(Option<u64>, BoxStream<'static, Bytes>)> {
        match source {
            Source::Thread(stream) => self.follow_thread(stream, after).await,
            Source::Screen(word) => {
                let watched = self.door.watch(word).await?;
                Ok((None, screens(self.app.clone(), watched).boxed()))
            }
        }
    }

    /// Opens a thread at a position, or at its head without one. Returns the position and the bytes
    /// of the events after it. The bytes end when the thread leaves the caller's reach.
    async fn follow_thread(
        &self,
        stream: &StreamId,
        after: Option<Seq>,
    ) -> ApiResult<(Option<u64>, BoxStream<'static, Bytes>)> {
        let found = self.door.find(Action::ReadThread, stream).await;
        let head = found.map_err(|error| ApiError::at_door(error, stream))?.head;
        if after.is_some_and(|after| after > head) {
            return Err(ApiError::no_position(head).in_thread(stream));
        }
        let (types, after) = (self.types, after.unwrap_or(head));
        let filter = EventFilter::new(self.viewer.clone(), move |event| types.has(event));
        let reader = self.door.follow(stream, filter, after).await?;
        let (reach, id) = (self.door.caller().reach.clone(), stream.clone());
        let left = Box::pin(async move { reach.wait_until_left(&id).await });
        let pieces = events(self.app.clone(), reader, head).take_until(left);
        Ok((Some(after.0), pieces.boxed()))
    }
}

/// Polls the sources, beginning after the source that was ready last. Returns the index of a ready
/// source with its bytes, or with `None` if it has ended.
fn poll_next(
    followed: &mut [Followed],
    turn: &mut usize,
    cx: &mut Context<'_>,
) -> Poll<(usize, Option<Bytes>)> {
    let all = followed.len();
    for step in 0..all {
        let at = (*turn + step) % all;
        if let Poll::Ready(piece) = followed[at].pieces.poll_next_unpin(cx) {
            *turn = at + 1;
            return Poll::Ready((at, piece));
        }
    }
    Poll::Pending
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(threads: &[(&str, Option<u64>)]) -> FollowList {
        let threads = threads.iter().map(|(id, after)| (StreamId::new(*id), after.map(Seq)));
        FollowList { threads: threads.collect(), screens: Vec::new() }
    }

    fn numbers(wishes: &Wishes) -> Vec<u64> {
        wishes.sources.values().map(|wish| wish.number).collect()
    }

    #[test]
    fn a_thread_begins_again_only_if_its_position_is_given() {
        let mut wishes = Wishes::default();
        wishes.replace(list(&[("a", Some(3)), ("b", None)]));
        assert_eq!(numbers(&wishes), [1, 2]);
        wishes.replace(list(&[("a", None), ("b", Some(9))]));
        assert_eq!(numbers(&wishes), [1, 3]);
        wishes.replace(list(&[]));
        wishes.replace(list(&[("a", None)]));
        assert_eq!(numbers(&wishes), [4], "it was closed in between");
    }

    #[test]
    fn the_end_of_an_earlier_request_does_not_close_a_later_one() {
        let mut wishes = Wishes::default();
        wishes.replace(list(&[("a", None)]));
        wishes.replace(list(&[("a", Some(5))]));
        wishes.forget(&Source::Thread(StreamId::new("a")), 1);
        assert_eq!(numbers(&wishes), [2]);
        wishes.forget(&Source::Thread(StreamId::new("a")), 2);
        assert!(wishes.sources.is_empty());
    }
}
