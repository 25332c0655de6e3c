//! What a reader asks for of what it may see.

use std::fmt;
use std::sync::Arc;

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::view::{Viewer, visible};

/// A reader's eyes: who looks, and for what. What it did not ask for is passed over like what it
/// may not see, so positions rise with holes.
#[derive(Clone)]
pub struct EventFilter {
    viewer: Viewer,
    wanted: Option<EventPredicate>,
    takes_turns: bool,
}

/// Whether an event is asked for.
type EventPredicate = Arc<dyn Fn(&Event) -> bool + Send + Sync>;

impl From<Viewer> for EventFilter {
    fn from(viewer: Viewer) -> Self {
        Self { viewer, wanted: None, takes_turns: false }
    }
}

impl fmt::Debug for EventFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventFilter")
            .field("viewer", &self.viewer)
            .field("everything", &self.wanted.is_none())
            .finish()
    }
}

impl EventFilter {
    /// Everything that this viewer may see and that is wanted.
    pub fn new(viewer: Viewer, wanted: impl Fn(&Event) -> bool + Send + Sync + 'static) -> Self {
        Self { viewer, wanted: Some(Arc::new(wanted)), takes_turns: false }
    }

    /// The same, for a participant that says whether it takes turns. (Ruling 5.)
    #[must_use]
    pub fn taking_turns(self, takes_turns: bool) -> Self {
        Self { takes_turns, ..self }
    }

    /// Whether who looks takes turns.
    pub(super) fn takes_turns(&self) -> bool {
        self.takes_turns
    }

    /// For whom events are let through; what they may not see never passes.
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// Whether an event gets through.
    pub fn passes(&self, event: &Event) -> bool {
        self.asks_for(event) && visible(event, &self.viewer)
    }

    /// Of events that the viewer may see, those that it asked for.
    pub(super) fn keep(&self, events: &mut Vec<RecordedEvent>) {
        events.retain(|recorded| self.asks_for(&recorded.event));
    }

    fn asks_for(&self, event: &Event) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted(event))
    }
}
