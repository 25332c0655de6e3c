//! What can be typed about the program itself: its configuration, its completions, its pages, its
//! help.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::LocationOptions;

#[derive(Clone, Debug, Args)]
pub struct Init {
    /// The file to write
    #[arg(value_name = "FILE", default_value = "moothall.toml")]
    pub file: PathBuf,
    /// Ask nothing
    #[arg(long, visible_alias = "no-input", visible_alias = "yes")]
    pub defaults: bool,
    /// Print it instead of writing it
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Doctor {
    #[command(flatten)]
    pub place: LocationOptions,
    /// Ask the address of each model whether it answers and takes the key, for at most 5 seconds
    /// each
    #[arg(long)]
    pub ping: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ConfigAction {
    /// Say whether the configuration is in order, and which files it is read from
    Check(ConfigFile),
    /// Print what is set; secrets only by the beginning of their hash
    Show {
        #[command(flatten)]
        file: ConfigFile,
        /// Where each value comes from
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
    /// Of which shell: bash, zsh or fish
    #[arg(value_enum, hide_possible_values = true)]
    pub shell: Shell,
}

#[derive(Clone, Debug, Args)]
pub struct Complete {
    /// The words of the line, the one last that is being typed
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// A shell whose completions are made.
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
    /// The folder; it is made where it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct Help {
    /// A command, or a topic
    #[arg(value_name = "COMMAND|TOPIC")]
    pub words: Vec<String>,
}
