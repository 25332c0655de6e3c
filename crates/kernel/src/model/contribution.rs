//! The newest contributions, for the agents that hear them.

use serde::{Deserialize, Serialize};

use crate::model::event::Cause;
use crate::model::ids::ParticipantId;

/// A contribution, and the participant who knows it already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contribution {
    pub(crate) cause: Cause,
    pub(crate) author: ParticipantId,
}

/// A contribution that some participants hear in another conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Aside {
    pub(crate) said: Contribution,
    /// The participants that hear it in the other conversation.
    pub(crate) heard: Vec<ParticipantId>,
}

impl Aside {
    /// True if a participant hears the contribution here.
    fn is_for(&self, id: &ParticipantId) -> bool {
        self.said.author != *id && !self.heard.contains(id)
    }
}

/// Asides, oldest first: the newest one, and for each agent the newest that it hears here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asides(pub(crate) Vec<Aside>);

impl Asides {
    /// Adds the newest aside. Drops asides that are not the newest for any of the agents, so at
    /// most one more aside remains than there are agents.
    pub(crate) fn note(&mut self, newest: Aside, agents: Vec<ParticipantId>) {
        let mut remaining = agents;
        remaining.retain(|id| !newest.is_for(id));
        let mut newest_first = vec![newest];
        for earlier in std::mem::take(&mut self.0).into_iter().rev() {
            let before = remaining.len();
            remaining.retain(|id| !earlier.is_for(id));
            if remaining.len() < before {
                newest_first.push(earlier);
            }
        }
        newest_first.reverse();
        self.0 = newest_first;
    }

    /// Returns the newest aside that a participant hears here.
    pub(crate) fn newest_for(&self, id: &ParticipantId) -> Option<&Contribution> {
        self.0.iter().rev().find(|aside| aside.is_for(id)).map(|aside| &aside.said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{EventId, Seq};
    use crate::model::time::Timestamp;

    fn aside(seq: u64, author: &str, heard: &[&str]) -> Aside {
        let id = EventId::of(&"link".into(), Seq(seq), Timestamp::default());
        let cause = Cause { seq: Seq(seq), id, from: "user".into(), depth: 1, unproven: true };
        let said = Contribution { cause, author: author.into() };
        Aside { said, heard: heard.iter().map(|id| (*id).into()).collect() }
    }

    #[test]
    fn no_more_are_kept_than_each_agent_needs() {
        let agents = ["a", "b", "c"];
        let mut asides = Asides::default();
        for seq in 0..60 {
            let author = agents[seq as usize % 3];
            let heard = agents[(seq / 3) as usize % 3];
            asides.note(aside(seq, author, &[heard]), agents.map(Into::into).to_vec());
            assert!(asides.0.len() <= agents.len() + 1);
        }
        let newest = |id: &str| asides.newest_for(&id.into()).map(|said| said.cause.seq);
        assert_eq!(agents.map(newest), [Some(Seq(59)), Some(Seq(56)), Some(Seq(58))]);
    }
}
