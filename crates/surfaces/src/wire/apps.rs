//! Apps of JSON-RPC on the wire of HTTP.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An app that an agent has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppEntry {
    /// Its id.
    pub id: String,
    /// Its name in its manifest; empty if no agent registered for it yet.
    pub name: String,
    /// The id of the agent that manages its tasks.
    pub agent: String,
    /// The name of that agent; `null` if it was freed.
    pub agent_name: Option<String>,
    /// Since when it manages them.
    pub since: String,
    /// `true` if it is asked over a connection now.
    pub connected: bool,
}

/// Answer of `GET /apps`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppPage {
    /// Apps, by their ids.
    pub apps: Vec<AppEntry>,
    /// The `cursor` of the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Body of `POST /apps/{id}/transfer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppTransfer {
    /// The name or the id of a registered agent.
    pub agent: String,
}

/// Answer of `DELETE /apps/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppFreed {
    /// Always `true`.
    pub freed: bool,
}
