//! What every command understands, and how little of it each help text repeats.

use std::path::PathBuf;

use clap::{Arg, Args, Command, CommandFactory, ValueEnum};

use super::Cli;

/// What every command understands.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// The server to talk to [default: where moothall.toml makes one listen, then
    /// http://127.0.0.1:5111]
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "MOOTHALL_SERVER",
        hide_env_values = true,
        help_heading = "Global options"
    )]
    pub server: Option<String>,
    /// A server that you joined, by the name under which it is kept
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "MOOTHALL_PROFILE",
        hide_env_values = true,
        help_heading = "Global options"
    )]
    pub profile: Option<String>,
    /// A file with the token to show to the server [default: a session's own, MOOTHALL_TOKEN, the
    /// start-up credential of a server of your own, then what you got when you joined]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub token_file: Option<PathBuf>,
    /// For https: trust the certificates in this file (PEM) instead of the system's
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "MOOTHALL_CACERT",
        hide_env_values = true,
        help_heading = "Global options"
    )]
    pub cacert: Option<PathBuf>,
    /// Print JSON: one object, or one object a line for what goes on
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// Give up after so many seconds, with exit code 124. What was sent stays sent
    #[arg(long, global = true, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Global options")]
    pub timeout: Option<u64>,
    /// No hints on standard error: errors and warnings alone
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub quiet: bool,
    /// Say on standard error what is asked of the server, and how long it takes
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub verbose: bool,
    /// Show times in UTC; otherwise in the time zone of this computer or of TZ. JSON is always in
    /// UTC
    #[arg(long, global = true, help_heading = "Global options")]
    pub utc: bool,
    /// When to use colours: auto, always or never. NO_COLOR is respected
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto,
        hide_possible_values = true, help_heading = "Global options")]
    pub color: ColorChoice,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal
    Auto,
    /// Also in pipes
    Always,
    /// Not at all
    Never,
}

/// The whole command line. What every command understands is shown by the program's own help alone,
/// and works everywhere.
pub fn command() -> Command {
    let program = Cli::command();
    let shared: Vec<Arg> = program
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .map(|arg| arg.clone().hide(true))
        .collect();
    // A subcommand that has an argument already is not given another of its name.
    program.mut_subcommands(|command| sparing(command, &shared))
}

fn sparing(command: Command, shared: &[Arg]) -> Command {
    let command =
        command.args(shared.iter().cloned()).mut_subcommands(|inner| sparing(inner, shared));
    let about = "Options of all commands (--server, --json, --timeout …): moothall --help";
    let after = command
        .get_after_help()
        .map_or_else(|| about.to_owned(), |after| format!("{after}\n\n{about}"));
    command.after_help(after)
}
