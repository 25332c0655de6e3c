//! `agents`: which agents the server can run.

use moothall_surfaces::wire::{AgentEntry, AgentList};

use super::Context;
use crate::fault::Fault;
use crate::paint::{Style, note};

pub async fn run(context: &Context) -> Result<(), Fault> {
    let list: AgentList = context.client.get("/agents").await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    let width =
        list.agents.iter().map(|agent| agent.client.chars().count()).max().unwrap_or_default();
    for agent in &list.agents {
        context.printer.line(&row(context, agent, width))?;
    }
    note("Invite one: moothall invite - NAME");
    of_the_servers_user(&list).iter().for_each(|hint| note(hint));
    Ok(())
}

fn row(context: &Context, agent: &AgentEntry, width: usize) -> String {
    let fill = " ".repeat(width.saturating_sub(agent.client.chars().count()));
    let name = context.printer.paint(Style::Bold, &agent.client);
    let how = format!("{:<8} {:<10}", agent.runtime, agent.origin);
    let summary = agent
        .run_as
        .as_ref()
        .map_or_else(|| agent.summary.clone(), |user| format!("{} Runs as {user}.", agent.summary));
    format!(
        "{name}{fill}  {}  {}",
        context.printer.paint(Style::Dim, &how),
        context.printer.paint(Style::Plain, &summary)
    )
}

/// What is to be known of those whose programs are the server's own user; said once for all of
/// them.
fn of_the_servers_user(list: &AgentList) -> Option<String> {
    let own = |agent: &&AgentEntry| {
        matches!(agent.runtime.as_str(), "command" | "terminal") && agent.run_as.is_none()
    };
    let clients: Vec<&str> =
        list.agents.iter().filter(own).map(|agent| agent.client.as_str()).collect();
    if clients.is_empty() {
        return None;
    }
    Some(format!(
        "Programs of the server's own user, who can read all that it keeps: {}. `run_as` gives them another.",
        clients.join(", ")
    ))
}
