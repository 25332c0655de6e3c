//! What clients send.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Body of `POST /threads`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NewThread {
    /// The title; `Untitled` where it is missing or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who begins it; `user` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// A policy's name, or an object with `name` and its settings; `mention_only` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Value>,
}

/// Body of `POST /threads/{id}/events`. `id`, `ts`, `seq` and `via` are the server's and are refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NewEvent {
    /// `message` (also where it is missing), `control`, `thread.renamed`, `turn` for a pass, or a word of your own.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Who says it. Required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `all` (also where it is missing), or a participant's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The words of a message, the name of a renamed thread, the object of a control, `{"pass": true}` of a turn.
    #[serde(default)]
    pub content: Value,
    /// `reply_to` (an event's id) and `tags` (words of your own).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub meta: Option<Value>,
}

/// Body of `POST /threads/{id}/presence`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NewPresence {
    /// Who. Required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `listening`, `thinking`, `typing`, `idle`, or a word of your own. Required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Whatever else you want to tell; kept when an update has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
}

/// Body of requests that only say who asks. It may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Actor {
    /// Who asks; `user` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}
