//! A gathering as people look at it: where it is, who holds the piece, and what each is told.

use crate::model::event::Guard;
use crate::model::gathering::Gathering;
use crate::model::ids::ParticipantId;
use crate::model::state::Conversation;
use crate::model::time::Timestamp;

/// A gathering as it is now, or was at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct GatheringView {
    /// The title of its conversation.
    pub title: String,
    /// How it stands, with those to come who are still here; nothing while those who take part are
    /// still being brought.
    pub gathering: Option<Gathering>,
    /// When the next beat comes, or the time for the last word ends; nothing while that stands
    /// still.
    pub next_beat_at: Option<Timestamp>,
    /// A person stopped it: it goes on when somebody resumes.
    pub stopped: bool,
    /// Nothing more happens here: it is closed, or it never began.
    pub is_over: bool,
    /// The seed message of the one who asks; nothing for somebody who does not take part.
    pub seed: Option<String>,
    /// What went on at the last beat, where the one who asks holds the piece.
    pub pulse: Option<String>,
}

impl Conversation {
    /// How its gathering is, for this participant; nothing where the conversation is for none.
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
        let stands = self.is_paused() || self.held().is_some();
        Some(GatheringView {
            title: self.name().to_owned(),
            gathering: gathering.map(|gathering| {
                let order = self.to_come(gathering).cloned().collect();
                Gathering { order, ..gathering.clone() }
            }),
            next_beat_at: self.next_beat().filter(|_| tenure.is_some() && !stands),
            stopped: self.held() == Some(Guard::Stopped),
            is_over: gathering.map_or(self.is_archived(), |gathering| gathering.closed.is_some()),
            seed: you.and_then(|you| (self.rules().introduction)(self, you)),
            pulse,
        })
    }

    /// Whether somebody holds the talking piece.
    pub fn has_piece(&self, id: &ParticipantId) -> bool {
        let tenure = self.gathering().and_then(|gathering| gathering.tenure.as_ref());
        tenure.is_some_and(|tenure| tenure.holder == *id)
    }
}
