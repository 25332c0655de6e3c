//! Budgets of turns in an hour and money in a day, and the accounts that turns are charged to.
//!
//! A turn is charged to the hall, to its conversation, to the agent that runs it, and to the
//! participant that caused it. Unattended turns have a limit of their own: those that agents cause
//! among each other, and those caused by words that no credential proves to be a person's. Windows
//! are clock hours and days in UTC, by the time of the stream. (`docs/decisions/0016-budgets.md`)

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use crate::model::ids::ParticipantId;
use crate::model::time::{Millis, Timestamp};
use crate::model::usage::Usage;
use crate::text::counted;

/// The window of turns.
pub const HOUR: Millis = Millis::from_secs(3600);
/// The window of money.
pub const DAY: Millis = Millis::from_secs(24 * 3600);
/// The owner of a budget.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetOwner {
    /// All conversations of this server.
    Hall,
    /// This conversation.
    Conversation,
    /// All participants with this client of the registry.
    Agent(String),
    /// The participant that set the turn off.
    Principal(ParticipantId),
}

/// The unit of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Measure {
    /// Turns in an hour.
    Turns,
    /// Turns in an hour that no proven person set off.
    #[strum(serialize = "unattended_turns")]
    Unattended,
    /// Money in a day, in millionths of the currency.
    #[strum(serialize = "cost_micros")]
    Money,
}

/// The limits of one budget; unset means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Turns in a clock hour (UTC).
    pub turns: Option<u64>,
    /// Unattended turns in a clock hour.
    pub unattended: Option<u64>,
    /// Millionths of the currency in a day.
    pub micros: Option<u64>,
}

impl Limit {
    fn of(&self, measure: Measure) -> Option<u64> {
        match measure {
            Measure::Turns => self.turns,
            Measure::Unattended => self.unattended,
            Measure::Money => self.micros,
        }
    }
}

/// The limits of all kinds of budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The limit of all conversations of the server together.
    pub hall: Limit,
    /// The limit of each conversation.
    pub conversation: Limit,
    /// The limit of each agent, in all conversations.
    pub agent: Limit,
    /// The limit of each participant that sets turns off.
    pub principal: Limit,
}

impl Limits {
    /// Returns the limit of a budget.
    pub fn of(&self, owner: &BudgetOwner) -> &Limit {
        match owner {
            BudgetOwner::Hall => &self.hall,
            BudgetOwner::Conversation => &self.conversation,
            BudgetOwner::Agent(_) => &self.agent,
            BudgetOwner::Principal(_) => &self.principal,
        }
    }
}

/// An increase of a limit for some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raise {
    /// Additional turns in each hour.
    pub turns: u64,
    /// Additional millionths of the currency in each day.
    pub micros: u64,
    /// End of the increase.
    pub until: Timestamp,
}

/// The account that a turn is charged to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The client that runs the turn; the participant's id without one.
    pub agent: String,
    /// The participant that set the turn off.
    pub by: ParticipantId,
    /// True if a proven person is in the turn's chain of causes.
    pub attended: bool,
}

/// The cost of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Start of the event's hour.
    pub hour: Timestamp,
    /// The account that is charged.
    pub account: Account,
    /// Number of turns that began.
    pub turns: u64,
    /// Usage that the event reports.
    pub usage: Usage,
}

impl Charge {
    /// Returns the budgets charged in addition to the conversation's.
    pub fn owners(&self) -> [BudgetOwner; 3] {
        [
            BudgetOwner::Hall,
            BudgetOwner::Agent(self.account.agent.clone()),
            BudgetOwner::Principal(self.account.by.clone()),
        ]
    }

    /// True if the charge counts for a budget. False for a conversation's budget, which its own
    /// state counts.
    fn is_from(&self, owner: &BudgetOwner) -> bool {
        match owner {
            BudgetOwner::Hall => true,
            BudgetOwner::Conversation => false,
            BudgetOwner::Agent(agent) => *agent == self.account.agent,
            BudgetOwner::Principal(by) => *by == self.account.by,
        }
    }

    /// Returns the number of unattended turns.
    pub fn unattended(&self) -> u64 {
        if self.account.attended { 0 } else { self.turns }
    }
}

/// Amounts spent from a budget in the windows of the latest charge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowTotals {
    /// Start of the hour that turns are counted in.
    pub hour: Timestamp,
    /// Turns in that hour.
    pub turns: u64,
    /// Unattended turns among them.
    pub unattended: u64,
    /// Start of the day that money is counted in.
    pub day: Timestamp,
    /// Millionths of the currency in that day.
    pub micros: u64,
    /// The increase of the limit.
    pub raise: Raise,
}

/// A budget that is used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentBudget {
    /// The owner of the budget.
    #[serde(rename = "purse")]
    pub owner: BudgetOwner,
    /// The unit that is counted.
    pub measure: Measure,
    /// The limit, in turns or millionths of the currency.
    pub limit: u64,
    /// End of the window.
    pub until: Timestamp,
}

impl WindowTotals {
    /// Adds a charge. Charges of an earlier window count in the present one, so that setting the
    /// clock back saves nothing.
    pub fn charge(&mut self, charge: &Charge) {
        if charge.hour > self.hour {
            (self.hour, self.turns, self.unattended) = (charge.hour, 0, 0);
        }
        let day = start_of(charge.hour, DAY);
        if day > self.day {
            (self.day, self.micros) = (day, 0);
        }
        self.turns += charge.turns;
        self.unattended += charge.unattended();
        self.micros = self.micros.saturating_add(charge.usage.cost_micros);
    }

    /// Removes a charge whose events were not appended.
    pub fn give_back(&mut self, charge: &Charge, now: Timestamp) {
        if counts_in(self.hour, charge, HOUR, now) {
            self.turns = self.turns.saturating_sub(charge.turns);
            self.unattended = self.unattended.saturating_sub(charge.unattended());
        }
        if counts_in(self.day, charge, DAY, now) {
            self.micros = self.micros.saturating_sub(charge.usage.cost_micros);
        }
    }

    /// Returns the rest of a limit, if there is one.
    pub fn remaining(&self, limit: &Limit, measure: Measure, now: Timestamp) -> Option<u64> {
        Some(self.limit(limit, measure, now)?.saturating_sub(self.spent(measure, now).0))
    }

    /// Returns the amount spent in the window of a time, and the end of that window.
    pub fn spent(&self, measure: Measure, now: Timestamp) -> (u64, Timestamp) {
        let (window, began, length) = match measure {
            Measure::Turns | Measure::Unattended => (start_of(now, HOUR), self.hour, HOUR),
            Measure::Money => (start_of(now, DAY), self.day, DAY),
        };
        let spent = match measure {
            Measure::Turns => self.turns,
            Measure::Unattended => self.unattended,
            Measure::Money => self.micros,
        };
        if began < window { (0, window + length) } else { (spent, began + length) }
    }

    /// Returns the limit at a time, including a raise.
    pub fn limit(&self, limit: &Limit, measure: Measure, now: Timestamp) -> Option<u64> {
        let raise = if now < self.raise.until { self.raise } else { Raise::default() };
        let more = match measure {
            Measure::Turns | Measure::Unattended => raise.turns,
            Measure::Money => raise.micros,
        };
        limit.of(measure).map(|limit| limit.saturating_add(more))
    }

    /// Returns the first of the measures that is used up, with its limit and the end of its window.
    pub(crate) fn used_up(
        &self,
        limit: &Limit,
        measures: &[Measure],
        attended: bool,
        now: Timestamp,
    ) -> Option<(Measure, u64, Timestamp)> {
        let mut counted = measures
            .iter()
            .copied()
            .filter(|measure| !(attended && *measure == Measure::Unattended));
        counted.find_map(|measure| {
            let (spent, until) = self.spent(measure, now);
            let limit = self.limit(limit, measure, now).filter(|limit| spent >= *limit)?;
            Some((measure, limit, until))
        })
    }
}

/// Limits and amounts spent, for all budgets except those of conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// Currency of money, as an ISO 4217 code.
    pub currency: String,
    /// The limits of all kinds of budget.
    pub limits: Limits,
    /// Amounts spent from each budget; missing ones have spent nothing.
    pub standings: BTreeMap<BudgetOwner, WindowTotals>,
}

impl Budgets {
    /// Returns the amounts spent from a budget.
    pub fn standing(&self, owner: &BudgetOwner) -> WindowTotals {
        self.standings.get(owner).copied().unwrap_or_default()
    }

    /// Returns the amounts spent from a budget, including these charges.
    pub(crate) fn standing_after(&self, owner: &BudgetOwner, charges: &[Charge]) -> WindowTotals {
        let mut standing = self.standing(owner);
        charges
            .iter()
            .filter(|charge| charge.is_from(owner))
            .for_each(|charge| standing.charge(charge));
        standing
    }

    /// True if all charges can be paid, one after the other.
    pub fn can_pay(&self, charges: &[Charge], now: Timestamp) -> bool {
        (0..charges.len()).all(|at| {
            let (before, charge) = (&charges[..at], &charges[at]);
            let pays = |owner: &BudgetOwner| {
                let standing = self.standing_after(owner, before);
                let (limit, attended) = (self.limits.of(owner), charge.account.attended);
                // The time of a stream may be ahead of the computer's clock.
                standing.used_up(limit, Measure::VARIANTS, attended, now.max(charge.hour)).is_none()
            };
            // A charge without turns is a cost that was spent already: refusing it saves nothing.
            charge.turns == 0 || charge.owners().iter().all(pays)
        })
    }

    /// Adds a charge to each of its budgets.
    pub fn charge(&mut self, charge: &Charge) {
        for owner in charge.owners() {
            self.standings.entry(owner).or_default().charge(charge);
        }
    }
}

/// True if the amounts of the window that began at `began` include a charge. If the time of another
/// stream is ahead, a charge of an earlier window was counted in `began`, too. If the computer's
/// clock has left the charge's own window, the amounts do not include it any more.
fn counts_in(began: Timestamp, charge: &Charge, length: Millis, now: Timestamp) -> bool {
    let own = start_of(charge.hour, length);
    own >= began || own >= start_of(now, length)
}

/// Returns the start of the window of this length that contains a time.
pub fn start_of(ts: Timestamp, length: Millis) -> Timestamp {
    let length = i64::try_from(length.0.max(1)).unwrap_or(i64::MAX);
    Timestamp::from_millis(ts.millis() - ts.millis().rem_euclid(length))
}

impl SpentBudget {
    /// Returns a sentence for people about the used-up budget.
    pub fn sentence(&self, currency: &str) -> String {
        let whose = match &self.owner {
            BudgetOwner::Hall => "this server".to_owned(),
            BudgetOwner::Conversation => "this conversation".to_owned(),
            BudgetOwner::Agent(agent) => format!("the agent {agent}"),
            BudgetOwner::Principal(by) => format!("what {by} sets off"),
        };
        let turns = counted(self.limit, "turn");
        let what = match self.measure {
            Measure::Turns => format!("{turns} an hour"),
            Measure::Unattended => format!("{turns} an hour that no person asked for"),
            Measure::Money => format!("{} {currency} a day", money(self.limit)),
        };
        format!("the budget of {whose}, {what}, is used up")
    }
}

/// Formats millionths of a currency with two to six decimals.
pub fn money(micros: u64) -> String {
    let digits = format!("{:06}", micros % 1_000_000);
    let kept = digits.trim_end_matches('0').len().max(2);
    format!("{}.{}", micros / 1_000_000, &digits[..kept])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charge(hour: i64, turns: u64, micros: u64, attended: bool) -> Charge {
        let account = Account { agent: "a".into(), by: "user".into(), attended };
        let usage = Usage { cost_micros: micros, ..Usage::default() };
        Charge { hour: Timestamp::from_millis(hour * 3_600_000), account, turns, usage }
    }

    #[test]
    fn turns_are_counted_by_the_hour_and_money_by_the_day() {
        let mut standing = WindowTotals::default();
        standing.charge(&charge(23, 2, 500, true));
        standing.charge(&charge(23, 1, 0, false));
        let at = |hours: i64| Timestamp::from_millis(hours * 3_600_000 + 5);
        let hour = |hours: i64| Timestamp::from_millis(hours * 3_600_000);
        assert_eq!(standing.spent(Measure::Turns, at(23)), (3, hour(24)));
        assert_eq!(standing.spent(Measure::Unattended, at(23)), (1, hour(24)));
        assert_eq!(standing.spent(Measure::Money, at(23)), (500, hour(24)));
        assert_eq!(standing.spent(Measure::Turns, at(24)), (0, hour(25)));
        assert_eq!(standing.spent(Measure::Money, at(24)), (0, hour(48)));
        standing.charge(&charge(26, 1, 1, true));
        assert_eq!(standing.spent(Measure::Turns, at(26)), (1, hour(27)));
        standing.charge(&charge(25, 1, 1, true));
        assert_eq!(
            standing.spent(Measure::Turns, at(25)),
            (2, hour(27)),
            "a clock that goes back makes nothing cheaper"
        );
    }

    #[test]
    fn a_raise_holds_until_its_time() {
        let limit = Limit { turns: Some(2), unattended: None, micros: None };
        let until = Timestamp::from_millis(1000);
        let standing =
            WindowTotals { raise: Raise { turns: 3, micros: 0, until }, ..WindowTotals::default() };
        assert_eq!(standing.limit(&limit, Measure::Turns, Timestamp::from_millis(999)), Some(5));
        assert_eq!(standing.limit(&limit, Measure::Turns, until), Some(2));
        assert_eq!(standing.limit(&limit, Measure::Money, Timestamp::from_millis(0)), None);
    }

    #[test]
    fn money_is_written_as_people_write_it() {
        assert_eq!(
            [money(0), money(1_500_000), money(135), money(2_000_010)],
            ["0.00", "1.50", "0.000135", "2.00001"]
        );
    }
}
