//! Decides if a viewer sees an event, by the event's audience.

use crate::model::event::{Audience, Event};
use crate::model::ids::ParticipantId;
use crate::planted::{self, Bug};

/// A reader of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Viewer {
    /// An operator, who sees every event including the trace.
    Operator,
    /// A participant, which sees events for all and events for itself.
    Participant(ParticipantId),
    /// A guest, who sees events for all.
    Guest,
}

/// True if this viewer may see this event. Every surface, channel, search, export and prompt uses
/// this rule.
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
