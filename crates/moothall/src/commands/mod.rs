//! What each command does.

mod agents;
mod backup;
mod chat;
mod doctor;
mod events;
mod export;
mod invite;
mod list;
mod markdown;
mod new;
mod redact;
mod say;
mod search;
mod serve;
mod show;
mod tail;
mod token;
mod verify;
mod why;

pub use self::chat::width;
use crate::cli::{Cli, Command, Global};
use crate::client::Client;
use crate::config;
use crate::credential::Credential;
use crate::fault::Fault;
use crate::paint::Paper;

/// What commands that talk to a server need.
pub struct Desk {
    /// The server.
    pub client: Client,
    /// Standard output.
    pub paper: Paper,
}

/// Runs a command.
///
/// # Errors
/// Whatever kept it from being done.
pub async fn run(cli: Cli) -> Result<(), Fault> {
    let paper = Paper::new(cli.global.color, cli.global.json);
    let command = match cli.command {
        Command::Serve(args) => return serve::run(&args, &paper).await,
        Command::Doctor(args) => return doctor::run(&args, &paper).await,
        Command::Verify(args) => return verify::run(&args, &paper).await,
        Command::Backup(args) => return backup::run(&args, &paper).await,
        talking => talking,
    };
    let Global { server, token_file, .. } = cli.global;
    let credential = Credential::find(token_file.as_deref(), &server, &config::environment())?;
    let desk = Desk { client: Client::new(&server)?.showing(credential).await?, paper };
    match command {
        Command::New(args) => new::run(&desk, &args).await,
        Command::List(args) => list::run(&desk, &args).await,
        Command::Say(args) => say::run(&desk, &args).await,
        Command::Tail(args) => tail::run(&desk, &args).await,
        Command::Chat(args) => chat::run(&desk, &args).await,
        Command::Invite(args) => invite::run(&desk, &args).await,
        Command::Uninvite(args) => invite::uninvite(&desk, &args).await,
        Command::Agents => agents::run(&desk).await,
        Command::Why(args) => why::run(&desk, &args).await,
        Command::Redact(args) => redact::run(&desk, &args).await,
        Command::Stop(args) => say::stop(&desk, &args).await,
        Command::Search(args) => search::run(&desk, &args).await,
        Command::Export(args) => export::run(&desk, &args).await,
        Command::Token(command) => token::run(&desk, &command).await,
        Command::Serve(_) | Command::Doctor(_) | Command::Verify(_) | Command::Backup(_) => Ok(()),
    }
}
