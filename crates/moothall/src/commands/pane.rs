//! `pane`: what the server runs so that a session's program is another user's.
//! (`docs/decisions/0024-terminals-of-other-users.md`)

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use moothall_agents::terminal::hooks::run_errand;
use nix::unistd::{Uid, fchown};

use crate::cli::Pane;
use crate::fault::{Exit, Fault};

/// # Errors
/// Whatever kept it from being done; where it becomes the program, it does not come back.
pub fn run(pane: &Pane) -> Result<(), Fault> {
    match pane {
        Pane::Dress => {
            let outcome = run_errand(io::stdin().lock())
                .map_err(|error| Fault::io("cannot read what is to be prepared", &error))?;
            println!("{outcome}");
            Ok(())
        }
        Pane::Enter { uid, words } => {
            // Programs open their terminal again by its name. One that is no terminal needs nobody.
            let _ = fchown(io::stdin(), Some(Uid::from_raw(*uid)), None);
            let mut words = words.iter();
            let became = Command::new(
                words
                    .next()
                    .ok_or_else(|| Fault::new(Exit::Usage, "there is nothing to become"))?,
            )
            .args(words)
            .exec();
            Err(Fault::io("cannot start the program", &became))
        }
    }
}
