//! `invite` and `uninvite`: changes the participants of a conversation.

use moothall_surfaces::wire::{Accepted, AgentEntry, AgentList, NewEvent, WireProfile};
use serde_json::json;

use super::Context;
use crate::cli::{Invite, Uninvite};
use crate::client::Client;
use crate::fault::Fault;
use crate::paint::{note, sentences};
use crate::threads;

/// Invites a participant. Prints the instructions to join for an agent that has to connect by
/// itself.
pub async fn run(context: &Context, args: &Invite) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let profile = profile(context, &thread, args).await?;
    let accepted = invite(&context.client, &thread, &args.id, profile).await?;
    if context.printer.json {
        return context.printer.object(&accepted);
    }
    for warning in sentences(&accepted.warnings) {
        note(&format!("warning: {warning}"));
    }
    note(&format!(
        "Invited {}. To address this participant: moothall say {} \"@{} …\"",
        args.id,
        threads::short(&thread),
        args.id
    ));
    match &accepted.join {
        Some(join) => context.printer.line(&moothall_kernel::text::for_terminal(&join.prompt)),
        None => Ok(()),
    }
}

/// Removes a participant from a conversation. The removal of one that has left already is not an
/// error, but that of an id that never took part is.
pub async fn uninvite(context: &Context, args: &Uninvite) -> Result<(), Fault> {
    let thread = threads::resolve(&context.client, &args.thread.thread).await?;
    let id = threads::participant(&context.client, &thread, &args.id).await?;
    let before = threads::state(&context.client, &thread).await?.state;
    let invited = before.participants.invited.iter().find(|entry| entry.id == id);
    let is_person = invited.is_some_and(|entry| entry.kind == "human");
    let left = json!({"uninvite": {"participant_id": id}});
    let accepted = match control(&context.client, &thread, left).await {
        Err(fault) if fault.code.as_deref() == Some("not_invited") => {
            return has_left(context, &thread, &id, fault).await;
        }
        accepted => accepted?,
    };
    if context.printer.json {
        return context.printer.object(&accepted);
    }
    note(&if accepted.event.is_some() {
        format!("Removed {id}.")
    } else {
        format!("{id} was not a participant.")
    });
    if is_person {
        note(&format!(
            "A token of {id} would still reach the conversation. To end that: `moothall token \
             list`, then `moothall token revoke ID`."
        ));
    }
    Ok(())
}

/// Reports success if the participant has left already. For an id that never took part, which may
/// be mistyped, returns the server's error, `fault`.
async fn has_left(context: &Context, thread: &str, id: &str, fault: Fault) -> Result<(), Fault> {
    let state = threads::state(&context.client, thread).await?;
    if !state.state.participants.left.iter().any(|entry| entry.id == id) {
        return Err(fault);
    }
    if context.printer.json {
        return context.printer.object(&json!({"received": true}));
    }
    note(&format!("{id} has left already."));
    Ok(())
}

/// Invites a participant under an id.
pub async fn invite(
    client: &Client,
    thread: &str,
    id: &str,
    profile: WireProfile,
) -> Result<Accepted, Fault> {
    control(client, thread, json!({"invite": {"participant_id": id, "profile": profile}})).await
}

/// Sends a control event as the participant that the client's credential names.
async fn control(
    client: &Client,
    thread: &str,
    content: serde_json::Value,
) -> Result<Accepted, Fault> {
    let event = NewEvent {
        kind: Some("control".into()),
        from: Some(client.name().to_owned()),
        content,
        ..NewEvent::default()
    };
    client.post(&threads::path(thread, "events"), &event).await
}

/// Returns the profile for inviting an agent of the registry. An agent without a model gets the
/// model `default`.
pub fn profile_of(agent: &AgentEntry) -> WireProfile {
    let model = agent.profile.model.clone().or_else(|| Some("default".into()));
    WireProfile { client: Some(agent.client.clone()), model, ..agent.profile.clone() }
}

/// Returns the profile for an invitation. The first invitation of an id gets the registry's values
/// for fields that the flags leave out. For a participant that is invited already, and for a
/// session, the profile has only the fields of the flags.
async fn profile(context: &Context, thread: &str, args: &Invite) -> Result<WireProfile, Fault> {
    let roles = (!args.roles.is_empty()).then(|| args.roles.clone());
    let given = WireProfile {
        client: args.client.clone(),
        model: args.model.clone(),
        roles,
        nickname: args.nickname.clone(),
        session: args.session.clone(),
    };
    // The server knows the rest of a session's profile.
    if given.session.is_some() {
        return Ok(given);
    }
    let state = threads::state(&context.client, thread).await?;
    if state.state.participants.invited.iter().any(|entry| entry.id == args.id) {
        return Ok(given);
    }
    let registry: AgentList = context.client.get("/agents").await?;
    let client = given.client.clone().unwrap_or_else(|| args.id.clone());
    let start = registry.agents.iter().find(|agent| agent.client == client).map(profile_of);
    let start = start.unwrap_or_else(|| outside(client));
    Ok(WireProfile {
        client: given.client.or(start.client),
        model: given.model.or(start.model),
        roles: given.roles.or(start.roles),
        // With `--client`, several participants may have the same agent, so the id stays the name.
        nickname: given.nickname.or(start.nickname.filter(|_| args.client.is_none())),
        session: None,
    })
}

/// Returns the profile of a participant outside the registry: a person, or a program that connects
/// by itself.
fn outside(client: String) -> WireProfile {
    let model = if client == "human" { "human" } else { "default" };
    WireProfile { client: Some(client), model: Some(model.into()), ..WireProfile::default() }
}
