//! The receiving end of a channel: the next rows to append, and the mark to acknowledge.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::{ChannelKey, WINDOW_BYTES, WINDOW_ROWS};
use crate::frame::{Row, Through};
use crate::post::PostId;

/// The receiving end of a channel.
///
/// The host appends the rows of [`Self::ready`] to its log, with the new mark in the same append,
/// and then calls [`Self::committed`]. Only a commit, or the repetition of a committed row, makes
/// an acknowledgement.
#[derive(Debug)]
pub struct IncomingChannel {
    key: ChannelKey,
    /// Number of the last row in the host's log.
    mark: u64,
    /// Number of the last row that arrived with all before it; the mark if none did.
    last_ready: u64,
    waiting: BTreeMap<u64, WaitingRow>,
    /// Bytes of the waiting rows.
    bytes: usize,
    /// Number of the oldest row that the sender still has, as far as is known.
    kept_from: u64,
    /// True if the sender is owed an acknowledgement.
    owes: bool,
}

/// A row that is not in the host's log yet.
#[derive(Debug)]
struct WaitingRow {
    body: Arc<[u8]>,
    post: PostId,
}

/// The answer to a row that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reception {
    /// The row is among those of [`IncomingChannel::ready`].
    Ready,
    /// The row waits in memory until the rows before it arrive.
    Waits,
    /// The row is in the log, or waits already. Its entry in the post may be deleted.
    Repeated,
    /// The row is dropped: it is too far ahead, or the waiting rows take too much memory. Its entry
    /// may be deleted, because the sender still has the row.
    Beyond,
}

/// The reason for which a mark is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {number} cannot be committed: only rows up to {last} are there")]
pub struct CommitError {
    number: u64,
    last: u64,
}

impl IncomingChannel {
    /// Makes the channel from the durable mark of the host's log; 0 if it has none.
    pub fn new(key: ChannelKey, mark: u64) -> Self {
        let (waiting, bytes) = <_>::default();
        Self { key, mark, last_ready: mark, waiting, bytes, kept_from: 1, owes: false }
    }

    /// Returns the name of the channel.
    pub fn key(&self) -> ChannelKey {
        self.key
    }

    /// Returns the mark, for a [`Hello`](crate::frame::Hello).
    pub fn mark(&self) -> Through {
        Through::new(self.key.log, self.mark)
    }

    /// Takes a row that arrived as this entry of the post.
    pub fn receive(&mut self, row: Row, post: PostId) -> Reception {
        let Row { number, body } = row;
        if number <= self.mark {
            // The acknowledgement may have been lost.
            self.owes = true;
            return Reception::Repeated;
        }
        if self.waiting.contains_key(&number) {
            return Reception::Repeated;
        }
        // The next row is taken in any case: the rows that wait are of no use without it.
        let is_next = number - self.mark == 1;
        let fits = self.bytes + body.len() <= WINDOW_BYTES;
        if number - self.mark > WINDOW_ROWS || !(is_next || fits) {
            return Reception::Beyond;
        }
        self.bytes += body.len();
        self.waiting.insert(number, WaitingRow { body, post });
        self.extend_ready();
        if number <= self.last_ready { Reception::Ready } else { Reception::Waits }
    }

    /// Returns the rows that may be appended to the host's log now, in order, with their numbers.
    /// They stay here until they are committed, so that a failed append can be made again.
    pub fn ready(&self) -> impl Iterator<Item = (u64, &Arc<[u8]>)> {
        self.waiting.range(..=self.last_ready).map(|(number, row)| (*number, &row.body))
    }

    /// Notes that the host's log has stored the rows up to a number, together with that number as
    /// the mark. Returns the entries of these rows in the post, which may be deleted now.
    ///
    /// # Errors
    /// [`CommitError`] if rows up to that number have not arrived; nothing is changed.
    pub fn committed(&mut self, number: u64) -> Result<Vec<PostId>, CommitError> {
        let last = self.gap().map_or(self.last_ready, |gap| *gap.end());
        if number > last {
            return Err(CommitError { number, last });
        }
        if number <= self.mark {
            return Ok(Vec::new());
        }
        let later = self.waiting.split_off(&(number + 1));
        let done = std::mem::replace(&mut self.waiting, later);
        self.bytes -= done.values().map(|row| row.body.len()).sum::<usize>();
        self.mark = number;
        self.last_ready = self.last_ready.max(number);
        self.extend_ready();
        self.owes = true;
        Ok(done.into_values().map(|row| row.post).collect())
    }

    /// Returns the acknowledgement that the sender is owed. After that the sender is owed none
    /// until the next commit, or until a committed row arrives again, because the acknowledgement
    /// was lost.
    pub fn acknowledgement(&mut self) -> Option<Through> {
        std::mem::take(&mut self.owes).then(|| self.mark())
    }

    /// Notes the oldest row that the sender still has, from its
    /// [`Hello`](crate::frame::Hello).
    pub fn sender_keeps_from(&mut self, first: u64) {
        self.kept_from = self.kept_from.max(first);
    }

    /// Returns the rows that can never arrive: the sender had an acknowledgement of them, and this
    /// log was restored from an older copy. The host notes the loss, with the last of these numbers
    /// as the mark, and commits it; otherwise the channel would wait for ever.
    pub fn gap(&self) -> Option<RangeInclusive<u64>> {
        let from = self.mark.checked_add(1)?;
        let waiting = self.waiting.keys().next().map_or(u64::MAX, |number| *number);
        let end = self.kept_from.min(waiting).saturating_sub(1);
        (end >= from).then_some(from..=end)
    }

    /// Advances `last_ready` over the waiting rows that follow it without a gap.
    fn extend_ready(&mut self) {
        let next = |number: u64| number.checked_add(1);
        while let Some(number) =
            next(self.last_ready).filter(|next| self.waiting.contains_key(next))
        {
            self.last_ready = number;
        }
    }
}
