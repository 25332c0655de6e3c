//! `open`: each member's words go to all other members, except those that heard them elsewhere.
//! Each agent among them may answer. (Ruling 18.)

use crate::decide::Decider;
use crate::model::event::{TurnKind, TurnReason};
use crate::model::ids::ParticipantId;
use crate::model::state::{Conversation, Turn, WakingWords};
use crate::policy::{EmptyReply, Frames, Nomination, Rules, UnsolicitedRule, others};
use crate::read::frames::headed;
use crate::read::templates::{LINK_MEMBERS, LINK_SILENCE, LINKED};
use crate::text::pass::PASS;

pub(crate) static RULES: Rules = Rules {
    nominate,
    react: |_| None,
    queues: |_| false,
    // `step_open` grants the turns: it finds the members that have not heard the newest words.
    on_posted: |decider, spoken| decider.tell_held(spoken),
    on_taken: |decider, spoken| decider.link_all(spoken),
    on_reply: |decider, _| decider.guard_exchanges(),
    step: |decider| decider.take_queued() || decider.step_open(),
    asks_as: TurnReason::Link,
    counts_depth: false,
    heeds_names: false,
    unsolicited: UnsolicitedRule::Free,
    empty_reply: EmptyReply::Passes,
    cools: false,
    spares_habitual: false,
    frames: Frames::Alone,
    tells_outcomes: true,
    tells_unasked: true,
    passes_on: true,
    gathers: false,
    introduction,
    request: |_, turn| (turn.why == TurnReason::Link).then(|| LINKED.fill(&[]) + "\n"),
    announcement: |_, _| None,
};

/// Returns all agents as polled, except the author and those that heard the words elsewhere.
fn nominate(state: &Conversation, spoken: &WakingWords) -> Nomination {
    let polled = others(state, &spoken.author).into_iter();
    let polled = polled.filter(|id| !spoken.elsewhere.contains(id)).collect();
    Nomination { polled, cap: u32::MAX, ..Nomination::default() }
}

/// Returns the members of a link and a line that silence is an answer. Without that line, models
/// thank each other for thanks. (Ruling 26.)
fn introduction(state: &Conversation, you: &ParticipantId) -> Option<String> {
    let own = state.participant(you).filter(|_| state.is_link())?;
    let others = state.participants().iter().filter(|member| member.id != *you);
    let others: Vec<String> = others.map(|member| headed(state, &member.id)).collect();
    let members = LINK_MEMBERS.fill(&[&headed(state, &own.id), &others.join(", ")]);
    (!others.is_empty()).then(|| format!("{members}\n{}\n", LINK_SILENCE.fill(&[PASS])))
}

impl Decider<'_> {
    /// Grants turns for a message that waited in the queue to all nominated agents that may be
    /// woken. `step_open` would not: it looks only for words after the newest position that an
    /// agent was shown, and a message from the queue stands before that position. Agents that the
    /// message asks by `/ask` get their turns from its round.
    fn link_all(&mut self, spoken: &WakingWords) {
        for id in nominate(self.state, spoken).polled {
            if spoken.asks.contains(&id) {
                continue;
            }
            if self.can_take_turns(&id, &spoken.cause) && self.may_wake(spoken, &id) {
                self.grant(&id, TurnReason::Link, TurnKind::Reply, true, &spoken.cause);
            }
        }
    }

    /// If a guard holds and a person's words are unproven, records for each agent that the words do
    /// not wake the agent.
    fn tell_held(&mut self, spoken: &WakingWords) {
        for id in nominate(self.state, spoken).polled {
            if self.unable(&id).is_none() {
                // The result is not used, because `step_open` grants the turns. The call records
                // the reason.
                self.may_wake(spoken, &id);
            }
        }
    }

    /// Grants a turn to the next agent that has not heard the newest words of another member.
    /// Returns false if the floor has to wait.
    fn step_open(&mut self) -> bool {
        if self.state.guards.held.is_some() {
            return false;
        }
        let owed = |id: &ParticipantId, shown| {
            let cause = self.state.newest_not_by(id).filter(|cause| cause.seq > shown)?;
            let own = |turn: &&Turn| turn.participant == *id && !turn.is_hosted();
            let asked = self.state.open_turns().filter(own).any(|turn| turn.cause.seq >= cause.seq);
            (!asked && self.unable(id).is_none()).then(|| cause.clone())
        };
        let next = self
            .state
            .agents()
            .find_map(|agent| owed(&agent.id, agent.shown).map(|cause| (agent.id.clone(), cause)));
        let Some((id, cause)) = next else { return false };
        if cause.unproven || !self.state.is_human(&cause.from) {
            // The limits may have been lowered since the words were said.
            self.guard_exchanges();
            if self.state.guards.held.is_some() {
                return true;
            }
        }
        self.grant(&id, TurnReason::Link, TurnKind::Reply, true, &cause);
        true
    }
}
