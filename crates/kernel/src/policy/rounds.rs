//! Rounds: agents answer a person's message one after the other, and the next message waits until
//! all were asked. `hybrid` and `round_robin` use rounds and differ in the agents they ask.

use crate::decide::Decider;
use crate::model::event::{Cause, Event, TurnKind, TurnReason, WhyNot};
use crate::model::ids::ParticipantId;
use crate::model::participant::Participant;
use crate::model::settings::COOLDOWN_MAX;
use crate::model::state::{Conversation, Reply, WakingWords};
use crate::model::time::Timestamp;
use crate::planted::{self, Bug};
use crate::policy::{AGENT_MENTIONS_MAX, Nomination, Reactions};

/// Numbers of passes in a row, each with the number of polls that are skipped before the next one,
/// longest streak first: three of four polls from 10 passes on, every second poll from 5 on.
/// (Ruling 12.)
const HABITUAL: [(u32, u32); 2] = [(10, 3), (Participant::HABIT_PASSES, 1)];

/// True if a message has to wait for earlier ones or for the end of a pause. (Ruling 14.)
pub(crate) fn must_wait(state: &Conversation) -> bool {
    state.paused || state.floor.round.is_some() || !state.floor.queue.is_empty()
}

/// True if a reply is another agent's, newer than all that this participant was shown, and shallow
/// enough for a reaction.
pub(crate) fn is_news(state: &Conversation, reply: &Reply, id: &ParticipantId) -> bool {
    let unseen =
        state.participant(id).is_some_and(|participant| reply.cause.seq > participant.shown);
    unseen && reply.cause.from != *id && reply.cause.depth < state.policy.max_depth
}

/// True if an agent may be asked again about the round's message. Its turn for the message must not
/// be open, and must not have failed, expired or been cancelled by a person. (Ruling 8.) Agents
/// that the cap refused or that reacted already are not asked either.
pub(crate) fn may_be_asked(state: &Conversation, id: &ParticipantId) -> bool {
    let Some(round) = &state.floor.round else { return true };
    let is_at_it =
        || state.open_turns().any(|turn| turn.participant == *id && round.is_worked_on_in(turn));
    !round.left_out.contains(id) && !round.reacted.contains(id) && !is_at_it()
}

impl Conversation {
    /// Returns the agents that replies name and that were not asked yet, each with the reply. The
    /// order is that of the replies, then that of the names. (Ruling 8.)
    pub(crate) fn named_by_replies(&self) -> Vec<(ParticipantId, Cause)> {
        let Some(round) =
            self.floor.round.as_ref().filter(|round| !round.reacting && self.rules().heeds_names)
        else {
            return Vec::new();
        };
        let mut named: Vec<(ParticipantId, Cause)> = Vec::new();
        for reply in round.replies.iter().filter(|reply| reply.cause.depth < self.policy.max_depth)
        {
            for id in reply.mentions.iter().take(AGENT_MENTIONS_MAX) {
                if round.polled.contains(id) && !named.iter().any(|(known, _)| known == id) {
                    named.push((id.clone(), reply.cause.clone()));
                }
            }
        }
        named
    }

    /// Returns the time at which the next agent may speak again, if the round waits for a cooldown
    /// only.
    pub(crate) fn cooling_until(&self) -> Option<Timestamp> {
        let round = self.floor.round.as_ref().filter(|round| round.current.is_none())?;
        let must = round
            .forced
            .front()
            .cloned()
            .or_else(|| self.named_by_replies().into_iter().next().map(|(id, _)| id));
        match must {
            Some(id) => self.cooled_at(&id),
            None => round.polled.iter().filter_map(|id| self.cooled_at(id)).min(),
        }
    }

    /// Returns the time at which the round asks the next agent, if it waits for time only.
    pub(crate) fn asks_next_at(&self) -> Option<Timestamp> {
        let round = self.floor.round.as_ref().filter(|round| round.current.is_none())?;
        let cooled = self.cooling_until();
        if round.forced.is_empty() && self.named_by_replies().is_empty() {
            return cooled.map(|at| self.round_ends_at().map_or(at, |end| end.min(at)));
        }
        cooled.max(self.crowded_until())
    }

    /// Moves to the front the agents that an earlier round passed over because its patience was
    /// used up. (Ruling 12.)
    pub(crate) fn polled_first(&self, mut polled: Vec<ParticipantId>) -> Vec<ParticipantId> {
        // `false` sorts first and the sort is stable, so agents keep their order within both
        // groups.
        polled.sort_by_key(|id| !self.floor.passed_over.contains(id));
        polled
    }

    /// Returns the end of an agent's cooldown.
    fn cooled_at(&self, id: &ParticipantId) -> Option<Timestamp> {
        let spoke_at = self.participant(id)?.spoke_at.filter(|_| self.rules().cools)?;
        Some(spoke_at + self.policy.cooldown.min(COOLDOWN_MAX))
    }

    /// True if an agent spoke too recently to be asked.
    pub(crate) fn is_cooling(&self, id: &ParticipantId, now: Timestamp) -> bool {
        self.cooled_at(id).is_some_and(|at| now < at)
    }

    /// True if a habitual passer is spared this poll.
    fn is_spared(&self, id: &ParticipantId) -> bool {
        let Some(participant) = self.participant(id) else { return false };
        let habit = HABITUAL.iter().find(|(passes, _)| participant.passes_in_a_row >= *passes);
        habit.is_some_and(|(_, spared)| participant.polls_skipped < *spared)
    }
}

impl Decider<'_> {
    /// Opens the round of a person's message, whose agents are asked one after the other.
    pub(crate) fn open_round(&mut self, spoken: &WakingWords) {
        let Nomination { forced, polled, others, cap, targeted } =
            (self.state.rules().nominate)(self.state, spoken);
        if forced.is_empty() && polled.is_empty() && others.is_empty() {
            return;
        }
        let cause = spoken.cause.clone();
        self.emit(Event::RoundOpened {
            cause: cause.clone(),
            cap,
            forced,
            polled,
            targeted,
            asked: false,
        });
        for (id, why_not, detail) in others {
            self.skip(&id, why_not, &cause, Some(detail));
        }
    }

    /// Opens a round of `/ask`: only the agents that a person names, in order, under every policy
    /// without gatherings. (Ruling 17.)
    pub(crate) fn open_asked(&mut self, spoken: &WakingWords) {
        let forced: Vec<_> =
            spoken.asks.iter().filter(|id| self.may_wake(spoken, id)).cloned().collect();
        if forced.is_empty() || self.state.rules().gathers || planted::has(Bug::AskForcesNobody) {
            return;
        }
        let asked = u32::try_from(forced.len()).unwrap_or(u32::MAX);
        let cap = self.state.policy.max_agent_turns_per_message.max(asked);
        let cause = spoken.cause.clone();
        self.emit(Event::RoundOpened {
            cause,
            cap,
            forced,
            polled: Vec::new(),
            targeted: true,
            asked: true,
        });
    }

    /// Moves the open round one step: asks or skips the next agent, opens the reactions, or closes
    /// the round. Without a round takes the next queued message. Returns false if the floor has to
    /// wait.
    pub(crate) fn step_round(&mut self) -> bool {
        let Some(round) = &self.state.floor.round else { return self.take_queued() };
        if round.current.is_some() {
            return false;
        }
        let cause = round.cause.clone();
        let forced = round.forced.front().map(|id| (id.clone(), cause.clone()));
        let must = forced.or_else(|| self.state.named_by_replies().into_iter().next());
        let may = self.next_polled();
        if let Some(id) =
            must.as_ref().map(|(id, _)| id).or(may.as_ref()).filter(|id| self.has_covered(id))
        {
            self.skip(
                id,
                WhyNot::Skipped,
                &cause,
                Some("another turn of its own has covered this already"),
            );
            return true;
        }
        if let Some((id, cause)) = must {
            return self.step_forced(&id, &cause);
        }
        if let Some(id) = may {
            return self.step_polled(&id, &cause);
        }
        let next = match (self.state.rules().react)(self.state) {
            Some(Reactions { forced, polled }) => Event::ReactionOpened { forced, polled },
            None => Event::RoundClosed,
        };
        self.emit(next);
        true
    }

    /// True if another turn of this participant, such as one for a prod, has already answered what
    /// the round would ask.
    fn has_covered(&self, id: &ParticipantId) -> bool {
        let Some(round) = &self.state.floor.round else { return false };
        if round.reacting {
            return !round.replies.iter().any(|reply| is_news(self.state, reply, id));
        }
        self.state.participant(id).is_some_and(|participant| {
            participant.cursor >= self.state.floor.effect_of(&round.cause)
        })
    }

    /// Returns the next agent that may speak. Agents that have just spoken come last. (Ruling 10.)
    fn next_polled(&self) -> Option<ParticipantId> {
        let round = self.state.floor.round.as_ref()?;
        round.polled.iter().find(|id| !self.waits_to_cool(id)).or(round.polled.front()).cloned()
    }

    /// True if a volunteer is asked only after its cooldown.
    fn waits_to_cool(&self, id: &ParticipantId) -> bool {
        let reacting = self.state.floor.round.as_ref().is_some_and(|round| round.reacting);
        !reacting
            && self.is_cooling(id)
            && self.unable(id).is_none()
            && self.spared(id).is_none()
            && !self.has_covered(id)
    }

    /// Asks an agent that must answer, or records why it is not asked. Returns false if the floor
    /// has to wait for the agent's cooldown, or because enough agents work for the round at the
    /// same time.
    fn step_forced(&mut self, id: &ParticipantId, cause: &Cause) -> bool {
        if !self.can_be_named(id, cause) {
            return true;
        }
        if self.state.counts_replies() && self.state.floor.is_used_up() {
            self.skip(id, WhyNot::Capped, cause, None);
            let name = self.state.name_of(id).to_owned();
            let text =
                format!("{name} was addressed, but the replies to this message are used up.");
            self.notice("capped", text, Some(id), Some(cause));
            return true;
        }
        let is_crowded = self.state.crowded_until().is_some_and(|until| self.now < until);
        if self.is_cooling(id) || is_crowded {
            return false;
        }
        let (why, cause) = self.step_cause(id, cause, TurnReason::Forced);
        self.ask(id, why, false, &cause);
        true
    }

    /// Asks an agent that may pass, or records why it is not asked. Returns false if the floor has
    /// to wait for the agent's cooldown.
    fn step_polled(&mut self, id: &ParticipantId, cause: &Cause) -> bool {
        if !self.can_take_turns(id, cause) {
            return true;
        }
        if let Some((why_not, detail)) = self.spared(id) {
            self.skip(id, why_not, cause, detail);
            return true;
        }
        if self.waits_to_cool(id) {
            if planted::has(Bug::CooldownDrops) {
                self.skip(id, WhyNot::Cooled, cause, None);
            }
            return planted::has(Bug::CooldownDrops);
        }
        let (why, cause) = self.step_cause(id, cause, self.state.rules().asks_as);
        self.ask(id, why, true, &cause);
        true
    }

    /// Grants an agent its turn in the round. The round does not wait for the turn if the agent is
    /// busy, its program waits for a person, or the round's patience is used up. (Ruling 12.)
    fn ask(&mut self, id: &ParticipantId, why: TurnReason, may_pass: bool, cause: &Cause) {
        // Read before the grant, after which the new turn itself could be the front turn.
        let is_busy = self.state.front_turn(id).is_some() || self.state.is_asking(id);
        let goes_on = is_busy || self.is_round_over();
        self.grant(id, why, TurnKind::Reply, may_pass, cause);
        if goes_on {
            self.release_asked();
        }
    }

    /// Returns the reason why a polled agent is not asked now, if any.
    fn spared(&self, id: &ParticipantId) -> Option<(WhyNot, Option<&'static str>)> {
        let floor = &self.state.floor;
        let round = floor.round.as_ref()?;
        let policy = &self.state.policy;
        let agents = u32::try_from(self.state.agents().count()).unwrap_or(u32::MAX);
        if floor.is_used_up() {
            return Some((WhyNot::Capped, None));
        }
        if policy.max_voluntary_responders.is_some_and(|max| round.volunteers >= max) {
            return Some((WhyNot::Capped, Some("enough agents have volunteered")));
        }
        // Room for one poll and one reaction of each agent. (Rulings 8 and 9.)
        if round.polls >= agents.saturating_mul(2) {
            return Some((WhyNot::Capped, Some("enough agents were asked")));
        }
        if self.is_round_over() {
            return Some((WhyNot::RoundOver, None));
        }
        // Cooldown is against loops: it drops reactions, but only delays what a person asks for.
        if round.reacting && self.is_cooling(id) {
            return Some((WhyNot::Cooled, None));
        }
        if self.state.rules().spares_habitual && !round.reacting && self.state.is_spared(id) {
            return Some((WhyNot::Skipped, Some("it has passed many times in a row")));
        }
        None
    }

    fn is_cooling(&self, id: &ParticipantId) -> bool {
        self.state.is_cooling(id, self.now)
    }

    /// Returns the reason and the cause for asking an agent. In the reactive round the cause is the
    /// newest reply that names the agent, or else the newest reply of another.
    fn step_cause(
        &self,
        id: &ParticipantId,
        cause: &Cause,
        why: TurnReason,
    ) -> (TurnReason, Cause) {
        let Some(round) = self.state.floor.round.as_ref().filter(|round| round.reacting) else {
            return (why, cause.clone());
        };
        let others = || round.replies.iter().rev().filter(|reply| is_news(self.state, reply, id));
        let naming = others().find(|reply| reply.mentions.contains(id)).or_else(|| others().next());
        (TurnReason::Reaction, naming.map_or_else(|| cause.clone(), |reply| reply.cause.clone()))
    }
}
