//! The port to apps and the agents that manage their tasks.

use async_trait::async_trait;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Timestamp;

use super::error::LogError;
use super::principals::AuditEntry;

/// Maximum number of apps of one agent.
pub const APPS_MAX: usize = 8;

/// An app and its agent. The agent's id is never reused for another agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldApp {
    /// The app's id: a UUID.
    pub id: String,
    /// The name in the app's manifest.
    pub name: String,
    /// The agent that manages its tasks.
    pub agent: ParticipantId,
    /// Time since which the agent manages it.
    pub since: Timestamp,
}

/// The answer to an agent that requests an app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppHold {
    /// The agent manages the app, from now on or from before.
    Yes,
    /// Another agent manages the app.
    OfOther,
    /// The agent manages [`APPS_MAX`] other apps.
    TooMany,
}

/// Apps and their agents. A change and its audit entry are committed in one transaction.
#[async_trait]
pub trait Apps: Send + Sync {
    /// Gives an app to an agent, if no other agent has it. A repeated call is not recorded.
    async fn hold_app(&self, app: &HeldApp, entry: &AuditEntry) -> Result<AppHold, LogError>;
    /// Gives an app to an agent, even if another agent has it. Never answers [`AppHold::OfOther`].
    async fn give_app(&self, app: &HeldApp, entry: &AuditEntry) -> Result<AppHold, LogError>;
    /// Takes an app from its agent; `false` if no agent has it.
    async fn free_app(&self, id: &str, entry: &AuditEntry) -> Result<bool, LogError>;
    /// Returns the app with this id, if an agent manages it.
    async fn app(&self, id: &str) -> Result<Option<HeldApp>, LogError>;
    /// Returns at most `limit` apps in the order of their ids. With `after`, begins after that id.
    async fn apps(&self, after: Option<&str>, limit: usize) -> Result<Vec<HeldApp>, LogError>;
    /// Returns the apps of one agent, in the order of their ids.
    async fn apps_of(&self, agent: &ParticipantId) -> Result<Vec<HeldApp>, LogError>;
}
