//! Outages of the server and crashes of the hosts: every row is taken, in order, once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moothall_computers::post::{Post, PostError};

use crate::host::{Ends, Host};
use crate::server::{PostServer, RedisServer};
use crate::{bytes, computers, next_entries};

/// Starts the hosts of both ends at a server.
fn hosts(server: &RedisServer, ends: &(Ends, Ends)) -> (Host, Host) {
    let start = |ends: &Ends| Host::start(ends, Arc::new(server.post(ends.own)));
    (start(&ends.0), start(&ends.1))
}

#[tokio::test]
async fn rows_go_both_ways_in_order_and_leave_nothing_behind() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let ends = Ends::pair();
    let (one, two) = hosts(&server, &ends);
    one.push(2_500);
    two.push(700);
    ends.1.has_taken(2_500).await;
    ends.0.has_taken(700).await;
    let empty = async {
        for end in [&ends.0, &ends.1] {
            let stream = format!("moothall:post:{}", end.own);
            while server.command::<u64>(&["XLEN", &stream]) > 0 {
                tokio::task::yield_now().await;
            }
        }
    };
    tokio::time::timeout(crate::host::DEADLINE, empty).await.expect("empty streams");
}

#[tokio::test]
async fn a_server_that_forgets_everything_loses_no_row() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let ends = Ends::pair();
    let (one, _two) = hosts(&server, &ends);
    for round in 1..=5 {
        one.push(1_500);
        ends.1.has_taken(1_500 * round - 1_200).await;
        let _: () = server.command(&["FLUSHALL"]);
    }
    ends.1.has_taken(7_500).await;
}

#[tokio::test]
async fn a_server_that_is_killed_without_persistence_loses_no_row() {
    let Some(mut server) = RedisServer::start(&[]) else { return };
    let ends = Ends::pair();
    let (one, two) = hosts(&server, &ends);
    for round in 1..=4 {
        one.push(1_500);
        two.push(200);
        ends.1.has_taken(1_500 * round - 1_200).await;
        server.kill();
        one.push(100);
        two.push(10);
        server.restart();
        ends.1.has_taken(1_500 * round - 1_000).await;
        one.push(0);
    }
    ends.1.has_taken(6_400).await;
    ends.0.has_taken(840).await;
}

#[tokio::test]
async fn hosts_that_crash_lose_and_repeat_no_row() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let ends = Ends::pair();
    let (mut one, mut two) = hosts(&server, &ends);
    for round in 1..=4 {
        one.push(1_500);
        ends.1.has_taken(1_500 * round - 1_300).await;
        match round % 2 {
            0 => drop(std::mem::replace(&mut one, hosts(&server, &ends).0)),
            _ => drop(std::mem::replace(&mut two, hosts(&server, &ends).1)),
        }
    }
    ends.1.has_taken(6_000).await;
}

#[tokio::test]
async fn what_a_frozen_server_was_given_may_arrive_later() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (from, to) = computers();
    let (sender, receiver) = (server.post(from), server.post(to));
    sender.put(to, b"first").await.unwrap();
    let first = receiver.next().await.unwrap();
    assert_eq!(bytes(&first), [b"first"]);
    receiver.done(&[first.entries[0].id.clone()]).await.unwrap();
    server.freeze();
    let began = Instant::now();
    let put = sender.put(to, b"late").await;
    assert!(matches!(put, Err(PostError::Away(_))), "{put:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "the put waited too long");
    server.thaw();
    assert_eq!(bytes(&next_entries(&receiver).await), [b"late"]);
}

#[tokio::test]
async fn rows_survive_a_frozen_server() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let ends = Ends::pair();
    let (one, _two) = hosts(&server, &ends);
    one.push(500);
    ends.1.has_taken(100).await;
    server.freeze();
    one.push(500);
    let (from, to) = computers();
    let silent = server.post(from).put(to, b"x").await;
    assert!(matches!(silent, Err(PostError::Away(_))), "{silent:?}");
    server.thaw();
    ends.1.has_taken(1_000).await;
}
