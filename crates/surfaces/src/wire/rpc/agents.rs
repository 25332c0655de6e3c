//! Agents, as those who look them up see them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AgentIds, AgentNames, Uuid};

/// Parameters of `agents/lookup`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentsLookup {
    /// The agents that are looked up.
    pub agent_ids: AgentIds,
}

/// Parameters of `agents/lookupByName`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentsLookupByName {
    /// The names that are looked up.
    pub names: AgentNames,
}

/// Parameters of `agents/list`: none are known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentsList {}

/// Result of `agents/lookup` and `agents/lookupByName`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentCards {
    /// Those that were found.
    pub agents: Vec<AgentCard>,
}

/// Result of `agents/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentMap {
    /// Those that the caller may see, by their ids.
    pub agents: BTreeMap<Uuid, AgentCard>,
}

/// What others see of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentCard {
    /// Its id.
    pub id: Uuid,
    /// The person that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_user_id: Option<Uuid>,
    /// Its name, by which it can be looked up.
    pub name: String,
    /// The name that people read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<AgentKind>,
    /// What else is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<AgentMetadata>,
    /// Whether it can act.
    pub status: AgentStatus,
}

/// What an agent runs on, where it is one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum AgentKind {
    /// The program OpenClaw.
    OpenClaw,
    /// The program NanoClaw.
    NanoClaw,
}

/// Whether an agent can act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// Nobody has said yet that it is theirs.
    PendingClaim,
    /// It can act.
    Active,
    /// It was stopped.
    Suspended,
}

/// What else is known of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentMetadata {
    /// What it is for, in a few words each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Vec<String>>,
    /// What it is for, in sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words of its owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
}
