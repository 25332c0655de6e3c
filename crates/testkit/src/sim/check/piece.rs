//! One participant holds the talking piece at a time, each speaker once in each round, and only the
//! holder can post.

use std::collections::BTreeSet;

use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::gathering::GatheringEvent;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::{Kind, SeatRole};

use super::{Checker, ConversationModel, Scene, Verdict};

#[derive(Default)]
pub(super) struct Piece {
    held_in_round: BTreeSet<ParticipantId>,
}

impl Checker for Piece {
    fn name(&self) -> &'static str {
        "piece"
    }

    fn event(
        &mut self,
        room: &ConversationModel,
        scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        match &recorded.event {
            Event::Gathering(step) => self.moved(room, scene, step),
            Event::Posted(posted) if room.gathering && posted.published.is_none() => {
                heard(room, &posted.from)
            }
            _ => Ok(()),
        }
    }

    fn step(
        &mut self,
        room: &ConversationModel,
        _state: &moothall_kernel::Conversation,
    ) -> Verdict {
        if room.gathering && !room.promise().circle {
            return Err(format!("a gathering goes on under {}", room.policy.name));
        }
        Ok(())
    }

    fn rest(&mut self, room: &ConversationModel, _offline: &BTreeSet<ParticipantId>) -> Verdict {
        let stands = room.paused || room.archived || room.held.is_some();
        let harvester =
            room.members.values().find(|member| member.part == Some(SeatRole::Harvester));
        let waits_for_person =
            room.harvesting && harvester.is_some_and(|member| member.kind == Kind::Human);
        if room.gathering && !stands && !waits_for_person {
            return Err("nothing is going on, yet the gathering is not over".into());
        }
        Ok(())
    }
}

impl Piece {
    fn moved(
        &mut self,
        room: &ConversationModel,
        scene: &Scene<'_>,
        step: &GatheringEvent,
    ) -> Verdict {
        match step {
            GatheringEvent::RoundOpened { .. } => {
                self.held_in_round.clear();
                unheld(room)
            }
            GatheringEvent::PieceGiven { holder, .. } => {
                unheld(room)?;
                if !self.held_in_round.insert(holder.clone()) {
                    return Err(format!("{holder} holds the piece twice in a round"));
                }
                let speaker = room
                    .members
                    .get(holder)
                    .is_some_and(|member| member.part == Some(SeatRole::Speaker));
                if !speaker || room.muted.contains(holder) || scene.offline.contains(holder) {
                    return Err(format!("{holder} cannot hold the piece"));
                }
                Ok(())
            }
            GatheringEvent::PieceReleased { holder, .. }
                if room.holder.as_ref() != Some(holder) =>
            {
                Err(format!("{holder} lets go of the piece that {:?} holds", room.holder))
            }
            GatheringEvent::Opened { .. }
            | GatheringEvent::Beat { .. }
            | GatheringEvent::LastWordAsked
            | GatheringEvent::PassAsked { .. }
            | GatheringEvent::PieceReleased { .. }
            | GatheringEvent::HarvestAsked { .. }
            | GatheringEvent::Harvested { .. }
            | GatheringEvent::Closed { .. } => Ok(()),
        }
    }
}

fn unheld(room: &ConversationModel) -> Verdict {
    match &room.holder {
        None => Ok(()),
        Some(holder) => Err(format!("{holder} still holds the piece")),
    }
}

fn heard(room: &ConversationModel, from: &ParticipantId) -> Verdict {
    let server = from.as_str() == ParticipantId::MOOTHALL;
    let harvests = room.harvesting
        && room.members.get(from).is_some_and(|member| member.part == Some(SeatRole::Harvester));
    if server || harvests || room.holder.as_ref() == Some(from) {
        return Ok(());
    }
    Err(format!("{from} is heard while {:?} holds the piece", room.holder))
}
