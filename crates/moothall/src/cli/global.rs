//! Options of every command. Only the program's own help lists them.

use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Arg, ArgAction, Args, Command, CommandFactory, Id, ValueEnum};

use super::Cli;

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Server to use [default: the listen address in moothall.toml, then http://127.0.0.1:5111]
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "MOOTHALL_SERVER",
        hide_env_values = true,
        help_heading = "Global options"
    )]
    pub server: Option<String>,
    /// Use a server that you joined, by its profile name
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "MOOTHALL_PROFILE",
        hide_env_values = true,
        help_heading = "Global options"
    )]
    pub profile: Option<String>,
    /// File with the token to use [default: a session's own, MOOTHALL_TOKEN, the start-up
    /// credential of your own server, then the token saved by join]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub token_file: Option<PathBuf>,
    /// Data folder of the running server to use, for the user that runs it: its address and its
    /// start-up credential are there
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub data: Option<PathBuf>,
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
    /// Print JSON: one object, or one object per line for streams
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// Give up after this number of seconds, with exit code 124. A message that was sent stays sent
    #[arg(long, global = true, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Global options")]
    pub timeout: Option<u64>,
    /// Print only errors and warnings on standard error, no hints
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub quiet: bool,
    /// Print the requests to the server and their duration on standard error; -vv also prints the
    /// choice of the server, the kind of credential, retries and sizes
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = "Global options")]
    pub verbose: u8,
    /// Show times in UTC instead of the time zone of this computer or of TZ. JSON always uses UTC
    #[arg(long, global = true, help_heading = "Global options")]
    pub utc: bool,
    /// Print long output at once, instead of with $PAGER (or less) at a terminal. PAGER= does so
    /// too
    #[arg(long, global = true, help_heading = "Global options")]
    pub no_pager: bool,
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
    /// Never
    Never,
}

/// Help of a command: its examples stand before its options.
const HELP: &str = "{before-help}{about-with-newline}\n{usage-heading} {usage}{after-help}\n\n\
                    {all-args}\n\n";
/// Last line of a command's help.
const SHARED: &str = "Options of all commands (--server, --json, --timeout …): moothall --help";
/// Last line of the program's own help.
const TOPICS: &str = "Exit codes, variables, errors: moothall help exit-codes|environment|error";

/// Builds the command line. Global options work in every command, but only the program's own help
/// lists them.
pub fn command() -> Command {
    let program = Cli::command();
    let shared: Vec<Arg> = program
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .map(|arg| arg.clone().hide(true))
        .collect();
    // Declared here as hidden. clap does not propagate a global argument to a subcommand that
    // already has an argument with its id.
    let program = program.mut_subcommands(|command| sparing(command, &shared));
    example_first(program, TOPICS)
}

/// Puts the examples of a command before its options in `--help`, and leaves them out in `-h`.
fn example_first(command: Command, last: &str) -> Command {
    let command = match command.get_after_help().cloned() {
        Some(examples) => command.after_long_help(examples).after_help(Resettable::Reset),
        None => command,
    };
    command.help_template(format!("{HELP}{last}"))
}

/// Hides the global options of a command and of its subcommands, and names the help that lists
/// them.
fn sparing(command: Command, shared: &[Arg]) -> Command {
    // Some commands have a data folder of their own.
    let own: Vec<Id> = command.get_arguments().map(|arg| arg.get_id().clone()).collect();
    let others = shared.iter().filter(|arg| !own.contains(arg.get_id())).cloned();
    let command = command.args(others).mut_subcommands(|inner| sparing(inner, shared));
    example_first(command, SHARED)
}
