//! Routes with which people list registered agents, revoke their keys, and free their names.

use axum::extract::{Path, State};
use axum::{Extension, Json};
use moothall_engine::access::{Caller, Registration};

use super::App;
use crate::error::ApiResult;
use crate::request::Params;
use crate::wire::{AgentFreed, AgentRevoked, ErrorBody, RegistrationEntry, RegistrationPage};

/// Default number of rows per page.
const ROWS: usize = 200;

/// Lists registered agents by name.
#[utoipa::path(get, path = "/registrations", operation_id = "list_registrations", tag = "access",
    params(
        ("cursor" = Option<String>, Query, description = "`next` of the previous page."),
        ("limit" = Option<u64>, Query, description = "Maximum number of results (1–1000; default 200)."),
    ),
    responses((status = 200, body = RegistrationPage), (status = "4XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, params: Params) -> ApiResult<Json<RegistrationPage>> {
    let limit = params.limit()?.unwrap_or(ROWS);
    let rows = app.access.registrations(params.get("cursor"), limit).await?;
    let next = rows.last().filter(|_| rows.len() == limit).map(|row| row.card.name.clone());
    Ok(Json(RegistrationPage { agents: rows.into_iter().map(entry).collect(), next }))
}

/// Revokes all keys of a registered agent. Its connections close at once. Its name stays reserved.
#[utoipa::path(post, path = "/registrations/{agent}/revoke", operation_id = "revoke_agent", tag = "access",
    params(("agent" = String, Path, description = "The agent's name or id.")),
    responses((status = 200, body = AgentRevoked), (status = "4XX", body = ErrorBody)))]
pub async fn revoke(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(agent): Path<String>,
) -> ApiResult<Json<AgentRevoked>> {
    let (card, keys) = app.access.revoke_agent(&caller, &agent).await?;
    let (id, name) = (card.id.to_string(), card.name);
    Ok(Json(AgentRevoked { id, name, revoked: true, changed: keys > 0 }))
}

/// Frees the name of a registered agent, and revokes its keys. The next agent with this name gets
/// another id, and none of its apps and tasks.
#[utoipa::path(post, path = "/registrations/{agent}/free", operation_id = "free_agent", tag = "access",
    params(("agent" = String, Path, description = "The agent's name or id.")),
    responses((status = 200, body = AgentFreed), (status = "4XX", body = ErrorBody)))]
pub async fn free(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(agent): Path<String>,
) -> ApiResult<Json<AgentFreed>> {
    let card = app.access.free_agent(&caller, &agent).await?;
    Ok(Json(AgentFreed { id: card.id.to_string(), name: card.name, freed: true }))
}

fn entry(row: Registration) -> RegistrationEntry {
    let Registration { card, revoked, last_used_at } = row;
    RegistrationEntry {
        id: card.id.to_string(),
        name: card.name,
        description: card.description,
        owner: card.owner,
        registered_at: card.created_at.to_string(),
        last_seen_at: last_used_at.map(|at| at.to_string()),
        revoked,
    }
}
