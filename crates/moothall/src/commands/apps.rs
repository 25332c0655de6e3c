//! `apps`: lists, transfers and frees the apps that agents registered over JSON-RPC.

use moothall_surfaces::wire::{AppEntry, AppFreed, AppPage, AppTransfer};

use super::{Context, confirmation};
use crate::cli::{AppCommand, AppGiven, AppId, Apps};
use crate::client::segment;
use crate::fault::Fault;
use crate::paint::{Style, note};

/// Rows per request.
const ROWS: usize = 1000;

pub async fn run(context: &Context, args: &Apps) -> Result<(), Fault> {
    match &args.action {
        None | Some(AppCommand::List) => list(context).await,
        Some(AppCommand::Transfer(args)) => transfer(context, args).await,
        Some(AppCommand::Free(args)) => free(context, args).await,
    }
}

/// Reads all pages of apps and prints them.
async fn list(context: &Context) -> Result<(), Fault> {
    let (mut apps, mut next) = (Vec::new(), None);
    loop {
        let from =
            next.as_ref().map_or_else(String::new, |next: &String| format!("&cursor={next}"));
        let page: AppPage = context.client.get(&format!("/apps?limit={ROWS}{from}")).await?;
        apps.extend(page.apps);
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    if context.printer.json {
        return context.printer.object(&AppPage { apps, next });
    }
    if apps.is_empty() {
        note("No agent manages an app.");
    }
    apps.iter().try_for_each(|app| context.printer.line(&row(context, app)))
}

/// Returns an app as a line: id, name, its agent, and the agent's connection.
fn row(context: &Context, app: &AppEntry) -> String {
    let agent = match &app.agent_name {
        Some(name) => format!("{name} ({})", app.agent),
        None => app.agent.clone(),
    };
    let standing = if app.connected { "connected" } else { "not connected" };
    format!(
        "{}  {}  {}",
        app.id,
        context.printer.paint(Style::Bold, &app.name),
        context.printer.paint(Style::Dim, &format!("{agent}, since {}, {standing}", app.since))
    )
}

/// Transfers an app to another agent, and prints it.
async fn transfer(context: &Context, args: &AppGiven) -> Result<(), Fault> {
    let body = AppTransfer { agent: args.agent.clone() };
    let path = format!("/apps/{}/transfer", segment(&args.app));
    let app: AppEntry = context.client.post(&path, &body).await?;
    if context.printer.json {
        return context.printer.object(&app);
    }
    context.printer.line(&row(context, &app))
}

/// Separates an app from its agent after a confirmation. The next agent that registers for the app
/// gets it.
async fn free(context: &Context, args: &AppId) -> Result<(), Fault> {
    if confirmation::ask(
        context,
        &args.sure,
        &format!("Free app {}? Its tasks have no manager until you transfer it.", args.app),
    )?
    .is_rehearsal()
    {
        return Ok(());
    }
    let freed: AppFreed = context.client.delete(&format!("/apps/{}", segment(&args.app))).await?;
    if context.printer.json {
        return context.printer.object(&freed);
    }
    note(
        "The next agent that registers for the app gets it. Its tasks have no manager until you \
         transfer the app.",
    );
    Ok(())
}
