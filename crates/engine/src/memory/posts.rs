//! The numbers and marks of posts between computers, in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use moothall_kernel::ids::ComputerId;

use super::{Draft, MemoryLog, Tables};
use crate::ports::{
    AppendError, COMPUTER_FORGOTTEN, Delivery, DeliveryState, LogError, PostBook, PostChannel,
    PostMark, Target,
};

/// The newest number of the rows for each computer, and the mark of each channel.
#[derive(Clone, Debug, Default)]
pub(super) struct PostTables {
    sent: BTreeMap<ComputerId, u64>,
    taken: BTreeMap<PostChannel, u64>,
}

impl PostTables {
    /// Returns the number of a new delivery; `None` if its target is not a computer.
    pub(super) fn next_number(&mut self, target: &Target) -> Option<u64> {
        let Target::Computer(computer) = target else { return None };
        let last = self.sent.entry(computer.clone()).or_default();
        *last += 1;
        Some(*last)
    }

    /// Moves the marks of an append. The append was checked before.
    pub(super) fn take(&mut self, marks: Vec<PostMark>) {
        self.taken.extend(marks.into_iter().map(|mark| (mark.channel, mark.through)));
    }

    fn through(&self, channel: &PostChannel) -> u64 {
        self.taken.get(channel).copied().unwrap_or_default()
    }
}

impl<'a> Draft<'a> {
    /// Checks that a mark follows the last mark of its channel, and notes it for the next marks.
    pub(super) fn mark(&mut self, mark: &'a PostMark) -> Result<(), AppendError> {
        let channel = &mark.channel;
        let committed = || self.tables.posts.through(channel);
        let through = self.marks.get(channel).copied().unwrap_or_else(committed);
        if !mark.follows(through) {
            return Err(AppendError::Marked { channel: channel.clone(), through });
        }
        self.marks.insert(channel, mark.through);
        Ok(())
    }
}

impl Tables {
    /// Sets the newest number for a computer to the highest number of its open rows. This is a
    /// planted bug.
    pub(super) fn recount(&mut self, target: &Target) {
        let Target::Computer(computer) = target else { return };
        let is_open = |row: &&Delivery| row.target == *target && !row.state.is_settled();
        let open = self.deliveries.iter().filter(is_open).filter_map(|row| row.number);
        self.posts.sent.insert(computer.clone(), open.max().unwrap_or_default());
    }

    /// Settles the open rows for the selected computers. Returns the number of rows.
    fn settle_posts(
        &mut self,
        of: impl Fn(&ComputerId) -> bool,
        state: DeliveryState,
        evidence: &str,
    ) -> u64 {
        let is_meant = |delivery: &&mut Delivery| {
            !delivery.state.is_settled()
                && matches!(&delivery.target, Target::Computer(computer) if of(computer))
        };
        let mut settled = 0;
        for delivery in self.deliveries.iter_mut().filter(is_meant) {
            delivery.state = state;
            evidence.clone_into(&mut delivery.evidence);
            delivery.command = None;
            settled += 1;
        }
        settled
    }
}

#[async_trait]
impl PostBook for MemoryLog {
    async fn through(&self, channel: &PostChannel) -> Result<u64, LogError> {
        Ok(self.tables().posts.through(channel))
    }

    async fn marks(&self, sender: &ComputerId) -> Result<Vec<(PostChannel, u64)>, LogError> {
        let tables = self.tables();
        let of_sender = tables.posts.taken.iter().filter(|(channel, _)| channel.sender == *sender);
        Ok(of_sender.map(|(channel, through)| (channel.clone(), *through)).collect())
    }

    async fn last_number(&self, computer: &ComputerId) -> Result<u64, LogError> {
        Ok(self.tables().posts.sent.get(computer).copied().unwrap_or_default())
    }

    async fn forget(&self, computer: &ComputerId) -> Result<u64, LogError> {
        let mut tables = self.to_write()?;
        tables.posts.sent.remove(computer);
        tables.posts.taken.retain(|channel, _| channel.sender != *computer);
        let is_meant = |owed: &ComputerId| owed == computer;
        Ok(tables.settle_posts(is_meant, DeliveryState::Failed, COMPUTER_FORGOTTEN))
    }

    async fn doubt_all(&self, why: &str) -> Result<(), LogError> {
        let mut tables = self.to_write()?;
        tables.posts.sent.clear();
        tables.settle_posts(|_| true, DeliveryState::Unknown, why);
        Ok(())
    }
}
