//! `mention_only`: only addressed agents answer. (Ruling 16.)

use crate::model::event::{Recipient, TurnReason};
use crate::model::state::{Conversation, WakingWords};
use crate::policy::{
    AGENT_MENTIONS_MAX, EmptyReply, Frames, Nomination, Rules, UnsolicitedRule, addressed, others,
};

pub(crate) static RULES: Rules = Rules {
    nominate,
    react: |_| None,
    queues: |state| state.paused || !state.floor.queue.is_empty(),
    on_posted: |decider, spoken| decider.grant_all(spoken),
    on_taken: |decider, spoken| decider.grant_all(spoken),
    on_reply: |decider, spoken| decider.grant_all(spoken),
    step: |decider| decider.take_queued(),
    asks_as: TurnReason::Polled,
    counts_depth: true,
    heeds_names: false,
    unsolicited: UnsolicitedRule::Free,
    empty_reply: EmptyReply::Fails,
    cools: false,
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

/// Returns the addressed agents as forced. The discussion's settings limit the number of agents
/// that an agent's words address. With `invited_auto`, all agents are polled about a person's words
/// to all that address no agent.
fn nominate(state: &Conversation, spoken: &WakingWords) -> Nomination {
    let mut forced = addressed(state, spoken);
    if !spoken.human {
        let direct = matches!(spoken.to, Recipient::One(_));
        let heard = state.discussion.on && state.discussion.allow_agent_mentions;
        // Without discussion an agent wakes only the one in `to`, which comes first. (Ruling 16.)
        forced.truncate(if heard { AGENT_MENTIONS_MAX } else { usize::from(direct) });
    }
    let auto =
        spoken.human && state.invited_auto && forced.is_empty() && spoken.to == Recipient::All;
    let polled = if auto { others(state, &spoken.cause.from) } else { Vec::new() };
    Nomination { forced, polled, cap: u32::MAX, ..Nomination::default() }
}
