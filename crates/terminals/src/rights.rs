//! What the programs of sessions may do with each other, and how many of them there may be.

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

/// Sessions that may live at a time of those that an agent started, or that descend from a session
/// that a person started.
const FAMILY_MAX: usize = 8;

impl Sessions {
    /// What the operator says of sessions now.
    pub(super) fn terms(&self) -> Arc<Terms> {
        self.shared.terms.0.borrow().clone()
    }

    /// Replaces what the operator says of sessions. Those that live go on, also where there are too
    /// many now.
    pub fn replace(&self, config: SessionsConfig, clients: BTreeMap<String, ClientRights>) {
        self.shared.terms.0.send_replace(Arc::new(Terms { config, clients }));
    }

    /// Resolves when a session of this client does not reach everything, or does so no more.
    pub(super) async fn narrowed(&self, client: &str) {
        let mut terms = self.shared.terms.0.subscribe();
        if terms.wait_for(|terms| !terms.rights(client).reaches_all).await.is_err() {
            std::future::pending().await
        }
    }
}

impl Sessions {
    /// Whether one more session may live.
    pub(super) fn check_room(&self) -> Result<(), SessionError> {
        let most = self.terms().config.most;
        if most > 0 && self.names_in_use().len() >= most {
            return Err(SessionError::Conflict(format!(
                "{} live, and no more may; end one first.",
                counted(most as u64, "session")
            )));
        }
        Ok(())
    }

    /// The living session whose environment holds this secret.
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

    /// What the program of a session reaches.
    pub(crate) fn reach_of(&self, id: &SessionId) -> Reach {
        let Some(seat) = self.seat_of(id) else { return Reach::Only(Arc::default()) };
        if self.rights(&seat.session().client).reaches_all {
            Reach::All
        } else {
            Reach::Session(seat.rooms().clone())
        }
    }

    fn rights(&self, client: &str) -> ClientRights {
        self.terms().rights(client)
    }

    /// Resolves when a session that reached everything does so no more.
    pub(crate) async fn reach_less(&self, id: &SessionId) {
        if let Some(seat) = self.seat_of(id) {
            self.narrowed(&seat.session().client).await;
        }
    }

    /// Refuses one more where an agent has enough. A session that was started by one that was
    /// started counts for the first of them.
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
            "Agents have started {count} sessions from here that live, and {FAMILY_MAX} is the most. End one of them first."
        );
        Err(SessionError::Conflict(why))
    }

    /// Where a line of starters begins: an agent, a person, or the session that no other session
    /// started.
    fn root_of(&self, starter: Starter) -> Starter {
        let mut root = starter;
        // A session is older than those that it started, so this ends.
        while let Starter::Session(id) = &root {
            match self.seat_of(id).and_then(|seat| seat.session().started_by) {
                Some(next @ (Starter::Session(_) | Starter::Agent(_))) => root = next,
                Some(Starter::Person(_)) | None => break,
            }
        }
        root
    }

    /// The folder in which an agent may start a program without asking anybody, with every link on
    /// the way followed; nothing where it has to ask.
    ///
    /// A folder of its own choice would be a way out of whatever holds the agent: it could write
    /// there what the program runs.
    pub fn starts_alone(&self, new: &NewSession) -> Option<PathBuf> {
        if !self.rights(&new.client).startable_by_agents || !new.args.is_empty() {
            return None;
        }
        let wanted = if new.cwd.as_os_str().is_empty() {
            self.host().ok()?.home(&new.client)
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
