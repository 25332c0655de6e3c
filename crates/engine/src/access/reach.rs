//! Which conversations somebody reaches, as that is now.

use std::collections::BTreeSet;
use std::sync::Arc;

use moothall_kernel::ids::StreamId;
use tokio::sync::watch;

/// Which conversations somebody reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All of them, and those that will be begun.
    #[default]
    All,
    /// These and no others.
    Only(Arc<BTreeSet<StreamId>>),
    /// Those that a session is in or made, as they are now.
    Session(Arc<ReachableStreams>),
}

impl Reach {
    /// Whether a conversation is within it.
    pub fn includes(&self, stream: &StreamId) -> bool {
        match self {
            Reach::All => true,
            Reach::Only(streams) => streams.contains(stream),
            Reach::Session(rooms) => rooms.include(stream),
        }
    }

    /// The conversations, where they are counted.
    pub fn only(&self) -> Option<Arc<BTreeSet<StreamId>>> {
        match self {
            Reach::All => None,
            Reach::Only(streams) => Some(streams.clone()),
            Reach::Session(rooms) => Some(rooms.now()),
        }
    }

    /// Resolves when a conversation is not within it any more; what a credential is bound to does
    /// not change.
    pub async fn left(&self, stream: &StreamId) {
        match self {
            Reach::Session(rooms) => rooms.left(stream).await,
            Reach::All | Reach::Only(_) => std::future::pending().await,
        }
    }
}

/// The conversations that one session reaches.
#[derive(Debug)]
pub struct ReachableStreams(watch::Sender<Arc<BTreeSet<StreamId>>>);

impl PartialEq for ReachableStreams {
    /// Those of the same session.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for ReachableStreams {}

impl ReachableStreams {
    /// Those of a session that is in its home alone.
    pub fn of(home: &StreamId) -> Self {
        Self(watch::Sender::new(Arc::new(BTreeSet::from([home.clone()]))))
    }

    /// The conversations, as they are at this moment.
    pub fn now(&self) -> Arc<BTreeSet<StreamId>> {
        self.0.borrow().clone()
    }

    /// Whether a conversation is one of them.
    pub fn include(&self, stream: &StreamId) -> bool {
        self.0.borrow().contains(stream)
    }

    /// Resolves when a conversation is none of them.
    pub async fn left(&self, stream: &StreamId) {
        // The sender is here, so it does not go away.
        let _ = self.0.subscribe().wait_for(|rooms| !rooms.contains(stream)).await;
    }

    /// Changes which they are.
    pub fn change(&self, change: impl FnOnce(&mut BTreeSet<StreamId>)) {
        self.0.send_modify(|rooms| change(Arc::make_mut(rooms)));
    }
}
