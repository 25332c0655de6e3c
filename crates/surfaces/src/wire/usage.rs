//! What turns have cost, and what may still be spent.

use moothall_engine::budgets::BudgetState;
use moothall_engine::ports::UsageSum;
use moothall_kernel::budget::BudgetOwner;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Answer of `GET /usage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageAnswer {
    /// The currency of all costs, as ISO 4217 writes it.
    pub currency: String,
    /// Everything that was asked for, summed.
    pub total: UsageRow,
    /// A sum for each agent, thread or day, where `by` asks for them: those that cost most first,
    /// the newest day first.
    pub rows: Vec<UsageRow>,
    /// The budgets with limits: the hall's, and those of the thread and the agent that were asked
    /// for.
    pub budgets: Vec<BudgetEntry>,
}

/// A sum of what turns have cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageRow {
    /// The agent: a client of the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The id of the thread, in a sum for each thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The title of that thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The day in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// Turns that began; one that a restart lost and that ran again counts twice.
    pub turns: u64,
    /// Those that no person set off.
    pub unattended_turns: u64,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// Cost in millionths of the currency, where prices are configured.
    pub cost_micros: u64,
}

/// A budget, and what is left of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BudgetEntry {
    /// Whose: `hall`, `conversation`, `agent`, `principal`.
    pub budget: String,
    /// Which agent or principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whose: Option<String>,
    /// Of what: `turns` and `unattended_turns` an hour, `cost_micros` a day.
    pub measure: String,
    /// How much there is, raises included.
    pub limit: u64,
    /// How much of it was spent.
    pub spent: u64,
    /// When the window ends.
    pub until: String,
}

/// Body of `POST /budgets/raise`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetRaise {
    /// Whose: `hall`, `agent`, `principal`. A thread's is raised by a control, in the thread.
    pub budget: String,
    /// Which agent or principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whose: Option<String>,
    /// So many turns more in each hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// So much money more in each day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// For so long; an hour where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// Answer of `POST /budgets/raise`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BudgetRaised {
    /// Until when it holds.
    pub until: String,
    /// The budgets of the purse after it.
    pub budgets: Vec<BudgetEntry>,
}

impl UsageRow {
    /// A sum as it travels; its title is looked up by whoever asks.
    pub(crate) fn of(used: &UsageSum) -> Self {
        Self {
            agent: used.agent.clone(),
            thread: used.stream.as_ref().map(ToString::to_string),
            name: None,
            day: used.day.map(|day| day.to_string().chars().take(10).collect()),
            turns: used.turns,
            unattended_turns: used.unattended,
            input_tokens: used.input_tokens,
            output_tokens: used.output_tokens,
            cost_micros: used.cost_micros,
        }
    }
}

/// Whose budget it is: the kind, and the name where there are several.
pub(super) fn purse_words(purse: &BudgetOwner) -> (&'static str, Option<&str>) {
    match purse {
        BudgetOwner::Hall => ("hall", None),
        BudgetOwner::Conversation => ("conversation", None),
        BudgetOwner::Agent(agent) => ("agent", Some(agent.as_str())),
        BudgetOwner::Principal(by) => ("principal", Some(by.as_str())),
    }
}

impl From<&BudgetState> for BudgetEntry {
    fn from(state: &BudgetState) -> Self {
        let (budget, whose) = purse_words(&state.purse);
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
