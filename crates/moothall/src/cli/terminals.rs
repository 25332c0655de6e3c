//! Arguments of the commands for sessions, links, permissions and MCP clients.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Confirmation, examples};

#[derive(Clone, Debug, Args)]
pub struct Session {
    /// Session: its id, at least the first six characters of its id, or its name
    pub session: String,
}

#[derive(Clone, Debug, Args)]
pub struct End {
    #[command(flatten)]
    pub session: Session,
    /// Confirmation.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Args)]
pub struct Resume {
    /// Session: its id, at least the first six characters of its id, or its name; without one,
    /// lists the sessions that ended with a restart of the computer
    pub session: Option<String>,
    /// Resume all sessions that ended with a restart of the computer
    #[arg(long, conflicts_with = "session")]
    pub all: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Run {
    /// Program to run; `moothall sessions` lists them
    pub client: String,
    /// Working folder [default: this one]
    #[arg(long = "in", value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Name of the session [default: the program's name and a number]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Do not attach to its terminal
    #[arg(long, short)]
    pub detach: bool,
    /// Additional arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Sessions {
    /// Include ended sessions of this computer
    #[arg(long)]
    pub ended: bool,
    /// List the sessions of another computer, or of all
    #[arg(long, value_name = "NAME|all")]
    pub computer: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Send {
    #[command(flatten)]
    pub session: Session,
    /// The text; - reads it from standard input
    #[arg(
        value_name = "TEXT",
        required_unless_present = "close_link",
        value_parser = super::text::text
    )]
    pub text: Vec<String>,
    /// Use a link from now on; only inside a session
    #[arg(long)]
    pub direct: bool,
    /// Close the link with this session, after sending the text if there is one; only inside a
    /// session
    #[arg(long, conflicts_with = "direct")]
    pub close_link: bool,
    /// Print messages until no agent is busy with this one; an open permission request ends the
    /// wait. A terminal shows the work meanwhile
    #[arg(long, conflicts_with = "close_link")]
    pub wait: bool,
    /// Speak as this participant [default: user, or the session in which this runs]
    #[arg(long = "as", value_name = "ID")]
    pub speaker: Option<String>,
}

#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Link {
    /// Action on existing links; without one, a link is made.
    #[command(subcommand)]
    pub action: Option<LinkAction>,
    /// Two or more sessions
    #[arg(required = true, num_args = 2.., value_name = "SESSION")]
    pub members: Vec<String>,
    /// Title of the link [default: the names of its members]
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// Maximum number of messages between a person's messages, from 1 to 200 [default: the
    /// server's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub exchanges: Option<u32>,
}

/// Actions on existing links.
#[derive(Clone, Debug, Subcommand)]
pub enum LinkAction {
    /// List the open links
    #[command(after_help = examples(&[("moothall link list", ""), ("moothall link list --session planner", "the links of one session")]))]
    List {
        /// Only links of this session
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
    },
    /// Close a link for all its members
    #[command(after_help = examples(&[("moothall link close 0198c0de", "ids may be shortened")]))]
    Close {
        /// Link: its id, or an id prefix
        link: String,
    },
}

#[derive(Clone, Debug, Default, Args)]
pub struct Permit {
    /// Conversation of the request: its id, an id prefix, its name, or - for the one used last; or
    /// the session or agent that asks, in any conversation; without one, lists all that wait for
    /// you
    pub thread: Option<String>,
    /// Answer: allow, deny, a number, or the text of an option or its beginning; without one, lists
    /// the open requests
    #[arg(value_name = "OPTION")]
    pub option: Option<String>,
    /// Your own text, for an option that accepts text; without OPTION, that option is chosen
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true, requires = "thread")]
    pub text: Option<String>,
    /// Number of the permission's event; required if several are open
    #[arg(long, value_name = "NUMBER", requires = "thread")]
    pub number: Option<u64>,
    /// Person who answers [default: the credential's holder, otherwise user]
    #[arg(long = "as", value_name = "ID")]
    pub speaker: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Mcp {
    /// Action on clients; without one, the MCP server runs.
    #[command(subcommand)]
    pub action: Option<McpAction>,
}

/// Actions on the configuration of MCP clients.
#[derive(Clone, Debug, Subcommand)]
pub enum McpAction {
    /// Show the required client configuration, or write it
    #[command(after_help = examples(&[
        ("moothall mcp install codex", "print the configuration"),
        (
            "moothall mcp install gemini --write",
            "add it to the client's configuration; the rest is unchanged",
        ),
    ]))]
    Install {
        /// Client: claude, codex or gemini
        #[arg(value_enum, hide_possible_values = true)]
        client: McpClient,
        /// Write it into the client's configuration
        #[arg(long)]
        write: bool,
    },
    /// Remove it from a client's configuration, and revoke the token made for it
    #[command(after_help = examples(&[
        ("moothall mcp uninstall codex", "the rest of its configuration is unchanged"),
    ]))]
    Uninstall {
        /// Client: claude, codex or gemini
        #[arg(value_enum, hide_possible_values = true)]
        client: McpClient,
        /// Only print the changes that would be made
        #[arg(long)]
        dry_run: bool,
    },
}

/// An MCP client with a known configuration format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum McpClient {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini
    Gemini,
}
