//! Floor policies: one closed set, one small file each, stateless functions over the conversation's state.
//! What a policy must remember is in the state, put there by events.

mod config;
mod hybrid;
mod mention_only;
mod round_robin;
mod talking_piece;

pub use config::{KEYS, Policy, PolicyFault, PolicyName};
pub(crate) use hybrid::is_news;

use crate::event::WhyNot;
use crate::ids::ParticipantId;
use crate::state::{Conversation, Spoken};

/// Whom a policy would ask about some words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nomination {
    /// Who must answer, in order.
    pub forced: Vec<ParticipantId>,
    /// Who may, in order.
    pub polled: Vec<ParticipantId>,
    /// Who is not asked although it could be, and why.
    pub others: Vec<(ParticipantId, WhyNot, &'static str)>,
    /// Most visible replies.
    pub cap: u32,
    /// Only those named may react.
    pub targeted: bool,
}

/// Whom the policy in force would ask. The same function decides, and previews.
pub(crate) fn nominate(state: &Conversation, spoken: &Spoken) -> Nomination {
    match state.policy.name {
        PolicyName::Hybrid => hybrid::nominate(state, spoken),
        PolicyName::MentionOnly => mention_only::nominate(state, spoken),
        PolicyName::RoundRobin => round_robin::nominate(state, spoken),
        PolicyName::Open => Nomination { polled: others(state, &spoken.author), cap: u32::MAX, ..Nomination::default() },
        PolicyName::TalkingPiece => Nomination::default(),
    }
}

/// Who may react to the replies of the round, if the policy has a reactive round and it has not been.
pub(crate) fn react(state: &Conversation) -> Option<(Vec<ParticipantId>, Vec<ParticipantId>)> {
    match state.policy.name {
        PolicyName::Hybrid => hybrid::react(state),
        PolicyName::MentionOnly | PolicyName::RoundRobin | PolicyName::Open | PolicyName::TalkingPiece => None,
    }
}

/// Invited agents other than the speaker, in invitation order.
fn others(state: &Conversation, speaker: &ParticipantId) -> Vec<ParticipantId> {
    state.agents().filter(|agent| agent.id != *speaker).map(|agent| agent.id.clone()).collect()
}

/// The agents that some words address: the one in `to`, then those mentioned, in order.
fn addressed(state: &Conversation, spoken: &Spoken) -> Vec<ParticipantId> {
    let to = match &spoken.to {
        crate::event::To::All => None,
        crate::event::To::One(id) => Some(id),
    };
    let mut found: Vec<ParticipantId> = Vec::new();
    for id in to.into_iter().chain(&spoken.mentions) {
        let agent = state.participant(id).is_some_and(|p| p.is_agent());
        if agent && *id != spoken.cause.from && !found.contains(id) {
            found.push(id.clone());
        }
    }
    found
}
