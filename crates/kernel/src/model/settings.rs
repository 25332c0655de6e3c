//! Policies and their settings. Durations are seconds outside and milliseconds inside.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::VariantArray;

use crate::model::abilities::SHORTEST_LIMIT;
use crate::model::fold::PATIENCE_UNSAID;
use crate::model::time::Millis;

/// Maximum cooldown. A longer one in an old log counts as this, because turns that a person asks
/// for wait for it too.
pub(crate) const COOLDOWN_MAX: Millis = Millis::from_secs(60);

/// Default maximum number of messages that wait in a conversation.
const QUEUED_MAX: u32 = 512;

/// The floor policies, in the order of help texts. Their rules are in `policy/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PolicyName {
    /// Addressed agents must answer; the others may.
    Hybrid,
    /// Only addressed agents answer.
    MentionOnly,
    /// Each agent is asked once, in turn, starting after the last speaker.
    RoundRobin,
    /// Every contribution goes to all the others.
    Open,
    /// The holder of the piece speaks; the others listen.
    TalkingPiece,
}

impl PolicyName {
    /// The default policy.
    pub const PLAIN: PolicyName = PolicyName::MentionOnly;
    /// The default policy for a group of agents.
    pub const GROUP: PolicyName = PolicyName::Hybrid;
    /// The policy of links, and of the homes of sessions.
    pub const LINK: PolicyName = PolicyName::Open;
    /// The policy of gatherings.
    pub const GATHERING: PolicyName = PolicyName::TalkingPiece;

    /// Returns the policies that people can choose. The policy of gatherings comes only with a
    /// gathering.
    pub fn chosen() -> impl Iterator<Item = PolicyName> {
        Self::VARIANTS.iter().copied().filter(|name| *name != PolicyName::TalkingPiece)
    }
}

/// A policy and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// The policy.
    pub name: PolicyName,
    /// Maximum number of visible agent replies to one message of a person, 0 to 100. A message that
    /// names more agents gets a reply of each. (Ruling 9.)
    pub max_agent_turns_per_message: u32,
    /// Time limit of a turn, if the conversation sets one. (Ruling 12.)
    pub agent_reply_timeout: Option<Millis>,
    /// Minimum time between two replies of the same agent, at most a minute. (Ruling 10.)
    pub cooldown: Millis,
    /// Maximum distance of agents' words from a person's message: 1 allows replies, 2 also
    /// reactions.
    pub max_depth: u32,
    /// Maximum number of polled agents that answer one message; unset means unlimited.
    pub max_voluntary_responders: Option<u32>,
    /// Time limit of a polled turn. If unset, it is half of the usual limit from five agents on.
    pub voluntary_timeout: Option<Millis>,
    /// Maximum number of agent contributions in a row without a person's.
    pub max_exchanges_without_human: u32,
    /// Time for which a round waits for a turn. (Ruling 12.)
    #[serde(default = "patience_unsaid")]
    pub patience: Millis,
    /// Maximum number of messages that wait, 4 to 4096. One sender has at most a quarter of them.
    /// (Ruling 14.)
    #[serde(default = "queue_unsaid")]
    pub max_queued_messages: u32,
}

/// Returns the value for logs of earlier versions.
fn patience_unsaid() -> Millis {
    PATIENCE_UNSAID
}

/// Returns the value for logs of earlier versions. The fold never reads it: an event says if its
/// message waits.
fn queue_unsaid() -> u32 {
    QUEUED_MAX
}

impl Policy {
    /// Returns a policy with the default settings.
    pub const fn named(name: PolicyName) -> Self {
        Self {
            name,
            max_agent_turns_per_message: 3,
            agent_reply_timeout: None,
            cooldown: Millis::from_secs(2),
            max_depth: 2,
            max_voluntary_responders: None,
            voluntary_timeout: None,
            max_exchanges_without_human: 20,
            patience: Millis::from_secs(30),
            max_queued_messages: QUEUED_MAX,
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::named(PolicyName::PLAIN)
    }
}

/// The reason for rejecting a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFault {
    /// The rejected key.
    pub key: String,
    /// The values that the setting accepts, for the error message.
    pub expected: String,
}

/// The keys of a policy object. `reply_strategy` is an older word for `name`.
pub const KEYS: [&str; 11] = [
    "name",
    "reply_strategy",
    "max_agent_turns_per_message",
    "agent_reply_timeout",
    "cooldown_seconds",
    "max_depth",
    "max_voluntary_responders",
    "voluntary_timeout",
    "max_exchanges_without_human",
    "patience_seconds",
    "max_queued_messages",
];

impl Policy {
    /// Sets one key from a JSON value; `null` returns an optional setting to its default.
    ///
    /// # Errors
    /// [`PolicyFault`] with the key and the values that it accepts.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<(), PolicyFault> {
        let fault = |expected: &str| PolicyFault { key: key.into(), expected: expected.into() };
        match key {
            "name" | "reply_strategy" => {
                let names = || {
                    let names = PolicyName::VARIANTS.iter().map(<&str>::from);
                    fault(&format!("one of {}", names.collect::<Vec<_>>().join(", ")))
                };
                self.name = value.as_str().and_then(|name| name.parse().ok()).ok_or_else(names)?;
            }
            "max_agent_turns_per_message" => {
                self.max_agent_turns_per_message = whole(value, 0, 100).map_err(|e| fault(&e))?
            }
            "agent_reply_timeout" => {
                self.agent_reply_timeout = optional(value, timeout).map_err(|e| fault(&e))?
            }
            "cooldown_seconds" => {
                self.cooldown =
                    seconds(value, 0.0, COOLDOWN_MAX.as_secs_f64()).map_err(|e| fault(&e))?
            }
            "max_depth" => self.max_depth = whole(value, 1, 10).map_err(|e| fault(&e))?,
            "max_voluntary_responders" => {
                self.max_voluntary_responders =
                    optional(value, |v| whole(v, 0, 200)).map_err(|e| fault(&e))?;
            }
            "voluntary_timeout" => {
                self.voluntary_timeout = optional(value, timeout).map_err(|e| fault(&e))?
            }
            "max_exchanges_without_human" => {
                self.max_exchanges_without_human = whole(value, 1, 10_000).map_err(|e| fault(&e))?
            }
            "patience_seconds" => self.patience = timeout(value).map_err(|e| fault(&e))?,
            "max_queued_messages" => {
                self.max_queued_messages = whole(value, 4, 4096).map_err(|e| fault(&e))?
            }
            _ => return Err(fault(&format!("one of the keys {}", KEYS.join(", ")))),
        }
        Ok(())
    }

    /// Returns the policy with all keys of an object set. If one is rejected, none is set.
    ///
    /// # Errors
    /// The first [`PolicyFault`].
    pub fn patched(&self, keys: &serde_json::Map<String, Value>) -> Result<Policy, PolicyFault> {
        let mut next = self.clone();
        for (key, value) in keys {
            next.set(key, value)?;
        }
        Ok(next)
    }

    /// Returns the first limit on agents that `next` raises. Without a time limit, each agent's own
    /// limit applies. Then a new limit is a raise only if it is above the shortest default. The
    /// cooldown and the patience are not compared: they move replies in time, and other settings
    /// limit the number of replies.
    pub fn raised_by(&self, next: &Policy) -> Option<&'static str> {
        let (own, default) = (self, SHORTEST_LIMIT);
        let times = |own: Option<Millis>, next: Option<Millis>, default: Millis| match (own, next) {
            (_, None) => own.is_some(),
            (own, Some(next)) => next > own.unwrap_or(default),
        };
        let volunteers = match (own.max_voluntary_responders, next.max_voluntary_responders) {
            (None, _) => false,
            (Some(own), next) => next.is_none_or(|next| next > own),
        };
        let raised = [
            (
                "max_agent_turns_per_message",
                next.max_agent_turns_per_message > own.max_agent_turns_per_message,
            ),
            (
                "agent_reply_timeout",
                times(own.agent_reply_timeout, next.agent_reply_timeout, default),
            ),
            ("max_depth", next.max_depth > own.max_depth),
            ("max_voluntary_responders", volunteers),
            (
                "voluntary_timeout",
                times(own.voluntary_timeout, next.voluntary_timeout, default.half()),
            ),
            (
                "max_exchanges_without_human",
                next.max_exchanges_without_human > own.max_exchanges_without_human,
            ),
            ("max_queued_messages", next.max_queued_messages > own.max_queued_messages),
        ];
        raised.into_iter().find_map(|(key, is_raised)| is_raised.then_some(key))
    }

    /// Reads a whole policy: a name, or an object with at least `name`.
    ///
    /// # Errors
    /// [`PolicyFault`] as for [`Policy::set`].
    pub fn from_json(value: &Value, defaults: &Policy) -> Result<Policy, PolicyFault> {
        match value {
            Value::String(_) => {
                let mut policy = defaults.clone();
                policy.set("name", value)?;
                Ok(policy)
            }
            Value::Object(keys)
                if keys.contains_key("name") || keys.contains_key("reply_strategy") =>
            {
                defaults.patched(keys)
            }
            _ => Err(PolicyFault {
                key: "policy".into(),
                expected: "a policy name, or an object with `name`".into(),
            }),
        }
    }

    /// Returns the policy object for the wire and the configuration.
    pub fn to_json(&self) -> Value {
        serde_json::json!({
            "name": self.name.to_string(),
            "max_agent_turns_per_message": self.max_agent_turns_per_message,
            "agent_reply_timeout": self.agent_reply_timeout.map(Millis::as_secs_f64),
            "cooldown_seconds": self.cooldown.as_secs_f64(),
            "max_depth": self.max_depth,
            "max_voluntary_responders": self.max_voluntary_responders,
            "voluntary_timeout": self.voluntary_timeout.map(Millis::as_secs_f64),
            "max_exchanges_without_human": self.max_exchanges_without_human,
            "patience_seconds": self.patience.as_secs_f64(),
            "max_queued_messages": self.max_queued_messages,
        })
    }
}

fn whole(value: &Value, min: u32, max: u32) -> Result<u32, String> {
    let given = value.as_u64().and_then(|n| u32::try_from(n).ok());
    given
        .filter(|n| (min..=max).contains(n))
        .ok_or_else(|| format!("a whole number from {min} to {max}"))
}

fn seconds(value: &Value, min: f64, max: f64) -> Result<Millis, String> {
    let given = value.as_f64().filter(|s| (min..=max).contains(s));
    given
        .and_then(Millis::from_secs_f64)
        .ok_or_else(|| format!("seconds, a number from {min} to {max}"))
}

fn timeout(value: &Value) -> Result<Millis, String> {
    seconds(value, 0.1, 86_400.0)
}

fn optional<T>(
    value: &Value,
    parse: impl Fn(&Value) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if value.is_null() {
        Ok(None)
    } else {
        parse(value).map(Some).map_err(|expected| format!("{expected}, or null"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_policy_object_reads_back_as_it_was_written() {
        let mut policy = Policy::named(PolicyName::Hybrid);
        policy.set("agent_reply_timeout", &json!(1.5)).unwrap();
        policy.set("cooldown_seconds", &json!(0)).unwrap();
        let read = Policy::from_json(&policy.to_json(), &Policy::default());
        assert_eq!(read, Ok(policy));
    }

    #[test]
    fn what_raises_a_limit() {
        let base = Policy {
            max_voluntary_responders: Some(2),
            agent_reply_timeout: Some(Millis::from_secs(60)),
            ..Policy::default()
        };
        let cases = [
            (json!({"max_depth": 3}), Some("max_depth")),
            (
                json!({"max_depth": 1, "max_agent_turns_per_message": 2, "max_exchanges_without_human": 1}),
                None,
            ),
            (json!({"max_agent_turns_per_message": 4}), Some("max_agent_turns_per_message")),
            (json!({"max_exchanges_without_human": 21}), Some("max_exchanges_without_human")),
            (json!({"max_queued_messages": 513}), Some("max_queued_messages")),
            (json!({"max_voluntary_responders": 1}), None),
            (json!({"max_voluntary_responders": null}), Some("max_voluntary_responders")),
            (json!({"agent_reply_timeout": 59}), None),
            (json!({"agent_reply_timeout": 61}), Some("agent_reply_timeout")),
            (json!({"agent_reply_timeout": null}), Some("agent_reply_timeout")),
            (json!({"voluntary_timeout": 15}), None),
            (json!({"voluntary_timeout": 16}), Some("voluntary_timeout")),
            (json!({"cooldown_seconds": 0, "name": "open"}), None),
        ];
        for (patch, raised) in cases {
            let next = base.patched(patch.as_object().unwrap()).unwrap();
            assert_eq!(base.raised_by(&next), raised, "{patch}");
        }
    }

    #[test]
    fn a_refused_key_changes_nothing_and_says_what_it_takes() {
        let policy = Policy::default();
        let patch = json!({"max_depth": 3, "cooldown_seconds": -1});
        let fault = policy.patched(patch.as_object().unwrap()).unwrap_err();
        assert_eq!(fault.key, "cooldown_seconds");
        assert!(fault.expected.contains("from 0"));
        assert!(Policy::from_json(&json!({"max_depth": 1}), &policy).is_err());
        assert!(Policy::from_json(&json!("hybird"), &policy).is_err());
    }
}
