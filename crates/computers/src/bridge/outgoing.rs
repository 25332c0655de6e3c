//! The rows that are under way to other computers, as a state without input or output.
//!
//! The log has the rows and their numbers. This state has the bodies of the rows that were sent and
//! not acknowledged, in memory of limited size.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::sync::{Notify, oneshot};

use super::lock;
use crate::channel::{AcknowledgeError, ChannelKey, OutgoingChannel, WINDOW_BYTES};
use crate::frame::Through;
use crate::id::{BootId, ComputerId};
use crate::post::LeaseAnswer;

/// The outgoing rows of all pairs.
#[derive(Default)]
pub(super) struct OutgoingPosts {
    pairs: Mutex<BTreeMap<ComputerId, OutgoingRows>>,
    /// Wakes the task that puts rows into the post.
    pub(super) changed: Notify,
}

/// The outgoing rows of one pair.
#[derive(Default)]
struct OutgoingRows {
    /// The channel, from the first introduction of the receiver on.
    channel: Option<OutgoingChannel>,
    /// The boot of the receiver that introduced itself last.
    boot: Option<BootId>,
    /// True if that boot is there.
    is_up: bool,
    /// True if the receiver ever had a mark of a row that the log never had. Later numbers would
    /// reach that mark, and rows that the receiver never got would count as taken. So nothing is
    /// sent to it.
    is_foreign: bool,
    /// True from a failed put until the rows are sent again.
    has_failed: bool,
    /// The number of the newest row that the receiver has taken.
    taken: u64,
    /// Lengths of the bodies in the channel, in order, and their sum.
    lens: VecDeque<usize>,
    bytes: usize,
    /// The carried rows that wait for their next step, by number.
    waiting: BTreeMap<u64, oneshot::Sender<()>>,
}

/// The introduction of a receiver, as far as the rows to it are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiverHello {
    /// The channel to it.
    pub(super) key: ChannelKey,
    /// The boot of the receiver.
    pub(super) boot: BootId,
    /// The number of the newest row that it has taken.
    pub(super) taken: u64,
    /// The number of the oldest row that the log still owes it, or of the next one.
    pub(super) first: u64,
    /// The number of the newest row in the log.
    pub(super) last: u64,
}

/// The next step of a row that is carried.
pub(super) enum RowStep {
    /// The receiver has taken the row.
    Taken,
    /// The receiver is not there.
    Away,
    /// The row is the next one, and there is room for its body.
    Compose,
    /// The row has to wait until something changes for it.
    Wait(oneshot::Receiver<()>),
}

/// A row to put into the post.
pub(super) struct SentRow {
    pub(super) to: ComputerId,
    pub(super) number: u64,
    pub(super) body: Arc<[u8]>,
}

/// An acknowledgement of a row that the log never had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ForeignMark;

impl OutgoingRows {
    /// Returns the number of the next row to push; `None` before the first introduction.
    fn next(&self) -> Option<u64> {
        self.channel.as_ref().map(|channel| channel.head().last + 1)
    }

    /// Wakes the rows that the receiver has taken, and the next one, for which there may be room.
    fn wake_taken(&mut self) {
        let later = self.waiting.split_off(&self.taken.saturating_add(1));
        wake(std::mem::replace(&mut self.waiting, later));
        self.wake_next();
    }

    fn wake_next(&mut self) {
        if let Some(next) = self.next().and_then(|next| self.waiting.remove(&next)) {
            // The carried row may have been dropped.
            let _ = next.send(());
        }
    }

    /// Notes if the receiver is there. Rows that wait see that it is away, and rest in the log.
    fn set_up(&mut self, is_up: bool) {
        self.is_up = is_up;
        if let Some(channel) = &mut self.channel {
            channel.receiver_seen(self.boot.filter(|_| is_up));
        }
        if !is_up {
            wake(std::mem::take(&mut self.waiting));
        }
    }

    /// Sends nothing more to a receiver whose mark is not one of this log.
    fn refuse(&mut self) {
        self.is_foreign = true;
        self.set_up(false);
    }

    /// Begins the channel anew at the row `first`. All rows before it are taken.
    fn begin(&mut self, key: ChannelKey, first: u64, now: Instant) {
        let mut channel = OutgoingChannel::new(key, first, [], now);
        channel.receiver_seen(self.boot.filter(|_| self.is_up));
        self.channel = Some(channel);
        self.lens.clear();
        self.bytes = 0;
    }

    /// Takes an acknowledgement; one about another log is ignored. `last` is the number of the
    /// newest row in the log.
    fn acknowledge(
        &mut self,
        through: Through,
        last: u64,
        now: Instant,
    ) -> Result<(), ForeignMark> {
        let Some(channel) = &mut self.channel else { return Ok(()) };
        match channel.acknowledge(through, now) {
            Ok(count) => {
                let acknowledged =
                    usize::try_from(count).unwrap_or(usize::MAX).min(self.lens.len());
                self.bytes -= self.lens.drain(..acknowledged).sum::<usize>();
            }
            Err(AcknowledgeError::OtherLog(_)) => return Ok(()),
            // The row is in the log, but not in the channel: the former boot of this computer sent
            // it.
            Err(AcknowledgeError::NoSuchRow { number, .. }) if number <= last => {
                let key = channel.key();
                self.begin(key, number + 1, now);
            }
            Err(AcknowledgeError::NoSuchRow { .. }) => {
                self.refuse();
                return Err(ForeignMark);
            }
        }
        self.taken = self.taken.max(through.number());
        self.wake_taken();
        Ok(())
    }
}

fn wake(rows: BTreeMap<u64, oneshot::Sender<()>>) {
    for row in rows.into_values() {
        let _ = row.send(());
    }
}

impl OutgoingPosts {
    /// Changes the rows of one pair, and wakes the task that sends.
    fn change<T>(&self, of: ComputerId, change: impl FnOnce(&mut OutgoingRows) -> T) -> T {
        let changed = change(lock(&self.pairs).entry(of).or_default());
        self.changed.notify_one();
        changed
    }

    /// Notes the introduction of a receiver. Returns true if it was away before.
    ///
    /// # Errors
    /// [`ForeignMark`] if the log never had the row that the receiver names as its newest, or if
    /// the receiver had such a mark before. Nothing more is sent to it then.
    pub(super) fn meet(&self, hello: ReceiverHello, now: Instant) -> Result<bool, ForeignMark> {
        let ReceiverHello { key, boot, taken, first, last } = hello;
        self.change(key.receiver, |rows| {
            if rows.is_foreign || taken > last {
                rows.refuse();
                return Err(ForeignMark);
            }
            rows.boot = Some(boot);
            rows.taken = rows.taken.max(taken);
            let newest = Through::new(key.log, rows.taken);
            match rows.channel.as_ref().is_some_and(|channel| channel.key() == key) {
                // The mark was checked, so every number up to it is one of this log.
                true => drop(rows.acknowledge(newest, rows.taken, now)),
                // A restored receiver may name a row before the oldest one that the log can still
                // send.
                false => rows.begin(key, first.max(rows.taken + 1), now),
            }
            let was_away = !rows.is_up;
            rows.set_up(true);
            rows.wake_taken();
            Ok(was_away)
        })
    }

    /// Notes the computers that are there. Sends the rows again to each receiver for which the post
    /// did not take a row. Returns true if a computer that was away is there again.
    pub(super) fn note_leases(&self, answer: &LeaseAnswer) -> bool {
        let mut is_back = false;
        for (id, rows) in lock(&self.pairs).iter_mut() {
            let there = answer.peers.get(id);
            // A boot that has not introduced itself may have another log, so it counts as away.
            let is_up = !rows.is_foreign && there.is_some() && there == rows.boot.as_ref();
            is_back |= is_up && !rows.is_up;
            if is_up != rows.is_up {
                rows.set_up(is_up);
            }
            if rows.has_failed
                && let Some(channel) = &mut rows.channel
            {
                rows.has_failed = false;
                channel.reconnected();
            }
        }
        self.changed.notify_one();
        is_back
    }

    /// Notes that every computer is away.
    pub(super) fn note_away(&self) {
        lock(&self.pairs).values_mut().for_each(|rows| rows.set_up(false));
    }

    /// Notes a new connection to the post, which may have lost everything.
    pub(super) fn reconnected(&self) {
        for rows in lock(&self.pairs).values_mut() {
            rows.has_failed = false;
            if let Some(channel) = &mut rows.channel {
                channel.reconnected();
            }
        }
        self.changed.notify_one();
    }

    /// Forgets the rows of a pair that ended.
    pub(super) fn forget(&self, of: ComputerId) {
        if let Some(mut rows) = lock(&self.pairs).remove(&of) {
            wake(std::mem::take(&mut rows.waiting));
        }
    }

    /// Returns the next step of a row that is carried.
    pub(super) fn step(&self, to: ComputerId, number: u64) -> RowStep {
        let mut pairs = lock(&self.pairs);
        let rows = pairs.entry(to).or_default();
        if number <= rows.taken {
            return RowStep::Taken;
        }
        if !rows.is_up {
            return RowStep::Away;
        }
        // A body that is longer than the rest of the room does not wait for all others.
        if rows.next() == Some(number) && rows.bytes < WINDOW_BYTES {
            return RowStep::Compose;
        }
        let (row, changed) = oneshot::channel();
        rows.waiting.insert(number, row);
        RowStep::Wait(changed)
    }

    /// Adds the body of a row, unless it is not the next one any more.
    pub(super) fn push(&self, to: ComputerId, number: u64, body: Arc<[u8]>) {
        self.change(to, |rows| {
            let is_next = rows.next() == Some(number);
            let Some(channel) = rows.channel.as_mut().filter(|_| is_next) else { return };
            let len = body.len();
            match channel.push(body) {
                Ok(given) => {
                    debug_assert_eq!(given, number, "the channel counts as the log does");
                    rows.lens.push_back(len);
                    rows.bytes += len;
                    rows.wake_next();
                }
                Err(error) => tracing::error!(%error, "a row was not bounded"),
            }
        });
    }

    /// Takes an acknowledgement of a boot of the receiver. `last` is the number of the newest row
    /// in the log.
    ///
    /// An acknowledgement of another boot than the one that introduced itself last is ignored: the
    /// log of the receiver may have been restored since, and would wait for the rows for ever.
    ///
    /// # Errors
    /// [`ForeignMark`] if the log never had the row. Nothing more is sent to the receiver then.
    pub(super) fn acknowledge(
        &self,
        (from, boot): (ComputerId, BootId),
        through: Through,
        last: u64,
        now: Instant,
    ) -> Result<(), ForeignMark> {
        self.change(from, |rows| match rows.boot == Some(boot) {
            true => rows.acknowledge(through, last, now),
            false => Ok(()),
        })
    }

    /// Returns the number of the newest row that a receiver has taken, as far as its
    /// acknowledgements and introductions show.
    pub(super) fn taken(&self, by: ComputerId) -> u64 {
        lock(&self.pairs).get(&by).map_or(0, |rows| rows.taken)
    }

    /// Returns the next rows to put into the post, at most this many for each pair, and the time at
    /// which there may be more.
    pub(super) fn next_rows(&self, now: Instant, limit: usize) -> (Vec<SentRow>, Option<Instant>) {
        let (mut sent, mut due) = (Vec::new(), None);
        for (to, rows) in lock(&self.pairs).iter_mut().filter(|(_, rows)| rows.is_up) {
            let Some(channel) = &mut rows.channel else { continue };
            let next = std::iter::from_fn(|| channel.next_row(now)).take(limit);
            sent.extend(next.map(|(number, body)| SentRow { to: *to, number, body }));
            due = [due, channel.due()].into_iter().flatten().min();
        }
        (sent, due)
    }

    /// Notes that the post did not take a row. No row for this receiver is put into the post until
    /// the lease is renewed or the post is connected again.
    pub(super) fn put_failed(&self, to: ComputerId, number: u64) {
        if let Some(rows) = lock(&self.pairs).get_mut(&to) {
            rows.has_failed = true;
            if let Some(channel) = &mut rows.channel {
                channel.put_failed(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::id::LogId;

    /// Makes the rows to a receiver that has taken none, of a log with some rows.
    fn met(first: u64, last: u64) -> (OutgoingPosts, ChannelKey, (ComputerId, BootId)) {
        let ids = (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap());
        let key = ChannelKey { sender: ids.0, log: LogId::random(), receiver: ids.1 };
        let posts = OutgoingPosts::default();
        let boot = BootId::random();
        let hello = ReceiverHello { key, boot, taken: first - 1, first, last };
        assert_eq!(posts.meet(hello, Instant::now()), Ok(true));
        (posts, key, (ids.1, boot))
    }

    fn is_next(posts: &OutgoingPosts, key: ChannelKey, number: u64) -> bool {
        matches!(posts.step(key.receiver, number), RowStep::Compose)
    }

    #[test]
    fn a_row_of_the_former_boot_is_acknowledged_and_the_next_one_is_sent() {
        let (posts, key, receiver) = met(3, 5);
        posts.push(key.receiver, 3, b"three".as_slice().into());
        let through = Through::new(key.log, 5);
        assert_eq!(posts.acknowledge(receiver, through, 6, Instant::now()), Ok(()));
        for number in 3..=5 {
            assert!(matches!(posts.step(key.receiver, number), RowStep::Taken), "{number}");
        }
        assert!(is_next(&posts, key, 6));
        posts.push(key.receiver, 6, b"six".as_slice().into());
        let (sent, _) = posts.next_rows(Instant::now(), 9);
        assert!(matches!(&sent[..], [SentRow { number: 6, .. }]));
    }

    #[test]
    fn an_acknowledgement_of_a_row_that_was_never_owed_ends_all_sending() {
        let (posts, key, receiver) = met(1, 2);
        let through = Through::new(key.log, 3);
        assert_eq!(posts.acknowledge(receiver, through, 2, Instant::now()), Err(ForeignMark));
        assert!(matches!(posts.step(key.receiver, 1), RowStep::Away));
        // The mark is one of this log later, and is not believed any more.
        let boot = BootId::random();
        let hello = ReceiverHello { key, boot, taken: 3, first: 1, last: 4 };
        assert_eq!(posts.meet(hello, Instant::now()), Err(ForeignMark));
        let other = Through::new(LogId::random(), 9);
        assert_eq!(posts.acknowledge(receiver, other, 4, Instant::now()), Ok(()));
        assert!(matches!(posts.step(key.receiver, 4), RowStep::Away));
    }

    #[test]
    fn an_acknowledgement_of_a_former_boot_counts_for_nothing() {
        let (posts, key, (receiver, former)) = met(1, 3);
        let boot = BootId::random();
        let hello = ReceiverHello { key, boot, taken: 1, first: 2, last: 3 };
        assert_eq!(posts.meet(hello, Instant::now()), Ok(false));
        let through = Through::new(key.log, 3);
        assert_eq!(posts.acknowledge((receiver, former), through, 3, Instant::now()), Ok(()));
        assert_eq!(posts.taken(receiver), 1);
        assert!(is_next(&posts, key, 2));
        assert_eq!(posts.acknowledge((receiver, boot), through, 3, Instant::now()), Ok(()));
        assert_eq!(posts.taken(receiver), 3);
    }

    #[test]
    fn bodies_wait_for_their_turn_and_for_room() {
        let (posts, key, receiver) = met(1, 30);
        let RowStep::Wait(mut third) = posts.step(key.receiver, 3) else { panic!("not its turn") };
        let body: Arc<[u8]> = vec![0; crate::frame::ROW_LEN_MAX].into();
        let mut number = 1;
        while number < 30 && is_next(&posts, key, number) {
            posts.push(key.receiver, number, body.clone());
            number += 1;
        }
        assert_eq!(number as usize - 1, WINDOW_BYTES.div_ceil(body.len()));
        assert_eq!(third.try_recv(), Ok(()), "its turn came");
        let RowStep::Wait(mut next) = posts.step(key.receiver, number) else { panic!("no room") };
        let through = Through::new(key.log, 1);
        assert_eq!(posts.acknowledge(receiver, through, 30, Instant::now()), Ok(()));
        assert_eq!(next.try_recv(), Ok(()), "there is room");
        assert!(is_next(&posts, key, number));
    }
}
