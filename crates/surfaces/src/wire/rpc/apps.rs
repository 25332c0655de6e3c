//! Apps, which decide about the tasks that are theirs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Name, TimeoutMs, Uuid};

/// Parameters of `apps/register`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AppRegistration {
    /// What the app is and which decisions it takes.
    pub manifest: Manifest,
}

/// Result of `apps/register`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AppRegistered {
    /// The app whose tasks this connection manages from now on.
    pub app_id: Uuid,
}

/// What an app is and which decisions it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// Its id, which tasks name.
    pub app_id: Uuid,
    /// Its name.
    pub name: Name,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What its tasks are held to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<AppLimits>,
    /// The conversations that its tasks have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversations: Option<Vec<ConversationTemplate>>,
    /// The decisions that it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Hooks>,
}

/// What the tasks of an app are held to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AppLimits {
    /// The most participants of a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_participants: Option<u32>,
}

/// A conversation that the tasks of an app have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationTemplate {
    /// By what the app knows it.
    pub key: Name,
    /// Its name.
    pub name: Name,
    /// Who takes part in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant_filter: Option<ParticipantFilter>,
}

/// Who takes part in a conversation of an app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParticipantFilter {
    /// Everybody in the task.
    All,
    /// Whoever asked for the task.
    Initiator,
    /// Nobody at first.
    None,
}

/// The decisions that an app is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
// The names of hooks have underscores on the wire too.
#[serde(deny_unknown_fields)]
pub struct Hooks {
    /// Whether a message is handed to an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_authorize: Option<Hook>,
    /// Who gets a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_authorize: Option<Hook>,
    /// Whether a task begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_create: Option<Hook>,
}

/// A decision that an app is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hook {
    /// How many milliseconds the app has for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<TimeoutMs>,
}
