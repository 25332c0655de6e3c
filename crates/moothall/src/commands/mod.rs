//! Commands of the command line, one file each, and their shared parts.

mod agents;
mod apps;
mod announce;
mod answers;
mod awaited;
mod audit;
mod channels;
mod computers;
mod backup;
mod chat;
mod circle;
mod complete;
mod configuration;
mod doctor;
mod events;
mod export;
mod gather;
mod guards;
pub mod help;
pub mod hook;
mod init;
mod invitation;
mod invite;
mod join;
mod link;
mod list;
mod markdown;
mod matrix;
mod mcp;
mod new;
mod outcome;
mod overview;
mod page;
pub mod pane;
mod permit;
mod redact;
mod delete;
mod descriptions;
mod resume;
mod rooms;
mod say;
mod search;
mod serve;
mod session;
mod show;
mod spending;
mod stop_server;
mod confirmation;
mod tail;
mod task;
mod token;
mod verify;
mod why;

pub use self::chat::width;

use crate::background;
use crate::cli::{Command, Global, Task};
use crate::client::Client;
use crate::config;
use crate::credential::{CredentialOptions, ResolvedServer};
use crate::fault::Fault;
use crate::pager::Pager;
use crate::paint::{Printer, fine_detail};

/// Shared context of commands that talk to a server.
pub struct Context {
    /// Client for the chosen server, with its credential.
    pub client: Client,
    /// Writes to standard output, as text or as JSON.
    pub printer: Printer,
}

/// Runs a command.
///
/// # Errors
/// The command failed.
pub async fn run(global: &Global, command: Command) -> Result<(), Fault> {
    let printer = Printer::new(global.color, global.json);
    let command = match command {
        Command::Serve(args) => return serve::run(&args, &printer).await,
        Command::Doctor(args) => return doctor::run(&args, global, &printer).await,
        Command::Verify(args) => return verify::run(&args, &printer).await,
        Command::Audit(args) => return audit::run(&args, &printer),
        Command::StopServer(folder) => return stop_server::run(&folder, &printer).await,
        Command::Backup(args) => return backup::run(&args, &printer).await,
        Command::Init(args) => return init::run(&args, &printer),
        Command::Matrix(command) => return matrix::run(&command, &printer),
        Command::Config(action) => return configuration::run(&action, &printer),
        Command::Completions(args) => return help::completions(&args, &printer),
        Command::Complete(args) => return complete::run(global, &args, &printer).await,
        Command::Man(args) => return help::man(&args, &printer),
        Command::Help(args) => return help::run(&args, &printer),
        talking => talking,
    };
    let said = credential_options(global);
    if let Command::Join(args) = &command {
        return join::run(&said, &printer, args).await;
    }
    let mut meant = ResolvedServer::find(&said, &config::environment())?;
    if let Some(clients) = beginning(&command) {
        meant = background::running(&said, meant, &clients, &config::environment()).await?;
    }
    fine_detail(|| format!("server {}, credential: {}", meant.server, meant.credential.kind()));
    if let Command::Mcp(args) = &command {
        // An agent speaks over MCP. It must never act with the credential of the person who started
        // it.
        let client = Client::new(&meant.server, meant.cacert.as_deref())?.at_home(meant.spool);
        let person = client.clone().with(meant.credential.clone());
        let agent = meant.credential.without_person_keys().or_of_client(&config::environment());
        return mcp::run(&Context { client: client.with(agent), printer }, &person, args).await;
    }
    let client = Client::new(&meant.server, meant.cacert.as_deref())?.at_home(meant.spool);
    let context = Context { client: client.with(meant.credential).introduced().await?, printer };
    let _pager = Pager::begin(global, is_long(&command));
    match command {
        Command::New(args) => new::run(&context, &args).await,
        Command::List(args) => list::run(&context, &args).await,
        Command::Say(args) => say::run(&context, &args).await,
        Command::Tail(args) => tail::run(&context, &args).await,
        Command::Chat(args) => chat::run(&context, &args).await,
        Command::Invite(args) => invite::run(&context, &args).await,
        Command::Uninvite(args) => invite::uninvite(&context, &args).await,
        Command::Agents(args) => agents::run(&context, &args).await,
        Command::Apps(args) => apps::run(&context, &args).await,
        Command::Task(Task::New(args)) => task::run(&context, &args).await,
        Command::Why(args) => why::run(&context, &args).await,
        Command::Usage(args) => spending::usage(&context, &args).await,
        Command::Budget(args) => spending::budget(&context, &args).await,
        Command::Guards(args) => guards::run(&context, &args).await,
        Command::Slash(args) => guards::command(&context, &args).await,
        Command::Redact(args) => redact::run(&context, &args).await,
        Command::Delete(args) => delete::run(&context, &args).await,
        Command::Archive(thread) => rooms::alone(&context, &thread, "/archive").await,
        Command::Unarchive(thread) => rooms::alone(&context, &thread, "/unarchive").await,
        Command::Rename(args) => rooms::rename(&context, &args).await,
        Command::Pause(thread) => rooms::alone(&context, &thread, "/pause").await,
        Command::Continue(thread) => rooms::alone(&context, &thread, "/resume").await,
        Command::Mute(args) => rooms::mute(&context, &args, "/mute").await,
        Command::Unmute(args) => rooms::mute(&context, &args, "/unmute").await,
        Command::Policy(args) => rooms::policy(&context, &args).await,
        Command::Group(args) => rooms::group(&context, &args).await,
        Command::Ask(args) => rooms::ask(&context, &args).await,
        Command::Stop(args) => say::stop(&context, &args).await,
        Command::Search(args) => search::run(&context, &args).await,
        Command::Export(args) => export::run(&context, &args).await,
        Command::Channels(args) => channels::run(&context, &args).await,
        Command::Computers(args) => computers::run(&context, &args).await,
        Command::Token(command) => token::run(&context, &command).await,
        Command::Invitation(command) => invitation::run(&context, &command, &meant.others).await,
        Command::Page(args) => page::run(&context, &args, &meant.others),
        Command::Run(args) => session::run(&context, &args).await,
        Command::Sessions(args) => session::list(&context, &args).await,
        Command::Attach(args) => session::attach(&context, &args).await,
        Command::Send(args) => session::send(&context, &args).await,
        Command::Interrupt(args) => session::interrupt(&context, &args).await,
        Command::End(args) => session::end(&context, &args).await,
        Command::Resume(args) => resume::run(&context, &args).await,
        Command::Link(args) => link::run(&context, &args).await,
        Command::Gather(action) => gather::run(&context, &action).await,
        Command::Permit(args) => permit::run(&context, &args).await,
        Command::Serve(_)
        | Command::Doctor(_)
        | Command::Verify(_)
        | Command::Audit(_)
        | Command::Backup(_)
        | Command::StopServer(_)
        | Command::Init(_)
        | Command::Matrix(_)
        | Command::Config(_)
        | Command::Completions(_)
        | Command::Complete(_)
        | Command::Man(_)
        | Command::Help(_)
        | Command::Hook(_)
        | Command::Pane(_)
        | Command::Mcp(_)
        | Command::Join(_) => Ok(()),
    }
}

/// True if a command may print more than a screen of text and then ends, so that a pager is of use.
fn is_long(command: &Command) -> bool {
    match command {
        Command::Tail(args) => args.no_follow,
        Command::Search(_) | Command::Export(_) | Command::Why(_) | Command::Guards(_) => true,
        _ => false,
    }
}

/// Shows the overview. If no server runs, starts one at a terminal, and prints the help into a
/// pipe. With `--plain` or `--json`, a pipe gets the error instead.
///
/// # Errors
/// The server is unreachable or refuses.
pub async fn bare(global: &Global, plain: bool) -> Result<(), Fault> {
    let said = credential_options(global);
    let variables = config::environment();
    let mut meant = ResolvedServer::find(&said, &variables)?;
    if chat::screen::is_there() {
        meant = background::running(&said, meant, &[], &variables).await?;
    } else if !plain && !global.json && !background::listens(&meant.server).await {
        return help::overview();
    }
    let client = Client::new(&meant.server, meant.cacert.as_deref())?.at_home(meant.spool);
    let client = client.with(meant.credential).introduced().await?;
    let printer = Printer::new(global.color, global.json);
    overview::run(&Context { client, printer }, plain).await
}

/// If a command may start a server, returns the agents that the command names. `None` for other
/// commands.
fn beginning(command: &Command) -> Option<Vec<String>> {
    match command {
        Command::New(args) => Some(args.with.clone()),
        Command::Run(args) => Some(vec![args.client.clone()]),
        Command::Say(_) => Some(Vec::new()),
        _ => None,
    }
}

/// Collects the options that choose a server.
fn credential_options(global: &Global) -> CredentialOptions<'_> {
    CredentialOptions {
        server: global.server.as_deref(),
        token_file: global.token_file.as_deref(),
        data: global.data.as_deref(),
        profile: global.profile.as_deref(),
        cacert: global.cacert.as_deref(),
    }
}
