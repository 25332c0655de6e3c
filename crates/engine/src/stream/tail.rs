//! The part of a stream in memory for prompts: its newest events, and messages from before them.

use std::collections::VecDeque;

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::Seq;

/// Number of newest events that a live stream does not drop from memory, even if no turn needs
/// them.
pub(super) const TAIL_LEN: usize = 256;
/// Minimum bytes of a label and the end of its line.
const LABEL_BYTES: usize = 5;

/// The newest events of a stream, as far back as its turns look, and the messages before them for
/// which prompts had room. The next turn does not read them again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    events: VecDeque<RecordedEvent>,
    /// Messages from before `events`, oldest first. All messages after [`Tail::messages_after`] are
    /// here.
    messages: VecDeque<RecordedEvent>,
    messages_after: Seq,
    /// The largest number of events that a turn has asked for.
    reach: usize,
    /// The most messages that a turn has asked for.
    wanted: TailBudget,
}

/// The amount of messages for which a prompt has room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TailBudget {
    /// Bytes. A message counts for at most a quarter of them.
    pub(super) bytes: usize,
    /// Minimum number of messages, however long they are.
    pub(super) count: usize,
}

impl TailBudget {
    /// True if these messages are enough.
    fn met_by<'a>(self, messages: impl Iterator<Item = &'a RecordedEvent>) -> bool {
        let (mut bytes, mut count) = (0, 0);
        for message in messages.filter(|recorded| recorded.event.is_in_prompts()) {
            bytes += weight(message).min(self.bytes / 4);
            count += 1;
            if bytes >= self.bytes && count >= self.count {
                return true;
            }
        }
        // Before a turn has asked for messages, an empty list is enough.
        self == Self::default()
    }
}

/// Returns about the number of bytes that a message takes in a prompt.
fn weight(message: &RecordedEvent) -> usize {
    message.event.body().map_or(0, str::len) + LABEL_BYTES
}

impl Tail {
    /// Adds appended events, and erases the words that they erase. A gap before them drops all
    /// earlier events and messages, because the tail holds only an unbroken run.
    pub(crate) fn push(&mut self, events: &[RecordedEvent]) {
        if self
            .events
            .back()
            .zip(events.first())
            .is_some_and(|(last, next)| next.seq != last.seq.next())
        {
            self.events.clear();
        }
        if let (true, Some(first)) = (self.events.is_empty(), events.first()) {
            self.messages.clear();
            self.messages_after = Seq(first.seq.0.saturating_sub(1));
        }
        for recorded in events {
            for seq in recorded.event.erases() {
                let kept =
                    self.events.iter_mut().chain(&mut self.messages).filter(|kept| kept.seq == seq);
                kept.for_each(|kept| kept.event.erase());
            }
            self.events.push_back(recorded.clone());
        }
        // The slack above `kept` makes the shortening rare, so that making the deque contiguous
        // costs little per event.
        let kept = self.reach + TAIL_LEN;
        if self.events.len() > kept + TAIL_LEN {
            self.shorten(kept);
        }
    }

    /// Drops all events but the newest `kept`. Of the dropped ones, holds the messages that prompts
    /// want.
    fn shorten(&mut self, kept: usize) {
        let gone = self.events.drain(..self.events.len() - kept);
        self.messages.extend(gone.filter(|recorded| matches!(recorded.event, Event::Posted(_))));
        while let Some(oldest) = self.messages.front().map(|message| message.seq)
            && self.wanted.met_by(self.messages.iter().skip(1))
        {
            self.messages.pop_front();
            self.messages_after = oldest;
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Notes the range that a turn needs.
    pub(super) fn reaches(&mut self, events: usize, wanted: TailBudget) {
        self.reach = self.reach.max(events);
        self.wanted = TailBudget {
            bytes: self.wanted.bytes.max(wanted.bytes),
            count: self.wanted.count.max(wanted.count),
        };
    }

    /// Replaces the events by these, which are all the events after a position. Drops the messages
    /// that do not lie directly before them.
    pub(super) fn replace(&mut self, after: Seq, events: Vec<RecordedEvent>) {
        let before = self.events.front().map_or(Seq(0), |first| first.seq);
        // The messages before the earlier events stay valid as far as they lie before the new ones
        // too.
        if after < before && self.messages_after <= after {
            self.messages.retain(|message| message.seq <= after);
        } else {
            self.messages.clear();
            self.messages_after = after;
        }
        self.events = events.into();
    }

    /// Adds messages from before the messages that the tail has, oldest first. An empty list means
    /// that the tail has all messages.
    pub(super) fn put_before(&mut self, mut earlier: Vec<RecordedEvent>) {
        earlier.retain(|message| message.seq <= self.messages_after);
        self.messages_after =
            earlier.first().map_or(Seq(0), |oldest| Seq(oldest.seq.0.saturating_sub(1)));
        earlier.into_iter().rev().for_each(|message| self.messages.push_front(message));
    }

    /// Returns the position after which the tail has all messages.
    pub(super) fn messages_after(&self) -> Seq {
        self.messages_after
    }

    /// True if the tail has as many messages up to `through` as are wanted.
    pub(super) fn meets(&self, wanted: TailBudget, through: Seq) -> bool {
        wanted.met_by(
            self.messages.iter().chain(&self.events).filter(|recorded| recorded.seq <= through),
        )
    }

    /// Returns the messages from before the events, and the events up to `until`. `None` if the
    /// tail does not have all events in `(after, until]`.
    pub(super) fn range(
        &mut self,
        after: Seq,
        until: Seq,
    ) -> Option<(&[RecordedEvent], &[RecordedEvent])> {
        let first = self.events.front()?.seq;
        let at = |seq: Seq| usize::try_from((seq.0 + 1).checked_sub(first.0)?).ok();
        // The first index is computed only to return `None` if events after `after` are missing.
        let (_, to) = (at(after)?, at(until)?);
        Some((self.messages.make_contiguous(), self.events.make_contiguous().get(..to)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use moothall_kernel::time::Timestamp;

    use super::*;

    fn closed(seq: u64) -> RecordedEvent {
        RecordedEvent {
            seq: Seq(seq),
            ts: Timestamp::from_millis(seq as i64),
            event: Event::RoundClosed,
        }
    }

    fn posted(seq: u64, words: &str) -> RecordedEvent {
        let posted = serde_json::json!({"posted": {"from": "user", "kind": "human", "to": "all", "depth": 0}});
        let event: Event = serde_json::from_value(posted).unwrap();
        RecordedEvent { event: event.with_body(words.to_owned()), ..closed(seq) }
    }

    fn seqs(events: &[RecordedEvent]) -> Vec<u64> {
        events.iter().map(|event| event.seq.0).collect()
    }

    #[test]
    fn the_tail_gives_a_range_only_when_it_has_it_whole() {
        let mut tail = Tail::default();
        tail.push(&(11..=20).map(closed).collect::<Vec<_>>());
        assert_eq!(seqs(tail.range(Seq(10), Seq(20)).unwrap().1), (11..=20).collect::<Vec<_>>());
        assert_eq!(seqs(tail.range(Seq(17), Seq(19)).unwrap().1), (11..=19).collect::<Vec<_>>());
        assert!(tail.range(Seq(9), Seq(20)).is_none());
        assert!(tail.range(Seq(15), Seq(21)).is_none());
        assert_eq!(tail.messages_after(), Seq(10));
        tail.push(&[closed(30)]);
        assert!(tail.range(Seq(19), Seq(20)).is_none(), "it has no gap");
        assert_eq!(seqs(tail.range(Seq(29), Seq(30)).unwrap().1), [30]);
        assert_eq!(tail.messages_after(), Seq(29));
    }

    #[test]
    fn the_tail_stays_small() {
        let mut tail = Tail::default();
        (1..=10_000).for_each(|seq| tail.push(&[posted(seq, "words")]));
        assert!(tail.events.len() <= 2 * TAIL_LEN);
        assert!(tail.messages.len() <= 1, "nobody asked for more");
        assert!(tail.range(Seq(9_999 - TAIL_LEN as u64 + 1), Seq(10_000)).is_some());
    }

    #[test]
    fn messages_stay_when_the_events_around_them_go() {
        let wanted = TailBudget { bytes: 1_000, count: 3 };
        let mut tail = Tail::default();
        tail.push(&[posted(1, "first")]);
        tail.reaches(0, wanted);
        (2..=2_000).for_each(|seq| tail.push(&[closed(seq)]));
        assert_eq!(
            (seqs(tail.range(Seq(1_900), Seq(2_000)).unwrap().0), tail.messages_after()),
            (vec![1], Seq(0))
        );
        tail.push(&(2_001..=4_000).map(|seq| posted(seq, "word")).collect::<Vec<_>>());
        assert!(tail.meets(wanted, Seq(4_000)));
        assert!((100..200).contains(&tail.messages.len()), "{}", tail.messages.len());
        assert_eq!(tail.messages.front().unwrap().seq, tail.messages_after().next());
    }

    #[test]
    fn a_long_message_does_not_stand_for_many() {
        let mut tail = Tail::default();
        tail.push(&[posted(9, &"x".repeat(100_000)), posted(10, "short")]);
        assert!(!tail.meets(TailBudget { bytes: 1_000, count: 1 }, Seq(10)));
        tail.put_before(vec![posted(3, &"x".repeat(100_000)), posted(7, &"x".repeat(100_000))]);
        assert!(!tail.meets(TailBudget { bytes: 1_000, count: 1 }, Seq(10)));
        tail.put_before(vec![posted(1, &"x".repeat(100_000))]);
        assert!(tail.meets(TailBudget { bytes: 1_000, count: 1 }, Seq(10)));
        assert_eq!(seqs(tail.range(Seq(8), Seq(10)).unwrap().0), [1, 3, 7]);
        tail.put_before(vec![]);
        assert_eq!(tail.messages_after(), Seq(0));
    }

    #[test]
    fn what_is_erased_is_erased_here_too() {
        let mut tail = Tail::default();
        tail.push(&[posted(9, "secret")]);
        tail.put_before(vec![posted(3, "secret")]);
        let erased = |seq| Event::Redacted {
            seq: Seq(seq),
            by: "user".into(),
            message: true,
            summaries: vec![],
            edited: false,
        };
        tail.push(&[
            RecordedEvent { event: erased(3), ..closed(10) },
            RecordedEvent { event: erased(9), ..closed(11) },
        ]);
        let (messages, events) = tail.range(Seq(8), Seq(11)).unwrap();
        assert!(messages[0].event.is_erased() && events[0].event.is_erased());
    }
}
