//! Faults of the Redis at which two servers meet: people are told, and words arrive once.

use moothall_testkit::redis::RedisServer;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::envelopes::first_of;
use super::links::heard;
use super::{computer, computers, doctor, fault, home, pair_at, paired, until_fault, until_state};
use crate::harness::{Server, comes_about, stderr};
use crate::links::{Hall, start, until};

/// Sends words to the builder of the workstation, which are kept at least.
fn sends(laptop: &Server<'_>, words: &str) -> Value {
    let sent = laptop.json(&["send", "builder@workstation", words]);
    assert_eq!(sent["delivered_to"], json!(["builder@workstation"]), "{sent}");
    sent
}

/// Waits until words are typed, and checks that all that were sent so far were typed once.
async fn until_typed(hall: &Hall, all: &[&str]) {
    let newest = all.last().unwrap();
    until(newest, async || heard(hall, newest) > 0).await;
    for words in all {
        assert_eq!(heard(hall, words), 1, "{words}: {:?}", hall.taken());
    }
}

/// Returns the stream of a computer, as another one knows it.
fn stream_of(server: &Server<'_>, name: &str) -> String {
    format!("moothall:post:{}", computer(server, name)["id"].as_str().unwrap())
}

/// Waits until the number of entries in a stream is right.
async fn until_len(redis: &RedisServer, stream: &str, is_right: impl Fn(usize) -> bool) {
    let len = || {
        let answer = redis.ask(&format!("XLEN {stream}"));
        String::from_utf8_lossy(&answer[0]).parse::<usize>().unwrap()
    };
    assert!(comes_about(async || is_right(len())).await, "{stream} has {} entries", len());
}

/// Waits until the Redis has an entry for a computer, which does not read. Returns its stream.
pub(super) async fn until_posted(redis: &RedisServer, to: &Server<'_>, name: &str) -> String {
    let stream = stream_of(to, name);
    until_len(redis, &stream, |len| len > 0).await;
    stream
}

/// Stops the workstation, and sends words to it. The first wake its read, so that they are in its
/// connection already; the second are in the Redis alone.
async fn sends_to_stopped(
    redis: &RedisServer,
    (workstation, laptop): (&Server<'_>, &Server<'_>),
    words: [&str; 2],
) {
    let stream = stream_of(laptop, "workstation");
    until_len(redis, &stream, |len| len == 0).await;
    workstation.signal(Signal::SIGSTOP);
    for (sent, words) in (1..).zip(words) {
        sends(laptop, words);
        until_len(redis, &stream, |len| len >= sent).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_outlive_a_redis_that_forgets_or_drops_or_is_full() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    let all = ["the first words", "the second words", "the third words", "the fourth words"];
    // It forgets words that its receiver has not read.
    sends_to_stopped(&redis, (&workstation, &laptop), [all[0], all[1]]).await;
    redis.ask("FLUSHALL");
    workstation.signal(Signal::SIGCONT);
    until_typed(&one, &all[..2]).await;

    // It drops what does not fit its memory, and nothing fits.
    redis.ask("CONFIG SET maxmemory-policy allkeys-lru");
    redis.ask("CONFIG SET maxmemory 1");
    sends(&laptop, all[2]);
    let cure = async || laptop.json(&["computers"])["post"]["cure"].to_string();
    until("it is told", async || cure().await.contains("maxmemory-policy noeviction")).await;
    assert!(doctor(&laptop).contains("Set `maxmemory-policy noeviction`"), "{}", doctor(&laptop));
    redis.ask("CONFIG SET maxmemory 0");
    until_typed(&one, &all[..3]).await;

    // It is full, and says so.
    redis.ask("CONFIG SET maxmemory-policy noeviction");
    redis.ask("CONFIG SET maxmemory 1");
    until_fault(&laptop, "Redis has no memory left").await;
    until_state(&laptop, "workstation", "away").await;
    assert_eq!(sends(&laptop, all[3])["away"]["name"], "workstation");
    redis.ask("CONFIG SET maxmemory 0");
    until_typed(&one, &all).await;
    assert!(comes_about(async || fault(&laptop).is_empty()).await, "{}", fault(&laptop));
}

#[tokio::test(flavor = "multi_thread")]
async fn words_outlive_a_fail_over_to_a_redis_of_an_earlier_time() {
    let Some(mut redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    let all = ["the first words", "the second words", "the third words", "the fourth words"];
    // The copy has words that will have been taken.
    workstation.signal(Signal::SIGSTOP);
    sends(&laptop, all[0]);
    let stream = until_posted(&redis, &laptop, "workstation").await;
    let first = first_of(&redis, &stream);
    redis.ask("SAVE");
    workstation.signal(Signal::SIGCONT);
    until_typed(&one, &all[..1]).await;
    // And it lacks words that have not been read.
    sends_to_stopped(&redis, (&workstation, &laptop), [all[1], all[2]]).await;
    redis.kill();
    redis.restart();
    assert!(first_of(&redis, &stream) == first, "the copy has the first words");
    workstation.signal(Signal::SIGCONT);
    until_typed(&one, &all[..3]).await;
    sends(&laptop, all[3]);
    until_typed(&one, &all).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_redis_is_told_and_words_arrive_when_it_thaws() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    redis.freeze();
    until_fault(&laptop, "Redis cannot be reached").await;
    until_state(&laptop, "workstation", "away").await;
    assert_eq!(sends(&laptop, "words on ice")["away"]["name"], "workstation");
    redis.thaw();
    until_typed(&one, &["words on ice"]).await;
    until_state(&laptop, "workstation", "up").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_password_is_told_and_another_address_mends_it() {
    let Some(redis) = RedisServer::start(&["--requirepass", "s3cret-1"]) else { return };
    let (one, other) = (home(), home());
    let (workstation, laptop) = (one.serve(), other.serve());
    let at = |password: &str| format!("{}?pass={password}", redis.url());
    let wrong = computers(&workstation, &["invite", "--redis", &at("s3cret-0")], "");
    assert!(!wrong.status.success());
    let said = stderr(&wrong);
    assert!(said.contains("refuses the user name or the password"), "{said}");
    assert!(!said.contains("s3cret"), "{said}");
    assert_eq!(workstation.json(&["computers"])["computers"], json!([]), "nothing is kept");

    pair_at(&workstation, &laptop, &at("s3cret-1"), None);
    until_state(&laptop, "workstation", "up").await;
    redis.ask_with("s3cret-1", "CONFIG SET requirepass s3cret-2");
    // It is told also while only the connection that reads has ended.
    redis.ask_with("s3cret-2", "CLIENT KILL TYPE normal");
    until_fault(&laptop, "refuses the user name or the password").await;
    redis.ask_with("s3cret-2", "CLIENT KILL TYPE pubsub");
    until_state(&laptop, "workstation", "away").await;
    assert!(!(doctor(&laptop) + &laptop.json(&["computers"]).to_string()).contains("s3cret"));
    for server in [&workstation, &laptop] {
        let mended = computers(server, &["invite", "--redis", &at("s3cret-2")], "");
        assert!(mended.status.success(), "{}", stderr(&mended));
    }
    until_state(&laptop, "workstation", "up").await;
    until_state(&workstation, "laptop", "up").await;
    assert_eq!(fault(&laptop), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_and_a_user_without_rights_are_told() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (home(), home());
    let (workstation, laptop) = (one.serve(), other.serve());
    pair_at(&workstation, &laptop, &redis.url(), None);
    until_state(&laptop, "workstation", "up").await;
    redis.ask("REPLICAOF 127.0.0.1 1");
    until_fault(&laptop, "give the address of the primary").await;
    redis.ask("REPLICAOF NO ONE");
    until_state(&laptop, "workstation", "up").await;
    assert!(comes_about(async || fault(&laptop).is_empty()).await, "{}", fault(&laptop));
    redis.ask("ACL SETUSER default -xadd");
    // The next introduction cannot be put.
    workstation.stop();
    let workstation = one.serve();
    until_fault(&laptop, "Redis refuses a command").await;
    redis.ask("ACL SETUSER default +xadd");
    until_state(&laptop, "workstation", "up").await;
    drop(workstation);
}

/// Starts a Redis with TLS whose certificate only itself has signed. Returns its address too.
fn start_with_own_certificate(folder: &std::path::Path) -> Option<(RedisServer, String)> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let write = |name: &str, text: String| {
        std::fs::write(folder.join(name), text).unwrap();
        folder.join(name).to_string_lossy().into_owned()
    };
    let certificate = write("certificate.pem", made.cert.pem());
    let key = write("key.pem", made.signing_key.serialize_pem());
    // The port may be taken by another process before the server has it, then it is not ready.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let words = [
        ["--tls-port", &port],
        ["--bind", "127.0.0.1"],
        ["--tls-cert-file", &certificate],
        ["--tls-key-file", &key],
        ["--tls-ca-cert-file", &certificate],
        ["--tls-auth-clients", "no"],
    ];
    let server = RedisServer::start(words.as_flattened())?;
    Some((server, format!("rediss://localhost:{port}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_is_not_trusted_is_told_before_a_line_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_redis, address)) = start_with_own_certificate(folder.path()) else { return };
    let home = home();
    let server = home.serve();
    let refused = computers(&server, &["invite", "--redis", &address], "");
    assert!(!refused.status.success() && refused.stdout.is_empty());
    assert!(stderr(&refused).contains("TLS to Redis fails"), "{}", stderr(&refused));
    assert_eq!(server.json(&["computers"])["computers"], json!([]), "nothing is kept");
}
