//! `pane`: starts a session's program as another user, for the server.
//! (`docs/decisions/0024-terminals-of-other-users.md`)

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use moothall_agents::terminal::hooks::run_as_user;
use nix::unistd::{Uid, fchown};

use crate::cli::Pane;
use crate::fault::{Exit, Fault};

/// Runs a `pane` action.
///
/// # Errors
/// The action failed. `enter` returns only on failure: on success this process becomes the program.
pub fn run(pane: &Pane) -> Result<(), Fault> {
    match pane {
        Pane::Dress => {
            let outcome = run_as_user(io::stdin().lock())
                .map_err(|error| Fault::io("cannot read the launch data", &error))?;
            println!("{outcome}");
            Ok(())
        }
        Pane::Enter { uid, words } => {
            // Programs may open the terminal again by its name, so it has to belong to their user.
            // Errors are ignored, because standard input may be another file than a terminal.
            let _ = fchown(io::stdin(), Some(Uid::from_raw(*uid)), None);
            let mut words = words.iter();
            let became = Command::new(
                words.next().ok_or_else(|| Fault::new(Exit::Usage, "no program is given"))?,
            )
            .args(words)
            .exec();
            Err(Fault::io("cannot start the program", &became))
        }
    }
}
