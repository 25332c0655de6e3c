//! Apps and their agents in memory.

use async_trait::async_trait;
use moothall_kernel::ids::ParticipantId;
use std::ops::Bound;

use super::MemoryLog;
use crate::ports::{APPS_MAX, AppHold, Apps, AuditEntry, HeldApp, LogError};

#[async_trait]
impl Apps for MemoryLog {
    /// Gives an app without an agent to this agent, and records it. Refuses an app of another
    /// agent, and more than `APPS_MAX` apps. Does nothing, and records nothing, if the agent has
    /// the app already.
    async fn hold_app(&self, app: &HeldApp, entry: &AuditEntry) -> Result<AppHold, LogError> {
        let mut tables = self.to_write()?;
        match tables.apps.get(&app.id) {
            Some(held) if held.agent == app.agent => return Ok(AppHold::Yes),
            Some(_) => return Ok(AppHold::OfOther),
            None => {}
        }
        if tables.apps.values().filter(|held| held.agent == app.agent).count() >= APPS_MAX {
            return Ok(AppHold::TooMany);
        }
        tables.apps.insert(app.id.clone(), app.clone());
        tables.keys.record(entry);
        Ok(AppHold::Yes)
    }

    async fn give_app(&self, app: &HeldApp, entry: &AuditEntry) -> Result<AppHold, LogError> {
        let mut tables = self.to_write()?;
        let others = tables.apps.values().filter(|held| held.agent == app.agent);
        if others.filter(|held| held.id != app.id).count() >= APPS_MAX {
            return Ok(AppHold::TooMany);
        }
        tables.apps.insert(app.id.clone(), app.clone());
        tables.keys.record(entry);
        Ok(AppHold::Yes)
    }

    async fn free_app(&self, id: &str, entry: &AuditEntry) -> Result<bool, LogError> {
        let mut tables = self.to_write()?;
        let was_held = tables.apps.remove(id).is_some();
        if was_held {
            tables.keys.record(entry);
        }
        Ok(was_held)
    }

    async fn app(&self, id: &str) -> Result<Option<HeldApp>, LogError> {
        Ok(self.tables().apps.get(id).cloned())
    }

    async fn apps(&self, after: Option<&str>, limit: usize) -> Result<Vec<HeldApp>, LogError> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let tables = self.tables();
        let rows = tables.apps.range::<str, _>((from, Bound::Unbounded));
        Ok(rows.map(|(_, app)| app.clone()).take(limit).collect())
    }

    async fn apps_of(&self, agent: &ParticipantId) -> Result<Vec<HeldApp>, LogError> {
        let tables = self.tables();
        Ok(tables.apps.values().filter(|held| held.agent == *agent).cloned().collect())
    }
}
