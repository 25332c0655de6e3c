//! Arguments of the commands that change a conversation or ask in it.

use clap::{Args, Subcommand};

use super::Thread;

#[derive(Clone, Debug, Args)]
pub struct Rename {
    #[command(flatten)]
    pub thread: Thread,
    /// New name
    #[arg(required = true, value_name = "NAME")]
    pub title: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Mute {
    #[command(flatten)]
    pub thread: Thread,
    /// Agents, by id or name in this conversation
    #[arg(id = "participant", required = true, value_name = "NAME")]
    pub names: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct PolicyChange {
    #[command(flatten)]
    pub thread: Thread,
    /// New policy: hybrid, mention_only, round_robin or open
    #[arg(value_name = "POLICY")]
    pub policy: String,
}

#[derive(Clone, Debug, Args)]
pub struct Group {
    #[command(flatten)]
    pub thread: Thread,
    /// create AGENT…, add AGENT, remove AGENT, list, dissolve, or config KEY VALUE
    #[arg(required = true, value_name = "ACTION")]
    pub words: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Ask {
    #[command(flatten)]
    pub thread: Thread,
    /// Agents that answer, by id or name in this conversation
    #[arg(id = "participant", required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// The question; - reads it from standard input
    #[arg(last = true, required = true, value_name = "TEXT")]
    pub text: Vec<String>,
    /// Wait for the answers and print them
    #[arg(long, short)]
    pub wait: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Task {
    /// Begin a task with registered agents, and a conversation in which all of them are
    New(NewTask),
}

#[derive(Clone, Debug, Args)]
pub struct NewTask {
    /// Name of the conversation
    pub name: String,
    /// A registered agent, by name or id; repeatable; the first one manages the task
    #[arg(long, value_name = "AGENT", required = true)]
    pub with: Vec<String>,
}
