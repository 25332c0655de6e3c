//! What is held, refused or near its limit, and the slash commands that lift it.

use clap::Args;

use super::Thread;

#[derive(Clone, Debug, Args)]
pub struct Guards {
    /// Only this conversation: its id, the beginning of its id, its name, that of a session, or -
    /// for the one used last
    #[arg(value_name = "THREAD")]
    pub conversation: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct SlashCommand {
    #[command(flatten)]
    pub thread: Thread,
    /// The command, as it is typed in a conversation
    #[arg(
        required = true,
        value_name = "COMMAND",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<String>,
}
