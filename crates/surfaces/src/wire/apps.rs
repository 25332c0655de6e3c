//! JSON-RPC apps in the HTTP API.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An app that an agent manages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppEntry {
    /// Id of the app.
    pub id: String,
    /// Name from the app's manifest; empty if no agent has registered the app yet.
    pub name: String,
    /// Id of the agent that manages the app's tasks.
    pub agent: String,
    /// Name of that agent; `null` if the name was freed.
    pub agent_name: Option<String>,
    /// Time since which the agent manages the app.
    pub since: String,
    /// True if the app is asked over an open connection now.
    pub connected: bool,
}

/// Answer of `GET /apps`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppPage {
    /// The apps, ordered by id.
    pub apps: Vec<AppEntry>,
    /// The `cursor` of the next page; absent if no page follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Body of `POST /apps/{id}/transfer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppTransfer {
    /// Name or id of a registered agent.
    pub agent: String,
}

/// Answer of `DELETE /apps/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppFreed {
    /// Always `true`.
    pub freed: bool,
}

/// Body of `POST /tasks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    /// Title of the task's conversation; if absent, the names of its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 100)]
    pub name: Option<String>,
    /// Names or ids of registered agents. The first one manages the task. Required.
    #[schema(min_items = 1, max_items = 100)]
    pub agents: Vec<String>,
}

/// Answer of `POST /tasks`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskBegun {
    /// Id of the task.
    pub task: String,
    /// Id of the thread in which its agents are.
    pub thread: String,
    /// Ids of the agents, in the order in which they came.
    pub agents: Vec<String>,
}
