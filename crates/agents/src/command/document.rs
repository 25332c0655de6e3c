//! The input of a program: the prompt as plain text, or one JSON document. The document has the
//! shape of Agent Bridge's adapters, so that those adapters work unchanged.

use moothall_engine::agent::Job;
use moothall_engine::content::together;
use moothall_kernel::event::{Change, Event, Posted, Recipient, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, StreamId};
use serde_json::{Map, Value, json};

/// Returns the whole prompt as text, for a program without a memory.
pub(super) fn prompt(job: &Job) -> String {
    let parts = [job.prompt.system.trim(), job.prompt.standalone.trim()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Returns the JSON document that a program reads. Its trigger has fewer fields than the events of
/// its window, as in Agent Bridge.
pub(super) fn json(job: &Job, bridge_url: &str, prompt: String) -> String {
    let stream = &job.key.stream;
    let window: Vec<Value> = job.window.iter().map(|recorded| event(stream, recorded)).collect();
    let mut trigger = event(stream, &job.trigger);
    if let Value::Object(fields) = &mut trigger {
        fields
            .retain(|key, _| ["id", "ts", "type", "from", "to", "content"].contains(&key.as_str()));
    }
    json!({
        "bridge": { "url": bridge_url },
        "thread": { "id": stream.as_str() },
        "participant": { "id": job.participant.as_str(), "profile": job.profile },
        "trigger": trigger,
        "context_window": window,
        "prompt": prompt,
    })
    .to_string()
}

/// Returns an event as a program reads it. A message has `meta` only if there is something in it.
fn event(stream: &StreamId, recorded: &RecordedEvent) -> Value {
    let (kind, to, content) = event_fields(&recorded.event);
    let from = match &recorded.event {
        Event::Overheard { origin, .. } => origin.account(),
        event => event.from().map_or(ParticipantId::MOOTHALL, ParticipantId::as_str),
    };
    let mut out = json!({
        "id": recorded.id(stream).to_string(),
        "seq": recorded.seq.0,
        "ts": recorded.ts.to_string(),
        "thread": stream.as_str(),
        "type": kind,
        "from": from,
        "to": to,
        "content": content,
    });
    if let Event::Posted(post) = &recorded.event
        && let Some(meta) = meta(post)
    {
        out["meta"] = meta;
    }
    out
}

/// Returns the type, the recipient and the content of an event. The content is null for an event
/// that has none in this shape.
fn event_fields(event: &Event) -> (&str, &str, Value) {
    match event {
        Event::Posted(post) => ("message", addressee(&post.to), post.body.as_str().into()),
        Event::Controlled { changes, .. } => {
            ("control", "all", Value::Object(together(changes.iter().filter_map(control))))
        }
        Event::Custom { to, kind, content, .. } => (kind, addressee(to), content.clone()),
        Event::Created { name, .. } => ("thread.created", "all", name.as_str().into()),
        Event::Renamed { name, .. } => ("thread.renamed", "all", name.as_str().into()),
        Event::Noticed { text, .. } => ("notice", "all", text.as_str().into()),
        Event::Overheard { body, .. } => ("observation", "all", body.as_str().into()),
        other => (other.kind(), "all", Value::Null),
    }
}

fn addressee(to: &Recipient) -> &str {
    match to {
        Recipient::All => "all",
        Recipient::One(id) => id.as_str(),
    }
}

/// Returns the name and the content of a control; `None` for a control that this shape does not
/// have.
fn control(change: &Change) -> Option<(&'static str, Value)> {
    Some(match change {
        Change::Invited { participant, profile, .. } => {
            ("invite", json!({ "participant_id": participant, "profile": profile }))
        }
        Change::Uninvited { participant, .. } => {
            ("uninvite", json!({ "participant_id": participant }))
        }
        Change::Muted { targets } => ("mute", json!({ "targets": targets })),
        Change::Unmuted { targets } => ("unmute", json!({ "targets": targets })),
        Change::Paused { on } => ("pause", json!({ "on": on })),
        Change::Discussion { on, allow_agent_mentions } => {
            ("discussion", json!({ "on": on, "allow_agent_mentions": allow_agent_mentions }))
        }
        Change::InvitedAuto { on } => ("invited_auto", json!({ "on": on })),
        Change::Prodded { targets } => ("prod", json!(targets)),
        Change::PolicySet { .. }
        | Change::GuardLifted
        | Change::Bound { .. }
        | Change::Unbound { .. }
        | Change::BudgetRaised(_) => {
            return None;
        }
    })
}

/// Returns the id of the event that a message replies to, its tags, and the facts about its origin
/// (`unproven`, `typed_at`, `via`). `None` if the message has none of them.
fn meta(post: &Posted) -> Option<Value> {
    let mut meta = Map::new();
    if let Some(cause) = &post.reply_to {
        meta.insert("reply_to".into(), cause.id.to_string().into());
    }
    if !post.tags.is_empty() {
        meta.insert("tags".into(), json!(post.tags));
    }
    if post.unproven {
        meta.insert("unproven".into(), true.into());
    }
    if let Some(at) = &post.typed_at {
        meta.insert("typed_at".into(), at.as_str().into());
    }
    if post.via {
        meta.insert("via".into(), ParticipantId::MOOTHALL.into());
    }
    (!meta.is_empty()).then_some(Value::Object(meta))
}
