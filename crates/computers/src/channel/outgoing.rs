//! The sending end of a channel: the rows that are not acknowledged, and the time to send each.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{ChannelKey, PATIENCE_MAX, PATIENCE_MIN, WINDOW_BYTES, WINDOW_ROWS};
use crate::frame::{ROW_LEN_MAX, SendingHead, Through};
use crate::id::{BootId, LogId};

/// The sending end of a channel.
///
/// The host stores every row in its own log before it pushes the row, and deletes it from the log
/// when it is acknowledged. A row is sent one time at first. It is sent again only while the
/// receiver is known to be there, so that the copies in a stream that is not read have a bound.
#[derive(Debug)]
pub struct OutgoingChannel {
    key: ChannelKey,
    /// Number of the oldest row that is not acknowledged, or of the next row if there is none.
    first: u64,
    rows: VecDeque<Arc<[u8]>>,
    /// Number of the next row to send. The rows before it are on their way.
    next: u64,
    /// Bytes of the rows that are on their way.
    bytes: usize,
    /// Boot of the receiver, if it is there.
    receiver: Option<BootId>,
    /// True from a failed put until the post is back.
    rests: bool,
    /// Time of the last progress, or of the last repetition.
    moved: Instant,
    patience: Duration,
}

/// The reason for which a row is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a row has at most {ROW_LEN_MAX} bytes, not {0}")]
pub struct RowError(usize);

/// The reason for which an acknowledgement is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcknowledgeError {
    /// The acknowledgement is about a channel of another log, such as the one before a restore.
    #[error("the acknowledgement is about log {0}, which is another channel")]
    OtherLog(LogId),
    /// The acknowledgement is about a row that does not exist.
    #[error("row {number} is acknowledged, but the newest row is {last}")]
    NoSuchRow {
        /// Number in the acknowledgement.
        number: u64,
        /// Number of the newest row.
        last: u64,
    },
}

impl OutgoingChannel {
    /// Makes the channel from the rows that the host's log still keeps: `first` is the number of
    /// the oldest, or of the next row if there are none; at least 1.
    ///
    /// The rows may have been sent before a restart. They are sent again as soon as the receiver is
    /// known to be there.
    pub fn new(
        key: ChannelKey,
        first: u64,
        rows: impl IntoIterator<Item = Arc<[u8]>>,
        now: Instant,
    ) -> Self {
        let first = first.max(1);
        let mut channel = Self {
            key,
            first,
            rows: rows.into_iter().collect(),
            next: first,
            bytes: 0,
            receiver: None,
            rests: false,
            moved: now,
            patience: PATIENCE_MIN,
        };
        // All rows count as sent, so that no row is sent again before the receiver is there.
        while channel.advance().is_some() {}
        channel
    }

    /// Returns the name of the channel.
    pub fn key(&self) -> ChannelKey {
        self.key
    }

    /// Returns the numbers of the rows that are not acknowledged, for a
    /// [`Hello`](crate::frame::Hello).
    pub fn head(&self) -> SendingHead {
        SendingHead { log: self.key.log, first: self.first, last: self.end() - 1 }
    }

    /// Returns the number of rows that are not acknowledged.
    pub fn owed(&self) -> usize {
        self.rows.len()
    }

    /// Adds a row that the host's log has stored, and returns its number.
    ///
    /// # Errors
    /// [`RowError`] if it is longer than [`ROW_LEN_MAX`]. The host must not store such a row.
    pub fn push(&mut self, row: Arc<[u8]>) -> Result<u64, RowError> {
        if row.len() > ROW_LEN_MAX {
            return Err(RowError(row.len()));
        }
        let number = self.end();
        self.rows.push_back(row);
        Ok(number)
    }

    /// Returns the next row to put into the post, with its number; `None` if no row is to be sent
    /// now. If the time for an acknowledgement ran out, the oldest row is the next one again, and
    /// the next wait is twice as long.
    pub fn next_row(&mut self, now: Instant) -> Option<(u64, Arc<[u8]>)> {
        if self.rests {
            return None;
        }
        if self.due().is_some_and(|due| due <= now) {
            self.patience = (2 * self.patience).min(PATIENCE_MAX);
            self.rewind(self.first);
        }
        let begins = self.next == self.first;
        let row = self.advance()?;
        if begins {
            self.moved = now;
        }
        Some((self.next - 1, row))
    }

    /// Returns the time at which rows are sent again without an acknowledgement; `None` if the
    /// receiver is away, the post rests, or no row is on its way.
    pub fn due(&self) -> Option<Instant> {
        let waits = self.receiver.is_some() && !self.rests && self.next > self.first;
        waits.then(|| self.moved + self.patience)
    }

    /// Notes that a row could not be put. Nothing is sent until [`Self::reconnected`].
    pub fn put_failed(&mut self, number: u64) {
        self.rests = true;
        if (self.first..self.next).contains(&number) {
            self.rewind(number);
        }
    }

    /// Notes that the post is back, or may be tried again. It may have lost everything. So all rows
    /// are sent again: now if the receiver is there, or else when it comes.
    pub fn reconnected(&mut self) {
        self.rests = false;
        if self.receiver.is_some() {
            self.rewind(self.first);
        }
    }

    /// Notes the boot of the receiver that holds its lease; `None` if the receiver is away. A boot
    /// that was not there before gets all rows again.
    pub fn receiver_seen(&mut self, boot: Option<BootId>) {
        if boot.is_some() && boot != self.receiver {
            self.patience = PATIENCE_MIN;
            self.rewind(self.first);
        }
        self.receiver = boot;
    }

    /// Takes an acknowledgement, and returns the number of rows that the host may delete.
    ///
    /// # Errors
    /// [`AcknowledgeError`] if it is about another channel, or about a row that does not exist;
    /// nothing is changed.
    pub fn acknowledge(&mut self, through: Through, now: Instant) -> Result<u64, AcknowledgeError> {
        if through.log() != self.key.log {
            return Err(AcknowledgeError::OtherLog(through.log()));
        }
        // A row may be acknowledged that was not sent since the restart, but was sent before it.
        let (number, last) = (through.number(), self.end() - 1);
        if number > last {
            return Err(AcknowledgeError::NoSuchRow { number, last });
        }
        let from = self.first;
        while self.first <= number {
            let len = self.rows.pop_front().map_or(0, |row| row.len());
            if self.first < self.next {
                self.bytes -= len;
            }
            self.first += 1;
        }
        self.next = self.next.max(self.first);
        if self.first > from {
            self.moved = now;
            self.patience = PATIENCE_MIN;
        }
        Ok(self.first - from)
    }

    /// Returns the number after the newest row.
    fn end(&self) -> u64 {
        self.first + self.rows.len() as u64
    }

    /// Counts the next row as on its way, if the window has room for it.
    fn advance(&mut self) -> Option<Arc<[u8]>> {
        let on_way = self.next - self.first;
        let row = self.rows.get(usize::try_from(on_way).ok()?)?;
        if on_way >= WINDOW_ROWS || self.bytes + row.len() > WINDOW_BYTES {
            return None;
        }
        self.next += 1;
        self.bytes += row.len();
        Some(row.clone())
    }

    /// Counts the rows from a number on as not sent.
    fn rewind(&mut self, number: u64) {
        self.next = number;
        let on_way = usize::try_from(number - self.first).unwrap_or(usize::MAX);
        self.bytes = self.rows.iter().take(on_way).map(|row| row.len()).sum();
    }
}
