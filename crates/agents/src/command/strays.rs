//! Processes that left their group and outlive their turn, or that outlive the server.
//!
//! Each program carries a mark in its environment, and its children inherit it. If `/proc` shows
//! environments, processes with the mark of an ended turn are killed; otherwise only the process
//! group is. Two servers may run turns of the same name, for example if one of them runs on a
//! restored backup. So the processes of another live server are left alone.

use std::path::Path;
use std::time::Duration;

use moothall_engine::agent::TurnKey;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The variable that names the turn a program runs for: `<conversation>/<turn>/<attempt>`.
const VARIABLE: &str = "MOOTHALL_TURN";

/// The variable that names the server which started a program: `<process>.<time of its start>`.
const SERVER: &str = "MOOTHALL_TURN_SERVER";

/// Interval and highest number of checks for remaining processes: a process may start another while
/// it is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(5);
const LOOKS_MAX: usize = 100;

/// The mark on the processes of one turn.
#[derive(Clone)]
pub(super) struct Mark {
    turn: String,
    attempt: u32,
}

impl Mark {
    /// Returns the mark of a turn.
    pub(super) fn of(key: &TurnKey) -> Self {
        Self { turn: format!("{}/{}/", key.stream, key.turn), attempt: key.attempt }
    }

    /// Returns the variables to set.
    pub(super) fn variables(&self) -> [(&'static str, String); 2] {
        let turn = format!("{}{}", self.turn, self.attempt);
        [(VARIABLE, turn), (SERVER, server(Pid::this()).unwrap_or_default())]
    }

    /// Kills every process that carries this turn's mark, of any attempt, unless another live
    /// server started it. Waits until these processes are gone or [`LOOKS_MAX`] is reached.
    pub(super) async fn end_all(&self) {
        for _ in 0..LOOKS_MAX {
            let mark = self.clone();
            // Reading a few hundred small files blocks for a millisecond or two. An error means
            // that the process is shutting down.
            if tokio::task::spawn_blocking(move || mark.sweep()).await.unwrap_or(0) == 0 {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Kills the processes that carry the mark now, and returns their number. Those of another live
    /// server are left alone.
    pub(super) fn sweep(&self) -> usize {
        let found = marked(format!("{VARIABLE}={}", self.turn).as_bytes());
        for pid in &found {
            let _ = kill(*pid, Signal::SIGKILL);
        }
        found.len()
    }
}

/// Returns the processes that carry the mark. Leaves out this process, and each process that
/// another live server started. Without `/proc` the list is empty.
fn marked(mark: &[u8]) -> Vec<Pid> {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let numbered = processes
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse::<i32>().ok()?, entry.path())));
    let own = Pid::this().as_raw();
    numbered
        .filter(|(pid, folder)| *pid > 1 && *pid != own && carries(folder, mark))
        .map(|(pid, _)| Pid::from_raw(pid))
        .collect()
}

/// True if a process carries the mark and no other live server started it. A dead process has an
/// empty environment, so it is not found again.
fn carries(folder: &Path, mark: &[u8]) -> bool {
    let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    let is_marked = variables.clone().any(|variable| variable.starts_with(mark));
    is_marked && !variables.any(|variable| is_of_another(&String::from_utf8_lossy(variable)))
}

/// True if an environment variable is a mark's [`SERVER`] and names a live server other than this
/// one.
fn is_of_another(variable: &str) -> bool {
    let named = variable.strip_prefix(SERVER).and_then(|named| named.strip_prefix('='));
    let Some((named, pid)) = named.and_then(|named| {
        let pid = named.split('.').next()?.parse().ok()?;
        Some((named, Pid::from_raw(pid)))
    }) else {
        return false;
    };
    pid != Pid::this() && server(pid).as_deref() == Some(named)
}

/// Returns the number of a live process with the time of its start, because numbers are reused.
fn server(pid: Pid) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything.
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    // Field 22 of the line is the time of the start; the state, which is taken first, is field 3.
    let (state, start) = (fields.next()?, fields.nth(18)?);
    (!matches!(state, "Z" | "X")).then(|| format!("{pid}.{start}"))
}
