//! Directory of the live streams, and their mailboxes.
//!
//! A request is sent while the directory is locked, and a task removes itself from the directory
//! under the same lock. So nothing is sent to a task that has ended.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use moothall_kernel::ids::StreamId;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::AbortHandle;

use crate::stream::mail::{Request, TurnNotice};
use crate::stream::shown::{Board, ConversationFlags};
use crate::stream::updates::Updates;

/// Maximum number of queued requests of one stream; more are refused as overload.
pub(crate) const QUEUE_LEN: usize = 1024;

/// The sending end of a live stream.
struct Mailbox {
    requests: mpsc::Sender<Request>,
    notices: mpsc::UnboundedSender<Box<TurnNotice>>,
    updates: Arc<Updates>,
    board: Arc<Board>,
    number: u64,
    task: Option<AbortHandle>,
}

/// The receiving end of a live stream, which its task owns.
pub(crate) struct StreamHandle {
    pub(crate) number: u64,
    pub(crate) requests: mpsc::Receiver<Request>,
    pub(crate) notices: mpsc::UnboundedReceiver<Box<TurnNotice>>,
    pub(crate) updates: Arc<Updates>,
    pub(crate) board: Arc<Board>,
}

/// The result of handing a message to a live stream.
pub(crate) enum HandOver<T> {
    /// The task has the message.
    Yes,
    /// The queue of the stream is full.
    Full,
    /// The stream is not live; the message comes back.
    Absent(T),
}

/// The live streams by id.
#[derive(Default)]
pub(crate) struct Directory {
    inner: Mutex<Streams>,
}

#[derive(Default)]
struct Streams {
    live: HashMap<StreamId, Mailbox>,
    opened: u64,
    /// True if the hall was dropped. No task starts then.
    closed: bool,
}

impl Directory {
    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request to a live stream.
    pub(crate) fn send(&self, stream: &StreamId, request: Request) -> HandOver<Request> {
        self.lock().send(stream, request)
    }

    /// Sends a notice of a turn to a live stream.
    pub(crate) fn notify(
        &self,
        stream: &StreamId,
        notice: Box<TurnNotice>,
    ) -> HandOver<Box<TurnNotice>> {
        let streams = self.lock();
        let Some(mailbox) = streams.live.get(stream) else { return HandOver::Absent(notice) };
        match mailbox.notices.send(notice) {
            Ok(()) => HandOver::Yes,
            Err(refused) => HandOver::Absent(refused.0),
        }
    }

    /// Sends a request to a stream. If the stream is not live, starts its task.
    pub(crate) fn enqueue(
        &self,
        stream: &StreamId,
        first: Request,
        start: impl FnOnce(StreamHandle) -> AbortHandle,
    ) -> HandOver<Request> {
        let mut streams = self.lock();
        match streams.send(stream, first) {
            HandOver::Absent(first) => streams.open(stream, Some(first), None, start),
            other => other,
        }
    }

    /// Sends a notice of a turn to a stream. If the stream is not live, starts its task.
    pub(crate) fn enqueue_notice(
        &self,
        stream: &StreamId,
        notice: Box<TurnNotice>,
        start: impl FnOnce(StreamHandle) -> AbortHandle,
    ) {
        let mut streams = self.lock();
        let notice = match streams.live.get(stream).map(|mailbox| mailbox.notices.clone()) {
            Some(notices) => match notices.send(notice) {
                Ok(()) => return,
                Err(refused) => refused.0,
            },
            None => notice,
        };
        streams.open(stream, None, Some(notice), start);
    }

    /// Removes a mailbox from the directory, if the stream has no newer one. After that no message
    /// can reach the mailbox.
    pub(crate) fn leave(&self, stream: &StreamId, number: u64) {
        let mut streams = self.lock();
        if streams.live.get(stream).is_some_and(|mailbox| mailbox.number == number) {
            streams.live.remove(stream);
        }
    }

    /// Removes a mailbox from the directory if no message and no listener waits. Returns true if
    /// none waits.
    pub(crate) fn leave_if_idle(&self, stream: &StreamId, handle: &StreamHandle) -> bool {
        let mut streams = self.lock();
        let idle =
            handle.requests.is_empty() && handle.notices.is_empty() && !handle.updates.in_use();
        if idle && streams.live.get(stream).is_some_and(|mailbox| mailbox.number == handle.number) {
            streams.live.remove(stream);
        }
        idle
    }

    /// Returns the listeners of a live stream.
    pub(crate) fn updates(&self, stream: &StreamId) -> Option<Arc<Updates>> {
        self.lock().live.get(stream).map(|mailbox| mailbox.updates.clone())
    }

    /// Returns the flags of a live conversation.
    pub(crate) fn live_flags(&self, stream: &StreamId) -> Option<ConversationFlags> {
        self.lock().live.get(stream)?.board.read()
    }

    /// Returns the ids of all live streams.
    pub(crate) fn live(&self) -> Vec<StreamId> {
        self.lock().live.keys().cloned().collect()
    }

    /// Returns the request queues of all live streams.
    pub(crate) fn queues(&self) -> Vec<mpsc::Sender<Request>> {
        self.lock().live.values().map(|mailbox| mailbox.requests.clone()).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().live.len()
    }

    /// Aborts all tasks, as a crash would, and starts no more.
    pub(crate) fn abort_all(&self) {
        let mut streams = self.lock();
        streams.closed = true;
        let gone: Vec<Mailbox> = streams.live.drain().map(|(_, mailbox)| mailbox).collect();
        drop(streams);
        gone.iter().filter_map(|mailbox| mailbox.task.as_ref()).for_each(AbortHandle::abort);
    }
}

impl Streams {
    /// Puts a request into the queue of a live stream.
    fn send(&mut self, stream: &StreamId, request: Request) -> HandOver<Request> {
        let Some(mailbox) = self.live.get(stream) else { return HandOver::Absent(request) };
        match mailbox.requests.try_send(request) {
            Ok(()) => HandOver::Yes,
            Err(TrySendError::Full(_)) => HandOver::Full,
            // The task has panicked. The caller gets the request back and starts a task with it.
            Err(TrySendError::Closed(request)) => HandOver::Absent(request),
        }
    }

    /// Starts the task of a stream with a new mailbox, and puts the given messages into it. Starts
    /// nothing after [`Directory::abort_all`]; the messages are dropped then.
    fn open(
        &mut self,
        stream: &StreamId,
        request: Option<Request>,
        notice: Option<Box<TurnNotice>>,
        start: impl FnOnce(StreamHandle) -> AbortHandle,
    ) -> HandOver<Request> {
        // Dropping the request closes its reply channel, which its sender reports as an error.
        if self.closed {
            return HandOver::Yes;
        }
        let (requests, requests_rx) = mpsc::channel(QUEUE_LEN);
        let (notices, notices_rx) = mpsc::unbounded_channel();
        let (updates, board) = (Arc::<Updates>::default(), Arc::<Board>::default());
        self.opened += 1;
        let handle = StreamHandle {
            number: self.opened,
            requests: requests_rx,
            notices: notices_rx,
            updates: updates.clone(),
            board: board.clone(),
        };
        if let Some(request) = request {
            let _ = requests.try_send(request);
        }
        if let Some(notice) = notice {
            let _ = notices.send(notice);
        }
        let task = Some(start(handle));
        self.live.insert(
            stream.clone(),
            Mailbox { requests, notices, updates, board, number: self.opened, task },
        );
        HandOver::Yes
    }
}
