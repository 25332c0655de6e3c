//! What the content of a `control` event asks for.

use moothall_engine::budgets::Money;
use moothall_engine::door::{Action, Door};
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::{AgentFacts, Profile};
use moothall_kernel::policy::{Policy, PolicyFault};
use moothall_kernel::time::Millis;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::{ApiError, ApiResult, Code};
use crate::json;
use crate::wire::WireProfile;

/// The keys of a control, in the order in which they take effect.
const KEYS: [&str; 12] =
    ["invite", "uninvite", "mute", "unmute", "pause", "resume", "discussion", "invited_auto", "budget", "prod", "policy", "config"];
/// These stand alone in their event.
const ALONE: [&str; 2] = ["archive", "unarchive"];

fn refused(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidControl, message)
}

/// Reads a control.
pub async fn command(door: &Door, stream: &StreamId, by: Actor, content: &Value) -> ApiResult<ClientCommand> {
    let entries = entries(content)?;
    if let Some(key) = entries.keys().find(|key| !KEYS.contains(&key.as_str()) && !ALONE.contains(&key.as_str())) {
        let shown: String = key.chars().take(40).collect();
        return Err(refused(format!("There is no control {shown:?}; there are {}, {}.", KEYS.join(", "), ALONE.join(", "))));
    }
    if let Some(key) = ALONE.into_iter().find(|key| entries.contains_key(*key)) {
        return archive(&entries, key, by);
    }
    let mut controls = Vec::new();
    for key in KEYS {
        if let Some(value) = entries.get(key) {
            controls.push(control(door, stream, key, value).await?);
            controls.extend(settings_beside_name(&by, key, value));
        }
    }
    if controls.is_empty() {
        return Err(refused(format!("A control needs at least one of {}, {}.", KEYS.join(", "), ALONE.join(", "))));
    }
    Ok(ClientCommand::Control { by, controls })
}

/// An object, or a string that holds one.
fn entries(content: &Value) -> ApiResult<Map<String, Value>> {
    let read = match content {
        Value::Object(entries) => return Ok(entries.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => json::read(text.as_bytes())?,
        _ => Value::Null,
    };
    match read {
        Value::Object(entries) => Ok(entries),
        _ => Err(refused("The content of a control is an object such as {\"pause\": {\"on\": true}}.")),
    }
}

fn archive(entries: &Map<String, Value>, key: &str, by: Actor) -> ApiResult<ClientCommand> {
    if entries.len() != 1 {
        return Err(refused(format!("'{key}' stands alone in its control.")));
    }
    let wanted = switch(key, &entries[key])?;
    Ok(ClientCommand::Archive { on: (key == "archive") == wanted, by })
}

async fn control(door: &Door, stream: &StreamId, key: &str, value: &Value) -> ApiResult<Control> {
    Ok(match key {
        "invite" => invite(door, stream, value).await?,
        "uninvite" => Control::Uninvite(participant_id(key, object(key, value, &["participant_id"])?)?),
        "mute" => Control::Mute(muted(value)?),
        "unmute" => Control::Unmute(targets(key, value)?),
        "pause" => Control::Pause(switch(key, value)?),
        "resume" => resume(value)?,
        "discussion" => discussion(value)?,
        "invited_auto" => Control::InvitedAuto(switch(key, value)?),
        "budget" => {
            let Raised { turns, micros, within } = raised(object(key, value, &["turns", "cost", "seconds"])?)?;
            Control::RaiseBudget { turns, micros, within }
        }
        "prod" => Control::Prod(targets(key, value)?),
        "policy" => Control::Policy(Policy::from_json(value, &door.defaults()).map_err(|fault| policy_refused(&fault))?),
        _ => Control::Config(value.as_object().cloned().ok_or_else(|| refused("'config' takes an object of policy keys."))?),
    })
}

/// Without proof a policy comes with the settings that are in force; what is given beside its name changes them.
fn settings_beside_name(by: &Actor, key: &str, value: &Value) -> Option<Control> {
    let given = value.as_object().filter(|_| key == "policy" && !by.proven)?;
    let settings: Map<String, Value> = given
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), "name" | "reply_strategy"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!settings.is_empty()).then_some(Control::Config(settings))
}

/// What a policy's fault means to a client.
pub fn policy_refused(fault: &PolicyFault) -> ApiError {
    ApiError::new(Code::InvalidPolicy, format!("'{}' takes {}.", fault.key, fault.expected))
}

fn object<'a>(key: &str, value: &'a Value, known: &[&str]) -> ApiResult<&'a Map<String, Value>> {
    let entries = value.as_object().ok_or_else(|| refused(format!("'{key}' takes an object with {}.", known.join(", "))))?;
    match entries.keys().find(|given| !known.contains(&given.as_str())) {
        None => Ok(entries),
        Some(given) => {
            let shown: String = given.chars().take(40).collect();
            Err(refused(format!("'{key}' takes {}, not {shown:?}.", known.join(", "))))
        }
    }
}

fn participant_id(key: &str, entries: &Map<String, Value>) -> ApiResult<String> {
    let id = entries.get("participant_id").and_then(Value::as_str).map(str::trim).filter(|id| !id.is_empty());
    id.map(Into::into).ok_or_else(|| refused(format!("'{key}' needs a 'participant_id'.")))
}

/// `{"on": …}`, where `on` may be missing and then is true; or a bare truth value.
fn switch(key: &str, value: &Value) -> ApiResult<bool> {
    if let Value::Bool(on) = value {
        return Ok(*on);
    }
    boolean(key, object(key, value, &["on"])?, "on", true)
}

fn boolean(key: &str, entries: &Map<String, Value>, name: &str, default: bool) -> ApiResult<bool> {
    match entries.get(name) {
        None => Ok(default),
        Some(Value::Bool(on)) => Ok(*on),
        Some(_) => Err(refused(format!("'{name}' of '{key}' is true or false."))),
    }
}

fn resume(value: &Value) -> ApiResult<Control> {
    match value {
        Value::Bool(true) => Ok(Control::Resume),
        Value::Object(entries) if entries.is_empty() => Ok(Control::Resume),
        _ => Err(refused("'resume' takes true, or {}.")),
    }
}

fn discussion(value: &Value) -> ApiResult<Control> {
    if let Value::Bool(on) = value {
        return Ok(Control::Discussion { on: *on, allow_agent_mentions: *on });
    }
    let entries = object("discussion", value, &["on", "allow_agent_mentions"])?;
    let on = boolean("discussion", entries, "on", true)?;
    Ok(Control::Discussion { on, allow_agent_mentions: boolean("discussion", entries, "allow_agent_mentions", on)? })
}

/// By how much a budget is raised, and for how long.
pub struct Raised {
    /// Turns in each hour.
    pub turns: u64,
    /// Millionths of the currency in each day.
    pub micros: u64,
    /// For so long.
    pub within: Millis,
}

/// For how long a budget is raised where nobody says.
const RAISED_FOR: Millis = Millis::from_secs(3600);

/// Reads `{"turns": 100, "cost": 2.5, "seconds": 3600}`.
pub fn raised(entries: &Map<String, Value>) -> ApiResult<Raised> {
    let turns = match entries.get("turns") {
        None => 0,
        Some(turns) => turns.as_u64().ok_or_else(|| refused("'turns' of a budget is a whole number."))?,
    };
    let cost = match entries.get("cost").map(Value::as_f64) {
        None => 0.0,
        Some(Some(cost)) => cost,
        Some(None) => return Err(refused("'cost' of a budget is a number, such as 2.5.")),
    };
    let micros = Money::try_from(cost).map_err(|error| refused(format!("'cost': {error}.")))?.micros;
    let within = match entries.get("seconds") {
        None => RAISED_FOR,
        Some(given) => given.as_f64().and_then(Millis::from_secs_f64).ok_or_else(|| refused("'seconds' of a budget is a number."))?,
    };
    Ok(Raised { turns, micros, within })
}

fn muted(value: &Value) -> ApiResult<Vec<String>> {
    let hard = value.get("mode").is_none_or(|mode| mode == "hard");
    if hard { targets("mute", value) } else { Err(refused("'mute' knows one mode: \"hard\".")) }
}

/// A list of ids, bare or as `targets`.
fn targets(key: &str, value: &Value) -> ApiResult<Vec<String>> {
    let shape = || refused(format!("'{key}' takes a list of participant ids, as {{\"targets\": [\"<id>\"]}}."));
    let list = match value {
        Value::Object(_) => object(key, value, &["targets", "mode"])?.get("targets"),
        other => Some(other),
    };
    let items = list.and_then(Value::as_array).filter(|items| !items.is_empty()).ok_or_else(shape)?;
    items.iter().map(|item| item.as_str().map(Into::into).ok_or_else(shape)).collect()
}

async fn invite(door: &Door, stream: &StreamId, value: &Value) -> ApiResult<Control> {
    let entries = object("invite", value, &["participant_id", "profile"])?;
    let shown = entries.get("participant_id").and_then(Value::as_str).unwrap_or_default();
    let profile = profile(shown, entries.get("profile"))?;
    if let Some(word) = &profile.session {
        return invite_session(entries, door.invitation(word).await?, profile);
    }
    let id = participant_id("invite", entries)?;
    let facts = facts(door, stream, &id, profile.client.as_deref()).await?;
    Ok(Control::Invite(Invite::new(id, Profile::from(profile), facts)))
}

/// A session takes part under its own name and as what it is, where nothing else is said.
fn invite_session(entries: &Map<String, Value>, own: Invite, given: WireProfile) -> ApiResult<Control> {
    let participant = match entries.get("participant_id") {
        Some(_) => participant_id("invite", entries)?,
        None => own.participant,
    };
    let profile = own.profile.merged(&Profile::from(given));
    Ok(Control::Invite(Invite { participant, profile, ..own }))
}

fn profile(id: &str, given: Option<&Value>) -> ApiResult<WireProfile> {
    match given {
        None => Ok(WireProfile::default()),
        Some(object @ Value::Object(_)) => {
            WireProfile::deserialize(object).map_err(|error| refused(format!("'profile' of '{id}': {error}.")))
        }
        Some(_) => Err(refused(format!("'profile' of '{id}' must be an object."))),
    }
}

/// What the registry says about the client: the one given, or at a later invite the one stored.
async fn facts(door: &Door, stream: &StreamId, id: &str, given: Option<&str>) -> ApiResult<AgentFacts> {
    if let Some(client) = given {
        return Ok(door.registry().facts(client));
    }
    let id = ParticipantId::new(id);
    let stored =
        door.view(Action::Post, stream, move |state| state.participant(&id).and_then(|known| known.profile.client.clone())).await?;
    Ok(stored.map_or_else(AgentFacts::external, |client| door.registry().facts(&client)))
}
