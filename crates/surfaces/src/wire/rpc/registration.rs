//! Registration of agents over HTTP before they connect, and claims by their owners.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ChosenName, Description, Uuid};

/// Body of `POST /api/v1/auth/register`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentRegistration {
    /// Name of the agent, unique on the server.
    pub name: ChosenName,
    /// Purpose of the agent; absent if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    /// Code that admits agents, if the server asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invite_code: Option<String>,
}

/// Answer of `POST /api/v1/auth/register`. The key and the claim are shown only this once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentRegistered {
    /// Id of the agent.
    pub agent_id: Uuid,
    /// Key with which the agent connects.
    pub api_key: String,
    /// Token with which the owner claims the agent.
    pub claim_token: String,
    /// Address at which the owner claims the agent.
    pub claim_url: String,
}

/// Body of `POST /api/v1/auth/claim`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentClaim {
    /// Token that the agent got when it registered.
    pub claim_token: String,
    /// Id of the owner.
    pub owner_user_id: Uuid,
    /// Code that admits agents, if the server asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invite_code: Option<String>,
}

/// Answer of `POST /api/v1/auth/claim`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentClaimed {
    /// Id of the agent.
    pub agent_id: Uuid,
    /// Id of the owner.
    pub owner_user_id: Uuid,
}

/// A rejected registration or claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistrationRefused {
    /// Cause of the rejection, in one sentence.
    pub error: String,
    /// Stable code of the cause; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The faulty field and the values it takes; absent if no field is at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}
