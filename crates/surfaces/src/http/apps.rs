//! Routes for JSON-RPC apps: the agents that manage their tasks, and how people change them.

use axum::Json;
use axum::extract::{Path, State};
use moothall_engine::door::AppView;
use uuid::Uuid;

use super::App;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params};
use crate::strict::Inbound;
use crate::wire::{AppEntry, AppFreed, AppPage, AppTransfer, ErrorBody};

/// Default number of rows per page.
const ROWS: usize = 100;

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
