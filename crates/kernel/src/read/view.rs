//! Decides if a viewer sees an event, by the event's audience.

use crate::model::event::{Audience, Change, Event};
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

/// True if the members of a chat outside of the server have to see this event: messages, notices
/// and guards, questions and their ends, erasures, and who takes part. Such a chat reads as a
/// guest.
pub fn is_owed_to_chats(event: &Event) -> bool {
    let is_meant = match event {
        // Members of the chat need not be members of the conversation that hosted words belong to.
        Event::Posted(posted) => posted.hosted.is_none(),
        Event::Noticed { .. }
        | Event::GuardTripped { .. }
        | Event::BudgetSpent { .. }
        | Event::Stopped { .. }
        | Event::Archived { .. }
        | Event::Unarchived { .. }
        | Event::PermissionRequested { .. }
        | Event::PermissionAnswered { .. }
        | Event::PermissionExpired { .. }
        | Event::PermissionWithdrawn { .. }
        | Event::QuestionAsked { .. }
        | Event::StartRequested { .. }
        | Event::StartSettled { .. }
        | Event::TalkRequested { .. }
        | Event::TalkSettled { .. }
        | Event::Redacted { message: true, .. } => true,
        Event::Controlled { changes, .. } => changes.iter().any(|change| {
            matches!(
                change,
                Change::Invited { .. }
                    | Change::Uninvited { .. }
                    | Change::Paused { .. }
                    | Change::Bound { .. }
                    | Change::Unbound { .. }
            )
        }),
        Event::Created { .. }
        | Event::Renamed { .. }
        | Event::Deleted { .. }
        | Event::Custom { .. }
        | Event::Overheard { .. }
        | Event::Joined(_)
        | Event::Parted { .. }
        | Event::Taken { .. }
        | Event::RoundOpened { .. }
        | Event::ReactionOpened { .. }
        | Event::RoundClosed
        | Event::RoundReopened { .. }
        | Event::Skipped { .. }
        | Event::TurnGranted { .. }
        | Event::TurnReleased { .. }
        | Event::TurnWidened { .. }
        | Event::TurnStarted { .. }
        | Event::TurnLost { .. }
        | Event::TurnEnded { .. }
        | Event::Suppressed { .. }
        | Event::Discarded { .. }
        | Event::ClockShifted { .. }
        | Event::FactsChanged { .. }
        | Event::Redacted { message: false, .. }
        | Event::Summarised { .. }
        | Event::Gathering(_)
        | Event::Task(_) => false,
    };
    is_meant && visible(event, &Viewer::Guest)
}
