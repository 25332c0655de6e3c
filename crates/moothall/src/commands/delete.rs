//! `delete`: deletes a conversation permanently.

use moothall_surfaces::wire::ThreadDeleted;

use super::{Context, confirmation};
use crate::cli::Delete;
use crate::client::segment;
use crate::fault::Fault;
use crate::paint::note;
use crate::threads;

pub async fn run(context: &Context, args: &Delete) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let named = threads::state(&context.client, &thread)
        .await
        .ok()
        .map_or_else(|| thread.clone(), |state| format!("{:?}", state.name));
    confirmation::ask(
        context,
        &args.sure,
        &format!("Delete {named} for good, with everything that was said in it?"),
    )?;
    let deleted: ThreadDeleted =
        context.client.delete(&format!("/threads/{}", segment(&thread))).await?;
    if context.printer.json {
        return context.printer.object(&deleted);
    }
    let rest = if deleted.erased {
        ""
    } else {
        " The disk was in the way of erasing all of it; the rest goes when the server starts again."
    };
    note(&format!("{named} is gone for everybody.{rest} {}", deleted.backups));
    Ok(())
}
