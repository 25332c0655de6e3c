//! The promises of each policy, stated a second time: by other code than the kernel's table, so
//! that each can reveal a fault of the other.

use std::collections::BTreeSet;

use moothall_kernel::event::{Posted, Recipient};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Kind;
use moothall_kernel::policy::PolicyName;

use super::ConversationModel;

/// Maximum number of mentions in an agent's message that take effect.
const AGENT_MENTIONS: usize = 5;

/// The promises of a policy.
pub(crate) struct Promise {
    /// Returns the agents that some words ask. The last argument has the agents that they name.
    pub(super) asks: fn(&ConversationModel, &Posted, Vec<ParticipantId>) -> BTreeSet<ParticipantId>,
    /// True if rounds and depths bound the unasked replies of agents.
    pub(super) counts_replies: bool,
    /// True if words beyond the depth limit ask no agent.
    pub(super) counts_depth: bool,
    /// True if guards hold the words that agents say to each other.
    pub(super) guarded: bool,
    /// True if words go to each agent that has not heard them yet, together with the newest ones.
    pub(super) linked: bool,
    /// True if a person who names more agents than the settings allow gets an answer of each.
    pub(super) raises_cap: bool,
    /// True if gatherings can be held under the policy.
    pub(crate) circle: bool,
    /// Share of conversations with this policy in a simulation, in percent.
    pub(crate) weight: u64,
}

const NOBODY: Promise = Promise {
    asks: |_, _, _| BTreeSet::new(),
    counts_replies: false,
    counts_depth: false,
    guarded: false,
    linked: false,
    raises_cap: false,
    circle: false,
    weight: 0,
};

/// Returns the promises of a policy.
pub(crate) const fn promise(name: PolicyName) -> Promise {
    match name {
        PolicyName::Hybrid => Promise {
            asks: everyone,
            counts_replies: true,
            counts_depth: true,
            raises_cap: true,
            weight: 35,
            ..NOBODY
        },
        PolicyName::MentionOnly => {
            Promise { asks: named, counts_depth: true, guarded: true, weight: 25, ..NOBODY }
        }
        PolicyName::RoundRobin => Promise {
            asks: everyone,
            counts_replies: true,
            counts_depth: true,
            weight: 12,
            ..NOBODY
        },
        PolicyName::Open => {
            Promise { asks: everyone, guarded: true, linked: true, weight: 14, ..NOBODY }
        }
        PolicyName::TalkingPiece => Promise { circle: true, weight: 14, ..NOBODY },
    }
}

/// Returns all other agents for a person's words.
fn everyone(
    room: &ConversationModel,
    posted: &Posted,
    _: Vec<ParticipantId>,
) -> BTreeSet<ParticipantId> {
    let others = room.agents().filter(|id| posted.kind == Kind::Human && **id != posted.from);
    others.cloned().collect()
}

/// Returns the named agents. For an agent's words, the switches limit them.
fn named(
    room: &ConversationModel,
    posted: &Posted,
    mut named: Vec<ParticipantId>,
) -> BTreeSet<ParticipantId> {
    let human = posted.kind == Kind::Human;
    if human
        && named.is_empty()
        && room.invited_auto
        && posted.to == Recipient::All
        && !posted.queued
    {
        return everyone(room, posted, named);
    }
    if !human {
        let direct = matches!(posted.to, Recipient::One(_));
        named.truncate(if room.discussion { AGENT_MENTIONS } else { usize::from(direct) });
    }
    named.into_iter().collect()
}
