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
}

#[derive(Clone, Debug, Args)]
pub struct Doctor {
    #[command(flatten)]
    pub place: LocationOptions,
    /// Check that the address of each model answers and accepts the key, for at most 5 seconds each
    #[arg(long)]
    pub ping: bool,
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
    /// Shell: bash, zsh or fish
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
}

#[derive(Clone, Debug, Args)]
pub struct Man {
    /// Destination folder; created if missing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct Help {
    /// Command or topic
    #[arg(value_name = "COMMAND|TOPIC")]
    pub words: Vec<String>,
}
