//! The `moothall` program: the server, and the command line that talks to it. Everything is wired together here and nowhere else.

mod fault;
mod cli;
mod config;
mod place;
mod credential;
mod gauges;
mod paint;
mod sse;
mod client;
mod terminals;
mod threads;
mod commands;

#[cfg(test)]
mod reference;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use moothall_kernel::text::for_terminal;

use crate::cli::{Cli, Command};
use crate::fault::{Exit, Fault};

/// How long the tasks of a server may take to end.
const LET_GO_WITHIN: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let cli = Cli::parse();
    match start(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr(), "{}", for_terminal(&fault.to_string()));
            fault.exit.into()
        }
    }
}

fn start(cli: Cli) -> Result<(), Fault> {
    if let Command::Hook(hook) = &cli.command {
        commands::hook::run(hook);
        return Ok(());
    }
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
    // A server lets go of its tasks, and with them of the programs that it runs. Other commands may be left with a read of
    // standard input, which cannot be taken back.
    runtime.shutdown_timeout(if serving { LET_GO_WITHIN } else { Duration::ZERO });
    done
}
