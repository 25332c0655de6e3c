//! The `moothall` program: the server, and the command line that talks to it. Everything is wired together here and nowhere else.

mod fault;
mod cli;
mod config;
mod place;
mod paint;
mod sse;
mod client;
mod threads;
mod commands;

#[cfg(test)]
mod reference;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::fault::{Exit, Fault};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match start(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr(), "{fault}");
            fault.exit.into()
        }
    }
}

fn start(cli: Cli) -> Result<(), Fault> {
    let serving = matches!(cli.command, Command::Serve(_));
    let mut builder = if serving { tokio::runtime::Builder::new_multi_thread() } else { tokio::runtime::Builder::new_current_thread() };
    let runtime = builder.enable_all().build().map_err(|error| Fault::io("cannot start", &error))?;
    let done = runtime.block_on(async {
        if serving {
            return commands::run(cli).await;
        }
        tokio::select! {
            done = commands::run(cli) => done,
            _ = tokio::signal::ctrl_c() => Err(Fault::new(Exit::Interrupted, "stopped")),
        }
    });
    // A read of standard input cannot be taken back; nobody waits for it here.
    runtime.shutdown_background();
    done
}
