//! Routes for health, the JSON-RPC description, and the list of agents.

use axum::Json;
use axum::extract::State;
use moothall_engine::registry::AgentSpec;
use moothall_kernel::participant::AgentFacts;
use serde_json::Value;

use super::App;
use crate::jsonrpc;
use crate::wire::{AgentEntry, AgentList, Health, Ping, WireProfile};

/// Returns the name, version and time of the server.
#[utoipa::path(get, path = "/ping", tag = "server", responses((status = 200, body = Ping)))]
pub async fn ping(State(app): State<App>) -> Json<Ping> {
    Json(Ping {
        status: "ok".into(),
        server: "moothall".into(),
        name: "Moothall".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        timestamp: app.entrance.now().to_string(),
    })
}

/// Returns `ok` and the number of threads in memory.
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, body = Health)))]
pub async fn healthz(State(app): State<App>) -> Json<Health> {
    Json(Health { status: "ok".into(), live_threads: app.entrance.live_streams() })
}

/// Returns the methods and notifications of the JSON-RPC surface, with their schemas, as an OpenRPC
/// document.
#[utoipa::path(get, path = "/openrpc.json", operation_id = "read_openrpc", tag = "server",
    responses((status = 200, body = Object, description = "The OpenRPC document.")))]
pub async fn openrpc() -> Json<Value> {
    Json(jsonrpc::openrpc())
}

/// Lists the agents that this server can run, and those that the configuration expects to connect
/// by themselves (`remote`).
#[utoipa::path(get, path = "/agents", operation_id = "list_agents", tag = "agents", responses((status = 200, body = AgentList)))]
pub async fn agents(State(app): State<App>) -> Json<AgentList> {
    let registry = app.entrance.registry();
    let mut agents: Vec<_> =
        registry.iter().map(entry).chain(registry.kept_names().map(elsewhere)).collect();
    agents.sort_by(|one, other| one.client.cmp(&other.client));
    Json(AgentList { agents })
}

/// Returns the entry of an agent that connects by itself, under a name that the operator reserved.
fn elsewhere(client: &str) -> AgentEntry {
    let facts = AgentFacts::external();
    AgentEntry {
        client: client.to_owned(),
        summary: "Runs elsewhere and connects by itself.".into(),
        runtime: facts.runtime.to_string(),
        origin: "configured".into(),
        run_as: None,
        timeout_seconds: facts.limit().as_secs_f64(),
        profile: WireProfile {
            client: Some(client.to_owned()),
            model: Some("default".into()),
            ..WireProfile::default()
        },
    }
}

/// Returns the entry of an agent that this server can run.
fn entry(spec: &AgentSpec) -> AgentEntry {
    let facts = spec.facts();
    AgentEntry {
        client: spec.client.clone(),
        summary: spec.summary.clone(),
        runtime: facts.runtime.to_string(),
        origin: spec.origin.into(),
        run_as: spec.run_as.clone(),
        timeout_seconds: facts.limit().as_secs_f64(),
        profile: (&spec.profile).into(),
    }
}
