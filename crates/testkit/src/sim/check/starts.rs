//! Requests outside a turn. A program is started once and only after a person allowed it, and the
//! requester gets the outcome. Departed agents ask nothing.

use std::collections::BTreeSet;

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, PermissionId};
use moothall_kernel::start::StartOutcome;
use moothall_kernel::talk::TalkOutcome;

use super::{Checker, ConversationModel, Scene, Verdict};

#[derive(Default)]
pub(super) struct StartsOnce {
    settled: BTreeSet<PermissionId>,
}

impl Checker for StartsOnce {
    fn name(&self) -> &'static str {
        "starts"
    }

    fn event(
        &mut self,
        room: &ConversationModel,
        _scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        match &recorded.event {
            Event::StartRequested { participant, .. }
            | Event::TalkRequested { participant, .. }
            | Event::QuestionAsked { participant, .. }
                if !room.is_agent(participant) =>
            {
                Err(format!("{participant} is no agent and asks"))
            }
            Event::QuestionAsked { permission, .. } if room.questions.contains_key(permission) => {
                Err(format!("{permission} is asked twice"))
            }
            Event::StartSettled { permission, .. } | Event::TalkSettled { permission, .. }
                if !self.settled.insert(permission.clone()) =>
            {
                Err(format!("{permission} was settled twice"))
            }
            Event::StartSettled { permission, outcome, .. } => {
                let carried_out =
                    matches!(outcome, StartOutcome::Started { .. } | StartOutcome::Failed { .. });
                settled(room, permission, carried_out)
            }
            Event::TalkSettled { permission, outcome, .. } => {
                let carried_out =
                    matches!(outcome, TalkOutcome::Linked { .. } | TalkOutcome::Failed { .. });
                settled(room, permission, carried_out)
            }
            _ => Ok(()),
        }
    }

    fn rest(&mut self, room: &ConversationModel, _offline: &BTreeSet<ParticipantId>) -> Verdict {
        // An archived conversation starts nothing. If it is reopened, the start follows.
        if let Some((permission, _)) =
            room.starts.iter().find(|(_, allowed)| **allowed && !room.archived)
        {
            return Err(format!("{permission} was allowed, and nothing came of it"));
        }
        match room.questions.iter().find(|(_, asker)| room.archived || !room.is_agent(asker)) {
            Some((permission, asker)) => {
                Err(format!("{permission} is asked still, and {asker} is gone"))
            }
            None => Ok(()),
        }
    }
}

/// Checks that a request was carried out exactly if a person allowed it.
fn settled(room: &ConversationModel, permission: &PermissionId, carried_out: bool) -> Verdict {
    let allowed = room.starts.get(permission) == Some(&true);
    if carried_out == allowed {
        Ok(())
    } else {
        Err(format!("{permission} was carried out: {carried_out}; allowed: {allowed}"))
    }
}
