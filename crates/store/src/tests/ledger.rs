//! A log from before turns were counted. Its old turns are counted one time, and new ones
//! immediately.

use moothall_engine::ports::{EventLog, Ledger, StreamBatch, UsageWanted};
use moothall_kernel::budget::{Account, Charge};
use moothall_kernel::event::Usage;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;
use moothall_testkit::conformance::build::{Builder, batch};
use rusqlite::Connection;

use super::Disk;
use crate::folder::LOG_FILE;

fn turn() -> Charge {
    let account = Account { agent: "demo".into(), by: "user".into(), attended: true };
    Charge { hour: Timestamp::from_millis(0), account, turns: 1, usage: Usage::default() }
}

async fn turns(disk: &Disk) -> u64 {
    disk.log.used(&UsageWanted { limit: 1, ..UsageWanted::default() }).await.unwrap()[0].turns
}

#[tokio::test]
async fn what_an_older_version_appended_is_counted_once() {
    let disk = Disk::fresh();
    disk.log
        .append(vec![batch("a", 0).says("one").says("two"), batch("b", 0).says("one")])
        .await
        .unwrap();
    let disk = disk.reopened_after(|folder| {
        let conn = Connection::open(folder.join(LOG_FILE)).unwrap();
        conn.execute_batch("DROP TABLE usage; DROP TABLE usage_uncounted").unwrap();
    });
    disk.log
        .append(vec![StreamBatch { charges: vec![turn()], ..batch("a", 2).says("three") }])
        .await
        .unwrap();
    assert_eq!(
        disk.log.uncounted(9).await.unwrap(),
        [(StreamId::new("b"), Seq(1)), (StreamId::new("a"), Seq(2))]
    );
    for _ in 0..2 {
        disk.log.count(&"a".into(), vec![turn(), turn()]).await.unwrap();
        assert_eq!(turns(&disk).await, 3, "once, whoever asks again");
    }
    let disk = disk.reopened_after(|_| {});
    assert_eq!(disk.log.uncounted(9).await.unwrap(), [(StreamId::new("b"), Seq(1))]);
    assert_eq!(turns(&disk).await, 3);
}
