//! `delete`: deletes a conversation permanently.

use moothall_surfaces::wire::ThreadDeleted;

use super::{Context, confirmation};
use crate::cli::Delete;
use crate::client::segment;
use crate::fault::Fault;
use crate::paint::note;
use crate::threads;

/// Deletes a conversation after a confirmation. Says so if a disk error delays a part of the
/// erasure until the server's next start.
pub async fn run(context: &Context, args: &Delete) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let named = threads::state(&context.client, &thread)
        .await
        .ok()
        .map_or_else(|| thread.clone(), |state| format!("{:?}", state.name));
    if confirmation::ask(
        context,
        &args.sure,
        &format!("Delete {named} permanently, with all its messages?"),
    )?
    .is_rehearsal()
    {
        return Ok(());
    }
    let deleted: ThreadDeleted =
        context.client.delete(&format!("/threads/{}", segment(&thread))).await?;
    if context.printer.json {
        return context.printer.object(&deleted);
    }
    let rest = if deleted.erased {
        ""
    } else {
        " A disk error left a part of it; the server erases that part at its next start."
    };
    note(&format!("{named} is deleted.{rest} {}", deleted.backups));
    Ok(())
}
