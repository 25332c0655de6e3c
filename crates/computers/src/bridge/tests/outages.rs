//! A post that is away for long, clocks that differ, and two servers with one id.

use std::sync::Arc;
use std::time::Duration;

use moothall_kernel::time::Millis;

use super::faults::until;
use super::pair::{Side, pair};
use crate::memory_post::{MemoryServer, PostFaults};
use crate::post::LEASE;

fn server() -> Arc<MemoryServer> {
    MemoryServer::new(11, PostFaults::default())
}

/// Owes a row in each direction, and waits until both arrived.
async fn exchange(sides: &mut (Side, Side)) {
    sides.0.owe(0).await;
    sides.1.owe(0).await;
    let (one, other) = (&sides.0, &sides.1);
    until("both arrive", async || one.open_rows().await + other.open_rows().await == 0).await;
}

/// Checks that each has every row of the other once, in order.
async fn have_all(sides: &(Side, Side)) {
    for (sender, receiver) in [(&sides.0, &sides.1), (&sides.1, &sides.0)] {
        let notices = receiver.notices().await;
        assert_eq!(notices.len() as u64, sender.owed, "{notices:?}");
        for (serial, notice) in (1..).zip(&notices) {
            assert!(notice.ends_with(&format!("{serial} (serial)")), "{serial}: {notices:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_post_that_is_away_for_an_hour_loses_and_repeats_no_row() {
    let server = server();
    let mut sides = pair(&server).await;
    exchange(&mut sides).await;
    server.set_away(true);
    for _ in 0..60 {
        tokio::time::sleep(Duration::from_secs(60)).await;
        sides.0.owe(0).await;
        sides.1.owe(0).await;
    }
    assert_eq!((sides.0.open_rows().await, sides.1.open_rows().await), (60, 60));
    assert_eq!((sides.0.state().0, sides.1.state().0), ("away".to_owned(), "away".to_owned()));
    server.set_away(false);
    let back = tokio::time::Instant::now();
    let (one, other) = (&sides.0, &sides.1);
    until("all arrive", async || one.open_rows().await + other.open_rows().await == 0).await;
    assert!(back.elapsed() <= LEASE, "it took {:?}", back.elapsed());
    have_all(&sides).await;
}

#[tokio::test(start_paused = true)]
async fn clocks_ten_minutes_apart_are_shown_and_hold_up_nothing() {
    const APART: Millis = Millis(10 * 60 * 1_000);
    let mut sides = pair(&server()).await;
    sides.0.stop().await;
    sides.0.clock_ahead = APART;
    sides.0.start().await;
    exchange(&mut sides).await;
    have_all(&sides).await;
    let apart = i64::try_from(APART.0).unwrap();
    let (one, other) = (sides.0.shown_clock().unwrap(), sides.1.shown_clock().unwrap());
    assert!((one + apart).abs() < 60_000 && (other - apart).abs() < 60_000, "{one}, {other}");
    assert_eq!((sides.0.state().0, sides.1.state().0), ("up".to_owned(), "up".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn two_servers_with_one_id_take_and_send_nothing_until_one_is_left() {
    let mut sides = pair(&server()).await;
    exchange(&mut sides).await;
    let copy = sides.0.copied().await;
    let peers = [copy.peers.clone(), sides.0.peers.clone()];
    until("both know", async || peers.iter().all(|peers| peers.is_doubled())).await;
    sides.0.owe(0).await;
    sides.1.owe(0).await;
    tokio::time::sleep(10 * LEASE).await;
    assert_eq!((sides.0.open_rows().await, sides.1.open_rows().await), (1, 1));
    assert_eq!((copy.notices().await.len(), sides.0.notices().await.len()), (1, 1));
    drop(copy);
    let (one, other) = (&sides.0, &sides.1);
    until("both arrive", async || one.open_rows().await + other.open_rows().await == 0).await;
    have_all(&sides).await;
    assert!(!sides.0.peers.is_doubled());
}
