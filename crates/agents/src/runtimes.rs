//! The runtimes of agents. Each describes itself in its own file and is registered here.

use std::sync::Arc;

use moothall_engine::agent::Agent;
use moothall_kernel::participant::{Abilities, OnLost, Runtime};
use serde::{Deserialize, Deserializer};

use crate::config::{AgentConfig, ConfigFault};

/// All runtimes. An error about a key names the first runtime that lists it.
pub(crate) static ALL: [&RuntimeEntry; 4] = [
    &crate::command::RUNTIME,
    &crate::terminal::RUNTIME,
    &crate::script::RUNTIME,
    &crate::llm::RUNTIME,
];

/// The agent of a section, or the fault of the section.
pub(crate) type AgentResult = Result<Arc<dyn Agent>, ConfigFault>;

/// The description of one runtime.
pub(crate) struct RuntimeEntry {
    /// The runtime's name.
    pub(crate) runtime: Runtime,
    /// The abilities of its participants.
    pub(crate) abilities: Abilities,
    /// The key of a section that implies this runtime.
    pub(crate) implied_by: Option<&'static str>,
    /// The keys of a section that belong to this runtime.
    pub(crate) keys: &'static [&'static str],
    /// Returns the reason why this runtime does not accept a rule for lost turns; `None` if it
    /// accepts the rule.
    pub(crate) refuses_on_lost: fn(OnLost) -> Option<&'static str>,
    /// Makes the agent of a section. The texts are its client name, and the server's own address,
    /// which is passed to programs.
    pub(crate) build: fn(&AgentConfig, &str, &str) -> AgentResult,
    /// Describes the agent of a section in one sentence.
    pub(crate) describe: fn(&AgentConfig) -> String,
}

/// Returns the entry of a runtime. `None` for a runtime that is not in [`ALL`], such as `remote`.
pub(crate) fn found(runtime: &Runtime) -> Option<&'static RuntimeEntry> {
    ALL.iter().copied().find(|entry| entry.runtime == *runtime)
}

/// Reads the name of a runtime in [`ALL`], or `remote`, whose section only reserves a name. Fails
/// for any other word.
pub(crate) fn word<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Runtime>, D::Error> {
    let word = String::deserialize(deserializer)?;
    let words = || ALL.iter().map(|entry| entry.runtime.clone()).chain([Runtime::REMOTE]);
    let known = words().find(|runtime| runtime.as_str() == word);
    let unknown = || {
        let expected: Vec<_> = words().map(|runtime| format!("`{runtime}`")).collect();
        serde::de::Error::custom(format!(
            "unknown variant `{word}`, expected one of {}",
            expected.join(", ")
        ))
    };
    known.map(Some).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_runtime_is_looked_for_in_a_section() {
        let section = r#"
            command = ["x"]
            cwd = "/"
            env = { A = "b" }
            run_as = "ann"
            stdin = "json"
            transcript_bytes = 4096
            screen = "claude"
            reach = "all"
            startable_by_agents = true
            replies = ["y"]
            provider = "openai"
            base_url = "http://h"
            api_key = "k"
            system = "s"
            max_tokens = 1
            temperature = 1.0
            context_tokens = 1
            thinks_first = true
            price_input = 1.0
            price_cached = 1.0
            price_output = 1.0
        "#;
        let section: AgentConfig = toml::from_str(section).unwrap();
        for entry in ALL {
            let missed: Vec<_> = entry
                .keys
                .iter()
                .chain(&entry.implied_by)
                .filter(|key| !section.has(key))
                .collect();
            assert!(missed.is_empty(), "{}: {missed:?}", entry.runtime);
        }
        assert!(!section.has("summary"));
    }

    #[test]
    fn the_words_of_old_logs_mean_what_their_runtimes_declare_now() {
        for runtime in [Runtime::SCRIPT, Runtime::COMMAND, Runtime::LLM, Runtime::TERMINAL] {
            assert_eq!(
                found(&runtime).map(|entry| entry.abilities),
                Some(Abilities::meant_by(&runtime)),
                "{runtime}"
            );
        }
    }
}
