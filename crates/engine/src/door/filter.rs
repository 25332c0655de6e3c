//! The filter of a reader: of the events that it may see, those that it asks for.

use std::fmt;
use std::sync::Arc;

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::view::{Viewer, visible};

/// The viewer of a reader, and the kinds of events that it asked for. Events not asked for are
/// skipped like those that the viewer may not see, so positions have gaps.
#[derive(Clone)]
pub struct EventFilter {
    viewer: Viewer,
    wanted: Option<EventPredicate>,
    takes_turns: bool,
}

/// A predicate: true if the reader asked for the event.
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
    /// Returns a filter for the events that this viewer may see and that `wanted` accepts.
    pub fn new(viewer: Viewer, wanted: impl Fn(&Event) -> bool + Send + Sync + 'static) -> Self {
        Self { viewer, wanted: Some(Arc::new(wanted)), takes_turns: false }
    }

    /// Sets if the reading participant takes turns. (Ruling 5.)
    #[must_use]
    pub fn taking_turns(self, takes_turns: bool) -> Self {
        Self { takes_turns, ..self }
    }

    /// True if the reading participant takes turns.
    pub(super) fn takes_turns(&self) -> bool {
        self.takes_turns
    }

    /// Returns the viewer. An event that the viewer may not see never passes.
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// True if the viewer may see the event and asked for it.
    pub fn passes(&self, event: &Event) -> bool {
        self.asks_for(event) && visible(event, &self.viewer)
    }

    /// Keeps the events that were asked for. The caller has already dropped those that the viewer
    /// may not see.
    pub(super) fn keep(&self, events: &mut Vec<RecordedEvent>) {
        events.retain(|recorded| self.asks_for(&recorded.event));
    }

    fn asks_for(&self, event: &Event) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted(event))
    }
}
