//! A muted, uninvited or offline agent, or an agent in a paused or archived conversation, gets no
//! turn and cannot post.

use std::collections::BTreeSet;

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Kind;

use super::{Checker, ConversationModel, Scene, Verdict};

pub(super) struct Silence;

impl Checker for Silence {
    fn name(&self) -> &'static str {
        "silence"
    }

    fn event(
        &mut self,
        room: &ConversationModel,
        scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        match &recorded.event {
            Event::TurnGranted { participant, .. } => granted(room, scene, participant),
            Event::TurnWidened { turn, .. } => match room.turns.get(turn) {
                Some(open) => granted(room, scene, &open.participant),
                None => Ok(()),
            },
            Event::Posted(posted) if room.archived => {
                Err(format!("{} speaks in an archived conversation", posted.from))
            }
            Event::Posted(posted) if posted.kind == Kind::Agent && posted.published.is_none() => {
                heard(room, &posted.from)
            }
            _ => Ok(()),
        }
    }

    fn rest(&mut self, room: &ConversationModel, _offline: &BTreeSet<ParticipantId>) -> Verdict {
        let stands = room.paused || room.archived;
        if !stands && (!room.queued.is_empty() || room.in_round) {
            return Err(format!(
                "nothing is going on, yet {:?} wait and a round is open: {}",
                room.queued, room.in_round
            ));
        }
        Ok(())
    }
}

fn granted(room: &ConversationModel, scene: &Scene<'_>, participant: &ParticipantId) -> Verdict {
    let carried = scene.carries_over(participant, room);
    let fault = if !room.is_agent(participant) && !carried {
        "is no agent here"
    } else if room.archived {
        "is in an archived conversation"
    } else if room.muted.contains(participant) {
        "is muted"
    } else if room.paused && !carried {
        "is in a paused conversation"
    } else if room.offline_among(scene.offline).contains(participant) && !carried {
        "is offline"
    } else if room.only_reads(participant) && !carried {
        "only reads"
    } else {
        return Ok(());
    };
    Err(format!("{participant} got a turn although it {fault}"))
}

fn heard(room: &ConversationModel, from: &ParticipantId) -> Verdict {
    if from.as_str() == ParticipantId::MOOTHALL {
        return Ok(());
    }
    if room.muted.contains(from) {
        return Err(format!("{from} is heard although it is muted"));
    }
    if room.paused {
        return Err(format!("{from} is heard although the conversation is paused"));
    }
    Ok(())
}
