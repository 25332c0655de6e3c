//! The port to a carrier of entries between computers, which may lose, repeat or reorder them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use crate::id::{BootId, ComputerId};

/// Time for which a lease counts after it was renewed. A computer that crashed is away after this.
pub const LEASE: Duration = Duration::from_secs(30);
/// Time between two renewals: two may be lost before the lease ends.
pub const RENEW_EVERY: Duration = Duration::from_secs(10);
/// Longest entry or words in the post, in bytes: the sealed part and a header, with room for the
/// headers of later versions.
pub const ENTRY_LEN_MAX: usize = crate::envelope::SEALED_LEN_MAX + 4_096;

/// Names an entry in the stream of its receiver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PostId(String);

impl PostId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for PostId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl fmt::Display for PostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An entry as the post delivers it. Anything may stand in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostEntry {
    /// The name of the entry, for [`Post::done`].
    pub id: PostId,
    /// The bytes of the entry, for [`Entry::decode`](crate::envelope::Entry::decode).
    pub bytes: Vec<u8>,
}

/// Entries that were read together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostBatch {
    /// True after a connect. The post may have lost everything before that, so the host sends
    /// again.
    pub fresh: bool,
    /// The entries, oldest first. There may be none if `fresh` is true.
    pub entries: Vec<PostEntry>,
}

/// The answer to a renewal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseAnswer {
    /// Boot that holds the lease of the own id. If another boot holds it for longer than [`LEASE`],
    /// two servers run with one id: both stop posting and log that. After a crash, the former boot
    /// still holds the lease for up to [`LEASE`].
    pub holder: BootId,
    /// Another boot that asked for the lease within its time and did not get it: two servers run
    /// with one id. The boot that asks sees itself here, if it was refused. Boots that asked before
    /// the holder got the lease do not count, because they have perhaps crashed.
    pub rival: Option<BootId>,
    /// The peers that are there, with their boots.
    pub peers: BTreeMap<ComputerId, BootId>,
}

/// The reason for which the post did not do as asked. None contains a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// Not reachable, or no answer in time. A put may still arrive.
    #[error("Redis cannot be reached: {0}")]
    Away(String),
    /// The memory of the Redis is used up.
    #[error("Redis has no memory left: raise `maxmemory` there, or see which stream is not read")]
    Full,
    /// The user name or the password is wrong, or one is needed.
    #[error("Redis refuses the user name or the password: correct the address of the post")]
    WrongPassword,
    /// The user may not do this.
    #[error(
        "Redis refuses a command: the user needs the keys and channels `moothall:*`, and the \
         commands of streams, strings, scripts and PUBLISH/SUBSCRIBE ({0})"
    )]
    Denied(String),
    /// The Redis is a replica, or stopped taking writes.
    #[error("Redis takes no writes: give the address of the primary ({0})")]
    ReadOnly(String),
    /// The certificate or the handshake is wrong.
    #[error("TLS to Redis fails: {0}")]
    Tls(String),
    /// The address cannot be used.
    #[error("the address of the post is wrong: {0}")]
    Address(String),
    /// The entry is too long.
    #[error("an entry has {0} bytes, at most {ENTRY_LEN_MAX} are posted")]
    Oversized(usize),
    /// Any other error of the Redis.
    #[error("Redis answers: {0}")]
    Failed(String),
}

/// The post of one computer.
#[async_trait]
pub trait Post: Send + Sync {
    /// Puts an entry into the stream of a computer. Several puts may run at the same time, which
    /// saves waiting for each answer of a distant server.
    ///
    /// # Errors
    /// [`PostError`]. Only after [`PostError::Away`] the entry may be there all the same.
    async fn put(&self, to: ComputerId, entry: &[u8]) -> Result<(), PostError>;

    /// Waits for entries of the own stream. The first call, and the first after an error, connects,
    /// and returns immediately with entries that are there, perhaps none. An entry comes again
    /// until it is done.
    ///
    /// A call that is dropped loses no entry, but the next one connects again.
    ///
    /// # Errors
    /// [`PostError`]. The caller pauses before the next call.
    async fn next(&self) -> Result<PostBatch, PostError>;

    /// Deletes entries of the own stream.
    ///
    /// # Errors
    /// [`PostError`]. The entries come again, at the latest after the next connect.
    async fn done(&self, ids: &[PostId]) -> Result<(), PostError>;

    /// Sends words to a computer, which gets them only if it waits for words now.
    ///
    /// # Errors
    /// [`PostError`].
    async fn say(&self, to: ComputerId, words: &[u8]) -> Result<(), PostError>;

    /// Waits for words to this computer. Words are lost while it does not wait for long.
    ///
    /// # Errors
    /// [`PostError`]. The caller pauses before the next call.
    async fn hear(&self) -> Result<Vec<u8>, PostError>;

    /// Renews the own lease for a boot, unless another boot holds it, and reads those of peers.
    ///
    /// # Errors
    /// [`PostError`].
    async fn renew(&self, boot: BootId, peers: &[ComputerId]) -> Result<LeaseAnswer, PostError>;

    /// Ends the own lease if this boot holds it, so that the next start need not wait for its end.
    ///
    /// # Errors
    /// [`PostError`]. The lease ends by itself then.
    async fn release(&self, boot: BootId) -> Result<(), PostError>;
}
