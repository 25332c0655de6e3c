//! The port to apps: which agent manages the tasks of which app.

use async_trait::async_trait;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Timestamp;

use super::error::LogError;
use super::principals::AuditEntry;

/// Most apps of one agent.
pub const APPS_MAX: usize = 8;

/// An app and its agent. The agent is named by its id, which no other agent ever gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldApp {
    /// The app's id: a UUID.
    pub id: String,
    /// Its name in its manifest.
    pub name: String,
    /// The agent that manages its tasks.
    pub agent: ParticipantId,
    /// Since when.
    pub since: Timestamp,
}

/// The answer to an agent that wants an app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// It has, from now on or from before.
    Yes,
    /// Another agent has it.
    OfOther,
    /// The agent has [`APPS_MAX`] others.
    TooMany,
}

/// Apps and their agents. A change is recorded in the same transaction, or not made.
#[async_trait]
pub trait Apps: Send + Sync {
    /// Gives an app to the agent that asks first. Records only that, and not a repetition.
    async fn hold_app(&self, app: &HeldApp, entry: &AuditEntry) -> Result<Holding, LogError>;
    /// Gives an app to an agent, whichever has it. Never answers [`Holding::OfOther`].
    async fn give_app(&self, app: &HeldApp, entry: &AuditEntry) -> Result<Holding, LogError>;
    /// Takes an app from its agent; `false` if no agent has it.
    async fn free_app(&self, id: &str, entry: &AuditEntry) -> Result<bool, LogError>;
    /// The app of this id, if an agent has it.
    async fn app(&self, id: &str) -> Result<Option<HeldApp>, LogError>;
    /// At most `limit` apps, by their ids, after one if it is given.
    async fn apps(&self, after: Option<&str>, limit: usize) -> Result<Vec<HeldApp>, LogError>;
    /// The apps of one agent, by their ids.
    async fn apps_of(&self, agent: &ParticipantId) -> Result<Vec<HeldApp>, LogError>;
}
