//! Servers that have never heard of other computers, or have forgotten them all.

use moothall_testkit::redis::RedisServer;

use super::{computers, home, invited, pair, until_state};
use crate::harness::{Server, comes_about};

/// Returns the number of threads of a server and that of its sockets.
fn load(server: &Server<'_>) -> (usize, usize) {
    let of_process =
        |folder: &str| std::fs::read_dir(server.process_folder().join(folder)).unwrap();
    let is_socket = |entry: &std::fs::DirEntry| {
        // A file that was closed meanwhile is not a socket any more.
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        target.to_string_lossy().starts_with("socket:")
    };
    let sockets = of_process("fd").flatten().filter(is_socket).count();
    (of_process("task").count(), sockets)
}

/// Waits until two servers have as many threads and sockets: threads that waited for a disk end by
/// themselves, and so do the connections of commands.
async fn until_alike(one: &Server<'_>, other: &Server<'_>) {
    let is_so = comes_about(async || load(one) == load(other)).await;
    assert!(is_so, "threads and sockets: {:?} and {:?}", load(one), load(other));
}

/// Returns the number of connections to a Redis but that of this question.
fn connections(redis: &RedisServer) -> usize {
    let list = redis.ask("CLIENT LIST");
    String::from_utf8_lossy(&list[0]).lines().count() - 1
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_pairs_has_no_thread_and_no_connection_for_them() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (plain, one, other) = (home(), home(), home());
    let plain = plain.serve();
    // A section of the configuration alone is not a computer.
    one.configure("[computers.laptop]\nallow = [\"list\"]\n");
    let (workstation, laptop) = (one.serve(), other.serve());
    until_alike(&plain, &workstation).await;

    // The Redis is asked once for an invitation, and that connection ends.
    invited(&workstation, "workstation", &redis);
    assert!(comes_about(async || connections(&redis) == 0).await);
    until_alike(&plain, &workstation).await;

    pair(&workstation, &laptop, &redis);
    until_state(&workstation, "laptop", "up").await;
    let (_, without) = load(&plain);
    let (_, with) = load(&workstation);
    assert!(with > without, "the connections of a pair are not seen: {with} and {without}");

    let forgotten = computers(&workstation, &["forget", "laptop", "--yes"], "");
    assert!(forgotten.status.success());
    drop(laptop);
    assert!(comes_about(async || connections(&redis) == 0).await, "{:?}", redis.ask("CLIENT LIST"));
    until_alike(&plain, &workstation).await;
}
