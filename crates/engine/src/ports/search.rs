//! The port to full-text search: takes a query, gives positions and the pieces that matched.

use async_trait::async_trait;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::search::{Piece, Query};

use super::error::LogError;

/// What to search for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchRequest {
    /// The query. Its `within` is settled already and not looked at.
    pub query: Query,
    /// Only in these streams; in all where unset. Those that did not begin are left out.
    pub streams: Option<Vec<StreamId>>,
}

/// A message that was searched for.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Where it was said.
    pub stream: StreamId,
    /// The message itself, with its position and time.
    pub recorded: RecordedEvent,
    /// Its words around the first match.
    pub snippet: Vec<Piece>,
}

/// A page of hits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// The hits, those that were appended last first.
    pub hits: Vec<Hit>,
    /// Where to go on, when there may be more.
    pub next: Option<u64>,
    /// Events of the streams asked for that were appended and not yet looked at by the index.
    pub lag: u64,
}

/// The index of what was said where everyone may see it. It follows the log at its own pace and
/// never holds up an append.
#[async_trait]
pub trait Search: Send + Sync {
    /// At most `limit` messages that the query finds, from where `cursor`, the last page's `next`,
    /// says.
    async fn search(
        &self,
        wanted: &SearchRequest,
        limit: usize,
        cursor: Option<u64>,
    ) -> Result<Hits, LogError>;
    /// Removes a message from the index for good, so that nothing of its words is left in it. The
    /// log is not touched.
    async fn forget(&self, stream: &StreamId, seq: Seq) -> Result<(), LogError>;
    /// The same for all messages of a stream that was deleted.
    async fn forget_stream(&self, stream: &StreamId) -> Result<(), LogError>;
}
