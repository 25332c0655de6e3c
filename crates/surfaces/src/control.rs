//! Strict reading of the content of `control` events.

use moothall_engine::budgets::Money;
use moothall_engine::door::{Action, Door};
use moothall_kernel::chat::{Chat, NotAChat};
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::{AgentFacts, Profile, TerminalReach};
use moothall_kernel::policy::{Policy, PolicyFault};
use moothall_kernel::time::Millis;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::{ApiError, ApiResult, Code};
use crate::json;
use crate::strict::{self, Inbound};
use crate::wire::{
    NewControl, NewDiscussion, NewInvite, NewRaise, NewUninvite, Resume, Switch, Targets,
    WireProfile,
};

fn refused(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidControl, message)
}

/// Reads the content of a control as a command.
pub async fn command(
    door: &Door,
    stream: &StreamId,
    by: Actor,
    content: &Value,
) -> ApiResult<ClientCommand> {
    let entries = spelled_out(entries(content)?);
    let control: NewControl = strict::read(&entries)?;
    if let Some(command) = archive(&entries, &control, &by)? {
        return Ok(command);
    }
    of(door, stream, by, control).await
}

/// Converts a control without `archive` or `unarchive` to a command.
pub async fn of(
    door: &Door,
    stream: &StreamId,
    by: Actor,
    mut control: NewControl,
) -> ApiResult<ClientCommand> {
    let mut controls = Vec::new();
    if let Some(given) = control.invite.take() {
        controls.push(invite(door, stream, given).await?);
    }
    controls.extend(of_participants(&mut control)?);
    controls.extend(of_floor(&mut control)?);
    controls.extend(of_rules(control, &by, &door.defaults())?);
    if controls.is_empty() {
        let asks = asking(&strict::fields_of::<NewControl>());
        return Err(refused(format!("A control needs at least one of {asks}.")));
    }
    Ok(ClientCommand::Control { by, controls })
}

/// Takes the controls of participants out of the request: `uninvite`, `mute` and `unmute`.
fn of_participants(control: &mut NewControl) -> ApiResult<Vec<Control>> {
    let mut controls = Vec::new();
    if let Some(NewUninvite { participant_id: id }) = control.uninvite.take() {
        controls.push(Control::Uninvite(participant_id("uninvite", id)?));
    }
    if let Some(given) = control.mute.take() {
        controls.push(Control::Mute(muted(given)?));
    }
    if let Some(given) = control.unmute.take() {
        controls.push(Control::Unmute(targets("unmute", given)?));
    }
    Ok(controls)
}

/// Takes the controls of the floor out of the request, in the order in which they are carried out.
/// The floor decides which agents may answer and when.
fn of_floor(control: &mut NewControl) -> ApiResult<Vec<Control>> {
    let pause = control.pause.take().map(|given| Control::Pause(switch(&given)));
    let resume = control.resume.take().map(|Resume {}| Control::Resume);
    let auto = control.invited_auto.take().map(|given| Control::InvitedAuto(switch(&given)));
    let mut controls: Vec<_> = [pause, resume, control.discussion.take().map(discussion), auto]
        .into_iter()
        .flatten()
        .collect();
    if let Some(given) = control.budget.take() {
        let BudgetIncrease { turns, micros, within } = given.try_into()?;
        controls.push(Control::RaiseBudget { turns, micros, within });
    }
    if let Some(given) = control.prod.take() {
        controls.push(Control::Prod(targets("prod", given)?));
    }
    Ok(controls)
}

/// Converts the controls of the policy and of chats, and `confirm`, which counts only if it is
/// true. A policy that is an object replaces all settings, and a name alone keeps them. If an
/// unproven caller sends an object, only the name is taken from it, and its settings become a
/// separate change.
fn of_rules(control: NewControl, by: &Actor, defaults: &Policy) -> ApiResult<Vec<Control>> {
    let mut controls = Vec::new();
    if let Some(given) = control.policy {
        let policy = Policy::from_json(&given, defaults).map_err(|fault| policy_refused(&fault))?;
        controls.push(if given.is_string() {
            Control::PolicyNamed(policy.name)
        } else {
            Control::Policy(policy)
        });
        controls.extend(settings_beside_name(by, &given));
    }
    controls.extend(control.config.map(Control::Config));
    controls.extend(control.unbind.map(|given| chat(&given).map(Control::UnbindChat)).transpose()?);
    controls.extend(control.bind.map(|given| chat(&given).map(Control::BindChat)).transpose()?);
    controls.extend(control.confirm.filter(|agreed| *agreed).map(|_| Control::Confirm));
    Ok(controls)
}

/// Joins the keys that request a change. `confirm` alone requests none.
fn asking(keys: &[&str]) -> String {
    let asks: Vec<&str> = keys.iter().copied().filter(|key| *key != "confirm").collect();
    asks.join(", ")
}

/// Expands the short forms of controls.
fn spelled_out(mut entries: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in &mut entries {
        let long = match (key.as_str(), &*value) {
            (
                "pause" | "invited_auto" | "discussion" | "archive" | "unarchive",
                Value::Bool(on),
            ) => json!({ "on": on }),
            ("mute" | "unmute" | "prod", Value::Array(targets)) => json!({ "targets": targets }),
            ("resume", Value::Bool(true)) => json!({}),
            (_, _) => continue,
        };
        *value = long;
    }
    entries
}

impl Inbound for NewControl {
    fn unknown(object: &str, key: &str, known: &[&str]) -> ApiError {
        let shown: String = key.chars().take(40).collect();
        match object {
            "" => {
                refused(format!("The control {shown:?} is unknown; known are {}.", asking(known)))
            }
            "resume" => no_resume(),
            _ => refused(format!("'{object}' takes {}, not {shown:?}.", known.join(", "))),
        }
    }

    fn wrong(object: &str, field: &str, takes: &str) -> ApiError {
        match (object, field) {
            ("", "mute" | "unmute" | "prod") => no_targets(field),
            (_, "targets" | "targets[]") => no_targets(object),
            (_, "mode") => no_mode(object),
            ("", "resume") => no_resume(),
            ("", "config") => refused("'config' takes an object of policy keys."),
            ("", "invite") => refused("'invite' takes an object with participant_id, profile."),
            ("", "uninvite") => refused("'uninvite' takes an object with participant_id."),
            ("", "discussion") => {
                refused("'discussion' takes an object with on, allow_agent_mentions.")
            }
            ("", "budget") => refused("'budget' takes an object with turns, cost, seconds."),
            ("", switch) => refused(format!("'{switch}' takes an object with on.")),
            (_, "participant_id") => no_participant(object),
            (_, other) => wrong_raise(other)
                .unwrap_or_else(|| refused(format!("'{other}' of '{object}' {takes}."))),
        }
    }
}

fn no_resume() -> ApiError {
    refused("'resume' takes true, or {}.")
}

fn chat(given: &str) -> ApiResult<Chat> {
    given.parse().map_err(|error: NotAChat| refused(error.to_string()))
}

fn no_targets(key: &str) -> ApiError {
    refused(format!("'{key}' takes a list of participant ids, as {{\"targets\": [\"<id>\"]}}."))
}

fn no_mode(key: &str) -> ApiError {
    refused(format!("'{key}' has only one mode: \"hard\"."))
}

fn no_participant(key: &str) -> ApiError {
    refused(format!("'{key}' needs a 'participant_id'."))
}

/// Returns the error for a value of the wrong type in the raise of a budget.
pub fn wrong_raise(field: &str) -> Option<ApiError> {
    match field {
        "turns" => Some(refused("'turns' of a budget must be a whole number.")),
        "cost" => Some(refused("'cost' of a budget must be a number, such as 2.5.")),
        "seconds" => Some(no_seconds()),
        _ => None,
    }
}

fn no_seconds() -> ApiError {
    refused("'seconds' of a budget must be a number.")
}

/// Reads an object, or a string that holds one.
fn entries(content: &Value) -> ApiResult<Map<String, Value>> {
    let read = match content {
        Value::Object(entries) => return Ok(entries.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => json::read(text.as_bytes())?,
        _ => Value::Null,
    };
    match read {
        Value::Object(entries) => Ok(entries),
        _ => Err(refused(
            "The content of a control must be an object such as {\"pause\": {\"on\": true}}.",
        )),
    }
}

/// Reads `archive` or `unarchive`, which must be the only key. Returns `None` if both are absent.
fn archive(
    entries: &Map<String, Value>,
    control: &NewControl,
    by: &Actor,
) -> ApiResult<Option<ClientCommand>> {
    let (key, on) = match (&control.archive, &control.unarchive) {
        (Some(given), _) => ("archive", switch(given)),
        (None, Some(given)) => ("unarchive", !switch(given)),
        (None, None) => return Ok(None),
    };
    if entries.len() != 1 {
        return Err(refused(format!("'{key}' must be the only key of its control.")));
    }
    Ok(Some(ClientCommand::Archive { on, by: by.clone() }))
}

/// Returns the settings in the policy object of an unproven caller as a separate change. The kernel
/// takes only the name from the policy of such a caller, and checks each change of a setting.
fn settings_beside_name(by: &Actor, policy: &Value) -> Option<Control> {
    let given = policy.as_object().filter(|_| !by.proven)?;
    let beside = given.iter().filter(|(key, _)| !matches!(key.as_str(), "name" | "reply_strategy"));
    let settings: Map<String, Value> =
        beside.map(|(key, value)| (key.clone(), value.clone())).collect();
    (!settings.is_empty()).then_some(Control::Config(settings))
}

/// Converts a policy's fault to an error.
pub fn policy_refused(fault: &PolicyFault) -> ApiError {
    ApiError::new(Code::InvalidPolicy, format!("'{}' takes {}.", fault.key, fault.expected))
}

fn participant_id(key: &str, given: Option<String>) -> ApiResult<String> {
    let id = given.as_deref().map(str::trim).filter(|id| !id.is_empty());
    id.map(Into::into).ok_or_else(|| no_participant(key))
}

fn switch(given: &Switch) -> bool {
    given.on.unwrap_or(true)
}

fn discussion(given: NewDiscussion) -> Control {
    let on = given.on.unwrap_or(true);
    Control::Discussion { on, allow_agent_mentions: given.allow_agent_mentions.unwrap_or(on) }
}

/// A raise of a budget.
pub struct BudgetIncrease {
    /// Additional turns per hour.
    pub turns: u64,
    /// Additional cost per day, in millionths of the currency.
    pub micros: u64,
    /// Duration of the raise, in milliseconds from now.
    pub within: Millis,
}

/// Default duration of a raise: one hour.
const RAISED_FOR: Millis = Millis::from_secs(3600);

impl TryFrom<NewRaise> for BudgetIncrease {
    type Error = ApiError;

    fn try_from(given: NewRaise) -> ApiResult<Self> {
        let NewRaise { turns, cost, seconds } = given;
        let micros = Money::try_from(cost.unwrap_or_default())
            .map_err(|error| refused(format!("'cost': {error}.")))?
            .micros;
        let within =
            seconds.map_or(Some(RAISED_FOR), Millis::from_secs_f64).ok_or_else(no_seconds)?;
        Ok(Self { turns: turns.unwrap_or_default(), micros, within })
    }
}

fn muted(given: Targets) -> ApiResult<Vec<String>> {
    let hard = given.mode.as_deref().is_none_or(|mode| mode == "hard");
    if hard { targets("mute", given) } else { Err(no_mode("mute")) }
}

fn targets(key: &str, given: Targets) -> ApiResult<Vec<String>> {
    if given.targets.is_empty() { Err(no_targets(key)) } else { Ok(given.targets) }
}

/// Converts an invitation. If the profile names a session, that session is invited. Otherwise the
/// participant in `participant_id` is invited, with the facts that the server has about its client.
async fn invite(door: &Door, stream: &StreamId, given: NewInvite) -> ApiResult<Control> {
    let NewInvite { participant_id: id, profile: given, reach } = given;
    let reach = reach.as_deref().map(terminal_reach).transpose()?;
    let profile = profile(id.as_deref().unwrap_or_default(), given.as_ref())?;
    if let Some(word) = &profile.session {
        let own = Invite { reach, ..door.invitation(word).await? };
        return invite_session(id, own, profile);
    }
    let id = participant_id("invite", id)?;
    let facts = facts(door, stream, &id, profile.client.as_deref()).await?;
    let invite = Invite::new(id, Profile::from(profile), facts);
    Ok(Control::Invite(Invite { reach, ..invite }))
}

fn terminal_reach(word: &str) -> ApiResult<TerminalReach> {
    word.parse().map_err(|_| refused("'reach' must be \"writers\" or \"drivers\"."))
}

/// Returns the invitation of a session under its own name and profile, or under those that the
/// request gives.
fn invite_session(id: Option<String>, own: Invite, given: WireProfile) -> ApiResult<Control> {
    let participant = match id {
        Some(id) => participant_id("invite", Some(id))?,
        None => own.participant,
    };
    let profile = own.profile.merged(&Profile::from(given));
    Ok(Control::Invite(Invite { participant, profile, ..own }))
}

/// Reads the profile of an invitation, which must be an object. Without one, returns an empty
/// profile. `id` is for the error.
fn profile(id: &str, given: Option<&Value>) -> ApiResult<WireProfile> {
    match given {
        None => Ok(WireProfile::default()),
        Some(object @ Value::Object(_)) => WireProfile::deserialize(object)
            .map_err(|error| refused(format!("'profile' of '{id}': {error}."))),
        Some(_) => Err(refused(format!("'profile' of '{id}' must be an object."))),
    }
}

/// Returns the registry's facts about the client in the request. Without one, returns the facts
/// about the client that the participant has already, or those of an external agent.
async fn facts(
    door: &Door,
    stream: &StreamId,
    id: &str,
    given: Option<&str>,
) -> ApiResult<AgentFacts> {
    if let Some(client) = given {
        return Ok(door.registry().facts(client));
    }
    let id = ParticipantId::new(id);
    let stored = door
        .view(Action::Post, stream, move |state| {
            state.participant(&id).and_then(|known| known.profile.client.clone())
        })
        .await?;
    Ok(stored.map_or_else(AgentFacts::external, |client| door.registry().facts(&client)))
}
