//! Looking up a prompt in a program's own record, as the program's user.

use std::collections::BTreeMap;

use moothall_engine::sessions::{Pane, Record, RecordQuery};

use super::programs::VARIABLES;
use super::{Program, Search, TmuxHost};
use crate::command::Environment;

impl TmuxHost {
    /// Looks a prompt up as the user that the client's program runs as. `None` if nothing is found,
    /// the client is unknown, its user cannot be used, or its vendor's records lack what the query
    /// needs.
    pub(super) async fn look_up(
        &self,
        pane: &Pane,
        client: &str,
        query: &RecordQuery,
    ) -> Option<Record> {
        let programs = self.known();
        let program = programs.get(client)?;
        let recording = program.vendor.table().record.as_ref()?;
        if query.uses && recording.open_call.is_none() {
            return None;
        }
        // Panes on another tmux server belong to the server's own user.
        let account = program.account().ok()?.filter(|_| pane.socket.is_empty());
        let search = Search {
            vendor: program.vendor,
            query: query.clone(),
            variables: of(pane, program),
            prices: program.prices,
        };
        self.injector.find_record(account.as_ref(), search).await
    }
}

/// Returns the variables that name the folder of a program's records. Reads them from the running
/// program. If the system shows none of them, returns the variables of a new start.
fn of(pane: &Pane, program: &Program) -> BTreeMap<String, String> {
    let wanted = |name: &str| VARIABLES.contains(&name);
    let pid = in_front(pane.pid).unwrap_or(pane.pid);
    let started = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let started: BTreeMap<String, String> = started
        .split(|byte| *byte == 0)
        .filter_map(|pair| std::str::from_utf8(pair).ok()?.split_once('='))
        .filter(|(name, _)| wanted(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    if !started.is_empty() {
        return started;
    }
    Environment::of(&program.env)
        .pairs()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
        .filter(|(name, _)| wanted(name))
        .collect()
}

/// Returns the process that leads the foreground of a process's terminal. An adopted program may
/// have been started at the prompt of the pane's shell.
fn in_front(pid: u32) -> Option<u32> {
    /// Fields of `stat` after the name and before the foreground group.
    const BEFORE: usize = 5;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(BEFORE)?.parse().ok()
}
