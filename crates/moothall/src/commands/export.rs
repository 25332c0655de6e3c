//! `export`: prints a whole conversation, for reading or for programs.

use moothall_surfaces::wire::Envelope;

use super::Context;
use super::circle::is_repeated;
use super::events::{self, EventSelection};
use super::markdown::Transcript;
use crate::cli::{Export, ExportFormat};
use crate::fault::Fault;
use crate::threads::{self, Faces};

/// Events per request, so that memory holds neither a long conversation nor a large page.
const PAGE: usize = 100;

/// Prints a conversation up to its head at the start of the export; with `--all`, with the trace of
/// its turns.
pub async fn run(context: &Context, args: &Export) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let state = threads::state(&context.client, &thread).await?;
    let mut transcript = Transcript::new(Faces::of(&state));
    let print = |envelope: &Envelope, transcript: &mut Transcript| match args.format {
        ExportFormat::Markdown if !context.printer.json && is_repeated(envelope) => Ok(()),
        ExportFormat::Markdown if !context.printer.json => {
            context.printer.line(&transcript.entry(envelope))
        }
        ExportFormat::Markdown | ExportFormat::Jsonl => context.printer.object(envelope),
    };
    let wanted = if args.all { EventSelection::Trace } else { EventSelection::Conversation };
    let mut after = 0;
    while after < state.head {
        let page = events::page(&context.client, &thread, after, PAGE, wanted).await?;
        // Events newer than the start of the export are left out.
        for envelope in page.events.iter().filter(|envelope| envelope.seq <= state.head) {
            print(envelope, &mut transcript)?;
        }
        if page.through <= after {
            break;
        }
        after = page.through;
    }
    Ok(())
}
