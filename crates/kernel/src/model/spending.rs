//! The accounts of turns, and the amounts spent from a conversation's own budget.

use crate::model::budget::{
    Account, BudgetOwner, Budgets, Charge, HOUR, Limits, Measure, SpentBudget, WindowTotals,
    start_of,
};
use crate::model::event::{Cause, Event, RecordedEvent, Usage};
use crate::model::ids::ParticipantId;
use crate::model::state::{Conversation, Origin};
use crate::model::time::Timestamp;

/// Number of the latest contributions whose origin is remembered.
const ORIGINS_MAX: usize = 64;

impl Conversation {
    /// Returns the amounts spent from this conversation's own budget.
    pub fn standing(&self) -> WindowTotals {
        self.spending.standing
    }

    /// Returns the charge of an event that is about to be applied, if it has one. A turn lost in a
    /// restart is charged again, because it is run again.
    pub fn charge_of(&self, ts: Timestamp, event: &Event) -> Option<Charge> {
        let (account, turns, usage) = match event {
            Event::TurnGranted { participant, cause, .. } => {
                (self.account_of(participant, cause), 1, Usage::default())
            }
            Event::TurnLost { turn, .. } => {
                let turn = self.turn(*turn)?;
                // If another turn of the participant waits, that one takes over, so nothing is run
                // again.
                (
                    turn.account.clone(),
                    u64::from(turn.is_hosted() || self.waiting_turn(&turn.participant).is_none()),
                    turn.summed,
                )
            }
            Event::TurnEnded { turn, usage, .. } => (self.turn(*turn)?.account.clone(), 0, *usage),
            _ => return None,
        };
        Some(Charge { hour: start_of(ts, HOUR), account, turns, usage })
    }

    /// Returns the account of a turn of this participant about this cause.
    pub(crate) fn account_of(&self, participant: &ParticipantId, cause: &Cause) -> Account {
        let known = self.participant(participant);
        let client = known.and_then(|known| known.profile.client.clone());
        let agent = client.unwrap_or_else(|| participant.to_string());
        // A client of another computer is not the one of the same name here.
        let elsewhere =
            known.and_then(|known| known.address.as_ref()).filter(|it| it.is_elsewhere());
        let agent = match elsewhere {
            Some(address) => format!("{agent}@{}", address.computer),
            None => agent,
        };
        // Turns that a gathering's rules ask for are charged to the participant who began it.
        match self.gathering().filter(|_| cause.from.as_str() == ParticipantId::MOOTHALL) {
            Some(gathering) => {
                Account { agent, by: gathering.by.clone(), attended: !gathering.unproven }
            }
            None => Account { agent, by: self.origin_of(cause), attended: !cause.unproven },
        }
    }

    /// Returns the participant that set off a contribution. An answer is charged to the origin of
    /// its turn's cause; unsolicited words are charged to their author.
    fn origin_of(&self, cause: &Cause) -> ParticipantId {
        let known = self.spending.origins.iter().rev().find(|origin| origin.seq == cause.seq);
        known.map_or(&cause.from, |origin| &origin.by).clone()
    }

    /// Remembers the origin of a contribution that answers a turn or comes from another computer.
    pub(crate) fn note_origin(&mut self, recorded: &RecordedEvent) {
        let Event::Posted(posted) = &recorded.event else { return };
        let answered = posted.turn.and_then(|turn| self.floor.turns.get(&turn));
        let by = answered.map(|turn| turn.account.by.clone());
        let far = || posted.far.as_ref().map(|far| far.principal());
        let Some(by) = by.or_else(far) else { return };
        let origin = Origin { seq: recorded.seq, by };
        if self.spending.origins.len() >= ORIGINS_MAX {
            self.spending.origins.pop_front();
        }
        self.spending.origins.push_back(origin);
    }

    pub(crate) fn apply_charge(&mut self, recorded: &RecordedEvent) {
        if let Some(charge) = self.charge_of(recorded.ts, &recorded.event) {
            self.spending.standing.charge(&charge);
        }
    }

    pub(crate) fn apply_spent(&mut self, spent: &SpentBudget, ts: Timestamp) {
        self.spending.announced.retain(|budget| budget.until > ts);
        self.spending.announced.push(spent.clone());
    }

    /// Returns the first used-up budget of these measures for this account. Includes the charges of
    /// the current decision.
    pub(crate) fn used_up(
        &self,
        budgets: &Budgets,
        decided: &[Charge],
        measures: &[Measure],
        account: &Account,
        now: Timestamp,
    ) -> Option<SpentBudget> {
        if budgets.limits == Limits::default() {
            return None;
        }
        let owners = [
            BudgetOwner::Conversation,
            BudgetOwner::Agent(account.agent.clone()),
            BudgetOwner::Principal(account.by.clone()),
            BudgetOwner::Hall,
        ];
        owners.into_iter().find_map(|owner| {
            let standing = if owner == BudgetOwner::Conversation {
                self.spending.standing
            } else {
                budgets.standing_after(&owner, decided)
            };
            let (measure, limit, until) =
                standing.used_up(budgets.limits.of(&owner), measures, account.attended, now)?;
            Some(SpentBudget { owner, measure, limit, until })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::Seq;

    #[test]
    fn whether_a_person_set_a_turn_off_is_what_its_cause_says_however_long_ago_that_was() {
        let state = Conversation::new("t".into());
        let attended = |from: &str, depth, unproven| {
            let cause = Cause {
                seq: Seq(7),
                id: crate::model::ids::EventId::of(&"t".into(), Seq(7), Timestamp::default()),
                from: from.into(),
                depth,
                unproven,
            };
            state.account_of(&"ada".into(), &cause).attended
        };
        assert!(
            attended("user", 0, false) && attended("bob", 3, false),
            "an answer to an answer that a person asked for"
        );
        assert!(!attended("user", 0, true) && !attended("bob", 1, true));
        assert!(
            attended("moothall", 0, false),
            "the server tells what came of something that a person allowed"
        );
        let beat = Event::Gathering(crate::model::gathering::GatheringEvent::LastWordAsked);
        assert!(beat.lacks_person(), "what the server begins has nobody at its root");
    }
}
