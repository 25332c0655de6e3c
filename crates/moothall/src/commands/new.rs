//! `new`: creates a conversation and invites its agents.

use std::collections::BTreeSet;

use moothall_agents::terminal::Vendor;
use moothall_surfaces::wire::{
    AgentEntry, AgentList, CommandRan, NewCommand, NewThread, ThreadCreated, ThreadDeleted,
};
use serde_json::json;

use super::Context;
use super::invite::{invite, profile_of};
use crate::cli::New;
use crate::client::{Client, segment};
use crate::config::nearest;
use crate::fault::{Exit, Fault};
use crate::last;
use crate::paint::note;
use crate::threads;

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
        folder: folder(context, args)?,
    };
    let at_work = work_place(&guests, body.folder.as_deref());
    let is_taken = threads::all(&context.client)
        .await
        .is_ok_and(|all| all.iter().any(|one| one.name == args.name));
    let created: ThreadCreated = context.client.post("/threads", &body).await?;
    for guest in &guests {
        let invited = invite(&context.client, &created.id, &guest.client, profile_of(guest)).await;
        if let Err(fault) = invited {
            return Err(undone(&context.client, &created.id, fault).await);
        }
    }
    last::remember(&context.client, &created.id);
    let names: Vec<_> = guests.iter().map(|guest| guest.client.as_str()).collect();
    if context.printer.json {
        return context.printer.object(&json!({"thread": created, "invited": names}));
    }
    context.printer.line(&created.id)?;
    if is_taken {
        note(&format!(
            "warning: another conversation has this name, so name this one by its id, such as {}",
            threads::short(&created.id)
        ));
    }
    note(&format!("{}{at_work}", next_step(args, &names)));
    Ok(())
}

/// Returns the folder for the known programs of the conversation: the named one, or else the
/// current folder if the server runs as the caller's user. The folder of a server in the background
/// is the home folder, which is seldom the one that its user is at work in.
fn folder(context: &Context, args: &New) -> Result<Option<String>, Fault> {
    let Some(named) = &args.folder else {
        let here = std::env::current_dir().ok().filter(|_| context.client.runs_as_caller());
        return Ok(here.and_then(|here| here.to_str().map(str::to_owned)));
    };
    let named = std::path::absolute(named)
        .map_err(|error| Fault::new(Exit::Usage, format!("{}: {error}", named.display())))?;
    match named.to_str() {
        Some(named) => Ok(Some(named.to_owned())),
        None => Err(Fault::new(Exit::Usage, "the folder's path is not valid UTF-8")),
    }
}

/// Returns a sentence that names the folder, if one of the guests works there.
fn work_place(guests: &[&AgentEntry], folder: Option<&str>) -> String {
    let works =
        |guest: &&&AgentEntry| guest.run_as.is_none() && Vendor::of(&guest.client) != Vendor::Other;
    let names: Vec<_> = guests.iter().filter(works).map(|guest| guest.client.as_str()).collect();
    match folder {
        Some(folder) if !names.is_empty() => {
            format!("\nThe folder for {}: {folder}", names.join(", "))
        }
        _ => String::new(),
    }
}

/// Deletes a conversation whose agent could not be invited, so that a refused `new` leaves nothing.
/// If the deletion fails, for instance without the right to delete, archives the conversation.
/// Returns the refusal of the invitation.
async fn undone(client: &Client, thread: &str, fault: Fault) -> Fault {
    let path = format!("/threads/{}", segment(thread));
    let deleted: Result<ThreadDeleted, Fault> = client.delete(&path).await;
    if deleted.is_ok() {
        return fault;
    }
    let archive = NewCommand { from: Some(client.name().to_owned()), text: "/archive".to_owned() };
    let archived = client.post::<CommandRan>(&threads::path(thread, "commands"), &archive).await;
    match archived {
        Ok(_) => fault,
        Err(_) => {
            let left = format!("moothall archive {}", threads::short(thread));
            fault.try_this(format!("the conversation was begun; to remove it: {left}"))
        }
    }
}

/// Returns the agents to invite: the agents of `--with` without repetitions, or without that flag
/// the demo agents that the server has. Returns none with `--empty`.
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
