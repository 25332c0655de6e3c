//! `task`: begins a task of registered agents, and its conversation.

use moothall_surfaces::wire::{NewTask as Wish, TaskBegun};

use super::Context;
use crate::cli::NewTask;
use crate::fault::Fault;
use crate::last;
use crate::paint::note;

/// Begins the task and prints the id of its conversation, which becomes the one used last.
pub async fn run(context: &Context, args: &NewTask) -> Result<(), Fault> {
    let wish = Wish { name: Some(args.name.clone()), agents: args.with.clone() };
    let begun: TaskBegun = context.client.post("/tasks", &wish).await?;
    last::remember(&context.client, &begun.thread);
    if context.printer.json {
        return context.printer.object(&begun);
    }
    context.printer.line(&begun.thread)?;
    let first = args.with.first().map_or("NAME", String::as_str);
    note(&format!(
        "\"{}\" has {}. An agent that is named hears the message. Send one: moothall say - \
         \"@{first} …\" --wait",
        args.name,
        args.with.join(", ")
    ));
    Ok(())
}
