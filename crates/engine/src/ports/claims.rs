//! Claims: what one stream holds and no other.

use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;

/// A unique key held by a stream: the one mechanism for "only one of these may exist".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What kind of key, e.g. `chat`, `idem`.
    pub namespace: String,
    /// The key, unique within its namespace.
    pub key: String,
    /// The stream that holds it.
    pub stream: StreamId,
    /// Hash of the request that took it; empty where that does not matter.
    pub fingerprint: String,
    /// What came of that request: for `idem`, the position of the event that answered it.
    pub outcome: String,
    /// When it lapses by itself.
    pub expires: Option<Timestamp>,
}

/// What an append does to claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimChange {
    /// Take it, or fail the whole append. A lapsed claim (`expires` ≤ the append's newest `ts`) can
    /// be taken over.
    Take(Claim),
    /// Let it go, if this stream holds it.
    Release {
        /// The namespace of the claim, such as `chat`.
        namespace: String,
        /// The key that is let go.
        key: String,
    },
}
