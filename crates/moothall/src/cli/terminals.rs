//! What can be typed about sessions, links and permissions, and about clients that reach them.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Confirmation, examples};

#[derive(Clone, Debug, Args)]
pub struct Session {
    /// The session: its id, at least six characters of its beginning, or its name
    pub session: String,
}

#[derive(Clone, Debug, Args)]
pub struct End {
    #[command(flatten)]
    pub session: Session,
    /// Whether it is meant.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Args)]
pub struct Resume {
    /// The session: its id, at least six characters of its beginning, or its name; without one,
    /// those are listed that went with a restart of the computer
    pub session: Option<String>,
    /// All that went with a restart of the computer
    #[arg(long, conflicts_with = "session")]
    pub all: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Run {
    /// Which program; `moothall sessions` lists them
    pub client: String,
    /// The folder it works in [default: this one]
    #[arg(long = "in", value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// What it shall be called [default: the program's name and a number]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Leave it alone in its terminal instead of looking at it
    #[arg(long, short)]
    pub detach: bool,
    /// More arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Sessions {
    /// Those that are over too
    #[arg(long)]
    pub ended: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Send {
    #[command(flatten)]
    pub session: Session,
    /// The words; - reads them from standard input
    #[arg(
        value_name = "TEXT",
        required_unless_present = "close_link",
        value_parser = super::text::text
    )]
    pub text: Vec<String>,
    /// Talk over a link from now on; only inside a session
    #[arg(long)]
    pub direct: bool,
    /// End the link with it, after the words, if there are any; only inside a session
    #[arg(long, conflicts_with = "direct")]
    pub close_link: bool,
    /// Print what comes until nobody is busy with it any more; an open permission ends it
    #[arg(long, conflicts_with = "close_link")]
    pub wait: bool,
    /// Who speaks [default: user, or the session in which this runs]
    #[arg(long = "as", value_name = "ID")]
    pub speaker: Option<String>,
}

#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Link {
    /// Something else than making one.
    #[command(subcommand)]
    pub action: Option<LinkAction>,
    /// Two sessions or more
    #[arg(required = true, num_args = 2.., value_name = "SESSION")]
    pub members: Vec<String>,
    /// Its title [default: the names of its members]
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// Words that they may exchange before a person has to go on, from 1 to 200 [default: that of
    /// the server]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub exchanges: Option<u32>,
}

/// What can be done with links that are there.
#[derive(Clone, Debug, Subcommand)]
pub enum LinkAction {
    /// List the links that carry words
    #[command(after_help = examples(&[("moothall link list", ""), ("moothall link list --session planner", "those of one session")]))]
    List {
        /// Only those of this session
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
    },
    /// End a link for all its members
    #[command(after_help = examples(&[("moothall link close 0198c0de", "ids may be shortened")]))]
    Close {
        /// The link: its id, or the beginning of its id
        link: String,
    },
}

#[derive(Clone, Debug, Args)]
pub struct Permit {
    /// The conversation in which it was asked: its id, the beginning of its id, its name, that of a
    /// session, or - for the one used last; without one, what is asked anywhere is listed
    pub thread: Option<String>,
    /// The answer: allow, deny, a number, or the words of an option or their beginning; without
    /// one, what is asked is listed
    #[arg(value_name = "OPTION")]
    pub option: Option<String>,
    /// Words of your own, for an answer that takes them; without OPTION it is the one that does
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true, requires = "thread")]
    pub text: Option<String>,
    /// Which permission, by the number of its event; needed where several are open
    #[arg(long, value_name = "NUMBER", requires = "thread")]
    pub number: Option<u64>,
    /// Who answers: a person [default: whoever the credential is for, otherwise user]
    #[arg(long = "as", value_name = "ID")]
    pub speaker: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Mcp {
    /// Something else than serving.
    #[command(subcommand)]
    pub action: Option<McpAction>,
}

/// What can be done about clients.
#[derive(Clone, Debug, Subcommand)]
pub enum McpAction {
    /// Show what a client's configuration needs, or write it
    #[command(after_help = examples(&[
        ("moothall mcp install codex", "show it"),
        ("moothall mcp install gemini --write", "put it into the client's configuration, which keeps everything else"),
    ]))]
    Install {
        /// Which client: claude, codex or gemini
        #[arg(value_enum, hide_possible_values = true)]
        client: McpClient,
        /// Write it into the client's configuration
        #[arg(long)]
        write: bool,
    },
    /// Take it out of a client's configuration again, and revoke the token that was made for it
    #[command(after_help = examples(&[("moothall mcp uninstall codex", "the rest of its configuration stays")]))]
    Uninstall {
        /// Which client: claude, codex or gemini
        #[arg(value_enum, hide_possible_values = true)]
        client: McpClient,
    },
}

/// A client whose configuration is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum McpClient {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini
    Gemini,
}
