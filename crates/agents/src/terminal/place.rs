//! The tmux server of terminals: this data folder's own, or a foreign one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Stdio;

use moothall_engine::sessions::HostFault;
use tokio::process::Command;

use super::tmux_command::TmuxCommand;
use crate::command::Environment;

/// The session into which the window of every agent is linked: a control client is only notified
/// about windows of its own session.
pub(super) const HUB: &str = "moothall-hub";

/// Most bytes of a socket's path: some systems refuse longer ones.
const SOCKET_BYTES_MAX: usize = 100;

/// A tmux server, and its session that the control client attaches to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum TmuxServer {
    /// The tmux server of this data folder, which this server starts.
    Own {
        /// The arguments that name its socket on tmux's command line.
        socket: [String; 2],
    },
    /// A tmux server that a person started.
    Foreign {
        /// The arguments that name its socket on tmux's command line.
        socket: [String; 2],
        /// The session there, e.g. `$3`.
        session: String,
    },
}

/// Settings for this data folder's own tmux server, sent at each connection. That tmux server does
/// not load the user's configuration.
///
/// The last hook uses `run-shell -C` with a short delay: a control client is not notified of a
/// command that a hook runs directly.
const SETTINGS: [&str; 15] = [
    "set-option -s exit-empty off",
    "set-option -s set-clipboard off",
    "set-option -s escape-time 20",
    "set-option -g update-environment ''",
    "set-option -g destroy-unattached off",
    "set-option -g default-size 200x50",
    "set-option -g history-limit 10000",
    "set-option -g set-titles off",
    "set-option -g status-right ' leave with C-b d '",
    "set-option -gw remain-on-exit on",
    "set-option -gw automatic-rename off",
    "set-option -gw allow-rename off",
    "set-option -gw window-size latest",
    "set-option -gw monitor-bell off",
    "set-hook -g pane-died 'run-shell -b -d 0.01 -C \"rename-window -t #{window_id} ended\"'",
];

/// Hooks for clients that attach, detach, or change their session.
const MOVES: [&str; 3] = ["client-attached", "client-detached", "client-session-changed"];

/// Fits every window to the clients attached to it; a window without clients gets its default size,
/// in which dialogs are read whole. The hook does not know the session that a client left, so it
/// asks all sessions, after a short delay in which the client has gone.
const FIT: &str = r##"run-shell -b -d 0.01 -C { run-shell -C "#{S:#{?session_attached,set-option -wu -t '#{session_id}:' window-size,resize-window -t '#{session_id}:' -x 200 -y 50} ; }" }"##;

impl TmuxServer {
    /// Returns the tmux server that belongs to a data folder. Its socket lies in the folder if the
    /// path is short enough, otherwise in tmux's folder under a hashed name.
    pub(super) fn own(folder: &Path) -> Self {
        let path = folder.join("tmux.sock").to_string_lossy().into_owned();
        if path.len() <= SOCKET_BYTES_MAX {
            return Self::Own { socket: ["-S".to_owned(), path] };
        }
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        Self::Own { socket: ["-L".to_owned(), format!("moothall-{:016x}", hasher.finish())] }
    }

    /// Returns the arguments for tmux's command line that name a socket: a name, or a path.
    pub(super) fn socket_of(name: &str) -> [String; 2] {
        let flag = if name.contains('/') { "-S" } else { "-L" };
        [flag.to_owned(), name.to_owned()]
    }

    pub(super) fn socket(&self) -> &[String; 2] {
        match self {
            Self::Own { socket } | Self::Foreign { socket, .. } => socket,
        }
    }

    /// Returns a tmux client with a clean environment. A tmux server that the client starts has
    /// that environment for its whole life.
    pub(super) fn tmux(socket: &[String; 2]) -> Command {
        let mut command = Command::new("tmux");
        command.env_clear().envs(Environment::of(&BTreeMap::new()).pairs());
        // The folder of the sockets that are named without a path.
        command.envs(
            std::env::var_os("TMUX_TMPDIR").map(|folder| (OsString::from("TMUX_TMPDIR"), folder)),
        );
        command
            .args(["-u", "-f", "/dev/null"])
            .args(socket)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Returns the control client. For this data folder's own tmux server, the client starts the
    /// server and creates the hub if they are missing.
    pub(super) fn control(&self) -> Command {
        let mut command = Self::tmux(self.socket());
        command.arg("-C");
        match self {
            Self::Own { .. } => command.args([
                "new-session",
                "-A",
                "-f",
                "ignore-size",
                "-s",
                HUB,
                "-n",
                "hub",
                "--",
                "env",
                "cat",
            ]),
            // Change nothing on a foreign server: not the size of windows, not the session's
            // variables. Do not start one that has ended (`-N`).
            Self::Foreign { session, .. } => {
                command.args(["-N", "attach-session", "-E", "-f", "ignore-size", "-t", session])
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    /// Returns the settings to send at each connection.
    pub(super) fn settings(&self) -> Vec<TmuxCommand> {
        match self {
            Self::Own { .. } => {
                let fits = MOVES.map(|hook| TmuxCommand::of("set-hook -g").word(hook).word(FIT));
                SETTINGS.into_iter().map(TmuxCommand::of).chain(fits).collect()
            }
            Self::Foreign { .. } => Vec::new(),
        }
    }
}

/// Returns the fault for a tmux that cannot be run.
pub(super) fn unavailable(error: &std::io::Error) -> HostFault {
    HostFault::Unavailable(match error.kind() {
        std::io::ErrorKind::NotFound => {
            "tmux is not installed. Agents in terminals need it.".to_owned()
        }
        _ => format!("tmux could not be run: {error}."),
    })
}
