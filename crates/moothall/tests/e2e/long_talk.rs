//! A long conversation written directly into a data folder, for tests that its length must not
//! affect.

use std::path::Path;

use moothall_engine::ports::{Catalog, EventLog, StreamBatch, Upkeep};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_store::SqliteLog;
use moothall_testkit::conformance::build;

/// Events per write.
const TOGETHER: usize = 100;

/// Writes `events` events. The first one creates the conversation; `body` returns the text of the
/// others.
pub async fn fill(folder: &Path, events: u64, body: impl Fn(u64) -> String) {
    let log = SqliteLog::open(folder).unwrap();
    let created_at = Timestamp::from_millis(1_700_000_000_000);
    let event = |seq: u64| match seq {
        1 => Event::Created {
            name: "Long talk".into(),
            by: ParticipantId::user(),
            policy: Policy::default(),
            task: None,
            folder: None,
        },
        seq => build::said(&body(seq)),
    };
    for first in (0..events).step_by(TOGETHER) {
        let last = events.min(first + TOGETHER as u64);
        let events = (first + 1..=last).map(|seq| RecordedEvent {
            seq: Seq(seq),
            ts: created_at + Millis(seq),
            event: event(seq),
        });
        let catalog =
            Catalog { policy: "mention_only".into(), created_at, ..build::catalog("Long talk") };
        let batch =
            StreamBatch { events: events.collect(), catalog, ..build::batch("long-talk", first) };
        log.append(vec![batch]).await.unwrap();
    }
    log.close().await.unwrap();
}
