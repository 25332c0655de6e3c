//! `redact`: erases the text of a message permanently.

use moothall_surfaces::wire::{EventPage, Redacted};
use serde_json::json;

use super::{Context, confirmation};
use crate::cli::Redact;
use crate::client::{Client, segment};
use crate::fault::{Exit, Fault};
use crate::paint::note;
use crate::threads;

pub async fn run(context: &Context, args: &Redact) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let event = id_of(&context.client, &thread, &args.event).await?;
    confirmation::ask(
        context,
        &args.sure,
        &format!("Erase the words of message {} for good?", args.event),
    )?;
    let path = threads::path(&thread, &format!("events/{}/redact", segment(&event)));
    let redacted: Redacted = context.client.post(&path, &json!({})).await?;
    if context.printer.json {
        return context.printer.object(&redacted);
    }
    note(if redacted.event.is_some() {
        "The words are gone, here and for everyone who reads from now on. Whoever has read them still knows them, and so do older backups."
    } else {
        "The words were gone already."
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
        Fault::new(Exit::Failure, format!("there is no event {seq} in this conversation"))
            .try_this("numbers stand before the messages in `moothall tail`")
    })
}
