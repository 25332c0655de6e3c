//! Events and signals as bytes. A batch or a signal for all live readers of a thread is encoded
//! only one time.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::body::Bytes;
use moothall_engine::door::Entrance;
use moothall_engine::erase::Copies;
use moothall_engine::hall::Signal;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::StreamId;

use super::signal;
use crate::http::{presence_update, write_envelope};
use crate::wire::{DeltaSignal, ProgressSignal, turn_id};

/// Maximum number of encoded batches, and of encoded signals, that stay in memory for later
/// readers.
const KEPT: usize = 64;
/// Maximum number of bytes of these batches, and of these signals. The newest item stays at any
/// size.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// An encoded batch of events: one buffer, and the end of each event in it.
pub struct EncodedBatch {
    batch: Arc<Vec<RecordedEvent>>,
    joined: Bytes,
    ends: Vec<usize>,
}

impl EncodedBatch {
    /// Encodes a batch.
    pub fn new(stream: &StreamId, batch: Arc<Vec<RecordedEvent>>) -> Self {
        let mut text = Vec::new();
        let mut ends = Vec::with_capacity(batch.len());
        for recorded in batch.iter() {
            write_event(&mut text, stream, recorded);
            ends.push(text.len());
        }
        Self { batch, joined: text.into(), ends }
    }

    /// Returns the events in these ranges of the batch, as one slice of the buffer for each range.
    pub fn pieces(&self, seen: &[Range<usize>]) -> impl Iterator<Item = Bytes> {
        seen.iter().map(|run| self.joined.slice(self.end_of(run.start)..self.end_of(run.end)))
    }

    /// Returns the offset in the buffer at which the first `events` events end.
    fn end_of(&self, events: usize) -> usize {
        events.checked_sub(1).map_or(0, |last| self.ends[last])
    }
}

/// Encodes events for one reader.
pub fn page_bytes(stream: &StreamId, events: &[RecordedEvent]) -> Bytes {
    let mut text = Vec::new();
    for recorded in events {
        write_event(&mut text, stream, recorded);
    }
    text.into()
}

fn write_event(text: &mut Vec<u8>, stream: &StreamId, recorded: &RecordedEvent) {
    text.extend_from_slice(format!("id: {}\ndata: ", recorded.seq).as_bytes());
    write_envelope(text, stream, recorded);
    text.extend_from_slice(b"\n\n");
}

/// The batches and signals encoded most recently. An entry keeps the engine's own allocation alive,
/// so that its pointer identifies the batch or signal.
#[derive(Default)]
pub struct FrameCache {
    batches: Mutex<VecDeque<Arc<EncodedBatch>>>,
    signals: Mutex<VecDeque<(Arc<Signal>, Bytes)>>,
}

impl Copies for FrameCache {
    fn forget(&self) {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner).clear();
        // Erased words of an agent may also be in the signals that showed them while they were
        // written.
        self.signals.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl FrameCache {
    /// Creates the cache of a hall. The hall clears it when content is erased.
    pub fn of_hall(hall: &Entrance) -> Arc<Self> {
        let frames = Arc::new(Self::default());
        let copies: Weak<Self> = Arc::downgrade(&frames);
        hall.keeps_copies(copies);
        frames
    }

    /// Returns the bytes of a batch of this stream. Encodes the batch only if the cache does not
    /// have it.
    pub fn of(&self, stream: &StreamId, batch: &Arc<Vec<RecordedEvent>>) -> Arc<EncodedBatch> {
        let mut kept = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.iter().rev().find(|encoded| Arc::ptr_eq(&encoded.batch, batch)) {
            return found.clone();
        }
        // The lock stays held during the encoding. So other readers of the batch wait for these
        // bytes and do not encode it again.
        let encoded = Arc::new(EncodedBatch::new(stream, batch.clone()));
        keep(&mut kept, encoded.clone(), |encoded| encoded.joined.len());
        encoded
    }

    /// Returns the bytes of a signal of this stream. Encodes the signal only if the cache does not
    /// have it.
    pub fn of_signal(&self, stream: &StreamId, given: &Arc<Signal>) -> Bytes {
        let mut kept = self.signals.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = kept.iter().rev().find(|(signal, _)| Arc::ptr_eq(signal, given)) {
            return bytes.clone();
        }
        let bytes = signal_bytes(stream, given);
        keep(&mut kept, (given.clone(), bytes.clone()), |(_, bytes)| bytes.len());
        bytes
    }
}

/// Adds an item to a cache, and drops the oldest items beyond [`KEPT`] and [`KEPT_BYTES_MAX`].
fn keep<T>(kept: &mut VecDeque<T>, item: T, bytes: fn(&T) -> usize) {
    kept.push_back(item);
    // The newest item stays at any size: its other readers are still to come.
    while kept.len() > KEPT
        || (kept.len() > 1 && kept.iter().map(bytes).sum::<usize>() > KEPT_BYTES_MAX)
    {
        kept.pop_front();
    }
}

/// Encodes a signal as a named event.
pub fn signal_bytes(stream: &StreamId, given: &Signal) -> Bytes {
    match given {
        Signal::Presence(presence) => signal("presence", &presence_update(stream, presence)),
        Signal::Delta { turn, attempt, participant, offset, text } => signal(
            "delta",
            &DeltaSignal {
                turn: turn_id(stream, *turn),
                attempt: *attempt,
                participant: participant.to_string(),
                offset: *offset,
                text: text.clone(),
            },
        ),
        Signal::Progress { turn, participant, text } => signal(
            "progress",
            &ProgressSignal {
                turn: turn_id(stream, *turn),
                participant: participant.to_string(),
                text: text.clone(),
            },
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use moothall_engine::door::Batch;
    use moothall_kernel::command::{Actor, ClientCommand, Post};
    use moothall_kernel::event::{Event, Guard, SuppressedBecause};
    use moothall_kernel::ids::{Seq, TurnNo};
    use moothall_kernel::policy::Policy;
    use moothall_kernel::time::Timestamp;
    use moothall_kernel::view::Viewer;

    fn batch() -> Arc<Vec<RecordedEvent>> {
        let events = [
            Event::GuardTripped { guard: Guard::Pair },
            Event::RoundClosed,
            Event::RoundClosed,
            Event::GuardTripped { guard: Guard::Pair },
        ];
        let place = |(index, event)| RecordedEvent {
            seq: Seq(index as u64 + 5),
            ts: Timestamp::from_millis(index as i64),
            event,
        };
        Arc::new(events.into_iter().enumerate().map(place).collect())
    }

    fn ids(pieces: &[Bytes]) -> Vec<u64> {
        let text: Vec<u8> = pieces.concat();
        let text = String::from_utf8(text).unwrap();
        text.lines()
            .filter_map(|line| line.strip_prefix("id: "))
            .map(|id| id.parse().unwrap())
            .collect()
    }

    #[test]
    fn each_viewer_gets_what_it_may_see_and_has_not_seen() {
        let encoded = EncodedBatch::new(&"s".into(), batch());
        let pieces = |viewer: &Viewer, after: u64| -> Vec<Bytes> {
            encoded.pieces(Batch::new(batch(), &viewer.clone().into(), Seq(after)).seen()).collect()
        };
        assert_eq!(ids(&pieces(&Viewer::Operator, 0)), [5, 6, 7, 8]);
        assert_eq!(pieces(&Viewer::Operator, 0).len(), 1);
        assert_eq!(ids(&pieces(&Viewer::Operator, 6)), [7, 8]);
        assert_eq!(ids(&pieces(&Viewer::Guest, 0)), [5, 8]);
        assert_eq!(ids(&pieces(&Viewer::Guest, 5)), [8]);
        assert!(pieces(&Viewer::Operator, 8).is_empty());
        assert_eq!(page_bytes(&"s".into(), &batch()), pieces(&Viewer::Operator, 0)[0]);
    }

    #[test]
    fn a_few_megabytes_of_bytes_are_kept() {
        let frames = FrameCache::default();
        let event = |body: &str| Event::Suppressed {
            participant: "a".into(),
            turn: None,
            because: SuppressedBecause::Muted,
            counted: 0,
            body: body.into(),
        };
        let long = "x".repeat(300_000);
        for n in 0..40 {
            let batch = Arc::new(vec![RecordedEvent {
                seq: Seq(n),
                ts: Timestamp::from_millis(0),
                event: event(&long),
            }]);
            frames.of(&"s".into(), &batch);
        }
        let kept: usize =
            frames.batches.lock().unwrap().iter().map(|encoded| encoded.joined.len()).sum();
        assert!((KEPT_BYTES_MAX / 2..=KEPT_BYTES_MAX).contains(&kept), "{kept}");
    }

    #[tokio::test]
    async fn erased_words_are_kept_by_nobody_whichever_way_they_were_erased() {
        let hall = crate::surface::tests::hall().await;
        let user = || Actor::human("user");
        let stream = hall.create("t".into(), Policy::default(), user(), None).await.unwrap().stream;
        let said = hall
            .submit(&stream, ClientCommand::Post(Post::new(user(), "a secret")), None)
            .await
            .unwrap();
        let frames = FrameCache::of_hall(&hall.entrance());
        frames.of(&stream, &Arc::new(vec![said.event.unwrap()]));
        hall.submit(&stream, ClientCommand::Post(Post::new(user(), "hello")), None).await.unwrap();
        let shown = Signal::Progress {
            turn: TurnNo(1),
            participant: "a".into(),
            text: "reads a secret".into(),
        };
        frames.of_signal(&stream, &Arc::new(shown));
        assert_eq!(frames.batches.lock().unwrap().len(), 1);
        hall.submit(
            &stream,
            ClientCommand::Redact { seq: said.head, message: true, by: user() },
            None,
        )
        .await
        .unwrap();
        assert!(frames.batches.lock().unwrap().is_empty());
        assert!(frames.signals.lock().unwrap().is_empty());
    }

    #[test]
    fn a_batch_is_encoded_once() {
        let (frames, batch) = (FrameCache::default(), batch());
        let first = frames.of(&"s".into(), &batch);
        assert!(Arc::ptr_eq(&first, &frames.of(&"s".into(), &batch)));
        assert!(!Arc::ptr_eq(&first, &frames.of(&"s".into(), &super::tests::batch())));
    }
}
