//! The cost of turns, and the budgets that pay for them.

use moothall_engine::budgets::BudgetState;
use moothall_engine::ports::UsageSum;
use moothall_kernel::budget::BudgetOwner;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Answer of `GET /usage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageAnswer {
    /// Currency of all costs, as an ISO 4217 code.
    pub currency: String,
    /// Sum of everything that was asked for.
    pub total: UsageRow,
    /// Sums for each agent, thread or day, if `by` asks for them: highest cost first, or newest day
    /// first.
    pub rows: Vec<UsageRow>,
    /// The budgets with limits: the hall's, and those of the requested thread and agent.
    pub budgets: Vec<BudgetEntry>,
}

/// A sum of the usage of turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageRow {
    /// Name of the agent, a client of the registry; absent in other sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Id of the thread; absent in other sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Title of that thread; absent in other sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Day in UTC; absent in other sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// Number of turns that began. A turn that a restart lost and that ran again counts twice.
    pub turns: u64,
    /// Number of turns that were not set off by a person.
    pub unattended_turns: u64,
    /// Number of tokens that models read.
    pub input_tokens: u64,
    /// Number of tokens that models wrote.
    pub output_tokens: u64,
    /// Cost in millionths of the currency, as far as prices are configured.
    pub cost_micros: u64,
}

/// A budget with its limit and its spent part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BudgetEntry {
    /// Kind of owner: `hall`, `conversation`, `agent` or `principal`.
    pub budget: String,
    /// Name of the agent or principal that owns the budget; absent for other owners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whose: Option<String>,
    /// Measure: `turns` and `unattended_turns` an hour, `cost_micros` a day.
    pub measure: String,
    /// Limit of the budget, including raises.
    pub limit: u64,
    /// Part of the limit that was spent.
    pub spent: u64,
    /// Time at which the budget's window ends.
    pub until: String,
}

/// Body of `POST /budgets/raise`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetRaise {
    /// Kind of owner: `hall`, `agent` or `principal`. A thread's budget is raised by a control in
    /// the thread.
    pub budget: String,
    /// Name of the agent or principal that owns the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whose: Option<String>,
    /// Additional turns an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Additional money a day, in the currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Duration of the raise in seconds; one hour if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// Answer of `POST /budgets/raise`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BudgetRaised {
    /// Time at which the raise ends.
    pub until: String,
    /// The owner's budgets after the raise.
    pub budgets: Vec<BudgetEntry>,
}

impl UsageRow {
    /// Returns a sum for the wire. The caller adds the thread's title.
    pub(crate) fn of(used: &UsageSum) -> Self {
        Self {
            agent: used.agent.clone(),
            thread: used.stream.as_ref().map(ToString::to_string),
            name: None,
            // The first 10 characters of an RFC 3339 time are its date.
            day: used.day.map(|day| day.to_string().chars().take(10).collect()),
            turns: used.turns,
            unattended_turns: used.unattended,
            input_tokens: used.input_tokens,
            output_tokens: used.output_tokens,
            cost_micros: used.cost_micros,
        }
    }
}

/// Returns the kind of a budget's owner, and its name unless there is only one of the kind.
pub(super) fn owner_words(owner: &BudgetOwner) -> (&'static str, Option<&str>) {
    match owner {
        BudgetOwner::Hall => ("hall", None),
        BudgetOwner::Conversation => ("conversation", None),
        BudgetOwner::Agent(agent) => ("agent", Some(agent.as_str())),
        BudgetOwner::Principal(by) => ("principal", Some(by.as_str())),
    }
}

impl From<&BudgetState> for BudgetEntry {
    fn from(state: &BudgetState) -> Self {
        let (budget, whose) = owner_words(&state.owner);
        Self {
            budget: budget.into(),
            whose: whose.map(Into::into),
            measure: state.measure.to_string(),
            limit: state.limit,
            spent: state.spent,
            until: state.until.to_string(),
        }
    }
}
