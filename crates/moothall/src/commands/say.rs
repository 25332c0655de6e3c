//! `say` and `stop`: a person's words, the answers to them, and the end of it.

use std::io::Read;
use std::time::Duration;

use moothall_surfaces::wire::{
    Accepted, Actor, Envelope, NewEvent, StopAccepted, ThreadStateAnswer,
};
use serde_json::json;

use super::Context;
use super::events::{self, Follow, Heard, Wanted};
use super::show::{View, is_conversation};
use super::{outcome, permit};
use crate::cli::{Say, Stop};
use crate::fault::{Exit, Fault};
use crate::paint::note;
use crate::threads::{self, Faces};

/// How often to look whether everybody has answered, when the stream is silent.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub async fn run(context: &Context, args: &Say) -> Result<(), Fault> {
    let content = words(&args.text)?;
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let to = match &args.to {
        Some(word) => Some(threads::participant(&context.client, &thread, word).await?),
        None => None,
    };
    let event = NewEvent {
        kind: Some("message".into()),
        from: Some(args.speaker.clone().unwrap_or_else(|| context.client.name().to_owned())),
        to,
        content: json!(content),
        ..NewEvent::default()
    };
    let accepted: Accepted = context.client.post(&threads::path(&thread, "events"), &event).await?;
    if context.printer.json {
        context.printer.object(&accepted)?;
    }
    for warning in &accepted.warnings {
        note(&format!("warning: {warning}"));
    }
    let Some(event) = &accepted.event else {
        note("These words are kept and not said: they wait until a person speaks there.");
        return Ok(());
    };
    if args.wait {
        return wait(context, event).await;
    }
    let said = event.seq;
    if !context.printer.json {
        note(&format!(
            "Said as {said}. Read on: moothall tail -   Who answers and why: moothall why - {said}"
        ));
    }
    Ok(())
}

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

/// The words given, or standard input for a lone `-`, to its last byte: a patch is what it is.
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

/// Prints what comes after a message until nothing is owed to anybody, or a person has to answer
/// first; then says what came of it.
pub(super) async fn wait(context: &Context, said: &Envelope) -> Result<(), Fault> {
    let thread = said.thread.as_str();
    // The trace says when a turn ends without a word.
    let mut follow = Follow::new(&context.client, thread, said.seq, Wanted::Trace);
    // It was said: a server that goes away meanwhile is waited for.
    let look = async || threads::state(&context.client, thread).await;
    let mut state = follow.when_there(look).await?;
    let mut view = View::new(context, thread, Faces::of(&state));
    follow.when_there(async || permit::still_asked(context, &state).await).await?;
    let (mut shown, mut heard_of, mut asks) = (said.seq, Vec::new(), false);
    while is_busy(&state) {
        // Waiting is interrupted only between two frames, so none is lost.
        if let Ok(heard) = tokio::time::timeout(LOOK_EVERY, follow.next()).await
            && let Heard::Event(envelope) = heard?
        {
            shown = envelope.seq;
            if is_conversation(&envelope) {
                view.show(&envelope).await?;
                heard_of.push(*envelope.clone());
            }
            asks |= envelope.kind == "permission";
        }
        state = follow.when_there(look).await?;
        if std::mem::take(&mut asks) {
            follow.when_there(async || permit::still_asked(context, &state).await).await?;
        }
    }
    let rest = async || {
        events::after(&context.client, thread, shown, Wanted::Conversation, is_conversation).await
    };
    for envelope in follow.when_there(rest).await?.events {
        view.show(&envelope).await?;
        heard_of.push(envelope);
    }
    follow.when_there(async || outcome::of(&context.client, said, &state, &heard_of).await).await
}

/// Somebody is speaking, or will without anything more being done.
pub fn is_busy(answer: &ThreadStateAnswer) -> bool {
    let state = &answer.state;
    let waiting = !state.turns.is_empty() || !state.queue.is_empty() || !state.upcoming.is_empty();
    waiting && !state.paused && state.held.is_none()
}
