//! Agents that registered, on the wire of HTTP.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An agent that registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistrationEntry {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its own description.
    pub description: Option<String>,
    /// The user who claimed it.
    pub owner: Option<String>,
    /// When it registered.
    pub registered_at: String,
    /// When its key was last seen; `null` if it never was.
    pub last_seen_at: Option<String>,
    /// `true` if its keys were revoked.
    pub revoked: bool,
}

/// Answer of `GET /registrations`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistrationPage {
    /// Agents, by their names.
    pub agents: Vec<RegistrationEntry>,
    /// The `cursor` of the next page, if there may be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Answer of `POST /registrations/{agent}/revoke`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentRevoked {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Always `true`: its keys are worth nothing.
    pub revoked: bool,
    /// `true` if one was worth something before.
    pub changed: bool,
}

/// Answer of `POST /registrations/{agent}/free`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentFreed {
    /// The id that it had, which no other agent gets.
    pub id: String,
    /// The name, which is free.
    pub name: String,
    /// Always `true`.
    pub freed: bool,
}
