//! The listeners of a stream, and the updates that wait for slow ones.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::Seq;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::answers::{Signal, Update};
use crate::log_format::codec;
use crate::ports::PAGE_BYTES_MAX;

/// Number of updates that a listener may lag behind before it has to read the log again.
pub(crate) const UPDATES_LEN: usize = 1024;
/// Maximum number of events that wait for the slowest listener.
pub(crate) const WAITING_EVENTS_MAX: usize = 1024;
/// Maximum bytes of the events that wait for the slowest listener. The limit holds for all
/// listeners of a stream together.
pub(crate) const WAITING_BYTES_MAX: usize = 4 << 20;

/// A listener's end of a conversation.
pub struct Subscription {
    /// The head at the start of the subscription: later events come through `updates`.
    pub head: Seq,
    /// Partial answers of the turns that run now.
    pub partials: Vec<Signal>,
    /// The updates. `Lagged` means that the listener was too slow and has to read the log again.
    pub updates: Listener,
}

/// A stream's listeners. Without listeners nothing is allocated.
#[derive(Default)]
pub(crate) struct Updates(Mutex<ListenerState>);

#[derive(Default)]
struct ListenerState {
    sender: Option<broadcast::Sender<RingItem>>,
    /// The batches that a listener has perhaps not received yet, oldest first.
    waiting: VecDeque<QueuedBatch>,
}

/// An entry in a listener's ring.
#[derive(Clone)]
enum RingItem {
    Events(Arc<BatchSlot>),
    Signal(Arc<Signal>),
}

/// A batch, emptied if its listeners are too slow.
struct BatchSlot(Mutex<Option<Arc<Vec<RecordedEvent>>>>);

impl BatchSlot {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Vec<RecordedEvent>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A batch in the rings of listeners. It is dropped when all of them have received it.
struct QueuedBatch {
    slot: Weak<BatchSlot>,
    events: usize,
    bytes: usize,
}

impl Updates {
    fn lock(&self) -> MutexGuard<'_, ListenerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(&self) -> Listener {
        Listener(
            self.lock().sender.get_or_insert_with(|| broadcast::channel(UPDATES_LEN).0).subscribe(),
        )
    }

    /// Sends a signal to all listeners. The closure that makes it runs only if there are listeners.
    pub(crate) fn signal(&self, signal: impl FnOnce() -> Signal) {
        if let Some(sender) = self.lock().heard() {
            let _ = sender.send(RingItem::Signal(Arc::new(signal())));
        }
    }

    /// Sends a batch to all listeners. A long batch is split, so that each piece fits in a page.
    pub(crate) fn events(&self, events: &Arc<Vec<RecordedEvent>>) {
        let mut state = self.lock();
        if state.heard().is_none() {
            return;
        }
        let weights: Vec<usize> =
            events.iter().map(|recorded| codec::weight(&recorded.event)).collect();
        let all: usize = weights.iter().sum();
        if all <= PAGE_BYTES_MAX {
            return state.tell(events.clone(), all);
        }
        let (mut piece, mut bytes) = (Vec::new(), 0);
        for (recorded, weight) in events.iter().zip(weights) {
            if bytes + weight > PAGE_BYTES_MAX && !piece.is_empty() {
                state.tell(Arc::new(std::mem::take(&mut piece)), std::mem::take(&mut bytes));
            }
            piece.push(recorded.clone());
            bytes += weight;
        }
        state.tell(Arc::new(piece), bytes);
    }

    /// True if the stream has listeners. Without listeners, drops the waiting batches.
    pub(crate) fn in_use(&self) -> bool {
        let mut state = self.lock();
        if state.heard().is_none() {
            *state = ListenerState::default();
        }
        state.sender.is_some()
    }
}

impl ListenerState {
    /// Returns the channel of the listeners, if there are any.
    fn heard(&self) -> Option<&broadcast::Sender<RingItem>> {
        self.sender.as_ref().filter(|sender| sender.receiver_count() > 0)
    }

    /// Sends a batch to the listeners, and drops the oldest waiting batches if too much waits for
    /// slow ones.
    fn tell(&mut self, events: Arc<Vec<RecordedEvent>>, bytes: usize) {
        let Some(sender) = &self.sender else { return };
        let count = events.len();
        let slot = Arc::new(BatchSlot(Mutex::new(Some(events))));
        let kept = QueuedBatch { slot: Arc::downgrade(&slot), events: count, bytes };
        let _ = sender.send(RingItem::Events(slot));
        self.waiting.push_back(kept);
        self.take_from_the_slow();
    }

    /// Drops the oldest batches while too much waits, so slow listeners miss them. The newest batch
    /// stays.
    fn take_from_the_slow(&mut self) {
        while self.waiting.front().is_some_and(|kept| kept.slot.strong_count() == 0) {
            self.waiting.pop_front();
        }
        let sum = |of: fn(&QueuedBatch) -> usize, waiting: &VecDeque<QueuedBatch>| {
            waiting.iter().map(of).sum::<usize>()
        };
        let (mut events, mut bytes) =
            (sum(|kept| kept.events, &self.waiting), sum(|kept| kept.bytes, &self.waiting));
        while (events > WAITING_EVENTS_MAX || bytes > WAITING_BYTES_MAX) && self.waiting.len() > 1 {
            let Some(oldest) = self.waiting.pop_front() else { return };
            events -= oldest.events;
            bytes -= oldest.bytes;
            if let Some(slot) = oldest.slot.upgrade() {
                slot.lock().take();
            }
        }
    }
}

/// A listener's end of a stream. Its updates wait in a ring that all listeners share. If too much
/// waits, the oldest is dropped, and a listener that missed it gets [`RecvError::Lagged`].
pub struct Listener(broadcast::Receiver<RingItem>);

impl Listener {
    /// Waits for the next update.
    ///
    /// # Errors
    /// `Lagged` if this listener was too slow and has to read the log again; `Closed` if the
    /// stream's task ended.
    pub async fn recv(&mut self) -> Result<Update, RecvError> {
        match self.0.recv().await? {
            RingItem::Signal(signal) => Ok(Update::Signal(signal)),
            RingItem::Events(slot) => {
                // The number is never read, because a listener that lagged reads the log from its
                // own position.
                slot.lock().clone().map(Update::Events).ok_or(RecvError::Lagged(1))
            }
        }
    }

    /// Returns the next update that has arrived already.
    ///
    /// # Errors
    /// As [`Listener::recv`]; `Empty` if nothing waits.
    pub fn try_recv(&mut self) -> Result<Update, TryRecvError> {
        match self.0.try_recv()? {
            RingItem::Signal(signal) => Ok(Update::Signal(signal)),
            RingItem::Events(slot) => {
                slot.lock().clone().map(Update::Events).ok_or(TryRecvError::Lagged(1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use moothall_kernel::event::{Event, SuppressedBecause};
    use moothall_kernel::ids::{ParticipantId, Seq};
    use moothall_kernel::time::Timestamp;

    fn batch(seq: u64, bodies: &[usize]) -> Arc<Vec<RecordedEvent>> {
        let event = |bytes: &usize| Event::Suppressed {
            participant: ParticipantId::new("a"),
            turn: None,
            because: SuppressedBecause::Muted,
            counted: 0,
            body: "x".repeat(*bytes),
        };
        let place = |(n, bytes)| RecordedEvent {
            seq: Seq(seq + n as u64),
            ts: Timestamp::from_millis(0),
            event: event(bytes),
        };
        Arc::new(bodies.iter().enumerate().map(place).collect())
    }

    fn seqs(update: Result<Update, TryRecvError>) -> Vec<u64> {
        match update.unwrap() {
            Update::Events(events) => events.iter().map(|recorded| recorded.seq.0).collect(),
            Update::Signal(_) => panic!("no signal was sent"),
        }
    }

    fn weighs(of: &[Weak<Vec<RecordedEvent>>]) -> usize {
        of.iter()
            .filter_map(Weak::upgrade)
            .flat_map(|batch| batch.iter().map(|one| codec::weight(&one.event)).collect::<Vec<_>>())
            .sum()
    }

    #[test]
    fn however_slow_listeners_are_a_stream_keeps_a_few_megabytes_for_them() {
        let updates = Updates::default();
        let (mut slow, mut fast) = (updates.subscribe(), updates.subscribe());
        let mut made = Vec::new();
        for n in 1..=256 {
            let events = batch(n, &[250_000]);
            made.push(Arc::downgrade(&events));
            updates.events(&events);
            drop(events);
            assert_eq!(seqs(fast.try_recv()), [n], "others notice nothing");
            assert!(weighs(&made) <= WAITING_BYTES_MAX);
        }
        assert!(weighs(&made) > WAITING_BYTES_MAX / 2, "what is recent is kept");
        assert_eq!(slow.try_recv().unwrap_err(), TryRecvError::Lagged(1));
    }

    #[test]
    fn more_than_a_thousand_events_do_not_wait_however_short_they_are() {
        let updates = Updates::default();
        let mut slow = updates.subscribe();
        for n in 0..5 {
            updates.events(&batch(n * 256 + 1, &[1; 256]));
        }
        assert_eq!(slow.try_recv().unwrap_err(), TryRecvError::Lagged(1));
        assert_eq!(seqs(slow.try_recv()).first(), Some(&257));
    }

    #[test]
    fn a_batch_of_many_megabytes_is_told_in_pieces() {
        let updates = Updates::default();
        let mut listener = updates.subscribe();
        updates.events(&batch(1, &[250_000, 250_000, 250_000, 1_000_000, 10]));
        assert_eq!(seqs(listener.try_recv()), [1, 2]);
        assert_eq!(seqs(listener.try_recv()), [3]);
        assert_eq!(seqs(listener.try_recv()), [4]);
        assert_eq!(seqs(listener.try_recv()), [5]);
        assert_eq!(listener.try_recv().unwrap_err(), TryRecvError::Empty);
    }
}
