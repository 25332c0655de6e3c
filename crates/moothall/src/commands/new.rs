//! `new`: creates a conversation and invites its agents.

use std::collections::BTreeSet;

use moothall_surfaces::wire::{AgentEntry, AgentList, NewThread, ThreadCreated};
use serde_json::json;

use super::Context;
use super::invite::{invite, profile_of};
use crate::cli::New;
use crate::config::nearest;
use crate::fault::{Exit, Fault};
use crate::last;
use crate::paint::note;

/// The demo agents, for a conversation created without `--with`.
const DEMO: [&str; 3] = ["analyst", "writer", "critic"];

/// Creates a conversation, which becomes the one used last, and invites its agents. An unknown
/// agent is an error before the conversation is created.
pub async fn run(context: &Context, args: &New) -> Result<(), Fault> {
    if args.name.trim().is_empty() {
        return Err(Fault::new(Exit::Usage, "a conversation needs a name")
            .try_this("moothall new \"Launch plan\""));
    }
    let registry: AgentList = context.client.get("/agents").await?;
    let guests = guests(&registry.agents, args)?;
    let body = NewThread {
        name: Some(args.name.clone()),
        from: Some(context.client.name().to_owned()),
        policy: Some(json!(args.policy)),
    };
    let created: ThreadCreated = context.client.post("/threads", &body).await?;
    last::remember(&context.client, &created.id);
    for guest in &guests {
        invite(&context.client, &created.id, &guest.client, profile_of(guest)).await?;
    }
    let names: Vec<_> = guests.iter().map(|guest| guest.client.as_str()).collect();
    if context.printer.json {
        return context.printer.object(&json!({"thread": created, "invited": names}));
    }
    context.printer.line(&created.id)?;
    note(&next_step(args, &names));
    Ok(())
}

/// Returns the agents to invite: those of `--with`, each once, or without that flag the demo agents
/// that the server has. None with `--empty`.
fn guests<'a>(registry: &'a [AgentEntry], args: &New) -> Result<Vec<&'a AgentEntry>, Fault> {
    let entry = |client: &str| registry.iter().find(|agent| agent.client == client);
    if args.empty {
        return Ok(Vec::new());
    }
    if args.with.is_empty() {
        return Ok(DEMO.iter().filter_map(|client| entry(client)).collect());
    }
    let mut once = BTreeSet::new();
    let wanted = args.with.iter().filter(|client| once.insert(client.as_str()));
    wanted.map(|client| entry(client).ok_or_else(|| unknown_agent(registry, client))).collect()
}

fn unknown_agent(registry: &[AgentEntry], client: &str) -> Fault {
    let known: Vec<_> = registry.iter().map(|agent| agent.client.as_str()).collect();
    let fault = Fault::new(Exit::Failure, format!("this server has no agent called {client:?}"));
    match nearest(client, &known) {
        Some(near) => fault.try_this(format!("did you mean {near}?")),
        None => fault
            .try_this(format!("choose one of {}; `moothall agents` shows them", known.join(", "))),
    }
}

/// Returns the hint for the next command: an invitation, or a message to the first agent.
fn next_step(args: &New, names: &[&str]) -> String {
    match names {
        [] => format!(
            "\"{}\" ({}) is empty. Invite an agent: moothall invite - NAME",
            args.name, args.policy
        ),
        [first, ..] => {
            format!(
                "\"{}\" ({}) has {}. Send a message: moothall say - \"@{first} …\" --wait",
                args.name,
                args.policy,
                names.join(", ")
            )
        }
    }
}
