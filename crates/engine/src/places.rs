//! How many programs run at once. What is more waits its turn, first come, first served.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_kernel::ids::{StreamId, TurnNo};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::agent::TurnKey;

/// Places for programs.
#[derive(Debug)]
pub struct Places {
    most: usize,
    free: Arc<Semaphore>,
    waiting: Mutex<BTreeSet<(StreamId, TurnNo)>>,
}

/// A program's place, until it is dropped.
#[derive(Debug)]
pub struct Place(#[expect(dead_code, reason = "it is held, not looked at")] OwnedSemaphorePermit);

/// Somebody who waits for a place.
pub(crate) struct Waiting {
    places: Arc<Places>,
    turn: (StreamId, TurnNo),
}

impl Places {
    /// So many places; at least one.
    pub fn new(most: usize) -> Arc<Self> {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        Arc::new(Self { most, free: Arc::new(Semaphore::new(most)), waiting: Mutex::default() })
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<(StreamId, TurnNo)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place that is free now, if nobody waits for it.
    pub(crate) fn free_one(&self) -> Option<Place> {
        self.free.clone().try_acquire_owned().ok().map(Place)
    }

    /// Gets in line.
    pub(crate) fn wait(self: &Arc<Self>, key: &TurnKey) -> Waiting {
        let turn = (key.stream.clone(), key.turn);
        self.waiting().insert(turn.clone());
        Waiting { places: self.clone(), turn }
    }

    /// Whether this turn waits for a place.
    pub fn is_waiting(&self, stream: &StreamId, turn: TurnNo) -> bool {
        self.waiting().contains(&(stream.clone(), turn))
    }

    /// What people are told about a turn that waits for a place.
    pub fn why(&self) -> String {
        let programs = if self.most == 1 { "1 program runs" } else { &format!("{} programs run", self.most) };
        format!("waits for a free place: {programs}")
    }

    /// Programs that have a place, and turns that wait for one.
    pub fn counts(&self) -> (usize, usize) {
        (self.most - self.free.available_permits(), self.waiting().len())
    }
}

impl Waiting {
    /// The place, when it is this one's time. Nothing only when there are no places any more.
    pub(crate) async fn place(&self) -> Option<Place> {
        self.places.free.clone().acquire_owned().await.ok().map(Place)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.places.waiting().remove(&self.turn);
    }
}
