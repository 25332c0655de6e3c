//! What was said last, for those who are told of it.

use serde::{Deserialize, Serialize};

use crate::model::event::Cause;
use crate::model::ids::ParticipantId;
use crate::model::state::Conversation;

/// Something that was said, and who need not be told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contribution {
    pub(crate) cause: Cause,
    pub(crate) author: ParticipantId,
}

/// A contribution that some participants hear in another conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Aside {
    pub(crate) said: Contribution,
    /// The participants that hear it elsewhere.
    pub(crate) heard: Vec<ParticipantId>,
}

impl Aside {
    /// True if a participant is told of it here.
    fn is_for(&self, id: &ParticipantId) -> bool {
        self.said.author != *id && !self.heard.contains(id)
    }
}

impl Conversation {
    /// Returns the newest contribution by another participant that is to be told here.
    pub(crate) fn newest_not_by(&self, id: &ParticipantId) -> Option<&Cause> {
        let newest = self
            .latest
            .as_ref()
            .filter(|latest| latest.author != *id)
            .or(self.latest_other.as_ref());
        let aside = self.asides.iter().rev().find(|aside| aside.is_for(id));
        let told = newest.into_iter().chain(aside.map(|aside| &aside.said));
        told.map(|contribution| &contribution.cause).max_by_key(|cause| cause.seq)
    }

    /// Notes a contribution that some participants hear in another conversation. Forgets those
    /// that are not the newest for any agent, so at most one more is kept than there are agents.
    pub(crate) fn note_aside(&mut self, aside: Aside) {
        let mut untold: Vec<_> = self.agents().map(|agent| agent.id.clone()).collect();
        untold.retain(|id| !aside.is_for(id));
        let mut newest_first = vec![aside];
        for earlier in std::mem::take(&mut self.asides).into_iter().rev() {
            let before = untold.len();
            untold.retain(|id| !earlier.is_for(id));
            if untold.len() < before {
                newest_first.push(earlier);
            }
        }
        newest_first.reverse();
        self.asides = newest_first;
    }
}
