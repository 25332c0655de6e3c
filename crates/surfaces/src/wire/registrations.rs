//! Registered agents in the HTTP API.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A registered agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistrationEntry {
    /// Id of the agent.
    pub id: String,
    /// Name of the agent.
    pub name: String,
    /// The agent's own description; `null` if it gave none.
    pub description: Option<String>,
    /// The user who claimed the agent; `null` before.
    pub owner: Option<String>,
    /// Time of the registration.
    pub registered_at: String,
    /// Time at which the agent's key was last used; `null` if never.
    pub last_seen_at: Option<String>,
    /// True if the agent's keys were revoked.
    pub revoked: bool,
}

/// Answer of `GET /registrations`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistrationPage {
    /// The agents, ordered by name.
    pub agents: Vec<RegistrationEntry>,
    /// The `cursor` of the next page; absent if no page can follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Answer of `POST /registrations/{agent}/revoke`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentRevoked {
    /// Id of the agent.
    pub id: String,
    /// Name of the agent.
    pub name: String,
    /// Always `true`: none of the agent's keys is valid.
    pub revoked: bool,
    /// True if a key was valid before.
    pub changed: bool,
}

/// Answer of `POST /registrations/{agent}/free`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentFreed {
    /// Former id of the agent. No other agent gets it.
    pub id: String,
    /// The name, which can be registered again.
    pub name: String,
    /// Always `true`.
    pub freed: bool,
}
