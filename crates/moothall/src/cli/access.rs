//! Arguments of the commands for access: tokens, agents, apps, invitations and the page's address.

use clap::{Args, Subcommand};

use super::Confirmation;

#[derive(Clone, Debug, Subcommand)]
pub enum Token {
    /// Create a token; it is shown once
    Create(NewToken),
    /// List all tokens, including signed-in browsers
    List,
    /// Revoke a token, the browsers that signed in with it, and its open invitations
    Revoke(RevokedToken),
}

#[derive(Clone, Debug, Args)]
pub struct RevokedToken {
    #[command(flatten)]
    pub token: TokenId,
    /// Also revoke the tokens issued by its invitations; they are listed first
    #[arg(long)]
    pub with_children: bool,
}

#[derive(Clone, Debug, Args)]
pub struct NewToken {
    /// Id of the holder
    #[arg(value_name = "PRINCIPAL")]
    pub principal: String,
    /// The holder is an agent
    #[arg(long)]
    pub agent: bool,
    /// Grant this right; repeatable [default: the usual rights of a person or an agent]
    #[arg(long, value_name = "SCOPE")]
    pub scope: Vec<String>,
    /// Only in this conversation; repeatable [default: all]
    #[arg(long, value_name = "THREAD")]
    pub thread: Vec<String>,
    /// Label in lists
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Days until the token expires [default: 90]
    #[arg(long, value_name = "N")]
    pub days: Option<u64>,
}

#[derive(Clone, Debug, Args)]
pub struct TokenId {
    /// Id of the token, as `moothall token list` shows it, the beginning of the id, or the holder
    /// of a single token
    pub id: String,
    /// Confirmation.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Args)]
pub struct Agents {
    #[command(subcommand)]
    pub action: Option<AgentCommand>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum AgentCommand {
    /// List the registered agents
    Registered,
    /// Revoke the keys of registered agents; their names stay reserved
    Revoke(AgentNames),
    /// Free the names of registered agents, and revoke their keys
    Free(AgentNames),
}

#[derive(Clone, Debug, Args)]
pub struct AgentNames {
    /// Names or ids of the agents
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Confirmation.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Args)]
pub struct Apps {
    #[command(subcommand)]
    pub action: Option<AppCommand>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum AppCommand {
    /// List apps; the default
    List,
    /// Transfer an app and its unfinished tasks to a registered agent
    Transfer(AppGiven),
    /// Take an app from its agent; the next agent that registers for it gets it
    Free(AppId),
}

#[derive(Clone, Debug, Args)]
pub struct AppGiven {
    /// Id of the app
    pub app: String,
    /// Name or id of the agent
    pub agent: String,
}

#[derive(Clone, Debug, Args)]
pub struct AppId {
    /// Id of the app
    pub app: String,
    /// Confirmation.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Invitation {
    /// Create a link into one conversation or the whole hall that works once
    Create(NewInvitation),
    /// List the open invitations
    List,
    /// Revoke an open invitation
    Revoke(InvitationId),
}

#[derive(Clone, Debug, Args)]
pub struct InvitationId {
    /// Id of the invitation, as `moothall invitation list` shows it
    pub id: String,
    /// Confirmation.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Args)]
pub struct NewInvitation {
    /// The conversation: its id, an id prefix, its name, a session's name, or - for the one used
    /// last [default: the whole hall, which only administrators may]
    pub thread: Option<String>,
    /// Id of the person or agent who accepts the invitation
    #[arg(long = "for", value_name = "ID")]
    pub principal: String,
    /// The holder is an agent
    #[arg(long)]
    pub agent: bool,
    /// Grant this right; repeatable [default: the usual rights of a person or an agent]
    #[arg(long, value_name = "SCOPE")]
    pub scope: Vec<String>,
    /// Hours until the link expires, up to 168 [default: 24]
    #[arg(long, value_name = "HOURS")]
    pub expires: Option<u64>,
    /// Address at which the recipient reaches the server [default: the one that you use, or one
    /// that the server knows]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Page {
    /// Also print a QR code of the link, for a phone that reaches the server
    #[arg(long)]
    pub qr: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Join {
    /// Link, or the code in it
    #[arg(value_name = "LINK")]
    pub link: String,
    /// Print the token for a program, instead of saving it
    #[arg(long)]
    pub print: bool,
}
