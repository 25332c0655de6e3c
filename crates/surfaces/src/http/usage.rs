//! Routes that sum the cost of turns and raise budgets.

use axum::Json;
use axum::extract::State;
use moothall_engine::door::{Action, Door};
use moothall_engine::ports::{UsageBy, UsageSum, UsageWanted};
use moothall_kernel::budget::BudgetOwner;
use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;

use super::App;
use crate::control::{BudgetIncrease, wrong_raise};
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params, participant, stream_id};
use crate::strict::Inbound;
use crate::wire::{
    BudgetEntry, BudgetRaise, BudgetRaised, ErrorBody, NewRaise, UsageAnswer, UsageRow,
};

/// Default number of sums per page.
const ROWS: usize = 100;

/// Sums the cost of turns, over all threads that the caller reaches.
#[utoipa::path(get, path = "/usage", operation_id = "read_usage", tag = "turns",
    params(
        ("by" = Option<String>, Query, description = "Group the sums by `agent`, `thread` or `day`. Default: only the total."),
        ("thread" = Option<String>, Query, description = "Only turns in this thread."),
        ("agent" = Option<String>, Query, description = "Only turns of this agent: a client of the registry."),
        ("from" = Option<String>, Query, description = "First day (UTC), such as 2026-01-31."),
        ("to" = Option<String>, Query, description = "Last day, included."),
        ("limit" = Option<u64>, Query, description = "Maximum number of sums (1–1000; default 100)."),
    ),
    responses((status = 200, body = UsageAnswer), (status = "4XX", body = ErrorBody)))]
pub async fn read(State(app): State<App>, params: Params) -> ApiResult<Json<UsageAnswer>> {
    let door = params.door(&app.entrance);
    let thread = thread(&door, &params).await?;
    let wanted = UsageWanted {
        streams: thread.as_ref().map(|thread| vec![thread.clone()]),
        agent: params.get("agent").map(Into::into),
        from: day(&params, "from")?,
        to: day(&params, "to")?.map(|day| day + moothall_kernel::budget::DAY),
        by: None,
        limit: 1,
    };
    let limit = params.limit()?.unwrap_or(ROWS);
    let total = door.usage(wanted.clone()).await?;
    let mut rows = Vec::new();
    if let Some(by) = by(&params)? {
        for used in door.usage(UsageWanted { by: Some(by), limit, ..wanted.clone() }).await? {
            rows.push(named(&door, &used).await?);
        }
    }
    let mut budgets = door.budgets(&BudgetOwner::Hall);
    if let Some(thread) = &thread {
        budgets.extend(door.thread_budgets(thread).await?);
    }
    if let Some(agent) = wanted.agent {
        budgets.extend(door.budgets(&BudgetOwner::Agent(agent)));
    }
    Ok(Json(UsageAnswer {
        currency: door.currency(),
        total: total.first().map(UsageRow::of).unwrap_or_default(),
        rows,
        budgets: budgets.iter().map(BudgetEntry::from).collect(),
    }))
}

fn invalid(message: &str) -> ApiError {
    ApiError::new(Code::InvalidParameter, message)
}

/// Returns the thread in the parameter, or `None` without it. Rejects a thread that the caller
/// cannot reach.
async fn thread(door: &Door, params: &Params) -> ApiResult<Option<StreamId>> {
    let Some(id) = params.get("thread") else { return Ok(None) };
    let stream = stream_id(id).ok_or_else(|| ApiError::no_thread(id))?;
    door.find(Action::ReadUsage, &stream).await?;
    Ok(Some(stream))
}

/// Returns the key by which the sums are grouped, or `None` for the total only.
fn by(params: &Params) -> ApiResult<Option<UsageBy>> {
    match params.get("by") {
        None => Ok(None),
        Some("agent") => Ok(Some(UsageBy::Agent)),
        Some("thread" | "conversation") => Ok(Some(UsageBy::Stream)),
        Some("day") => Ok(Some(UsageBy::Day)),
        Some(_) => Err(invalid("'by' takes agent, thread or day.")),
    }
}

/// Returns the beginning of the day in a parameter, in UTC, or `None` without the parameter.
fn day(params: &Params, name: &str) -> ApiResult<Option<Timestamp>> {
    let Some(day) = params.get(name) else { return Ok(None) };
    let read = if day.len() == 10 { format!("{day}T00:00:00Z").parse().ok() } else { None };
    read.map(Some).ok_or_else(|| invalid(&format!("'{name}' takes a day such as 2026-01-31.")))
}

/// Converts a sum to its wire type, with the title of its thread if it is grouped by thread.
async fn named(door: &Door, used: &UsageSum) -> ApiResult<UsageRow> {
    let mut row = UsageRow::of(used);
    if let Some(stream) = &used.stream {
        row.name = Some(door.find(Action::ReadUsage, stream).await?.catalog.title);
    }
    Ok(row)
}

/// Raises the budget of the hall, of an agent, or of a principal that causes turns. A thread's
/// budget is raised by a control in the thread.
#[utoipa::path(post, path = "/budgets/raise", operation_id = "raise_budget", tag = "turns", request_body = BudgetRaise,
    responses((status = 200, body = BudgetRaised), (status = "4XX", body = ErrorBody)))]
pub async fn raise(State(app): State<App>, body: Body) -> ApiResult<Json<BudgetRaised>> {
    let BudgetRaise { budget, whose, turns, cost, seconds } = body.read()?;
    let owner = budget_owner(&budget, whose)?;
    let BudgetIncrease { turns, micros, within } = NewRaise { turns, cost, seconds }.try_into()?;
    let door = body.door(&app.entrance);
    let raise = door.raise_budget(&owner, turns, micros, within).await?;
    let budgets = door.budgets(&owner);
    Ok(Json(BudgetRaised {
        until: raise.until.to_string(),
        budgets: budgets.iter().map(BudgetEntry::from).collect(),
    }))
}

impl Inbound for BudgetRaise {
    const EMPTY: &'static [&'static str] = &["budget"];

    fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
        wrong_raise(field)
            .unwrap_or_else(|| ApiError::new(Code::InvalidField, format!("'{field}' {takes}.")))
    }
}

/// Returns the owner of the budget to raise. Rejects `whose` for the hall, and its absence for an
/// agent or a principal.
fn budget_owner(budget: &str, whose: Option<String>) -> ApiResult<BudgetOwner> {
    let refused = |message: &str| ApiError::new(Code::InvalidField, message);
    if budget == "hall" && whose.is_some() {
        return Err(refused("The hall has a single budget: leave 'whose' out."));
    }
    let whose =
        || whose.ok_or_else(|| refused("'whose' is missing: the name of the agent or principal."));
    match budget {
        "hall" => Ok(BudgetOwner::Hall),
        "agent" => Ok(BudgetOwner::Agent(whose()?)),
        "principal" => Ok(BudgetOwner::Principal(participant(&whose()?, "whose")?)),
        _ => Err(refused("'budget' is \"hall\", \"agent\" or \"principal\".")),
    }
}
