//! Rows arrive once and in their order, whatever the post does to them.

use std::time::Duration;

use proptest::prelude::*;

use super::pair::{Side, pair};
use crate::memory_post::{MemoryServer, PostFaults};
use crate::post::LEASE;

/// One step of a story.
#[derive(Clone, Copy, Debug)]
enum StoryStep {
    /// One computer owes a row, and some empty rows after it.
    Owe { first: bool, empty: usize },
    /// One computer dies and comes back.
    Crash { first: bool },
    /// One computer is stopped and comes back.
    Restart { first: bool },
    /// Time passes.
    Wait(u64),
    /// The post loses everything.
    Flush,
    /// The post is away for some seconds.
    Away(u64),
    /// The words of one computer are lost for some seconds.
    OneWay { first: bool, secs: u64 },
}

fn step() -> impl Strategy<Value = StoryStep> {
    let first = any::<bool>();
    prop_oneof![
        6 => (first, 0..3_usize).prop_map(|(first, empty)| StoryStep::Owe { first, empty }),
        1 => first.prop_map(|first| StoryStep::Crash { first }),
        1 => first.prop_map(|first| StoryStep::Restart { first }),
        2 => (0..3_000_u64).prop_map(StoryStep::Wait),
        1 => Just(StoryStep::Flush),
        1 => (0..20_u64).prop_map(StoryStep::Away),
        1 => (first, 0..20_u64).prop_map(|(first, secs)| StoryStep::OneWay { first, secs }),
    ]
}

fn faults() -> impl Strategy<Value = PostFaults> {
    (0..40_u64, 0..40_u64, 0..40_u64).prop_map(|(lost, repeated, delayed)| PostFaults {
        lost,
        repeated,
        delayed,
    })
}

/// Plays a story, and then waits with a sound post until nothing is owed.
async fn play(seed: u64, faults: PostFaults, steps: Vec<StoryStep>) {
    let server = MemoryServer::new(seed, faults);
    let mut sides = pair(&server).await;
    for step in steps {
        match step {
            StoryStep::Owe { first, empty } => one(&mut sides, first).owe(empty).await,
            StoryStep::Crash { first } => {
                one(&mut sides, first).crash();
                one(&mut sides, first).start().await;
            }
            StoryStep::Restart { first } => {
                one(&mut sides, first).stop().await;
                one(&mut sides, first).start().await;
            }
            StoryStep::Wait(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
            StoryStep::Flush => server.flush(),
            StoryStep::Away(secs) => {
                server.set_away(true);
                tokio::time::sleep(Duration::from_secs(secs)).await;
                server.set_away(false);
            }
            StoryStep::OneWay { first, secs } => {
                let id = one(&mut sides, first).id;
                server.set_one_way(id, true);
                tokio::time::sleep(Duration::from_secs(secs)).await;
                server.set_one_way(id, false);
            }
        }
        has_in_order(&sides.0, &sides.1).await;
        has_in_order(&sides.1, &sides.0).await;
    }
    server.set_faults(PostFaults::default());
    until("nothing is owed", async || sides.0.open_rows().await + sides.1.open_rows().await == 0)
        .await;
    for (sender, receiver) in [(&sides.0, &sides.1), (&sides.1, &sides.0)] {
        assert_eq!(has_in_order(sender, receiver).await, sender.owed, "a row was lost");
    }
}

fn one(sides: &mut (Side, Side), first: bool) -> &mut Side {
    if first { &mut sides.0 } else { &mut sides.1 }
}

/// After a crash a computer takes its lease at the post again, and does not wait for the end of the
/// former boot's lease.
#[test]
fn a_start_after_a_crash_does_not_wait_for_the_lease() {
    run(async {
        let server = MemoryServer::new(1, PostFaults::default());
        let mut sides = pair(&server).await;
        sides.0.owe(0).await;
        until("it arrives", async || sides.0.open_rows().await == 0).await;
        sides.0.crash();
        let began = tokio::time::Instant::now();
        sides.0.start().await;
        sides.0.owe(0).await;
        until("it arrives after the crash", async || sides.0.open_rows().await == 0).await;
        assert!(began.elapsed() < LEASE, "{:?}", began.elapsed());
    });
}

/// Checks that a computer has the first rows of the other, in order, each once. Returns their
/// number.
async fn has_in_order(sender: &Side, receiver: &Side) -> u64 {
    let notices = receiver.notices().await;
    for (serial, notice) in (1..).zip(&notices) {
        let text = format!("refused row {serial} of this computer: {serial} (serial)");
        assert!(notice.ends_with(&text), "{serial}: {notices:?}");
    }
    assert!(notices.len() as u64 <= sender.owed, "{notices:?}");
    notices.len() as u64
}

fn run(story: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build().unwrap().block_on(story);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_taken_once_and_in_order(
        seed in any::<u64>(),
        faults in faults(),
        steps in prop::collection::vec(step(), 1..24),
    ) {
        run(play(seed, faults, steps));
    }
}

/// More rows than a channel has on their way, and than the outbox reads together.
#[tokio::test(start_paused = true)]
async fn thousands_of_rows_pass() {
    let server = MemoryServer::new(1, PostFaults::default());
    let (mut one, other) = pair(&server).await;
    for _ in 0..30 {
        one.owe(99).await;
    }
    until("nothing is owed", async || one.open_rows().await == 0).await;
    assert_eq!(has_in_order(&one, &other).await, 30);
}

/// Waits until a condition holds, in time that is not real.
pub(super) async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    for _ in 0..4_000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("it never came about that {what}");
}
