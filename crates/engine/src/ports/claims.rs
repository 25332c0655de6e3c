//! Claims: keys that only one stream holds.

use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;

/// A unique key that a stream holds. It is the only mechanism for "only one of these may exist".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The kind of key, e.g. `chat`, `idem`.
    pub namespace: String,
    /// The key, unique within its namespace.
    pub key: String,
    /// The stream that holds it.
    pub stream: StreamId,
    /// Hash of the request that took it; empty if it does not matter.
    pub fingerprint: String,
    /// The result of that request: for `idem`, the position of the event that answered it.
    pub outcome: String,
    /// Time at which it expires; `None` for never.
    pub expires: Option<Timestamp>,
}

/// A change of claims by an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimChange {
    /// Take the claim, or fail the whole append. An expired claim (`expires` ≤ the append's newest
    /// `ts`) can be taken over.
    Take(Claim),
    /// Release the claim, if this stream holds it.
    Release {
        /// The namespace of the claim, such as `chat`.
        namespace: String,
        /// The key that is released.
        key: String,
    },
}
