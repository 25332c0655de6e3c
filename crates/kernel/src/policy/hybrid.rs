//! `hybrid`: addressed agents must answer, then the others may, then each may react once.
//! (Rulings 8 to 10.)

use crate::model::event::{Recipient, TurnReason, WhyNot};
use crate::model::ids::ParticipantId;
use crate::model::state::{Conversation, WakingWords};
use crate::policy::rounds::{is_news, may_be_asked, must_wait};
use crate::policy::{
    AGENT_MENTIONS_MAX, EmptyReply, Frames, Nomination, Reactions, Rules, UnsolicitedRule,
    addressed, others,
};

pub(crate) static RULES: Rules = Rules {
    nominate,
    react,
    queues: must_wait,
    on_posted: |decider, spoken| decider.open_round(spoken),
    on_taken: |decider, spoken| decider.open_round(spoken),
    on_reply: |_, _| {},
    step: |decider| decider.step_round(),
    asks_as: TurnReason::Polled,
    counts_depth: true,
    heeds_names: true,
    unsolicited: UnsolicitedRule::Charged,
    empty_reply: EmptyReply::Fails,
    cools: true,
    spares_habitual: true,
    frames: Frames::None,
    tells_outcomes: true,
    tells_unasked: false,
    passes_on: false,
    gathers: false,
    introduction: |_, _| None,
    request: |_, _| None,
    announcement: |_, _| None,
};

/// Returns the addressed agents as forced and the others as polled. If the message has a single
/// recipient, the others are not asked.
fn nominate(state: &Conversation, spoken: &WakingWords) -> Nomination {
    let forced = addressed(state, spoken);
    let targeted = matches!(spoken.to, Recipient::One(_));
    let mut rest = others(state, &spoken.cause.from);
    rest.retain(|id| !forced.contains(id));
    let named = u32::try_from(forced.len()).unwrap_or(u32::MAX);
    // A message that names more agents than the cap gets an answer from each. (Ruling 9.)
    let cap = state.policy.max_agent_turns_per_message.max(named);
    if targeted {
        let others = rest
            .into_iter()
            .map(|id| (id, WhyNot::Skipped, "the message addresses somebody else"))
            .collect();
        return Nomination { forced, polled: Vec::new(), others, cap, targeted };
    }
    Nomination { forced, polled: state.polled_first(rest), others: Vec::new(), cap, targeted }
}

/// Returns the agents with another agent's visible reply since their own last turn. Agents that a
/// reply names come first, and must react. Agents whose turn for this message broke off or still
/// runs are left out.
fn react(state: &Conversation) -> Option<Reactions> {
    let round = state.floor.round.as_ref()?;
    let may_react = !round.reacting
        && round.replies.iter().any(|reply| reply.cause.depth < state.policy.max_depth);
    if !may_react {
        return None;
    }
    let has_news = |id: &ParticipantId| round.replies.iter().any(|reply| is_news(state, reply, id));
    let mut forced: Vec<ParticipantId> = Vec::new();
    for reply in &round.replies {
        for id in reply.mentions.iter().take(AGENT_MENTIONS_MAX) {
            let agent = state.participant(id).is_some_and(|p| p.takes_turns());
            if agent && !forced.contains(id) && is_news(state, reply, id) && may_be_asked(state, id)
            {
                forced.push(id.clone());
            }
        }
    }
    let room = !state.floor.is_used_up();
    let asks = |id: &ParticipantId| {
        let is_left_out = forced.contains(id) || round.spared.contains(id);
        room && !round.targeted && !is_left_out && may_be_asked(state, id) && has_news(id)
    };
    let polled: Vec<_> = state.agents().map(|agent| agent.id.clone()).filter(asks).collect();
    (!forced.is_empty() || !polled.is_empty()).then_some(Reactions { forced, polled })
}
