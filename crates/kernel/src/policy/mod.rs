//! Floor policies: one closed set, one small file each, stateless functions over the conversation's
//! state. What a policy must remember is in the state, put there by events.
//!
//! Everything that is different under one policy and another is a column of [`Rules`], and each
//! policy is a row of that table. The rest of the kernel asks the table and names no policy.
//! (`docs/decisions/0027-policies-are-rows-runtimes-are-abilities.md`)

mod rounds;
mod hybrid;
mod mention_only;
mod round_robin;
mod open;
mod talking_piece;

pub use crate::model::settings::{KEYS, Policy, PolicyFault, PolicyName};

use crate::decide::Decider;
use crate::model::event::{Recipient, TurnReason, WhyNot};
use crate::model::gathering::GatheringEvent;
use crate::model::ids::ParticipantId;
use crate::model::state::{Conversation, WakingWords, Turn};

/// So many mentions of an agent's message are acted on.
const AGENT_MENTIONS_MAX: usize = 5;

/// What a policy decides: functions without a state of their own, and what is fixed.
pub(crate) struct Rules {
    /// Whom some words would ask. The same function decides, and previews.
    pub(crate) nominate: fn(&Conversation, &WakingWords) -> Nomination,
    /// Who may react to the replies of the round, in an order that has those first who must;
    /// nothing where nobody does.
    pub(crate) react: fn(&Conversation) -> Option<Reactions>,
    /// Whether a person's message waits for its time.
    pub(crate) queues: fn(&Conversation) -> bool,
    /// A person said something that does not wait.
    pub(crate) on_posted: fn(&mut Decider<'_>, &WakingWords),
    /// The time of a message has come that waited, maybe under other rules.
    pub(crate) on_taken: fn(&mut Decider<'_>, &WakingWords),
    /// An agent said something.
    pub(crate) on_reply: fn(&mut Decider<'_>, &WakingWords),
    /// Moves the floor; false when it has to wait for somebody.
    pub(crate) step: fn(&mut Decider<'_>) -> bool,
    /// Why those are asked who may answer and need not.
    pub(crate) asks_as: TurnReason,
    /// Whether nobody is asked about words that are `max_depth` away from a person's. (Ruling 10.)
    pub(crate) counts_depth: bool,
    /// Whether an agent that a reply names comes before those who may speak, and must. (Ruling 8.)
    pub(crate) heeds_names: bool,
    /// What becomes of an agent's words that answer no turn.
    pub(crate) unsolicited: UnsolicitedRule,
    /// What a reply without any words is.
    pub(crate) empty_reply: EmptyReply,
    /// Whether somebody who has just spoken is asked later. (Ruling 10.)
    pub(crate) cools: bool,
    /// Whether habitual passers are spared some polls. (Ruling 12.)
    pub(crate) spares_habitual: bool,
    /// What members that hear frames are told.
    pub(crate) frames: Frames,
    /// Whether an agent is woken to hear what came of something that it had asked for.
    pub(crate) tells_outcomes: bool,
    /// Whether a message by which a person says who answers goes to the others as well.
    pub(crate) tells_unasked: bool,
    /// True if whatever is said goes on to all the others.
    pub(crate) passes_on: bool,
    /// Whether gatherings are held under it.
    pub(crate) gathers: bool,
    /// What it adds to what a participant is told about the conversation, as whole lines.
    pub(crate) introduction: fn(&Conversation, &ParticipantId) -> Option<String>,
    /// What it asks with a turn in words of its own, as whole lines; the words for its reason where
    /// it has none.
    pub(crate) request: fn(&Conversation, &Turn) -> Option<String>,
    /// What it tells everybody about a step of a gathering, as whole lines.
    pub(crate) announcement: fn(&Conversation, &GatheringEvent) -> Option<String>,
}

/// What members are told that hear each other's words in frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// An account like everybody else's.
    None,
    /// Each other's words in frames, and before the first what the policy says of the
    /// conversation. (Ruling 26.)
    Alone,
    /// The same, with what they are asked after it. (Ruling 30.)
    WithRequest,
}

/// What becomes of an agent's words that answer no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnsolicitedRule {
    /// They are said, at the depth of what they reply to plus one.
    Free,
    /// The same, within the limits of depth and of replies to the message that is being answered.
    Charged,
}

/// What a reply without any words is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmptyReply {
    /// Nothing to say.
    Passes,
    /// A failure.
    Fails,
}

/// Whom a policy would ask about some words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nomination {
    /// Who must answer, in order.
    pub forced: Vec<ParticipantId>,
    /// Who may, in order.
    pub polled: Vec<ParticipantId>,
    /// Who is not asked although it could be, and why.
    pub others: Vec<(ParticipantId, WhyNot, &'static str)>,
    /// The largest number of visible replies that the message gets.
    pub cap: u32,
    /// Only those named may react.
    pub targeted: bool,
}

/// Whom a policy asks to react.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reactions {
    /// Who must, in order.
    pub(crate) forced: Vec<ParticipantId>,
    /// Who may, in order.
    pub(crate) polled: Vec<ParticipantId>,
}

/// What the policy of that name decides.
pub(crate) const fn rules(name: PolicyName) -> &'static Rules {
    match name {
        PolicyName::Hybrid => &hybrid::RULES,
        PolicyName::MentionOnly => &mention_only::RULES,
        PolicyName::RoundRobin => &round_robin::RULES,
        PolicyName::Open => &open::RULES,
        PolicyName::TalkingPiece => &talking_piece::RULES,
    }
}

impl Policy {
    /// Whether gatherings bring it, and nobody chooses it for a conversation in which none is held.
    pub fn is_of_gatherings(&self) -> bool {
        rules(self.name).gathers
    }
}

impl Conversation {
    /// What the policy in force decides.
    pub(crate) fn rules(&self) -> &'static Rules {
        rules(self.policy.name)
    }

    /// Whether there are at most so many replies to a message.
    pub(crate) fn counts_replies(&self) -> bool {
        self.rules().unsolicited == UnsolicitedRule::Charged
    }

    /// Whether a message waits until others are dealt with. While a person has some answer one
    /// after the other, whatever is said waits.
    pub(crate) fn queues(&self, asks: &[ParticipantId]) -> bool {
        let floor = &self.floor;
        let in_order = !asks.is_empty() && (self.paused || !floor.queue.is_empty());
        floor.round.is_some() || in_order || (self.rules().queues)(self)
    }
}

/// Invited agents other than the speaker, in invitation order.
fn others(state: &Conversation, speaker: &ParticipantId) -> Vec<ParticipantId> {
    state.agents().filter(|agent| agent.id != *speaker).map(|agent| agent.id.clone()).collect()
}

/// The agents that some words address: the one in `to`, then those mentioned, in order, then whose
/// message a person replies to. (Ruling 15.)
fn addressed(state: &Conversation, spoken: &WakingWords) -> Vec<ParticipantId> {
    let to = match &spoken.to {
        Recipient::All => None,
        Recipient::One(id) => Some(id),
    };
    let mut found: Vec<ParticipantId> = Vec::new();
    for id in to.into_iter().chain(&spoken.mentions).chain(&spoken.replies_to) {
        let agent = state.participant(id).is_some_and(|p| p.takes_turns());
        if agent && *id != spoken.cause.from && !found.contains(id) {
            found.push(id.clone());
        }
    }
    found
}
