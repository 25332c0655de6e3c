//! Configuration of sessions, and the parts they are opened with.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::watch;

use moothall_engine::sessions::{ClientRights, SessionHost};
use moothall_kernel::time::Millis;

/// Maximum length of a compared prompt beginning, in bytes.
const CHECKPOINT_BYTES_MAX: usize = 256;

/// The parts of a hall's sessions.
#[derive(Clone)]
pub struct SessionParts {
    /// The host in which programs run, are shown and are typed into.
    pub host: Arc<dyn SessionHost>,
    /// The operator's settings for all sessions.
    pub config: SessionsConfig,
    /// Rights of clients beyond those of every session.
    pub clients: BTreeMap<String, ClientRights>,
}

impl SessionParts {
    /// Creates the parts for these terminals, with default settings.
    pub fn new(host: Arc<dyn SessionHost>) -> Self {
        Self { host, config: SessionsConfig::default(), clients: BTreeMap::new() }
    }

    /// Splits the parts into the terminals and the operator's settings.
    pub(super) fn apart(self) -> (Arc<dyn SessionHost>, LiveTerms) {
        let terms = Terms { config: self.config, clients: self.clients };
        (self.host, LiveTerms(watch::Sender::new(Arc::new(terms))))
    }
}

/// The operator's current settings for sessions.
#[derive(Default)]
pub(super) struct Terms {
    /// The operator's settings for all sessions.
    pub(super) config: SessionsConfig,
    /// Rights of clients beyond those of every session.
    pub(super) clients: BTreeMap<String, ClientRights>,
}

/// The current terms, which can be replaced while sessions live.
#[derive(Default)]
pub(super) struct LiveTerms(pub(super) watch::Sender<Arc<Terms>>);

impl Terms {
    /// Returns the rights of a client.
    pub(super) fn rights(&self, client: &str) -> ClientRights {
        self.clients.get(client).copied().unwrap_or_default()
    }
}

/// The section `[sessions]`: the operator's settings for all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionsConfig {
    /// Beginnings of prompts that are checkpoints.
    pub checkpoints: Checkpoints,
    /// Folders in which, and below which, agents may start clients that are `startable_by_agents`.
    pub folders: Vec<PathBuf>,
    /// The user that runs programs whose own section names none; unset, the server's own.
    pub run_as: Option<String>,
    /// The report folder of programs that run as a user other than the server's.
    pub spool: Option<PathBuf>,
    /// Seconds after which a question of a program expires; unset, a question stays as long as its
    /// dialog.
    pub question_seconds: Option<NonZeroU32>,
    /// Maximum number of living sessions; 0 for no limit. Given with the other limits of the
    /// server.
    #[serde(skip)]
    pub most: usize,
}

impl SessionsConfig {
    /// Returns the time that a person has to answer a question.
    pub(super) fn question_limit(&self) -> Option<Millis> {
        self.question_seconds.map(|seconds| Millis::from_secs(u64::from(seconds.get())))
    }
}

/// The beginnings of checkpoint prompts: reminders to continue that a program's surroundings send
/// by themselves. The answer to a checkpoint crosses no link and counts for nothing.
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
    /// True if a prompt is a checkpoint.
    pub(super) fn include(&self, prompt: &str) -> bool {
        let prompt = prompt.trim_start();
        self.0.iter().any(|mark| prompt.starts_with(mark))
    }
}

impl TryFrom<Vec<String>> for Checkpoints {
    type Error = String;

    /// Rejects an empty beginning, one with which no prompt can begin, and one of more than
    /// `CHECKPOINT_BYTES_MAX` bytes. An empty list means no checkpoints.
    fn try_from(marks: Vec<String>) -> Result<Self, String> {
        for mark in &marks {
            if mark.trim().is_empty() {
                return Err("an empty checkpoint would match every prompt; leave the list empty \
                            for no checkpoints"
                    .to_owned());
            }
            if mark.starts_with(char::is_whitespace) || mark.contains(char::is_control) {
                return Err(format!(
                    "no prompt begins with {mark:?}: give the first words of its first line, \
                     without leading spaces or control characters"
                ));
            }
            if mark.len() > CHECKPOINT_BYTES_MAX {
                return Err(format!(
                    "a checkpoint takes only the first words of a prompt, at most \
                     {CHECKPOINT_BYTES_MAX} bytes"
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
        // Gemini sends this prompt after a tool returned an empty answer.
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
