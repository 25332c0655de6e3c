//! The floor moves on: queued messages are taken up, rounds are stepped through, guards are watched.
//! Who is nominated is the policy's business; here it is carried out.

use crate::decide::Decider;
use crate::event::{Cause, Event, Guard, TurnKind, Why, WhyNot};
use crate::ids::ParticipantId;
use crate::policy::{self, Nomination, PolicyName};
use crate::state::{Conversation, PAIR_MAX, PAIR_WINDOW, Spoken};
use crate::time::Timestamp;

/// The same words so often within the repeat detector's window trip it.
const REPEATS_MAX: usize = 3;
/// Why words without proof wake nobody while a guard holds the floor.
pub(crate) const HELD_FOR_PROOF: &str = "a guard holds the floor until a person who can prove it goes on";
/// Passes in a row from which an agent is polled every second message, and every fourth. (Ruling 12.)
const HABITUAL: [(u32, u32); 2] = [(10, 3), (5, 1)];

impl Conversation {
    /// When the participant who is next may speak again, if cooldown is all that it waits for.
    pub(crate) fn cooling_until(&self) -> Option<Timestamp> {
        let round = self.floor.round.as_ref().filter(|round| round.current.is_none())?;
        let next = self.participant(round.forced.front()?)?;
        next.spoke_at.map(|at| at + self.policy.cooldown)
    }

    /// Whether a habitual passer is spared this poll.
    fn is_spared(&self, id: &ParticipantId) -> bool {
        let Some(participant) = self.participant(id) else { return false };
        let habit = HABITUAL.iter().find(|(passes, _)| participant.passes_in_a_row >= *passes);
        habit.is_some_and(|(_, spared)| participant.polls_skipped < *spared)
    }
}

impl Decider<'_> {
    /// Moves the floor until it has to wait for somebody.
    pub(crate) fn settle(&mut self) {
        while !self.state.archived && !self.state.paused {
            let moved = match self.state.policy.name {
                PolicyName::Hybrid | PolicyName::RoundRobin => self.step_round(),
                PolicyName::MentionOnly => self.take_queued(),
                PolicyName::Open => self.take_queued() || self.step_open(),
                PolicyName::TalkingPiece => self.take_queued() || self.step_piece(),
            };
            if !moved {
                return;
            }
        }
    }

    /// Takes up the oldest queued message.
    fn take_queued(&mut self) -> bool {
        let Some(spoken) = self.state.floor.queue.front().cloned() else { return false };
        self.emit(Event::Taken { cause: spoken.cause.clone() });
        if self.state.policy.name == PolicyName::Open {
            self.link_all(&spoken);
        } else {
            self.take(&spoken);
        }
        true
    }

    /// Words that waited under other rules go to every member of a link: it counts only what is said from now on.
    fn link_all(&mut self, spoken: &Spoken) {
        for id in policy::nominate(self.state, spoken).polled {
            if self.can_take_turns(&id, &spoken.cause) && self.may_wake(spoken, &id) {
                self.grant(&id, Why::Link, TurnKind::Reply, true, &spoken.cause);
            }
        }
    }

    /// The time of a human message has come.
    pub(crate) fn take(&mut self, spoken: &Spoken) {
        let nomination = policy::nominate(self.state, spoken);
        match self.state.policy.name {
            PolicyName::Hybrid | PolicyName::RoundRobin => self.open_round(spoken, nomination),
            PolicyName::MentionOnly => self.grant_all(spoken, nomination),
            PolicyName::Open | PolicyName::TalkingPiece => {}
        }
    }

    fn open_round(&mut self, spoken: &Spoken, nomination: Nomination) {
        let Nomination { forced, polled, others, cap, targeted } = nomination;
        if forced.is_empty() && polled.is_empty() && others.is_empty() {
            return;
        }
        let cause = spoken.cause.clone();
        self.emit(Event::RoundOpened { cause: cause.clone(), cap, forced, polled, targeted });
        for (id, why_not, detail) in others {
            self.skip(&id, why_not, &cause, Some(detail));
        }
    }

    /// Gives each nominee a turn now, side by side.
    pub(crate) fn grant_all(&mut self, spoken: &Spoken, nomination: Nomination) {
        for id in nomination.forced {
            if self.can_take_turns(&id, &spoken.cause) && self.may_wake(spoken, &id) {
                self.grant(&id, Why::Forced, TurnKind::Reply, false, &spoken.cause);
            }
        }
        for id in nomination.polled {
            if self.can_take_turns(&id, &spoken.cause) && self.may_wake(spoken, &id) {
                self.grant(&id, Why::Polled, TurnKind::Reply, true, &spoken.cause);
            }
        }
    }

    /// Whether a participant can take a turn; if not, the reason is recorded.
    pub(crate) fn can_take_turns(&mut self, id: &ParticipantId, cause: &Cause) -> bool {
        let Some(why_not) = self.unable(id) else { return true };
        self.skip(id, why_not, cause, None);
        false
    }

    fn unable(&self, id: &ParticipantId) -> Option<WhyNot> {
        if !self.state.participant(id).is_some_and(|p| p.is_agent()) {
            return Some(WhyNot::Skipped);
        }
        if self.state.muted.contains(id) {
            return Some(WhyNot::Muted);
        }
        if self.state.paused {
            return Some(WhyNot::Paused);
        }
        self.facts.offline.contains(id).then_some(WhyNot::Offline)
    }

    /// Whether these words may wake this participant: an agent's are bounded by the guards (Ruling 16.), and so are a person's without
    /// proof while one holds.
    fn may_wake(&mut self, spoken: &Spoken, woken: &ParticipantId) -> bool {
        if spoken.human && !(spoken.cause.unproven && self.state.guards.held.is_some()) {
            return true;
        }
        if spoken.human {
            self.skip(woken, WhyNot::Held, &spoken.cause, Some(HELD_FOR_PROOF));
            return false;
        }
        if self.state.guards.held.is_none()
            && let Some(guard) = self.tripped(&spoken.cause.from, woken)
        {
            self.hold(guard);
        }
        if self.state.guards.held.is_some() {
            self.skip(woken, WhyNot::Held, &spoken.cause, None);
            return false;
        }
        true
    }

    fn tripped(&self, by: &ParticipantId, woken: &ParticipantId) -> Option<Guard> {
        let guards = &self.state.guards;
        if guards.exchanges >= self.state.policy.max_exchanges_without_human {
            return Some(Guard::Exchanges);
        }
        let since = self.now - PAIR_WINDOW;
        let recent = |times: &std::collections::VecDeque<Timestamp>| times.iter().filter(|at| **at > since).count() >= PAIR_MAX;
        guards.pairs.get(&(by.clone(), woken.clone())).is_some_and(recent).then_some(Guard::Pair)
    }

    /// A guard takes the floor. Everyone sees this event, and so is told once.
    fn hold(&mut self, guard: Guard) {
        self.emit(Event::Held { guard });
    }

    /// Watches what crosses a link. (Ruling 18.)
    pub(crate) fn guard_exchanges(&mut self) {
        if self.state.guards.held.is_some() {
            return;
        }
        let guards = &self.state.guards;
        let repeated = guards.recent.back().is_some_and(|last| guards.recent.iter().filter(|hash| *hash == last).count() >= REPEATS_MAX);
        let pairs: Vec<_> = guards.pairs.keys().cloned().collect();
        let tripped = pairs.iter().find_map(|(by, woken)| self.tripped(by, woken));
        let exchanges = (guards.exchanges >= self.state.policy.max_exchanges_without_human).then_some(Guard::Exchanges);
        if let Some(guard) = exchanges.or(repeated.then_some(Guard::Repeat)).or(tripped) {
            self.hold(guard);
        }
    }

    /// Every linked agent that has not heard the newest words of another gets a turn.
    fn step_open(&mut self) -> bool {
        if self.state.guards.held.is_some() {
            return false;
        }
        let owed = |id: &ParticipantId, shown| {
            let cause = self.state.newest_not_by(id).filter(|cause| cause.seq > shown)?;
            let asked = self.state.open_turns().any(|turn| turn.participant == *id && turn.cause.seq >= cause.seq);
            (!asked && self.unable(id).is_none()).then(|| cause.clone())
        };
        let next = self.state.agents().find_map(|agent| owed(&agent.id, agent.shown).map(|cause| (agent.id.clone(), cause)));
        let Some((id, cause)) = next else { return false };
        if cause.unproven || !self.state.is_human(&cause.from) {
            // The limits may have become lower since the words were said.
            self.guard_exchanges();
            if self.state.guards.held.is_some() {
                return true;
            }
        }
        self.grant(&id, Why::Link, TurnKind::Reply, true, &cause);
        true
    }

    fn step_round(&mut self) -> bool {
        let Some(round) = &self.state.floor.round else { return self.take_queued() };
        if round.current.is_some() {
            return false;
        }
        let cause = round.cause.clone();
        if let Some(id) = round.forced.front().or(round.polled.front()).filter(|id| self.has_covered(id)).cloned() {
            self.skip(&id, WhyNot::Skipped, &cause, Some("another turn of its own has covered this already"));
            return true;
        }
        if let Some(id) = round.forced.front().cloned() {
            return self.step_forced(&id, &cause);
        }
        if let Some(id) = round.polled.front().cloned() {
            return self.step_polled(&id, &cause);
        }
        let next = policy::react(self.state).map_or(Event::RoundClosed, |(forced, polled)| Event::ReactionOpened { forced, polled });
        self.emit(next);
        true
    }

    /// Whether a turn that it got in between, for somebody's prod, has covered what the round would ask it about.
    fn has_covered(&self, id: &ParticipantId) -> bool {
        let Some(round) = &self.state.floor.round else { return false };
        if round.reacting {
            return !round.replies.iter().any(|reply| policy::is_news(self.state, reply, id));
        }
        self.state.participant(id).is_some_and(|participant| participant.cursor >= self.state.floor.effect_of(&round.cause))
    }

    fn step_forced(&mut self, id: &ParticipantId, cause: &Cause) -> bool {
        if !self.can_take_turns(id, cause) {
            return true;
        }
        if self.state.floor.spent >= self.state.floor.cap {
            self.skip(id, WhyNot::Capped, cause, None);
            let name = self.state.name_of(id).to_owned();
            let text = format!("{name} was addressed, but the replies to this message are used up.");
            self.notice("capped", text, Some(id), Some(cause));
            return true;
        }
        if self.is_cooling(id) {
            return false;
        }
        let (why, cause) = self.step_cause(id, cause, Why::Forced);
        self.grant(id, why, TurnKind::Reply, false, &cause);
        true
    }

    fn step_polled(&mut self, id: &ParticipantId, cause: &Cause) -> bool {
        if !self.can_take_turns(id, cause) {
            return true;
        }
        if let Some((why_not, detail)) = self.spared(id) {
            self.skip(id, why_not, cause, detail);
            return true;
        }
        let asked = if self.state.policy.name == PolicyName::RoundRobin { Why::Round } else { Why::Polled };
        let (why, cause) = self.step_cause(id, cause, asked);
        self.grant(id, why, TurnKind::Reply, true, &cause);
        true
    }

    /// Why a participant who may speak is not asked now.
    fn spared(&self, id: &ParticipantId) -> Option<(WhyNot, Option<&'static str>)> {
        let floor = &self.state.floor;
        let round = floor.round.as_ref()?;
        let policy = &self.state.policy;
        let agents = u32::try_from(self.state.agents().count()).unwrap_or(u32::MAX);
        if floor.spent >= floor.cap {
            return Some((WhyNot::Capped, None));
        }
        if policy.max_voluntary_responders.is_some_and(|max| round.volunteers >= max) {
            return Some((WhyNot::Capped, Some("enough agents have volunteered")));
        }
        if round.polls >= agents.saturating_mul(2) {
            return Some((WhyNot::Capped, Some("enough agents were asked")));
        }
        if self.is_cooling(id) {
            return Some((WhyNot::Cooled, None));
        }
        if policy.name == PolicyName::Hybrid && !round.reacting && self.state.is_spared(id) {
            return Some((WhyNot::Skipped, Some("it has passed many times in a row")));
        }
        None
    }

    fn is_cooling(&self, id: &ParticipantId) -> bool {
        let spoke_at = self.state.participant(id).and_then(|p| p.spoke_at);
        spoke_at.is_some_and(|at| self.now < at + self.state.policy.cooldown)
    }

    /// In the reactive round the cause is the newest reply of another, the one that names the participant first.
    fn step_cause(&self, id: &ParticipantId, cause: &Cause, why: Why) -> (Why, Cause) {
        let Some(round) = self.state.floor.round.as_ref().filter(|round| round.reacting) else { return (why, cause.clone()) };
        let others = || round.replies.iter().rev().filter(|reply| policy::is_news(self.state, reply, id));
        let naming = others().find(|reply| reply.mentions.contains(id)).or_else(|| others().next());
        (Why::Reaction, naming.map_or_else(|| cause.clone(), |reply| reply.cause.clone()))
    }
}
