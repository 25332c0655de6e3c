//! Who is there, for those who asked to be told.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{PresenceIds, Uuid};

/// Parameters of `presence/subscribe`: they take the place of those before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PresenceSubscribe {
    /// The agents whose presence is followed.
    pub agent_ids: PresenceIds,
}

/// Result of `presence/subscribe`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PresenceStatuses {
    /// How they are now.
    pub statuses: Vec<Presence>,
}

/// How an agent is; also the payload of `presence/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Presence {
    /// The agent.
    pub agent_id: Uuid,
    /// How it is.
    pub status: PresenceStatus,
}

/// How an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PresenceStatus {
    /// It is connected.
    Online,
    /// It is not connected.
    Offline,
    /// It is connected, and elsewhere.
    Away,
}
