//! What a hall full of idle conversations costs: time to start, and memory once started.
//!
//! `cargo bench -p moothall --bench idle` writes 100,000 conversations to a temporary folder,
//! starts the real program on it and prints seconds to its first line and resident MiB. The floor
//! is the same program on an empty folder.

#![allow(missing_docs, clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use moothall_engine::ports::{Catalog, Epoch, EventLog, StreamBatch};
use moothall_kernel::aggregate::CONVERSATION;
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;
use moothall_store::SqliteLog;

const CONVERSATIONS: u64 = 100_000;
const TOGETHER: u64 = 500;

fn batch(n: u64) -> StreamBatch {
    let created_at = Timestamp::from_millis(1_763_700_000_000);
    let created = Event::Created {
        name: format!("conversation {n}"),
        by: ParticipantId::user(),
        policy: Policy::default(),
        task: None,
        folder: None,
    };
    StreamBatch {
        stream: StreamId::new(format!("01a1fc23-9396-7f98-97d1-{n:012}")),
        epoch: Epoch(0),
        expected_head: Seq(0),
        events: vec![RecordedEvent { seq: Seq(1), ts: created_at, event: created }],
        claims: Vec::new(),
        deliveries: Vec::new(),
        marks: Vec::new(),
        charges: Vec::new(),
        catalog: Catalog {
            kind: CONVERSATION.to_owned(),
            title: format!("conversation {n}"),
            policy: "mention_only".into(),
            created_at,
            next_wake: None,
            has_duties: false,
            archived: false,
            waits_for_people: Some(0),
        },
    }
}

async fn fill(folder: &Path) {
    let log = SqliteLog::open(folder).unwrap();
    for first in (0..CONVERSATIONS).step_by(TOGETHER as usize) {
        log.append((first..first + TOGETHER).map(batch).collect()).await.unwrap();
    }
}

fn resident_mib(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

fn measure(name: &str, folder: &Path) {
    let start = Instant::now();
    let mut server = Command::new(env!("CARGO_BIN_EXE_moothall"))
        .args(["serve", "--json", "--bind", "127.0.0.1:0", "--data"])
        .arg(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert!(line.contains("listening"), "{line}");
    println!("{name:>24} {seconds:>10.3} {:>14.1}", resident_mib(server.id()));
    server.kill().unwrap();
    server.wait().unwrap();
}

#[tokio::main]
async fn main() {
    let (empty, full) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill(full.path()).await;
    println!("{:>24} {:>10} {:>14}", "folder", "start s", "resident MiB");
    measure("empty", empty.path());
    measure("100,000 conversations", full.path());
    println!("budget: 1 s, 64 MiB");
}
