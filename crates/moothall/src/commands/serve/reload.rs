//! SIGHUP: the configuration is read again while the server runs. What can be taken over is, of the rest it is said that it waits for a
//! restart, and a file that cannot be read changes nothing.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use moothall_engine::hall::Hall;
use moothall_engine::places::Places;
use moothall_engine::sessions::SessionsConfig;

use super::{registry, tell};
use crate::accounts;
use crate::cli::Serve;
use crate::config;
use crate::fault::Fault;
use crate::place::{Settled, settle};
use crate::terminals::Host;

/// A running server, as far as its configuration can be changed.
pub(super) struct House<'a> {
    pub(super) args: &'a Serve,
    pub(super) hall: &'a Hall,
    pub(super) host: Option<Host>,
    pub(super) address: SocketAddr,
    pub(super) places: Arc<Places>,
}

impl House<'_> {
    /// Reads the configuration again. Gives what holds now.
    pub(super) async fn reload(&self, before: Settled) -> Settled {
        match self.take_over(&before).await {
            Ok(now) => now,
            Err(fault) => {
                let why = fault.why.map_or_else(String::new, |why| format!(": {why}"));
                tell(self.args.log, &format!("The configuration was not read again, and everything stays as it was: {}{why}", fault.what));
                before
            }
        }
    }

    async fn take_over(&self, before: &Settled) -> Result<Settled, Fault> {
        let mut now = settle(&self.args.place, &config::environment())?;
        let wanted = std::mem::replace(&mut now.config.sessions, before.config.sessions.clone());
        accounts::must_be_possible(&now.config)?;
        let agents = registry(&now.config, self.address, self.places.clone())?;
        let (old, new) = (self.hall.registry(), &agents);
        let names = |registry: &moothall_engine::registry::Registry| registry.iter().map(|spec| spec.client.clone()).collect();
        let said = applied(before, &now, &names(&old), &names(new));
        if let Some(host) = &self.host {
            host.replace(&now.config)?;
        }
        self.hall.replace(agents, now.config.defaults.clone()).await;
        now.config.warnings.iter().for_each(|warning| tell(self.args.log, &format!("warning: {warning}")));
        tell(self.args.log, &format!("The configuration was read again: {said}."));
        let waiting = waiting(before, &now, &wanted);
        if !waiting.is_empty() {
            tell(self.args.log, &format!("A restart is needed for what changed in {}.", waiting.join(", ")));
        }
        // What waits for a restart goes on waiting, however often it is read.
        Ok(Settled { bind: before.bind, data: before.data.clone(), mode: before.mode, tls: before.tls.clone(), ..now })
    }
}

/// What is otherwise from now on, for people.
fn applied(before: &Settled, now: &Settled, old: &BTreeSet<String>, new: &BTreeSet<String>) -> String {
    let changed = new.intersection(old).filter(|client| before.config.agents.get(*client) != now.config.agents.get(*client));
    let lists: [(&str, Vec<&String>); 3] =
        [("added", new.difference(old).collect()), ("changed", changed.collect()), ("removed", old.difference(new).collect())];
    let agents = lists.into_iter().filter(|(_, clients)| !clients.is_empty()).map(|(what, clients)| {
        let clients: Vec<&str> = clients.into_iter().map(String::as_str).collect();
        format!("{what}: {}", clients.join(", "))
    });
    let defaults = (before.config.defaults != now.config.defaults).then(|| "other [defaults]".to_owned());
    let all: Vec<String> = agents.chain(defaults).collect();
    if all.is_empty() { "nothing in it is new".to_owned() } else { all.join("; ") }
}

/// The parts that changed and cannot be taken over while the server runs.
fn waiting(before: &Settled, now: &Settled, sessions: &SessionsConfig) -> Vec<&'static str> {
    let (old, new) = (&before.config, &now.config);
    let parts = [
        ("the address (bind)", before.bind != now.bind),
        ("the data folder (data)", before.data != now.data),
        ("mode", before.mode != now.mode),
        ("[server.tls]", before.tls != now.tls),
        ("other_users", old.server.other_users != new.server.other_users),
        ("allowed_hosts", old.server.allowed_hosts != new.server.allowed_hosts),
        ("allowed_origins", old.server.allowed_origins != new.server.allowed_origins),
        ("[sessions]", old.sessions != *sessions),
        ("[budgets]", old.budgets != new.budgets),
        ("[limits]", old.limits != new.limits),
    ];
    parts.into_iter().filter_map(|(part, changed)| changed.then_some(part)).collect()
}
