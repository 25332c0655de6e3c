//! Abilities of participants: taking turns, memory, the way of answering, and hearing. Rules ask
//! for abilities, never for the runtime.
//! (`docs/decisions/0027-policies-are-rows-runtimes-are-abilities.md`)

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::time::Millis;

/// The name of an agent's runtime, for people, the log, the wire and the configuration.
/// [`Abilities`] say what the runtime can do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Runtime(Cow<'static, str>);

impl Runtime {
    /// A deterministic built-in runtime without key and cost.
    pub const SCRIPT: Runtime = Runtime::new("script");
    /// A program run once for each turn.
    pub const COMMAND: Runtime = Runtime::new("command");
    /// A call to a model provider.
    pub const LLM: Runtime = Runtime::new("llm");
    /// A command-line agent that lives in a terminal.
    pub const TERMINAL: Runtime = Runtime::new("terminal");
    /// A client that connects by itself and is notified of its turns.
    pub const REMOTE: Runtime = Runtime::new("remote");

    /// Returns a runtime by its name.
    pub const fn new(word: &'static str) -> Self {
        Self(Cow::Borrowed(word))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A participant's memory of its prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// The server cannot count on a memory: prompts repeat all events since the last answer.
    #[default]
    None,
    /// The participant remembers a prompt from the start of its turn, so later ones do not repeat
    /// it.
    Own,
    /// The runtime rebuilds a memory from the log for each turn, with summaries of older messages.
    Rebuilt,
}

/// The way in which a participant answers its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// A runtime of the server runs the turn and reports the reply.
    #[default]
    ByReply,
    /// A client posts: its next message answers its turn.
    ByPosting,
}

/// The form in which a participant hears of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkFormat {
    /// An account of what happened, with a request.
    #[default]
    Prompt,
    /// The others' words in frames, without anything else. (Ruling 26.)
    Frames,
}

/// The abilities of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Abilities {
    /// True if the participant gets turns.
    pub takes_turns: bool,
    /// The memory of its prompts.
    pub memory: Memory,
    /// The way in which it answers.
    pub answers: Answers,
    /// The form in which it hears of a link.
    pub hears: LinkFormat,
    /// Time limit of a turn, unless the conversation or the agent sets one.
    pub limit: Millis,
    /// True if the participant lives in a session, where its turns are typed. The first turn starts
    /// a session if there is none.
    pub lives_in_session: bool,
    /// True if a turn runs a program on this computer.
    pub runs_programs: bool,
}

/// The shortest limit of any runtime. Setting a limit up to this one makes no turn longer.
pub const SHORTEST_LIMIT: Millis = Millis::from_secs(30);

impl Abilities {
    /// Abilities of a runtime that answers immediately and remembers nothing.
    pub const PLAIN: Abilities = Abilities {
        takes_turns: true,
        memory: Memory::None,
        answers: Answers::ByReply,
        hears: LinkFormat::Prompt,
        limit: SHORTEST_LIMIT,
        lives_in_session: false,
        runs_programs: false,
    };

    /// Abilities of a program that is run once for each turn.
    pub const COMMAND: Abilities =
        Abilities { limit: Millis::from_secs(600), runs_programs: true, ..Self::PLAIN };

    /// Abilities of a model that is called for each turn.
    pub const LLM: Abilities =
        Abilities { memory: Memory::Rebuilt, limit: Millis::from_secs(60), ..Self::PLAIN };

    /// Abilities of a program that lives in a terminal.
    pub const TERMINAL: Abilities = Abilities {
        memory: Memory::Own,
        hears: LinkFormat::Frames,
        limit: Millis::from_secs(1800),
        lives_in_session: true,
        runs_programs: true,
        ..Self::PLAIN
    };

    /// Abilities of a client that connects by itself.
    pub const REMOTE: Abilities =
        Abilities { answers: Answers::ByPosting, limit: Millis::from_secs(600), ..Self::PLAIN };

    /// Abilities of a person, who gets no turns and speaks at will.
    pub const PERSON: Abilities =
        Abilities { takes_turns: false, answers: Answers::ByPosting, ..Self::PLAIN };

    /// Returns the abilities of a runtime for logs that give only its name. Other names count as
    /// remote.
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

/// The handling of a running turn whose runtime was lost in a restart of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLost {
    /// The turn is run again as its next attempt.
    Rerun,
    /// The turn fails as `interrupted`; a person may retry.
    Fail,
}

/// The registry's facts about a participant's client. Events record them when they are used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredFacts")]
pub struct AgentFacts {
    /// The runtime; [`Runtime::REMOTE`] if the registry does not have the client.
    pub runtime: Runtime,
    /// True if the registry has this client.
    pub known: bool,
    /// The agent's own time limit for a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Millis>,
    /// Time for which a turn waits for the participant's computer, if that is another one. Unset
    /// for the usual time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Millis>,
    /// The handling of a running turn that a restart lost.
    pub on_lost: OnLost,
    /// The abilities.
    pub abilities: Abilities,
}

/// Facts as stored in logs. Earlier versions stored only the runtime and no abilities.
#[derive(Deserialize)]
struct StoredFacts {
    runtime: Runtime,
    known: bool,
    #[serde(default)]
    timeout: Option<Millis>,
    #[serde(default)]
    waits: Option<Millis>,
    on_lost: OnLost,
    #[serde(default)]
    abilities: Option<Abilities>,
}

impl From<StoredFacts> for AgentFacts {
    fn from(stored: StoredFacts) -> Self {
        let StoredFacts { runtime, known, timeout, waits, on_lost, abilities } = stored;
        let abilities = abilities.unwrap_or_else(|| Abilities::meant_by(&runtime));
        Self { runtime, known, timeout, waits, on_lost, abilities }
    }
}

impl AgentFacts {
    /// Returns the facts of a registry client with the usual abilities of a runtime.
    pub fn of_runtime(runtime: Runtime) -> Self {
        let abilities = Abilities::meant_by(&runtime);
        Self { runtime, known: true, timeout: None, waits: None, on_lost: OnLost::Rerun, abilities }
    }

    /// Returns the facts of a client that is not in the registry. It has no runtime here and must
    /// connect by itself.
    pub const fn external() -> Self {
        Self {
            runtime: Runtime::REMOTE,
            known: false,
            timeout: None,
            waits: None,
            on_lost: OnLost::Rerun,
            abilities: Abilities::REMOTE,
        }
    }

    /// Returns the time limit of a turn in a conversation that sets none.
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
        let away = AgentFacts { waits: Some(Millis::from_secs(36 * 3600)), ..old.clone() };
        for facts in [old, new, away, AgentFacts::external()] {
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
