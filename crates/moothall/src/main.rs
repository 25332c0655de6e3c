//! The `moothall` program: the server and the command line. All crates are wired together here.

mod fault;
mod hints;
mod in_session;
mod trail;
mod cli;
mod config;
mod accounts;
mod place;
mod clock;
mod reach;
mod service;
mod background;
mod owner;
mod profile;
mod credential;
mod gauges;
mod paint;
mod qr;
mod pager;
mod sse;
mod client;
mod last;
mod own_program;
mod terminals;
mod threads;
mod commands;

#[cfg(test)]
mod reference;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use moothall_kernel::text::for_terminal;

use crate::cli::{Cli, Command};
use crate::fault::{Exit, Fault};

/// Longest wait for a server's tasks to end after `serve` has returned.
const LET_GO_WITHIN: Duration = Duration::from_secs(2);

/// Parses the command line and runs the command. Returns its exit code.
fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    // The flag is read by hand, because an error of the parser has to be JSON as well.
    let json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let matches = cli::command().try_get_matches_from(cli::marked(words)).and_then(|matches| {
        hints::settle(&matches);
        Cli::from_arg_matches(&matches)
    });
    let done = match matches {
        Ok(cli) => start(cli),
        Err(error) => return misread(&suggested(error), json),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => complain(&fault, json),
    }
}

/// If the error is an unknown command, and its word is known from other programs, replaces clap's
/// suggestions by the commands that the word means. Other errors stay as they are.
fn suggested(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let meant: Vec<String> = cli::meant(word).iter().map(|word| (*word).to_owned()).collect();
    if !meant.is_empty() {
        error.remove(ContextKind::Suggested);
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
    }
    error
}

/// Prints the help, the version or the usage error in which parsing ended, and returns its exit
/// code. With `--json`, the version is an object on standard output, and a usage error is an object
/// on standard error.
fn misread(error: &clap::Error, json: bool) -> ExitCode {
    if json && error.kind() == ErrorKind::DisplayVersion {
        let _ = writeln!(std::io::stdout(), "{}", own_program::description());
        return ExitCode::SUCCESS;
    }
    if json && error.use_stderr() {
        let text = error.to_string();
        let what: Vec<&str> = text
            .trim_start_matches("error: ")
            .lines()
            .map(str::trim)
            .take_while(|line| !line.is_empty())
            .collect();
        return complain(&Fault::new(Exit::Usage, what.join(" ")).try_this("moothall help"), true);
    }
    let _ = error.print();
    error.exit_code().try_into().map_or(ExitCode::FAILURE, |code: u8| ExitCode::from(code))
}

/// Prints an error on standard error: as text, or with `--json` as an object. Does not print text
/// again that the command has printed already. Returns the exit code.
fn complain(fault: &Fault, json: bool) -> ExitCode {
    // Ignored: standard error may be closed.
    let _ = if fault.is_printed && !json {
        Ok(())
    } else if json {
        writeln!(std::io::stderr(), "{}", fault.json())
    } else {
        writeln!(std::io::stderr(), "{}", for_terminal(&hints::repeated(&fault.to_string())))
    };
    fault.exit.into()
}

/// Runs a command. All but `serve`, `hook` and `pane` end on Ctrl-C or after `--timeout`; `serve`
/// handles signals itself.
fn start(cli: Cli) -> Result<(), Fault> {
    paint::settle_talk(cli.global.quiet, cli.global.verbose);
    clock::settle(cli.global.utc);
    let command = match cli.command {
        Some(Command::Hook(hook)) => {
            commands::hook::run(&hook);
            own_program::note_use();
            return Ok(());
        }
        Some(Command::Pane(pane)) => return commands::pane::run(&pane),
        other => other,
    };
    let serving = matches!(command, Some(Command::Serve(_)));
    let mut builder = if serving {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    let runtime =
        builder.enable_all().build().map_err(|error| Fault::io("cannot start", &error))?;
    let done = runtime.block_on(async {
        let done = async {
            match command {
                Some(command) => commands::run(&cli.global, command).await,
                None => commands::bare(&cli.global, cli.plain).await,
            }
        };
        if serving {
            return done.await;
        }
        tokio::select! {
            done = within(cli.global.timeout, done) => done,
            _ = tokio::signal::ctrl_c() => Err(Fault::new(Exit::Interrupted, "stopped")),
        }
    });
    // The tasks of a server own running programs, so they get time to end. Other commands do not
    // wait: a thread of theirs may be blocked in a read of standard input, which cannot be
    // cancelled.
    runtime.shutdown_timeout(if serving { LET_GO_WITHIN } else { Duration::ZERO });
    done
}

/// Runs a command, and stops it with an error after this many seconds, if any.
async fn within(
    seconds: Option<u64>,
    done: impl Future<Output = Result<(), Fault>>,
) -> Result<(), Fault> {
    let Some(seconds) = seconds else { return done.await };
    let late = || {
        Fault::new(Exit::TimedOut, format!("not done within {seconds} seconds"))
            .because("--timeout expired; messages that were sent stay sent, and turns continue")
            .try_this("check the result: moothall tail - --no-follow")
    };
    tokio::time::timeout(Duration::from_secs(seconds), done).await.unwrap_or_else(|_| Err(late()))
}
