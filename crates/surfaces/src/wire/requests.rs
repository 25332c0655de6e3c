//! The bodies of requests. Most of these types refuse unknown members.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Body of `POST /threads`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewThread {
    /// Title of the thread; `Untitled` if absent or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub name: Option<String>,
    /// Id of the participant that creates the thread; `user` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// Name of a policy, or an object with `name` and its settings; `mention_only` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Value>,
    /// Absolute path of the folder in which Claude Code, Codex and Gemini CLI work for the thread,
    /// unless they have a folder or a user of their own; the server's folder if absent. Takes
    /// `sessions:drive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 4096)]
    pub folder: Option<String>,
}

/// Body of `POST /threads/{id}/events`. `id`, `ts`, `seq` and `via` belong to the server and are
/// refused. The answer warns of other unknown keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NewEvent {
    /// Type of the event: `message`, `control`, `thread.renamed`, `turn` for a pass, or the
    /// client's own word; `message` if absent.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 64)]
    pub kind: Option<String>,
    /// Id of the participant that speaks. Required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// Addressee: `all`, or a participant's id or nickname; `all` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Text of a message, name of a renamed thread, object of a control, or `{"pass": true}` for a
    /// turn.
    #[serde(default)]
    pub content: Value,
    /// `reply_to` (an event's id) and `tags` (the client's own labels).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<NewMeta>,
    /// Id of the thread in the path, as in events that clients read. Another id is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub thread: Option<String>,
}

/// The content of a `turn` event: a pass.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct NewPass {
    /// `true`, or the name of the participant that shall speak next.
    pub pass: Pass,
}

impl NewPass {
    /// The message for clients that send other content.
    pub const TAKES: &str =
        "A 'turn' event takes the content {\"pass\": true}, or {\"pass\": \"<name>\"}";
}

/// A participant's pass.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub enum Pass {
    /// A pass without a next speaker.
    On,
    /// A pass to the participant of this name.
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

/// Facts that a client adds to its event. Other keys are dropped with a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewMeta {
    /// Id of the earlier event that this one replies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The client's own labels, each of 1 to 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 32)]
    pub tags: Option<Vec<String>>,
}

/// Body of `POST /threads/{id}/presence`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPresence {
    /// Id of the participant. Required without a credential that names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
    /// Presence: `listening`, `thinking`, `typing`, `idle`, or the client's own word. Required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 64)]
    pub state: Option<String>,
    /// Further details from the client. An update without details keeps the earlier ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
}

/// Body of requests that only name the asking participant. The body may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Actor {
    /// Id of the participant that asks; `user` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
}

/// Body of `POST /mcp`: one message of JSON-RPC 2.0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct McpMessage {
    /// Version of JSON-RPC: always `2.0`.
    #[schema(pattern = r"^2\.0$")]
    pub jsonrpc: String,
    /// Id of the request, repeated in the answer: a text or a number. Absent if no answer is
    /// wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// Name of the method, e.g. `tools/call`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Parameters of the method, as an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub params: Option<Value>,
}
