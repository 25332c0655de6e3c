//! What each command does.

mod agents;
mod backup;
mod chat;
mod doctor;
mod events;
mod export;
pub mod hook;
mod invite;
mod link;
mod list;
mod markdown;
mod mcp;
mod new;
mod permit;
mod redact;
mod say;
mod search;
mod serve;
mod session;
mod show;
mod tail;
mod token;
mod verify;
mod why;

pub use self::chat::width;
use crate::cli::{Cli, Command, Global};
use crate::client::Client;
use crate::config;
use crate::credential::Meant;
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
    let Global { server, token_file, .. } = &cli.global;
    let meant = Meant::find(server, token_file.as_deref(), &config::environment())?;
    if let Command::Mcp(args) = &command {
        // Whoever speaks through it is an agent, which never acts with the credential of the person who started the server.
        return mcp::run(&Desk { client: Client::new(&meant.server)?.at_home(meant.spool).with(meant.credential.given()), paper }, args)
            .await;
    }
    let desk = Desk { client: Client::new(&meant.server)?.at_home(meant.spool).with(meant.credential).introduced().await?, paper };
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
        Command::Run(args) => session::run(&desk, &args).await,
        Command::Sessions(args) => session::list(&desk, &args).await,
        Command::Attach(args) => session::attach(&desk, &args).await,
        Command::Send(args) => session::send(&desk, &args).await,
        Command::Interrupt(args) => session::interrupt(&desk, &args).await,
        Command::End(args) => session::end(&desk, &args).await,
        Command::Link(args) => link::run(&desk, &args).await,
        Command::Permit(args) => permit::run(&desk, &args).await,
        Command::Serve(_) | Command::Doctor(_) | Command::Verify(_) | Command::Backup(_) | Command::Hook(_) | Command::Mcp(_) => Ok(()),
    }
}
