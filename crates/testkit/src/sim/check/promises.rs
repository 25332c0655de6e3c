//! What each policy promises, said a second time: by other code than the kernel's table, so that
//! one can find a fault of the other.

use std::collections::BTreeSet;

use moothall_kernel::event::{Posted, Recipient};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Kind;
use moothall_kernel::policy::PolicyName;

use super::ConversationModel;

/// So many mentions of an agent's message are acted on.
const AGENT_MENTIONS: usize = 5;

/// What a policy promises.
pub(crate) struct Promise {
    /// The agents that some words ask. The second are those whom they name.
    pub(super) asks: fn(&ConversationModel, &Posted, Vec<ParticipantId>) -> BTreeSet<ParticipantId>,
    /// Rounds and depths bound what agents say unasked.
    pub(super) counts_replies: bool,
    /// Nobody is asked about words beyond the limit of depth.
    pub(super) counts_depth: bool,
    /// Guards hold what agents say to each other.
    pub(super) guarded: bool,
    /// Words go on to whoever has not heard them yet, with the newest of them.
    pub(super) linked: bool,
    /// A person who names more agents than the settings allow gets an answer of each.
    pub(super) raises_cap: bool,
    /// Gatherings can be held under it.
    pub(crate) circle: bool,
    /// How many conversations of a hundred have it in a simulation.
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

/// What the policy of that name promises.
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

/// A person's words ask every other agent.
fn everyone(
    room: &ConversationModel,
    posted: &Posted,
    _: Vec<ParticipantId>,
) -> BTreeSet<ParticipantId> {
    let others = room.agents().filter(|id| posted.kind == Kind::Human && **id != posted.from);
    others.cloned().collect()
}

/// Words ask those whom they name, an agent's only as far as the switches say.
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
