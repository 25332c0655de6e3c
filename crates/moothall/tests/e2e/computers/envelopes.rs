//! Entries of the post from strangers, and repeated ones: they are dropped, and change nothing.

use moothall_computers::envelope::Entry;
use moothall_computers::id::{ComputerId, LogId};
use moothall_computers::keys::{PairKey, Sealer};
use moothall_computers::post::ENTRY_LEN_MAX;
use moothall_testkit::redis::RedisServer;
use nix::sys::signal::Signal;

use super::faults::until_posted;
use super::links::heard;
use super::{computer, computers, doctor, home, pair, paired, until_state};
use crate::harness::{Server, comes_about};
use crate::links::{Hall, start, until};

fn put(redis: &RedisServer, stream: &str, field: &[u8], entry: &[u8]) {
    redis.run(&[b"XADD", stream.as_bytes(), b"*", field, entry]);
}

/// Returns the first entry of a stream.
pub(super) fn first_of(redis: &RedisServer, stream: &str) -> Vec<u8> {
    let [_, _, entry] = &redis.ask(&format!("XRANGE {stream} - + COUNT 1"))[..] else {
        panic!("the entry has another form")
    };
    entry.clone()
}

/// Seals words to a computer with a key that it does not have.
fn sealed_by(from: ComputerId, to: ComputerId) -> Vec<u8> {
    let sealer = Sealer::new(from, LogId::random());
    sealer.seal(to, &PairKey::random(), br#"{"kind":"words","body":""}"#).unwrap().encode()
}

fn id_of(server: &Server<'_>, name: &str) -> ComputerId {
    computer(server, name)["id"].as_str().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_altered_and_repeated_entries_change_nothing() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    until_state(&workstation, "laptop", "up").await;
    start(&workstation, &one, "builder").await;
    let (from, to) = (id_of(&workstation, "laptop"), id_of(&laptop, "workstation"));
    workstation.signal(Signal::SIGSTOP);
    laptop.json(&["send", "builder@workstation", "the true words"]);
    let stream = until_posted(&redis, &laptop, "workstation").await;
    let original = &first_of(&redis, &stream);
    let header = Entry::decode(original).unwrap().header;
    assert_eq!((header.sender, header.receiver), (from, to));
    let altered = |place: usize| {
        let mut bytes = original.clone();
        bytes[place] ^= 1;
        bytes
    };
    let strange = [
        original.clone(),
        altered(original.len() - 1),
        altered(original.len() / 2),
        sealed_by(ComputerId::random(3).unwrap(), to),
        sealed_by(from, to),
        sealed_by(to, to),
        b"words of a stranger".to_vec(),
        Vec::new(),
        vec![original[0]; ENTRY_LEN_MAX + 1],
        [&original[..], &[0; 40]].concat(),
    ];
    for entry in &strange {
        put(&redis, &stream, b"e", entry);
    }
    put(&redis, &stream, b"x", original);
    workstation.signal(Signal::SIGCONT);
    until("they arrive", async || heard(&one, "the true words") > 0).await;
    let is_empty = async || redis.ask(&format!("XLEN {stream}")) == [b"0"];
    assert!(comes_about(is_empty).await, "entries are left");
    // After them all is as before, also for the words that follow.
    put(&redis, &stream, b"e", original);
    laptop.json(&["send", "builder@workstation", "the next words"]);
    until("they arrive", async || heard(&one, "the next words") > 0).await;
    assert_eq!((heard(&one, "the true words"), heard(&one, "the next words")), (1, 1));
    for (server, name) in [(&workstation, "laptop"), (&laptop, "workstation")] {
        assert_eq!(computer(server, name)["state"], "up", "{}", server.json(&["computers"]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_of_a_newer_version_is_told_until_its_computer_is_understood() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (home(), home());
    let (workstation, laptop) = (one.serve(), other.serve());
    pair(&workstation, &laptop, &redis);
    until_state(&workstation, "laptop", "up").await;
    let to = id_of(&laptop, "workstation");
    // A computer whose words can be read is not meant.
    put(&redis, &format!("moothall:post:{to}"), b"e", b"\x63newer");
    let is_read = async || redis.ask(&format!("XLEN moothall:post:{to}")) == [b"0"];
    assert!(comes_about(is_read).await);
    assert_eq!(computer(&workstation, "laptop")["state"], "up");

    laptop.stop();
    let workstation = workstation.crash_and_restart();
    put(&redis, &format!("moothall:post:{to}"), b"e", b"\x63newer");
    until_state(&workstation, "laptop", "refused").await;
    let listed = String::from_utf8(computers(&workstation, &[], "").stderr).unwrap();
    assert!(listed.contains("newer version of Moothall"), "{listed}");
    assert!(doctor(&workstation).contains("newer version of Moothall"), "{}", doctor(&workstation));
    let laptop = other.serve();
    until_state(&workstation, "laptop", "up").await;
    drop(laptop);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_introduction_of_a_former_boot_loses_and_repeats_nothing() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    laptop.json(&["send", "builder@workstation", "the first words"]);
    until("they arrive", async || heard(&one, "the first words") > 0).await;
    workstation.signal(Signal::SIGSTOP);
    laptop.stop();
    let laptop = other.serve();
    let stream = until_posted(&redis, &laptop, "workstation").await;
    let introduction = first_of(&redis, &stream);
    workstation.signal(Signal::SIGCONT);
    until_state(&workstation, "laptop", "up").await;
    laptop.stop();
    let laptop = other.serve();
    until_state(&laptop, "workstation", "up").await;
    until_state(&workstation, "laptop", "up").await;

    put(&redis, &stream, b"e", &introduction);
    let is_read = async || redis.ask(&format!("XLEN {stream}")) == [b"0"];
    assert!(comes_about(is_read).await);
    laptop.json(&["send", "builder@workstation", "the next words"]);
    until("they arrive", async || heard(&one, "the next words") > 0).await;
    until_state(&workstation, "laptop", "up").await;
    until_state(&laptop, "workstation", "up").await;
    assert_eq!((heard(&one, "the first words"), heard(&one, "the next words")), (1, 1));
}
