//! The content of `control` events, in the shape in which clients send it.

use moothall_engine::content::together;
use moothall_kernel::event::Change;
use moothall_kernel::participant::{Address, Profile};
use moothall_kernel::state::LINK_KEY;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// What the address of a session's participant says.
const SESSION: &str = "session";

/// The content of a control as clients send it, in the order in which its parts take effect. A
/// truth value may stand for the object with `on`, and a list for the one with `targets`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NewControl {
    /// Make somebody a participant of the thread.
    pub invite: Option<NewInvite>,
    /// End somebody's part in the thread.
    pub uninvite: Option<NewUninvite>,
    /// Nobody hears them from now on.
    pub mute: Option<Targets>,
    /// They are heard again.
    pub unmute: Option<Targets>,
    /// No agent gets a turn.
    pub pause: Option<Switch>,
    /// Go on: whatever holds the floor lets go.
    pub resume: Option<Resume>,
    /// Agents answer each other.
    pub discussion: Option<NewDiscussion>,
    /// Whoever is invited is asked about all that is said.
    pub invited_auto: Option<Switch>,
    /// More turns and money for a while.
    pub budget: Option<NewRaise>,
    /// They take a turn without a message.
    pub prod: Option<Targets>,
    /// The policy's name, or an object with `name` and its settings.
    pub policy: Option<Value>,
    /// Settings of the policy.
    pub config: Option<Map<String, Value>>,
    /// Agree to the end of a gathering that the other keys bring.
    pub confirm: Option<bool>,
    /// Close the conversation. It stands alone.
    pub archive: Option<Switch>,
    /// Open it again. It stands alone.
    pub unarchive: Option<Switch>,
}

/// Whom to invite, and as what.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NewInvite {
    /// Its id in the thread. A session's may be left out.
    pub participant_id: Option<String>,
    /// The fields of a [`WireProfile`], to be read strictly.
    pub profile: Option<Value>,
    /// `writers` or `drivers`: says whose words reach its terminal, if it has one. If it is
    /// missing, `writers` at the first invite and as before later.
    pub reach: Option<String>,
}

/// Whom to take out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct NewUninvite {
    /// Its id in the thread, or its nickname.
    pub participant_id: Option<String>,
}

/// Participants that are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Targets {
    /// Their ids or nicknames, at least one.
    pub targets: Vec<String>,
    /// How they are muted: `hard`, also where it is missing.
    pub mode: Option<String>,
}

/// Something that is on or off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Switch {
    /// On, where it is missing.
    pub on: Option<bool>,
}

/// That it goes on; there is nothing to say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Resume {}

/// Whether agents answer each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct NewDiscussion {
    /// On, where it is missing.
    pub on: Option<bool>,
    /// Whether they also call each other by name; as `on`, where it is missing.
    pub allow_agent_mentions: Option<bool>,
}

/// By how much a budget is raised.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NewRaise {
    /// So many turns more in each hour.
    pub turns: Option<u64>,
    /// So much money more in each day.
    pub cost: Option<f64>,
    /// For so long; an hour where it is missing.
    pub seconds: Option<f64>,
}

/// What an invite says about a participant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WireProfile {
    /// The registry entry that answers for it, or any other word for an external program. Required
    /// at the first invite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The model behind it. Required at the first invite of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names it answers to together with others; `[]` or `null` takes those away that it has.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// The name people read, unique in its thread; `""` or `null` takes away what it has.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    /// The session that takes part, by id or name: it is prompted in its terminal. `client` and
    /// `model` may be left out then, and the participant's id too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// What is written, be it `null`: that is not the same as to say nothing of it.
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
    /// A profile, and the session behind it, if there is one.
    pub fn of(profile: &Profile, address: Option<&Address>) -> Self {
        Self { session: session_at(address).map(Into::into), ..profile.into() }
    }
}

/// The session that an address names.
fn session_at(address: Option<&Address>) -> Option<&str> {
    address.filter(|address| address.kind == SESSION).map(|address| address.local_id.as_str())
}

impl From<WireProfile> for Profile {
    fn from(profile: WireProfile) -> Self {
        let WireProfile { client, model, roles, nickname, session: _ } = profile;
        Self { client, model, roles, nickname }
    }
}

/// A link in place of its key.
const OF_MEMBERS: &str = "link:members";

/// One content object that says all of this. Where several were invited at once, `invite` is the
/// first of them and `invites` has them all; so it is with those taken out and with what is bound.
/// Those muted, heard again or asked to speak are one list.
pub fn changes_as_content(changes: &[Change]) -> Value {
    Value::Object(together(changes.iter().map(change_as_entry)))
}

/// Returns a target as it is told. The key of a link is a hash of its members, which says nothing.
fn told(target: &str) -> &str {
    if target.starts_with(LINK_KEY) { OF_MEMBERS } else { target }
}

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
        Change::Bound { target } => ("bind", json!(told(target))),
        Change::Unbound { target } => ("unbind", json!(told(target))),
        Change::BudgetRaised(raise) => (
            "budget",
            json!({"turns": raise.turns, "cost_micros": raise.micros, "until": raise.until.to_string()}),
        ),
    }
}
