//! Tests of slots under a flood of connections: which get one, and which are evicted. In the names
//! of the tests, a seat is a slot, a seat that is kept back is a spare slot, and to give way is to
//! be evicted.

#![allow(clippy::unwrap_used)]
use super::table::{IDLE_MIN, SPARE_SILENT_MIN, STRANGER_MIN};
use super::*;
use std::future::Future;
use std::task::{Context, Waker};

use tokio::time::Instant;

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

fn slots(all: usize, per_address: usize) -> Arc<ConnectionSlots> {
    ConnectionSlots::new(all, per_address, Arc::default())
}

fn take(slots: &Arc<ConnectionSlots>, address: IpAddr) -> ConnectionSlot {
    slots.take(address).unwrap()
}

/// Starts a request that the door admits.
fn known(slot: &ConnectionSlot) -> BusyGuard {
    let busy = slot.hear();
    slot.vouch();
    busy
}

fn must_leave(slot: &ConnectionSlot) -> bool {
    let mut over = std::pin::pin!(slot.wait_for_end());
    over.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[tokio::test(start_paused = true)]
async fn the_longest_silent_gives_way_first_and_who_is_being_answered_never() {
    let slots = slots(4, 200);
    let (silent, idle, busy) = (take(&slots, HERE), take(&slots, HERE), take(&slots, HERE));
    drop(idle.hear());
    let _answer = known(&busy);
    tokio::time::advance(IDLE_MIN).await;
    assert!(!must_leave(&silent));
    let later = take(&slots, HERE);
    assert!(must_leave(&silent) && !must_leave(&idle) && !must_leave(&busy) && !later.is_spare());
    let _answer = known(&later);
    let last = take(&slots, HERE);
    assert!(must_leave(&idle) && !last.is_spare(), "then whoever asks nothing");
    let _answer = known(&last);
    let spare = take(&slots, HERE);
    assert!(spare.is_spare(), "then a seat that was kept back");
    assert!(!must_leave(&busy) && !must_leave(&later) && !must_leave(&last));
}

#[tokio::test(start_paused = true)]
async fn with_no_seat_left_whoever_comes_waits_outside() {
    let slots = slots(2, 200);
    let (only, spare) = (take(&slots, HERE), take(&slots, HERE));
    let (_answer, _another) = (known(&only), known(&spare));
    assert!(spare.is_spare() && !only.is_spare());
    let mut room = std::pin::pin!(slots.room());
    assert!(room.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(spare);
    room.await;
    assert!(take(&slots, HERE).is_spare());
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_is_kept_back_waits_two_seconds_for_its_head_and_others_ten() {
    let slots = slots(2, 200);
    let (ordinary, spare) = (take(&slots, HERE), take(&slots, HERE));
    for (slot, within) in [(&spare, SPARE_HEAD_WITHIN), (&ordinary, HEAD_WITHIN)] {
        let begun = Instant::now();
        slot.wait_for_end().await;
        assert_eq!(begun.elapsed(), within);
    }
    let _answer = ordinary.hear();
    tokio::select! {
        () = ordinary.wait_for_end() => panic!("its head has come"),
        () = tokio::time::sleep(HEAD_WITHIN * 2) => {}
    }
}

#[tokio::test(start_paused = true)]
async fn silence_on_the_seats_that_are_kept_back_keeps_nobody_waiting() {
    let slots = slots(32, 200);
    let first = take(&slots, HERE);
    first.vouch();
    let ordinary: Vec<_> = (1..30).map(|_| take(&slots, HERE)).chain([first]).collect();
    let _answers: Vec<_> = ordinary.iter().map(known).collect();
    let mut silent = Vec::new();
    let begun = Instant::now();
    for _ in 0..100 {
        slots.room().await;
        silent.push(take(&slots, HERE));
    }
    assert!(begun.elapsed() <= SPARE_SILENT_MIN * 60, "{:?}", begun.elapsed());
    assert!(silent.iter().all(ConnectionSlot::is_spare));
    assert_eq!(silent.iter().filter(|slot| !must_leave(slot)).count(), 2);
    drop(silent);
    assert_eq!(slots.lock().spares(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_address_has_so_many_and_this_computer_any_number() {
    let slots = slots(100, 3);
    let far: IpAddr = "192.0.2.7".parse().unwrap();
    let taken: Vec<_> = (0..4).map(|_| take(&slots, far)).collect();
    assert_eq!(
        taken.iter().map(|slot| slot.crowded).collect::<Vec<_>>(),
        [false, false, false, true]
    );
    assert!(!take(&slots, "192.0.2.8".parse().unwrap()).crowded);
    assert!(
        (0..10).map(|_| take(&slots, HERE)).collect::<Vec<_>>().iter().all(|slot| !slot.crowded)
    );
    let more: Vec<_> = (0..10).filter_map(|_| slots.take(far)).collect();
    assert_eq!(more.len(), 2, "half of the seats that are kept back, for telling it so");
    drop((taken, more));
    let one = take(&slots, far);
    assert!(!one.crowded, "what is given free can be taken again");
    slots.replace(1);
    let another = take(&slots, far);
    assert!(another.crowded);
    drop(another);
    slots.replace(3);
    assert!(!take(&slots, far).crowded, "from the next connection on");
    drop(one);
    let (one, other): (IpAddr, IpAddr) =
        ("2001:db8::1".parse().unwrap(), "2001:db8::ffff:2".parse().unwrap());
    assert_eq!(grouped(one), grouped(other));
    assert_eq!(grouped("::ffff:192.0.2.7".parse().unwrap()), far);
}

#[tokio::test(start_paused = true)]
async fn the_stranger_with_most_bytes_gives_way_before_known_callers() {
    let slots = slots(5, 200);
    let [light, heavy, whole, old] = [(); 4].map(|()| take(&slots, HERE));
    let _answers = [light.hear(), heavy.hear(), known(&whole), known(&old)];
    light.receive(10);
    heavy.receive(1_000);
    whole.receive(100_000);
    assert!(take(&slots, HERE).is_spare(), "a stranger has a second");
    tokio::time::advance(STRANGER_MIN).await;
    let next = take(&slots, HERE);
    assert!(must_leave(&heavy) && !must_leave(&light) && !next.is_spare());
    let _answer = known(&next);
    let _another = known(&take(&slots, HERE));
    assert!(must_leave(&light) && !must_leave(&whole) && !must_leave(&old));
}

#[tokio::test(start_paused = true)]
async fn an_eighth_is_kept_for_addresses_of_good_keys() {
    let slots = ConnectionSlots::new(17, 200, Arc::default());
    let (known_from, other): (IpAddr, IpAddr) =
        ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
    drop(known(&take(&slots, known_from)));
    let mut strangers: Vec<_> = (0..15).map(|_| take(&slots, other)).collect();
    let _answers: Vec<_> = strangers.iter().map(ConnectionSlot::hear).collect();
    assert!(strangers[14].is_spare() && !strangers[13].is_spare());
    assert!(slots.take(other).is_none(), "the seats that are left are for others");
    slots.room().await;
    strangers.extend([take(&slots, known_from), take(&slots, known_from)]);
    assert!(!strangers[15].is_spare() && !strangers[16].is_spare());
}

#[tokio::test(start_paused = true)]
async fn strangers_share_one_budget_of_bytes_and_known_ones_another() {
    const STRANGERS: usize = 32;
    let slots = slots(1_000, 1_000);
    let mib = 1 << 20;
    let taken: Vec<_> = (0..STRANGERS + 2).map(|_| take(&slots, HERE)).collect();
    for slot in &taken[..STRANGERS] {
        slot.receive(mib);
    }
    assert!(taken.iter().all(|slot| !must_leave(slot)));
    taken[STRANGERS].receive(mib - 1);
    let left: Vec<_> = taken.iter().map(must_leave).collect();
    let (cut, stay) = left.split_at(5);
    assert!(cut.iter().all(|left| *left), "the oldest of those that hold most, an eighth in all");
    assert!(stay.iter().all(|left| !left), "{left:?}");
    taken[0].receive(100 * mib);
    assert_eq!(slots.accounts.overdrawn(), None, "what was cut counts no more");
    let answer = known(&taken[5]);
    taken[STRANGERS + 1].receive(1);
    taken[STRANGERS + 1].hold(5 * mib);
    assert!(taken[5..].iter().all(|slot| !must_leave(slot)), "a known one makes room");
    drop(answer);
    taken[5].receive(mib);
    assert!(must_leave(&taken[STRANGERS + 1]) && !must_leave(&taken[5]));
    drop(taken);
    take(&slots, HERE).receive(32 * mib);
    assert_eq!(slots.accounts.overdrawn(), None, "what went is given free");
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_strangers_is_looked_through_once_for_many() {
    let slots = ConnectionSlots::new(1_024 + 64, 2_000, Arc::default());
    let first = take(&slots, HERE);
    first.vouch();
    let silent: Vec<_> = (1..1_024).map(|_| take(&slots, HERE)).collect();
    let _answer = known(&first);
    tokio::time::advance(HEAD_WITHIN).await;
    let _next = take(&slots, HERE);
    let left = silent.iter().filter(|slot| must_leave(slot)).count();
    assert_eq!(left, 1_024 / 64);
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_gives_way_for_its_file() {
    let slots = slots(100, 200);
    let (busy, silent) = (take(&slots, HERE), take(&slots, HERE));
    let _answer = known(&busy);
    slots.free_one();
    assert!(!must_leave(&silent), "it has just come");
    tokio::time::advance(HEAD_WITHIN).await;
    slots.free_one();
    assert!(must_leave(&silent) && !must_leave(&busy));
}
