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
mod verify;
mod why;

pub use self::chat::width;
use crate::cli::{Cli, Command, Global};
use crate::client::Client;
use crate::fault::Fault;
use crate::paint::Paper;
use crate::place::USUAL_SERVER;

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
    let desk = Desk { client: client(&cli.global, |name| std::env::var(name).ok())?, paper };
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
        Command::Run(args) => session::run(&desk, &args).await,
        Command::Sessions(args) => session::list(&desk, &args).await,
        Command::Attach(args) => session::attach(&desk, &args).await,
        Command::Send(args) => session::send(&desk, &args).await,
        Command::Interrupt(args) => session::interrupt(&desk, &args).await,
        Command::End(args) => session::end(&desk, &args).await,
        Command::Link(args) => link::run(&desk, &args).await,
        Command::Permit(args) => permit::run(&desk, &args).await,
        Command::Mcp(args) => mcp::run(&desk, &args).await,
        Command::Serve(_) | Command::Doctor(_) | Command::Verify(_) | Command::Backup(_) | Command::Hook(_) => Ok(()),
    }
}

/// A client for the server that is meant. Inside a session that is the session's own, and there its token says who asks; the token goes
/// nowhere else.
fn client(global: &Global, variable: impl Fn(&str) -> Option<String>) -> Result<Client, Fault> {
    let own = variable("MOOTHALL_URL").filter(|url| url.starts_with("http://"));
    let server = own.clone().filter(|_| global.server == USUAL_SERVER).unwrap_or_else(|| global.server.clone());
    let client = Client::new(&server)?;
    let at_home = own.is_some_and(|own| own.trim_end_matches('/') == client.base());
    let token = variable("MOOTHALL_SESSION_TOKEN").filter(|token| at_home && token.starts_with("ses_"));
    Ok(client.with_token(token))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cli::ColorChoice;

    #[test]
    fn a_sessions_token_goes_to_its_own_server_only() {
        let ask = |server: &str, own: &'static str, token: &'static str| {
            let global = Global { server: server.into(), json: false, color: ColorChoice::Never };
            let variable = |name: &str| Some(if name == "MOOTHALL_URL" { own } else { token }.to_owned());
            let client = client(&global, variable).unwrap();
            (client.base().to_owned(), client.has_token())
        };
        let (usual, own) = (USUAL_SERVER, "http://127.0.0.1:6000/");
        assert_eq!(ask(usual, own, "ses_x"), ("http://127.0.0.1:6000".into(), true));
        assert_eq!(ask("http://127.0.0.1:7000", own, "ses_x"), ("http://127.0.0.1:7000".into(), false));
        // What a client's configuration leaves where there is no such variable.
        assert_eq!(ask(usual, "$MOOTHALL_URL", "$MOOTHALL_SESSION_TOKEN"), (usual.into(), false));
        assert_eq!(ask(usual, own, ""), ("http://127.0.0.1:6000".into(), false));
    }
}
