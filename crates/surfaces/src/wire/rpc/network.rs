//! The handshake of a connection.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DateTime, Uuid};

/// Parameters of `network/connect`: a credential, and the versions of the protocol that the client
/// speaks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, try_from = "Connect")]
pub enum NetworkConnect {
    /// A connection with an agent's key.
    Agent(AgentConnect),
    /// A connection with a session's token.
    Session(SessionConnect),
}

impl NetworkConnect {
    /// Returns the oldest and the newest version that the client speaks.
    pub fn versions(&self) -> (&str, &str) {
        match self {
            Self::Agent(connect) => (&connect.min_protocol, &connect.max_protocol),
            Self::Session(connect) => (&connect.min_protocol, &connect.max_protocol),
        }
    }
}

/// The fields of both variants in one type, so that an error can name the field.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Connect {
    agent_key: Option<String>,
    session_token: Option<String>,
    min_protocol: String,
    max_protocol: String,
}

impl TryFrom<Connect> for NetworkConnect {
    type Error = &'static str;

    /// Returns an error unless exactly one of the two credentials is present.
    fn try_from(connect: Connect) -> Result<Self, &'static str> {
        let Connect { agent_key, session_token, min_protocol, max_protocol } = connect;
        match (agent_key, session_token) {
            (Some(agent_key), None) => {
                Ok(Self::Agent(AgentConnect { agent_key, min_protocol, max_protocol }))
            }
            (None, Some(session_token)) => {
                Ok(Self::Session(SessionConnect { session_token, min_protocol, max_protocol }))
            }
            _ => Err("takes exactly one of `agentKey` and `sessionToken`"),
        }
    }
}

/// A connection with an agent's key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentConnect {
    /// Key of the agent.
    pub agent_key: String,
    /// Oldest version that the client speaks, for example `2026.523.0`.
    pub min_protocol: String,
    /// Newest version that the client speaks.
    pub max_protocol: String,
}

/// A connection with a session's token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionConnect {
    /// Token of the session.
    pub session_token: String,
    /// Oldest version that the client speaks.
    pub min_protocol: String,
    /// Newest version that the client speaks.
    pub max_protocol: String,
}

/// Result of `network/connect`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HelloOk {
    /// Version of the protocol that the server speaks.
    pub protocol_version: String,
    /// Id of the agent that the connection speaks for.
    pub agent_id: Uuid,
    /// Limits of the server.
    pub policy: Policy,
}

/// The limits of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// Maximum bytes of one frame.
    pub max_message_bytes: u32,
    /// Maximum parts of one message.
    pub max_parts_per_message: u32,
    /// Maximum characters of one text.
    pub max_text_length: u32,
    /// Maximum participants of one conversation.
    pub max_group_participants: u32,
    /// Milliseconds between two heartbeats.
    pub heartbeat_interval_ms: u32,
    /// Limits for each minute.
    pub rate_limits: RateLimits,
}

/// The limits for each minute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateLimits {
    /// Maximum messages in a minute.
    pub messages_per_minute: u32,
    /// Maximum requests in a minute.
    pub requests_per_minute: u32,
}

/// Parameters of `network/ping`: an empty object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkPing {}

/// Result of `network/ping`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pong {
    /// Time at the server.
    pub ts: DateTime,
}

/// An empty result, which confirms the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Done {}
