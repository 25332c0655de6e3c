//! Programs that do not care that their terminal is gone: they would go on unseen.
//!
//! A number of a process may be another's by now, above all after a restart, so only what carries
//! the mark of its session is killed, and has no terminal: beside a copy of a data folder, a
//! restored backup for one, the session may be alive in the terminal of another server. Where no
//! `/proc` shows environments, nothing is.

use std::path::Path;
use std::time::Duration;

use moothall_engine::sessions::{Pane, SessionId};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgid};

/// How long a program may go on after its terminal is gone.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// The variable that names the session for which a program was started.
const VARIABLE: &str = "MOOTHALL_SESSION";

/// Kills what is left of sessions that are over, after the time for their last words.
pub(super) async fn reap(left: Vec<(SessionId, Pane)>) {
    tokio::time::sleep(LAST_WORDS).await;
    // Reading many small files blocks. An error means that the process is shutting down; the next
    // one looks again.
    let _ = tokio::task::spawn_blocking(move || sweep(&left)).await;
}

fn sweep(left: &[(SessionId, Pane)]) {
    let Ok(processes) = std::fs::read_dir("/proc") else { return };
    for entry in processes.flatten() {
        let Some(pid) =
            entry.file_name().to_str().and_then(|name| name.parse().ok()).map(Pid::from_raw)
        else {
            continue;
        };
        let Some(group) =
            getpgid(Some(pid)).ok().and_then(|group| u32::try_from(group.as_raw()).ok())
        else {
            continue;
        };
        // What a program put into a group of its own was meant to outlive it.
        let of_group = left.iter().filter(|(_, pane)| pane.socket.is_empty() && pane.pid == group);
        if of_group.into_iter().any(|(session, _)| carries(&entry.path(), session))
            && !has_terminal(&entry.path())
        {
            // It may have gone just now.
            let _ = kill(pid, Signal::SIGKILL);
        }
    }
}

fn carries(process: &Path, session: &SessionId) -> bool {
    let mark = format!("{VARIABLE}={session}");
    let environment = std::fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}

/// True unless the terminal of a process is gone. The system takes a terminal that is closed from
/// all whose it was.
fn has_terminal(process: &Path) -> bool {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.nth(4) != Some("0")
}
