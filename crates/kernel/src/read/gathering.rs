//! A gathering as people see it: its progress, the holder of the piece, and the reader's own
//! prompts.

use crate::model::event::Guard;
use crate::model::gathering::Gathering;
use crate::model::ids::ParticipantId;
use crate::model::state::Conversation;
use crate::model::time::Timestamp;

/// A gathering as it is now, or was at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct GatheringView {
    /// Title of the conversation.
    pub title: String,
    /// State of the gathering, with only present speakers in its order. `None` until the gathering
    /// is opened.
    pub gathering: Option<Gathering>,
    /// Time of the next beat or of the end of the last word. `None` while the hold's clock stands
    /// still.
    pub next_beat_at: Option<Timestamp>,
    /// True if a person stopped the gathering. A resume continues it.
    pub stopped: bool,
    /// True if the gathering is closed, or was archived before it opened.
    pub is_over: bool,
    /// Seed message of the reader, if the reader is a member.
    pub seed: Option<String>,
    /// Pulse of the last beat, if the reader holds the piece.
    pub pulse: Option<String>,
}

impl Conversation {
    /// Returns the gathering as this participant sees it, or `None` if the conversation is not for
    /// one.
    pub fn gathering_for(&self, you: Option<&ParticipantId>) -> Option<GatheringView> {
        if !self.policy().is_of_gatherings() && self.newest_gathering().is_none() {
            return None;
        }
        let gathering = self.newest_gathering();
        let takes_part = |id: &&ParticipantId| {
            gathering.is_some_and(|one| one.members.iter().any(|member| member.id == **id))
        };
        let you = you.filter(takes_part);
        let tenure = self.gathering().and_then(|gathering| gathering.tenure.as_ref());
        let pulse = tenure
            .filter(|tenure| Some(&tenure.holder) == you && !tenure.pulse.is_empty())
            .map(|tenure| tenure.pulse.clone());
        let stands = self.is_paused() || self.holding_guard().is_some();
        Some(GatheringView {
            title: self.name().to_owned(),
            gathering: gathering.map(|gathering| {
                let order = self.to_come(gathering).cloned().collect();
                Gathering { order, ..gathering.clone() }
            }),
            next_beat_at: self.next_beat().filter(|_| tenure.is_some() && !stands),
            stopped: self.holding_guard() == Some(Guard::Stopped),
            is_over: gathering.map_or(self.is_archived(), |gathering| gathering.closed.is_some()),
            seed: you.and_then(|you| (self.rules().introduction)(self, you)),
            pulse,
        })
    }

    /// True if this participant holds the talking piece.
    pub fn has_piece(&self, id: &ParticipantId) -> bool {
        let tenure = self.gathering().and_then(|gathering| gathering.tenure.as_ref());
        tenure.is_some_and(|tenure| tenure.holder == *id)
    }
}
