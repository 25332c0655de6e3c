//! The post over a real Redis: its promises, its refusals, and rows that survive its outages.
#![allow(clippy::unwrap_used)]

mod host;
mod server;
mod outages;
mod refusals;

use std::time::Duration;

use moothall_computers::id::{BootId, ComputerId};
use moothall_computers::post::{ENTRY_LEN_MAX, Post, PostBatch, PostError, PostId};
use server::{PostServer, RedisServer};

fn computers() -> (ComputerId, ComputerId) {
    (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap())
}

fn bytes(batch: &PostBatch) -> Vec<&[u8]> {
    batch.entries.iter().map(|entry| entry.bytes.as_slice()).collect()
}

fn ids(batch: &PostBatch) -> Vec<PostId> {
    batch.entries.iter().map(|entry| entry.id.clone()).collect()
}

/// Reads until an entry comes, over outages.
async fn next_entries(post: &dyn Post) -> PostBatch {
    let read = async {
        loop {
            match post.next().await {
                Ok(batch) if !batch.entries.is_empty() => return batch,
                Ok(_) | Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    tokio::time::timeout(host::DEADLINE, read).await.expect("entries in time")
}

#[tokio::test]
async fn entries_come_in_order_until_they_are_done() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (from, to) = computers();
    let (sender, receiver) = (server.post(from), server.post(to));
    let first = receiver.next().await.unwrap();
    assert!(first.fresh && first.entries.is_empty());
    sender.put(to, b"one").await.unwrap();
    sender.put(to, &[0, 255, 10, 13]).await.unwrap();
    sender.put(to, &vec![7; ENTRY_LEN_MAX]).await.unwrap();
    let longer = sender.put(to, &vec![7; ENTRY_LEN_MAX + 1]).await;
    assert_eq!(longer, Err(PostError::Oversized(ENTRY_LEN_MAX + 1)));

    let again = server.post(to);
    let batch = again.next().await.unwrap();
    assert!(batch.fresh);
    let longest = vec![7; ENTRY_LEN_MAX];
    assert_eq!(bytes(&batch), [&b"one"[..], &[0, 255, 10, 13], &longest]);
    again.done(&ids(&batch)[..2]).await.unwrap();
    assert_eq!(bytes(&server.post(to).next().await.unwrap()), [longest]);
    again.done(&ids(&batch)).await.unwrap();
    again.done(&[]).await.unwrap();
    assert!(server.post(to).next().await.unwrap().entries.is_empty());
}

/// Waits until a reader waits at the server.
async fn waits_at(server: &RedisServer) {
    let is_blocked = |line: &str| {
        let flags = line.split(' ').find_map(|word| word.strip_prefix("flags="));
        flags.is_some_and(|flags| flags.contains('b'))
    };
    let waits = async {
        while !server.command::<String>(&["CLIENT", "LIST"]).lines().any(is_blocked) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(host::DEADLINE, waits).await.expect("a reader that waits");
}

#[tokio::test]
async fn a_read_that_is_dropped_loses_no_entry() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (from, to) = computers();
    let (sender, receiver) = (server.post(from), server.post(to));
    receiver.next().await.unwrap();
    for byte in 0..5 {
        tokio::select! {
            read = receiver.next() => panic!("the stream is empty: {read:?}"),
            () = waits_at(&server) => {}
        }
        sender.put(to, &[byte]).await.unwrap();
        let batch = next_entries(&receiver).await;
        assert_eq!((batch.fresh, bytes(&batch)), (true, vec![&[byte][..]]));
        receiver.done(&ids(&batch)).await.unwrap();
    }
}

#[tokio::test]
async fn a_reader_finds_entries_whose_ids_went_back() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (_, to) = computers();
    let receiver = server.post(to);
    receiver.next().await.unwrap();
    let stream = format!("moothall:post:{to}");
    let far: String = server.command(&["XADD", &stream, "99999999999999-0", "e", "far"]);
    assert_eq!(bytes(&receiver.next().await.unwrap()), [b"far"]);
    receiver.done(&[PostId::from(far.as_str())]).await.unwrap();
    // The server lost its memory, and its clock is behind the ids before.
    let _: () = server.command(&["FLUSHALL"]);
    let _: String = server.command(&["XADD", &stream, "5-0", "e", "near"]);
    assert_eq!(bytes(&next_entries(&receiver).await), [b"near"]);
}

#[tokio::test]
async fn an_entry_of_a_stranger_is_empty_and_can_be_deleted() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (_, to) = computers();
    let receiver = server.post(to);
    let stream = format!("moothall:post:{to}");
    let _: String = server.command(&["XADD", &stream, "*", "other", "x"]);
    let batch = receiver.next().await.unwrap();
    assert_eq!(bytes(&batch), [b""]);
    receiver.done(&ids(&batch)).await.unwrap();
    assert_eq!(server.command::<u64>(&["XLEN", &stream]), 0);
}

#[tokio::test]
async fn words_are_heard_by_their_computer_only_and_now_only() {
    let Some(mut server) = RedisServer::start(&[]) else { return };
    let (from, to) = computers();
    let (sender, receiver) = (server.post(from), server.post(to));
    sender.say(to, b"nobody listens").await.unwrap();
    receiver.renew(BootId::random(), &[]).await.unwrap();
    sender.say(from, b"for another").await.unwrap();
    sender.say(to, &[0, 255]).await.unwrap();
    assert_eq!(receiver.hear().await.unwrap(), [0, 255]);
    let lost = async { tokio::join!(receiver.hear(), async { server.kill() }).0 };
    let heard = tokio::time::timeout(host::DEADLINE, lost).await.expect("the end is noticed");
    assert!(matches!(heard, Err(PostError::Away(_))), "{heard:?}");
    server.restart();
    let said = async {
        // Both connect again by themselves, in any order.
        while sender.say(to, b"again").await.is_err()
            || receiver.done(&["1-0".into()]).await.is_err()
        {
            tokio::task::yield_now().await;
        }
        sender.say(to, b"again").await.unwrap();
        while receiver.hear().await.is_err() {}
    };
    tokio::time::timeout(host::DEADLINE, said).await.expect("words in time");
}

#[tokio::test]
async fn two_boots_of_one_id_see_each_other() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let (own, other) = computers();
    let (one, two) = (BootId::random(), BootId::random());
    let (post, copy, peer) = (server.post(own), server.post(own), server.post(other));
    assert_eq!(post.renew(one, &[other]).await.unwrap().peers.len(), 0);
    assert_eq!(copy.renew(two, &[]).await.unwrap().holder, one);
    let answer = post.renew(one, &[]).await.unwrap();
    assert_eq!((answer.holder, answer.rival), (one, Some(two)), "the holder learns of it");
    let answer = peer.renew(two, &[own, other]).await.unwrap();
    assert_eq!(answer.holder, two);
    assert_eq!(answer.peers.get(&own), Some(&one));
    let lease = format!("moothall:computer:{own}");
    let left: u64 = server.command(&["PTTL", &lease]);
    assert!((20_000..=30_000).contains(&left), "{left}");

    copy.release(two).await.unwrap();
    assert_eq!(copy.renew(two, &[]).await.unwrap().holder, one);
    post.release(one).await.unwrap();
    // The first asked again and was refused, but before the third had the lease: it may be dead.
    assert_eq!(copy.renew(two, &[]).await.unwrap().holder, two);
    assert_eq!(post.renew(one, &[]).await.unwrap().rival, Some(one));
    copy.release(two).await.unwrap();
    let three = BootId::random();
    let answer = copy.renew(three, &[]).await.unwrap();
    assert_eq!((answer.holder, answer.rival), (three, None));
    assert_eq!(post.renew(one, &[]).await.unwrap().holder, three);
    assert_eq!(copy.renew(three, &[]).await.unwrap().rival, Some(one), "one that runs counts");
    let _: () = server.command(&["SET", &lease, "words"]);
    assert!(matches!(copy.renew(two, &[]).await, Err(PostError::Failed(_))));
    assert!(peer.renew(two, &[own]).await.unwrap().peers.is_empty());
}

#[tokio::test]
async fn a_doctor_reads_what_the_server_does_with_memory() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let post = server.post(computers().0);
    let health = post.health().await.unwrap();
    assert!(health.ping < Duration::from_secs(2));
    assert!(health.clock_ahead_ms.unwrap().abs() < 60_000, "{health:?}");
    assert!(health.version.is_some());
    assert_eq!(health.eviction.as_deref(), Some("noeviction"));
    assert_eq!((health.append_only, health.snapshots), (Some(false), Some(false)));
    assert!(!health.evicts());
    let _: () = server.command(&["CONFIG", "SET", "maxmemory", "100mb"]);
    let _: () = server.command(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    let _: () = server.command(&["CONFIG", "SET", "save", "60 1"]);
    let _: () = server.command(&["CONFIG", "SET", "appendonly", "yes"]);
    let health = post.health().await.unwrap();
    assert!(health.evicts());
    assert_eq!(health.memory_max, Some(100 * 1024 * 1024));
    assert_eq!((health.append_only, health.snapshots), (Some(true), Some(true)));
}
