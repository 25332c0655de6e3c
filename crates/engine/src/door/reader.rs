//! A conversation as one reader follows it: first the log, then live updates, without a gap and
//! without a repetition.
//!
//! A reader reads the log until it has caught up, then listens. It takes the next item only when it
//! is asked for one. Until then its items wait in the buffer that all readers of a conversation
//! share, at no cost per reader. Each surface writes the items in its own format.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::view::Viewer;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::pages::PAGE;
use super::{Action, Door, EventFilter};
use crate::access::AccessError;
use crate::answers::{Signal, Update};
use crate::hall::ConnectionGuard;
use crate::hall::context::Context;
use crate::stream::updates::Subscription;

/// The next item for a reader.
#[derive(Debug)]
pub enum ReaderItem {
    /// Events read from the log for this reader alone; at least one.
    Page(Vec<RecordedEvent>),
    /// Events sent to all readers, of which this reader sees some.
    Batch(Batch),
    /// Text of a running turn from before the reader began to listen.
    Partial(Signal),
    /// An ephemeral signal, sent to all readers.
    Signal(Arc<Signal>),
    /// The context of a turn of the reader itself. No other reader gets it. A reader gets it only
    /// one time for each turn.
    Turn(Box<Context>),
    /// The reader was too slow. The missed events are in the log after this position. The reader
    /// reads them from there when asked for the next item.
    Lagged(Seq),
}

/// Events that all readers share, with the part that one reader sees.
#[derive(Debug)]
pub struct Batch {
    all: Arc<Vec<RecordedEvent>>,
    seen: Vec<Range<usize>>,
}

impl Batch {
    /// Selects the events after a position that pass the filter.
    pub fn new(all: Arc<Vec<RecordedEvent>>, filter: &EventFilter, after: Seq) -> Self {
        let mut seen: Vec<Range<usize>> = Vec::new();
        for (place, recorded) in all.iter().enumerate() {
            if recorded.seq <= after || !filter.passes(&recorded.event) {
                continue;
            }
            match seen.last_mut().filter(|run| run.end == place) {
                Some(run) => run.end = place + 1,
                None => seen.push(place..place + 1),
            }
        }
        Self { all, seen }
    }

    /// Returns all of the events, in the allocation that all readers share. A serialised form made
    /// of them can serve every reader.
    pub fn all(&self) -> &Arc<Vec<RecordedEvent>> {
        &self.all
    }

    /// Returns the index ranges in [`Batch::all`] of the events that the reader sees. The reader is
    /// never shown the others. Adjacent indices share a range.
    pub fn seen(&self) -> &[Range<usize>] {
        &self.seen
    }

    /// Returns the events that the reader sees.
    pub fn events(&self) -> impl Iterator<Item = &RecordedEvent> {
        self.seen.iter().flat_map(|run| &self.all[run.clone()])
    }
}

/// A reader of a conversation. If it reads as a participant, that participant counts as connected
/// while the reader lives.
pub struct Reader {
    door: Door,
    stream: StreamId,
    filter: EventFilter,
    /// The newest position that was passed, visible or not.
    after: Seq,
    ready: VecDeque<ReaderItem>,
    live: Option<Subscription>,
    turns: OwnTurns,
    _connected: Option<ConnectionGuard>,
}

impl Door {
    /// Follows a conversation from after a position, as the filter's viewer.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist for the caller.
    pub async fn follow(
        &self,
        stream: &StreamId,
        filter: impl Into<EventFilter>,
        after: Seq,
    ) -> Result<Reader, AccessError> {
        let filter = filter.into();
        self.enter(Action::ReadThread, stream)?;
        let connected = match filter.viewer() {
            Viewer::Participant(id) => {
                self.hall.permit_name(&self.caller, id).await?;
                Some(self.hall.connect(stream, id.clone(), filter.takes_turns()).await?)
            }
            Viewer::Operator | Viewer::Guest => None,
        };
        let turns = OwnTurns::of(filter.viewer());
        Ok(Reader {
            door: self.clone(),
            stream: stream.clone(),
            filter,
            after,
            ready: VecDeque::new(),
            live: None,
            turns,
            _connected: connected,
        })
    }
}

impl Reader {
    /// Returns the conversation of the reader.
    pub fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// Returns the newest position that was passed, visible or not.
    pub fn passed(&self) -> Seq {
        self.after
    }

    /// Returns the next item if there is one; `None` if the reader has caught up and has to
    /// [listen](Reader::listen).
    ///
    /// # Errors
    /// [`AccessError`], if the conversation is out of reach by now, or cannot be read.
    pub async fn next(&mut self) -> Result<Option<ReaderItem>, AccessError> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Ok(Some(piece));
            }
            let moved = match self.live.as_ref().map(|live| live.head) {
                // Not live yet, or cut off: the log is read first. The three reads are boxed,
                // because they are rare and would enlarge the future of every item.
                None => Box::pin(self.catch_up()).await?,
                Some(head) if self.after < head => Box::pin(self.read(Some(head))).await?,
                // The contexts of the reader's own open turns, if some of them may be unsent.
                Some(_) if self.turns.more && Box::pin(self.ask_for_turns()).await? => true,
                Some(_) => self.take_waiting(),
            };
            if !moved {
                return Ok(None);
            }
        }
    }

    /// Waits until there may be another item. Cancel-safe: dropping the future loses no update.
    pub async fn listen(&mut self) {
        let Some(live) = &mut self.live else { return };
        match live.updates.recv().await {
            Ok(update) => self.take(update),
            Err(RecvError::Lagged(_)) => self.lag(),
            // The stream's task ended. All that it appended is in the log.
            Err(RecvError::Closed) => self.live = None,
        }
    }

    /// Reads a page of the log, up to a position if one is given. Returns true if there was
    /// anything.
    async fn read(&mut self, until: Option<Seq>) -> Result<bool, AccessError> {
        let after = self.after;
        let span = until
            .map_or(PAGE, |until| usize::try_from(until.0 - after.0).unwrap_or(PAGE).min(PAGE));
        let mut page = self
            .door
            .page(Action::ReadThread, &self.stream, self.filter.viewer(), after, span)
            .await?;
        self.turns.look_again();
        // If a page does not advance, it holds only kinds of events that this version does not
        // know. Skip them, up to the head.
        self.after = if page.through > after { page.through } else { until.unwrap_or(after) };
        self.filter.keep(&mut page.events);
        if !page.events.is_empty() {
            self.ready.push_back(ReaderItem::Page(page.events));
        }
        Ok(self.after > after)
    }

    /// Reads on in the log. Subscribes to live updates when nothing more is left to read.
    async fn catch_up(&mut self) -> Result<bool, AccessError> {
        Ok(self.read(None).await? || self.subscribe().await?)
    }

    /// Subscribes to live updates, and queues the texts that running turns have so far. Always
    /// returns true, because the caller has to look again.
    async fn subscribe(&mut self) -> Result<bool, AccessError> {
        self.door.enter(Action::ReadThread, &self.stream)?;
        let mut live = self.door.hall.subscribe(&self.stream).await?;
        self.ready.extend(live.partials.drain(..).map(ReaderItem::Partial));
        self.live = Some(live);
        Ok(true)
    }

    /// Queues the contexts of the reader's open turns that it was not sent. Returns true if an item
    /// is ready.
    async fn ask_for_turns(&mut self) -> Result<bool, AccessError> {
        let contexts = self.turns.unsent(&self.door, &self.stream).await?;
        self.ready.extend(contexts.into_iter().map(|context| ReaderItem::Turn(Box::new(context))));
        Ok(!self.ready.is_empty())
    }

    /// Takes one update that has arrived already. Returns true if there was one.
    fn take_waiting(&mut self) -> bool {
        let Some(live) = &mut self.live else { return false };
        match live.updates.try_recv() {
            Ok(update) => self.take(update),
            Err(TryRecvError::Empty) => return false,
            Err(TryRecvError::Lagged(_)) => self.lag(),
            Err(TryRecvError::Closed) => self.live = None,
        }
        true
    }

    /// Handles a live update. Queues it for the reader, unless the filter hides all of its events,
    /// and advances the position passed.
    fn take(&mut self, update: Update) {
        match update {
            Update::Signal(signal) => self.ready.push_back(ReaderItem::Signal(signal)),
            Update::Events(events) => {
                self.turns.observe(&events);
                let through = events.last().map_or(self.after, |newest| newest.seq);
                let batch = Batch::new(events, &self.filter, self.after);
                // Live events may be older than what was read from the log, and the position never
                // goes back.
                self.after = self.after.max(through);
                if !batch.seen.is_empty() {
                    self.ready.push_back(ReaderItem::Batch(batch));
                }
            }
        }
    }

    /// Ends the subscription and queues [`ReaderItem::Lagged`], because updates were missed.
    fn lag(&mut self) {
        // Without a subscription, the next item comes from the log, after the position passed.
        self.live = None;
        self.ready.push_back(ReaderItem::Lagged(self.after));
    }
}

/// The turns of a reader that is a participant, and the newest turn that was sent to it.
struct OwnTurns {
    /// The participant; `None` for a reader that takes no turns.
    reader: Option<ParticipantId>,
    /// The newest turn that the reader was sent.
    newest_sent: TurnNo,
    /// True if there may be turns that the reader was not sent.
    more: bool,
}

impl OwnTurns {
    fn of(viewer: &Viewer) -> Self {
        let reader = match viewer {
            Viewer::Participant(id) => Some(id.clone()),
            Viewer::Operator | Viewer::Guest => None,
        };
        Self { more: reader.is_some(), reader, newest_sent: TurnNo(0) }
    }

    /// Notes if new events grant the reader a turn.
    fn observe(&mut self, events: &[RecordedEvent]) {
        let own = |recorded: &RecordedEvent| {
            matches!(
                &recorded.event,
                Event::TurnGranted { participant, .. } if self.reader.as_ref() == Some(participant)
            )
        };
        self.more |= events.iter().any(own);
    }

    /// Assumes unsent turns, because a page of the log is not looked through.
    fn look_again(&mut self) {
        self.more = self.reader.is_some();
    }

    /// Returns the contexts that the reader was not sent yet. They are composed on demand, so a
    /// reader that reconnects gets them again.
    async fn unsent(
        &mut self,
        door: &Door,
        stream: &StreamId,
    ) -> Result<Vec<Context>, AccessError> {
        let Some(reader) = &self.reader else {
            return Ok(Vec::new());
        };
        let contexts = door.own_contexts(stream, reader, self.newest_sent).await?;
        self.more = false;
        self.newest_sent = contexts.last().map_or(self.newest_sent, |context| context.turn);
        Ok(contexts)
    }
}
