//! The questions and requests of a conversation that wait for a person.

use crate::model::event::{Event, Recipient};
use crate::model::ids::{ParticipantId, PermissionId, Seq};
use crate::model::state::Conversation;
use crate::model::time::Timestamp;

/// A question or request that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCard {
    /// The permission by which it is answered.
    pub permission: PermissionId,
    /// The position of the event that asks.
    pub at: Seq,
    /// Time of that event.
    pub asked_at: Timestamp,
    /// The agent that asks.
    pub participant: ParticipantId,
    /// True if the agent goes on without the answer: it asked to start a program or to talk to a
    /// session.
    pub is_request: bool,
}

impl Event {
    /// Returns the permission and the agent of an event that asks people; `None` for other events.
    pub fn asks(&self) -> Option<(&PermissionId, &ParticipantId)> {
        match self {
            Event::PermissionRequested { permission, participant, .. }
            | Event::QuestionAsked { permission, participant, .. }
            | Event::StartRequested { permission, participant, .. }
            | Event::TalkRequested { permission, participant, .. } => {
                Some((permission, participant))
            }
            _ => None,
        }
    }
}

impl Event {
    /// True if the event may change what waits for a reader: a question and its end, a guard, a
    /// step of a gathering, a failure, and words to a person. Any `@` may name a reader that is not
    /// invited.
    pub fn concerns_people(&self) -> bool {
        match self {
            Event::Posted(posted) => {
                posted.error.is_some()
                    || posted.to != Recipient::All
                    || !posted.mentions.is_empty()
                    || posted.resets
                    || posted.body.contains('@')
            }
            Event::PermissionAnswered { .. }
            | Event::PermissionExpired { .. }
            | Event::PermissionWithdrawn { .. }
            | Event::StartSettled { .. }
            | Event::TalkSettled { .. }
            | Event::TurnEnded { .. }
            | Event::GuardTripped { .. }
            | Event::Stopped { .. }
            | Event::Controlled { .. }
            | Event::Gathering(_)
            | Event::Archived { .. }
            | Event::Unarchived { .. } => true,
            other => other.asks().is_some(),
        }
    }
}

impl Conversation {
    /// Returns the time at which a guard began to hold the floor; `None` if none does, or if an
    /// earlier version did not note it.
    pub fn held_since(&self) -> Option<Timestamp> {
        self.guards.held.and(self.guards.held_since)
    }

    /// Returns the questions and requests that wait for a person, oldest first.
    pub fn open_cards(&self) -> Vec<OpenCard> {
        let in_turns = self.open_turns().flat_map(|turn| {
            turn.permissions.iter().map(|(permission, open)| OpenCard {
                permission: permission.clone(),
                at: open.at,
                asked_at: open.asked_at,
                participant: turn.participant.clone(),
                is_request: false,
            })
        });
        let in_none = self.floor.questions.iter().map(|(permission, open)| OpenCard {
            permission: permission.clone(),
            at: open.at,
            asked_at: open.asked_at,
            participant: open.participant.clone(),
            is_request: false,
        });
        let requests = self.floor.requests.iter().filter_map(|(permission, open)| {
            Some(OpenCard {
                permission: permission.clone(),
                at: open.at,
                asked_at: open.waiting()?.asked_at,
                participant: open.participant.clone(),
                is_request: true,
            })
        });
        let mut cards: Vec<OpenCard> = in_turns.chain(in_none).chain(requests).collect();
        cards.sort_by_key(|card| card.at);
        cards
    }
}
