//! Budgets of a hall: the limits, and what was spent in the current hour and day.
//!
//! A decision is made with the present budgets, and charged before it is appended. If another
//! conversation has spent the rest in the meantime, the decision is made again. So a budget of
//! turns is never exceeded, although the budgets are not locked while the rules decide.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_kernel::budget::{
    BudgetOwner, Budgets, Charge, DAY, Limit, Limits, Measure, Raise, WindowTotals, start_of,
};
use moothall_kernel::time::Timestamp;
use serde::Deserialize;
use strum::VariantArray;

/// Decisions get only the budgets that have at most this much left. One decision grants fewer
/// turns, so the other budgets cannot run out in it.
const FAR: u64 = 512;
/// Default limits of turns an hour without a person: for one principal, and for the hall.
const UNATTENDED: (u64, u64) = (600, 2000);

/// The `[budgets]` section of the configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetsConfig {
    /// The currency of prices and costs.
    pub currency: Currency,
    /// Limits for the whole server.
    pub hall: Amounts,
    /// Limits for each conversation.
    pub conversation: Amounts,
    /// Limits for each agent, in all conversations together.
    pub agent: Amounts,
    /// Limits for each principal whose requests lead to turns.
    pub principal: Amounts,
}

impl Default for BudgetsConfig {
    fn default() -> Self {
        let amounts = Amounts::default();
        Self {
            currency: Currency("USD".into()),
            hall: amounts,
            conversation: amounts,
            agent: amounts,
            principal: amounts,
        }
    }
}

/// A currency code of ISO 4217.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Currency(String);

impl Currency {
    /// Returns the code: three capital letters, such as `USD`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Currency {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        let plain = word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        if plain {
            Ok(Self(word))
        } else {
            Err("a currency is three capital letters, such as USD or EUR".into())
        }
    }
}

/// The limits of one budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Amounts {
    /// Turns in a clock hour (UTC); `None` for no limit.
    pub turns_per_hour: Option<u64>,
    /// Turns in a clock hour (UTC) that no person caused. If unset, there is a default limit for a
    /// principal and for the hall, and none for the others.
    pub unattended_turns_per_hour: Option<u64>,
    /// Money in a day (UTC), in the currency of all budgets; `None` for no limit.
    pub cost_per_day: Option<Money>,
}

/// An amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Money {
    /// Millionths of the currency.
    pub micros: u64,
}

impl TryFrom<f64> for Money {
    type Error = String;

    fn try_from(amount: f64) -> Result<Self, String> {
        let micros = (amount * 1e6).round();
        let sensible = micros.is_finite() && (0.0..1e15).contains(&micros);
        if sensible {
            Ok(Self { micros: micros as u64 })
        } else {
            Err("an amount of money is a number from 0 to 1000000000".into())
        }
    }
}

impl Amounts {
    /// Returns the limit of one budget. `unattended` is the number of turns an hour without a
    /// person, if the configuration sets none; `None` leaves them without a limit.
    fn limit(&self, unattended: Option<u64>) -> Limit {
        Limit {
            turns: self.turns_per_hour,
            unattended: self.unattended_turns_per_hour.or(unattended),
            micros: self.cost_per_day.map(|money| money.micros),
        }
    }
}

impl BudgetsConfig {
    /// Returns the limits of all budgets. A principal and the hall always have a limit of turns
    /// without a person ([`UNATTENDED`]).
    fn limits(&self) -> Limits {
        Limits {
            hall: self.hall.limit(Some(UNATTENDED.1)),
            conversation: self.conversation.limit(None),
            agent: self.agent.limit(None),
            principal: self.principal.limit(Some(UNATTENDED.0)),
        }
    }
}

/// The budgets that do not belong to one conversation, and what was spent from them.
pub struct SharedBudgets(Mutex<Book>);

pub(crate) struct Book {
    pub(crate) budgets: Budgets,
    /// The budgets that decisions get: only the budgets near their limit.
    near_limits: Arc<Budgets>,
    /// Start of the day to which the budgets belong.
    today: Timestamp,
}

impl SharedBudgets {
    /// Makes budgets with these limits, from which nothing was spent yet.
    pub fn new(config: &BudgetsConfig) -> Self {
        let budgets = Budgets {
            currency: config.currency.0.clone(),
            limits: config.limits(),
            standings: BTreeMap::new(),
        };
        Self(Mutex::new(Book {
            near_limits: Arc::new(budgets.clone()),
            budgets,
            today: Timestamp::default(),
        }))
    }

    /// Replaces the limits. What was spent still counts.
    pub(crate) fn replace(&self, config: &BudgetsConfig, now: Timestamp) {
        let mut book = self.book();
        let (currency, limits) = (config.currency.0.clone(), config.limits());
        (book.budgets.currency, book.budgets.limits) = (currency.clone(), limits);
        let near_limits = Arc::make_mut(&mut book.near_limits);
        (near_limits.currency, near_limits.limits) = (currency, limits);
        let owners: Vec<BudgetOwner> = book.budgets.standings.keys().cloned().collect();
        book.tell_of(&owners, now);
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the budgets for a decision, which are only those near their limit.
    pub fn facts(&self) -> Arc<Budgets> {
        self.book().near_limits.clone()
    }

    /// Charges the budgets in full or not at all. True if they were charged.
    pub fn charge(&self, charges: &[Charge], now: Timestamp) -> bool {
        if charges.is_empty() {
            return true;
        }
        let mut book = self.book();
        let paid = book.budgets.can_pay(charges, now);
        if paid {
            charges.iter().for_each(|charge| book.budgets.charge(charge));
        }
        // The near budgets are updated after a refusal too, because the end of a raise brings a
        // budget near its limit without a charge.
        book.tell(charges, now);
        paid
    }

    /// Takes the charges of a dropped decision off the budgets again.
    pub fn give_back(&self, charges: &[Charge], now: Timestamp) {
        let mut book = self.book();
        for charge in charges {
            for owner in charge.owners() {
                book.budgets.standings.entry(owner).or_default().give_back(charge, now);
            }
        }
        book.tell(charges, now);
    }

    /// Sets the raise of a budget, in place of an earlier raise.
    pub(crate) fn raise(&self, owner: &BudgetOwner, raise: Raise, now: Timestamp) {
        let mut book = self.book();
        book.budgets.standings.entry(owner.clone()).or_default().raise = raise;
        book.tell_of(std::slice::from_ref(owner), now);
    }

    /// Returns the hall, and then the other owners whose budgets have an entry for spending or a
    /// raise, in order.
    pub(crate) fn used(&self) -> Vec<BudgetOwner> {
        let book = self.book();
        let spent = book.budgets.standings.keys().filter(|owner| **owner != BudgetOwner::Hall);
        std::iter::once(BudgetOwner::Hall).chain(spent.cloned()).collect()
    }

    /// Returns the limits of all budgets, and the amounts spent from the budget of this owner.
    pub(crate) fn look(&self, owner: &BudgetOwner) -> (Limits, WindowTotals) {
        let book = self.book();
        (book.budgets.limits, book.budgets.standing(owner))
    }
}

impl Book {
    /// Updates the budgets that decisions get, for the owners of these charges.
    pub(crate) fn tell(&mut self, charges: &[Charge], now: Timestamp) {
        let owners: Vec<BudgetOwner> = charges.iter().flat_map(Charge::owners).collect();
        self.tell_of(&owners, now);
    }

    /// Updates the budgets that decisions get, for these owners. On a new day, drops the entries of
    /// earlier days without an active raise.
    fn tell_of(&mut self, owners: &[BudgetOwner], now: Timestamp) {
        let limits = self.budgets.limits;
        let is_near = |owner: &BudgetOwner, standing: &WindowTotals| {
            Measure::VARIANTS.iter().any(|&measure| {
                standing.remaining(limits.of(owner), measure, now).is_some_and(|left| left <= FAR)
            })
        };
        for owner in owners {
            let standing = self.budgets.standing(owner);
            let near = is_near(owner, &standing);
            // Only a change calls `make_mut`, which copies all budgets while a decision still holds
            // them.
            if near && self.near_limits.standings.get(owner) != Some(&standing) {
                Arc::make_mut(&mut self.near_limits).standings.insert(owner.clone(), standing);
            } else if !near && self.near_limits.standings.contains_key(owner) {
                Arc::make_mut(&mut self.near_limits).standings.remove(owner);
            }
        }
        let today = start_of(now, DAY);
        if today > self.today {
            self.today = today;
            let counts =
                |standing: &WindowTotals| standing.day >= today || standing.raise.until > now;
            self.budgets.standings.retain(|_, standing| counts(standing));
            Arc::make_mut(&mut self.near_limits).standings.retain(|_, standing| counts(standing));
        }
    }
}

/// The state of one budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetState {
    /// The owner: the server, a conversation, an agent or a principal.
    pub owner: BudgetOwner,
    /// The unit that it counts: turns, unattended turns or money.
    pub measure: Measure,
    /// Limit of its window, raises included: turns, or millionths of the currency.
    pub limit: u64,
    /// Amount that was spent in the window.
    pub spent: u64,
    /// End of the window.
    pub until: Timestamp,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use moothall_kernel::budget::Account;
    use moothall_kernel::event::Usage;

    fn turn(by: &str, hour: i64) -> Charge {
        let account = Account { agent: "a".into(), by: by.into(), attended: false };
        Charge {
            hour: Timestamp::from_millis(hour * 3_600_000),
            account,
            turns: 1,
            usage: Usage::default(),
        }
    }

    fn owners(principal: u64, hall: u64) -> SharedBudgets {
        let amounts =
            |turns| Amounts { unattended_turns_per_hour: Some(turns), ..Amounts::default() };
        SharedBudgets::new(&BudgetsConfig {
            principal: amounts(principal),
            hall: amounts(hall),
            ..BudgetsConfig::default()
        })
    }

    #[test]
    fn all_of_a_decision_is_paid_or_nothing() {
        let (owners, now) = (owners(3, 4), Timestamp::from_millis(5));
        assert!(owners.charge(&[turn("x", 0), turn("x", 0)], now));
        assert!(!owners.charge(&[turn("x", 0), turn("x", 0)], now));
        assert!(owners.charge(&[turn("x", 0)], now));
        assert!(!owners.charge(&[turn("y", 0), turn("y", 0)], now), "the hall has one left");
        owners.give_back(&[turn("x", 0)], now);
        assert!(owners.charge(&[turn("y", 0), turn("y", 0)], now));
        assert!(!owners.charge(&[turn("z", 0)], now));
        assert!(
            owners.charge(&[turn("z", 1)], Timestamp::from_millis(3_600_000)),
            "the next hour has its own"
        );
    }

    #[test]
    fn a_charge_of_an_hour_that_has_ended_gives_nothing_back_to_the_next() {
        let (owners, hour) = (owners(2, 2), 3_600_000);
        let [before, after] = [hour - 1, hour].map(Timestamp::from_millis);
        assert!(owners.charge(&[turn("x", 0)], before));
        assert!(owners.charge(&[turn("y", 1)], after));
        owners.give_back(&[turn("x", 0)], after);
        assert!(owners.charge(&[turn("y", 1)], after));
        assert!(!owners.charge(&[turn("z", 1)], after), "the hall's two of this hour are spent");
    }

    #[test]
    fn a_charge_that_counted_in_the_hour_of_a_stream_ahead_is_given_back_there() {
        let (owners, now) = (owners(2, 2), Timestamp::from_millis(5));
        assert!(owners.charge(&[turn("x", 1)], now));
        assert!(owners.charge(&[turn("y", 0)], now));
        owners.give_back(&[turn("y", 0)], now);
        assert!(owners.charge(&[turn("y", 0)], now));
    }

    #[test]
    fn a_decision_knows_of_what_is_near_its_limit_alone() {
        let (owners, now) = (owners(FAR + 2, 1_000_000), Timestamp::from_millis(5));
        assert!(owners.charge(&[turn("x", 0)], now));
        assert!(owners.facts().standings.is_empty());
        assert!(owners.charge(&[turn("x", 0)], now));
        let known: Vec<_> = owners.facts().standings.keys().cloned().collect();
        assert_eq!(known, [BudgetOwner::Principal("x".into())]);
    }

    #[test]
    fn other_limits_hold_from_the_next_decision_for_what_was_spent_before() {
        let (owners, now) = (owners(1_000_000, 1_000_000), Timestamp::from_millis(5));
        assert!(owners.charge(&[turn("x", 0), turn("x", 0)], now));
        let few = Amounts { unattended_turns_per_hour: Some(2), ..Amounts::default() };
        owners.replace(&BudgetsConfig { principal: few, ..BudgetsConfig::default() }, now);
        assert_eq!(owners.facts().limits.principal.unattended, Some(2));
        assert_eq!(
            owners.facts().standing(&BudgetOwner::Principal("x".into())).unattended,
            2,
            "it is near its limit now, and was not"
        );
        assert!(!owners.charge(&[turn("x", 0)], now) && owners.charge(&[turn("y", 0)], now));
        owners.replace(&BudgetsConfig::default(), now);
        assert!(owners.charge(&[turn("x", 0)], now));
    }

    #[test]
    fn amounts_are_read_with_their_defaults() {
        let read = |text: &str| serde_json::from_str::<BudgetsConfig>(text);
        let limits = read(r#"{"hall": {"cost_per_day": 2.5}, "agent": {"turns_per_hour": 7}}"#)
            .unwrap()
            .limits();
        assert_eq!(
            limits.hall,
            Limit { turns: None, unattended: Some(2000), micros: Some(2_500_000) }
        );
        assert_eq!((limits.agent.turns, limits.principal.unattended), (Some(7), Some(600)));
        assert!(
            read(r#"{"currency": "usd"}"#).is_err()
                && read(r#"{"hall": {"cost_per_day": -1.0}}"#).is_err()
        );
    }
}
