//! Processes that left their group to outlive their turn, or whose server died over them.
//!
//! Each program carries a mark in its environment, and so does everything it starts. Where `/proc`
//! shows environments, those with the mark of a turn that is over are killed. Elsewhere the process
//! group is all there is. Beside a copy of a data folder, a restored backup for one, another server
//! may be at work on turns of the same names: what belongs to a server that lives is its own.

use std::path::Path;
use std::time::Duration;

use moothall_engine::agent::TurnKey;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The variable that names the turn a program runs for: `<conversation>/<turn>/<attempt>`.
const VARIABLE: &str = "MOOTHALL_TURN";

/// The variable that names the server which started a program: `<process>.<time of its start>`.
const SERVER: &str = "MOOTHALL_TURN_SERVER";

/// How often the dying are looked at, and how many times at most: a process may also start another
/// while it is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(5);
const LOOKS_MAX: usize = 100;

/// What tells the processes of one turn from all others.
#[derive(Clone)]
pub(super) struct Mark {
    turn: String,
    attempt: u32,
}

impl Mark {
    /// The mark of this turn.
    pub(super) fn of(key: &TurnKey) -> Self {
        Self { turn: format!("{}/{}/", key.stream, key.turn), attempt: key.attempt }
    }

    /// Returns the variables to set.
    pub(super) fn variables(&self) -> [(&'static str, String); 2] {
        let turn = format!("{}{}", self.turn, self.attempt);
        [(VARIABLE, turn), (SERVER, server(Pid::this()).unwrap_or_default())]
    }

    /// Kills every process that carries this turn's mark, of whatever attempt, and waits a while
    /// until they are gone.
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

    /// Kills those that carry the mark now; says how many there were.
    pub(super) fn sweep(&self) -> usize {
        let found = marked(format!("{VARIABLE}={}", self.turn).as_bytes());
        for pid in &found {
            let _ = kill(*pid, Signal::SIGKILL);
        }
        found.len()
    }
}

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

/// A dead process has an empty environment, and so is not found again.
fn carries(folder: &Path, mark: &[u8]) -> bool {
    let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    let is_marked = variables.clone().any(|variable| variable.starts_with(mark));
    is_marked && !variables.any(|variable| is_of_another(&String::from_utf8_lossy(variable)))
}

/// True if a variable names another server that lives.
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

/// Names a process by its number and the time of its start, because a number is given again.
fn server(pid: Pid) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything.
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    let (state, start) = (fields.next()?, fields.nth(18)?);
    (!matches!(state, "Z" | "X")).then(|| format!("{pid}.{start}"))
}
