//! Arguments of `computers`: the other computers, and the lines by which they are paired.

use clap::{Args, Subcommand};

use super::Confirmation;

#[derive(Clone, Debug, Args)]
pub struct Computers {
    #[command(subcommand)]
    pub action: Option<ComputerCommand>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ComputerCommand {
    /// List this computer and those that are paired with it; the default
    List,
    /// Print a line for `computers join` on another computer, worth one use for ten minutes
    Invite(OwnComputer),
    /// Join a line that another computer printed; `-` reads it from standard input
    ///
    /// An invitation is answered by a line, which is joined on the computer that invited. The line
    /// of an invitation is a secret: read it from standard input, so that no other program sees it.
    Join(JoinedLine),
    /// Put the computers on again, which stay off after a restore from a backup
    Resume,
    /// End the pair with a computer: its key is deleted here
    Forget(ForgottenComputer),
}

#[derive(Clone, Debug, Args)]
pub struct OwnComputer {
    /// Name of this computer for others; that of the machine by default
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Address of the Redis at which the computers meet, needed the first time
    #[arg(long, value_name = "URL")]
    pub redis: Option<String>,
    /// Share of time in which this computer is up: 1 for always, 9 for rarely
    #[arg(long, value_name = "1..9", value_parser = clap::value_parser!(u8).range(1..=9))]
    pub up: Option<u8>,
}

#[derive(Clone, Debug, Args)]
pub struct JoinedLine {
    /// The line, or `-` for standard input
    #[arg(value_name = "LINE", default_value = "-")]
    pub line: String,
    #[command(flatten)]
    pub own: OwnComputer,
}

#[derive(Clone, Debug, Args)]
pub struct ForgottenComputer {
    /// Name of the computer here
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub sure: Confirmation,
}
