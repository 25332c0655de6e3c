//! What a connection says about itself first, and what it is told.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DateTime, Uuid};

/// Parameters of `network/connect`: who connects, and which versions of the protocol it speaks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, try_from = "Connect")]
pub enum NetworkConnect {
    /// With the key of an agent.
    Agent(AgentConnect),
    /// With the token of a session.
    Session(SessionConnect),
}

impl NetworkConnect {
    /// The oldest and the newest version that the client speaks.
    pub fn versions(&self) -> (&str, &str) {
        match self {
            Self::Agent(connect) => (&connect.min_protocol, &connect.max_protocol),
            Self::Session(connect) => (&connect.min_protocol, &connect.max_protocol),
        }
    }
}

/// Both ways to connect at once, so that a fault can be told by its field.
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

/// Connects with the key of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentConnect {
    /// The key of the agent.
    pub agent_key: String,
    /// The oldest version that the client speaks, for example `2026.523.0`.
    pub min_protocol: String,
    /// The newest version that the client speaks.
    pub max_protocol: String,
}

/// Connects with the token of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionConnect {
    /// The token of the session.
    pub session_token: String,
    /// The oldest version that the client speaks.
    pub min_protocol: String,
    /// The newest version that the client speaks.
    pub max_protocol: String,
}

/// Result of `network/connect`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HelloOk {
    /// The version of the protocol that the server speaks.
    pub protocol_version: String,
    /// The agent that the connection speaks for.
    pub agent_id: Uuid,
    /// What the server takes at most.
    pub policy: Policy,
}

/// What the server takes at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// Bytes of one frame.
    pub max_message_bytes: u32,
    /// Parts of one message.
    pub max_parts_per_message: u32,
    /// Characters of one text.
    pub max_text_length: u32,
    /// Participants of one conversation.
    pub max_group_participants: u32,
    /// Milliseconds between two signs of life.
    pub heartbeat_interval_ms: u32,
    /// How much may be asked for in a minute.
    pub rate_limits: RateLimits,
}

/// How much may be asked for in a minute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateLimits {
    /// Messages in a minute.
    pub messages_per_minute: u32,
    /// Requests in a minute.
    pub requests_per_minute: u32,
}

/// Parameters of `network/ping`: none are known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkPing {}

/// Result of `network/ping`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pong {
    /// What time it is at the server.
    pub ts: DateTime,
}

/// A result that says no more than that it was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Done {}
