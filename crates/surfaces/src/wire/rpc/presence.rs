//! Presence of agents, for subscribers.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{PresenceIds, Uuid};

/// Parameters of `presence/subscribe`. They replace the connection's earlier subscription.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PresenceSubscribe {
    /// Ids of the agents whose presence is followed.
    pub agent_ids: PresenceIds,
}

/// Result of `presence/subscribe`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PresenceStatuses {
    /// The current presence of these agents.
    pub statuses: Vec<Presence>,
}

/// The presence of an agent; also the payload of `presence/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Presence {
    /// Id of the agent.
    pub agent_id: Uuid,
    /// Presence of the agent.
    pub status: PresenceStatus,
}

/// The presence of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PresenceStatus {
    /// The agent is connected.
    Online,
    /// The agent is not connected.
    Offline,
    /// The agent is connected, but occupied elsewhere.
    Away,
}
