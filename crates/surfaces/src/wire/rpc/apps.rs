//! Apps, each of which decides about its own tasks.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Name, TimeoutMs, Uuid};

/// Parameters of `apps/register`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AppRegistration {
    /// Description of the app and of its decisions.
    pub manifest: Manifest,
}

/// Result of `apps/register`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AppRegistered {
    /// Id of the app whose tasks this connection manages from now on.
    pub app_id: Uuid,
}

/// The description of an app and of its decisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// Id of the app, which tasks name.
    pub app_id: Uuid,
    /// Name of the app.
    pub name: Name,
    /// Purpose of the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Limits for the app's tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<AppLimits>,
    /// The conversations of each of the app's tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversations: Option<Vec<ConversationTemplate>>,
    /// The decisions that the app is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Hooks>,
}

/// The limits for an app's tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AppLimits {
    /// Maximum number of participants of a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_participants: Option<u32>,
}

/// A conversation in each task of an app.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationTemplate {
    /// The app's own key for the conversation.
    pub key: Name,
    /// Name of the conversation.
    pub name: Name,
    /// Participants of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant_filter: Option<ParticipantFilter>,
}

/// The participants of an app's conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParticipantFilter {
    /// All participants of the task.
    All,
    /// The agent that asked for the task.
    Initiator,
    /// No participants at first.
    None,
}

/// The decisions that an app is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
// On the wire too, hook names have underscores.
#[serde(deny_unknown_fields)]
pub struct Hooks {
    /// Decision on the delivery of a message to an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_authorize: Option<Hook>,
    /// Decision about the recipients of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_authorize: Option<Hook>,
    /// Decision on the start of a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_create: Option<Hook>,
}

/// A decision that an app is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hook {
    /// Milliseconds that the app has for the decision, 1 to 60,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<TimeoutMs>,
}
