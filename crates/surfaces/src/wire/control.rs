//! The content of `control` events, in the shape in which clients send it.

use moothall_engine::content::together;
use moothall_kernel::event::Change;
use moothall_kernel::participant::{Address, Profile};
use moothall_kernel::state::LINK_KEY;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// Kind of a session's address.
const SESSION: &str = "session";

/// The content of a control as clients send it, in the order in which its parts take effect. A
/// boolean may replace an object with `on`, and a list an object with `targets`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NewControl {
    /// A participant to invite.
    pub invite: Option<NewInvite>,
    /// A participant to take out.
    pub uninvite: Option<NewUninvite>,
    /// Participants to mute.
    pub mute: Option<Targets>,
    /// Participants to unmute.
    pub unmute: Option<Targets>,
    /// The pause, in which no agent gets a turn.
    pub pause: Option<Switch>,
    /// Present to release the guard that holds the floor.
    pub resume: Option<Resume>,
    /// Discussion, in which agents answer each other.
    pub discussion: Option<NewDiscussion>,
    /// Switch that asks all invited agents about unaddressed messages.
    pub invited_auto: Option<Switch>,
    /// A temporary raise of turns and money.
    pub budget: Option<NewRaise>,
    /// Participants that take a turn without a message.
    pub prod: Option<Targets>,
    /// Name of the policy, or an object with `name` and its settings.
    pub policy: Option<Value>,
    /// Settings of the policy.
    pub config: Option<Map<String, Value>>,
    /// A chat to unbind, such as `telegram:-100123`.
    pub unbind: Option<String>,
    /// A chat outside of the server to bind: the conversation's words go there too.
    pub bind: Option<String>,
    /// True to accept that the other keys end a gathering, or let another chat read along.
    pub confirm: Option<bool>,
    /// Archives the conversation. No other key may be present.
    pub archive: Option<Switch>,
    /// Opens the conversation again. No other key may be present.
    pub unarchive: Option<Switch>,
}

/// A participant to invite, with its profile.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NewInvite {
    /// Id of the participant in the thread. May be absent for a session.
    pub participant_id: Option<String>,
    /// The fields of a [`WireProfile`], which are read strictly.
    pub profile: Option<Value>,
    /// Group whose words reach the participant's terminal: `writers` or `drivers`. If absent,
    /// `writers` at the first invite and unchanged later.
    pub reach: Option<String>,
}

/// A participant to take out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct NewUninvite {
    /// Id or nickname of the participant in the thread.
    pub participant_id: Option<String>,
}

/// The participants that a control is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Targets {
    /// Ids or nicknames, at least one.
    pub targets: Vec<String>,
    /// Mode of the mute: `hard`, which is also the default.
    pub mode: Option<String>,
}

/// A switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Switch {
    /// True for on, which is also the default.
    pub on: Option<bool>,
}

/// A resume, without further settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Resume {}

/// Settings of the discussion among agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct NewDiscussion {
    /// True for on, which is also the default.
    pub on: Option<bool>,
    /// True if agents may also mention each other; as `on` if absent.
    pub allow_agent_mentions: Option<bool>,
}

/// A raise of a budget.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NewRaise {
    /// Additional turns an hour.
    pub turns: Option<u64>,
    /// Additional money a day, in the currency.
    pub cost: Option<f64>,
    /// Duration of the raise in seconds; one hour if absent.
    pub seconds: Option<f64>,
}

/// The profile of a participant, from its invites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WireProfile {
    /// Name of the registry entry that answers for the participant, or any other word for an
    /// external program. Required at the first invite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Name of the model. Required at the first invite of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names that the participant shares with others. `[]` or `null` removes the present ones.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// Name for people, unique in its thread. `""` or `null` removes the present one.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    /// Id or name of the session that takes part: it is prompted in its terminal. `client`, `model`
    /// and the participant's id may then be absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Reads a field that is present. `null` becomes the empty value, to tell it from an absent field.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    value: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(value).map(|given| Some(given.unwrap_or_default()))
}

impl From<&Profile> for WireProfile {
    fn from(profile: &Profile) -> Self {
        let Profile { client, model, roles, nickname } = profile.clone();
        Self { client, model, roles, nickname, session: None }
    }
}

impl WireProfile {
    /// Returns a profile with the id of its session, if the address names one.
    pub fn of(profile: &Profile, address: Option<&Address>) -> Self {
        Self { session: session_at(address).map(Into::into), ..profile.into() }
    }
}

/// Returns the id of the session of this computer that an address names.
fn session_at(address: Option<&Address>) -> Option<&str> {
    address.and_then(|address| address.here(SESSION))
}

impl From<WireProfile> for Profile {
    fn from(profile: WireProfile) -> Self {
        let WireProfile { client, model, roles, nickname, session: _ } = profile;
        Self { client, model, roles, nickname }
    }
}

/// Shown in place of a link's key.
const OF_MEMBERS: &str = "link:members";

/// Returns all changes as one content object. If several participants were invited, `invite` is the
/// first and `invites` the list of all; likewise for those taken out and for bound targets. Those
/// muted, unmuted or prodded become one list.
pub fn changes_as_content(changes: &[Change]) -> Value {
    Value::Object(together(changes.iter().map(change_as_entry)))
}

/// Returns a target for readers. The key of a link is a hash of its members, so it is replaced.
fn readable_target(target: &str) -> &str {
    if target.starts_with(LINK_KEY) { OF_MEMBERS } else { target }
}

/// Returns the key of a change in the content of a control, and its value.
fn change_as_entry(change: &Change) -> (&'static str, Value) {
    match change {
        Change::Invited { participant, given, address, reach, .. } => {
            let profile = WireProfile::of(given, address.as_ref());
            let mut entry = json!({"participant_id": participant, "profile": profile});
            if let Some(reach) = reach {
                entry["reach"] = json!(reach);
            }
            ("invite", entry)
        }
        Change::Uninvited { participant, .. } => {
            ("uninvite", json!({"participant_id": participant}))
        }
        Change::Muted { targets } => ("mute", json!({"targets": targets, "mode": "hard"})),
        Change::Unmuted { targets } => ("unmute", json!({"targets": targets})),
        Change::Paused { on } => ("pause", json!({"on": on})),
        Change::Discussion { on, allow_agent_mentions } => {
            ("discussion", json!({"on": on, "allow_agent_mentions": allow_agent_mentions}))
        }
        Change::InvitedAuto { on } => ("invited_auto", json!({"on": on})),
        Change::Prodded { targets } => ("prod", json!(targets)),
        Change::PolicySet { patch: Some(patch), .. } => ("config", Value::Object(patch.clone())),
        Change::PolicySet { policy, patch: None } => ("policy", policy.to_json()),
        Change::GuardLifted => ("resume", json!({})),
        Change::Bound { target } => ("bind", json!(readable_target(target))),
        Change::Unbound { target } => ("unbind", json!(readable_target(target))),
        Change::BudgetRaised(raise) => (
            "budget",
            json!({"turns": raise.turns, "cost_micros": raise.micros, "until": raise.until.to_string()}),
        ),
    }
}
