//! `redact`: erases the text of a message permanently.

use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::{Envelope, EventPage, Redacted};
use serde_json::json;

use super::{Context, confirmation};
use crate::cli::Redact;
use crate::client::{Client, segment};
use crate::fault::{Exit, Fault};
use crate::paint::note;
use crate::threads;

/// Erases the text of a message after a confirmation.
pub async fn run(context: &Context, args: &Redact) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let (event, words) = find(&context.client, &thread, &args.event).await?;
    let words = words.map_or_else(String::new, |words| format!("{words}\n"));
    let question =
        format!("{words}Erase the text of message {} permanently?", for_terminal(&args.event));
    if confirmation::ask(context, &args.sure, &question)?.is_rehearsal() {
        return Ok(());
    }
    let path = threads::path(&thread, &format!("events/{}/redact", segment(&event)));
    let redacted: Redacted = context.client.post(&path, &json!({})).await?;
    if context.printer.json {
        return context.printer.object(&redacted);
    }
    note(if redacted.event.is_some() {
        "The text is erased. Earlier readers may remember it, and older backups still contain it."
    } else {
        "The text was erased already."
    });
    Ok(())
}

/// Resolves an event's id or number to its id. For a number, also returns the event's sender and
/// text. An id is not checked.
async fn find(
    client: &Client,
    thread: &str,
    word: &str,
) -> Result<(String, Option<String>), Fault> {
    let Ok(seq) = word.strip_prefix('#').unwrap_or(word).parse::<u64>() else {
        return Ok((word.to_owned(), None));
    };
    let path =
        format!("{}?after={}&limit=1", threads::path(thread, "events"), seq.saturating_sub(1));
    let found: Vec<Envelope> = match client.get::<EventPage>(&path).await {
        // The number is beyond the newest event.
        Err(fault) if fault.code.as_deref() == Some("wrong_position") => Vec::new(),
        page => page?.events,
    };
    let found = found.into_iter().find(|event| event.seq == seq);
    found.map(|event| (event.id.clone(), Some(words(&event)))).ok_or_else(|| {
        Fault::new(Exit::Failure, format!("this conversation has no event {seq}")).try_this(
            format!(
                "use a number that `moothall tail {} --no-follow` shows before a message",
                threads::short(thread)
            ),
        )
    })
}

/// Returns the sender and the text of an event, for a person.
fn words(event: &Envelope) -> String {
    let text = event.content.as_str().map_or_else(|| event.content.to_string(), str::to_owned);
    for_terminal(&format!("{}: {text}", event.from))
}
