//! What can be typed about who gets in: tokens, invitations, and the page's address.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Confirmation, Thread};

/// Whose start-up credential to use, for the operator of a server.
#[derive(Clone, Debug, Args)]
pub struct KeyOf {
    /// The data folder of the running server whose start-up credential to use, where it is not
    /// found by itself
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Token {
    /// Make a token; it is shown once
    Create(NewToken),
    /// List all tokens, browsers that are signed in too
    List(KeyOf),
    /// Revoke a token, the browsers that signed in with it, and its open invitations
    Revoke(RevokedToken),
}

#[derive(Clone, Debug, Args)]
pub struct RevokedToken {
    #[command(flatten)]
    pub token: TokenId,
    /// Also revoke the tokens that came of its invitations; they are listed first
    #[arg(long)]
    pub with_children: bool,
}

#[derive(Clone, Debug, Args)]
pub struct NewToken {
    /// The id under which its holder takes part
    #[arg(value_name = "PRINCIPAL")]
    pub principal: String,
    /// It is for an agent
    #[arg(long)]
    pub agent: bool,
    /// Allow this; may be given again [default: what is usual for a person or an agent]
    #[arg(long, value_name = "SCOPE")]
    pub scope: Vec<String>,
    /// Only in this conversation; may be given again [default: all]
    #[arg(long, value_name = "THREAD")]
    pub thread: Vec<String>,
    /// What to call it in lists
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Days until it is worth nothing [default: 90]
    #[arg(long, value_name = "N")]
    pub days: Option<u64>,
    #[command(flatten)]
    pub key: KeyOf,
}

#[derive(Clone, Debug, Args)]
pub struct TokenId {
    /// Its id, as `moothall token list` shows it
    pub id: String,
    /// Whether it is meant.
    #[command(flatten)]
    pub sure: Confirmation,
    #[command(flatten)]
    pub key: KeyOf,
}

#[derive(Clone, Debug, Args)]
pub struct Agents {
    #[command(subcommand)]
    pub action: Option<AgentCommand>,
    #[command(flatten)]
    pub key: KeyOf,
}

#[derive(Clone, Debug, Subcommand)]
pub enum AgentCommand {
    /// List the agents that registered
    Registered,
    /// Revoke the keys of agents that registered; their names stay their own
    Revoke(AgentNames),
    /// Free the names of agents that registered, and revoke their keys
    Free(AgentNames),
}

#[derive(Clone, Debug, Args)]
pub struct AgentNames {
    /// Their names or ids
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Asks before.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Args)]
pub struct Apps {
    #[command(subcommand)]
    pub action: Option<AppCommand>,
    #[command(flatten)]
    pub key: KeyOf,
}

#[derive(Clone, Debug, Subcommand)]
pub enum AppCommand {
    /// List them; without an action, too
    List,
    /// Give an app to a registered agent, and with it the tasks that are not over
    Transfer(AppGiven),
    /// Take an app from its agent: the next one that registers has it
    Free(AppId),
}

#[derive(Clone, Debug, Args)]
pub struct AppGiven {
    /// The app's id
    pub app: String,
    /// The name or the id of the agent
    pub agent: String,
}

#[derive(Clone, Debug, Args)]
pub struct AppId {
    /// The app's id
    pub app: String,
    /// Whether it is meant.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Invitation {
    /// Make a link that lets somebody into one conversation, once
    Create(NewInvitation),
}

#[derive(Clone, Debug, Args)]
pub struct NewInvitation {
    #[command(flatten)]
    pub thread: Thread,
    /// The id under which whoever accepts it takes part
    #[arg(long = "for", value_name = "ID")]
    pub principal: String,
    /// It is for an agent
    #[arg(long)]
    pub agent: bool,
    /// Allow this; may be given again [default: what is usual for a person or an agent]
    #[arg(long, value_name = "SCOPE")]
    pub scope: Vec<String>,
    /// Hours until the link is worth nothing, up to 168 [default: 24]
    #[arg(long, value_name = "HOURS")]
    pub expires: Option<u64>,
    /// The address under which the other one reaches the server [default: the one that you use, or
    /// one that the server knows]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    #[command(flatten)]
    pub key: KeyOf,
}

#[derive(Clone, Debug, Args)]
pub struct Join {
    /// The link, or the code in it
    #[arg(value_name = "LINK")]
    pub link: String,
    /// Print the token, for a program, instead of keeping it
    #[arg(long)]
    pub print: bool,
}
