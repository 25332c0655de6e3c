//! Programs that ignore the loss of their terminal and would run on unseen.
//!
//! A process number may have been reused, above all after a restart. So a process is killed only if
//! it is in the group of the session's program, carries the mark of the session, and has no
//! terminal. The last condition spares a session that lives in the terminal of another server, for
//! example beside a restored backup. Without environments in `/proc`, nothing is killed.

use std::path::Path;
use std::time::Duration;

use moothall_engine::sessions::{Pane, SessionId};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgid};

/// Time for a program to exit after its terminal has gone.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// The variable that names the session for which a program was started.
const VARIABLE: &str = "MOOTHALL_SESSION";

/// Kills the remaining processes of ended sessions, after the time for their last words.
pub(super) async fn reap(left: Vec<(SessionId, Pane)>) {
    tokio::time::sleep(LAST_WORDS).await;
    // Reading many small files blocks. An error means that this process is shutting down; the next
    // one tries again.
    let _ = tokio::task::spawn_blocking(move || sweep(&left)).await;
}

/// Kills each process in the group of an ended session's program that carries the session's mark
/// and has no terminal. Programs that were adopted are left alone.
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
        // Leave processes in other groups: they were daemonised on purpose.
        let of_group = left.iter().filter(|(_, pane)| pane.socket.is_empty() && pane.pid == group);
        if of_group.into_iter().any(|(session, _)| carries(&entry.path(), session))
            && !has_terminal(&entry.path())
        {
            // The process may have exited just now.
            let _ = kill(pid, Signal::SIGKILL);
        }
    }
}

fn carries(process: &Path, session: &SessionId) -> bool {
    let mark = format!("{VARIABLE}={session}");
    let environment = std::fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}

/// True if a process has a terminal, or if that cannot be read. The system detaches a closed
/// terminal from its processes.
fn has_terminal(process: &Path) -> bool {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // An unreadable file counts as a terminal, so that nothing is killed in doubt.
    fields.nth(4) != Some("0")
}
