//! The memory log, the reference for other logs, under the common conformance suite.

use async_trait::async_trait;
use moothall_engine::MemoryLog;
use moothall_engine::ports::{CopyError, Lease, Upkeep};
use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;
use moothall_testkit::conformance::Subject;

#[derive(Default)]
struct InMemory(MemoryLog);

#[async_trait]
impl Subject for InMemory {
    type Log = MemoryLog;

    fn log(&self) -> &MemoryLog {
        &self.0
    }

    async fn append_newer(&self, stream: &StreamId, ts: Timestamp, kind: &str) {
        self.0.append_newer(stream, ts, kind);
    }

    fn lease(&self, lease: Lease) -> bool {
        self.0.lease(lease);
        true
    }

    async fn reopen(self) -> Option<Self> {
        None
    }
}

#[tokio::test]
async fn what_is_kept_in_memory_alone_is_not_copied() {
    assert_eq!(MemoryLog::new().backup("anywhere".as_ref()).await, Err(CopyError::Unable));
}

moothall_testkit::log_conformance!(InMemory::default());
