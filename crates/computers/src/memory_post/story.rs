//! Two hosts over a post with faults, in virtual time: every row is taken, in order, once.

use std::sync::Arc;

use crate::id::ComputerId;
use crate::memory_post::{MemoryServer, PostFaults};

#[path = "../../tests/redis/host.rs"]
mod host;
use host::{Ends, Host};

/// Begins or ends an outage, which may be of the entries of this computer only.
type Switch = fn(&MemoryServer, ComputerId);

fn host(server: &Arc<MemoryServer>, ends: &Ends) -> Host {
    Host::start(ends, Arc::new(server.post(ends.own)))
}

/// Owes rows in both directions, and crashes both hosts while they are carried.
async fn rows_are_taken(
    server: Arc<MemoryServer>,
    disturb: impl Fn(&MemoryServer, u64, ComputerId),
) {
    let ends = Ends::pair();
    let (mut one, mut two) = (host(&server, &ends.0), host(&server, &ends.1));
    for round in 1..=4 {
        one.push(700);
        two.push(100);
        ends.1.has_taken(700 * round - 600).await;
        disturb(&server, round, ends.0.own);
        if round % 2 == 0 {
            drop(one);
            one = host(&server, &ends.0);
        } else {
            drop(two);
            two = host(&server, &ends.1);
        }
        ends.1.has_taken(700 * round - 300).await;
    }
    ends.1.has_taken(2_800).await;
    ends.0.has_taken(400).await;
}

#[tokio::test(start_paused = true)]
async fn loss_repetition_and_reordering_change_nothing() {
    for seed in 0..5 {
        let faults = PostFaults { lost: 1 + seed, repeated: 10, delayed: 20 };
        rows_are_taken(MemoryServer::new(seed, faults), |_, _, _| {}).await;
    }
}

#[tokio::test(start_paused = true)]
async fn outages_change_nothing() {
    for seed in 0..5 {
        let server = MemoryServer::new(seed, PostFaults { lost: 2, repeated: 5, delayed: 5 });
        rows_are_taken(server.clone(), |server, round, own| {
            // Each round ends the outage of the one before.
            server.thaw();
            server.set_away(false);
            server.set_one_way(own, false);
            match (seed + round) % 3 {
                0 => server.flush(),
                1 => server.set_away(false),
                _ => {
                    server.freeze();
                    server.flush();
                    server.thaw();
                }
            }
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn rows_wait_for_a_post_that_is_away_frozen_or_goes_one_way() {
    let server = MemoryServer::new(1, PostFaults::default());
    let ends = Ends::pair();
    let (one, _two) = (host(&server, &ends.0), host(&server, &ends.1));
    let outages: [(Switch, Switch); 3] = [
        (|server, _| server.set_away(true), |server, _| server.set_away(false)),
        (|server, _| server.freeze(), |server, _| server.thaw()),
        (|server, own| server.set_one_way(own, true), |server, own| server.set_one_way(own, false)),
    ];
    for (round, (begin, end)) in (1..).zip(outages) {
        begin(&server, ends.0.own);
        one.push(300);
        tokio::time::sleep(std::time::Duration::from_secs(120)).await;
        assert_eq!(ends.1.count(), 300 * (round - 1), "rows came through an outage");
        end(&server, ends.0.own);
        ends.1.has_taken(300 * round).await;
    }
}
