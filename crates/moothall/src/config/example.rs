//! `moothall.example.toml`, made from the configuration types and one table of descriptions.

use moothall_agents::{AgentConfig, ProfileConfig};
use moothall_engine::sessions::SessionsConfig;

use super::{POLICY_KEYS, ServerConfig, keys_of};

/// A key, a value as TOML writes it, and what it is for. The value is the default where there is one.
type Entry = (&'static str, &'static str, &'static str);

/// A section: its title, what it is for, the keys its type takes, and their descriptions.
struct Section {
    title: &'static str,
    about: &'static str,
    keys: Vec<&'static str>,
    entries: &'static [Entry],
}

const HEADER: &str = "\
# Moothall's configuration. Every key is optional; a line that begins with `# key =` shows a default or an example.
#
# Looked for in this order: --config FILE, ./moothall.toml, moothall/moothall.toml in the XDG configuration folder.
# Flags win over this file. ${NAME} in a text is replaced by the environment variable NAME; write $${ for a plain ${.
#
# This file is made from the configuration types and compared in a test: MOOTHALL_BLESS=1 cargo test -p moothall
";

const SERVER: &[Entry] = &[
    ("bind", "\"127.0.0.1:5111\"", "Where the server listens. Port 0 picks a free one. In local mode only this computer may reach it."),
    ("data", "\"${HOME}/.local/share/moothall\"", "The folder for everything that is kept. Default: moothall in the XDG data folder."),
    (
        "mode",
        "\"local\"",
        "Who may do what without a credential. `local`: whoever sits at this computer may converse. `token`: nobody anything.",
    ),
    (
        "allowed_hosts",
        "[\"moothall.test:5111\"]",
        "More values of the Host header to accept, exactly as they are sent. Loopback names always are.",
    ),
    ("allowed_origins", "[\"https://moothall.test\"]", "More origins of web pages to accept, exactly as they are sent."),
];

const DEFAULTS: &[Entry] = &[
    ("name", "\"mention_only\"", "The policy of a conversation that names none: hybrid, mention_only, round_robin."),
    ("max_agent_turns_per_message", "3", "Visible agent replies for one human message, 0 to 100. A human who names more agents gets more."),
    ("agent_reply_timeout", "30.0", "Seconds that a turn may take. Unset: the agent's own limit, or that of its runtime."),
    ("cooldown_seconds", "2.0", "Least time between two replies of the same agent."),
    ("max_depth", "2", "How far replies may be removed from a human message: 1 replies, 2 reactions to them."),
    ("max_voluntary_responders", "2", "How many agents that were not addressed may answer one message. Unset: no limit."),
    (
        "voluntary_timeout",
        "15.0",
        "Seconds that a turn of an agent that was not addressed may take. Unset: half of the limit from five agents on.",
    ),
    ("max_exchanges_without_human", "20", "Agent contributions in a row before a human has to say something."),
];

const SESSIONS: &[Entry] = &[(
    "checkpoints",
    "[\"[Checkpoint]\", \"[TeleClaude Checkpoint]\"]",
    "How prompts begin that a program's surroundings give it as reminders. The answer to one reaches nobody, over links neither.",
)];

const AGENT: &[Entry] = &[
    (
        "runtime",
        "\"command\"",
        "How it runs: `command`, `script`, `llm` or `terminal`. Understood by itself where `command`, `replies` or `provider` is given.",
    ),
    ("summary", "\"Reviews changes.\"", "One sentence for people."),
    ("model", "\"gpt-5-codex\"", "The model behind it: for people to read, and for llm the one that is asked."),
    ("timeout", "600.0", "Seconds that a turn may take. Default: 1800 in a terminal, 600 for a command, 60 for a model, 30 for a script."),
    ("on_lost", "\"rerun\"", "What happens to a turn that a restart of the server interrupted: `rerun` or `fail`."),
    (
        "command",
        "[\"codex\", \"exec\", \"-\"]",
        "command, terminal: the program and its arguments. For command, {prompt} in an argument is replaced by the prompt.",
    ),
    ("cwd", "\".\"", "command, terminal: the folder in which it runs."),
    ("env", "{ OPENAI_API_KEY = \"${OPENAI_API_KEY}\" }", "command, terminal: variables added to the few that it inherits."),
    (
        "screen",
        "\"claude\"",
        "terminal: as which program's its screen is read: claude, codex, gemini, or other. Of another program it is only known whether it is quiet.",
    ),
    ("stdin", "\"prompt\"", "command: what it reads. `json`: one document with everything; `prompt`: the prompt alone."),
    ("replies", "[\"First.\", \"[PASS]\"]", "script: what it says, turn after turn."),
    ("provider", "\"openai\"", "llm: whose protocol: openai, anthropic, gemini, ollama, or openai_responses."),
    ("base_url", "\"http://127.0.0.1:8080/v1\"", "llm: its address, for a gateway or a server of one's own. Unset: the provider's."),
    ("api_key", "\"${OPENAI_API_KEY}\"", "llm: its key. Not needed with an address of one's own."),
    ("system", "\"You are brief.\"", "llm: what it is told about itself, after what the conversation tells it."),
    ("max_tokens", "2000", "llm: longest answer in tokens. Unset: the provider decides."),
    ("temperature", "0.7", "llm: how freely it chooses, 0 to 2. Unset: the provider decides."),
    ("context_tokens", "24000", "llm: tokens of system text, history and question together; the oldest messages are left out."),
    ("price_input", "3.0", "llm: price of a million tokens read, so that the cost of a turn shows."),
    ("price_output", "15.0", "llm: price of a million tokens written."),
];

const PROFILE: &[Entry] = &[
    ("model", "\"gpt-5-codex\"", "The model behind it, if it is not given above."),
    ("roles", "[\"reviewer\"]", "Names it answers to together with others."),
    ("nickname", "\"Rev\"", "The name people read, unique in a conversation."),
];

fn sections() -> Vec<Section> {
    let policy = POLICY_KEYS.into_iter().filter(|key| *key != "reply_strategy").collect();
    vec![
        Section { title: "server", about: "The server itself.", keys: keys_of::<ServerConfig>().to_vec(), entries: SERVER },
        Section {
            title: "defaults",
            about: "What a conversation starts with where it does not say otherwise.",
            keys: policy,
            entries: DEFAULTS,
        },
        Section {
            title: "sessions",
            about: "Agents in terminals, and the links between them.",
            keys: keys_of::<SessionsConfig>().to_vec(),
            entries: SESSIONS,
        },
        Section {
            title: "agents.codex",
            about: "An agent, under the name by which it is invited. One section for each; it replaces a built-in agent of its name.",
            keys: keys_of::<AgentConfig>().iter().copied().filter(|key| *key != "profile").collect(),
            entries: AGENT,
        },
        Section {
            title: "agents.codex.profile",
            about: "What an invite of it starts from.",
            keys: keys_of::<ProfileConfig>().to_vec(),
            entries: PROFILE,
        },
    ]
}

/// The whole example.
fn example() -> String {
    let mut text = HEADER.to_owned();
    for section in sections() {
        let head = if section.title.contains('.') { "# " } else { "" };
        text.push_str(&format!("\n# {}\n{head}[{}]\n", section.about, section.title));
        for (key, value, about) in section.entries {
            text.push_str(&format!("\n# {about}\n# {key} = {value}\n"));
        }
    }
    text
}

#[test]
fn every_key_is_described_once_and_no_other() {
    for section in sections() {
        let mut described: Vec<&str> = section.entries.iter().map(|(key, _, _)| *key).collect();
        let mut keys = section.keys.clone();
        described.sort_unstable();
        keys.sort_unstable();
        assert_eq!(described, keys, "[{}]", section.title);
    }
}

#[test]
fn the_example_is_what_the_types_say() {
    crate::reference::compare("moothall.example.toml", &example());
}

#[test]
fn the_example_can_be_read_as_it_is() {
    let config = super::tests::parse(&example()).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(config.agents.is_empty());
}

#[test]
fn every_example_value_can_be_read() {
    for section in sections() {
        for (key, value, _) in section.entries {
            if section.title.starts_with("agents.") {
                continue;
            }
            let text = format!("[{}]\n{key} = {value}\n", section.title);
            super::tests::parse(&text).unwrap_or_else(|fault| panic!("{fault}"));
        }
    }
    let command = ["summary", "model", "timeout", "on_lost", "command", "cwd", "env", "stdin"];
    let chosen = AGENT.iter().filter(|(key, _, _)| command.contains(key)).map(|(key, value, _)| format!("{key} = {value}\n"));
    let profile = PROFILE.iter().map(|(key, value, _)| format!("{key} = {value}\n"));
    let text = format!("[agents.codex]\n{}[agents.codex.profile]\n{}", chosen.collect::<String>(), profile.collect::<String>());
    super::tests::parse(&text).unwrap_or_else(|fault| panic!("{fault}"));
}
