//! The post of one process: its operations are steps of the process, and its entries are checked.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use moothall_computers::id::{BootId, ComputerId};
use moothall_computers::memory_post::MemoryPost;
use moothall_computers::post::{LeaseAnswer, Post, PostBatch, PostError, PostId};
use moothall_engine::MemoryLog;
use moothall_engine::ports::{PostBook, PostChannel};

use super::ledger::{SharedLedger, lock};
use super::life::Life;

/// The post of one process.
pub(super) struct WatchedPost {
    pub(super) post: MemoryPost,
    pub(super) log: Arc<MemoryLog>,
    pub(super) life: Arc<Life>,
    pub(super) ledger: SharedLedger,
}

impl WatchedPost {
    /// Returns the mark of a channel in the log of the process.
    fn mark(&self, channel: &PostChannel) -> u64 {
        // The log in memory never waits.
        let mark = self.log.through(channel).now_or_never();
        mark.and_then(Result::ok).unwrap_or_default()
    }
}

#[async_trait]
impl Post for WatchedPost {
    async fn put(&self, to: ComputerId, entry: &[u8]) -> Result<(), PostError> {
        self.life
            .through("putting", async {
                lock(&self.ledger).note_put(entry, |channel| self.mark(channel));
                self.post.put(to, entry).await
            })
            .await
    }

    async fn next(&self) -> Result<PostBatch, PostError> {
        self.life.through("reading", self.post.next()).await
    }

    async fn done(&self, ids: &[PostId]) -> Result<(), PostError> {
        if ids.is_empty() {
            return self.post.done(ids).await;
        }
        self.life.through("deleting", self.post.done(ids)).await
    }

    async fn say(&self, to: ComputerId, words: &[u8]) -> Result<(), PostError> {
        self.life.through("saying", self.post.say(to, words)).await
    }

    async fn hear(&self) -> Result<Vec<u8>, PostError> {
        self.life.through("hearing", self.post.hear()).await
    }

    async fn renew(&self, boot: BootId, peers: &[ComputerId]) -> Result<LeaseAnswer, PostError> {
        self.life.through("renewing", self.post.renew(boot, peers)).await
    }

    async fn release(&self, boot: BootId) -> Result<(), PostError> {
        self.life.through("releasing", self.post.release(boot)).await
    }
}
