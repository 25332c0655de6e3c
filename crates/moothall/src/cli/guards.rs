//! Arguments of `guards` and of the slash commands that lift a guard.

use clap::Args;

use super::Thread;

#[derive(Clone, Debug, Args)]
pub struct Guards {
    /// Only this conversation: its id, an id prefix, its name, a session's name, or - for the one
    /// used last
    #[arg(value_name = "THREAD")]
    pub conversation: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct SlashCommand {
    #[command(flatten)]
    pub thread: Thread,
    /// Slash command, as typed in a conversation
    #[arg(
        required = true,
        value_name = "COMMAND",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<String>,
}
