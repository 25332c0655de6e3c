//! The suite that every log passes, run on SQLite.

use async_trait::async_trait;
use moothall_engine::log_format::ChainLink;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;
use moothall_testkit::conformance::Subject;
use rusqlite::params;

use super::Disk;
use crate::SqliteLog;

#[async_trait]
impl Subject for Disk {
    type Log = SqliteLog;

    fn log(&self) -> &SqliteLog {
        &self.log
    }

    async fn append_newer(&self, stream: &StreamId, ts: Timestamp, kind: &str) {
        let intruder = self.intruder();
        let (key, head, chain): (i64, i64, Vec<u8>) = intruder
            .query_row(
                "SELECT key, head, chain FROM streams WHERE id = ?1",
                [stream.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .unwrap();
        let envelope = format!("{{\"{kind}\":{{\"by\":\"user\"}}}}");
        let seq = head + 1;
        let link = ChainLink::from_stored(&chain).unwrap().next(
            Seq(seq as u64),
            ts,
            envelope.as_bytes(),
            None,
        );
        let event = params![key, seq, ts.millis(), envelope, link.as_bytes()];
        intruder
            .execute(
                "INSERT INTO events (stream, seq, ts, envelope, chain) VALUES (?1, ?2, ?3, ?4, ?5)",
                event,
            )
            .unwrap();
        let row = params![key, seq, ts.millis(), link.as_bytes()];
        intruder
            .execute("UPDATE streams SET head = ?2, last_ts = ?3, chain = ?4 WHERE key = ?1", row)
            .unwrap();
    }

    async fn reopen(self) -> Option<Self> {
        Some(self.reopened_after(|_| {}))
    }
}

moothall_testkit::log_conformance!(Disk::fresh());
