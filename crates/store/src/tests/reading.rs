//! Cost of reading: start-up and timers read only the rows they need.

use std::sync::Arc;

use moothall_engine::ports::EventLog;
use moothall_kernel::ids::Seq;
use moothall_testkit::conformance::build::{Builder, at, batch, claim, lapsing, places};

use super::Disk;
use crate::reader::{DUE, HEADS, MARKED, MESSAGES_BEFORE, NEXT_WAKE, OWED};

fn plan(disk: &Disk, sql: &str) -> String {
    let intruder = disk.intruder();
    let mut statement = intruder.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let parameters = statement.parameter_count();
    let lines = statement
        .query_map(rusqlite::params_from_iter(vec![1; parameters]), |row| row.get::<_, String>(3))
        .unwrap();
    lines.map(Result::unwrap).collect::<Vec<_>>().join("\n")
}

#[test]
fn quiet_streams_are_not_looked_at() {
    let disk = Disk::fresh();
    let due = plan(&disk, DUE);
    assert!(due.contains("streams_with_duties") && due.contains("streams_to_wake"), "{due}");
    assert!(due.contains("SEARCH streams USING INTEGER PRIMARY KEY"), "{due}");
    let marked = plan(&disk, MARKED);
    let by_index = marked.contains("streams_with_duties") && marked.contains("streams_waiting");
    assert!(by_index && marked.contains("SEARCH streams USING INTEGER PRIMARY KEY"), "{marked}");
    let wake = plan(&disk, NEXT_WAKE);
    assert!(wake.contains("streams_to_wake") && !wake.contains("TEMP B-TREE"), "{wake}");
    let heads = plan(&disk, HEADS);
    assert!(heads.contains("deliveries_open"), "{heads}");
    let owed = plan(&disk, OWED);
    let by_index = owed.contains("deliveries_open (target=? AND id>?)");
    assert!(by_index && !owed.contains("TEMP B-TREE"), "{owed}");
    let messages = plan(&disk, MESSAGES_BEFORE);
    assert!(messages.contains("events_said") && !messages.contains("TEMP B-TREE"), "{messages}");
    assert!(!messages.contains("SCAN"), "{messages}");
    for plan in [due, marked, heads] {
        let whole_table =
            plan.lines().find(|line| line.contains("SCAN") && !line.contains("INDEX"));
        assert_eq!(whole_table, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_beside_a_writer_see_whole_prefixes() {
    const EVENTS: u64 = 60;
    let disk = Arc::new(Disk::fresh());
    disk.log.append(vec![batch("a", 0).says("one")]).await.unwrap();
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let disk = disk.clone();
            tokio::spawn(async move {
                let mut seen = 0;
                while seen < EVENTS {
                    let page = disk.log.read(&"a".into(), Seq(0), 1000).await.unwrap();
                    assert_eq!(places(&page.events), (1..=page.through.0).collect::<Vec<_>>());
                    assert!(page.through.0 >= seen, "a reader went back in time");
                    seen = page.through.0;
                }
            })
        })
        .collect();
    for head in 1..EVENTS {
        disk.log.append(vec![batch("a", head).says("more")]).await.unwrap();
    }
    for reader in readers {
        reader.await.unwrap();
    }
}

#[tokio::test]
async fn long_lapsed_claims_are_swept_by_later_ones() {
    const HOUR: i64 = 3_600_000;
    let disk = Disk::fresh();
    let claims = || {
        disk.intruder()
            .query_row("SELECT count(*) FROM claims", [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    let first = (0..100).fold(batch("a", 0).says_at(1, "one"), |batch, n| {
        batch.takes(lapsing("a", &n.to_string(), 10))
    });
    disk.log.append(vec![first.takes(claim("a", "chat", "1"))]).await.unwrap();
    assert_eq!(claims(), 101);

    let soon = batch("a", 1).says_at(HOUR, "two").takes(lapsing("a", "soon", 9 * HOUR));
    disk.log.append(vec![soon]).await.unwrap();
    assert_eq!(claims(), 102);
    for (head, left) in [(2, 102 + 1 - 64), (3, 102 + 2 - 100), (4, 102 + 3 - 100)] {
        let later = batch("a", head).says_at(2 * HOUR, "more").takes(lapsing(
            "a",
            &format!("later-{head}"),
            9 * HOUR,
        ));
        disk.log.append(vec![later]).await.unwrap();
        assert_eq!(claims(), left);
    }
    assert!(disk.log.claim("chat", "1", at(9 * HOUR)).await.unwrap().is_some());
}
