//! The task that takes the rows of other computers.
//!
//! The order of its steps makes it safe. First the log takes the rows with their mark, then the
//! entries of the post are deleted, and then the sender gets the acknowledgement. After a crash
//! between two steps the sender repeats the rows, and the mark drops them.

use std::sync::Arc;

use moothall_engine::crash;
use moothall_engine::ports::{LogError, PostChannel, PostMark};
use moothall_engine::stream::Taking;
use moothall_engine::stream::io::counts_as_taken;
use moothall_kernel::planted::{self, Bug};

use super::inbound::{PlannedRow, RowReader, lost_rows};
use super::incoming::{ReadyContent, ReadyRows};
use super::run::{PAUSES, PostLink, kernel_id};
use crate::channel::ChannelKey;
use crate::frame::Frame;
use crate::id::LogId;
use crate::invitation::Pair;
use crate::keys::PairKey;

/// The result of one attempt to take rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TakeOutcome {
    /// No row can be taken: all were taken before, or another server has this computer's id.
    Nothing,
    /// Some rows were taken.
    Taken,
    /// The log cannot take the next row now.
    Failed,
}

/// Takes the rows of all pairs, for as long as the task runs.
pub(super) async fn take(link: Arc<PostLink>) {
    let mut pause = PAUSES.0;
    loop {
        // The wait begins before the look, so that a row which arrives during it is not missed.
        let changed = link.incoming.changed.notified();
        let mut outcomes = Vec::new();
        for pair in link.pairs.all() {
            outcomes.push(link.take_ready(&pair).await);
        }
        if outcomes.contains(&TakeOutcome::Failed) {
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(PAUSES.1);
            continue;
        }
        pause = PAUSES.0;
        if !outcomes.contains(&TakeOutcome::Taken) {
            changed.await;
        }
    }
}

/// Returns the channel of a sender as the log names it. The name of the pair is a part of it: a new
/// pair numbers its rows from 1 again, and a restored log may have marks of an earlier pair.
pub fn post_channel(key: ChannelKey, pair: &PairKey) -> PostChannel {
    let log = format!("{}.{}", key.log, pair.pair_name());
    PostChannel { sender: kernel_id(key.sender), log }
}

/// Returns the log of the sender of a channel; `None` if the channel is one of an earlier pair.
pub(super) fn log_of_channel(channel: &PostChannel, pair: &PairKey) -> Option<LogId> {
    let (log, name) = channel.log.split_once('.')?;
    log.parse().ok().filter(|_| name == pair.pair_name())
}

impl PostLink {
    /// Takes the next rows of a pair into the log, and acknowledges those that the log has. A wait
    /// that a row begins is stored before the log takes the rows. A wait that a row ends is deleted
    /// after that.
    async fn take_ready(&self, pair: &Pair) -> TakeOutcome {
        // Two servers with one id read the same entries, and each would take a part of them.
        if self.peers.is_doubled() {
            return TakeOutcome::Nothing;
        }
        let Some(ready) = self.incoming.ready(pair.id) else { return TakeOutcome::Nothing };
        let Some(hall) = self.hall.weak().enter() else { return TakeOutcome::Failed };
        let PlannedRows { key, numbers, rows } = match self.plan(pair, ready).await {
            Ok(planned) => planned,
            Err(error) => {
                tracing::warn!(%error, computer = %pair.name, "rows are taken again later");
                return TakeOutcome::Failed;
            }
        };
        let begins = rows.iter().filter_map(|row| row.begins.as_ref());
        for (session, waiter) in begins {
            if let Err(error) = hall.store().sessions.listen(session, waiter).await {
                tracing::warn!(%error, "a wait could not be kept");
                return TakeOutcome::Failed;
            }
        }
        let (requests, ends): (Vec<_>, Vec<_>) =
            rows.into_iter().map(|row| (row.request, row.ends)).unzip();
        if planted::has(Bug::AcknowledgedBeforeTaken)
            && let Some(last) = numbers.last()
        {
            self.acknowledge(pair, key, *last).await;
        }
        crash::point("before_mark_append");
        let verdicts = hall.take(requests).await;
        crash::point("after_mark_append");
        let taken = verdicts.iter().take_while(|verdict| counts_as_taken(verdict)).count();
        // The waits end after their rows are in the log. If a wait ended before, its row would have
        // no effect when it comes again after a crash.
        for (target, waiter) in ends.into_iter().take(taken).flatten() {
            if let Err(error) = hall.store().sessions.unlisten(&target, &waiter).await {
                tracing::warn!(%error, "a wait that is over stays in the log");
            }
        }
        if let Some(through) = numbers[..taken].last() {
            self.acknowledge(pair, key, *through).await;
        }
        match verdicts.get(taken) {
            Some(Err(error)) => {
                tracing::warn!(%error, computer = %pair.name, "a row is taken again later");
                TakeOutcome::Failed
            }
            _ => TakeOutcome::Taken,
        }
    }

    /// Deletes the entries of rows that are in the log, and acknowledges the rows to their sender.
    async fn acknowledge(&self, pair: &Pair, key: ChannelKey, through: u64) {
        let entries = self.incoming.committed(key, through);
        if let Err(error) = self.post.done(&entries).await {
            tracing::debug!(%error, "entries could not be deleted");
        }
        crash::point("entry_deleted");
        self.tell_taken(pair).await;
    }

    /// Sends the acknowledgement that a sender is owed.
    pub(super) async fn tell_taken(&self, pair: &Pair) {
        if let Some(through) = self.incoming.acknowledgement(pair.id) {
            // If it is lost, the sender repeats its rows and is owed another.
            let _ = self.put(pair, &Frame::Through(through)).await;
        }
    }

    /// Returns the requests of rows, or one request for rows that can never arrive.
    async fn plan(&self, pair: &Pair, ready: ReadyRows) -> Result<PlannedRows, LogError> {
        let ReadyRows { key, mark, content } = ready;
        let channel = post_channel(key, &pair.key);
        match content {
            ReadyContent::Lost(lost) => {
                let mark = PostMark { channel, before: mark, through: *lost.end() };
                let row = lost_rows(&pair.name, Taking { mark, refusal: None });
                Ok(PlannedRows { key, numbers: vec![*lost.end()], rows: vec![row.into()] })
            }
            ReadyContent::Bodies(bodies) => {
                let numbers: Vec<u64> = (mark + 1..).take(bodies.len()).collect();
                let caller = self.caller(pair);
                let own = self.pairs.own().id.to_string();
                let reader = RowReader { hall: &self.hall, caller: &caller, own };
                let mut rows = Vec::new();
                for (number, body) in numbers.iter().zip(&bodies) {
                    rows.push(reader.plan(Taking::row(channel.clone(), *number), body).await?);
                }
                Ok(PlannedRows { key, numbers, rows })
            }
        }
    }
}

/// The requests of rows, and the number to which each of them takes the mark.
struct PlannedRows {
    key: ChannelKey,
    numbers: Vec<u64>,
    rows: Vec<PlannedRow>,
}
