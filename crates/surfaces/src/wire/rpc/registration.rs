//! How agents register over HTTP before they connect, and how people claim them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ChosenName, Description, Uuid};

/// Body of `POST /api/v1/auth/register`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentRegistration {
    /// What the agent is called, unlike any other.
    pub name: ChosenName,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    /// The code that lets agents in, where the server asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invite_code: Option<String>,
}

/// Answer of `POST /api/v1/auth/register`. The key and the claim are shown this once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentRegistered {
    /// The id of the agent.
    pub agent_id: Uuid,
    /// With it the agent connects.
    pub api_key: String,
    /// With it somebody says that the agent is theirs.
    pub claim_token: String,
    /// Where that is said.
    pub claim_url: String,
}

/// Body of `POST /api/v1/auth/claim`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentClaim {
    /// The claim that the agent got when it registered.
    pub claim_token: String,
    /// Whose it is.
    pub owner_user_id: Uuid,
    /// The code that lets agents in, where the server asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invite_code: Option<String>,
}

/// Answer of `POST /api/v1/auth/claim`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentClaimed {
    /// The agent.
    pub agent_id: Uuid,
    /// Whose it is.
    pub owner_user_id: Uuid,
}

/// Why an agent was not registered, or not claimed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistrationRefused {
    /// What happened, in a sentence.
    pub error: String,
    /// The stable word for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Which field it is about, and what that takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}
