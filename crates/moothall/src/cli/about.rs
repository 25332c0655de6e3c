//! Arguments of the commands about the program itself: configuration, completions, manual pages and
//! help.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::LocationOptions;

#[derive(Clone, Debug, Args)]
pub struct Init {
    /// The file to write
    #[arg(value_name = "FILE", default_value = "moothall.toml")]
    pub file: PathBuf,
    /// Do not ask questions
    #[arg(long, visible_alias = "no-input", visible_alias = "yes")]
    pub defaults: bool,
    /// Print the file instead of writing it
    #[arg(long)]
    pub dry_run: bool,
    /// Add settings for a purpose: debate, review, gathering or support
    #[arg(long, value_name = "PURPOSE", value_enum, hide_possible_values = true)]
    pub template: Option<Template>,
}

/// A purpose for which `init` has settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// Agents take turns
    Debate,
    /// Only named agents answer
    Review,
    /// A talking piece goes round
    Gathering,
    /// One agent answers each question
    Support,
}

#[derive(Clone, Debug, Args)]
pub struct Doctor {
    #[command(flatten)]
    pub place: LocationOptions,
    /// Check that the address of each model answers and accepts the key, for at most 5 seconds each
    #[arg(long)]
    pub ping: bool,
    /// Repair permissions, and remove the credential of a server that is gone; asks before each
    /// repair
    #[arg(long)]
    pub fix: bool,
    /// With --fix: do not ask
    #[arg(long, short = 'y', requires = "fix")]
    pub yes: bool,
    /// Write a file to attach to a report of a problem: this report, versions, the keys of the
    /// configuration, the server's last log lines and counts; no messages and no secrets
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ConfigAction {
    /// Check the configuration, and list the files that it is read from
    Check(ConfigFile),
    /// Print the JSON Schema of the configuration, for editors
    Schema,
    /// Print an example with all keys, their meanings and defaults
    Example,
    /// Print all settings; secrets are shown as the start of their hash
    Show {
        #[command(flatten)]
        file: ConfigFile,
        /// Show the origin of each value
        #[arg(long)]
        origin: bool,
    },
}

#[derive(Clone, Debug, Args)]
pub struct ConfigFile {
    /// The configuration file [default: ./moothall.toml over moothall/moothall.toml in the XDG
    /// configuration folder]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub struct Completions {
    /// Shell: bash, zsh, fish or powershell
    #[arg(value_enum, hide_possible_values = true)]
    pub shell: Shell,
}

#[derive(Clone, Debug, Args)]
pub struct Complete {
    /// Words of the command line; the last one is being typed
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// A shell with completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// PowerShell
    #[value(name = "powershell", alias = "pwsh")]
    Power,
}

#[derive(Clone, Debug, Args)]
pub struct Man {
    /// Destination folder; created if missing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct Help {
    /// Command, topic, or the word error and a code
    #[arg(value_name = "COMMAND|TOPIC")]
    pub words: Vec<String>,
}
