//! Arguments of `export`: the formats, and the file that it writes.

use clap::{Args, ValueEnum};

use super::Thread;

#[derive(Clone, Debug, Args)]
pub struct Export {
    #[command(flatten)]
    pub thread: Thread,
    /// Format: markdown or jsonl; --json implies jsonl
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ExportFormat::Markdown, hide_possible_values = true)]
    pub format: ExportFormat,
    /// Export all events, the trace included: turns, passes, withheld messages
    #[arg(long)]
    pub all: bool,
}

/// Format of an exported conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// For people
    Markdown,
    /// For programs
    Jsonl,
}
