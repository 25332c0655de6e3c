//! Servers that refuse: passwords, rights, memory, certificates.

use std::time::Duration;

use moothall_computers::id::BootId;
use moothall_computers::post::{Post, PostError};
use moothall_computers::redis_post::{RedisAddress, RedisPost};

use crate::computers;
use crate::server::{Certificates, PostServer, RedisServer, start_with_tls};

/// Returns a post at this address, and asks it once for each way to fail.
async fn refusal(address: RedisAddress) -> PostError {
    let post = RedisPost::new(computers().0, address, None).unwrap();
    let put = post.put(computers().1, b"x").await.unwrap_err();
    let next = post.next().await.unwrap_err();
    assert_eq!(put, next);
    assert!(!format!("{post:?}").contains("s3cret"));
    put
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_not_repeated() {
    let Some(server) = RedisServer::start(&["--requirepass", "s3cret"]) else { return };
    let right = RedisPost::new(computers().0, server.address("?pass=s3cret"), None).unwrap();
    right.put(computers().1, b"x").await.unwrap();
    for query in ["?pass=wrong-s3cret", "", "?user=ann&pass=s3cret"] {
        let error = refusal(server.address(query)).await;
        assert_eq!(error, PostError::WrongPassword, "{query}");
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
}

#[tokio::test]
async fn a_user_without_the_rights_is_told_which() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let _: () = server.command(&["ACL", "SETUSER", "ann", "on", ">s3cret", "+@all", "~other:*"]);
    let post =
        RedisPost::new(computers().0, server.address("?user=ann&pass=s3cret"), None).unwrap();
    let put = post.put(computers().1, b"x").await;
    assert!(matches!(&put, Err(PostError::Denied(_))), "{put:?}");
    let _: () = server.command(&[
        "ACL",
        "SETUSER",
        "ann",
        "~moothall:*",
        "&moothall:*",
        "-config",
        "-info",
    ]);
    post.put(computers().1, b"x").await.unwrap();
    post.renew(BootId::random(), &[computers().1]).await.unwrap();
    let health = post.health().await.unwrap();
    assert_eq!((health.eviction, health.snapshots), (None, None));
    assert!(health.clock_ahead_ms.is_some());
}

#[tokio::test]
async fn a_full_server_refuses_and_takes_entries_after_some_are_done() {
    let Some(server) = RedisServer::start(&["--maxmemory-policy", "noeviction"]) else { return };
    let (from, to) = computers();
    let (sender, receiver) = (server.post(from), server.post(to));
    sender.put(to, b"x").await.unwrap();
    let memory: String = server.command(&["INFO", "memory"]);
    let used = memory.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap();
    let most = used.trim().parse::<u64>().unwrap() + 8 * 1024 * 1024;
    let _: () = server.command(&["CONFIG", "SET", "maxmemory", &most.to_string()]);
    let entry = vec![7; 512 * 1024];
    let mut put = 1;
    let full = loop {
        match sender.put(to, &entry).await {
            Ok(()) => put += 1,
            Err(error) => break error,
        }
        assert!(put < 1_000, "the server is never full");
    };
    assert_eq!(full, PostError::Full);
    let _: () = server.command(&["CONFIG", "SET", "maxmemory", "1"]);
    assert_eq!(sender.renew(BootId::random(), &[]).await, Err(PostError::Full));
    let _: () = server.command(&["CONFIG", "SET", "maxmemory", &most.to_string()]);
    let batch = receiver.next().await.unwrap();
    assert_eq!(batch.entries.len(), put, "an entry is missing");
    let ids: Vec<_> = batch.entries.into_iter().map(|entry| entry.id).collect();
    receiver.done(&ids).await.unwrap();
    sender.put(to, &entry).await.unwrap();
}

#[tokio::test]
async fn a_replica_takes_no_writes() {
    let Some(server) = RedisServer::start(&["--replicaof", "127.0.0.1", "1"]) else { return };
    let post = server.post(computers().0);
    let put = post.put(computers().1, b"x").await;
    assert!(matches!(put, Err(PostError::ReadOnly(_))), "{put:?}");
    let renewed = post.renew(BootId::random(), &[]).await;
    assert!(matches!(renewed, Err(PostError::ReadOnly(_))), "{renewed:?}");
}

#[tokio::test]
async fn tls_is_trusted_with_the_right_certificates_only() {
    let (made, other) = (Certificates::of("localhost"), Certificates::of("localhost"));
    let Some((_server, address)) = start_with_tls(&made) else { return };
    let (from, to) = computers();
    let post = |ca| RedisPost::new(from, address.clone(), ca).unwrap();
    let trusted = post(Some(&made.ca));
    trusted.put(to, b"x").await.unwrap();
    assert!(trusted.next().await.unwrap().fresh);
    for wrong in [post(Some(&other.ca)), post(None)] {
        let put = wrong.put(to, b"x").await;
        assert!(matches!(&put, Err(PostError::Tls(_))), "{put:?}");
        let next = wrong.next().await;
        assert!(matches!(&next, Err(PostError::Tls(_))), "{next:?}");
    }
}

#[tokio::test]
async fn the_certificate_of_another_name_is_refused() {
    let made = Certificates::of("redis.example");
    let Some((_server, address)) = start_with_tls(&made) else { return };
    let post = RedisPost::new(computers().0, address, Some(&made.ca)).unwrap();
    let put = post.put(computers().1, b"x").await;
    assert!(matches!(&put, Err(PostError::Tls(_))), "{put:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_away_at_once() {
    let Some(mut server) = RedisServer::start(&[]) else { return };
    server.kill();
    let error = tokio::time::timeout(Duration::from_secs(30), refusal(server.address("")));
    assert!(matches!(error.await, Ok(PostError::Away(_))));
}
