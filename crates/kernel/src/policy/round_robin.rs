//! `round_robin`: a round asks each agent once, in the order of invitation, beginning after the
//! last speaker. Agents that an earlier round passed over come first, and agents in their cooldown
//! come last. Mentions do not change the order. (Ruling 17.)

use crate::model::event::TurnReason;
use crate::model::state::{Conversation, WakingWords};
use crate::policy::rounds::must_wait;
use crate::policy::{EmptyReply, Frames, Nomination, Rules, UnsolicitedRule, others};

pub(crate) static RULES: Rules = Rules {
    nominate,
    react: |_| None,
    queues: must_wait,
    on_posted: |decider, spoken| decider.open_round(spoken),
    on_taken: |decider, spoken| decider.open_round(spoken),
    on_reply: |_, _| {},
    step: |decider| decider.step_round(),
    asks_as: TurnReason::Round,
    counts_depth: true,
    heeds_names: false,
    unsolicited: UnsolicitedRule::Charged,
    empty_reply: EmptyReply::Fails,
    cools: true,
    spares_habitual: false,
    frames: Frames::None,
    tells_outcomes: true,
    tells_unasked: false,
    passes_on: false,
    gathers: false,
    introduction: |_, _| None,
    request: |_, _| None,
    announcement: |_, _| None,
};

/// Returns all agents but the author as polled: first those that an earlier round passed over, then
/// the others, both in the order that begins after the last speaker.
fn nominate(state: &Conversation, spoken: &WakingWords) -> Nomination {
    let mut polled = others(state, &spoken.cause.from);
    let last = state.floor.last_speaker.as_ref();
    if let Some(at) = polled.iter().position(|id| Some(id) == last) {
        polled.rotate_left(at + 1);
    }
    let polled = state.polled_first(polled);
    Nomination { polled, cap: state.policy.max_agent_turns_per_message, ..Nomination::default() }
}
