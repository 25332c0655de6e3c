//! The post in memory has the faults that it promises, and no others.

use std::time::Duration;

use super::*;

fn computers() -> (ComputerId, ComputerId) {
    (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap())
}

/// Returns the first byte of each entry.
fn firsts(batch: &PostBatch) -> Vec<u8> {
    batch.entries.iter().map(|entry| entry.bytes[0]).collect()
}

fn ids(batch: &PostBatch) -> Vec<PostId> {
    batch.entries.iter().map(|entry| entry.id.clone()).collect()
}

#[tokio::test]
async fn without_faults_entries_come_in_order_until_they_are_done() {
    let server = MemoryServer::new(1, PostFaults::default());
    let (from, to) = computers();
    let (sender, receiver) = (server.post(from), server.post(to));
    for byte in 0..5 {
        sender.put(to, &[byte]).await.unwrap();
    }
    let batch = receiver.next().await.unwrap();
    assert!(batch.fresh);
    assert_eq!(firsts(&batch), [0, 1, 2, 3, 4]);
    receiver.done(&ids(&batch)[..2]).await.unwrap();
    sender.put(to, &[5]).await.unwrap();
    let batch = receiver.next().await.unwrap();
    assert_eq!((batch.fresh, firsts(&batch)), (false, vec![5]));
    assert_eq!(firsts(&server.post(to).next().await.unwrap()), [2, 3, 4, 5]);
    assert!(sender.next().await.unwrap().entries.is_empty());
}

#[tokio::test]
async fn faults_by_chance_are_the_same_for_a_seed() {
    let faults = PostFaults { lost: 20, repeated: 20, delayed: 30 };
    let (from, to) = computers();
    let mut runs = Vec::new();
    for seed in [7, 7, 8] {
        let server = MemoryServer::new(seed, faults);
        let sender = server.post(from);
        for byte in 0..100 {
            sender.put(to, &[byte]).await.unwrap();
        }
        runs.push(firsts(&server.post(to).next().await.unwrap()));
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
    let run = &runs[0];
    assert!((0..100).any(|byte| !run.contains(&byte)), "none is lost");
    let count = |byte: u8| run.iter().filter(|other| **other == byte).count();
    assert!((0..100).any(|byte| count(byte) == 2), "none is repeated");
    assert!(!run.is_sorted(), "none is delayed");
}

#[tokio::test]
async fn a_reader_learns_that_the_server_was_away() {
    let server = MemoryServer::new(1, PostFaults::default());
    let (from, to) = computers();
    let (sender, receiver) = (server.post(from), server.post(to));
    receiver.next().await.unwrap();
    let (answer, ()) = tokio::join!(receiver.next(), async { server.set_away(true) });
    assert!(matches!(answer, Err(PostError::Away(_))));
    assert!(sender.put(to, b"x").await.is_err());
    assert!(receiver.next().await.is_err());
    server.set_away(false);
    assert!(receiver.next().await.unwrap().fresh);
}

#[tokio::test]
async fn a_frozen_server_gets_later_what_it_seemed_to_refuse() {
    let server = MemoryServer::new(1, PostFaults::default());
    let (from, to) = computers();
    let (sender, receiver) = (server.post(from), server.post(to));
    receiver.next().await.unwrap();
    server.freeze();
    assert!(matches!(sender.put(to, &[1]).await, Err(PostError::Away(_))));
    let (batch, ()) = tokio::join!(receiver.next(), async { server.thaw() });
    assert_eq!(firsts(&batch.unwrap()), [1]);
}

#[tokio::test]
async fn one_way_and_a_flush_lose_silently() {
    let server = MemoryServer::new(1, PostFaults::default());
    let (from, to) = computers();
    let (sender, receiver) = (server.post(from), server.post(to));
    server.set_one_way(from, true);
    sender.put(to, &[1]).await.unwrap();
    sender.say(to, b"lost").await.unwrap();
    receiver.put(from, &[2]).await.unwrap();
    assert_eq!((server.waiting(to), server.waiting(from)), (0, 1));
    server.set_one_way(from, false);
    sender.say(to, b"heard").await.unwrap();
    assert_eq!(receiver.hear().await.unwrap(), b"heard");
    server.flush();
    assert_eq!(server.waiting(from), 0);
}

#[tokio::test(start_paused = true)]
async fn a_lease_belongs_to_one_boot_until_it_ends() {
    let server = MemoryServer::new(1, PostFaults::default());
    let (from, to) = computers();
    let (one, two) = (BootId::random(), BootId::random());
    let (post, peer) = (server.post(from), server.post(to));
    assert_eq!(post.renew(one, &[to]).await.unwrap().holder, one);
    assert_eq!(server.post(from).renew(two, &[]).await.unwrap().holder, one);
    assert_eq!(peer.renew(two, &[from]).await.unwrap().peers, BTreeMap::from([(from, one)]));
    tokio::time::advance(LEASE + Duration::from_millis(1)).await;
    let answer = post.renew(two, &[to]).await.unwrap();
    assert_eq!((answer.holder, answer.peers.len()), (two, 0));
    post.release(one).await.unwrap();
    assert_eq!(post.renew(one, &[]).await.unwrap().holder, two);
    post.release(two).await.unwrap();
    assert_eq!(post.renew(one, &[]).await.unwrap().holder, one);
}

#[tokio::test(start_paused = true)]
async fn a_boot_that_crashed_while_it_waited_is_no_rival() {
    let server = MemoryServer::new(1, PostFaults::default());
    let post = server.post(computers().0);
    let boots = [(); 3].map(|()| BootId::random());
    post.renew(boots[0], &[]).await.unwrap();
    tokio::time::advance(LEASE / 2).await;
    assert_eq!(post.renew(boots[1], &[]).await.unwrap().rival, Some(boots[1]));
    tokio::time::advance(LEASE / 2 + Duration::from_millis(1)).await;
    let answer = post.renew(boots[2], &[]).await.unwrap();
    assert_eq!((answer.holder, answer.rival), (boots[2], None));
    post.renew(boots[1], &[]).await.unwrap();
    assert_eq!(post.renew(boots[2], &[]).await.unwrap().rival, Some(boots[1]), "it runs");
}
