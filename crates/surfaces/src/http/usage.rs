//! What turns have cost, and raising what they may.

use axum::Json;
use axum::extract::State;
use moothall_engine::hall::Hall;
use moothall_engine::ports::{UsageBy, UsageWanted, Used};
use moothall_kernel::budget::Purse;
use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;

use super::App;
use crate::control::{Raised, wrong_raise};
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params, participant, stream_id};
use crate::strict::Inbound;
use crate::wire::{BudgetEntry, BudgetRaise, BudgetRaised, ErrorBody, NewRaise, UsageAnswer, UsageRow};

/// Sums of a page where nothing is said.
const ROWS: usize = 100;

/// Sums what turns have cost, over all that the caller reaches.
#[utoipa::path(get, path = "/usage", operation_id = "read_usage", tag = "turns",
    params(
        ("by" = Option<String>, Query, description = "A sum for each `agent`, `thread` or `day`; only the total where it is missing."),
        ("thread" = Option<String>, Query, description = "Only in this thread."),
        ("agent" = Option<String>, Query, description = "Only of this agent: a client of the registry."),
        ("from" = Option<String>, Query, description = "Only from this day (UTC) on, such as 2026-01-31."),
        ("to" = Option<String>, Query, description = "Only up to and with this day."),
        ("limit" = Option<u64>, Query, description = "1 to 1000 sums; 100 where it is missing."),
    ),
    responses((status = 200, body = UsageAnswer), (status = "4XX", body = ErrorBody)))]
pub async fn read(State(app): State<App>, params: Params) -> ApiResult<Json<UsageAnswer>> {
    let (hall, thread) = (&app.hall, thread(&app.hall, &params).await?);
    let reach = params.caller().reach.only().map(|streams| streams.iter().cloned().collect());
    let wanted = UsageWanted {
        streams: thread.as_ref().map(|thread| vec![thread.clone()]).or(reach),
        agent: params.get("agent").map(Into::into),
        from: day(&params, "from")?,
        to: day(&params, "to")?.map(|day| day + moothall_kernel::budget::DAY),
        by: None,
        limit: 1,
    };
    let limit = params.limit()?.unwrap_or(ROWS);
    let total = hall.used(&wanted).await?;
    let mut rows = Vec::new();
    if let Some(by) = by(&params)? {
        for used in hall.used(&UsageWanted { by: Some(by), limit, ..wanted.clone() }).await? {
            rows.push(named(hall, &used).await?);
        }
    }
    let mut budgets = if params.caller().reach.only().is_none() { hall.budgets_of(&Purse::Hall, None) } else { Vec::new() };
    if let Some(thread) = &thread {
        let standing = hall.view(thread, |state| state.standing()).await?;
        budgets.extend(hall.budgets_of(&Purse::Conversation, Some(standing)));
    }
    if let Some(agent) = wanted.agent.filter(|_| params.caller().reach.only().is_none()) {
        budgets.extend(hall.budgets_of(&Purse::Agent(agent), None));
    }
    Ok(Json(UsageAnswer {
        currency: hall.currency(),
        total: total.first().map(UsageRow::of).unwrap_or_default(),
        rows,
        budgets: budgets.iter().map(BudgetEntry::from).collect(),
    }))
}

fn invalid(message: &str) -> ApiError {
    ApiError::new(Code::InvalidParameter, message)
}

async fn thread(hall: &Hall, params: &Params) -> ApiResult<Option<StreamId>> {
    let Some(id) = params.get("thread") else { return Ok(None) };
    let stream = stream_id(id).filter(|stream| params.caller().reach.includes(stream)).ok_or_else(|| ApiError::no_thread(id))?;
    hall.find(&stream).await?;
    Ok(Some(stream))
}

fn by(params: &Params) -> ApiResult<Option<UsageBy>> {
    match params.get("by") {
        None => Ok(None),
        Some("agent") => Ok(Some(UsageBy::Agent)),
        Some("thread" | "conversation") => Ok(Some(UsageBy::Stream)),
        Some("day") => Ok(Some(UsageBy::Day)),
        Some(_) => Err(invalid("'by' takes agent, thread or day.")),
    }
}

fn day(params: &Params, name: &str) -> ApiResult<Option<Timestamp>> {
    let Some(day) = params.get(name) else { return Ok(None) };
    let read = if day.len() == 10 { format!("{day}T00:00:00Z").parse().ok() } else { None };
    read.map(Some).ok_or_else(|| invalid(&format!("'{name}' takes a day such as 2026-01-31.")))
}

async fn named(hall: &Hall, used: &Used) -> ApiResult<UsageRow> {
    let mut row = UsageRow::of(used);
    if let Some(stream) = &used.stream {
        row.name = Some(hall.find(stream).await?.catalog.title);
    }
    Ok(row)
}

/// Raises the budget of the hall, of an agent, or of whoever sets turns off. A thread's is raised by a control, in the thread.
#[utoipa::path(post, path = "/budgets/raise", operation_id = "raise_budget", tag = "turns", request_body = BudgetRaise,
    responses((status = 200, body = BudgetRaised), (status = "4XX", body = ErrorBody)))]
pub async fn raise(State(app): State<App>, body: Body) -> ApiResult<Json<BudgetRaised>> {
    let BudgetRaise { budget, whose, turns, cost, seconds } = body.read()?;
    let purse = purse(&budget, whose)?;
    let Raised { turns, micros, within } = NewRaise { turns, cost, seconds }.try_into()?;
    let raise = body.door(&app.hall).raise_budget(&purse, turns, micros, within).await?;
    let budgets = app.hall.budgets_of(&purse, None);
    Ok(Json(BudgetRaised { until: raise.until.to_string(), budgets: budgets.iter().map(BudgetEntry::from).collect() }))
}

impl Inbound for BudgetRaise {
    const EMPTY: &'static [&'static str] = &["budget"];

    fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
        wrong_raise(field).unwrap_or_else(|| ApiError::new(Code::InvalidField, format!("'{field}' {takes}.")))
    }
}

fn purse(budget: &str, whose: Option<String>) -> ApiResult<Purse> {
    let refused = |message: &str| ApiError::new(Code::InvalidField, message);
    let whose = || whose.ok_or_else(|| refused("'whose' is missing: the name of the agent or principal."));
    match budget {
        "hall" => Ok(Purse::Hall),
        "agent" => Ok(Purse::Agent(whose()?)),
        "principal" => Ok(Purse::Principal(participant(&whose()?, "whose")?)),
        _ => Err(refused("'budget' is \"hall\", \"agent\" or \"principal\".")),
    }
}
