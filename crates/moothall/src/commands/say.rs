//! `say` and `stop`: sends a message and waits for its answers, runs a command, or cancels turns.

use std::io::Read;

use moothall_kernel::slash;
use moothall_surfaces::wire::{Accepted, Actor, NewEvent, StopAccepted, ThreadStateAnswer};
use serde_json::json;

use super::Context;
use super::answers::wait;
use super::guards::run_slash;
use super::rooms::tell_command;
use crate::cli::{Say, Stop};
use crate::fault::{Exit, Fault};
use crate::paint::{note, sentences};
use crate::threads;

/// Sends a message and, with `--wait`, waits for its answers. If the server holds the message until
/// a person writes, `--wait` fails immediately. Runs a typed slash command instead of sending it;
/// text from standard input is always a message.
pub async fn run(context: &Context, args: &Say) -> Result<(), Fault> {
    let given = words(&args.text)?;
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let is_typed = args.text != ["-"];
    if is_typed && slash::is_command_line(&given) {
        return run_command(context, args, &thread, given).await;
    }
    let content = if is_typed { slash::words(&given).to_owned() } else { given };
    let to = match &args.to {
        Some(word) => Some(threads::participant(&context.client, &thread, word).await?),
        None => None,
    };
    let event = NewEvent {
        kind: Some("message".into()),
        from: Some(speaker(context, args)),
        to,
        content: json!(content),
        ..NewEvent::default()
    };
    let accepted: Accepted = context.client.post(&threads::path(&thread, "events"), &event).await?;
    if context.printer.json {
        context.printer.object(&accepted)?;
    }
    for warning in sentences(&accepted.warnings) {
        note(&format!("warning: {warning}"));
    }
    let Some(event) = &accepted.event else {
        let held = "The message is held until a person writes in the conversation.";
        if args.wait {
            return Err(Fault::new(Exit::Unanswered, "no agent will answer").because(held));
        }
        note(held);
        return Ok(());
    };
    if args.wait {
        return wait(context, event).await;
    }
    let said = event.seq;
    if !context.printer.json {
        note(&format!(
            "Sent as message {said}. To follow: moothall tail -   Who answers and why: moothall \
             why - {said}"
        ));
    }
    Ok(())
}

/// Runs a slash command. With `--wait`, waits for the answers to the message that it sent, if it
/// sent one.
async fn run_command(
    context: &Context,
    args: &Say,
    thread: &str,
    text: String,
) -> Result<(), Fault> {
    if args.to.is_some() {
        let message = "--to is for messages, and this text is a command";
        let forward = format!("leave out --to; to send it as text, use two slashes: /{text}");
        return Err(Fault::new(Exit::Usage, message).try_this(forward));
    }
    let event = run_slash(context, thread, speaker(context, args), text.clone()).await?;
    tell_command(&text);
    match event.filter(|event| args.wait && event.kind == "message") {
        Some(event) => wait(context, &event).await,
        None => Ok(()),
    }
}

/// Returns the id of the participant that speaks.
fn speaker(context: &Context, args: &Say) -> String {
    args.speaker.clone().unwrap_or_else(|| context.client.name().to_owned())
}

/// Cancels the open turns and waiting messages of a conversation.
pub async fn stop(context: &Context, args: &Stop) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let stopped: StopAccepted = context
        .client
        .post(
            &threads::path(&thread, "stop"),
            &Actor { from: Some(context.client.name().to_owned()) },
        )
        .await?;
    if context.printer.json {
        return context.printer.object(&stopped);
    }
    note(if stopped.event.is_some() {
        "Stopped: open turns and waiting messages are cancelled."
    } else {
        "There was nothing to stop."
    });
    Ok(())
}

/// Returns the words of the command line, or, for a lone `-`, all of standard input. The input is
/// not trimmed, because a patch needs its last line break.
pub fn words(given: &[String]) -> Result<String, Fault> {
    if given != ["-"] {
        return Ok(given.join(" "));
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Fault::io("cannot read standard input", &error))?;
    String::from_utf8(bytes).map_err(|_| {
        Fault::new(Exit::Failure, "standard input is not UTF-8 text")
            .try_this("convert it first, e.g. with iconv -t UTF-8")
    })
}

/// True if an agent is speaking, or will speak without further input. False in a conversation that
/// is paused or that a guard holds.
pub fn is_busy(answer: &ThreadStateAnswer) -> bool {
    let state = &answer.state;
    let waiting = !state.turns.is_empty() || !state.queue.is_empty() || !state.upcoming.is_empty();
    waiting && !state.paused && state.held.is_none()
}
