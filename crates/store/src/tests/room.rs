//! A full disk, a full queue, and the commit that waiting writes share.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use moothall_engine::ports::{AppendError, AppendResult, EventLog, Upkeep};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_testkit::conformance::build::{Builder, batch, claim, heads};
use rusqlite::Connection;

use super::Disk;
use crate::SqliteLog;
use crate::folder::LOG_FILE;

async fn limit_pages(log: &SqliteLog, more: i64) {
    let set = move |conn: &Connection| {
        let pages: i64 = conn.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        conn.query_row(&format!("PRAGMA max_page_count = {}", pages + more), [], |_| Ok(()))?;
        Ok(())
    };
    log.write(set).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_room_again() {
    let disk = Disk::fresh();
    let log = &disk.log;
    log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    limit_pages(log, 2).await;
    let big = || {
        vec![batch("a", 1).says(&"big ".repeat(10_000)).takes(claim("a", "chat", "1")).owes("x")]
    };
    for _ in 0..3 {
        assert_eq!(log.append(big()).await, Err(AppendError::Full));
    }
    assert_eq!(log.find(&"a".into()).await.unwrap().unwrap().head, Seq(1));
    assert_eq!(log.read(&"a".into(), Seq(0), 10).await.unwrap().events.len(), 1);
    assert_eq!(
        log.append(vec![batch("a", 1).says("small")]).await.map(heads),
        Ok(vec![Seq(2)]),
        "what still fits is still written"
    );

    limit_pages(log, 1000).await;
    let big =
        vec![batch("a", 2).says(&"big ".repeat(10_000)).takes(claim("a", "chat", "1")).owes("x")];
    assert_eq!(log.append(big).await.map(heads), Ok(vec![Seq(3)]));
    assert_eq!(log.verify().await.faults, vec![]);
    log.close().await.unwrap();
}

type Answer = Result<Vec<AppendResult>, AppendError>;

/// A lock that keeps the writer waiting, like another process that writes to the file.
struct StalledWriter<'a> {
    conn: Connection,
    log: &'a SqliteLog,
    waiting: Vec<Pin<Box<dyn Future<Output = Answer> + 'a>>>,
}

impl<'a> StalledWriter<'a> {
    fn new(disk: &'a Disk) -> Self {
        let conn = disk.intruder();
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        Self { conn, log: &disk.log, waiting: Vec::new() }
    }

    /// Queues an append. Returns its answer if that comes immediately.
    fn queue(&mut self, batch: moothall_engine::ports::StreamBatch) -> Option<Answer> {
        let mut append = self.log.append(vec![batch]);
        match append.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => {
                self.waiting.push(append);
                None
            }
        }
    }

    async fn go_on(self) -> Vec<Result<Vec<Seq>, AppendError>> {
        self.conn.execute_batch("ROLLBACK").unwrap();
        let mut answers = Vec::new();
        for append in self.waiting {
            answers.push(append.await.map(heads));
        }
        answers
    }
}

#[tokio::test]
async fn a_full_queue_refuses_before_anything_is_decided() {
    const QUEUE: usize = 4;
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk { log: SqliteLog::open_with_queue(folder.path(), QUEUE).unwrap(), folder };
    let mut stalled = StalledWriter::new(&disk);
    // The writer may hold one group of its own while it waits; then the queue fills.
    let refused = (0..=2 * QUEUE).find_map(|n| {
        stalled.queue(batch(&format!("s{n}"), 0).says("one")).map(|answer| (n, answer))
    });
    let (n, answer) = refused.expect("the queue has an end");
    assert_eq!(answer, Err(AppendError::Overloaded));
    assert!(n >= QUEUE);
    let answers = stalled.go_on().await;
    assert_eq!(answers, vec![Ok(vec![Seq(1)]); n]);
    assert_eq!(disk.log.find(&StreamId::new(format!("s{n}"))).await, Ok(None));
    assert_eq!(
        disk.log.append(vec![batch("later", 0).says("one")]).await.map(heads),
        Ok(vec![Seq(1)])
    );
}

/// Returns the number of commits in the WAL: its frames that state the size of the file.
fn commits(disk: &Disk) -> usize {
    const HEADER: usize = 32;
    const FRAME: usize = 24 + 4096;
    let wal = std::fs::read(disk.folder.path().join(format!("{LOG_FILE}-wal"))).unwrap();
    let size_after = |frame: &[u8]| u32::from_be_bytes(frame[4..8].try_into().unwrap());
    wal[HEADER..].chunks_exact(FRAME).filter(|frame| size_after(frame) != 0).count()
}

#[tokio::test]
async fn those_who_wait_together_share_a_commit_and_nothing_else() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let before = commits(&disk);
    let mut stalled = StalledWriter::new(&disk);
    for n in 0..20 {
        let head = if n % 5 == 4 { 7 } else { 0 };
        assert_eq!(stalled.queue(batch(&format!("s{n}"), head).says("one").owes("x")), None);
    }
    for (n, answer) in stalled.go_on().await.into_iter().enumerate() {
        assert_eq!(answer.is_ok(), n % 5 != 4, "{n}: {answer:?}");
        let found = disk.log.find(&StreamId::new(format!("s{n}"))).await.unwrap();
        assert_eq!(found.is_some(), n % 5 != 4);
    }
    // One for the writes taken before the writer had to wait, one for all others.
    let commits = commits(&disk) - before;
    assert!((1..=2).contains(&commits), "{commits} commits");
}

#[tokio::test]
async fn nobody_who_waits_for_room_takes_others_down() {
    let disk = Disk::fresh();
    disk.log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    limit_pages(&disk.log, 2).await;
    let mut stalled = StalledWriter::new(&disk);
    assert_eq!(stalled.queue(batch("a", 1).says("small")), None);
    assert_eq!(stalled.queue(batch("a", 2).says(&"big ".repeat(10_000))), None);
    assert_eq!(stalled.queue(batch("a", 2).says("small again")), None);
    assert_eq!(stalled.go_on().await, [Ok(vec![Seq(2)]), Err(AppendError::Full), Ok(vec![Seq(3)])]);
}

#[tokio::test]
async fn a_writer_that_stopped_waiting_has_still_written() {
    let disk = Disk::fresh();
    let mut stalled = StalledWriter::new(&disk);
    assert_eq!(stalled.queue(batch("a", 0).says("one")), None);
    stalled.waiting.clear();
    stalled.go_on().await;
    disk.log.close().await.unwrap();
    assert_eq!(disk.log.find(&"a".into()).await.unwrap().unwrap().head, Seq(1));
}
