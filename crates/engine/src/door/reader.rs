//! A conversation as one reader follows it: what the log has, then what comes, without a gap and
//! each event once.
//!
//! A reader reads the log until it has caught up, then listens. It takes the next piece only when
//! it is asked for one, so what a slow reader has not taken yet waits in the buffer that all
//! readers of a conversation share, and costs nothing for each of them. Surfaces write the pieces
//! in their own way.

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

/// What a reader gets next.
#[derive(Debug)]
pub enum ReaderItem {
    /// Events that were read from the log for this reader alone: what it gets of them, at least
    /// one.
    Page(Vec<RecordedEvent>),
    /// Events that were told to everybody who listens, of which it gets some.
    Batch(Batch),
    /// What a turn that runs has said before the reader began to listen.
    Partial(Signal),
    /// Something ephemeral, told to everybody who listens.
    Signal(Arc<Signal>),
    /// What the reader is to read for a turn of its own. Nobody else gets it. It comes once for
    /// each turn and reader.
    Turn(Box<Context>),
    /// The reader was too slow. What it missed is in the log after this position, and comes from
    /// there if it is asked on.
    Lagged(Seq),
}

/// Events that all readers share, and which of them one reader gets.
#[derive(Debug)]
pub struct Batch {
    all: Arc<Vec<RecordedEvent>>,
    seen: Vec<Range<usize>>,
}

impl Batch {
    /// Of these events, what passes of those after a position.
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

    /// All of the events, in the allocation that every reader gets: whoever makes bytes of them
    /// makes them once for all.
    pub fn all(&self) -> &Arc<Vec<RecordedEvent>> {
        &self.all
    }

    /// The places in [`Batch::all`] of what the reader sees; the rest is never shown to it.
    /// Neighbours are one range.
    pub fn seen(&self) -> &[Range<usize>] {
        &self.seen
    }

    /// What the reader sees.
    pub fn events(&self) -> impl Iterator<Item = &RecordedEvent> {
        self.seen.iter().flat_map(|run| &self.all[run.clone()])
    }
}

/// A reader of a conversation. Where it looks through a participant's eyes, that one counts as
/// connected as long as the reader lives.
pub struct Reader {
    door: Door,
    stream: StreamId,
    filter: EventFilter,
    /// The newest position that was passed, seen or not.
    after: Seq,
    ready: VecDeque<ReaderItem>,
    live: Option<Subscription>,
    turns: OwnTurns,
    _connected: Option<ConnectionGuard>,
}

impl Door {
    /// Follows a conversation from after a position, through these eyes.
    ///
    /// # Errors
    /// [`AccessError`], when there is no such conversation for the caller.
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
    /// The conversation that it reads.
    pub fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// The newest position that it has passed, seen or not.
    pub fn passed(&self) -> Seq {
        self.after
    }

    /// The next piece, if it is there; nothing when the reader has caught up and has to
    /// [listen](Reader::listen).
    ///
    /// # Errors
    /// [`AccessError`], when the conversation is not within reach any more, or cannot be read.
    pub async fn next(&mut self) -> Result<Option<ReaderItem>, AccessError> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Ok(Some(piece));
            }
            let moved = match self.live.as_ref().map(|live| live.head) {
                // Boxed, because it is seldom needed, and room for it would be moved with every
                // piece.
                None => Box::pin(self.catch_up()).await?,
                Some(head) if self.after < head => Box::pin(self.read(Some(head))).await?,
                Some(_) if self.turns.more && Box::pin(self.ask_for_turns()).await? => true,
                Some(_) => self.take_waiting(),
            };
            if !moved {
                return Ok(None);
            }
        }
    }

    /// Waits until there may be another piece. Nothing is lost where it is dropped before.
    pub async fn listen(&mut self) {
        let Some(live) = &mut self.live else { return };
        match live.updates.recv().await {
            Ok(update) => self.take(update),
            Err(RecvError::Lagged(_)) => self.lag(),
            // The stream's task ended; whatever it appended is in the log.
            Err(RecvError::Closed) => self.live = None,
        }
    }

    /// Reads a page of the log, up to a position where one is given. Whether there was anything.
    async fn read(&mut self, until: Option<Seq>) -> Result<bool, AccessError> {
        let after = self.after;
        let span = until
            .map_or(PAGE, |until| usize::try_from(until.0 - after.0).unwrap_or(PAGE).min(PAGE));
        let mut page = self
            .door
            .page(Action::ReadThread, &self.stream, self.filter.viewer(), after, span)
            .await?;
        self.turns.look_again();
        // A page that reaches no further holds only kinds of events that this version does not
        // know: they are skipped up to the head.
        self.after = if page.through > after { page.through } else { until.unwrap_or(after) };
        self.filter.keep(&mut page.events);
        if !page.events.is_empty() {
            self.ready.push_back(ReaderItem::Page(page.events));
        }
        Ok(self.after > after)
    }

    /// Reads on, and listens where there is no more to read.
    async fn catch_up(&mut self) -> Result<bool, AccessError> {
        Ok(self.read(None).await? || self.subscribe().await?)
    }

    async fn subscribe(&mut self) -> Result<bool, AccessError> {
        self.door.enter(Action::ReadThread, &self.stream)?;
        let mut live = self.door.hall.subscribe(&self.stream).await?;
        self.ready.extend(live.partials.drain(..).map(ReaderItem::Partial));
        self.live = Some(live);
        Ok(true)
    }

    async fn ask_for_turns(&mut self) -> Result<bool, AccessError> {
        let contexts = self.turns.untold(&self.door, &self.stream).await?;
        self.ready.extend(contexts.into_iter().map(|context| ReaderItem::Turn(Box::new(context))));
        Ok(!self.ready.is_empty())
    }

    /// Takes what has come already. Whether there was anything.
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

    fn take(&mut self, update: Update) {
        match update {
            Update::Signal(signal) => self.ready.push_back(ReaderItem::Signal(signal)),
            Update::Events(events) => {
                self.turns.observe(&events);
                let through = events.last().map_or(self.after, |newest| newest.seq);
                let batch = Batch::new(events, &self.filter, self.after);
                self.after = self.after.max(through);
                if !batch.seen.is_empty() {
                    self.ready.push_back(ReaderItem::Batch(batch));
                }
            }
        }
    }

    fn lag(&mut self) {
        self.live = None;
        self.ready.push_back(ReaderItem::Lagged(self.after));
    }
}

/// The turns of a reader that comes by itself, and which of them it was told about.
struct OwnTurns {
    /// Nobody, for readers that take no turns.
    reader: Option<ParticipantId>,
    /// The newest turn that it was told about.
    told: TurnNo,
    /// Whether there may be more.
    more: bool,
}

impl OwnTurns {
    fn of(viewer: &Viewer) -> Self {
        let reader = match viewer {
            Viewer::Participant(id) => Some(id.clone()),
            Viewer::Operator | Viewer::Guest => None,
        };
        Self { more: reader.is_some(), reader, told: TurnNo(0) }
    }

    /// Looks through events that just came.
    fn observe(&mut self, events: &[RecordedEvent]) {
        let own = |recorded: &RecordedEvent| {
            matches!(
                &recorded.event,
                Event::TurnGranted { participant, .. } if self.reader.as_ref() == Some(participant)
            )
        };
        self.more |= events.iter().any(own);
    }

    /// There may be some among events that were not looked through.
    fn look_again(&mut self) {
        self.more = self.reader.is_some();
    }

    /// What it has to be told now. It is composed when it is asked for, so whoever comes again gets
    /// it again.
    async fn untold(
        &mut self,
        door: &Door,
        stream: &StreamId,
    ) -> Result<Vec<Context>, AccessError> {
        let Some(reader) = &self.reader else {
            return Ok(Vec::new());
        };
        let contexts = door.own_contexts(stream, reader, self.told).await?;
        self.more = false;
        self.told = contexts.last().map_or(self.told, |context| context.turn);
        Ok(contexts)
    }
}
