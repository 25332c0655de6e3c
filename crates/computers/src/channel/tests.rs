//! The two ends of a channel against each other, over a post that loses, repeats and reorders.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use proptest::prelude::*;

use super::*;
use crate::frame::{ROW_LEN_MAX, Row, Through};
use crate::id::BootId;
use crate::post::PostId;

/// One event at the two ends, in their logs or in the post between them.
#[derive(Clone, Debug)]
enum Step {
    Push(u64),
    Send(usize),
    PutFails,
    Reconnect,
    Seen(bool),
    Deliver(prop::sample::Index),
    Repeat(prop::sample::Index),
    Lose(prop::sample::Index),
    Flush,
    /// The receiver appends rows, and crashes before it notes that if the second is true.
    Append(usize, bool),
    RestartReceiver,
    Acknowledge,
    DeliverBack(prop::sample::Index),
    LoseBack(prop::sample::Index),
    /// The sender's log deletes the rows that are acknowledged.
    Settle,
    RestartSender,
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = any::<prop::sample::Index>;
    let step = prop_oneof![
        2 => (1..400_u64).prop_map(Step::Push),
        6 => (1..300_usize).prop_map(Step::Send),
        1 => Just(Step::PutFails),
        1 => Just(Step::Reconnect),
        2 => prop::bool::weighted(0.8).prop_map(Step::Seen),
        20 => index().prop_map(Step::Deliver),
        3 => index().prop_map(Step::Repeat),
        3 => index().prop_map(Step::Lose),
        1 => Just(Step::Flush),
        4 => (1..50_usize, prop::bool::weighted(0.2)).prop_map(|(n, crash)| Step::Append(n, crash)),
        1 => Just(Step::RestartReceiver),
        4 => Just(Step::Acknowledge),
        4 => index().prop_map(Step::DeliverBack),
        1 => index().prop_map(Step::LoseBack),
        1 => Just(Step::Settle),
        1 => Just(Step::RestartSender),
        2 => (0..3_000_u64).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..250)
}

fn channel_key() -> ChannelKey {
    let (sender, receiver) = (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap());
    ChannelKey { sender, log: LogId::random(), receiver }
}

fn body(number: u64) -> Arc<[u8]> {
    Arc::from(number.to_be_bytes())
}

fn outgoing(key: ChannelKey, rows: u64, now: Instant) -> OutgoingChannel {
    let mut channel = OutgoingChannel::new(key, 1, [], now);
    (1..=rows).for_each(|number| assert_eq!(channel.push(body(number)), Ok(number)));
    channel
}

/// Returns the numbers of all rows that may be sent now.
fn sent(channel: &mut OutgoingChannel, now: Instant) -> Vec<u64> {
    std::iter::from_fn(|| channel.next_row(now)).map(|(number, _)| number).collect()
}

/// Both ends, both logs, and the post between them.
struct TwoEnds {
    key: ChannelKey,
    now: Instant,
    pushed: u64,
    sender: OutgoingChannel,
    /// The sender's log: the first row that it keeps, and the rows from there on.
    kept: (u64, VecDeque<Arc<[u8]>>),
    post: Vec<Row>,
    posts: u64,
    back: Vec<Through>,
    receiver: IncomingChannel,
    boot: BootId,
    /// The receiver's log: rows that were appended, each with the mark.
    log: Vec<u64>,
}

impl TwoEnds {
    fn new() -> Self {
        let (key, now) = (channel_key(), Instant::now());
        Self {
            key,
            now,
            pushed: 0,
            sender: OutgoingChannel::new(key, 1, [], now),
            kept: (1, VecDeque::new()),
            post: Vec::new(),
            posts: 0,
            back: Vec::new(),
            receiver: IncomingChannel::new(key, 0),
            boot: BootId::random(),
            log: Vec::new(),
        }
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Push(rows) => (0..rows).for_each(|_| self.push()),
            Step::Send(most) => self.send(most),
            Step::PutFails => {
                if let Some((number, _)) = self.sender.next_row(self.now) {
                    self.sender.put_failed(number);
                    assert_eq!(self.sender.next_row(self.now), None);
                    assert_eq!(self.sender.due(), None);
                }
            }
            Step::Reconnect => self.sender.reconnected(),
            Step::Seen(there) => self.sender.receiver_seen(there.then_some(self.boot)),
            Step::Deliver(index) => self.deliver(index, true),
            Step::Repeat(index) => self.deliver(index, false),
            Step::Lose(index) if !self.post.is_empty() => {
                self.post.swap_remove(index.index(self.post.len()));
            }
            Step::Flush => self.post.clear(),
            Step::Append(most, crashes) => self.append(most, crashes),
            Step::RestartReceiver => self.restart_receiver(),
            Step::Acknowledge => self.acknowledge(),
            Step::DeliverBack(index) if !self.back.is_empty() => {
                let through = self.back.swap_remove(index.index(self.back.len()));
                self.take_back(through);
            }
            Step::LoseBack(index) if !self.back.is_empty() => {
                self.back.swap_remove(index.index(self.back.len()));
            }
            Step::Settle => self.settle(),
            Step::RestartSender => {
                let (first, rows) = self.kept.clone();
                self.sender = OutgoingChannel::new(self.key, first, rows, self.now);
            }
            Step::Wait(ms) => self.now += Duration::from_millis(ms),
            Step::Lose(_) | Step::DeliverBack(_) | Step::LoseBack(_) => {}
        }
    }

    fn push(&mut self) {
        self.pushed += 1;
        self.kept.1.push_back(body(self.pushed));
        assert_eq!(self.sender.push(body(self.pushed)), Ok(self.pushed));
    }

    fn send(&mut self, most: usize) {
        for _ in 0..most {
            let Some((number, row)) = self.sender.next_row(self.now) else { return };
            assert_eq!(row, body(number));
            let head = self.sender.head();
            assert!((head.first..head.first + WINDOW_ROWS).contains(&number), "{number} {head:?}");
            self.post.push(Row { number, body: row });
        }
    }

    fn deliver(&mut self, index: prop::sample::Index, takes: bool) {
        if self.post.is_empty() {
            return;
        }
        let index = index.index(self.post.len());
        let row = if takes { self.post.swap_remove(index) } else { self.post[index].clone() };
        self.receive(row);
    }

    fn receive(&mut self, row: Row) {
        self.posts += 1;
        let known = row.number <= self.log.len() as u64;
        let post = PostId::from(self.posts.to_string().as_str());
        let reception = self.receiver.receive(row, post);
        assert!(!known || reception == Reception::Repeated);
        assert_ne!(reception, Reception::Beyond, "an honest sender stays within the window");
    }

    fn append(&mut self, most: usize, crashes: bool) {
        let rows: Vec<u64> = self.receiver.ready().map(|(number, _)| number).take(most).collect();
        let bodies: Vec<Arc<[u8]>> =
            self.receiver.ready().map(|(_, body)| body.clone()).take(most).collect();
        for (number, row) in rows.iter().zip(bodies) {
            assert_eq!(row, body(*number));
            self.log.push(*number);
        }
        let Some(last) = rows.last() else { return };
        if crashes {
            self.restart_receiver();
        } else {
            assert_eq!(self.receiver.committed(*last).unwrap().len(), rows.len());
        }
    }

    fn restart_receiver(&mut self) {
        self.receiver = IncomingChannel::new(self.key, self.log.len() as u64);
        self.boot = BootId::random();
    }

    fn acknowledge(&mut self) {
        if let Some(through) = self.receiver.acknowledgement() {
            assert!(through.number() <= self.log.len() as u64, "acknowledged before the commit");
            self.back.push(through);
        }
    }

    fn take_back(&mut self, through: Through) {
        let before = self.sender.owed() as u64;
        let released = self.sender.acknowledge(through, self.now).unwrap();
        assert_eq!(self.sender.owed() as u64, before - released);
    }

    fn settle(&mut self) {
        let first = self.sender.head().first;
        let released = first.saturating_sub(self.kept.0);
        self.kept.1.drain(..usize::try_from(released).unwrap());
        self.kept.0 = first.max(self.kept.0);
    }

    /// Lets everything work, and returns true if all rows are taken and acknowledged then.
    fn comes_to_rest(&mut self) -> bool {
        self.sender.reconnected();
        self.sender.receiver_seen(Some(self.boot));
        for _ in 0..200 {
            self.send(usize::MAX);
            std::mem::take(&mut self.post).into_iter().rev().for_each(|row| self.receive(row));
            self.append(usize::MAX, false);
            self.acknowledge();
            std::mem::take(&mut self.back).into_iter().for_each(|back| self.take_back(back));
            if self.sender.owed() == 0 {
                return self.sender.due().is_none() && self.sender.next_row(self.now).is_none();
            }
            self.now = self.sender.due().unwrap_or(self.now).max(self.now);
        }
        false
    }
}

proptest! {
    #[test]
    fn every_row_is_taken_once_and_in_order(steps in steps()) {
        let mut ends = TwoEnds::new();
        for step in steps {
            ends.apply(step);
            prop_assert!(ends.log.iter().copied().eq(1..=ends.log.len() as u64));
        }
        prop_assert!(ends.comes_to_rest(), "{} of {}", ends.log.len(), ends.pushed);
        prop_assert!(ends.log.iter().copied().eq(1..=ends.pushed));
    }

    #[test]
    fn any_rows_are_received_within_bounds(
        rows in prop::collection::vec((any::<u64>(), 0..5_usize, any::<bool>()), 1..40),
        near in prop::collection::vec(0..1_200_u64, 40),
        mark in prop_oneof![Just(0), Just(u64::MAX), Just(u64::MAX - 3), any::<u64>()],
    ) {
        let mut channel = IncomingChannel::new(channel_key(), mark);
        let lens = [0, 1, 1_000, ROW_LEN_MAX - 1, ROW_LEN_MAX];
        let bodies = lens.map(|len| Arc::<[u8]>::from(vec![0; len]));
        let mut kept = 0;
        for ((far, body, is_far), near) in rows.into_iter().zip(near) {
            let number = if is_far { far } else { mark.wrapping_add(near) };
            channel.sender_keeps_from(if is_far { far } else { 0 });
            let row = Row { number, body: bodies[body].clone() };
            match channel.receive(row, PostId::from("1-0")) {
                Reception::Ready | Reception::Waits => kept += lens[body],
                Reception::Repeated | Reception::Beyond => {}
            }
            prop_assert!(kept <= WINDOW_BYTES + ROW_LEN_MAX);
            if let Some(gap) = channel.gap() {
                prop_assert!(*gap.start() == mark + 1 && gap.end() >= gap.start());
            }
        }
        prop_assert!(channel.acknowledgement().is_none_or(|through| through.number() == mark));
    }
}

#[test]
fn nothing_is_acknowledged_before_its_commit() {
    let mut channel = IncomingChannel::new(channel_key(), 0);
    assert_eq!(channel.committed(0), Ok(vec![]));
    let row = |number| Row { number, body: body(number) };
    let post = |id: u64| PostId::from(id.to_string().as_str());
    assert_eq!(channel.receive(row(2), post(2)), Reception::Waits);
    assert!(channel.committed(1).is_err() && channel.committed(2).is_err());
    assert_eq!(channel.receive(row(1), post(1)), Reception::Ready);
    assert!(channel.acknowledgement().is_none());
    assert!(channel.committed(3).is_err());
    assert_eq!(channel.committed(1), Ok(vec![post(1)]));
    assert_eq!(channel.acknowledgement().map(|through| through.number()), Some(1));
    assert!(channel.acknowledgement().is_none());
    assert_eq!(channel.receive(row(1), post(3)), Reception::Repeated);
    assert_eq!(channel.acknowledgement().map(|through| through.number()), Some(1));
    assert_eq!(channel.ready().map(|(number, _)| number).collect::<Vec<_>>(), [2]);
}

#[test]
fn the_window_is_full_by_rows_or_by_bytes() {
    let (key, now) = (channel_key(), Instant::now());
    let mut channel = outgoing(key, 2_500, now);
    assert_eq!(sent(&mut channel, now), (1..=WINDOW_ROWS).collect::<Vec<_>>());
    assert_eq!(channel.acknowledge(Through::new(key.log, 10), now), Ok(10));
    assert_eq!(sent(&mut channel, now), (1_001..=1_010).collect::<Vec<_>>());

    let mut channel = OutgoingChannel::new(key, 1, [], now);
    let row: Arc<[u8]> = vec![0; ROW_LEN_MAX].into();
    (1..=30).for_each(|number| assert_eq!(channel.push(row.clone()), Ok(number)));
    let most = WINDOW_BYTES / ROW_LEN_MAX;
    assert_eq!(sent(&mut channel, now).len(), most);
    channel.acknowledge(Through::new(key.log, 2), now).unwrap();
    assert_eq!(sent(&mut channel, now).len(), 2);
    assert!(channel.push(vec![0; ROW_LEN_MAX + 1].into()).is_err());
    assert_eq!(channel.head().last, 30);
}

#[test]
fn rows_that_wait_have_a_limit_and_the_next_row_is_always_taken() {
    let mut channel = IncomingChannel::new(channel_key(), 0);
    let body: Arc<[u8]> = vec![0; ROW_LEN_MAX].into();
    let mut receive = |number| {
        let row = Row { number, body: body.clone() };
        (channel.receive(row, "1-0".into()), channel.ready().count())
    };
    let most = (WINDOW_BYTES / ROW_LEN_MAX) as u64;
    for number in 2..2 + most {
        assert_eq!(receive(number), (Reception::Waits, 0));
    }
    assert_eq!(receive(2 + most), (Reception::Beyond, 0));
    assert_eq!(receive(1), (Reception::Ready, 1 + most as usize));
    channel.committed(1 + most).unwrap();
    for number in 0..most {
        let row = Row { number: 3 + most + number, body: body.clone() };
        assert_eq!(channel.receive(row, "1-0".into()), Reception::Waits);
    }
    let far = Row { number: 2 + most + WINDOW_ROWS, body: [].into() };
    assert_eq!(channel.receive(far, "1-0".into()), Reception::Beyond);
    let far = Row { number: 1 + most + WINDOW_ROWS, body: [].into() };
    assert_eq!(channel.receive(far, "1-0".into()), Reception::Waits);
}

#[test]
fn rows_are_sent_again_if_nothing_moves_and_more_and_more_rarely() {
    let (key, begin) = (channel_key(), Instant::now());
    let mut channel = outgoing(key, 3, begin);
    channel.receiver_seen(Some(BootId::random()));
    assert_eq!(sent(&mut channel, begin), [1, 2, 3]);
    let moment = Duration::from_nanos(1);
    let (mut now, mut waits) = (begin, Vec::new());
    for _ in 0..8 {
        let due = channel.due().unwrap();
        assert_eq!(sent(&mut channel, due - moment), [0; 0]);
        assert_eq!(sent(&mut channel, due), [1, 2, 3]);
        waits.push((due - now).as_secs());
        now = due;
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
    channel.acknowledge(Through::new(key.log, 1), now).unwrap();
    assert_eq!(channel.due(), Some(now + PATIENCE_MIN));
}

#[test]
fn rows_are_sent_once_to_a_receiver_that_is_away() {
    let (key, mut now) = (channel_key(), Instant::now());
    let mut channel = outgoing(key, 3, now);
    assert_eq!(sent(&mut channel, now), [1, 2, 3]);
    for _ in 0..10 {
        now += PATIENCE_MAX;
        channel.reconnected();
        channel.receiver_seen(None);
        assert_eq!(sent(&mut channel, now), [0; 0]);
    }
    let rows: Vec<Arc<[u8]>> = (1..=3).map(body).collect();
    let mut restarted = OutgoingChannel::new(key, 1, rows, now);
    assert_eq!(sent(&mut restarted, now), [0; 0]);
    assert_eq!(restarted.push(body(4)), Ok(4));
    assert_eq!(sent(&mut restarted, now), [4]);
    restarted.receiver_seen(Some(BootId::random()));
    assert_eq!(sent(&mut restarted, now), [1, 2, 3, 4]);
}

#[test]
fn a_new_boot_or_a_reconnect_brings_all_rows_again_at_once() {
    let (key, now) = (channel_key(), Instant::now());
    let (one, two) = (BootId::random(), BootId::random());
    let mut channel = outgoing(key, 2, now);
    channel.receiver_seen(Some(one));
    assert_eq!(sent(&mut channel, now), [1, 2]);
    channel.receiver_seen(Some(one));
    assert_eq!(sent(&mut channel, now), [0; 0]);
    channel.receiver_seen(Some(two));
    assert_eq!(sent(&mut channel, now), [1, 2]);
    channel.reconnected();
    assert_eq!(sent(&mut channel, now), [1, 2]);
}

#[test]
fn a_row_that_was_not_put_is_the_next_after_a_pause() {
    let now = Instant::now();
    let mut channel = outgoing(channel_key(), 3, now);
    assert_eq!(channel.next_row(now).map(|(number, _)| number), Some(1));
    assert_eq!(channel.next_row(now).map(|(number, _)| number), Some(2));
    channel.put_failed(2);
    assert_eq!(channel.next_row(now), None);
    channel.reconnected();
    assert_eq!(sent(&mut channel, now), [2, 3]);
}

#[test]
fn acknowledgements_of_other_channels_and_of_no_row_change_nothing() {
    let (key, now) = (channel_key(), Instant::now());
    let mut channel = outgoing(key, 2, now);
    let other = LogId::random();
    let refusal = channel.acknowledge(Through::new(other, 1), now);
    assert_eq!(refusal, Err(AcknowledgeError::OtherLog(other)));
    let refusal = channel.acknowledge(Through::new(key.log, 3), now);
    assert_eq!(refusal, Err(AcknowledgeError::NoSuchRow { number: 3, last: 2 }));
    assert_eq!(channel.owed(), 2);
    assert_eq!(channel.acknowledge(Through::new(key.log, 0), now), Ok(0));
}

#[test]
fn a_restored_sender_begins_another_channel() {
    let (key, now) = (channel_key(), Instant::now());
    let mut old = IncomingChannel::new(key, 0);
    for number in 1..=5 {
        let row = Row { number, body: body(number) };
        assert_eq!(old.receive(row, "1-0".into()), Reception::Ready);
    }
    old.committed(5).unwrap();
    let restored = ChannelKey { log: LogId::random(), ..key };
    let mut sender = outgoing(restored, 2, now);
    let stale = old.acknowledgement().unwrap();
    assert_eq!(sender.acknowledge(stale, now), Err(AcknowledgeError::OtherLog(key.log)));
    let mut new = IncomingChannel::new(restored, 0);
    assert_eq!(new.receive(Row { number: 1, body: body(1) }, "1-0".into()), Reception::Ready);
}

#[test]
fn a_restored_receiver_passes_over_rows_that_are_gone() {
    let key = channel_key();
    let mut channel = IncomingChannel::new(key, 50);
    assert_eq!(
        channel.receive(Row { number: 101, body: body(101) }, "1-0".into()),
        Reception::Waits
    );
    assert_eq!(channel.gap(), None);
    channel.sender_keeps_from(101);
    channel.sender_keeps_from(40);
    assert_eq!(channel.gap(), Some(51..=100));
    assert!(channel.committed(101).is_err());
    assert_eq!(channel.committed(100), Ok(vec![]));
    assert_eq!((channel.gap(), channel.mark().number()), (None, 100));
    assert_eq!(channel.ready().map(|(number, _)| number).collect::<Vec<_>>(), [101]);
}
