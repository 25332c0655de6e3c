//! The rows of other computers that are not in this log yet, as a state without input or output.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::lock;
use crate::channel::{ChannelKey, IncomingChannel, Reception};
use crate::frame::{Row, SendingHead, Through};
use crate::id::ComputerId;
use crate::post::PostId;

/// Most rows that are taken together.
const ROWS_AT_ONCE: usize = 64;
/// Highest number of a row that the log can keep.
const NUMBER_MAX: u64 = i64::MAX as u64;

/// The incoming rows of all pairs.
#[derive(Default)]
pub(super) struct IncomingPosts {
    pairs: Mutex<BTreeMap<ComputerId, IncomingRows>>,
    /// Wakes the task that takes rows.
    pub(super) changed: Notify,
}

/// The incoming rows of one pair.
struct IncomingRows {
    channel: IncomingChannel,
    /// The number of the newest row that the sender has named or sent; `None` until it has.
    newest: Option<u64>,
    /// True if the sender has introduced itself with this log.
    is_named: bool,
}

/// Rows of one channel that can be taken now.
pub(super) struct ReadyRows {
    pub(super) key: ChannelKey,
    /// The number of the newest row that was taken before.
    pub(super) mark: u64,
    pub(super) content: ReadyContent,
}

/// The next rows after a mark.
pub(super) enum ReadyContent {
    /// Rows that can never arrive.
    Lost(RangeInclusive<u64>),
    /// Bodies of rows, in the order of their numbers.
    Bodies(Vec<Arc<[u8]>>),
}

impl IncomingPosts {
    /// True if the mark of a channel has to be read before its rows are received: the channel is
    /// not known, and its sender has not introduced itself with another log.
    pub(super) fn is_new(&self, key: ChannelKey) -> bool {
        let pairs = lock(&self.pairs);
        pairs.get(&key.sender).is_none_or(|rows| rows.channel.key() != key && !rows.is_named)
    }

    /// Begins a channel after its durable mark.
    pub(super) fn begin(&self, key: ChannelKey, mark: u64) {
        let channel = IncomingChannel::new(key, mark);
        let rows = IncomingRows { channel, newest: None, is_named: false };
        lock(&self.pairs).insert(key.sender, rows);
    }

    /// Notes the introduction of a sender whose channel has begun.
    pub(super) fn meet(&self, from: ComputerId, head: SendingHead) {
        if let Some(rows) = lock(&self.pairs).get_mut(&from) {
            rows.is_named = true;
            rows.newest = rows.newest.max(Some(head.last));
            if head.last < NUMBER_MAX && head.first <= head.last + 1 {
                rows.channel.sender_keeps_from(head.first);
            }
        }
        self.changed.notify_one();
    }

    /// True if the channel of a sender has this name.
    pub(super) fn is_known(&self, key: ChannelKey) -> bool {
        lock(&self.pairs).get(&key.sender).is_some_and(|rows| rows.channel.key() == key)
    }

    /// Takes a row that arrived as this entry of the post. Returns true if the entry can be
    /// deleted: the row arrived before, is too far ahead, does not fit into memory, or belongs to
    /// another channel than the present one of its sender.
    pub(super) fn receive(&self, key: ChannelKey, row: Row, post: PostId) -> bool {
        let mut pairs = lock(&self.pairs);
        let known = pairs.get_mut(&key.sender).filter(|rows| rows.channel.key() == key);
        let Some(rows) = known.filter(|_| row.number <= NUMBER_MAX) else { return true };
        rows.newest = rows.newest.max(Some(row.number));
        let received = rows.channel.receive(row, post);
        self.changed.notify_one();
        match received {
            Reception::Ready | Reception::Waits => false,
            Reception::Repeated | Reception::Beyond => true,
        }
    }

    /// Returns the next rows of a sender that can be taken.
    pub(super) fn ready(&self, from: ComputerId) -> Option<ReadyRows> {
        let pairs = lock(&self.pairs);
        let channel = &pairs.get(&from)?.channel;
        let content = match channel.gap() {
            Some(lost) => ReadyContent::Lost(lost),
            None => {
                let ready = channel.ready().take(ROWS_AT_ONCE);
                ReadyContent::Bodies(ready.map(|(_, body)| body.clone()).collect())
            }
        };
        let is_empty = matches!(&content, ReadyContent::Bodies(bodies) if bodies.is_empty());
        let (key, mark) = (channel.key(), channel.mark().number());
        (!is_empty).then_some(ReadyRows { key, mark, content })
    }

    /// Notes that the log has the rows of a channel up to a number. Returns their entries of the
    /// post, to be deleted.
    pub(super) fn committed(&self, key: ChannelKey, through: u64) -> Vec<PostId> {
        let mut pairs = lock(&self.pairs);
        let known = pairs.get_mut(&key.sender).filter(|rows| rows.channel.key() == key);
        let committed = known.map(|rows| rows.channel.committed(through));
        committed.and_then(Result::ok).unwrap_or_default()
    }

    /// Returns the acknowledgement that a sender is owed.
    pub(super) fn acknowledgement(&self, to: ComputerId) -> Option<Through> {
        lock(&self.pairs).get_mut(&to)?.channel.acknowledgement()
    }

    /// Returns the number of rows that a sender owes, as far as its introductions and rows show.
    pub(super) fn owed_by(&self, sender: ComputerId) -> Option<u64> {
        let pairs = lock(&self.pairs);
        let rows = pairs.get(&sender)?;
        Some(rows.newest?.saturating_sub(rows.channel.mark().number()))
    }

    /// Forgets the rows of a pair that ended.
    pub(super) fn forget(&self, of: ComputerId) {
        lock(&self.pairs).remove(&of);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::id::LogId;

    #[test]
    fn a_sender_owes_what_it_has_named_or_sent_and_the_log_does_not_have() {
        let (sender, receiver) = (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap());
        let key = ChannelKey { sender, log: LogId::random(), receiver };
        let posts = IncomingPosts::default();
        assert_eq!(posts.owed_by(sender), None);
        posts.begin(key, 2);
        assert_eq!(posts.owed_by(sender), None, "it has said nothing");
        posts.meet(sender, SendingHead { log: key.log, first: 3, last: 5 });
        assert_eq!(posts.owed_by(sender), Some(3));
        for number in 3..=7 {
            let row = Row { number, body: b"x".as_slice().into() };
            posts.receive(key, row, PostId::from(number.to_string().as_str()));
        }
        assert_eq!(posts.owed_by(sender), Some(5), "it has sent more since");
        posts.committed(key, 6);
        assert_eq!(posts.owed_by(sender), Some(1));
    }
}
