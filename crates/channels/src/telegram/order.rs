//! The order of a group's messages, if several bots receive different parts of them.
//!
//! In privacy mode each message reaches one bot alone, so two messages can arrive by two
//! connections in the wrong order. The ids of messages in a supergroup rise. So a message waits a
//! moment for messages with smaller ids.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Time for which a message waits for earlier ones that another bot may still bring.
const WAIT: Duration = Duration::from_millis(200);

/// The messages of all groups that are being taken.
#[derive(Default)]
pub(super) struct MessageOrder {
    lanes: Mutex<BTreeMap<i64, Lane>>,
    changed: Notify,
}

/// The messages of one group.
#[derive(Default)]
struct Lane {
    /// The newest message that was taken, or that this server sent right after it.
    newest: i64,
    /// The messages that wait or are being taken.
    under_way: BTreeSet<i64>,
}

/// The turn of one message in its group. Dropping the ticket lets the next message follow.
pub(super) struct OrderTicket<'a> {
    order: &'a MessageOrder,
    chat: i64,
    message: i64,
}

impl MessageOrder {
    fn lanes(&self) -> MutexGuard<'_, BTreeMap<i64, Lane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a message may be taken: no older message is under way, and missing older ones
    /// had [`WAIT`] to arrive. A message that is not newer than the newest taken message does not
    /// wait.
    pub(super) async fn wait(&self, chat: i64, message: i64) -> OrderTicket<'_> {
        self.lanes().entry(chat).or_default().under_way.insert(message);
        let ticket = OrderTicket { order: self, chat, message };
        let deadline = Instant::now() + WAIT;
        loop {
            let changed = self.changed.notified();
            if self.is_next(chat, message, Instant::now() >= deadline) {
                return ticket;
            }
            let is_late = Instant::now() >= deadline;
            if is_late {
                changed.await;
            } else {
                let _ = timeout_at(deadline, changed).await;
            }
        }
    }

    /// Notes the number of a message that this server sent, so that others do not wait for it.
    pub(super) fn note_own(&self, chat: i64, message: i64) {
        let mut lanes = self.lanes();
        let lane = lanes.entry(chat).or_default();
        if lane.newest + 1 == message {
            lane.newest = message;
        }
    }

    /// True if a message may be taken now: it is the oldest that is under way, and either it
    /// follows the newest taken message directly or it has waited for its full time. A message that
    /// is not newer than the newest taken message never waits.
    fn is_next(&self, chat: i64, message: i64, has_waited: bool) -> bool {
        let lanes = self.lanes();
        let Some(lane) = lanes.get(&chat) else { return true };
        // Another bot may have brought the same message, or a later one.
        if message <= lane.newest {
            return true;
        }
        let is_oldest = lane.under_way.first() == Some(&message);
        is_oldest && (has_waited || message == lane.newest + 1)
    }
}

impl Drop for OrderTicket<'_> {
    fn drop(&mut self) {
        let mut lanes = self.order.lanes();
        if let Some(lane) = lanes.get_mut(&self.chat) {
            lane.under_way.remove(&self.message);
            lane.newest = lane.newest.max(self.message);
        }
        drop(lanes);
        self.order.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use super::*;

    /// Takes messages in the given order of arrival, each after a pause; returns the order in which
    /// they were taken.
    async fn taken(arrivals: &[(u64, i64)]) -> Vec<i64> {
        let order = Arc::new(MessageOrder::default());
        order.lanes().entry(-1).or_default().newest = 9;
        let taken = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = arrivals
            .iter()
            .map(|(after, message)| {
                let (order, taken) = (order.clone(), taken.clone());
                let (after, message) = (Duration::from_millis(*after), *message);
                tokio::spawn(async move {
                    tokio::time::sleep(after).await;
                    let _ticket = order.wait(-1, message).await;
                    taken.lock().unwrap().push(message);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        std::mem::take(&mut *taken.lock().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn messages_of_two_bots_are_taken_in_the_order_of_their_ids() {
        assert_eq!(taken(&[(0, 12), (50, 11), (100, 10)]).await, [10, 11, 12]);
        // An id that never comes holds its followers back for a moment only.
        assert_eq!(taken(&[(0, 12), (50, 14)]).await, [12, 14]);
        // A message that comes later than that is still taken.
        assert_eq!(taken(&[(0, 12), (500, 11)]).await, [12, 11]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_message_does_not_wait() {
        let order = MessageOrder::default();
        drop(order.wait(-1, 1).await);
        let begun = Instant::now();
        drop(order.wait(-1, 2).await);
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }
}
