//! Money that calls in progress may still cost. It is reserved before a call begins, so that calls
//! that run at the same time do not exceed a budget together. (`docs/decisions/0016-budgets.md`)
//!
//! Reservations are only in memory. After a restart no call is in progress, and each turn that runs
//! again reserves anew.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_kernel::budget::{Account, BudgetOwner, Limits, Measure, SpentBudget, WindowTotals};
use moothall_kernel::event::{Event, Fault, RecordedEvent};
use moothall_kernel::ids::{StreamId, TurnNo};
use moothall_kernel::time::Timestamp;
use tokio::sync::Notify;

use crate::hall::budgets::SharedBudgets;
use crate::ports::Clock;
use crate::runtime::agent::CallCost;
use crate::runtime::turn::TurnKey;

/// Reservations of calls in progress, and the turns that wait for money.
#[derive(Default)]
pub(crate) struct Reservations {
    desk: Mutex<Desk>,
    changed: Notify,
}

#[derive(Default)]
struct Desk {
    held: BTreeMap<(StreamId, TurnNo), CallReservation>,
    waiting: BTreeMap<(StreamId, TurnNo), (Account, Option<Shortage>)>,
}

/// The money that is reserved for one call.
struct CallReservation {
    account: Account,
    /// Millionths of the currency; 0 if the maximum cost of the call is unknown.
    micros: u64,
}

/// The reply to a turn that asks for money.
enum MoneyReply {
    /// The call may begin, for at most this amount. `None` if no budget limits it, or if its cost
    /// is unknown.
    Begin(Option<u64>),
    /// The turn waits, because calls in progress may leave enough money.
    Wait(Option<Shortage>),
    /// The budget is spent, and no call in progress can leave any of it.
    Over(SpentBudget),
}

/// Money that is reserved for a turn, or a turn that waits for money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnReservation {
    /// The conversation of the turn.
    pub stream: StreamId,
    /// The turn for which money is reserved, or the turn that waits.
    pub turn: TurnNo,
    /// The agent that the turn is charged to.
    pub agent: String,
    /// Millionths of the currency; `None` if the turn waits for money.
    pub micros: Option<u64>,
    /// The shortage, if the turn waits for a budget.
    pub short: Option<Shortage>,
}

/// A budget with too little money for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The owner of the budget.
    pub owner: BudgetOwner,
    /// Millionths of the currency that are missing.
    pub micros: u64,
}

impl CallReservation {
    /// True if the reservation is charged to the budget of this owner. `own` is the conversation to
    /// which the budget belongs, if the owner is a conversation.
    fn is_from(&self, stream: &StreamId, owner: &BudgetOwner, own: &StreamId) -> bool {
        match owner {
            BudgetOwner::Hall => true,
            BudgetOwner::Conversation => stream == own,
            BudgetOwner::Agent(agent) => *agent == self.account.agent,
            BudgetOwner::Principal(by) => *by == self.account.by,
        }
    }
}

impl Desk {
    /// Returns the money reserved from a budget, and true if a call in progress is charged to it.
    fn reserved(&self, owner: &BudgetOwner, own: &StreamId) -> (u64, bool) {
        let from = self.held.iter().filter(|((stream, _), held)| held.is_from(stream, owner, own));
        from.fold((0, false), |(sum, _), (_, held)| (held.micros.saturating_add(sum), true))
    }

    /// Decides if a call may begin, waits or is refused. `limited` has the budgets with a limit of
    /// money: the owner, the limit, the amount spent, and the end of the window.
    fn ask(
        &self,
        own: &StreamId,
        account: &Account,
        cost: CallCost,
        limited: &[(BudgetOwner, u64, u64, Timestamp)],
    ) -> MoneyReply {
        let mut most: Option<u64> = None;
        for (owner, limit, spent, until) in limited {
            let (reserved, is_used) = self.reserved(owner, own);
            let left = limit.saturating_sub(*spent).saturating_sub(reserved);
            let fits = match cost {
                CallCost::Nothing => true,
                CallCost::AtMost { micros } => micros <= left,
                CallCost::Unknown => left > 0,
            };
            // If no other call is charged to the budget, a call may begin with the rest of the
            // money, because an estimate alone refuses no turn.
            if !fits && is_used {
                let micros = match cost {
                    CallCost::AtMost { micros } => micros - left,
                    CallCost::Nothing | CallCost::Unknown => 1,
                };
                return MoneyReply::Wait(Some(Shortage { owner: owner.clone(), micros }));
            }
            if !fits && left == 0 {
                let (owner, measure) = (owner.clone(), Measure::Money);
                return MoneyReply::Over(SpentBudget {
                    owner,
                    measure,
                    limit: *limit,
                    until: *until,
                });
            }
            most = Some(most.map_or(left, |most| most.min(left)));
        }
        let same_agent = |held: &CallReservation| held.account.agent == account.agent;
        // An agent has only one call of unknown cost at a time, so that at most one passes the
        // limit.
        if most.is_some() && cost == CallCost::Unknown && self.held.values().any(same_agent) {
            return MoneyReply::Wait(None);
        }
        MoneyReply::Begin(match cost {
            CallCost::AtMost { micros } => most.map(|most| most.min(micros)),
            CallCost::Nothing | CallCost::Unknown => None,
        })
    }
}

impl Reservations {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the reservations of turns that these events end.
    pub(crate) fn settle(&self, stream: &StreamId, events: &[RecordedEvent]) {
        let mut desk = self.desk();
        let before = desk.held.len();
        for recorded in events {
            if let Event::TurnEnded { turn, .. } | Event::TurnLost { turn, .. } = &recorded.event {
                desk.held.remove(&(stream.clone(), *turn));
            }
        }
        if desk.held.len() < before {
            self.changed.notify_waiters();
        }
    }

    /// Releases the reservations of a stream that is not live in this process any more.
    pub(crate) fn drop_stream(&self, stream: &StreamId) {
        self.desk().held.retain(|(of, _), _| of != stream);
        self.changed.notify_waiters();
    }

    /// Wakes the turns that wait, because limits have changed.
    pub(crate) fn look_again(&self) {
        self.changed.notify_waiters();
    }

    /// Returns the reservations and the turns that wait.
    pub(crate) fn list(&self) -> Vec<TurnReservation> {
        let desk = self.desk();
        let row = |(stream, turn): &(StreamId, TurnNo), account: &Account| TurnReservation {
            stream: stream.clone(),
            turn: *turn,
            agent: account.agent.clone(),
            micros: None,
            short: None,
        };
        let held = desk.held.iter().map(|(key, held)| TurnReservation {
            micros: Some(held.micros),
            ..row(key, &held.account)
        });
        let waiting = desk.waiting.iter().map(|(key, (account, short))| TurnReservation {
            short: short.clone(),
            ..row(key, account)
        });
        held.chain(waiting).collect()
    }

    /// Returns the money reserved from a budget. `own` is the conversation to which the budget
    /// belongs, if the owner is a conversation.
    pub(crate) fn reserved(&self, owner: &BudgetOwner, own: &StreamId) -> u64 {
        self.desk().reserved(owner, own).0
    }
}

/// Reserves money on behalf of one turn.
pub(crate) struct TurnPayer {
    pub(crate) reservations: Arc<Reservations>,
    pub(crate) budgets: Arc<SharedBudgets>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) account: Account,
    /// The standing of the conversation's own budget, as of its newest commit.
    pub(crate) own: Arc<Mutex<WindowTotals>>,
}

/// A turn that may wait for money. Dropping this value ends its wait.
struct QueuedTurn<'a> {
    reservations: &'a Reservations,
    key: (StreamId, TurnNo),
}

impl Drop for QueuedTurn<'_> {
    fn drop(&mut self) {
        self.reservations.desk().waiting.remove(&self.key);
    }
}

impl TurnPayer {
    /// Reserves the maximum cost of a call. If a budget has less money, and no other call is
    /// charged to it, reserves the rest of the money. Waits while the end of another call may leave
    /// enough. Returns the reserved amount; `None` if the call costs nothing, if no budget of money
    /// applies, or if the maximum cost is unknown.
    ///
    /// # Errors
    /// `over_budget` if the budget is spent and no call in progress can leave any of it.
    pub(crate) async fn reserve(
        &self,
        key: &TurnKey,
        cost: CallCost,
    ) -> Result<Option<u64>, Fault> {
        if cost == CallCost::Nothing {
            return Ok(None);
        }
        let place = (key.stream.clone(), key.turn);
        let in_line = QueuedTurn { reservations: &self.reservations, key: place.clone() };
        loop {
            let changed = self.reservations.changed.notified();
            tokio::pin!(changed);
            // The wait is registered before `ask`, so that a change between `ask` and the wait is
            // not missed.
            changed.as_mut().enable();
            match self.ask(&place, cost) {
                MoneyReply::Begin(most) => {
                    drop(in_line);
                    return Ok(most);
                }
                MoneyReply::Wait(_) => changed.await,
                MoneyReply::Over(spent) => {
                    let sentence = spent.sentence(&self.budgets.facts().currency);
                    return Err(Fault::new(
                        "over_budget",
                        format!("{sentence} until {}", spent.until),
                    ));
                }
            }
        }
    }

    /// Asks for money for a call, and notes the reply. If the call may begin, it has a reservation.
    /// If it has to wait, the turn is among those that wait. A refusal leaves no note.
    fn ask(&self, place: &(StreamId, TurnNo), cost: CallCost) -> MoneyReply {
        let now = self.clock.now();
        // The lock comes before the budgets are read, so that no reservation ends between the two
        // sums.
        let mut desk = self.reservations.desk();
        let limited = self.limited(now);
        let reply = desk.ask(&place.0, &self.account, cost, &limited);
        match &reply {
            MoneyReply::Begin(most) if !limited.is_empty() => {
                let held = CallReservation {
                    account: self.account.clone(),
                    micros: most.unwrap_or_default(),
                };
                desk.held.insert(place.clone(), held);
            }
            MoneyReply::Wait(short) => {
                desk.waiting.insert(place.clone(), (self.account.clone(), short.clone()));
            }
            MoneyReply::Begin(_) | MoneyReply::Over(_) => {}
        }
        reply
    }

    /// Returns those of the turn's budgets that limit money: the owner, the limit, the amount
    /// spent, and the end of the window.
    fn limited(&self, now: Timestamp) -> Vec<(BudgetOwner, u64, u64, Timestamp)> {
        let owners = [
            BudgetOwner::Conversation,
            BudgetOwner::Agent(self.account.agent.clone()),
            BudgetOwner::Principal(self.account.by.clone()),
            BudgetOwner::Hall,
        ];
        let looked = owners.into_iter().filter_map(|owner| {
            let (limits, standing): (Limits, WindowTotals) = self.budgets.look(&owner);
            let standing = match owner {
                BudgetOwner::Conversation => {
                    *self.own.lock().unwrap_or_else(PoisonError::into_inner)
                }
                BudgetOwner::Agent(_) | BudgetOwner::Principal(_) | BudgetOwner::Hall => standing,
            };
            let limit = standing.limit(limits.of(&owner), Measure::Money, now)?;
            let (spent, until) = standing.spent(Measure::Money, now);
            Some((owner, limit, spent, until))
        });
        looked.collect()
    }
}
