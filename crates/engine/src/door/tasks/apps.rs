//! Apps through the door. An agent registers for an app; people list apps, transfer them to another
//! agent or free them. The store knows which agent has an app. The directory only knows the
//! connection over which that agent is asked.

use std::sync::Arc;

use moothall_kernel::aggregate::TASK;
use moothall_kernel::command::{Refusal, Rejection};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::task::DEFAULT_APP;
use moothall_kernel::task_command::TaskCommand;
use moothall_kernel::time::Timestamp;

use crate::access::AccessError;
use crate::answers::HallError;
use crate::door::{Action, Door};
use crate::ports::{
    APPS_MAX, AgentCard, AppHold, AuditAction, AuditEntry, HeldApp, ListFilter, ListedStream,
};
use crate::tasks::{AgentLine, AppManifest, TaskError, TaskManager, app_of};

/// Number of tasks in one read of the catalog.
const PAGE: usize = 200;

/// An app, as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppView {
    /// The app's id.
    pub id: String,
    /// The app's name in its manifest.
    pub name: String,
    /// The agent that manages its tasks.
    pub agent: ParticipantId,
    /// The name of that agent, if it still has one.
    pub agent_name: Option<String>,
    /// Since when the agent has the app.
    pub since: Timestamp,
    /// True if that agent is connected and can be asked.
    pub connected: bool,
}

impl Door {
    /// Registers the caller's agent for an app. From now on, the agent is asked over the caller's
    /// connection. The first agent that registers has the app until a person transfers or frees it,
    /// also after the agent disconnects or the server restarts.
    ///
    /// # Errors
    /// [`TaskError`], for the built-in app, for an app of another agent, and for more than
    /// `APPS_MAX` apps.
    pub async fn register_app(
        &self,
        own: &AgentLine,
        manifest: AppManifest,
        manager: Arc<dyn TaskManager>,
    ) -> Result<(), TaskError> {
        self.may(Action::ManageTask)?;
        check_not_built_in(&manifest.id)?;
        let held = self.held_app(&manifest.id, &manifest.name, own.agent());
        let entry = self.recorded(AuditAction::AppHeld, format!("{} ({})", held.id, held.name));
        let holding = self.hall.inner.store.apps.hold_app(&held, &entry).await;
        check_hold(holding.map_err(HallError::from)?)?;
        self.hall.inner.tasks.register(app_of(own, manifest, manager));
        Ok(())
    }

    /// Returns at most `limit` apps in the order of their ids. With `after`, begins after that id.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn apps(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<AppView>, AccessError> {
        self.may(Action::ListApps)?;
        let apps = self.hall.inner.store.apps.apps(after, limit).await.map_err(HallError::from)?;
        let mut agents: Vec<_> = apps.iter().map(|app| app.agent.clone()).collect();
        agents.sort();
        agents.dedup();
        let cards = self.hall.inner.store.principals.cards(&agents).await;
        let cards = cards.map_err(HallError::from)?;
        let view = |app: HeldApp| self.app_view(app, &cards);
        Ok(apps.into_iter().map(view).collect())
    }

    fn app_view(&self, app: HeldApp, cards: &[AgentCard]) -> AppView {
        let connected = self.hall.inner.tasks.app(&app.id, &app.agent).is_some();
        let card = cards.iter().find(|card| card.id == app.agent);
        let HeldApp { id, name, agent, since } = app;
        let agent_name = card.map(|card| card.name.clone());
        AppView { id, name, agent, agent_name, since, connected }
    }

    /// Transfers an app and its open tasks to a registered agent, which is named by its id or name.
    /// A second call completes an interrupted transfer.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn transfer_app(&self, app: &str, agent: &str) -> Result<AppView, AccessError> {
        self.may(Action::TransferApp)?;
        check_not_built_in(app)?;
        let card = self.hall.card_of(agent).await?;
        let apps = &self.hall.inner.store.apps;
        let before = apps.app(app).await.map_err(HallError::from)?;
        let name = before.as_ref().map_or_else(String::new, |held| held.name.clone());
        let held = match before {
            Some(held) if held.agent == card.id => held,
            _ => self.held_app(app, &name, &card.id),
        };
        let entry =
            self.recorded(AuditAction::AppGiven, format!("{app} to {} as {}", card.name, card.id));
        check_hold(apps.give_app(&held, &entry).await.map_err(HallError::from)?)?;
        // The tasks follow even if the agent already has the app, because an interrupted transfer
        // may have left tasks behind.
        self.entrust_tasks(app, Some(&card.id)).await?;
        Ok(self.app_view(held, std::slice::from_ref(&card)))
    }

    /// Takes an app from its agent. The next agent that registers for it has it. The open tasks
    /// have no manager until a person transfers the app to an agent.
    ///
    /// # Errors
    /// [`AccessError::UnknownApp`] if the app belongs to no agent.
    pub async fn free_app(&self, app: &str) -> Result<(), AccessError> {
        self.may(Action::FreeApp)?;
        check_not_built_in(app)?;
        let entry = self.recorded(AuditAction::AppFreed, app.to_owned());
        let freed = self.hall.inner.store.apps.free_app(app, &entry).await;
        let was_held = freed.map_err(HallError::from)?;
        self.entrust_tasks(app, None).await?;
        if was_held { Ok(()) } else { Err(AccessError::UnknownApp(app.to_owned())) }
    }

    /// Returns the agent that has an app; `None` if no agent has it. No agent has the built-in app.
    pub(super) async fn app_holder(&self, app: &str) -> Result<Option<ParticipantId>, TaskError> {
        if app == DEFAULT_APP {
            return Ok(None);
        }
        let held = self.hall.inner.store.apps.app(app).await.map_err(HallError::from)?;
        Ok(held.map(|held| held.agent))
    }

    /// Entrusts a new task to the agent that has its app now, if that agent is not `before`. A
    /// transfer of the app while the task began did not see this task.
    pub(super) async fn follow_holder(
        &self,
        task: &StreamId,
        app: &str,
        before: Option<ParticipantId>,
    ) -> Result<(), TaskError> {
        let now = self.app_holder(app).await?;
        if now != before {
            let by = ParticipantId::new(ParticipantId::MOOTHALL);
            let command = TaskCommand::Entrust { manager: now, by };
            self.hall.inner.submit(task, command, None).await?;
        }
        Ok(())
    }

    /// Entrusts the open tasks of an app to a manager, or to none.
    async fn entrust_tasks(
        &self,
        app: &str,
        manager: Option<&ParticipantId>,
    ) -> Result<(), AccessError> {
        let mut after = None;
        loop {
            let filter = ListFilter {
                kind: Some(TASK.to_owned()),
                archived: Some(false),
                marked: false,
                after,
                limit: Some(PAGE),
            };
            let page = self.hall.list(filter).await?;
            for ListedStream { stream, .. } in &page.streams {
                let of = self.hall.inner.view_task(stream, |task| task.app().to_owned()).await?;
                if of == app {
                    let command =
                        TaskCommand::Entrust { manager: manager.cloned(), by: self.by_person() };
                    self.hall.inner.submit(stream, command, None).await?;
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn held_app(&self, id: &str, name: &str, agent: &ParticipantId) -> HeldApp {
        let (id, name, agent) = (id.to_owned(), name.to_owned(), agent.clone());
        HeldApp { id, name, agent, since: self.hall.now() }
    }

    fn recorded(&self, action: AuditAction, detail: String) -> AuditEntry {
        AuditEntry { detail, ..AuditEntry::of(&self.caller, action, self.hall.now()) }
    }

    fn by_person(&self) -> ParticipantId {
        self.caller.principal().map_or_else(ParticipantId::user, |own| own.id.clone())
    }
}

/// Rejects the built-in app.
fn check_not_built_in(app: &str) -> Result<(), AccessError> {
    if app != DEFAULT_APP {
        return Ok(());
    }
    let message = "This app is built in. The agent that requests a task of it manages that task.";
    let rejection = Rejection::new(Refusal::Forbidden, "built_in_app", message);
    Err(HallError::Rejected(Box::new(rejection)).into())
}

/// Returns an error if the agent did not get the app, because another agent has it or the agent has
/// too many apps.
fn check_hold(holding: AppHold) -> Result<(), AccessError> {
    let conflict = |code, message: String| {
        let rejection = Rejection::new(Refusal::Conflict, code, message);
        Err(HallError::Rejected(Box::new(rejection)).into())
    };
    match holding {
        AppHold::Yes => Ok(()),
        AppHold::OfOther => conflict(
            "app_taken",
            "Another agent has this app. A person can transfer it: moothall apps transfer".into(),
        ),
        AppHold::TooMany => conflict(
            "too_many_apps",
            format!(
                "An agent has at most {APPS_MAX} apps. A person can free one: moothall apps free"
            ),
        ),
    }
}
