//! Rights of the programs of sessions, and limits on their number.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use moothall_engine::access::Reach;
use moothall_engine::sessions::{
    ClientRights, NewSession, Resident, SessionError, SessionId, Starter,
};
use moothall_kernel::text::counted;

use crate::config::{SessionsConfig, Terms};
use crate::directory::Sessions;
use crate::secrets::hash_of;

/// Maximum number of living sessions that one agent started, or that descend from one session of a
/// person.
const FAMILY_MAX: usize = 8;

impl Sessions {
    /// Returns the current configuration of sessions.
    pub(super) fn terms(&self) -> Arc<Terms> {
        self.shared.terms.0.borrow().clone()
    }

    /// Replaces the configuration of sessions. Living sessions continue, even above a new limit.
    pub fn replace(&self, config: SessionsConfig, clients: BTreeMap<String, ClientRights>) {
        self.shared.terms.0.send_replace(Arc::new(Terms { config, clients }));
    }

    /// Resolves when sessions of this client do not reach everything.
    pub(super) async fn narrowed(&self, client: &str) {
        let mut terms = self.shared.terms.0.subscribe();
        if terms.wait_for(|terms| !terms.rights(client).reaches_all).await.is_err() {
            std::future::pending().await
        }
    }
}

impl Sessions {
    /// Returns an error if the limit of living sessions is reached.
    pub(super) fn check_room(&self) -> Result<(), SessionError> {
        let most = self.terms().config.most;
        if most > 0 && self.names_in_use().len() >= most {
            return Err(SessionError::Conflict(format!(
                "Limit reached: {} live. End one first.",
                counted(most as u64, "session")
            )));
        }
        Ok(())
    }

    /// Returns the living session that owns this secret.
    pub(super) fn by_token(&self, token: &str) -> Option<Resident> {
        let hash = hash_of(token);
        let found =
            self.list(false).into_iter().find(|status| status.session.token_hash == hash)?.session;
        Some(Resident {
            reach: self.reach_of(&found.id),
            session: found.id,
            name: found.name,
            run_as: found.run_as,
        })
    }

    /// Returns the conversations that the program of a session reaches.
    pub(crate) fn reach_of(&self, id: &SessionId) -> Reach {
        let Some(handle) = self.handle_of(id) else { return Reach::Only(Arc::default()) };
        if self.rights(&handle.session().client).reaches_all {
            Reach::All
        } else {
            Reach::Session(handle.rooms().clone())
        }
    }

    fn rights(&self, client: &str) -> ClientRights {
        self.terms().rights(client)
    }

    /// Resolves when a session no longer reaches everything.
    pub(crate) async fn reach_less(&self, id: &SessionId) {
        if let Some(handle) = self.handle_of(id) {
            self.narrowed(&handle.session().client).await;
        }
    }

    /// Rejects a start by an agent if [`FAMILY_MAX`] of its sessions live. Sessions count for the
    /// root of their line of starters. People have no such limit.
    pub(super) fn check_family(&self, starter: &Starter) -> Result<(), SessionError> {
        let root = self.root_of(starter.clone());
        if matches!(root, Starter::Person(_)) {
            return Ok(());
        }
        let living = self.list(false);
        let of_root = |by: &Option<Starter>| by.clone().is_some_and(|by| self.root_of(by) == root);
        let count = living.iter().filter(|status| of_root(&status.session.started_by)).count();
        if count < FAMILY_MAX {
            return Ok(());
        }
        let why = format!(
            "Agents have started {count} live sessions from here; the maximum is {FAMILY_MAX}. \
             End one of them first."
        );
        Err(SessionError::Conflict(why))
    }

    /// Returns the root of a line of starters: an agent, a person, or a session that no agent and
    /// no other session started.
    fn root_of(&self, starter: Starter) -> Starter {
        let mut root = starter;
        // A session is older than the sessions it started, so this loop ends.
        while let Starter::Session(id) = &root {
            match self.handle_of(id).and_then(|handle| handle.session().started_by) {
                Some(next @ (Starter::Session(_) | Starter::Agent(_))) => root = next,
                Some(Starter::Person(_)) | None => break,
            }
        }
        root
    }

    /// Returns the canonical folder in which an agent may start a program without permission, or
    /// `None` if the agent must ask.
    ///
    /// A freely chosen folder would let the agent escape its sandbox: the agent could write files
    /// there that the program runs.
    pub fn starts_alone(&self, new: &NewSession) -> Option<PathBuf> {
        if !self.rights(&new.client).startable_by_agents || !new.args.is_empty() {
            return None;
        }
        let wanted = if new.cwd.as_os_str().is_empty() {
            self.host().ok()?.home(&new.client, None)
        } else {
            new.cwd.clone()
        };
        let wanted = std::fs::canonicalize(wanted).ok()?;
        let listed = |folder: &PathBuf| {
            std::fs::canonicalize(folder).is_ok_and(|folder| wanted.starts_with(folder))
        };
        self.terms().config.folders.iter().any(listed).then_some(wanted)
    }
}
