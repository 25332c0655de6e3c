//! The port to full-text search: takes a query, and returns messages with the pieces that matched.

use async_trait::async_trait;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::search::{Piece, Query};

use super::error::LogError;

/// A query and the streams to search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchRequest {
    /// The query. The names in its `within` are resolved into `streams` already, and are ignored.
    pub query: Query,
    /// Only these streams; `None` for all. Streams that have not begun are left out.
    pub streams: Option<Vec<StreamId>>,
}

/// A message that matched.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The stream of the message.
    pub stream: StreamId,
    /// The message, with its position and time.
    pub recorded: RecordedEvent,
    /// The words around the first match.
    pub snippet: Vec<Piece>,
}

/// A page of hits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// The hits, the newest appended first.
    pub hits: Vec<Hit>,
    /// Cursor of the next page, if there may be more.
    pub next: Option<u64>,
    /// Number of events in these streams that the index has not read yet.
    pub lag: u64,
}

/// The index of public messages. It follows the log at its own pace and never delays an append.
#[async_trait]
pub trait Search: Send + Sync {
    /// Returns at most `limit` messages that match. `cursor` is the `next` of the previous page.
    async fn search(
        &self,
        wanted: &SearchRequest,
        limit: usize,
        cursor: Option<u64>,
    ) -> Result<Hits, LogError>;
    /// Removes a message from the index for good, with all of its words. Does not change the log.
    async fn forget(&self, stream: &StreamId, seq: Seq) -> Result<(), LogError>;
    /// Removes all messages of a deleted stream from the index for good.
    async fn forget_stream(&self, stream: &StreamId) -> Result<(), LogError>;
}
