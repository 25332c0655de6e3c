//! Checks turns against budgets, and raises budgets.

use strum::VariantArray;

use crate::decide::Decider;
use crate::model::budget::{Account, Limit, Measure, Raise, SpentBudget};
use crate::model::command::{Refusal, Rejection};
use crate::model::event::{Cause, Change, Event, WhyNot};
use crate::model::ids::ParticipantId;
use crate::model::state::Turn;
use crate::model::time::Millis;

/// Longest time for which a budget is raised.
pub const RAISE_MAX: Millis = Millis::from_secs(31 * 24 * 3600);
/// Most turns, and most millionths of the currency, that one raise adds.
const RAISE_AMOUNT_MAX: u64 = 1_000_000_000_000;
impl Decider<'_> {
    fn used_up(&self, measures: &[Measure], account: &Account) -> Option<SpentBudget> {
        self.state.used_up(&self.facts.budgets, &self.charges, measures, account, self.now)
    }

    /// Rejects an answer that lets a turn continue without money left in its budget. Only money is
    /// checked: the turn itself was charged when it was granted.
    pub(crate) fn check_money(&self, turn: &Turn) -> Result<(), Rejection> {
        let Some(spent) = self.used_up(&[Measure::Money], turn.account()) else { return Ok(()) };
        let message = format!(
            "{} would continue, so this answer was not accepted: {} until {}. Raise the budget, \
             wait, or refuse the request.",
            self.state.name_of(&turn.participant),
            spent.sentence(&self.facts.budgets.currency),
            spent.until,
        );
        Err(Rejection::new(Refusal::Conflict, "over_budget", message).about(&turn.participant))
    }

    /// True if the budgets allow one more turn. Otherwise announces the used-up budget, unless it
    /// was announced already, and records that the participant is skipped.
    pub(crate) fn can_afford(&mut self, participant: &ParticipantId, cause: &Cause) -> bool {
        let Some(detail) = self.unaffordable(participant, cause) else { return true };
        self.skip(participant, WhyNot::OverBudget, cause, Some(&detail));
        false
    }

    /// Returns the used-up budget as a sentence if the budgets do not allow one more turn, and
    /// announces it, unless it was announced already.
    pub(super) fn unaffordable(
        &mut self,
        participant: &ParticipantId,
        cause: &Cause,
    ) -> Option<String> {
        let account = self.state.account_of(participant, cause);
        let spent = self.used_up(Measure::VARIANTS, &account)?;
        self.tell_spent(&spent, participant, cause);
        Some(format!("{} until {}", spent.sentence(&self.facts.budgets.currency), spent.until))
    }

    /// Returns the reason if the budgets do not allow a lost turn to run again, and announces the
    /// used-up budget, unless it was announced already.
    pub(crate) fn cannot_rerun(
        &mut self,
        account: &Account,
        participant: &ParticipantId,
        cause: &Cause,
    ) -> Option<String> {
        let spent = self.used_up(Measure::VARIANTS, account)?;
        self.tell_spent(&spent, participant, cause);
        Some(format!(
            "a restart lost it, and it is not asked again: {} until {}",
            spent.sentence(&self.facts.budgets.currency),
            spent.until
        ))
    }

    /// Announces a used-up budget, unless it was announced already.
    fn tell_spent(&mut self, spent: &SpentBudget, participant: &ParticipantId, cause: &Cause) {
        if !self.state.spending.announced.contains(spent) {
            let currency = self.facts.budgets.currency.clone();
            self.emit(Event::BudgetSpent {
                spent: spent.clone(),
                currency,
                about: participant.clone(),
                cause: cause.clone(),
            });
        }
    }

    /// Returns the change that raises this conversation's budget.
    pub(crate) fn raise(
        &self,
        turns: u64,
        micros: u64,
        within: Millis,
    ) -> Result<Change, Rejection> {
        check_raise(&self.facts.budgets.limits.conversation, turns, micros, within)?;
        Ok(Change::BudgetRaised(Raise { turns, micros, until: self.now + within }))
    }
}

/// Checks that a raise is within its range and that there is a limit to raise.
///
/// # Errors
/// `invalid_raise` if the raise is outside its range, `no_budget` without a limit of that kind.
pub fn check_raise(
    limit: &Limit,
    turns: u64,
    micros: u64,
    within: Millis,
) -> Result<(), Rejection> {
    let invalid = |message: &str| Err(Rejection::new(Refusal::Invalid, "invalid_raise", message));
    if turns == 0 && micros == 0 {
        return invalid("A raise needs `turns`, `cost` or both, above 0.");
    }
    if turns.max(micros) > RAISE_AMOUNT_MAX {
        return invalid("The raise is too large. Give the amount to add, not the new limit.");
    }
    if within < Millis::from_secs(60) || within > RAISE_MAX {
        return invalid("A budget can be raised for one minute to 31 days.");
    }
    let no_budget = |what: &str| {
        let message = format!("This budget has no limit of {what}, so it cannot be raised.");
        Err(Rejection::new(Refusal::Conflict, "no_budget", message))
    };
    if turns > 0 && limit.turns.is_none() && limit.unattended.is_none() {
        return no_budget("turns an hour");
    }
    if micros > 0 && limit.micros.is_none() {
        return no_budget("money a day");
    }
    Ok(())
}
