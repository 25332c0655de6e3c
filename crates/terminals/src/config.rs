//! What can be set for sessions, and what they are opened with.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::watch;

use moothall_engine::sessions::{ClientRights, SessionHost};
use moothall_kernel::time::Millis;

/// Longest beginning of a prompt that is compared, in bytes.
const CHECKPOINT_BYTES_MAX: usize = 256;

/// What the sessions of a hall are made of.
#[derive(Clone)]
pub struct SessionParts {
    /// Where programs run, are shown and are typed into.
    pub host: Arc<dyn SessionHost>,
    /// What the operator says of all sessions.
    pub config: SessionsConfig,
    /// What the operator grants to clients beyond what every session may.
    pub clients: BTreeMap<String, ClientRights>,
}

impl SessionParts {
    /// Sessions in these terminals that behave as usual.
    pub fn new(host: Arc<dyn SessionHost>) -> Self {
        Self { host, config: SessionsConfig::default(), clients: BTreeMap::new() }
    }

    /// The terminals, and what the operator says of them.
    pub(super) fn apart(self) -> (Arc<dyn SessionHost>, LiveTerms) {
        let terms = Terms { config: self.config, clients: self.clients };
        (self.host, LiveTerms(watch::Sender::new(Arc::new(terms))))
    }
}

/// What the operator says of sessions now.
#[derive(Default)]
pub(super) struct Terms {
    /// What the operator says of all sessions.
    pub(super) config: SessionsConfig,
    /// What is granted to clients beyond what every session may.
    pub(super) clients: BTreeMap<String, ClientRights>,
}

/// The terms that hold now: they can be replaced while sessions live.
#[derive(Default)]
pub(super) struct LiveTerms(pub(super) watch::Sender<Arc<Terms>>);

impl Terms {
    /// What a client is granted.
    pub(super) fn rights(&self, client: &str) -> ClientRights {
        self.clients.get(client).copied().unwrap_or_default()
    }
}

/// `[sessions]`: what the operator says of all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionsConfig {
    /// How prompts begin that are checkpoints.
    pub checkpoints: Checkpoints,
    /// Folders in which, and below which, agents may start those that are `startable_by_agents`.
    pub folders: Vec<PathBuf>,
    /// The user that programs in terminals run as whose own section names none; the server's own
    /// where unset.
    pub run_as: Option<String>,
    /// Where programs report that run as another user than the server's.
    pub spool: Option<PathBuf>,
    /// Seconds after which a question of a program is given up; unset, it is asked as long as its
    /// dialog stands.
    pub question_seconds: Option<NonZeroU32>,
    /// How many live at once; 0 is as many as there may be. Given with the other limits of the
    /// server.
    #[serde(skip)]
    pub most: usize,
}

impl SessionsConfig {
    /// The time that a person has to answer a question.
    pub(super) fn question_limit(&self) -> Option<Millis> {
        self.question_seconds.map(|seconds| Millis::from_secs(u64::from(seconds.get())))
    }
}

/// How the prompts begin that a program's surroundings give it at checkpoints: reminders to go on,
/// which nobody said. The answer to one crosses no link and counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Checkpoints(Vec<String>);

impl Default for Checkpoints {
    fn default() -> Self {
        Self(
            ["[Checkpoint]", "[TeleClaude Checkpoint]", "[System: You successfully executed"]
                .map(str::to_owned)
                .into(),
        )
    }
}

impl Checkpoints {
    /// Whether a prompt is one.
    pub(super) fn include(&self, prompt: &str) -> bool {
        let prompt = prompt.trim_start();
        self.0.iter().any(|mark| prompt.starts_with(mark))
    }
}

impl TryFrom<Vec<String>> for Checkpoints {
    type Error = String;

    fn try_from(marks: Vec<String>) -> Result<Self, String> {
        for mark in &marks {
            if mark.trim().is_empty() {
                return Err("a checkpoint without words would be every prompt; leave the list empty for none".to_owned());
            }
            if mark.starts_with(char::is_whitespace) || mark.contains(char::is_control) {
                return Err(format!(
                    "no prompt begins with {mark:?}: give the first words of its first line, without blanks before them"
                ));
            }
            if mark.len() > CHECKPOINT_BYTES_MAX {
                return Err(format!(
                    "a checkpoint is known by its first words, at most {CHECKPOINT_BYTES_MAX} bytes of them"
                ));
            }
        }
        Ok(Self(marks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_known_by_its_first_words() {
        let own = Checkpoints::try_from(vec!["<reminder>".to_owned()]).unwrap();
        assert!(
            own.include("\n  <reminder> go on")
                && !own.include("go on <reminder>")
                && !own.include("[Checkpoint] go on")
        );
        assert!(Checkpoints::default().include("[Checkpoint] go on"));
        // Gemini's own, after a tool whose answer was empty.
        assert!(
            Checkpoints::default().include("[System: You successfully executed a tool but returned an empty response. Please proceed.]")
        );
        assert!(!Checkpoints::try_from(Vec::new()).unwrap().include("[Checkpoint] go on"));
    }

    #[test]
    fn what_would_match_everything_or_nothing_is_refused() {
        for (mark, why) in [
            ("", "every prompt"),
            ("  ", "every prompt"),
            (" x", "begins with"),
            ("a\nb", "begins with"),
            (&"x".repeat(300), "256"),
        ] {
            let refused = Checkpoints::try_from(vec![mark.to_owned()]).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
