//! Cost of the log, with floors from the same run beside it. Printed, never asserted.
//!
//! `cargo bench -p moothall-store` — the folder is created in `TMPDIR`; put that on the disk to be
//! measured.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moothall_engine::log_format::codec;
use moothall_engine::ports::{EventLog, ListFilter, Search, SearchRequest, StreamBatch, Upkeep};
use moothall_kernel::event::{Cause, Event, Outcome, Posted, TurnKind, TurnReason, Usage};
use moothall_kernel::ids::{EventId, ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::participant::Kind;
use moothall_kernel::search::Query;
use moothall_store::SqliteLog;
use moothall_testkit::conformance::build::{Builder, at, batch, said};

const TEXT_BYTES: usize = 1024;
const ROUNDS: u32 = 3;
const ROUND: Duration = Duration::from_millis(1200);
const WRITERS: u64 = 50;
const STORED: u64 = 10_000;
const IDLE_STREAMS: u64 = 100_000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    println!("{:<52} {:>12} {:>12} {:>8}", "", "log", "floor", "ratio");
    one_writer().await;
    many_writers().await;
    stored_bytes("stored bytes per byte of text, messages alone", |head| {
        batch_of(head, vec![said(&text(head))])
    })
    .await;
    stored_bytes("the same, agents' replies with their turns", reply).await;
    idle_streams().await;
}

fn row(name: &str, log: String, floor: String, ratio: String) {
    println!("{name:<52} {log:>12} {floor:>12} {ratio:>8}");
}

fn per_second(times: u64, took: Duration) -> f64 {
    times as f64 / took.as_secs_f64()
}

/// Returns a text that differs from message to message, of the budgeted length.
fn text(n: u64) -> String {
    let mut text = format!("message {n}: ");
    while text.len() < TEXT_BYTES {
        text.push_str("some words that somebody would say in a conversation, ");
    }
    text.truncate(TEXT_BYTES);
    text
}

fn batch_of(head: u64, events: Vec<Event>) -> StreamBatch {
    events.into_iter().fold(batch("s", head), Builder::event)
}

/// One writer, which waits for a sync after each append. The floor writes and syncs the same bytes
/// at the end of a growing file.
async fn one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(&folder.path().join("data")).unwrap();
    let mut file = File::create(folder.path().join("floor")).unwrap();
    let (mut appended, mut log_took, mut written, mut floor_took) =
        (0, Duration::ZERO, 0, Duration::ZERO);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        while began.elapsed() < ROUND {
            log.append(vec![batch_of(appended, vec![said(&text(appended))])]).await.unwrap();
            appended += 1;
        }
        log_took += began.elapsed();
        let began = Instant::now();
        while began.elapsed() < ROUND {
            let event = said(&text(written));
            write!(file, "{}{}", codec::envelope(&event), event.body().unwrap_or_default())
                .unwrap();
            file.sync_data().unwrap();
            written += 1;
        }
        floor_took += began.elapsed();
    }
    let (log, floor) = (per_second(appended, log_took), per_second(written, floor_took));
    row(
        "durable appends/s, 1 writer | append+fdatasync",
        format!("{log:.0}"),
        format!("{floor:.0}"),
        format!("{:.2}", log / floor),
    );
}

/// Many writers, each on its own stream and waiting for its own syncs. The floor writes the same
/// bytes of all of them and syncs once.
async fn many_writers() {
    let folder = tempfile::tempdir().unwrap();
    let log = Arc::new(SqliteLog::open(&folder.path().join("data")).unwrap());
    let began = Instant::now();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(append_for(log.clone(), writer, ROUND * ROUNDS)))
        .collect();
    let mut appended = 0;
    for writer in writers {
        appended += writer.await.unwrap();
    }
    let log = per_second(appended, began.elapsed());
    let (floor, fsync) = floor_of_many(folder.path());
    row(
        "durable appends/s, 50 writers | 50 per fdatasync",
        format!("{log:.0}"),
        format!("{floor:.0}"),
        format!("{:.2}", log / floor),
    );
    row(
        "fdatasync in that floor, ms",
        String::new(),
        format!("{:.2}", fsync.as_secs_f64() * 1000.0),
        String::new(),
    );
}

fn floor_of_many(dir: &Path) -> (f64, Duration) {
    let mut file = File::create(dir.join("floor")).unwrap();
    let (mut written, mut syncing, mut syncs) = (0, Duration::ZERO, 0);
    let began = Instant::now();
    while began.elapsed() < ROUND {
        for _ in 0..WRITERS {
            let event = said(&text(written));
            write!(file, "{}{}", codec::envelope(&event), event.body().unwrap_or_default())
                .unwrap();
            written += 1;
        }
        let sync = Instant::now();
        file.sync_data().unwrap();
        syncing += sync.elapsed();
        syncs += 1;
    }
    (per_second(written, began.elapsed()), syncing / syncs)
}

async fn append_for(log: Arc<SqliteLog>, writer: u64, length: Duration) -> u64 {
    let stream = StreamId::new(format!("s{writer}"));
    let began = Instant::now();
    let mut head = 0;
    while began.elapsed() < length {
        let mut batch = batch_of(head, vec![said(&text(head))]);
        batch.stream = stream.clone();
        log.append(vec![batch]).await.unwrap();
        head += 1;
    }
    head
}

/// Returns a reply of an agent as the kernel appends it: with the end of its turn, and the grant
/// and start of the next.
fn reply(head: u64) -> StreamBatch {
    let (analyst, turn) = (ParticipantId::new("analyst"), TurnNo(head));
    let id = EventId::of(&"s".into(), Seq(head + 1), at(1_763_693_999_042));
    let cause =
        Cause { seq: Seq(head + 1), id, from: ParticipantId::user(), depth: 0, unproven: false };
    let Event::Posted(posted) = said(&text(head)) else {
        return batch_of(head, Vec::new());
    };
    let posted = Posted {
        from: analyst.clone(),
        kind: Kind::Agent,
        depth: 1,
        typed_at: None,
        elsewhere: Vec::new(),
        asks: Vec::new(),
        reply_to: Some(cause.clone()),
        turn: Some(turn),
        tags: vec!["coordinator".into()],
        via: true,
        fingerprint: u32::MAX,
        ..posted
    };
    let usage = Usage { ms: 1234, ..Usage::default() };
    let ended = Event::TurnEnded {
        turn,
        participant: analyst.clone(),
        attempt: 1,
        outcome: Outcome::Spoke,
        fault: None,
        usage,
        ended: None,
        hosted: None,
    };
    let expires = at(1_763_693_999_042);
    let (why, kind) = (TurnReason::Forced, TurnKind::Reply);
    let granted = Event::TurnGranted {
        turn,
        participant: analyst,
        why,
        kind,
        may_pass: false,
        cause,
        expires,
        patience: None,
        hosted: None,
    };
    let started = Event::TurnStarted {
        turn,
        attempt: 1,
        from_seq: Seq(head),
        through_seq: Seq(head),
        deadline: expires,
        hosted: None,
    };
    batch_of(head, vec![Event::Posted(posted), ended, granted, started])
}

async fn stored_bytes(name: &str, append: impl Fn(u64) -> StreamBatch) {
    let folder = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(folder.path()).unwrap();
    let mut head = 0;
    for _ in 0..STORED / 100 {
        let mut batches = Vec::new();
        for _ in 0..100 {
            let batch = append(head);
            head += batch.events.len() as u64;
            batches.push(batch);
        }
        log.append(batches).await.unwrap();
    }
    indexed(&log).await;
    log.close().await.unwrap();
    let size = |name: &str| folder.path().join(name).metadata().unwrap().len();
    let (stored, index, text) =
        (size("moothall.db"), size("search.db"), STORED * TEXT_BYTES as u64);
    row(
        name,
        format!("{stored}"),
        format!("{text}"),
        format!("{:.2}", stored as f64 / text as f64),
    );
    row(
        "its index, apart from that",
        format!("{index}"),
        format!("{text}"),
        format!("{:.2}", index as f64 / text as f64),
    );
}

/// Waits until the index has caught up.
async fn indexed(log: &SqliteLog) {
    let wanted = SearchRequest { query: Query::parse("nothing").unwrap(), streams: None };
    while log.search(&wanted, 1, None).await.unwrap().lag > 0 {}
}

/// Cost of starting a server with many quiet conversations.
async fn idle_streams() {
    let folder = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(folder.path()).unwrap();
    for thousand in 0..IDLE_STREAMS / 1000 {
        let streams = (0..1000).map(|n| {
            let mut batch = batch_of(0, vec![said("hello")]);
            batch.stream =
                StreamId::new(format!("01981b2c-7d5e-7abc-8def-{:012x}", thousand * 1000 + n));
            batch
        });
        log.append(streams.collect()).await.unwrap();
    }
    indexed(&log).await;
    drop(log);
    let before = resident_kib();
    let began = Instant::now();
    let log = SqliteLog::open(folder.path()).unwrap();
    let due = log.due(at(i64::MAX)).await.unwrap().len();
    let wake = log.next_wake().await.unwrap();
    let opened = began.elapsed();
    let page = log
        .list(ListFilter {
            limit: Some(100),
            archived: Some(false),
            ..ListFilter::of_conversations()
        })
        .await
        .unwrap()
        .streams
        .len();
    let grown = resident_kib().saturating_sub(before);
    assert_eq!((due, wake, page), (0, None, 100));
    row(
        "open and ask what is due, 100,000 streams, ms",
        format!("{:.1}", opened.as_secs_f64() * 1000.0),
        String::new(),
        String::new(),
    );
    row("resident memory grown by that, KiB", format!("{grown}"), String::new(), String::new());
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|kib| kib.parse().ok())
        .unwrap_or(0)
}
