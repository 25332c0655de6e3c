//! Routes for JSON-RPC apps and tasks: the agents that manage them, and how people begin and change
//! them.

use axum::Json;
use axum::extract::{Path, State};
use moothall_engine::door::AppView;
use moothall_engine::tasks::TaskError;
use uuid::Uuid;

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params};
use crate::strict::Inbound;
use crate::wire::{AppEntry, AppFreed, AppPage, AppTransfer, ErrorBody, NewTask, TaskBegun};

/// Default number of rows per page.
const ROWS: usize = 100;
/// Maximum length of a task's name, in characters.
const NAME_CHARS_MAX: usize = 100;
/// Maximum number of agents of a new task.
const AGENTS_MAX: usize = 100;

/// Lists the apps that have an agent, by id.
#[utoipa::path(get, path = "/apps", operation_id = "list_apps", tag = "access",
    params(
        ("cursor" = Option<String>, Query, description = "`next` of the previous page."),
        ("limit" = Option<u64>, Query, description = "Maximum number of results (1–1000; default 100)."),
    ),
    responses((status = 200, body = AppPage), (status = "4XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, params: Params) -> ApiResult<Json<AppPage>> {
    let limit = params.limit()?.unwrap_or(ROWS);
    let apps = params.door(&app.entrance).apps(params.get("cursor"), limit).await?;
    let next = apps.last().filter(|_| apps.len() == limit).map(|app| app.id.clone());
    Ok(Json(AppPage { apps: apps.into_iter().map(entry).collect(), next }))
}

/// Transfers an app to a registered agent, with the app's open tasks. Repeat the request if it was
/// interrupted.
#[utoipa::path(post, path = "/apps/{id}/transfer", operation_id = "transfer_app", tag = "access",
    params(("id" = String, Path, description = "The app's id.")), request_body = AppTransfer,
    responses((status = 200, body = AppEntry), (status = "4XX", body = ErrorBody)))]
pub async fn transfer(
    State(app): State<App>,
    Path(id): Path<String>,
    body: Body,
) -> ApiResult<Json<AppEntry>> {
    let AppTransfer { agent } = body.read()?;
    let door = body.door(&app.entrance);
    Ok(Json(entry(door.transfer_app(&app_id(&id)?, &agent).await?)))
}

/// Takes an app from its agent. The next agent that registers the app gets it. Its open tasks have
/// no manager until a person transfers the app.
#[utoipa::path(delete, path = "/apps/{id}", operation_id = "free_app", tag = "access",
    params(("id" = String, Path, description = "The app's id.")),
    responses((status = 200, body = AppFreed), (status = "4XX", body = ErrorBody)))]
pub async fn free(
    State(app): State<App>,
    Path(id): Path<String>,
    params: Params,
) -> ApiResult<Json<AppFreed>> {
    params.door(&app.entrance).free_app(&app_id(&id)?).await?;
    Ok(Json(AppFreed { freed: true }))
}

/// Begins a task for registered agents, with a thread in which all of them are. Only an
/// administrator may, because the first agent manages the task.
#[utoipa::path(post, path = "/tasks", operation_id = "begin_task", tag = "access", request_body = NewTask,
    responses((status = 200, body = TaskBegun), (status = "4XX", body = ErrorBody)))]
pub async fn begin(State(app): State<App>, body: Body) -> ApiResult<Json<TaskBegun>> {
    let NewTask { name, agents } = body.read()?;
    let is_long = |name: &String| {
        name.trim().is_empty()
            || name.chars().count() > NAME_CHARS_MAX
            || name.chars().any(char::is_control)
    };
    if name.as_ref().is_some_and(is_long) {
        return Err(invalid(format!(
            "'name' takes 1 to {NAME_CHARS_MAX} characters, without control characters."
        )));
    }
    if agents.is_empty() || agents.len() > AGENTS_MAX {
        return Err(invalid(format!(
            "'agents' takes 1 to {AGENTS_MAX} names or ids of registered agents."
        )));
    }
    let door = body.door(&app.entrance);
    let conversation = door.begin_task_for(&agents, name).await.map_err(|error| match error {
        TaskError::Access(error) => error.into(),
        error => invalid(error.to_string()),
    })?;
    // The task may have been ended by its manager meanwhile.
    let begun = conversation.ok_or_else(|| ApiError::plain(Code::ThreadNotFound))?;
    Ok(Json(TaskBegun {
        task: begun.task.to_string(),
        thread: begun.id.to_string(),
        agents: begun.participants.iter().map(ToString::to_string).collect(),
    }))
}

fn invalid(message: String) -> ApiError {
    ApiError::new(Code::InvalidField, message)
}

impl Inbound for NewTask {
    fn missing(_: &str) -> ApiError {
        invalid("'agents' is missing: the names or ids of registered agents.".into())
    }
}

/// Returns the id as the log spells it. The ids of apps are UUIDs.
fn app_id(given: &str) -> ApiResult<String> {
    let unknown = |_| ApiError::plain(Code::UnknownApp);
    Uuid::try_parse(given).map(|id| id.to_string()).map_err(unknown)
}

fn entry(app: AppView) -> AppEntry {
    let AppView { id, name, agent, agent_name, since, connected } = app;
    let (agent, since) = (agent.to_string(), since.to_string());
    AppEntry { id, name, agent, agent_name, since, connected }
}

impl Inbound for AppTransfer {
    fn missing(_: &str) -> ApiError {
        ApiError::new(
            Code::InvalidField,
            "'agent' is missing: the name or id of a registered agent.",
        )
    }

    fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
        ApiError::new(Code::InvalidField, format!("'{field}' {takes}."))
    }
}
