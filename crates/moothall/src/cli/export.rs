//! The arguments of `export`: formats, and where it writes.

use clap::{Args, ValueEnum};

use super::Thread;

#[derive(Clone, Debug, Args)]
pub struct Export {
    #[command(flatten)]
    pub thread: Thread,
    /// How: markdown or jsonl; --json means jsonl
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ExportFormat::Markdown, hide_possible_values = true)]
    pub format: ExportFormat,
    /// Everything, the trace included: turns, passes, kept words
    #[arg(long)]
    pub all: bool,
}

/// How a conversation is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// For people
    Markdown,
    /// For programs
    Jsonl,
}
