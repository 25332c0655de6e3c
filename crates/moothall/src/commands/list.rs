//! `list`: lists the conversations that the caller may see.

use moothall_surfaces::wire::ThreadList;

use super::Context;
use crate::cli::List;
use crate::clock::day_and_time;
use crate::fault::Fault;
use crate::paint::{Style, note};
use crate::threads;

/// Prints the conversations; with `--all`, also the archived ones.
pub async fn run(context: &Context, args: &List) -> Result<(), Fault> {
    let mut threads = threads::all(&context.client).await?;
    threads.retain(|thread| args.all || !thread.archived);
    if context.printer.json {
        return context.printer.object(&ThreadList { threads, next: None });
    }
    if threads.is_empty() {
        note("No conversations yet. To start one: moothall new \"A name\"");
    }
    for thread in &threads {
        let last = day_and_time(&thread.updated_at).unwrap_or_else(|| thread.updated_at.clone());
        let facts = format!("{:<12} {:>6} events, last {last}", thread.policy, thread.head);
        let mark = if thread.archived { "  (archived)" } else { "" };
        let (facts, name) = (
            context.printer.paint(Style::Dim, &facts),
            context.printer.paint(Style::Bold, &thread.name),
        );
        context.printer.line(&format!("{}  {facts}  {name}{mark}", thread.id))?;
    }
    Ok(())
}
