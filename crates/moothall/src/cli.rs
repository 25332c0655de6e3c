//! Command line: every command, its arguments and its examples.

mod about;
mod access;
mod channels;
mod computers;
mod export;
mod gather;
mod global;
mod guards;
mod rooms;
mod spending;
mod terminals;
mod text;
mod verbs;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use moothall_agents::script::Pace;
use moothall_store::Anchor;

pub use self::about::{
    Complete, Completions, ConfigAction, ConfigFile, Doctor, Help, Init, Man, Shell, Template,
};
pub use self::access::{
    AgentCommand, AgentNames, Agents, AppCommand, AppGiven, AppId, Apps, Invitation, InvitationId,
    Join, NewInvitation, NewToken, Page, RevokedToken, Token, TokenId,
};
pub use self::channels::{
    Account, Binding, BotOf, ChannelCommand, Channels, MatrixCommand, NewBotArgs, NewPairing,
    NewRegistration, OfferedBot,
};
pub use self::computers::{ComputerCommand, Computers, ForgottenComputer, JoinedLine, OwnComputer};
pub use self::export::{Export, ExportFormat};
#[cfg(test)]
pub use self::gather::Members;
pub use self::gather::{
    Gather, GatherEnd, GatherPass, GatherStart, Member as GatherMember, SeatOccupant as MemberIs,
};
pub use self::global::{ColorChoice, Global, command};
pub use self::guards::{Guards, SlashCommand};
pub use self::rooms::{Ask, Group, Mute, NewTask, PolicyChange, Rename, Task};
pub use self::spending::{Budget, BudgetCommand, BudgetRaise, Usage};
pub use self::terminals::{
    End, Link, LinkAction, Mcp, McpAction, McpClient, Permit, Resume, Run, Send, Session, Sessions,
};
pub use self::text::marked;
pub use self::verbs::meant;
use crate::config::Mode;

/// People and AI agents in one conversation.
///
/// Without a command, `moothall` shows what waits for you, who works, and the conversations.
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
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// Without a command: print the overview once, as plain text for pipes and screen readers
    #[arg(long)]
    pub plain: bool,
    /// Command to run; without one, an overview is shown.
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server
    ///
    /// Ctrl-C or SIGTERM starts no more turns and gives running ones at most 10 seconds to end. The
    /// server stops at once if no turn runs, or at the second signal. Acknowledged writes are kept
    /// either way, and an unfinished turn is resumed at the next start. MOOTHALL_LOG=info logs more
    /// to standard error; the log never contains messages or secrets.
    ///
    /// With --mode token, other computers may connect too. The server accepts the addresses of this
    /// computer if it listens on 0.0.0.0, and the names of its certificate. Add any other name,
    /// such as that of a reverse proxy, to `allowed_hosts` in [server].
    #[command(after_help = examples(&[
        (
            "moothall serve",
            "with defaults: demo agents, 127.0.0.1:5111, data in the XDG data folder",
        ),
        ("moothall serve --config team.toml", "with agents of your own"),
        ("moothall serve --data ./data --bind 127.0.0.1:0 --json", "on a free port, for scripts"),
        (
            "moothall serve --mode token --bind 0.0.0.0:5111",
            "for other computers too; every request needs a token",
        ),
        (
            "moothall serve --mode token --bind 0.0.0.0:5111 --tls-cert cert.pem --tls-key key.pem",
            "the same, encrypted",
        ),
    ]))]
    Serve(Serve),
    /// Stop the server of this user
    ///
    /// It may run in the background: `new`, `say` and `run` begin one if none runs. Running turns
    /// have ten seconds to end. Agents in terminals go on, and the next server finds them.
    #[command(name = "stop-server", after_help = examples(&[
        ("moothall stop-server", "the server on the default data folder"),
        ("moothall stop-server --data ./data", "of another data folder"),
    ]))]
    StopServer(DataFolder),
    /// Start a conversation
    #[command(after_help = examples(&[
        ("moothall new \"Launch plan\"", "with the demo agents"),
        ("moothall new Review --with codex --with critic", "with these agents"),
        ("moothall new Notes --policy mention_only --empty", "alone for now"),
    ]))]
    New(New),
    /// List conversations, newest last
    #[command(after_help = examples(&[("moothall list", ""), ("moothall list --all", "archived ones too")]))]
    List(List),
    /// Send a message
    #[command(after_help = examples(&[
        (
            "moothall say - \"@analyst what do you make of it?\" --wait",
            "send to the latest conversation, and wait for the answers",
        ),
        ("git diff | moothall say \"Launch plan\" -", "text from standard input"),
        ("moothall say 0198 Hello --to critic", "to one participant; ids may be shortened"),
    ]))]
    Say(Say),
    /// Read a conversation and follow new messages
    #[command(after_help = examples(&[
        ("moothall tail -", "follow the latest conversation"),
        ("moothall tail \"Launch plan\" -n 50 --no-follow", "its last 50 messages, then stop"),
        (
            "moothall tail - --all --json | jq .type",
            "all events, the trace included, one JSON object per line",
        ),
    ]))]
    Tail(Tail),
    /// Chat in a conversation: read and write at the same time
    ///
    /// Replies appear as they are written. Tab completes @names and /commands. >12 replies to
    /// message 12. A backslash at the end of a line continues it on the next. Ctrl-C on an empty
    /// line stops running turns after a confirmation; Ctrl-D leaves. In a pipe, with NO_COLOR or on
    /// a dumb terminal it uses plain text: it reads lines, prints one block for each message, and
    /// exits when all agents have answered.
    #[command(after_help = examples(&[
        ("moothall chat -", "in the latest conversation"),
        ("moothall chat \"Launch plan\" --as ann", "as another participant"),
        ("moothall chat - --plain", "without colours and drawing, for screen readers"),
    ]))]
    Chat(Chat),
    /// Invite an agent or a person, or change a participant
    #[command(after_help = examples(&[
        ("moothall invite - critic", "an agent of the server's registry"),
        (
            "moothall invite - reviewer --client codex --model gpt-5 --nickname Rev",
            "under a name of its own",
        ),
        ("moothall invite - ann --client human", "a person"),
        ("moothall invite - planner --session planner", "an agent that runs in a terminal"),
    ]))]
    Invite(Invite),
    /// Remove a participant from a conversation
    #[command(after_help = examples(&[("moothall uninvite - critic", "")]))]
    Uninvite(Uninvite),
    /// List the agents that this server can run, and manage registered agents
    ///
    /// Agents of other programs register over JSON-RPC. Each gets an id that is never reused.
    #[command(after_help = examples(&[
        ("moothall agents", "the agents that this server can run"),
        ("moothall agents --json", ""),
        ("moothall agents registered", "the registered agents of other programs"),
        ("moothall agents revoke ada", "revoke its key"),
        ("moothall agents free ada", "free its name, for example if its key was lost"),
    ]))]
    Agents(Agents),
    /// List, transfer and free the apps of agents over JSON-RPC
    ///
    /// The first agent that registers for an app manages its tasks permanently. Without an action,
    /// lists the apps.
    #[command(after_help = examples(&[
        ("moothall apps", "list the apps and the agents that manage their tasks"),
        (
            "moothall apps transfer 7f0e5ad2-58a4-4d55-9b2c-0b6f0c6f7a10 ada",
            "with all its unfinished tasks",
        ),
        (
            "moothall apps free 7f0e5ad2-58a4-4d55-9b2c-0b6f0c6f7a10",
            "the next agent that registers gets it",
        ),
    ]))]
    Apps(Apps),
    /// Begin a task with agents of other programs
    ///
    /// Agents of other programs register over JSON-RPC (docs/tasks.md), and talk in conversations
    /// of tasks. `moothall agents registered` lists them.
    #[command(subcommand, after_help = examples(&[
        ("moothall task new Plan --with ada --with bob", "two registered agents; ada manages"),
        ("moothall say - \"@ada where do we begin?\" --wait", "then talk with them"),
    ]))]
    Task(Task),
    /// Explain which agents were asked, why and with what result, and why others were not
    #[command(after_help = examples(&[
        ("moothall why -", "every human message of the latest conversation"),
        ("moothall why \"Launch plan\" 17", "which turns message 17 triggered"),
    ]))]
    Why(Why),
    /// Show the cost of turns, in tokens and money
    Usage(Usage),
    /// Show the remaining budgets, and raise them
    Budget(Budget),
    /// Show active guards, refusals and nearly reached limits, with the command that lifts each
    ///
    /// Checks live conversations, and those with running turns or an open request to a person. Name
    /// an inactive conversation to see its guards.
    #[command(after_help = examples(&[
        ("moothall guards", "all guards and limits of the whole server"),
        ("moothall guards -", "of the conversation used last"),
        ("moothall guards --json | jq '.guards[] | select(.state == \"held\")'", "for programs"),
    ]))]
    Guards(Guards),
    /// Run a slash command in a conversation
    #[command(after_help = examples(&[
        ("moothall command - /resume", "lift a guard or end a pause"),
        ("moothall command \"Launch plan\" /unmute critic", ""),
        ("moothall command - /help", "all slash commands"),
    ]))]
    #[command(name = "command")]
    Slash(SlashCommand),
    /// Ask only these agents, once
    #[command(after_help = examples(&[
        ("moothall ask - analyst writer --wait -- \"What changed?\"", "and wait for the answers"),
    ]))]
    Ask(Ask),
    /// Pause the agents of a conversation; messages wait
    #[command(after_help = examples(&[("moothall pause -", "end it with moothall continue")]))]
    Pause(Thread),
    /// End a pause or a guard's hold
    ///
    /// In a conversation this is /resume. The command `moothall resume` restarts sessions.
    #[command(after_help = examples(&[("moothall continue -", "")]))]
    Continue(Thread),
    /// Mute agents of a conversation
    #[command(after_help = examples(&[("moothall mute - critic", "")]))]
    Mute(Mute),
    /// Unmute agents of a conversation
    #[command(after_help = examples(&[("moothall unmute - critic", "")]))]
    Unmute(Mute),
    /// Change the policy for who may speak in a conversation
    #[command(after_help = examples(&[("moothall policy - mention_only", "")]))]
    Policy(PolicyChange),
    /// Form, change or show the group of a conversation
    #[command(after_help = examples(&[
        ("moothall group - list", "the participants and the settings"),
        ("moothall group - create analyst writer", ""),
        ("moothall group - config cooldown_seconds 5", ""),
    ]))]
    Group(Group),
    /// Rename a conversation
    #[command(after_help = examples(&[("moothall rename - \"Earnings review\"", "")]))]
    Rename(Rename),
    /// Archive a conversation
    ///
    /// It can still be read, and `moothall list --all` shows it.
    #[command(after_help = examples(&[("moothall archive \"Launch plan\"", "")]))]
    Archive(Thread),
    /// Reopen an archived conversation
    #[command(after_help = examples(&[("moothall unarchive \"Launch plan\"", "")]))]
    Unarchive(Thread),
    /// Stop all turns of a conversation and drop queued messages
    #[command(after_help = examples(&[("moothall stop -", "")]))]
    Stop(Stop),
    /// Find messages in all conversations
    ///
    /// All words must occur, in any order; "quoted" words must be adjacent. A word also matches
    /// longer words that begin with it. from: and in: take ids and names; after: and before: take
    /// days (UTC) or times.
    #[command(after_help = examples(&[
        ("moothall search rocket friday", "both words, the newest message first"),
        (
            "moothall search deploy from:critic in:\"Launch plan\"",
            "from critic, in one conversation",
        ),
        (
            "moothall search '\"on friday\"' after:2026-01-31 --json",
            "adjacent words, since that day",
        ),
    ]))]
    Search(Search),
    /// Export a whole conversation
    ///
    /// Markdown shows each message with its sender, time and the message it replies to. Texts are
    /// in code fences, so that their markup has no effect. JSON Lines has every event as the server
    /// sends it, one per line.
    #[command(after_help = examples(&[
        ("moothall export - > talk.md", "the latest conversation, to read"),
        (
            "moothall export \"Launch plan\" --format jsonl --all > plan.jsonl",
            "everything, the trace included, for programs",
        ),
    ]))]
    Export(Export),
    /// Erase the text of a message permanently
    ///
    /// The text is removed from the disk, the search index, and all later reading and prompts. The
    /// message keeps its number, without text. Earlier backups still contain the text.
    #[command(after_help = examples(&[
        (
            "moothall redact - 17",
            "message 17 of the latest conversation; asks for confirmation on a terminal",
        ),
        ("moothall redact - 17 --yes", "without confirmation"),
    ]))]
    Redact(Redact),
    /// Delete a conversation permanently, with all its messages
    ///
    /// Running turns are cancelled. The conversation is removed from the disk, the search index and
    /// all later reading; only its id remains. Earlier backups still contain it. `moothall archive`
    /// keeps it.
    #[command(after_help = examples(&[
        ("moothall delete \"Launch plan\"", "asks for confirmation on a terminal"),
        ("moothall delete - --yes", "the latest conversation, without confirmation"),
    ]))]
    Delete(Delete),
    /// Check every event and every database row against its checksum
    ///
    /// Credentials, claims, deliveries, costs, sessions and the audit record have checksums too;
    /// data without a checksum is listed. Works while no server uses the data folder, and changes
    /// nothing. Exit code 0: all checksums match. 1: something is damaged.
    #[command(after_help = examples(&[
        ("moothall verify", "the usual data folder"),
        ("moothall verify --data backups/monday", "a backup"),
    ]))]
    Verify(Verify),
    /// Check the audit record, and print an anchor for later checks
    ///
    /// Each row of the record contains the hash of the row before it, which reveals changed or
    /// missing rows. The owner of the file could still recompute all hashes; an anchor kept
    /// elsewhere reveals that too. Works while a server runs, and changes nothing.
    #[command(subcommand, after_help = examples(&[
        ("moothall audit head", "the newest row: its number and hash, to keep elsewhere"),
        ("moothall audit verify", "follow the chain from its first row"),
        ("moothall verify", "check all stored data, while no server runs"),
    ]))]
    Audit(Audit),
    /// Copy the log, even while a server writes to it
    ///
    /// The copy is a snapshot of the log at one moment. It is checked against its checksums before
    /// it gets its final name, so a folder with that name is complete. Existing files are never
    /// overwritten.
    #[command(after_help = examples(&[
        ("moothall backup backups/monday", "into a new folder, which is itself a data folder"),
        ("moothall backup /mnt/disk/moothall-1 --data ./data", "of another data folder"),
    ]))]
    Backup(Backup),
    /// Create, list and revoke tokens
    ///
    /// A token identifies its holder and grants rights. In token mode, every request needs one. In
    /// local mode, programs need one to answer permissions, lift a guard, erase and administer.
    #[command(subcommand, after_help = examples(&[
        ("moothall token create ann", "for a person: read, write, invite, control"),
        (
            "moothall token create critic --agent --thread \"Launch plan\"",
            "for an agent, in one conversation",
        ),
        ("moothall token create ci --scope threads:read --days 30", "read-only, for 30 days"),
        ("moothall token list", ""),
        ("moothall token revoke 3f6c0f1e8a91b2c4", "by its id"),
        (
            "sudo moothall token create ann --data /var/lib/moothall",
            "for a server that runs as another user",
        ),
    ]))]
    Token(Token),
    /// Connect chats of other products, such as Telegram groups
    ///
    /// A bot is the account by which an agent speaks in a channel. A paired account acts as the
    /// person who paired it, with the rights chosen at pairing. Without a command: list the
    /// channels, their bots and their chats.
    #[command(after_help = examples(&[
        ("moothall channels", "the bots, what they can hear, and their chats"),
        ("moothall channels add telegram analyst", "paste the token that @BotFather gave"),
        ("moothall channels offer telegram writer", "get a button that makes its bot"),
        ("moothall channels add discord moothall", "the bot that speaks for all agents there"),
        ("moothall channels add matrix analyst", "make its account; no token is needed"),
        ("moothall channels pair telegram", "print the link that makes your account you"),
        (
            "moothall channels pair telegram --scope permissions:answer --scope threads:admin",
            "with the rights to answer questions and to open groups",
        ),
        ("moothall channels bind \"Launch plan\" telegram:-100123", "connect a group by hand"),
        ("moothall channels unpair telegram:4711", ""),
    ]))]
    Channels(Channels),
    /// Prepare the channel to Matrix
    #[command(subcommand, after_help = examples(&[
        (
            "moothall matrix registration --domain example.org",
            "write the file that the homeserver and [channels.matrix] name",
        ),
        (
            "moothall matrix registration --domain example.org --url http://10.0.0.5:29331",
            "for a homeserver on another computer",
        ),
    ]))]
    Matrix(MatrixCommand),
    /// Pair this computer with others, so that sessions on all of them can be told apart
    ///
    /// Each computer keeps its own conversations. They meet at a Redis, which only carries what one
    /// owes the other. Without a command: list the computers.
    #[command(after_help = examples(&[
        ("moothall computers", "which are there"),
        ("moothall computers invite --redis redis://host", "the first time"),
        ("ssh workstation moothall computers join -", "paste the line; it prints an answer"),
        ("moothall computers join -", "paste the answer"),
        ("moothall computers forget workstation", ""),
    ]))]
    Computers(Computers),
    /// Invite a person or an agent without a token into one conversation, or the whole hall
    ///
    /// The first to open the link in a browser, or to give it to `moothall join`, becomes this
    /// person or agent. The link works once. Without a conversation it leads into the whole hall:
    /// its token reaches what one of `moothall token create` reaches, and only an administrator may
    /// create it. On a terminal the link is also shown as a QR code, if others reach its address.
    #[command(subcommand, after_help = examples(&[
        (
            "moothall invitation create \"Launch plan\" --for ann",
            "print a link that expires in a day",
        ),
        (
            "moothall invitation create - --for helper --agent --expires 2",
            "for an agent; expires in two hours",
        ),
        ("moothall invitation create --for ann", "into the whole hall"),
        ("moothall invitation list", "the links that were not used yet"),
        (
            "moothall invitation create - --for ann --url https://hall.example.org",
            "with the address at which others reach the server",
        ),
    ]))]
    Invitation(Invitation),
    /// Accept an invitation and save its token
    ///
    /// The token is saved in a file that only you can read, under the name of the server or under
    /// --profile NAME. Later commands that name this server use it.
    #[command(after_help = examples(&[
        (
            "moothall join \"https://hall.example.org/#join=inv_0123\"",
            "then: moothall --profile hall.example.org list",
        ),
        (
            "moothall join inv_0123 --server https://hall.example.org --profile hall",
            "with only the code",
        ),
        ("moothall join inv_0123 --print", "print the token for a program"),
    ]))]
    Join(Join),
    /// Print a sign-in link for the page
    ///
    /// Open the link in a browser and keep it secret: it signs its user in as you.
    #[command(after_help = examples(&[
        ("moothall page", "for the user that runs the server"),
        ("sudo moothall page --data /var/lib/moothall", "for a server that runs as another user"),
        ("moothall page --qr", "with a QR code, if the server listens for other computers"),
    ]))]
    Page(Page),
    /// Start an agent in its own terminal, and attach to it
    ///
    /// The agent keeps running when you detach or close the window. Its messages are in the
    /// conversation with its name. In a pipe, or with --json or --detach, the agent is started
    /// without attaching.
    #[command(after_help = examples(&[
        ("moothall run claude --name planner", "in this folder, attached"),
        ("moothall run codex --in ~/project --detach", "in another folder, without attaching"),
        ("moothall run claude -- --model opus", "with arguments for the program"),
    ]))]
    Run(Run),
    /// List the agents that run in terminals, and the available programs
    #[command(after_help = examples(&[
        ("moothall sessions", ""),
        ("moothall sessions --ended --json", "with ended sessions"),
    ]))]
    Sessions(Sessions),
    /// Attach to a session's terminal and type into it
    #[command(after_help = examples(&[("moothall attach planner", "")]))]
    Attach(Session),
    /// Send a message to a session
    #[command(after_help = examples(&[
        ("moothall send planner \"How far are you?\"", ""),
        ("git diff | moothall send reviewer -", "text from standard input"),
        ("moothall send builder@workstation \"Is it green?\"", "to a session of another computer"),
        (
            "moothall send reviewer \"Shall we look at it together?\" --direct",
            "inside a session: over a link, from now on",
        ),
    ]))]
    Send(Send),
    /// Interrupt the current work of a session
    #[command(after_help = examples(&[("moothall interrupt planner", "")]))]
    Interrupt(Session),
    /// End a session and its program
    #[command(after_help = examples(&[("moothall end planner", "")]))]
    End(End),
    /// Restart ended sessions, with their names and links
    #[command(after_help = examples(&[
        ("moothall resume", "list the sessions that ended with a restart of the computer"),
        ("moothall resume planner", ""),
        ("moothall resume --all", "resume all of them"),
    ]))]
    Resume(Resume),
    /// Link sessions: words typed to one of them reach the others, and so do the answers
    #[command(after_help = examples(&[
        ("moothall link planner reviewer", "link two or more sessions"),
        ("moothall link list", ""),
        ("moothall link close 0198c0de", "ids may be shortened"),
    ]))]
    Link(Link),
    /// Run a gathering: a talking piece goes round, and a harvest is written
    #[command(subcommand, after_help = examples(&[
        ("moothall gather start --file daily.toml", "start one from a plan file"),
        ("moothall gather show -", "its state, and the holder of the piece"),
        ("moothall gather pass - Ann", "pass the piece to Ann"),
        ("moothall gather end -", "end the rounds; the harvest is written"),
    ]))]
    Gather(Gather),
    /// Answer permission requests of agents
    #[command(after_help = examples(&[
        ("moothall permit", "list all that wait for you, in all conversations"),
        ("moothall permit -", "list those of the conversation used last"),
        ("moothall permit planner allow", "answer in a session's conversation"),
        ("moothall permit planner deny --number 17", "one of several"),
        (
            "moothall permit planner --text MariaDB",
            "answer a program's question with your own text",
        ),
    ]))]
    Permit(Permit),
    /// Run an MCP server on standard input and output, for a client on this computer
    ///
    /// All calls go to the running server: the one in MOOTHALL_URL, which a session's environment
    /// sets, or in --server. In a session, MOOTHALL_SESSION_TOKEN identifies the caller.
    #[command(after_help = examples(&[
        ("moothall mcp", "run by a client"),
        ("moothall mcp install claude", "show the required client configuration"),
    ]))]
    Mcp(Mcp),
    /// Write a first configuration with the agents found on this computer
    ///
    /// Asks two questions on a terminal, otherwise none. An existing file is not changed.
    #[command(after_help = examples(&[
        ("moothall init", "ask, and write ./moothall.toml"),
        ("moothall init --defaults", "without questions"),
        ("moothall init --dry-run", "only show the file"),
        ("moothall init --template debate", "with settings for a debate"),
    ]))]
    Init(Init),
    /// Check or show the configuration
    #[command(subcommand, after_help = examples(&[
        ("moothall config check", "report errors and warnings"),
        ("moothall config show --origin", "all settings and their origins"),
        ("moothall config example", "all keys, with their meanings"),
        ("moothall config schema > moothall.schema.json", "for an editor that completes TOML"),
    ]))]
    Config(ConfigAction),
    /// Print a shell completion script
    #[command(after_help = examples(&[
        ("moothall completions bash > ~/.local/share/bash-completion/completions/moothall", ""),
        ("moothall completions zsh > ~/.zfunc/_moothall", "a folder of $fpath"),
        ("moothall completions fish > ~/.config/fish/completions/moothall.fish", ""),
        ("moothall completions powershell >> $PROFILE", "at a prompt of PowerShell"),
    ]))]
    Completions(Completions),
    /// Print completion candidates for a shell
    ///
    /// Called by the scripts of `moothall completions`, not by people. Waits for the server at most
    /// 300 ms, and prints nothing without a server.
    #[command(hide = true, after_help = examples(&[("moothall complete -- moothall say Lau", "conversations whose names begin with Lau")]))]
    Complete(Complete),
    /// Write the manual pages into a folder
    #[command(after_help = examples(&[("moothall man ~/.local/share/man/man1", "then: man moothall-say")]))]
    Man(Man),
    /// Explain a command, an error, or exit-codes, environment, conversations
    #[command(after_help = examples(&[
        ("moothall help say", ""),
        ("moothall help error thread_archived", "its meaning and its cure"),
        ("moothall help exit-codes", ""),
        ("moothall help environment", ""),
    ]))]
    Help(Help),
    /// Check this computer, the configuration and the server
    #[command(after_help = examples(&[
        ("moothall doctor", ""),
        ("moothall doctor --ping --server http://127.0.0.1:5111", ""),
        ("moothall doctor --fix", "and repair permissions, after a question for each"),
        ("moothall doctor --bundle report.json", "a file without secrets, to attach to a report"),
    ]))]
    Doctor(Doctor),
    /// Report an event of a program in a terminal
    ///
    /// Called by programs, not by people: the server starts sessions with this command as their
    /// hook. Reads the event's JSON from the last argument or from standard input, writes it to the
    /// session's spool folder, and always exits with code 0, so that the program is never delayed
    /// or stopped. Only a permission request of Claude Code waits for an answer, at most 10
    /// minutes. Outside a session it does nothing.
    #[command(hide = true, after_help = examples(&[
        ("moothall hook claude Stop", "reads JSON from standard input"),
        ("moothall hook codex notify \"{}\"", "the JSON as the last argument"),
    ]))]
    Hook(Hook),
    /// Start a session's program as another user
    ///
    /// Called by the server only.
    #[command(subcommand, hide = true, after_help = examples(&[
        ("moothall pane dress", "reads JSON from standard input"),
        (
            "moothall pane enter 1000 -- /usr/bin/setpriv --reuid 1000 claude",
            "in a terminal of the server",
        ),
    ]))]
    Pane(Pane),
}

#[derive(Clone, Debug, Subcommand)]
pub enum Pane {
    /// Prepare the launch with the rights of the user that runs the program
    Dress,
    /// Give the terminal to that user, and replace this process with the program
    Enter {
        /// Numeric user id
        uid: u32,
        /// Program and arguments to execute
        #[arg(last = true, required = true)]
        words: Vec<OsString>,
    },
}

#[derive(Clone, Debug, Args)]
pub struct Hook {
    /// Program (claude, codex, gemini or another), event name, and event data
    // Not validated by clap: a usage error would end the program's turn.
    #[arg(
        value_name = "PROGRAM EVENT [JSON]",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<OsString>,
}

/// Options that choose the configuration, the data folder and the address.
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
    /// Access without a credential: local (conversations, from this computer) or token (nothing)
    /// [default: local]
    #[arg(long, value_name = "MODE", value_enum, hide_possible_values = true)]
    pub mode: Option<Mode>,
    /// Serve TLS with this certificate (PEM, the whole chain); a renewed one is loaded
    /// automatically
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
}

/// Format of the server's own log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

#[derive(Clone, Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    pub place: LocationOptions,
    /// Format of the server's own log on standard error: text, or json with a line for each request
    /// and turn
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text, hide_possible_values = true)]
    pub log: LogFormat,
    /// Pace of the demo agents: human, or instant for scripts and tests
    #[arg(
        long,
        value_name = "PACE",
        value_enum,
        default_value_t = DemoPace::Human,
        hide_possible_values = true,
        env = "MOOTHALL_DEMO_PACE",
        hide_env_values = true
    )]
    pub demo_pace: DemoPace,
}

/// The pace of the demo agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DemoPace {
    /// That of a quick human writer
    #[default]
    Human,
    /// At once
    Instant,
}

impl From<DemoPace> for Pace {
    fn from(pace: DemoPace) -> Self {
        match pace {
            DemoPace::Human => Pace::Human,
            DemoPace::Instant => Pace::Instant,
        }
    }
}

#[derive(Clone, Debug, Args)]
pub struct New {
    /// Name of the conversation
    pub name: String,
    /// Policy for who may speak: hybrid, mention_only, round_robin
    #[arg(long, default_value = "hybrid")]
    pub policy: String,
    /// Invite this agent; repeatable [default: the demo agents]
    #[arg(long, value_name = "CLIENT")]
    pub with: Vec<String>,
    /// Invite no agents
    #[arg(long, conflicts_with = "with")]
    pub empty: bool,
    /// Folder in which Claude Code, Codex and Gemini CLI work for it [default: this one, if the
    /// server runs here as you]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub struct List {
    /// Include archived conversations
    #[arg(long)]
    pub all: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Thread {
    /// The conversation: its id, an id prefix, its name, a session's name, or - for the one used
    /// last
    pub thread: String,
}

#[derive(Clone, Debug, Args)]
pub struct Say {
    #[command(flatten)]
    pub thread: Thread,
    /// The text, or a slash command to run; // sends a text that begins with one slash, and -
    /// reads a text from standard input, which is never a command
    #[arg(required = true, value_name = "TEXT", value_parser = text::text)]
    pub text: Vec<String>,
    /// Speak as this participant [default: user, or the token's holder]
    #[arg(long = "as", value_name = "ID")]
    pub speaker: Option<String>,
    /// Address one participant, by id or name
    #[arg(long, value_name = "NAME")]
    pub to: Option<String>,
    /// Wait until each agent that was asked has answered or passed, and print the answers; after
    /// the named agents have answered, the others get a short time to answer. A terminal shows the
    /// work meanwhile, and marks answers to other messages
    #[arg(long, short)]
    pub wait: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Tail {
    #[command(flatten)]
    pub thread: Thread,
    /// Number of messages to begin with
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub lines: usize,
    /// Follow new messages; the default
    #[arg(short, long, overrides_with = "no_follow")]
    pub follow: bool,
    /// Stop after the existing messages
    #[arg(long, overrides_with = "follow")]
    pub no_follow: bool,
    /// Show all events, the trace included: turns, passes, notices
    #[arg(long)]
    pub all: bool,
    /// Begin at a time, or 90s, 10m, 2h or 3d ago, instead of with the last messages
    #[arg(long, value_name = "WHEN", conflicts_with = "lines")]
    pub since: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Chat {
    #[command(flatten)]
    pub thread: Thread,
    /// Speak as this participant [default: user, or the token's holder]
    #[arg(long = "as", value_name = "ID")]
    pub speaker: Option<String>,
    /// Print plain text: one block for each message, without escape sequences
    #[arg(long)]
    pub plain: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Invite {
    #[command(flatten)]
    pub thread: Thread,
    /// Id in this conversation
    #[arg(id = "participant", value_name = "ID")]
    pub id: String,
    /// Session that takes part, by id or name
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// The agent of the server's registry that answers, `human` for a person, or an outside
    /// program's name [default: ID]
    #[arg(long)]
    pub client: Option<String>,
    /// Model to use [default: the registry's]
    #[arg(long)]
    pub model: Option<String>,
    /// Role: a name shared with other participants; repeatable
    #[arg(long = "role", value_name = "ROLE")]
    pub roles: Vec<String>,
    /// Display name
    #[arg(long)]
    pub nickname: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Uninvite {
    #[command(flatten)]
    pub thread: Thread,
    /// Id or name in this conversation
    #[arg(id = "participant", value_name = "NAME")]
    pub id: String,
}

#[derive(Clone, Debug, Args)]
pub struct Why {
    #[command(flatten)]
    pub thread: Thread,
    /// Only this message, by number or id
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
    /// Check the chain of the record from its first row
    ///
    /// Exit code 0: the record is intact. 1: a row was changed or is missing, or the record does
    /// not match the anchor.
    Verify(AuditVerify),
}

#[derive(Clone, Debug, Args)]
pub struct AuditVerify {
    #[command(flatten)]
    pub folder: DataFolder,
    /// Anchor that an earlier `moothall audit head` printed
    #[arg(long, value_name = "NUMBER:HASH")]
    pub anchor: Option<Anchor>,
}

#[derive(Clone, Debug, Args)]
pub struct Backup {
    /// Destination folder; it must not exist yet
    #[arg(value_name = "DEST")]
    pub dest: PathBuf,
    #[command(flatten)]
    pub folder: DataFolder,
}

#[derive(Clone, Debug, Args)]
pub struct Redact {
    #[command(flatten)]
    pub thread: Thread,
    /// The message, by number or id
    #[arg(value_name = "EVENT")]
    pub event: String,
    /// Confirmation.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Args)]
pub struct Delete {
    #[command(flatten)]
    pub thread: Thread,
    /// Confirmation.
    #[command(flatten)]
    pub sure: Confirmation,
}

/// Options of commands that cannot be undone.
#[derive(Clone, Debug, Args)]
pub struct Confirmation {
    /// Skip the confirmation
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Only print the action that would be taken
    #[arg(long)]
    pub dry_run: bool,
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
    /// Maximum number of results (1-100)
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub limit: u8,
    /// Continue from the cursor of the previous page
    #[arg(long, value_name = "N")]
    pub cursor: Option<u64>,
}

/// Formats examples for a help text: each command, followed by its note if it has one.
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
    examples(&first)
}
