//! Budgets of a hall: what may be spent, and what was spent in the hour and the day that go on.
//!
//! A decision is made with the budgets as they are, and charged before it is appended. Where another conversation has spent the rest in
//! between, it is made again. So no budget of turns is ever passed, and nothing is locked while the rules decide.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use moothall_kernel::budget::{Budgets, Charge, DAY, Limit, Limits, Measure, Purse, Raise, Standing, start_of};
use moothall_kernel::decide::check_raise;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::{Millis, Timestamp};
use serde::Deserialize;

use crate::access::{AuditEntry, Caller, Deed};
use crate::hall::{Hall, HallError};
use crate::inner::Inner;
use crate::ports::{Ledger, LogError, UsageWanted, Used};
use crate::stream::load::charges_up_to;

/// A decision cannot spend so many turns. A purse with more than that left need not be known to it.
const FAR: u64 = 512;
/// Streams that are counted at once after the rows were new.
const COUNTED_AT_ONCE: usize = 16;
/// Turns an hour that one principal, and all together, may set off without a person.
const UNATTENDED: (u64, u64) = (600, 2000);

/// `[budgets]`: what may be spent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetsConfig {
    /// The currency of prices and costs.
    pub currency: Currency,
    /// Of everything together.
    pub hall: Amounts,
    /// Of each conversation.
    pub conversation: Amounts,
    /// Of each agent.
    pub agent: Amounts,
    /// Of each one who sets turns off.
    pub principal: Amounts,
}

impl Default for BudgetsConfig {
    fn default() -> Self {
        let amounts = Amounts::default();
        Self { currency: Currency("USD".into()), hall: amounts, conversation: amounts, agent: amounts, principal: amounts }
    }
}

/// A currency, as ISO 4217 writes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Currency(String);

impl Currency {
    /// Its three letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Currency {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        let plain = word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        if plain { Ok(Self(word)) } else { Err("a currency is three capital letters, such as USD or EUR".into()) }
    }
}

/// What one purse may spend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Amounts {
    /// Turns an hour.
    pub turns_per_hour: Option<u64>,
    /// Turns an hour that no person set off.
    pub unattended_turns_per_hour: Option<u64>,
    /// Money a day.
    pub cost_per_day: Option<Money>,
}

/// An amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Money {
    /// In millionths of the currency.
    pub micros: u64,
}

impl TryFrom<f64> for Money {
    type Error = String;

    fn try_from(amount: f64) -> Result<Self, String> {
        let micros = (amount * 1e6).round();
        let sensible = micros.is_finite() && (0.0..1e15).contains(&micros);
        if sensible { Ok(Self { micros: micros as u64 }) } else { Err("an amount of money is a number from 0 to 1000000000".into()) }
    }
}

impl Amounts {
    fn limit(&self, unattended: Option<u64>) -> Limit {
        Limit {
            turns: self.turns_per_hour,
            unattended: self.unattended_turns_per_hour.or(unattended),
            micros: self.cost_per_day.map(|money| money.micros),
        }
    }
}

impl BudgetsConfig {
    fn limits(&self) -> Limits {
        Limits {
            hall: self.hall.limit(Some(UNATTENDED.1)),
            conversation: self.conversation.limit(None),
            agent: self.agent.limit(None),
            principal: self.principal.limit(Some(UNATTENDED.0)),
        }
    }
}

/// What was spent from all purses that do not belong to one conversation.
pub struct Purses(Mutex<Book>);

struct Book {
    budgets: Budgets,
    /// What decisions are made with: the purses that are near their limit.
    told: Arc<Budgets>,
    /// The day of which the purses are.
    today: Timestamp,
}

impl Purses {
    /// Full purses.
    pub fn new(config: &BudgetsConfig) -> Self {
        let budgets = Budgets { currency: config.currency.0.clone(), limits: config.limits(), standings: BTreeMap::new() };
        Self(Mutex::new(Book { told: Arc::new(budgets.clone()), budgets, today: Timestamp::default() }))
    }

    /// Other limits from now on. What was spent stays spent.
    fn replace(&self, config: &BudgetsConfig, now: Timestamp) {
        let mut book = self.book();
        let (currency, limits) = (config.currency.0.clone(), config.limits());
        (book.budgets.currency, book.budgets.limits) = (currency.clone(), limits);
        let told = Arc::make_mut(&mut book.told);
        (told.currency, told.limits) = (currency, limits);
        let purses: Vec<Purse> = book.budgets.standings.keys().cloned().collect();
        book.tell_of(&purses, now);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a decision may know.
    pub fn facts(&self) -> Arc<Budgets> {
        self.book().told.clone()
    }

    /// Takes what was decided from the purses: all of it, or nothing where something is missing.
    pub fn charge(&self, charges: &[Charge], now: Timestamp) -> bool {
        if charges.is_empty() {
            return true;
        }
        let mut book = self.book();
        let paid = book.budgets.can_pay(charges, now);
        if paid {
            charges.iter().for_each(|charge| book.budgets.charge(charge));
        }
        book.tell(charges, now);
        paid
    }

    /// Gives back what was decided and came to nothing.
    pub fn give_back(&self, charges: &[Charge], now: Timestamp) {
        let mut book = self.book();
        for charge in charges {
            for purse in charge.purses() {
                book.budgets.standings.entry(purse).or_default().give_back(charge);
            }
        }
        book.tell(charges, now);
    }

    fn raise(&self, purse: &Purse, raise: Raise, now: Timestamp) {
        let mut book = self.book();
        book.budgets.standings.entry(purse.clone()).or_default().raise = raise;
        book.tell_of(std::slice::from_ref(purse), now);
    }

    /// The limits, and what was spent from a purse.
    fn look(&self, purse: &Purse) -> (Limits, Standing) {
        let book = self.book();
        (book.budgets.limits, book.budgets.standing(purse))
    }
}

impl Book {
    fn tell(&mut self, charges: &[Charge], now: Timestamp) {
        let purses: Vec<Purse> = charges.iter().flat_map(Charge::purses).collect();
        self.tell_of(&purses, now);
    }

    /// Makes known what is near its limit, and forgets what is of yesterday.
    fn tell_of(&mut self, purses: &[Purse], now: Timestamp) {
        let limits = self.budgets.limits;
        let is_near = |purse: &Purse, standing: &Standing| {
            Measure::ALL.into_iter().any(|measure| standing.left(limits.of(purse), measure, now).is_some_and(|left| left <= FAR))
        };
        for purse in purses {
            let standing = self.budgets.standing(purse);
            let near = is_near(purse, &standing);
            if near && self.told.standings.get(purse) != Some(&standing) {
                Arc::make_mut(&mut self.told).standings.insert(purse.clone(), standing);
            } else if !near && self.told.standings.contains_key(purse) {
                Arc::make_mut(&mut self.told).standings.remove(purse);
            }
        }
        let today = start_of(now, DAY);
        if today > self.today {
            self.today = today;
            let counts = |standing: &Standing| standing.day >= today || standing.raise.until > now;
            self.budgets.standings.retain(|_, standing| counts(standing));
            Arc::make_mut(&mut self.told).standings.retain(|_, standing| counts(standing));
        }
    }
}

impl Inner {
    /// Takes up what was spent before the hall was opened.
    pub(crate) async fn open_purses(self: &Arc<Self>) -> Result<(), LogError> {
        let Some(ledger) = self.log.ledger() else { return Ok(()) };
        let now = self.now();
        for (purse, raise) in ledger.raises(now).await? {
            self.purses.raise(&purse, raise, now);
        }
        let charges = ledger.charged_since(start_of(now, DAY)).await?;
        let mut book = self.purses.book();
        charges.iter().for_each(|charge| book.budgets.charge(charge));
        book.tell(&charges, now);
        Ok(())
    }

    /// Counts what was appended before there was a ledger, stream after stream.
    pub(crate) async fn count_old_turns(hall: std::sync::Weak<Inner>) {
        loop {
            let Some(hall) = hall.upgrade() else { return };
            match hall.count_some().await {
                Ok(0) => return,
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => return tracing::warn!(%error, "what turns cost before this version is not counted to the end"),
            }
        }
    }

    async fn count_some(&self) -> Result<usize, LogError> {
        let Some(ledger) = self.log.ledger() else { return Ok(0) };
        let streams = ledger.uncounted(COUNTED_AT_ONCE).await?;
        let mut counted = Vec::with_capacity(streams.len());
        for (stream, through) in &streams {
            counted.push(self.count_stream(ledger, stream, *through));
        }
        join_all(counted).await.into_iter().collect::<Result<(), LogError>>()?;
        Ok(streams.len())
    }

    async fn count_stream(&self, ledger: &dyn Ledger, stream: &StreamId, through: Seq) -> Result<(), LogError> {
        let charges = charges_up_to(&*self.log, stream, through).await.unwrap_or_else(|error| {
            tracing::warn!(%stream, %error, "what its turns cost cannot be counted");
            Vec::new()
        });
        ledger.count(stream, charges).await
    }
}

/// What is left of a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetState {
    /// Whose.
    pub purse: Purse,
    /// Of what.
    pub measure: Measure,
    /// How much there is in its window, raises included: turns, or millionths of the currency.
    pub limit: u64,
    /// How much of it was spent.
    pub spent: u64,
    /// When its window ends.
    pub until: Timestamp,
}

impl Hall {
    /// The currency of costs.
    pub fn currency(&self) -> String {
        self.inner.purses.book().budgets.currency.clone()
    }

    /// Replaces what may be spent. What was spent in the hour and the day that go on counts against it, and raises go on.
    pub fn replace_budgets(&self, config: &BudgetsConfig) {
        self.inner.purses.replace(config, self.now());
    }

    /// The budgets of a purse that has limits. That of a conversation is asked of the conversation.
    pub fn budgets_of(&self, purse: &Purse, own: Option<Standing>) -> Vec<BudgetState> {
        let now = self.now();
        let (limits, standing) = self.inner.purses.look(purse);
        let standing = own.unwrap_or(standing);
        let state = |measure| {
            let limit = standing.limit(limits.of(purse), measure, now)?;
            let (spent, until) = standing.spent(measure, now);
            Some(BudgetState { purse: purse.clone(), measure, limit, spent, until })
        };
        Measure::ALL.into_iter().filter_map(state).collect()
    }

    /// Lets a purse that does not belong to one conversation spend more for a while. It lasts over a restart, and is recorded with who
    /// did it.
    ///
    /// # Errors
    /// [`HallError::Rejected`] when there is nothing to raise or it makes no sense; others when it cannot be kept.
    pub async fn raise_budget(&self, by: &Caller, purse: &Purse, turns: u64, micros: u64, within: Millis) -> Result<Raise, HallError> {
        let now = self.now();
        let (limits, _) = self.inner.purses.look(purse);
        check_raise(limits.of(purse), turns, micros, within).map_err(|rejection| HallError::Rejected(Box::new(rejection)))?;
        let raise = Raise { turns, micros, until: now + within };
        if let Some(ledger) = self.inner.log.ledger() {
            let entry = AuditEntry { detail: self.said_of(purse, &raise), ..AuditEntry::of(by, Deed::BudgetRaised, now) };
            ledger.keep_raise(purse, &raise, &entry).await?;
        }
        self.inner.purses.raise(purse, raise, now);
        Ok(raise)
    }

    /// A raise, in a few words.
    fn said_of(&self, purse: &Purse, raise: &Raise) -> String {
        let whose = match purse {
            Purse::Hall => "the hall".to_owned(),
            Purse::Conversation => "a conversation".to_owned(),
            Purse::Agent(client) => format!("agent {client}"),
            Purse::Principal(principal) => format!("principal {principal}"),
        };
        let money = raise.micros as f64 / 1e6;
        format!("{whose}: {} more turns an hour, {money} {} more a day, until {}", raise.turns, self.currency(), raise.until)
    }

    /// What turns have cost, summed.
    ///
    /// # Errors
    /// [`HallError`] when the log cannot be read.
    pub async fn used(&self, wanted: &UsageWanted) -> Result<Vec<Used>, HallError> {
        match self.inner.log.ledger() {
            Some(ledger) => Ok(ledger.used(wanted).await?),
            None => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use moothall_kernel::budget::Account;
    use moothall_kernel::event::Usage;

    fn turn(by: &str, hour: i64) -> Charge {
        let account = Account { agent: "a".into(), by: by.into(), attended: false };
        Charge { hour: Timestamp::from_millis(hour * 3_600_000), account, turns: 1, usage: Usage::default() }
    }

    fn purses(principal: u64, hall: u64) -> Purses {
        let amounts = |turns| Amounts { unattended_turns_per_hour: Some(turns), ..Amounts::default() };
        Purses::new(&BudgetsConfig { principal: amounts(principal), hall: amounts(hall), ..BudgetsConfig::default() })
    }

    #[test]
    fn all_of_a_decision_is_paid_or_nothing() {
        let (purses, now) = (purses(3, 4), Timestamp::from_millis(5));
        assert!(purses.charge(&[turn("x", 0), turn("x", 0)], now));
        assert!(!purses.charge(&[turn("x", 0), turn("x", 0)], now));
        assert!(purses.charge(&[turn("x", 0)], now));
        assert!(!purses.charge(&[turn("y", 0), turn("y", 0)], now), "the hall has one left");
        purses.give_back(&[turn("x", 0)], now);
        assert!(purses.charge(&[turn("y", 0), turn("y", 0)], now));
        assert!(!purses.charge(&[turn("z", 0)], now));
        assert!(purses.charge(&[turn("z", 1)], Timestamp::from_millis(3_600_000)), "the next hour has its own");
    }

    #[test]
    fn a_decision_knows_of_what_is_near_its_limit_alone() {
        let (purses, now) = (purses(FAR + 2, 1_000_000), Timestamp::from_millis(5));
        assert!(purses.charge(&[turn("x", 0)], now));
        assert!(purses.facts().standings.is_empty());
        assert!(purses.charge(&[turn("x", 0)], now));
        let known: Vec<_> = purses.facts().standings.keys().cloned().collect();
        assert_eq!(known, [Purse::Principal("x".into())]);
    }

    #[test]
    fn other_limits_hold_from_the_next_decision_for_what_was_spent_before() {
        let (purses, now) = (purses(1_000_000, 1_000_000), Timestamp::from_millis(5));
        assert!(purses.charge(&[turn("x", 0), turn("x", 0)], now));
        let few = Amounts { unattended_turns_per_hour: Some(2), ..Amounts::default() };
        purses.replace(&BudgetsConfig { principal: few, ..BudgetsConfig::default() }, now);
        assert_eq!(purses.facts().limits.principal.unattended, Some(2));
        assert_eq!(purses.facts().standing(&Purse::Principal("x".into())).unattended, 2, "it is near its limit now, and was not");
        assert!(!purses.charge(&[turn("x", 0)], now) && purses.charge(&[turn("y", 0)], now));
        purses.replace(&BudgetsConfig::default(), now);
        assert!(purses.charge(&[turn("x", 0)], now));
    }

    #[test]
    fn amounts_are_read_with_their_defaults() {
        let read = |text: &str| serde_json::from_str::<BudgetsConfig>(text);
        let limits = read(r#"{"hall": {"cost_per_day": 2.5}, "agent": {"turns_per_hour": 7}}"#).unwrap().limits();
        assert_eq!(limits.hall, Limit { turns: None, unattended: Some(2000), micros: Some(2_500_000) });
        assert_eq!((limits.agent.turns, limits.principal.unattended), (Some(7), Some(600)));
        assert!(read(r#"{"currency": "usd"}"#).is_err() && read(r#"{"hall": {"cost_per_day": -1.0}}"#).is_err());
    }
}
