//! What can be typed: every command, its arguments, its examples.

mod about;
mod access;
mod export;
mod gather;
mod global;
mod guards;
mod spending;
mod terminals;
mod text;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use moothall_store::Anchor;

pub use self::about::{
    Complete, Completions, ConfigAction, ConfigFile, Doctor, Help, Init, Man, Shell,
};
pub use self::access::{
    AgentCommand, AgentNames, Agents, AppCommand, AppGiven, AppId, Apps, Invitation, Join, KeyOf,
    NewInvitation, NewToken, RevokedToken, Token, TokenId,
};
pub use self::export::{Export, ExportFormat};
#[cfg(test)]
pub use self::gather::Members;
pub use self::gather::{
    Gather, GatherEnd, GatherPass, GatherStart, Member as GatherMember, SeatOccupant as MemberIs,
};
pub use self::global::{ColorChoice, Global, command};
pub use self::guards::{Guards, SlashCommand};
pub use self::spending::{Budget, BudgetCommand, BudgetRaise, Usage};
pub use self::terminals::{
    End, Link, LinkAction, Mcp, McpAction, McpClient, Permit, Resume, Run, Send, Session, Sessions,
};
pub use self::text::marked;
use crate::config::Mode;
use crate::fault::Exit;

/// People and AI agents in one conversation.
///
/// `moothall serve` runs the server; every other command talks to it.
#[derive(Debug, Parser)]
#[command(
    name = "moothall",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = top_help()
)]
pub struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub global: Global,
    /// The command; without one, an overview is shown.
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server
    ///
    /// Ctrl-C or SIGTERM lets running turns end, for at most 10 seconds, and begins no more;
    /// without any it stops at once, and so does a second one. What was acknowledged is kept either
    /// way, and a turn that did not end is taken up again at the next start. MOOTHALL_LOG=info
    /// tells more on standard error; no word of a conversation and no secret is ever in it.
    ///
    /// With --mode token, others may reach it too: under the addresses of this computer where it
    /// listens on 0.0.0.0, and under the names of its certificate. Any other name, such as that of
    /// a proxy in front, has to stand in `allowed_hosts` of [server].
    #[command(after_help = examples(&[
        ("moothall serve", "with defaults: demo agents, 127.0.0.1:5111, data in the XDG data folder"),
        ("moothall serve --config team.toml", "with agents of your own"),
        ("moothall serve --data ./data --bind 127.0.0.1:0 --json", "on a free port, for scripts"),
        ("moothall serve --mode token --bind 0.0.0.0:5111", "for others too; everybody needs a token"),
        ("moothall serve --mode token --bind 0.0.0.0:5111 --tls-cert cert.pem --tls-key key.pem", "and nobody reads along"),
    ]))]
    Serve(Serve),
    /// Begin a conversation
    #[command(after_help = examples(&[
        ("moothall new \"Launch plan\"", "with the demo agents"),
        ("moothall new Review --with codex --with critic", "with these agents"),
        ("moothall new Notes --policy mention_only --empty", "alone for now"),
    ]))]
    New(New),
    /// List conversations, the newest last
    #[command(after_help = examples(&[("moothall list", ""), ("moothall list --all", "archived ones too")]))]
    List(List),
    /// Say something
    #[command(after_help = examples(&[
        ("moothall say - \"@analyst what do you make of it?\" --wait", "in the latest conversation, and wait for the answers"),
        ("git diff | moothall say \"Launch plan\" -", "words from standard input"),
        ("moothall say 0198 Hello --to critic", "to one participant; ids may be shortened"),
    ]))]
    Say(Say),
    /// Read a conversation, and go on reading as it grows
    #[command(after_help = examples(&[
        ("moothall tail -", "follow the latest conversation"),
        ("moothall tail \"Launch plan\" -n 50 --no-follow", "its last 50 messages, then stop"),
        ("moothall tail - --all --json | jq .type", "everything, the trace included, one JSON object a line"),
    ]))]
    Tail(Tail),
    /// Take part in a conversation: read and write at the same time
    ///
    /// Replies appear as they are written. Tab completes @names and /commands; >12 replies to
    /// message 12; a backslash at the end of a line goes on in another. Ctrl-C on an empty line
    /// stops what runs, after asking; Ctrl-D leaves. In a pipe, with NO_COLOR or on a dumb terminal
    /// it is plain text: lines in, one block for each message out, and it ends when everybody has
    /// answered.
    #[command(after_help = examples(&[
        ("moothall chat -", "in the latest conversation"),
        ("moothall chat \"Launch plan\" --as ann", "as somebody else"),
        ("moothall chat - --plain", "without colours and drawing, for screen readers"),
    ]))]
    Chat(Chat),
    /// Invite an agent or a person, or change an invited one
    #[command(after_help = examples(&[
        ("moothall invite - critic", "a client of the server's registry"),
        ("moothall invite - reviewer --client codex --model gpt-5 --nickname Rev", "under a name of its own"),
        ("moothall invite - ann --client human", "a person"),
        ("moothall invite - planner --session planner", "an agent that lives in a terminal"),
    ]))]
    Invite(Invite),
    /// Take a participant out of a conversation
    #[command(after_help = examples(&[("moothall uninvite - critic", "")]))]
    Uninvite(Uninvite),
    /// List the agents that this server can run, and look after those that registered
    ///
    /// Agents of other programs register over JSON-RPC. Each has an id that no other ever gets.
    #[command(after_help = examples(&[
        ("moothall agents", "those that this server can run"),
        ("moothall agents --json", ""),
        ("moothall agents registered", "those of other programs"),
        ("moothall agents revoke ada", "its key is worth nothing any more"),
        ("moothall agents free ada", "its name is free, e.g. because its key was lost"),
    ]))]
    Agents(Agents),
    /// List, transfer and free the apps of agents over JSON-RPC
    ///
    /// The first agent that registers for an app manages its tasks, for good. Without an action,
    /// lists them.
    #[command(after_help = examples(&[
        ("moothall apps", "which agent manages the tasks of which app"),
        ("moothall apps transfer 7f0e5ad2-58a4-4d55-9b2c-0b6f0c6f7a10 ada", "with all its tasks that are not over"),
        ("moothall apps free 7f0e5ad2-58a4-4d55-9b2c-0b6f0c6f7a10", "the next agent that registers has it"),
    ]))]
    Apps(Apps),
    /// Explain who was asked, why, what came of it, and why others were not
    #[command(after_help = examples(&[
        ("moothall why -", "every human message of the latest conversation"),
        ("moothall why \"Launch plan\" 17", "what message 17 gave rise to"),
    ]))]
    Why(Why),
    /// Show what turns have cost, in tokens and money
    Usage(Usage),
    /// Show what may still be spent, and raise it
    Budget(Budget),
    /// Show what is held, refused or near its limit, and the command that lifts it
    ///
    /// Looks at conversations that are live, and at those in which something runs or waits for a
    /// person. A quiet one shows its guards when it is named.
    #[command(after_help = examples(&[
        ("moothall guards", "what holds agents and money back, on the whole server"),
        ("moothall guards -", "in the conversation used last"),
        ("moothall guards --json | jq '.guards[] | select(.state == \"held\")'", "for programs"),
    ]))]
    Guards(Guards),
    /// Run a slash command in a conversation
    #[command(after_help = examples(&[
        ("moothall command - /resume", "go on: a guard's hold is lifted, a pause ends"),
        ("moothall command \"Launch plan\" /unmute critic", ""),
        ("moothall command - /help", "all slash commands"),
    ]))]
    #[command(name = "command")]
    Slash(SlashCommand),
    /// Stop all turns of a conversation and forget what waits
    #[command(after_help = examples(&[("moothall stop -", "")]))]
    Stop(Stop),
    /// Find messages in all conversations
    ///
    /// All words must be there, in any order; "quoted" words side by side. A word finds longer ones
    /// that begin with it. from: and in: take ids and names, after: and before: days (UTC) or
    /// times.
    #[command(after_help = examples(&[
        ("moothall search rocket friday", "both words, the newest message first"),
        ("moothall search deploy from:critic in:\"Launch plan\"", "who said it, and where"),
        ("moothall search '\"on friday\"' after:2026-01-31 --json", "side by side, since that day"),
    ]))]
    Search(Search),
    /// Print a whole conversation, to read or to keep
    ///
    /// Markdown shows what was said, by whom, when and in reply to what; words stand in fences, so
    /// that nothing in them acts. JSON Lines has every event as the server sends it, one a line.
    #[command(after_help = examples(&[
        ("moothall export - > talk.md", "the latest conversation, to read"),
        ("moothall export \"Launch plan\" --format jsonl --all > plan.jsonl", "everything, the trace included, for programs"),
    ]))]
    Export(Export),
    /// Erase the words of a message for good
    ///
    /// They are gone from the disk, the search index, and all later reading and prompts; the
    /// message stays at its place, empty. Backups that were made before still hold them.
    #[command(after_help = examples(&[("moothall redact - 17", "message 17 of the latest conversation; asks first, on a terminal"),
        ("moothall redact - 17 --yes", "asks nothing"),
    ]))]
    Redact(Redact),
    /// Delete a conversation for good, with everything that was said in it
    ///
    /// What runs in it is cancelled. It is gone from the disk, the search index, and every later
    /// reading; only its id stays. Backups that were made before still hold it. To put one aside
    /// and keep it, type /archive in `moothall chat`.
    #[command(after_help = examples(&[("moothall delete \"Launch plan\"", "asks first, on a terminal"),
        ("moothall delete - --yes", "the latest conversation; asks nothing"),
    ]))]
    Delete(Delete),
    /// Check every event, and every row beside them, against its checksum
    ///
    /// Credentials, claims, deliveries, costs, sessions and the audit record have checksums too; it
    /// says what has none. Works while no server runs on the data folder, and changes nothing. Exit
    /// code 0: everything is whole. 1: something is damaged.
    #[command(after_help = examples(&[
        ("moothall verify", "the usual data folder"),
        ("moothall verify --data backups/monday", "a backup"),
    ]))]
    Verify(Verify),
    /// Check the audit record, and print an anchor that it can be held to later
    ///
    /// Each row of the record has the hash of the row before it. That shows rows that changed or
    /// are missing. It does not stop the owner of the file, who can make all hashes anew: an anchor
    /// that is kept elsewhere shows that too. Works also while a server runs, and changes nothing.
    #[command(subcommand, after_help = examples(&[
        ("moothall audit head", "the newest row: its number and hash, to keep elsewhere"),
        ("moothall audit verify", "follow the chain from its first row"),
        ("moothall verify", "the same for everything that is kept, while no server runs"),
    ]))]
    Audit(Audit),
    /// Copy the log, also while a server writes to it
    ///
    /// The copy is the log as it was at one moment. It is checked against its checksums before it
    /// gets its name, so whatever bears that name is whole. Nothing is overwritten.
    #[command(after_help = examples(&[
        ("moothall backup backups/monday", "a new folder, which is a data folder itself"),
        ("moothall backup /mnt/disk/moothall-1 --data ./data", "of another data folder"),
    ]))]
    Backup(Backup),
    /// Make, list and revoke tokens
    ///
    /// A token says who somebody is and what they may do. Where the server runs in token mode,
    /// everybody needs one; in local mode programs need one to answer permissions, to lift a guard,
    /// to erase and to administer.
    #[command(subcommand, after_help = examples(&[
        ("moothall token create ann", "for a person: reading, speaking, inviting, controls"),
        ("moothall token create critic --agent --thread \"Launch plan\"", "for an agent, in one conversation"),
        ("moothall token create ci --scope threads:read --days 30", "to read only, for a month"),
        ("moothall token list", ""),
        ("moothall token revoke 3f6c0f1e8a91b2c4", "by its id"),
        ("sudo moothall token create ann --data /var/lib/moothall", "for a server that runs as another user"),
    ]))]
    Token(Token),
    /// Invite somebody who has no token into one conversation
    ///
    /// Whoever opens the link in a browser, or gives it to `moothall join`, becomes this person or
    /// agent in this conversation. It works once.
    #[command(subcommand, after_help = examples(&[
        ("moothall invitation create \"Launch plan\" --for ann", "prints a link; for a day"),
        ("moothall invitation create - --for helper --agent --expires 2", "for an agent, for two hours"),
        ("moothall invitation create - --for ann --url https://hall.example.org", "where others reach the server"),
    ]))]
    Invitation(Invitation),
    /// Accept an invitation, and keep what it gives
    ///
    /// The token goes into a file that nobody else can read, under the name of the server or under
    /// --profile NAME. From then on, commands that name this server use it.
    #[command(after_help = examples(&[
        ("moothall join \"https://hall.example.org/#join=inv_0123\"", "then: moothall --profile hall.example.org list"),
        ("moothall join inv_0123 --server https://hall.example.org --profile hall", "the code alone"),
        ("moothall join inv_0123 --print", "the token on standard output, for a program"),
    ]))]
    Join(Join),
    /// Print the page's address, with what signs you in
    ///
    /// Open it in a browser, and show it to nobody: whoever has it is you.
    #[command(after_help = examples(&[
        ("moothall page", "for whoever runs the server"),
        ("sudo moothall page --data /var/lib/moothall", "for a server that runs as another user"),
    ]))]
    Page(KeyOf),
    /// Start an agent in a terminal of its own, and look at it
    ///
    /// The agent goes on when you leave it or close the window. What it is told and says is in the
    /// conversation that has its name. In a pipe, or with --json or --detach, it is only started.
    #[command(after_help = examples(&[
        ("moothall run claude --name planner", "in this folder, and look at it"),
        ("moothall run codex --in ~/project --detach", "in another folder, left alone"),
        ("moothall run claude -- --model opus", "with arguments of the program's own"),
    ]))]
    Run(Run),
    /// List the agents that live in terminals, and the programs that can
    #[command(after_help = examples(&[("moothall sessions", ""), ("moothall sessions --ended --json", "those that are over too")]))]
    Sessions(Sessions),
    /// Look at a session's terminal and type into it
    #[command(after_help = examples(&[("moothall attach planner", "")]))]
    Attach(Session),
    /// Say something to a session
    #[command(after_help = examples(&[
        ("moothall send planner \"How far are you?\"", ""),
        ("git diff | moothall send reviewer -", "words from standard input"),
        ("moothall send reviewer \"Shall we look at it together?\" --direct", "inside a session: over a link, from now on"),
    ]))]
    Send(Send),
    /// Interrupt what a session does now
    #[command(after_help = examples(&[("moothall interrupt planner", "")]))]
    Interrupt(Session),
    /// End a session and its program
    #[command(after_help = examples(&[("moothall end planner", "")]))]
    End(End),
    /// Run sessions that ended again: under their names, with their links
    #[command(after_help = examples(&[
        ("moothall resume", "those that went with a restart of the computer"),
        ("moothall resume planner", ""),
        ("moothall resume --all", "all that went with a restart"),
    ]))]
    Resume(Resume),
    /// Link sessions: what one says at the end of a turn reaches the others
    #[command(after_help = examples(&[
        ("moothall link planner reviewer", "or more than two"),
        ("moothall link list", ""),
        ("moothall link close 0198c0de", "ids may be shortened"),
    ]))]
    Link(Link),
    /// Hold a gathering: a talking piece goes round, and a harvest is written
    #[command(subcommand, after_help = examples(&[
        ("moothall gather start --file daily.toml", "begin one by a plan that is kept"),
        ("moothall gather show -", "where it is, and who has the piece"),
        ("moothall gather pass - Ann", "hand the piece on"),
        ("moothall gather end -", "nothing more is spoken, and the harvest is written"),
    ]))]
    Gather(Gather),
    /// Answer what an agent asks permission for
    #[command(after_help = examples(&[
        ("moothall permit", "what is asked, in every conversation"),
        ("moothall permit -", "in the one used last"),
        ("moothall permit planner allow", "where a session is told things"),
        ("moothall permit planner deny --number 17", "one of several"),
        ("moothall permit planner --text MariaDB", "in words of your own, where a program asks its user something"),
    ]))]
    Permit(Permit),
    /// Be an MCP server on standard input and output, for a client on this computer
    ///
    /// Everything is passed on to the running server: the one of MOOTHALL_URL, as a session's
    /// environment has it, or of --server. In a session, MOOTHALL_SESSION_TOKEN says who calls.
    #[command(after_help = examples(&[
        ("moothall mcp", "what a client runs"),
        ("moothall mcp install claude", "what its configuration needs"),
    ]))]
    Mcp(Mcp),
    /// Write a first configuration that names what is found on this computer
    ///
    /// It asks two questions on a terminal, and none elsewhere. A file that is there already stays
    /// as it is.
    #[command(after_help = examples(&[
        ("moothall init", "asks, and writes ./moothall.toml"),
        ("moothall init --defaults", "asks nothing"),
        ("moothall init --dry-run", "shows what would be written"),
    ]))]
    Init(Init),
    /// Check or show the configuration
    #[command(subcommand, after_help = examples(&[
        ("moothall config check", "is it in order?"),
        ("moothall config show --origin", "what is set, and where"),
    ]))]
    Config(ConfigAction),
    /// Print what makes a shell complete commands and options
    #[command(after_help = examples(&[
        ("moothall completions bash > ~/.local/share/bash-completion/completions/moothall", ""),
        ("moothall completions zsh > ~/.zfunc/_moothall", "a folder of $fpath"),
        ("moothall completions fish > ~/.config/fish/completions/moothall.fish", ""),
    ]))]
    Completions(Completions),
    /// Offer a shell the names that fit
    ///
    /// What `moothall completions` makes calls this, people need not. It asks the server for at
    /// most 300 ms, and says nothing where there is none.
    #[command(hide = true, after_help = examples(&[("moothall complete -- moothall say Lau", "conversations that begin so")]))]
    Complete(Complete),
    /// Write the manual pages into a folder
    #[command(after_help = examples(&[("moothall man ~/.local/share/man/man1", "then: man moothall-say")]))]
    Man(Man),
    /// Explain a command, or exit-codes, environment, conversations
    #[command(after_help = examples(&[("moothall help say", ""), ("moothall help exit-codes", ""), ("moothall help environment", "")]))]
    Help(Help),
    /// Check this computer, the configuration and the server
    #[command(after_help = examples(&[("moothall doctor", ""), ("moothall doctor --ping --server http://127.0.0.1:5111", "")]))]
    Doctor(Doctor),
    /// Report what a program in a terminal did
    ///
    /// Programs call this, people need not: sessions are started with it as their hook. It reads
    /// what the program says from the last argument or from standard input, leaves it in the
    /// session's spool folder, and ends with exit code 0 whatever happens: no program is held up or
    /// stopped by it. The question of Claude Code for a permission alone waits for an answer, at
    /// most 10 minutes. Outside of a session it does nothing.
    #[command(hide = true, after_help = examples(&[
        ("moothall hook claude Stop", "reads JSON from standard input"),
        ("moothall hook codex notify \"{}\"", "the JSON as the last argument"),
    ]))]
    Hook(Hook),
    /// Start a session's program as another user
    ///
    /// What the server runs for that, and nobody else.
    #[command(subcommand, hide = true, after_help = examples(&[
        ("moothall pane dress", "reads JSON from standard input"),
        ("moothall pane enter 1000 -- /usr/bin/setpriv --reuid 1000 claude", "in a terminal of the server's"),
    ]))]
    Pane(Pane),
}

#[derive(Clone, Debug, Subcommand)]
pub enum Pane {
    /// Look and write as the user that the program will run as
    Dress,
    /// Give the terminal to that user, and become the program
    Enter {
        /// The user's number
        uid: u32,
        /// What to become
        #[arg(last = true, required = true)]
        words: Vec<OsString>,
    },
}

#[derive(Clone, Debug, Args)]
pub struct Hook {
    /// The program (claude, codex, gemini or another), its event, and what it says of it
    // Taken as they are, because an error about them would end the program's turn.
    #[arg(
        value_name = "PROGRAM EVENT [JSON]",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<OsString>,
}

/// Which configuration, data folder and address.
#[derive(Clone, Debug, Default, Args)]
pub struct LocationOptions {
    /// The configuration file [default: ./moothall.toml, then moothall/moothall.toml in the XDG
    /// configuration folder]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data folder [default: moothall in the XDG data folder]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Address and port to listen on; port 0 picks a free one [default: 127.0.0.1:5111]
    #[arg(long, value_name = "ADDR")]
    pub bind: Option<String>,
    /// Who may do what without a credential: local (converse, from this computer) or token
    /// (nothing) [default: local]
    #[arg(long, value_name = "MODE", value_enum, hide_possible_values = true)]
    pub mode: Option<Mode>,
    /// Speak TLS with this certificate (PEM, the whole chain); a renewed one is taken up by itself
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
}

/// How the server's own log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One object on each line
    Json,
}

#[derive(Clone, Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    pub place: LocationOptions,
    /// How to write the server's own log to standard error: text, or json with a line for each
    /// request and turn
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text, hide_possible_values = true)]
    pub log: LogFormat,
}

#[derive(Clone, Debug, Args)]
pub struct New {
    /// Its name
    pub name: String,
    /// Who may speak: hybrid, mention_only, round_robin
    #[arg(long, default_value = "hybrid")]
    pub policy: String,
    /// Invite this agent; may be given again [default: the demo agents]
    #[arg(long, value_name = "CLIENT")]
    pub with: Vec<String>,
    /// Invite nobody
    #[arg(long, conflicts_with = "with")]
    pub empty: bool,
}

#[derive(Clone, Debug, Args)]
pub struct List {
    /// Archived conversations too
    #[arg(long)]
    pub all: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Thread {
    /// The conversation: its id, the beginning of its id, its name, that of a session, or - for the
    /// one used last
    pub thread: String,
}

#[derive(Clone, Debug, Args)]
pub struct Say {
    #[command(flatten)]
    pub thread: Thread,
    /// The words; - reads them from standard input, and // begins words with one slash
    #[arg(required = true, value_name = "TEXT", value_parser = text::text)]
    pub text: Vec<String>,
    /// Who speaks [default: user, or whose token it is]
    #[arg(long = "as", value_name = "ID")]
    pub speaker: Option<String>,
    /// Address one participant, by its id or name
    #[arg(long, value_name = "NAME")]
    pub to: Option<String>,
    /// Wait until each agent that is asked about these words has answered or is silent, and print
    /// the answers; once the named agents have answered, the others have a moment left
    #[arg(long, short)]
    pub wait: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Tail {
    #[command(flatten)]
    pub thread: Thread,
    /// How many messages to begin with
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub lines: usize,
    /// Go on reading as the conversation grows; the default
    #[arg(short, long, overrides_with = "no_follow")]
    pub follow: bool,
    /// Stop after what is there
    #[arg(long, overrides_with = "follow")]
    pub no_follow: bool,
    /// Everything, the trace included: turns, passes, notices
    #[arg(long)]
    pub all: bool,
    /// Begin with what came since a time, or within 90s, 10m, 2h or 3d, in place of the last
    /// messages
    #[arg(long, value_name = "WHEN", conflicts_with = "lines")]
    pub since: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Chat {
    #[command(flatten)]
    pub thread: Thread,
    /// Who speaks [default: user, or whose token it is]
    #[arg(long = "as", value_name = "ID")]
    pub speaker: Option<String>,
    /// Plain text: one block for each message, no escapes
    #[arg(long)]
    pub plain: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Invite {
    #[command(flatten)]
    pub thread: Thread,
    /// Its id in this conversation
    #[arg(id = "participant", value_name = "ID")]
    pub id: String,
    /// The session that takes part, by id or name
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// The agent of the server's registry that answers for it, `human` for a person, or an outside
    /// program's name [default: ID]
    #[arg(long)]
    pub client: Option<String>,
    /// The model behind it [default: what the registry says]
    #[arg(long)]
    pub model: Option<String>,
    /// A name it answers to together with others; may be given again
    #[arg(long = "role", value_name = "ROLE")]
    pub roles: Vec<String>,
    /// The name people read
    #[arg(long)]
    pub nickname: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Uninvite {
    #[command(flatten)]
    pub thread: Thread,
    /// Its id or name in this conversation
    #[arg(id = "participant", value_name = "NAME")]
    pub id: String,
}

#[derive(Clone, Debug, Args)]
pub struct Why {
    #[command(flatten)]
    pub thread: Thread,
    /// Only this message: its number or id
    pub message: Option<String>,
}

#[derive(Clone, Debug, Default, Args)]
pub struct DataFolder {
    /// The configuration file [default: ./moothall.toml, then moothall/moothall.toml in the XDG
    /// configuration folder]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data folder [default: moothall in the XDG data folder]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    pub folder: DataFolder,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Audit {
    /// Print the number and the hash of the newest row
    Head(Verify),
    /// Follow the chain of the record from its first row
    ///
    /// Exit code 0: everything is whole. 1: a row changed or is missing, or the record is not the
    /// one of the anchor.
    Verify(AuditVerify),
}

#[derive(Clone, Debug, Args)]
pub struct AuditVerify {
    #[command(flatten)]
    pub folder: DataFolder,
    /// An anchor that `moothall audit head` printed at an earlier time
    #[arg(long, value_name = "NUMBER:HASH")]
    pub anchor: Option<Anchor>,
}

#[derive(Clone, Debug, Args)]
pub struct Backup {
    /// The folder that it becomes; it must not be there yet
    #[arg(value_name = "DEST")]
    pub dest: PathBuf,
    #[command(flatten)]
    pub folder: DataFolder,
}

#[derive(Clone, Debug, Args)]
pub struct Redact {
    #[command(flatten)]
    pub thread: Thread,
    /// The message: its number or id
    #[arg(value_name = "EVENT")]
    pub event: String,
    /// Whether it is meant.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Args)]
pub struct Delete {
    #[command(flatten)]
    pub thread: Thread,
    /// Whether it is meant.
    #[command(flatten)]
    pub sure: Confirmation,
}

/// For what cannot be undone.
#[derive(Clone, Debug, Args)]
pub struct Confirmation {
    /// Do not ask whether it is meant
    #[arg(long, short = 'y')]
    pub yes: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Stop {
    #[command(flatten)]
    pub thread: Thread,
}

#[derive(Clone, Debug, Args)]
pub struct Search {
    /// Words, "phrases", and from: in: before: after:
    #[arg(required = true, value_name = "QUERY")]
    pub query: Vec<String>,
    /// At most so many messages, up to 100
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub limit: u8,
    /// Go on where the page before ended
    #[arg(long, value_name = "N")]
    pub cursor: Option<u64>,
}

/// Examples as a help text shows them: the command, and what it does where that needs a word.
fn examples(rows: &[(&str, &str)]) -> String {
    let mut text = "Examples:".to_owned();
    for (command, note) in rows {
        text.push_str(&format!("\n  {command}"));
        if !note.is_empty() {
            text.push_str(&format!("\n      {note}"));
        }
    }
    text
}

fn top_help() -> String {
    let first = [
        ("moothall serve", "in one terminal; then, in another:"),
        ("moothall new \"Launch plan\"", ""),
        ("moothall say - \"@analyst where do we stand?\" --wait", ""),
        ("moothall tail -", ""),
    ];
    format!("{}\n\n{}", examples(&first), Exit::table())
}
