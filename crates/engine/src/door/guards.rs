//! Guards that hold something, and limits that are nearly reached: in the conversations that the
//! caller reads, and for operators in the budgets that all conversations share.
//!
//! A listing looks at live conversations, and at those whose row in the catalog says that something
//! runs there or waits for a person. A quiet conversation is not loaded for a listing. It is read
//! if the request names it.

use std::collections::BTreeSet;

use moothall_kernel::budget::{BudgetOwner, Measure, WindowTotals};
use moothall_kernel::guards::{Count, GuardRow, GuardState, OwnWordsRow};
use moothall_kernel::ids::{ParticipantId, StreamId};

use super::{Action, Door};
use crate::access::AccessError;
use crate::answers::HallError;
use crate::hall::Hall;
use crate::hall::budgets::BudgetState;
use crate::hall::reservations::TurnReservation;
use crate::ports::{ListFilter, Scope};

/// A selection of guards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardQuery {
    /// The only conversation to look at; all within reach if unset.
    pub stream: Option<StreamId>,
    /// The conversation to list after, as [`GuardPage::next`] gave it.
    pub after: Option<StreamId>,
    /// Maximum number of conversations to look at.
    pub limit: usize,
}

/// A page of guards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardPage {
    /// The guards of the hall first, then those of each conversation.
    pub items: Vec<GuardItem>,
    /// The conversation to list after, if there are more to look at.
    pub next: Option<StreamId>,
}

/// One guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardItem {
    /// The conversation of the guard, with its title. `None` if all conversations share the guard.
    pub thread: Option<(StreamId, String)>,
    /// The guard and its state.
    pub guard: GuardSubject,
}

/// The subject of a guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardSubject {
    /// A guard of a conversation's floor.
    Floor(GuardRow),
    /// A budget.
    Budget(BudgetGuard),
    /// A call that waits for money.
    Waiting(TurnReservation),
    /// Agents' own words in all conversations.
    OwnWords(OwnWordsRow),
}

/// A budget that is spent, near its limit, or partly reserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetGuard {
    /// The budget.
    pub budget: BudgetState,
    /// Money reserved for calls under way, in millionths of the currency.
    pub reserved: u64,
}

/// The part of the guards that a caller may see.
enum Sight {
    /// All guards of the conversations within reach; for operators the shared ones too.
    Reader { operator: bool },
    /// The public guards of an agent's own conversations. `None` for a session, whose reach is its
    /// conversations already.
    Member(Option<ParticipantId>),
}

impl BudgetGuard {
    /// Returns the state of the budget; `None` if enough is left.
    pub fn state(&self) -> Option<GuardState> {
        let BudgetState { spent, limit, .. } = self.budget;
        if Count::of(spent, limit).is_full() {
            return Some(GuardState::Refused);
        }
        if Count::of(spent.saturating_add(self.reserved), limit).is_near() {
            return Some(GuardState::Near);
        }
        (self.reserved > 0).then_some(GuardState::Reserved)
    }
}

impl Door {
    /// Returns the guards that hold or refuse something, and the limits that are nearly reached.
    ///
    /// # Errors
    /// [`AccessError`], also if the request names a conversation that does not exist for the
    /// caller.
    pub async fn guards(&self, wanted: GuardQuery) -> Result<GuardPage, AccessError> {
        self.may(Action::ReadGuards)?;
        let sight = self.guard_sight();
        if let Some(stream) = &wanted.stream {
            return Ok(GuardPage { items: self.thread_guards(stream, &sight).await?, next: None });
        }
        let is_first = wanted.after.is_none();
        let (streams, next) = self.guarded_streams(wanted.after, wanted.limit).await?;
        let mut items = match sight {
            Sight::Reader { operator: true } if is_first => self.hall.shared_guards(),
            Sight::Reader { .. } | Sight::Member(_) => Vec::new(),
        };
        for stream in streams {
            match self.thread_guards(&stream, &sight).await {
                Ok(found) => items.extend(found),
                // A conversation that was deleted in the meantime, or cannot be read, must not hide
                // the others.
                Err(error) => {
                    tracing::debug!(%stream, %error, "the guards of a conversation are not shown")
                }
            }
        }
        Ok(GuardPage { items, next })
    }

    /// Returns the part of the guards that the caller may see. A person sees all guards of the
    /// conversations within reach. An operator who reaches all conversations also sees the shared
    /// guards. An agent sees only the public guards of conversations that it takes part in.
    fn guard_sight(&self) -> Sight {
        if self.caller.is_agent() {
            // A session already reaches only its own conversations: no membership to check.
            let bound = self.caller.session().is_some();
            let own = self.caller.principal().filter(|_| !bound);
            return Sight::Member(own.map(|principal| principal.id.clone()));
        }
        let is_operator = self.caller.must_prove(Scope::ServerAdmin).is_ok();
        Sight::Reader { operator: is_operator && self.caller.must_reach_all().is_ok() }
    }

    /// Returns at most `limit` conversations within reach to look at, in the order of their ids. If
    /// there are more, also returns the id after which the next page begins.
    async fn guarded_streams(
        &self,
        after: Option<StreamId>,
        limit: usize,
    ) -> Result<(Vec<StreamId>, Option<StreamId>), HallError> {
        let filter = ListFilter { marked: true, ..ListFilter::of_conversations() };
        let marked = self.hall.list(filter).await?.streams.into_iter().map(|row| row.stream);
        let all: BTreeSet<StreamId> = self
            .hall
            .inner
            .directory
            .live()
            .into_iter()
            .chain(marked)
            .filter(|stream| self.caller.reach.includes(stream))
            .filter(|stream| after.as_ref().is_none_or(|after| stream > after))
            .collect();
        let more = all.len() > limit;
        let streams: Vec<StreamId> = all.into_iter().take(limit).collect();
        let next = streams.last().filter(|_| more).cloned();
        Ok((streams, next))
    }

    /// Returns the guards of one conversation that the caller may see; none if the caller is an
    /// agent that does not take part in it.
    async fn thread_guards(
        &self,
        stream: &StreamId,
        sight: &Sight,
    ) -> Result<Vec<GuardItem>, AccessError> {
        let now = self.hall.now();
        let member = match sight {
            Sight::Reader { .. } => None,
            Sight::Member(own) => own.clone(),
        };
        let read = self.view(Action::ReadGuards, stream, move |state| {
            let is_own = member.is_none_or(|member| state.participant(&member).is_some());
            let rows = if is_own { state.guards(now) } else { Vec::new() };
            (state.name().to_owned(), state.standing(), rows)
        });
        let (name, standing, rows) = read.await?;
        let guards: Vec<GuardSubject> = match sight {
            Sight::Member(_) => {
                rows.into_iter().filter(GuardRow::is_public).map(GuardSubject::Floor).collect()
            }
            Sight::Reader { operator } => {
                let floor = rows.into_iter().map(GuardSubject::Floor);
                floor.chain(self.hall.own_money(stream, standing, *operator)).collect()
            }
        };
        let item = |guard| GuardItem { thread: Some((stream.clone(), name.clone())), guard };
        Ok(guards.into_iter().map(item).collect())
    }
}

impl Hall {
    /// Returns the budgets that conversations share, and the guards of agents' own words in all of
    /// them.
    fn shared_guards(&self) -> Vec<GuardItem> {
        let nowhere = StreamId::new("");
        let owners = self.inner.budgets.used().into_iter();
        let budgets = owners.flat_map(|owner| self.budget_guards(&owner, None, &nowhere));
        let words = self.inner.voices.facts().guards(self.now());
        let guards =
            budgets.map(GuardSubject::Budget).chain(words.into_iter().map(GuardSubject::OwnWords));
        guards.map(|guard| GuardItem { thread: None, guard }).collect()
    }

    /// Returns a conversation's own budgets and its calls that wait for money. A call names the
    /// shared budget that is short only for operators.
    fn own_money(
        &self,
        stream: &StreamId,
        standing: WindowTotals,
        is_operator: bool,
    ) -> Vec<GuardSubject> {
        let budgets = self.budget_guards(&BudgetOwner::Conversation, Some(standing), stream);
        let waits =
            |reserved: &TurnReservation| reserved.stream == *stream && reserved.micros.is_none();
        let as_subject = |reserved: TurnReservation| {
            let short = reserved
                .short
                .filter(|short| is_operator || short.owner == BudgetOwner::Conversation);
            GuardSubject::Waiting(TurnReservation { short, ..reserved })
        };
        let waiting = self.reserved().into_iter().filter(waits).map(as_subject);
        budgets.into_iter().map(GuardSubject::Budget).chain(waiting).collect()
    }

    /// Returns the budgets of an owner that are used up, nearly used up or partly reserved. `own`
    /// is the standing of a conversation's own budget.
    fn budget_guards(
        &self,
        owner: &BudgetOwner,
        own: Option<WindowTotals>,
        stream: &StreamId,
    ) -> Vec<BudgetGuard> {
        let reserved = self.inner.reservations.reserved(owner, stream);
        let guard = |budget: BudgetState| {
            let reserved = if budget.measure == Measure::Money { reserved } else { 0 };
            BudgetGuard { budget, reserved }
        };
        let guards = self.budgets_of(owner, own).into_iter().map(guard);
        guards.filter(|guard| guard.state().is_some()).collect()
    }
}
