//! Copies of what was said, in memory and beside the log: what is erased is erased there too.

use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::Seq;

/// Something that keeps copies of what was said, beside the log. It lets go of them when words are
/// erased, whoever erases them.
pub trait Copies: Send + Sync {
    /// Lets go of all that may hold erased words.
    fn forget(&self);
}

/// Those who keep copies.
#[derive(Default)]
pub(crate) struct Copiers(Mutex<Vec<Weak<dyn Copies>>>);

impl Copiers {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Weak<dyn Copies>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Words were erased, if these events erase any.
    pub(crate) fn hear(&self, events: &[RecordedEvent]) {
        if events
            .iter()
            .any(|recorded| recorded.event.erases_all() || recorded.event.erases().next().is_some())
        {
            self.lock().iter().filter_map(Weak::upgrade).for_each(|copies| copies.forget());
        }
    }
}

/// Erases what later events of the same batch erase, so that nobody is told words that the log has
/// no more.
pub(crate) fn within(events: &mut [RecordedEvent]) {
    if events.iter().any(|recorded| recorded.event.erases_all()) {
        return events.iter_mut().for_each(|recorded| recorded.event.erase());
    }
    let erased: Vec<Seq> = events.iter().flat_map(|recorded| recorded.event.erases()).collect();
    for recorded in events.iter_mut().filter(|recorded| erased.contains(&recorded.seq)) {
        recorded.event.erase();
    }
}
