//! `redact`: erases the text of a message permanently.

use moothall_surfaces::wire::{EventPage, Redacted};
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
    let event = id_of(&context.client, &thread, &args.event).await?;
    confirmation::ask(
        context,
        &args.sure,
        &format!("Erase the text of message {} permanently?", args.event),
    )?;
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

/// Resolves an event's id or number to its id.
async fn id_of(client: &Client, thread: &str, word: &str) -> Result<String, Fault> {
    let Ok(seq) = word.strip_prefix('#').unwrap_or(word).parse::<u64>() else {
        return Ok(word.to_owned());
    };
    let path =
        format!("{}?after={}&limit=1", threads::path(thread, "events"), seq.saturating_sub(1));
    let page: EventPage = client.get(&path).await?;
    let found = page.events.into_iter().find(|event| event.seq == seq).map(|event| event.id);
    found.ok_or_else(|| {
        Fault::new(Exit::Failure, format!("this conversation has no event {seq}"))
            .try_this("use a number that `moothall tail` shows before a message")
    })
}
