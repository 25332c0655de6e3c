//! `export`: a whole conversation, for reading or for programs.

use moothall_surfaces::wire::Envelope;

use super::Context;
use super::circle::is_repeated;
use super::events::{self, EventSelection};
use super::markdown::Transcript;
use crate::cli::{Export, ExportFormat};
use crate::fault::Fault;
use crate::threads::{self, Faces};

/// Events asked for at once, so that neither a long conversation nor a long page of it is whole in
/// memory.
const PAGE: usize = 100;

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
        // What came since the export began is left for the next one.
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
