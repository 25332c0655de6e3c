//! The content of `control` events, in the shape in which clients send it.

use moothall_kernel::event::Change;
use moothall_kernel::participant::Profile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// What an invite says about a participant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WireProfile {
    /// The registry entry that answers for it, or any other word for an external program. Required at the first invite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The model behind it. Required at the first invite of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names it answers to together with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// The name people read, unique in its thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
}

impl From<&Profile> for WireProfile {
    fn from(profile: &Profile) -> Self {
        let Profile { client, model, roles, nickname } = profile.clone();
        Self { client, model, roles, nickname }
    }
}

impl From<WireProfile> for Profile {
    fn from(profile: WireProfile) -> Self {
        let WireProfile { client, model, roles, nickname } = profile;
        Self { client, model, roles, nickname }
    }
}

/// One content object that says all of this.
pub fn changes_as_content(changes: &[Change]) -> Value {
    let mut content = Map::new();
    for change in changes {
        let (key, value) = change_as_entry(change);
        content.insert(key.into(), value);
    }
    Value::Object(content)
}

fn change_as_entry(change: &Change) -> (&'static str, Value) {
    match change {
        Change::Invited { participant, given, .. } => {
            ("invite", json!({"participant_id": participant, "profile": WireProfile::from(given)}))
        }
        Change::Uninvited { participant } => ("uninvite", json!({"participant_id": participant})),
        Change::Muted { targets } => ("mute", json!({"targets": targets, "mode": "hard"})),
        Change::Unmuted { targets } => ("unmute", json!({"targets": targets})),
        Change::Paused { on } => ("pause", json!({"on": on})),
        Change::Discussion { on, allow_agent_mentions } => ("discussion", json!({"on": on, "allow_agent_mentions": allow_agent_mentions})),
        Change::InvitedAuto { on } => ("invited_auto", json!({"on": on})),
        Change::Prodded { targets } => ("prod", json!(targets)),
        Change::PolicySet { patch: Some(patch), .. } => ("config", Value::Object(patch.clone())),
        Change::PolicySet { policy, patch: None } => ("policy", policy.to_json()),
        Change::Released => ("resume", json!({})),
        Change::Bound { target } => ("bind", json!(target)),
        Change::Unbound { target } => ("unbind", json!(target)),
    }
}
