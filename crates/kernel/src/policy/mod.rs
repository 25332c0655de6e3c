//! Floor policies: a closed set of stateless functions over the conversation's state, one small
//! file each. Events put into the state what a policy has to remember.
//!
//! Each difference between policies is a column of [`Rules`], and each policy is a row of that
//! table. The rest of the kernel asks the table and names no policy.
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
use crate::model::state::{Conversation, Turn, WakingWords};

/// Most mentions in an agent's message that have an effect.
const AGENT_MENTIONS_MAX: usize = 5;

/// The row of a policy: stateless functions and fixed settings.
pub(crate) struct Rules {
    /// Returns the agents that some words would ask. Decisions and previews share it.
    pub(crate) nominate: fn(&Conversation, &WakingWords) -> Nomination,
    /// Returns the agents that react to the replies of the round, or `None` if no agent does.
    pub(crate) react: fn(&Conversation) -> Option<Reactions>,
    /// True if a person's message waits for earlier ones.
    pub(crate) queues: fn(&Conversation) -> bool,
    /// Handles a person's message that does not wait.
    pub(crate) on_posted: fn(&mut Decider<'_>, &WakingWords),
    /// Handles a message taken from the queue. The policy may have changed since it was queued.
    pub(crate) on_taken: fn(&mut Decider<'_>, &WakingWords),
    /// Handles an agent's message, or a person's words in a gathering.
    pub(crate) on_reply: fn(&mut Decider<'_>, &WakingWords),
    /// Moves the floor one step. Returns false if the floor has to wait.
    pub(crate) step: fn(&mut Decider<'_>) -> bool,
    /// The reason recorded for agents that may pass.
    pub(crate) asks_as: TurnReason,
    /// True if words at `max_depth` grant no turns. (Ruling 10.)
    pub(crate) counts_depth: bool,
    /// True if an agent that a reply names is asked before the polled agents, and must answer.
    /// (Ruling 8.)
    pub(crate) heeds_names: bool,
    /// Treatment of an agent's words that answer no turn.
    pub(crate) unsolicited: UnsolicitedRule,
    /// Meaning of a reply without words.
    pub(crate) empty_reply: EmptyReply,
    /// True if an agent that has just spoken is asked later. (Ruling 10.)
    pub(crate) cools: bool,
    /// True if habitual passers are polled less often. (Ruling 12.)
    pub(crate) spares_habitual: bool,
    /// Form of the prompts of members that hear frames.
    pub(crate) frames: Frames,
    /// True if an agent gets a turn for the outcome of its request.
    pub(crate) tells_outcomes: bool,
    /// True if a message with `/ask` also goes to the agents that it does not ask.
    pub(crate) tells_unasked: bool,
    /// True if all words go on to all other members.
    pub(crate) passes_on: bool,
    /// True if gatherings are held under this policy.
    pub(crate) gathers: bool,
    /// Returns the policy's part of what a participant is told about the conversation, as whole
    /// lines.
    pub(crate) introduction: fn(&Conversation, &ParticipantId) -> Option<String>,
    /// Returns the policy's own request for a turn, as whole lines. `None` stands for the usual
    /// words of the turn's reason.
    pub(crate) request: fn(&Conversation, &Turn) -> Option<String>,
    /// Returns the announcement of a gathering's step to all members, as whole lines.
    pub(crate) announcement: fn(&Conversation, &GatheringEvent) -> Option<String>,
}

/// The form of the prompts of members that hear frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// The account that all other participants get.
    None,
    /// Each other's words in frames. The first prompt begins with the policy's introduction.
    /// (Ruling 26.)
    Alone,
    /// Frames as in `Alone`, followed by the request. (Ruling 30.)
    WithRequest,
}

/// The treatment of an agent's words that answer no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnsolicitedRule {
    /// The words are posted at the depth of what they reply to plus one.
    Free,
    /// As `Free`, within the limits of depth and of replies to the message that is being answered.
    Charged,
}

/// The meaning of a reply without words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmptyReply {
    /// The agent passes.
    Passes,
    /// The turn fails.
    Fails,
}

/// The agents that a policy would ask about some words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nomination {
    /// Agents that must answer, in order.
    pub forced: Vec<ParticipantId>,
    /// Agents that may pass, in order.
    pub polled: Vec<ParticipantId>,
    /// Agents that are not asked although they could be, each with the reason.
    pub others: Vec<(ParticipantId, WhyNot, &'static str)>,
    /// Maximum number of visible replies to the message.
    pub cap: u32,
    /// True if only agents that a reply names may react.
    pub targeted: bool,
}

/// The agents that a policy asks to react.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reactions {
    /// Agents that must react, in order.
    pub(crate) forced: Vec<ParticipantId>,
    /// Agents that may pass, in order.
    pub(crate) polled: Vec<ParticipantId>,
}

/// Returns the row of a policy.
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
    /// True if only gatherings bring this policy: it cannot be chosen without one.
    pub fn is_of_gatherings(&self) -> bool {
        rules(self.name).gathers
    }
}

impl Conversation {
    /// Returns the row of the policy in force.
    pub(crate) fn rules(&self) -> &'static Rules {
        rules(self.policy.name)
    }

    /// True if the policy caps the replies to a message.
    pub(crate) fn counts_replies(&self) -> bool {
        self.rules().unsolicited == UnsolicitedRule::Charged
    }

    /// True if a message waits for earlier ones. It waits during a round, and by the policy's own
    /// rule. A message with `/ask` also waits in a pause and while other messages wait.
    pub(crate) fn queues(&self, asks: &[ParticipantId]) -> bool {
        let floor = &self.floor;
        let in_order = !asks.is_empty() && (self.paused || !floor.queue.is_empty());
        floor.round.is_some() || in_order || (self.rules().queues)(self)
    }
}

/// Returns the invited agents other than the speaker, in invitation order.
fn others(state: &Conversation, speaker: &ParticipantId) -> Vec<ParticipantId> {
    state.agents().filter(|agent| agent.id != *speaker).map(|agent| agent.id.clone()).collect()
}

/// Returns the agents that some words address: the one in `to`, then the mentioned ones in order,
/// then the author of the message that a person replies to. (Ruling 15.)
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
