//! The checksum chain of a stream. Each link covers the link before it, the position, the time, the
//! envelope and the hash of the body. If a body is erased, its hash stays, so the chain stays
//! intact.

use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::Timestamp;

use crate::ports::Snapshot;

/// Stored bytes of a hash. They are enough to detect damage; the log's owner is not the adversary.
const KEPT: usize = 16;

/// The hash of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyHash([u8; KEPT]);

impl BodyHash {
    /// Returns the hash of these bytes, at its stored length.
    pub fn of(body: &[u8]) -> Self {
        Self(cut(&blake3::hash(body)))
    }

    /// Reads a stored hash; `None` if its length is wrong.
    pub fn from_stored(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A link of the chain. It covers a whole stream up to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainLink([u8; KEPT]);

impl ChainLink {
    /// Returns the link before the first event. It covers the stream's id, so that events cannot
    /// move to another stream.
    pub fn origin(stream: &StreamId) -> Self {
        Self(cut(&blake3::hash(stream.as_str().as_bytes())))
    }

    /// Returns the link of the next event.
    pub fn next(self, seq: Seq, ts: Timestamp, envelope: &[u8], body: Option<BodyHash>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0).update(&seq.0.to_le_bytes()).update(&ts.millis().to_le_bytes());
        // The length separates the envelope from the body's hash, because the hash may be absent.
        hasher.update(&(envelope.len() as u64).to_le_bytes()).update(envelope);
        if let Some(body) = body {
            hasher.update(&body.0);
        }
        Self(cut(&hasher.finalize()))
    }

    /// Reads a stored link; `None` if its length is wrong.
    pub fn from_stored(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the checksum of a snapshot. It covers the version, the position, the bytes, and the link
/// of the event at its head.
pub fn snapshot_sum(snapshot: &Snapshot, link: ChainLink) -> [u8; KEPT] {
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(&snapshot.version.to_le_bytes())
        .update(&snapshot.head.0.to_le_bytes())
        .update(&link.0)
        .update(&snapshot.bytes);
    cut(&hasher.finalize())
}

fn cut(hash: &blake3::Hash) -> [u8; KEPT] {
    let mut kept = [0; KEPT];
    kept.copy_from_slice(&hash.as_bytes()[..KEPT]);
    kept
}
