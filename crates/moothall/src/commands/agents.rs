//! `agents`: lists the agents that the server can run, and manages registered agents of other
//! programs.

use moothall_surfaces::wire::{
    AgentEntry, AgentFreed, AgentList, AgentRevoked, RegistrationEntry, RegistrationPage,
};
use serde_json::json;

use super::{Context, confirmation};
use crate::cli::{AgentCommand, AgentNames, Agents};
use crate::client::segment;
use crate::clock::day_and_time;
use crate::fault::Fault;
use crate::paint::{Style, note};

/// Rows per request.
const ROWS: usize = 1000;

pub async fn run(context: &Context, args: &Agents) -> Result<(), Fault> {
    match &args.action {
        None => list(context).await,
        Some(AgentCommand::Registered) => registered(context).await,
        Some(AgentCommand::Revoke(args)) => revoke(context, args).await,
        Some(AgentCommand::Free(args)) => free(context, args).await,
    }
}

/// Reads all pages of registered agents and prints them.
async fn registered(context: &Context) -> Result<(), Fault> {
    let (mut agents, mut next) = (Vec::new(), None);
    loop {
        let from = next.map_or_else(String::new, |next: String| format!("&cursor={next}"));
        let path = format!("/registrations?limit={ROWS}{from}");
        let page: RegistrationPage = context.client.get(&path).await?;
        agents.extend(page.agents);
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    if context.printer.json {
        return context.printer.object(&RegistrationPage { agents, next });
    }
    if agents.is_empty() {
        note("No registered agents. docs/tasks.md explains how an agent registers.");
    }
    agents.iter().try_for_each(|agent| context.printer.line(&standing(context, agent)))
}

fn shown(time: &str) -> String {
    day_and_time(time).unwrap_or_else(|| time.to_owned())
}

/// Returns a registered agent as a line: id, name, registration, and revocation or last contact.
fn standing(context: &Context, agent: &RegistrationEntry) -> String {
    let seen = match (agent.revoked, &agent.last_seen_at) {
        (true, _) => "revoked".into(),
        (false, Some(at)) => format!("last seen {}", shown(at)),
        (false, None) => "never seen".into(),
    };
    format!(
        "{}  {}  {}",
        agent.id,
        context.printer.paint(Style::Bold, &agent.name),
        context
            .printer
            .paint(Style::Dim, &format!("registered {}, {seen}", shown(&agent.registered_at)))
    )
}

/// Asks for one confirmation, then revokes the keys of the named agents. Stops at the first error.
async fn revoke(context: &Context, args: &AgentNames) -> Result<(), Fault> {
    let names = args.names.join(", ");
    if confirmation::ask(context, &args.sure, &format!("Revoke the keys of {names}?"))?
        .is_rehearsal()
    {
        return Ok(());
    }
    for name in &args.names {
        let path = format!("/registrations/{}/revoke", segment(name));
        let revoked: AgentRevoked = context.client.post(&path, &json!({})).await?;
        if context.printer.json {
            context.printer.object(&revoked)?;
        } else if revoked.changed {
            note(&format!("The key of {} is revoked.", revoked.name));
        } else {
            note(&format!("The key of {} was revoked already.", revoked.name));
        }
    }
    Ok(())
}

/// Asks for one confirmation, then frees the agents' names for new registrations. Stops at the
/// first error.
async fn free(context: &Context, args: &AgentNames) -> Result<(), Fault> {
    let names = args.names.join(", ");
    let question = format!("Free {names}? Their keys are then revoked permanently.");
    if confirmation::ask(context, &args.sure, &question)?.is_rehearsal() {
        return Ok(());
    }
    for name in &args.names {
        let path = format!("/registrations/{}/free", segment(name));
        let freed: AgentFreed = context.client.post(&path, &json!({})).await?;
        if context.printer.json {
            context.printer.object(&freed)?;
        } else {
            note(&format!("The name {} is free. The agent was {}.", freed.name, freed.id));
        }
    }
    Ok(())
}

/// Prints the agents that the server can run, with a hint if any of them runs as the server's user.
async fn list(context: &Context) -> Result<(), Fault> {
    let list: AgentList = context.client.get("/agents").await?;
    if context.printer.json {
        return context.printer.object(&list);
    }
    let width =
        list.agents.iter().map(|agent| agent.client.chars().count()).max().unwrap_or_default();
    for agent in &list.agents {
        context.printer.line(&row(context, agent, width))?;
    }
    note("To invite one: moothall invite - NAME");
    of_the_servers_user(&list).iter().for_each(|hint| note(hint));
    Ok(())
}

/// Returns an agent as a line; `width` is the width of the name column.
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

/// Returns one hint for all agents whose programs run as the server's own user.
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
        "These programs run as the server's own user, which can read all its data: {}. `run_as` \
         sets another user.",
        clients.join(", ")
    ))
}
