//! A process group that is always ended as a whole, even if its turn is dropped.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::Child;

use super::strays::Mark;

/// Time for a group to exit after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);
/// Interval at which an ending group is checked: the system has no event for it.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Longest wait for the leader after SIGKILL. A leader that is stuck in the kernel is left to the
/// reaper.
const REAP: Duration = Duration::from_millis(500);

/// A program and everything it started: its process group, and the processes that left the group
/// but carry its mark.
///
/// Dropping a group ends it in the background. Without a runtime, or if its end was under way, it
/// is killed at once.
pub(super) struct Group {
    child: Option<Child>,
    leader: Option<Pid>,
    mark: Mark,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Working,
    Ending,
    Over,
}

impl Group {
    /// Returns the group that this child leads.
    pub(super) fn of(child: Child, mark: Mark) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        Self { child: Some(child), leader, mark, stage: Stage::Working }
    }

    /// Waits until the leader exits.
    pub(super) async fn exited(&mut self) -> io::Result<ExitStatus> {
        match &mut self.child {
            Some(child) => child.wait().await,
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Ends the rest of the group, and the processes that left it: at once if there are none,
    /// otherwise within about two seconds.
    pub(super) async fn end(mut self) {
        self.finish().await;
    }

    /// Sends SIGTERM, waits at most [`GRACE`], sends SIGKILL, and ends the processes that left the
    /// group.
    async fn finish(&mut self) {
        self.signal(Signal::SIGTERM);
        // Set before the waits: if this future is dropped in one of them, `drop` kills at once.
        self.stage = Stage::Ending;
        let _ = tokio::time::timeout(GRACE, self.gone()).await;
        self.signal(Signal::SIGKILL);
        let _ = tokio::time::timeout(REAP, self.exited()).await;
        self.mark.end_all().await;
        self.stage = Stage::Over;
    }

    /// Waits until the group has no live process.
    async fn gone(&mut self) {
        // The leader is reaped first, because without `/proc` its zombie would count as a live
        // process.
        let _ = self.exited().await;
        while self.is_there() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// True if the group has a live process.
    fn is_there(&self) -> bool {
        self.leader.is_some_and(|leader| killpg(leader, None) != Err(Errno::ESRCH) && lives(leader))
    }

    /// Signals the group, and forgets its number once it is empty: the system may reuse it.
    fn signal(&mut self, signal: Signal) {
        if let Some(leader) = self.leader
            && killpg(leader, signal) == Err(Errno::ESRCH)
        {
            self.leader = None;
        }
    }
}

/// True if a process of the group still runs. Zombies do not count. Without `/proc` to recognise
/// them, every process counts.
fn lives(leader: Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let mut stats = processes
        .flatten()
        .filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok())
        .peekable();
    stats.peek().is_none() || stats.any(|stat| works_in(&stat, leader))
}

/// True if a line of `/proc/<pid>/stat` shows a live process of this group. The line reads `pid
/// (name) state parent group …`; the name may hold brackets too.
fn works_in(stat: &str, leader: Pid) -> bool {
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let (state, group) = (fields.next(), fields.nth(1));
    !matches!(state, Some("Z" | "X") | None)
        && group.and_then(|group| group.parse().ok()) == Some(leader.as_raw())
}

impl Drop for Group {
    /// Ends a group that still works: sends SIGTERM now, and does the rest of [`Group::finish`] in
    /// a task. Without a runtime, or if an end was under way, the group and all processes with its
    /// mark are killed at once.
    fn drop(&mut self) {
        match (self.stage, tokio::runtime::Handle::try_current()) {
            (Stage::Over, _) => {}
            (Stage::Working, Ok(runtime)) => {
                self.signal(Signal::SIGTERM);
                self.stage = Stage::Over;
                let mut rest = Group {
                    child: self.child.take(),
                    leader: self.leader.take(),
                    mark: self.mark.clone(),
                    stage: Stage::Ending,
                };
                runtime.spawn(async move { rest.finish().await });
            }
            (Stage::Working | Stage::Ending, _) => {
                self.signal(Signal::SIGKILL);
                self.mark.sweep();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_working_members_of_the_group_count() {
        let leader = Pid::from_raw(70);
        assert!(works_in("71 (a) b) (c) S 1 70 70 0", leader));
        for other in ["71 (sh) Z 1 70 70 0", "71 (sh) S 70 71 70 0", "71 (sh)", ""] {
            assert!(!works_in(other, leader), "{other}");
        }
    }
}
