//! The bodies that clients send, each a type that refuses members it does not know.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Body of `POST /threads`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewThread {
    /// The title; `Untitled` where it is missing or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub name: Option<String>,
    /// Who begins it; `user` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// A policy's name, or an object with `name` and its settings; `mention_only` where it is
    /// missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Value>,
}

/// Body of `POST /threads/{id}/events`. `id`, `ts`, `seq` and `via` are the server's and are
/// refused; of other keys the answer warns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NewEvent {
    /// `message` (also where it is missing), `control`, `thread.renamed`, `turn` for a pass, or a
    /// word of your own.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 64)]
    pub kind: Option<String>,
    /// Who says it. Required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// `all` (also if it is missing), or a participant's id or nickname.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The words of a message, the name of a renamed thread, the object of a control,
    /// `{"pass": true}` of a turn.
    #[serde(default)]
    pub content: Value,
    /// `reply_to` (an event's id) and `tags` (words of your own).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<NewMeta>,
    /// The thread of the path, as the events have it that clients read; no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub thread: Option<String>,
}

/// The content of a `turn` event: having nothing to say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct NewPass {
    /// `true`, or the name of the one who is to speak next.
    pub pass: Pass,
}

impl NewPass {
    /// What clients are told that send anything else.
    pub const TAKES: &str =
        "A 'turn' event takes the content {\"pass\": true}, or {\"pass\": \"<name>\"}";
}

/// That somebody has nothing to say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub enum Pass {
    /// To nobody in particular.
    On,
    /// To the one of this name.
    To(String),
}

impl TryFrom<Value> for Pass {
    type Error = &'static str;

    fn try_from(given: Value) -> Result<Self, Self::Error> {
        match given {
            Value::Bool(true) => Ok(Pass::On),
            Value::String(name) => Ok(Pass::To(name)),
            _ => Err(NewPass::TAKES),
        }
    }
}

/// What a client may say about its event. Other keys are not kept, and the answer warns of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewMeta {
    /// The id of the earlier event that it replies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Words of your own, each of 1 to 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 32)]
    pub tags: Option<Vec<String>>,
}

/// Body of `POST /threads/{id}/presence`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPresence {
    /// Whose presence it is. Required, unless a credential says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// `listening`, `thinking`, `typing`, `idle`, or a word of your own. Required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 64)]
    pub state: Option<String>,
    /// Whatever else you want to tell; kept when an update has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
}

/// Body of requests that only say who asks. It may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Actor {
    /// Who asks; `user` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
}

/// Body of `POST /mcp`: one message of JSON-RPC 2.0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct McpMessage {
    /// The version of JSON-RPC: always `2.0`.
    #[schema(pattern = r"^2\.0$")]
    pub jsonrpc: String,
    /// What the answer will carry: a text or a number; missing where no answer is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// What is asked for, e.g. `tools/call`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// What the method takes, as an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub params: Option<Value>,
}
