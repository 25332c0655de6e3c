//! `list`: lists the conversations that the caller may see.

use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::{OccupationEntry, StatesAnswer, ThreadList};

use super::Context;
use crate::cli::List;
use crate::clock::day_and_time;
use crate::fault::Fault;
use crate::paint::{Style, note};
use crate::threads;

/// Prints the conversations; with `--all`, also the archived ones. Below each conversation, prints
/// the participants that do something in it now.
pub async fn run(context: &Context, args: &List) -> Result<(), Fault> {
    let mut threads = threads::all(&context.client).await?;
    threads.retain(|thread| args.all || !thread.archived);
    if context.printer.json {
        return context.printer.object(&ThreadList { threads, next: None });
    }
    if threads.is_empty() {
        note("No conversations yet. To start one: moothall new \"A name\"");
    }
    let StatesAnswer { states } = context.client.get("/states").await?;
    for thread in &threads {
        let last = day_and_time(&thread.updated_at).unwrap_or_else(|| thread.updated_at.clone());
        let events = if thread.head == 1 { "event," } else { "events," };
        let facts = format!("{:<12} {:>6} {events:<7} last {last}", thread.policy, thread.head);
        let mark = if thread.archived { "  (archived)" } else { "" };
        let (facts, name) = (
            context.printer.paint(Style::Dim, &facts),
            context.printer.paint(Style::Bold, &thread.name),
        );
        context.printer.line(&format!("{}  {facts}  {name}{mark}", thread.id))?;
        if let Some(line) = at_work(&states, &thread.id) {
            context.printer.line(&context.printer.paint(Style::Dim, &format!("    {line}")))?;
        }
    }
    Ok(())
}

/// Returns the participants of a conversation that do something now, in words; `None` if there are
/// none.
fn at_work(states: &[OccupationEntry], thread: &str) -> Option<String> {
    let here = states.iter().filter(|state| state.thread == thread);
    let words: Vec<String> = here.map(in_words).collect();
    (!words.is_empty()).then(|| for_terminal(&words.join(", ")))
}

/// Returns a participant's state in words, with the tool that it uses.
pub fn in_words(state: &OccupationEntry) -> String {
    let used = [state.tool.as_deref(), state.line.as_deref()];
    let used: Vec<&str> = used.into_iter().flatten().collect();
    let used = if used.is_empty() { String::new() } else { format!(" ({})", used.join(": ")) };
    format!("{} {}{used}", state.name, state.says)
}

/// True if a participant does something, or is about to.
pub fn is_at_work(state: &OccupationEntry) -> bool {
    let at_work = ["thinking", "writing", "working", "asks", "waits", "queued"];
    at_work.contains(&state.word.as_str())
}
