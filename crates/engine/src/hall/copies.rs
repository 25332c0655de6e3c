//! Copies of words in memory, in addition to the log. If words are erased in the log, these copies
//! are erased too.

use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::Seq;

/// A holder of copies of words. It drops them when words are erased in the log.
pub trait Copies: Send + Sync {
    /// Drops all copies that may hold erased words.
    fn forget(&self);
}

/// The holders of copies.
#[derive(Default)]
pub(crate) struct Copiers(Mutex<Vec<Weak<dyn Copies>>>);

impl Copiers {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Weak<dyn Copies>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the holders to drop their copies, if these events erase words.
    pub(crate) fn hear(&self, events: &[RecordedEvent]) {
        if events
            .iter()
            .any(|recorded| recorded.event.erases_all() || recorded.event.erases().next().is_some())
        {
            self.lock().iter().filter_map(Weak::upgrade).for_each(|copies| copies.forget());
        }
    }
}

/// Erases the words that later events of the same batch erase, so that listeners get only words
/// that the log still has.
pub(crate) fn erase_within_batch(events: &mut [RecordedEvent]) {
    if events.iter().any(|recorded| recorded.event.erases_all()) {
        return events.iter_mut().for_each(|recorded| recorded.event.erase());
    }
    let erased: Vec<Seq> = events.iter().flat_map(|recorded| recorded.event.erases()).collect();
    for recorded in events.iter_mut().filter(|recorded| erased.contains(&recorded.seq)) {
        recorded.event.erase();
    }
}
