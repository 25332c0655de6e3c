//! The upkeep of the log in memory: it can be verified and closed.

use std::path::Path;

use async_trait::async_trait;
use moothall_kernel::ids::Seq;

use super::{MemoryLog, Stream};
use crate::log_format::Walk;
use crate::ports::{CopyError, ListedStream, LogError, Upkeep, Verification};

#[async_trait]
impl Upkeep for MemoryLog {
    fn log_id(&self) -> &str {
        &self.id.0
    }

    async fn verify(&self) -> Verification {
        let tables = self.tables();
        let mut verified = Verification::default();
        for (listed, stream) in tables
            .in_order
            .iter()
            .filter_map(|id| Some((tables.find(id)?, tables.streams.get(id)?)))
        {
            verified.streams += 1;
            verified.events += listed.head.0;
            verified.faults.extend(stream.walk(&listed));
        }
        verified
    }

    async fn backup(&self, _dest: &Path) -> Result<Verification, CopyError> {
        Err(CopyError::Unable)
    }

    /// Closes the log for writing. Reads still work.
    async fn close(&self) -> Result<(), LogError> {
        self.tables().closed = true;
        Ok(())
    }
}

impl Stream {
    /// Replays the stream, and compares the result with its catalog row and snapshot. Returns the
    /// first fault; `None` without a fault, and for a deleted stream.
    fn walk(&self, listed: &ListedStream) -> Option<LogError> {
        if self.is_deleted() {
            return None;
        }
        let (mut after, mut walk) = (Seq(0), Walk::new(listed, self.snapshot.as_ref()));
        while after < listed.head {
            let page = self.page(after, usize::MAX);
            walk.page(&page);
            after = page.through;
        }
        walk.end()
    }
}
