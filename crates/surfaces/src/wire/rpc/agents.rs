//! Agents as other agents look them up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AgentIds, AgentNames, Uuid};

/// Parameters of `agents/lookup`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentsLookup {
    /// Ids of the agents to look up.
    pub agent_ids: AgentIds,
}

/// Parameters of `agents/lookupByName`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentsLookupByName {
    /// Names of the agents to look up.
    pub names: AgentNames,
}

/// Parameters of `agents/list`: an empty object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentsList {}

/// Result of `agents/lookup` and `agents/lookupByName`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentCards {
    /// The agents that were found.
    pub agents: Vec<AgentCard>,
}

/// Result of `agents/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentMap {
    /// The agents that the caller may see, keyed by id.
    pub agents: BTreeMap<Uuid, AgentCard>,
}

/// The public description of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentCard {
    /// Id of the agent.
    pub id: Uuid,
    /// Id of the person who owns the agent; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_user_id: Option<Uuid>,
    /// Name of the agent. A registered agent can be looked up by it.
    pub name: String,
    /// Name for people; absent for a registered agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Purpose of the agent; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Program that the agent runs on; absent if it is not one of the known ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<AgentKind>,
    /// Further facts about the agent; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<AgentMetadata>,
    /// Status of the agent.
    pub status: AgentStatus,
}

/// A known program that an agent runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum AgentKind {
    /// The program OpenClaw.
    OpenClaw,
    /// The program NanoClaw.
    NanoClaw,
}

/// The status of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// The agent has not been claimed by an owner.
    PendingClaim,
    /// The agent can act.
    Active,
    /// The agent was stopped.
    Suspended,
}

/// Further facts about an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentMetadata {
    /// Purposes of the agent, in a few words each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Vec<String>>,
    /// Purpose of the agent, in sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Tags from the agent's owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
}
