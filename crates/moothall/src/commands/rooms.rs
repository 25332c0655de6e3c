//! Commands that change a conversation or ask in it. They run the slash commands of the same names.

use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::Envelope;

use super::Context;
use super::answers::wait;
use super::guards::run_slash;
use super::say::words;
use crate::cli::{Ask, Group, Mute, PolicyChange, Rename, Thread};
use crate::fault::Fault;
use crate::paint::note;
use crate::threads;

/// Slash commands that have another name on the command line. `moothall resume` restarts sessions,
/// so the slash command `/resume` is `moothall continue`.
const OTHER_NAMES: [(&str, &str); 2] = [("/resume", "continue"), ("/pass", "gather pass")];
/// Runs a slash command without arguments. Prints a note if the command changed nothing.
pub async fn alone(context: &Context, thread: &Thread, slash: &str) -> Result<(), Fault> {
    if run(context, &thread.thread, slash.to_owned()).await?.is_none() {
        note("It was so already; nothing was changed.");
    }
    Ok(())
}

/// Renames a conversation.
pub async fn rename(context: &Context, args: &Rename) -> Result<(), Fault> {
    run(context, &args.thread.thread, format!("/rename {}", args.title.join(" "))).await.map(drop)
}

/// Changes the policy of a conversation.
pub async fn policy(context: &Context, args: &PolicyChange) -> Result<(), Fault> {
    run(context, &args.thread.thread, format!("/policy {}", args.policy)).await.map(drop)
}

/// Forms, changes or shows the group of a conversation.
pub async fn group(context: &Context, args: &Group) -> Result<(), Fault> {
    run(context, &args.thread.thread, format!("/group {}", args.words.join(" "))).await.map(drop)
}

/// Mutes or unmutes agents.
pub async fn mute(context: &Context, args: &Mute, slash: &str) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let ids = ids(context, &thread, &args.names).await?;
    run(context, &thread, format!("{slash} {ids}")).await.map(drop)
}

/// Sends a message that only these agents answer. With `--wait`, waits for their answers.
pub async fn ask(context: &Context, args: &Ask) -> Result<(), Fault> {
    let text = words(&args.text)?;
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let ids = ids(context, &thread, &args.names).await?;
    let from = context.client.name().to_owned();
    let event = run_slash(context, &thread, from, format!("/ask {ids} -- {text}")).await?;
    match event.filter(|_| args.wait) {
        Some(event) => wait(context, &event).await,
        None => Ok(()),
    }
}

/// Returns the ids of named participants, separated by spaces.
async fn ids(context: &Context, thread: &str, names: &[String]) -> Result<String, Fault> {
    let mut ids = Vec::new();
    for name in names {
        ids.push(threads::participant(&context.client, thread, name).await?);
    }
    Ok(ids.join(" "))
}

/// Resolves a conversation, and runs the slash command for it. Returns the event that it caused.
async fn run(context: &Context, thread: &str, slash: String) -> Result<Option<Envelope>, Fault> {
    let thread = threads::resolve(&context.client, thread).await?;
    let from = context.client.name().to_owned();
    run_slash(context, &thread, from, slash).await
}

/// Prints a note that a typed text was run as a command, and how to send it as text.
pub fn tell_command(text: &str) {
    let slash = text.split_whitespace().next().unwrap_or_default();
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == slash).map(|(_, command)| *command);
    let command = other.unwrap_or_else(|| slash.trim_start_matches('/'));
    let first = command.split(' ').next().unwrap_or_default();
    let help = match crate::cli::command().find_subcommand(first) {
        Some(_) => format!(" (see: moothall help {command})"),
        None => String::new(),
    };
    note(&for_terminal(&format!(
        "The command {slash} ran{help}. To send it as text, begin with two slashes."
    )));
}
