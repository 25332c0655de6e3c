//! Logs that were restored from a backup, and pairs that ended.

use std::sync::Arc;
use std::time::Duration;

use moothall_engine::MemoryLog;
use moothall_engine::outbox::OutboxEntry;
use moothall_engine::ports::Target;
use serde_json::json;

use super::faults::until;
use super::pair::pair;
use crate::bridge::outgoing::ReceiverHello;
use crate::bridge::run::{clock, kernel_id};
use crate::channel::ChannelKey;
use crate::id::{BootId, LogId};
use crate::keys::PairKey;
use crate::memory_post::{MemoryServer, PostFaults};

fn server() -> Arc<MemoryServer> {
    MemoryServer::new(7, PostFaults::default())
}

#[tokio::test(start_paused = true)]
async fn a_restored_receiver_tells_people_of_the_rows_that_it_lost_and_takes_the_next() {
    let server = server();
    let (mut one, mut other) = pair(&server).await;
    for _ in 0..5 {
        one.owe(0).await;
    }
    until("five rows arrive", async || one.open_rows().await == 0).await;
    other.restart_with(Arc::default()).await;
    one.owe(0).await;
    until("the sixth arrives", async || one.open_rows().await == 0).await;
    let notices = other.notices().await;
    let [lost, sixth] = &notices[..] else { panic!("{notices:?}") };
    assert!(lost.starts_with("Rows 1 to 5 of workstation are lost"), "{lost}");
    assert!(sixth.contains("row 6"), "{sixth}");
}

#[tokio::test(start_paused = true)]
async fn a_restored_sender_has_another_channel_whose_rows_begin_at_one() {
    let server = server();
    let (mut one, other) = pair(&server).await;
    one.owe(2).await;
    until("the row arrives", async || one.open_rows().await == 0).await;
    one.restart_with(Arc::new(MemoryLog::new())).await;
    one.owe(0).await;
    until("the row of the new log arrives", async || one.open_rows().await == 0).await;
    let notices = other.notices().await;
    assert!(notices.len() == 2 && notices[1].contains("row 2"), "{notices:?}");
}

#[tokio::test(start_paused = true)]
async fn open_rows_of_a_restored_log_are_doubted_once_and_never_sent_again() {
    let (mut one, mut other) = pair(&server()).await;
    let (before, restored) = (LogId::random(), LogId::random());
    one.note_log(before).await;
    other.crash();
    one.owe(1).await;
    one.note_log(before).await;
    assert_eq!(one.open_rows().await, 2);
    one.note_log(restored).await;
    assert_eq!(one.open_rows().await, 0);
    one.owe(0).await;
    one.note_log(restored).await;
    assert_eq!(one.open_rows().await, 1, "a row of the restored log is sent");
    assert_eq!(one.last_number().await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_mark_of_rows_that_the_log_never_had_stops_the_pair_and_says_so() {
    let server = server();
    let (mut one, mut other) = pair(&server).await;
    one.owe(0).await;
    until("the row arrives", async || one.open_rows().await == 0).await;
    // The counters are lost, and the log has its name still.
    one.stop().await;
    one.forget_rows().await;
    one.start().await;
    until("it is told", async || one.state().0 == "refused").await;
    assert!(one.state().1.unwrap().contains("replaced by an older one"), "{:?}", one.state());
    one.owe(0).await;
    other.owe(0).await;
    until("the other's row arrives", async || other.open_rows().await == 0).await;
    // They introduce themselves again and again, and the mark is by now one of this log.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((one.open_rows().await, other.notices().await.len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_pair_that_ended_and_began_again_counts_from_one() {
    let server = server();
    let (mut one, mut other) = pair(&server).await;
    one.owe(1).await;
    other.owe(0).await;
    until("they arrive", async || one.open_rows().await + other.open_rows().await == 0).await;
    other.crash();
    one.owe(0).await;
    let key = PairKey::random();
    one.forget_and_pair_again(&key).await;
    assert_eq!(one.open_rows().await, 0, "what was owed is cancelled");
    other.start().await;
    other.forget_and_pair_again(&key).await;
    one.owe(0).await;
    other.owe(0).await;
    until("they arrive", async || one.open_rows().await + other.open_rows().await == 0).await;
    let notices = other.notices().await;
    assert!(notices.len() == 2 && notices[1].contains("row 3 of"), "{notices:?}");
    assert_eq!(one.notices().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_row_that_a_newer_program_wrote_is_sent_empty_and_does_not_hold_up_the_next() {
    let server = server();
    let (mut one, other) = pair(&server).await;
    let target = Target::Computer(kernel_id(other.id));
    one.owe_entries(vec![OutboxEntry { target, command: json!({"post": "sing"}) }]).await;
    one.owe(0).await;
    until("they arrive", async || one.open_rows().await == 0).await;
    assert_eq!(other.notices().await.len(), 1);
}

/// The numbers of the new pair would reach the mark of the old one, and rows would count as taken
/// that never were.
#[tokio::test(start_paused = true)]
async fn a_restored_log_has_no_mark_of_a_pair_that_began_later() {
    let server = server();
    let (mut one, mut other) = pair(&server).await;
    for _ in 0..3 {
        one.owe(0).await;
    }
    until("three rows arrive", async || one.open_rows().await == 0).await;
    let backup = other.log.restored();
    let key = PairKey::random();
    one.forget_and_pair_again(&key).await;
    other.forget_and_pair_again(&key).await;
    other.restart_with(Arc::new(backup)).await;
    one.owe(0).await;
    until("the row of the new pair arrives", async || one.open_rows().await == 0).await;
    let notices = other.notices().await;
    assert!(notices.len() == 4 && notices[3].contains("row 4 of"), "{notices:?}");
}

/// A receiver that was restored would wait for such a row for ever.
#[tokio::test(start_paused = true)]
async fn an_introduction_names_no_row_that_is_not_sent_any_more() {
    let server = server();
    let (mut one, mut other) = pair(&server).await;
    other.crash();
    one.owe(1).await;
    let (link, pair) = (one.link(), one.pair());
    let sending = link.hello_for(&pair).await.unwrap().sending;
    assert_eq!((sending.first, sending.last), (1, 2));
    let key = ChannelKey { sender: one.id, log: sending.log, receiver: other.id };
    let boot = BootId::random();
    let hello = ReceiverHello { key, boot, taken: 1, first: 1, last: 2 };
    assert!(link.outgoing.meet(hello, clock()).is_ok());
    // The outbox has not run since, so the log has the row as open.
    assert_eq!(one.open_rows().await, 2);
    let sending = link.hello_for(&pair).await.unwrap().sending;
    assert_eq!((sending.first, sending.last), (2, 2));
}
