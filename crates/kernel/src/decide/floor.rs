//! Moves the floor: takes queued messages, steps through rounds and watches the guards. Each policy
//! has its own nomination of agents and its own step. All policies share the functions of this
//! module.

use std::collections::VecDeque;

use crate::decide::Decider;
use crate::model::event::{Cause, Event, Fault, Guard, TurnKind, TurnReason, WhyNot};
use crate::model::ids::ParticipantId;
use crate::model::state::{Conversation, PAIR_MAX, PAIR_WINDOW, WakingWords};
use crate::model::time::Timestamp;

/// Number of equal messages within the window that trips the repeat guard.
pub(crate) const REPEATS_MAX: usize = 3;

impl Conversation {
    /// Counts how often the words of one agent woke the other within [`PAIR_WINDOW`].
    pub(crate) fn pair_count(
        &self,
        pair: &(ParticipantId, ParticipantId),
        now: Timestamp,
    ) -> usize {
        let since = now - PAIR_WINDOW;
        let recent = |times: &VecDeque<Timestamp>| times.iter().filter(|at| **at > since).count();
        self.guards.pairs.get(pair).map_or(0, recent)
    }

    /// Counts the recent messages that equal the newest one, including itself.
    pub(crate) fn repeat_count(&self) -> usize {
        let recent = &self.guards.recent;
        recent.back().map_or(0, |last| recent.iter().filter(|hash| *hash == last).count())
    }
}

impl Decider<'_> {
    /// Moves the floor until it has to wait for a turn, a person or the clock.
    pub(crate) fn settle(&mut self) {
        while !self.state.archived && !self.state.paused {
            let moves = if self.state.floor.round.is_some() {
                self.step_round()
            } else {
                (self.state.rules().step)(self)
            };
            if !moves {
                return;
            }
        }
    }

    /// Takes the oldest queued message and asks its agents; a late answer reopens its round
    /// instead. Returns false if the queue is empty.
    pub(crate) fn take_queued(&mut self) -> bool {
        let Some(spoken) = self.state.floor.queue.front().cloned() else { return false };
        if let Some(message) = spoken.late {
            self.reopen_round(message, spoken.cause.seq);
            return true;
        }
        self.emit(Event::Taken { cause: spoken.cause.clone() });
        let asks = !spoken.asks.is_empty();
        if asks {
            self.open_asked(&spoken);
        }
        if !asks || self.state.rules().tells_unasked {
            (self.state.rules().on_taken)(self, &spoken);
        }
        true
    }

    /// Grants every nominee a turn now. These turns run at the same time.
    pub(crate) fn grant_all(&mut self, spoken: &WakingWords) {
        let rules = self.state.rules();
        let nomination = (rules.nominate)(self.state, spoken);
        for id in nomination.forced {
            if self.can_be_named(&id, &spoken.cause) && self.may_wake(spoken, &id) {
                self.grant(&id, TurnReason::Forced, TurnKind::Reply, false, &spoken.cause);
            }
        }
        for id in nomination.polled {
            if self.can_take_turns(&id, &spoken.cause) && self.may_wake(spoken, &id) {
                self.grant(&id, rules.asks_as, TurnKind::Reply, true, &spoken.cause);
            }
        }
    }

    /// True if a participant can take a turn about this cause now; otherwise records the reason.
    pub(crate) fn can_take_turns(&mut self, id: &ParticipantId, cause: &Cause) -> bool {
        let Some(why_not) = self.unable(id) else { return !self.is_held_for_proof(id, cause) };
        self.skip(id, why_not, cause, None);
        if why_not == WhyNot::Ended {
            self.tell_ended(id, cause);
        }
        false
    }

    /// True if a participant that the cause names can take a turn about it now; otherwise records
    /// the reason. A session that has ended can take the turn: the turn fails, and its fault says
    /// how to bring the session back. (Ruling 42.)
    pub(crate) fn can_be_named(&mut self, id: &ParticipantId, cause: &Cause) -> bool {
        match self.unable(id) {
            Some(WhyNot::Ended) => !self.is_held_for_proof(id, cause),
            Some(_) | None => self.can_take_turns(id, cause),
        }
    }

    /// Tells all participants, once for each end, how to bring an ended session back.
    fn tell_ended(&mut self, id: &ParticipantId, cause: &Cause) {
        let Some(session) = self.facts.ended.get(id) else { return };
        if self.state.participant(id).is_none_or(|participant| participant.told_ended) {
            return;
        }
        let name = self.state.name_of(id);
        let text = format!(
            "The session of {name} has ended, so only messages that name it ask it. To bring it \
             back: `moothall resume {session}`; to take it out: `moothall uninvite`."
        );
        self.notice(Fault::SESSION_ENDED, text, Some(id), Some(cause));
    }

    /// True if a guard holds and no proven person stands behind the cause; records the reason. Each
    /// turn is checked, because a guard may begin to hold in the middle of a round. (Ruling 18.)
    fn is_held_for_proof(&mut self, id: &ParticipantId, cause: &Cause) -> bool {
        let Some(guard) = self.state.guards.held.filter(|_| cause.unproven) else { return false };
        let why = format!("{} until a person who can prove it goes on", guard.holds());
        self.skip(id, WhyNot::Held, cause, Some(&why));
        true
    }

    /// True if a session has ended, or a remote client is offline or read-only.
    pub(crate) fn is_away(&self, id: &ParticipantId) -> bool {
        self.state
            .participant(id)
            .is_some_and(|participant| self.facts.keeps_from_turns(participant).is_some())
    }

    /// Returns the reason why a participant can take no turn now, or `None` if it can. People and
    /// ids that do not take part are `Skipped`.
    pub(crate) fn unable(&self, id: &ParticipantId) -> Option<WhyNot> {
        let Some(participant) =
            self.state.participant(id).filter(|participant| participant.takes_turns())
        else {
            return Some(WhyNot::Skipped);
        };
        if self.state.muted.contains(id) {
            return Some(WhyNot::Muted);
        }
        if self.state.paused {
            return Some(WhyNot::Paused);
        }
        self.facts.keeps_from_turns(participant)
    }

    /// True if these words may wake this participant; otherwise records the reason. The guards
    /// bound the words of agents: if these words reach a guard's limit, the guard begins to hold.
    /// While a guard holds, it also stops unproven words of people. (Ruling 16.)
    pub(crate) fn may_wake(&mut self, spoken: &WakingWords, woken: &ParticipantId) -> bool {
        if spoken.human {
            return !self.is_held_for_proof(woken, &spoken.cause);
        }
        if self.state.guards.held.is_none()
            && let Some(guard) = self.tripped(&spoken.cause.from, woken)
        {
            self.hold(guard);
        }
        let Some(guard) = self.state.guards.held else { return true };
        let why = format!("{} until a person says something or resumes", guard.holds());
        self.skip(woken, WhyNot::Held, &spoken.cause, Some(&why));
        false
    }

    /// Returns the guard that words of `by` would trip by waking `woken`, if its limit is reached.
    fn tripped(&self, by: &ParticipantId, woken: &ParticipantId) -> Option<Guard> {
        let guards = &self.state.guards;
        if guards.exchanges >= self.state.policy.max_exchanges_without_human {
            return Some(Guard::Exchanges);
        }
        // Agents of a task are meant to talk to each other: only the task's limit of exchanges
        // bounds them.
        if self.state.task().is_some() {
            return None;
        }
        let count = self.state.pair_count(&(by.clone(), woken.clone()), self.now);
        (count >= PAIR_MAX).then_some(Guard::Pair)
    }

    /// Lets a guard hold the floor. All participants see the event, so each is told once.
    fn hold(&mut self, guard: Guard) {
        self.emit(Event::GuardTripped { guard });
    }

    /// Checks the guards after words crossed a link. (Ruling 18.)
    pub(crate) fn guard_exchanges(&mut self) {
        let repeated = self.state.repeat_count() >= REPEATS_MAX;
        self.guard(repeated.then_some(Guard::Repeat));
    }

    /// Checks the guards after an agent's own words. Repeats hold only links: equal answers to a
    /// person are not a loop. (Ruling 16.)
    pub(crate) fn guard_own(&mut self) {
        self.guard(None);
    }

    /// Lets a guard hold the floor if its limit is reached: the number of exchanges, then
    /// `repeated`, then a pair of agents. Changes nothing while a guard holds.
    fn guard(&mut self, repeated: Option<Guard>) {
        if self.state.guards.held.is_some() {
            return;
        }
        let guards = &self.state.guards;
        let pairs: Vec<_> = guards.pairs.keys().cloned().collect();
        let tripped = pairs.iter().find_map(|(by, woken)| self.tripped(by, woken));
        // Checked here too, because `tripped` runs only for pairs, and there may be none.
        let exchanges = (guards.exchanges >= self.state.policy.max_exchanges_without_human)
            .then_some(Guard::Exchanges);
        if let Some(guard) = exchanges.or(repeated).or(tripped) {
            self.hold(guard);
        }
    }
}
