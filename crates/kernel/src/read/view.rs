//! Decides who sees an event: takes the event and the viewer, and compares it with the audience.

use crate::model::event::{Audience, Event};
use crate::model::ids::ParticipantId;
use crate::planted::{self, Bug};

/// Somebody who looks at a conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Viewer {
    /// Sees everything, the trace included.
    Operator,
    /// Sees what is for all, and what is for it.
    Participant(ParticipantId),
    /// Sees what is for all.
    Guest,
}

/// Whether this viewer may see this event. The one rule for every surface, channel, search, export
/// and prompt.
pub fn visible(event: &Event, viewer: &Viewer) -> bool {
    if planted::has(Bug::AudienceLeak)
        && matches!((event, viewer), (Event::Suppressed { .. }, Viewer::Participant(_)))
    {
        return true;
    }
    match (event.audience(), viewer) {
        (_, Viewer::Operator) | (Audience::All, _) => true,
        (Audience::Only(set), Viewer::Participant(id)) => set.contains(id),
        (Audience::Only(_) | Audience::Operators, _) => false,
    }
}
