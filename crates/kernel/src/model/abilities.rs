//! What a participant can: whether turns are given to it, what it remembers, how it answers and
//! what it hears. The rules ask this, and never how something runs.
//! (`docs/decisions/0027-policies-are-rows-runtimes-are-abilities.md`)

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::time::Millis;

/// How an agent runs: a word for people, in the log, on the wire and in the configuration. What it
/// means is in [`Abilities`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Runtime(Cow<'static, str>);

impl Runtime {
    /// Deterministic and built in; no key, no cost.
    pub const SCRIPT: Runtime = Runtime::new("script");
    /// A program run once for each turn.
    pub const COMMAND: Runtime = Runtime::new("command");
    /// A call to a model provider.
    pub const LLM: Runtime = Runtime::new("llm");
    /// A command-line agent living in a terminal.
    pub const TERMINAL: Runtime = Runtime::new("terminal");
    /// A client that connects by itself and is told when its turn comes.
    pub const REMOTE: Runtime = Runtime::new("remote");

    /// The runtime of that name.
    pub const fn new(word: &'static str) -> Self {
        Self(Cow::Borrowed(word))
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a participant keeps of what it was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Nothing that the server can count on: what it has not answered it is told again.
    #[default]
    None,
    /// What it is told is its own from the moment at which the turn begins, and is not told again.
    Own,
    /// It makes itself a memory of the log for each turn, with summaries of what no longer fits.
    Rebuilt,
}

/// How a participant answers its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// Something of the server's runs the turn, and what comes of it is the reply.
    #[default]
    ByReply,
    /// It comes by itself and posts: what it says next answers its turn.
    ByPosting,
}

/// What a participant hears of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkFormat {
    /// An account of what happened, and what is asked of it.
    #[default]
    Prompt,
    /// The others' words in frames, and nothing else. (Ruling 26.)
    Frames,
}

/// What a participant can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Abilities {
    /// Whether turns are given to it.
    pub takes_turns: bool,
    /// What it keeps of what it was told.
    pub memory: Memory,
    /// How it answers.
    pub answers: Answers,
    /// What it hears of a link.
    pub hears: LinkFormat,
    /// How long a turn may take where neither the conversation nor the agent says.
    pub limit: Millis,
    /// Whether it lives in a session: its turns are typed there, and one is started with the first
    /// where it has none.
    pub lives_in_session: bool,
    /// Whether a turn of it is work of a program on this computer.
    pub runs_programs: bool,
}

/// The shortest limit of any runtime: what is below it makes no turn longer.
pub const SHORTEST_LIMIT: Millis = Millis::from_secs(30);

impl Abilities {
    /// Of something that is asked, answers at once and remembers nothing.
    pub const PLAIN: Abilities = Abilities {
        takes_turns: true,
        memory: Memory::None,
        answers: Answers::ByReply,
        hears: LinkFormat::Prompt,
        limit: SHORTEST_LIMIT,
        lives_in_session: false,
        runs_programs: false,
    };

    /// Of a program that is run once for each turn.
    pub const COMMAND: Abilities =
        Abilities { limit: Millis::from_secs(600), runs_programs: true, ..Self::PLAIN };

    /// Of a model that is called for each turn.
    pub const LLM: Abilities =
        Abilities { memory: Memory::Rebuilt, limit: Millis::from_secs(60), ..Self::PLAIN };

    /// Of a program that lives in a terminal.
    pub const TERMINAL: Abilities = Abilities {
        memory: Memory::Own,
        hears: LinkFormat::Frames,
        limit: Millis::from_secs(1800),
        lives_in_session: true,
        runs_programs: true,
        ..Self::PLAIN
    };

    /// Of a client that comes by itself.
    pub const REMOTE: Abilities =
        Abilities { answers: Answers::ByPosting, limit: Millis::from_secs(600), ..Self::PLAIN };

    /// Of a person, who is asked nothing and speaks at will.
    pub const PERSON: Abilities =
        Abilities { takes_turns: false, answers: Answers::ByPosting, ..Self::PLAIN };

    /// What the word for a runtime meant in logs that say nothing else. What no version wrote runs
    /// nowhere here.
    pub fn meant_by(runtime: &Runtime) -> Abilities {
        let words = [
            (Runtime::SCRIPT, Self::PLAIN),
            (Runtime::COMMAND, Self::COMMAND),
            (Runtime::LLM, Self::LLM),
            (Runtime::TERMINAL, Self::TERMINAL),
        ];
        words
            .into_iter()
            .find(|(word, _)| word == runtime)
            .map_or(Self::REMOTE, |(_, abilities)| abilities)
    }
}

impl Default for Abilities {
    fn default() -> Self {
        Self::PLAIN
    }
}

/// What happens to a running turn whose runtime was lost in a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLost {
    /// Run it again as the next attempt of the same turn.
    Rerun,
    /// End it as failed, `interrupted`; a person may retry.
    Fail,
}

/// What the operator's registry says about a participant's client: a fact, recorded when it is
/// used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredFacts")]
pub struct AgentFacts {
    /// How it runs, as a word; [`Runtime::REMOTE`] where the registry does not know the client.
    pub runtime: Runtime,
    /// Whether the registry has this client.
    pub known: bool,
    /// The agent's own time limit for a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Millis>,
    /// What to do when a restart loses its turn.
    pub on_lost: OnLost,
    /// What it can.
    pub abilities: Abilities,
}

/// The same as logs have it: before abilities were recorded, the word stood for them.
#[derive(Deserialize)]
struct StoredFacts {
    runtime: Runtime,
    known: bool,
    #[serde(default)]
    timeout: Option<Millis>,
    on_lost: OnLost,
    #[serde(default)]
    abilities: Option<Abilities>,
}

impl From<StoredFacts> for AgentFacts {
    fn from(stored: StoredFacts) -> Self {
        let StoredFacts { runtime, known, timeout, on_lost, abilities } = stored;
        let abilities = abilities.unwrap_or_else(|| Abilities::meant_by(&runtime));
        Self { runtime, known, timeout, on_lost, abilities }
    }
}

impl AgentFacts {
    /// Those of a client of the registry that says no more than how it runs.
    pub fn of_runtime(runtime: Runtime) -> Self {
        let abilities = Abilities::meant_by(&runtime);
        Self { runtime, known: true, timeout: None, on_lost: OnLost::Rerun, abilities }
    }

    /// The facts of a client that no registry knows: it runs nowhere and has to come by itself.
    pub const fn external() -> Self {
        Self {
            runtime: Runtime::REMOTE,
            known: false,
            timeout: None,
            on_lost: OnLost::Rerun,
            abilities: Abilities::REMOTE,
        }
    }

    /// How long a turn may take where the conversation does not say.
    pub fn limit(&self) -> Millis {
        self.timeout.unwrap_or(self.abilities.limit)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_word_alone_is_read_as_what_it_meant_and_abilities_as_they_stand() {
        let read = |json: &str| serde_json::from_str::<AgentFacts>(json).unwrap();
        let old = read(r#"{"runtime": "terminal", "known": true, "on_lost": "fail"}"#);
        assert_eq!(old.abilities, Abilities::TERMINAL);
        let new = read(
            r#"{"runtime": "acp", "known": true, "on_lost": "rerun", "abilities": {"memory": "own", "limit": 600000}}"#,
        );
        assert_eq!(
            new.abilities,
            Abilities { memory: Memory::Own, limit: Millis::from_secs(600), ..Abilities::PLAIN }
        );
        for facts in [old, new, AgentFacts::external()] {
            assert_eq!(read(&serde_json::to_string(&facts).unwrap()), facts);
        }
    }

    #[test]
    fn no_runtime_has_a_limit_below_the_shortest() {
        for abilities in [
            Abilities::PLAIN,
            Abilities::COMMAND,
            Abilities::LLM,
            Abilities::TERMINAL,
            Abilities::REMOTE,
        ] {
            assert!(abilities.limit >= SHORTEST_LIMIT);
        }
    }
}
