//! Arguments of `channels`: bots, pairings, and the chats that conversations are bound to.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Confirmation, Thread};

#[derive(Clone, Debug, Args)]
pub struct Channels {
    #[command(subcommand)]
    pub action: Option<ChannelCommand>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ChannelCommand {
    /// List the channels, their bots and their chats; the default
    List,
    /// Give an agent a bot; the token is read from standard input. Matrix needs none
    Add(NewBotArgs),
    /// Send your paired accounts a button that makes a bot for an agent, without a copied token
    ///
    /// This needs a connected bot that may manage bots; its owner lets it in the Mini App of
    /// @BotFather. The button works for an hour. It was tried against a fake of Telegram, and not
    /// yet on the real service.
    Offer(OfferedBot),
    /// Take a bot from its agent
    Remove(BotOf),
    /// Let a channel run again that stopped after a restore, or a bot that another program used
    Resume(ChannelName),
    /// Print a link by which an account of a channel becomes yours
    Pair(NewPairing),
    /// List the paired accounts
    Pairings,
    /// End the pairing of an account
    Unpair(Account),
    /// Bind a conversation to a chat: its words are copied there, and words from there enter it
    Bind(Binding),
    /// End the binding of a conversation to a chat
    Unbind(Binding),
}

#[derive(Clone, Debug, Subcommand)]
pub enum MatrixCommand {
    /// Write a registration with fresh tokens
    ///
    /// The homeserver names the file in app_service_config_files, and this server in
    /// [channels.matrix]. Both need it, and other users must not read it. An existing file is not
    /// replaced.
    Registration(NewRegistration),
}

#[derive(Clone, Debug, Args)]
pub struct NewRegistration {
    /// Name of the homeserver: the part behind the colon in the ids of its users
    #[arg(long, value_name = "NAME")]
    pub domain: String,
    /// Address at which the homeserver reaches this server
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:29331")]
    pub url: String,
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "matrix-registration.yaml")]
    pub out: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct NewBotArgs {
    /// Name of the channel
    #[arg(value_name = "CHANNEL")]
    pub channel: String,
    /// Agent that speaks by the bot; in Discord also `moothall`, for the server's own bot
    #[arg(value_name = "AGENT")]
    pub agent: String,
    /// File that holds the token, instead of standard input
    #[arg(long, value_name = "FILE")]
    pub bot_token_file: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub struct OfferedBot {
    /// Name of the channel
    #[arg(value_name = "CHANNEL")]
    pub channel: String,
    /// Agent that is to speak by the bot
    #[arg(value_name = "AGENT")]
    pub agent: String,
}

#[derive(Clone, Debug, Args)]
pub struct BotOf {
    /// Name of the channel
    #[arg(value_name = "CHANNEL")]
    pub channel: String,
    /// Agent whose bot is taken away
    #[arg(value_name = "AGENT")]
    pub agent: String,
    /// Confirmation.
    #[command(flatten)]
    pub sure: Confirmation,
}

#[derive(Clone, Debug, Args)]
pub struct ChannelName {
    /// Name of the channel
    #[arg(value_name = "CHANNEL", default_value = "telegram")]
    pub channel: String,
}

#[derive(Clone, Debug, Args)]
pub struct NewPairing {
    /// Name of the channel
    #[arg(value_name = "CHANNEL")]
    pub channel: String,
    /// Grant this right besides reading and writing; repeatable
    #[arg(long, value_name = "SCOPE")]
    pub scope: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Account {
    /// The account, such as telegram:4711
    #[arg(value_name = "ACCOUNT")]
    pub account: String,
}

#[derive(Clone, Debug, Args)]
pub struct Binding {
    /// The conversation
    #[command(flatten)]
    pub thread: Thread,
    /// The chat, such as telegram:-100123, telegram:-100123:7 for a topic, or
    /// matrix:!abc:example.org
    #[arg(value_name = "CHAT")]
    pub chat: String,
    /// Bind it although the conversation is bound to another chat, whose members then read along
    #[arg(long)]
    pub confirm: bool,
}
