//! The conversations that a caller reaches at the moment.

use std::collections::BTreeSet;
use std::sync::Arc;

use moothall_kernel::ids::StreamId;
use tokio::sync::watch;

/// The conversations that a caller reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All conversations, including future ones.
    #[default]
    All,
    /// Only these conversations.
    Only(Arc<BTreeSet<StreamId>>),
    /// The conversations that a session is in or made, at the moment.
    Session(Arc<ReachableStreams>),
}

impl Reach {
    /// True if the conversation is within reach.
    pub fn includes(&self, stream: &StreamId) -> bool {
        match self {
            Reach::All => true,
            Reach::Only(streams) => streams.contains(stream),
            Reach::Session(rooms) => rooms.include(stream),
        }
    }

    /// Returns the conversations within reach; `None` for all.
    pub fn only(&self) -> Option<Arc<BTreeSet<StreamId>>> {
        match self {
            Reach::All => None,
            Reach::Only(streams) => Some(streams.clone()),
            Reach::Session(rooms) => Some(rooms.now()),
        }
    }

    /// Resolves when a conversation leaves the reach. The reach of a token never changes.
    pub async fn wait_until_left(&self, stream: &StreamId) {
        match self {
            Reach::Session(rooms) => rooms.wait_until_left(stream).await,
            Reach::All | Reach::Only(_) => std::future::pending().await,
        }
    }
}

/// The conversations that one session reaches.
#[derive(Debug)]
pub struct ReachableStreams(watch::Sender<Arc<BTreeSet<StreamId>>>);

impl PartialEq for ReachableStreams {
    /// True for the same session: compares by identity.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for ReachableStreams {}

impl ReachableStreams {
    /// Returns the reach of a session that is only in its home.
    pub fn of(home: &StreamId) -> Self {
        Self(watch::Sender::new(Arc::new(BTreeSet::from([home.clone()]))))
    }

    /// Returns the conversations at this moment.
    pub fn now(&self) -> Arc<BTreeSet<StreamId>> {
        self.0.borrow().clone()
    }

    /// True if the session reaches the conversation at this moment.
    pub fn include(&self, stream: &StreamId) -> bool {
        self.0.borrow().contains(stream)
    }

    /// Resolves when the session does not reach the conversation any more.
    pub async fn wait_until_left(&self, stream: &StreamId) {
        // Cannot fail: `self` holds the sender.
        let _ = self.0.subscribe().wait_for(|rooms| !rooms.contains(stream)).await;
    }

    /// Changes the set of conversations.
    pub fn change(&self, change: impl FnOnce(&mut BTreeSet<StreamId>)) {
        self.0.send_modify(|rooms| change(Arc::make_mut(rooms)));
    }
}
