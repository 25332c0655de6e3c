//! `moothall.example.toml`, generated from the configuration types and one table of descriptions.

use moothall_agents::{AgentConfig, ProfileConfig};
use moothall_engine::budgets::BudgetsConfig;
use moothall_terminals::SessionsConfig;

use super::{LimitsConfig, POLICY_KEYS, ServerConfig, TlsConfig, keys_of};

/// A key, a TOML value, and a description. The value is the default if the key has one.
type Entry = (&'static str, &'static str, &'static str);

/// A section: its title, its description, the keys of its type, and their descriptions.
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
    (
        "bind",
        "\"127.0.0.1:5111\"",
        "Where the server listens. Port 0 picks a free one. In local mode only this computer may reach it.",
    ),
    (
        "data",
        "\"${HOME}/.local/share/moothall\"",
        "The folder for everything that is kept. Default: moothall in the XDG data folder.",
    ),
    (
        "mode",
        "\"local\"",
        "Who may do what without a credential. `local`: whoever sits at this computer may converse. `token`: nobody anything.",
    ),
    (
        "other_users",
        "false",
        "In local mode: whether every user of this computer may converse, and speak as anybody. Otherwise only the one who runs the server.",
    ),
    (
        "unasked",
        "\"refuse\"",
        "In local mode, if the system does not say which user asks (a filter, a container's network, no Linux). `refuse`: a credential is needed. \
         `converse`: every user of this computer may converse.",
    ),
    (
        "invite_code",
        "\"let-our-agents-in\"",
        "What agents of other programs need to register; long and random, since a right guess always passes. Unset: in local mode nothing, and in token mode none can.",
    ),
    (
        "allowed_hosts",
        "[\"moothall.test:5111\"]",
        "More values of the Host header to accept, exactly as they are sent. Loopback names always are.",
    ),
    (
        "allowed_origins",
        "[\"https://moothall.test\"]",
        "More origins of web pages to accept, exactly as they are sent.",
    ),
    (
        "retention_days",
        "90",
        "After how many days without an event an archived conversation is deleted for good. Unset: never, which is the default.",
    ),
    (
        "trails",
        "\"/srv/gatherings\"",
        "The folder to which the harvest of each gathering is appended too, to the file of its rhythm. Unset: they stand in their conversations alone.",
    ),
];

const LIMITS: &[Entry] = &[
    (
        "writes_per_second",
        "10",
        "Token mode: requests of a principal that change something, each second. More get 429. 0: no limit.",
    ),
    ("writes_burst", "30", "Token mode: how many of them may come at once."),
    (
        "invites_per_minute",
        "10",
        "Token mode: invitations into one thread, and out of it, each minute. 0: no limit.",
    ),
    (
        "logins_per_minute",
        "5",
        "Token mode: wrong keys and codes from one address, each minute, before their answer is 429. Good ones always pass. 0: no limit.",
    ),
    (
        "streams_per_principal",
        "20",
        "Token mode: streams of events that one principal has open. 0: no limit.",
    ),
    (
        "connections_per_address",
        "200",
        "Connections from one address. This computer's own are not counted, nor a proxy's on it: let the proxy count. 0: no limit.",
    ),
    (
        "task_exchanges",
        "200",
        "Most that a task may ask for as its max_exchanges_without_human, in each of its conversations. A task that asks for nothing has 200, or this if it is less.",
    ),
    (
        "programs",
        "8",
        "Programs of command agents that run at once; further turns wait, first come, first served. Default: 4 for each processor, at least 8.",
    ),
    ("sessions", "64", "Terminal sessions that live at once."),
];

const TLS: &[Entry] = &[
    (
        "cert",
        "\"/etc/moothall/cert.pem\"",
        "The certificate and those between it and its authority, as PEM. Its names are accepted as hosts.",
    ),
    ("key", "\"/etc/moothall/key.pem\"", "Its private key, as PEM."),
];

const DEFAULTS: &[Entry] = &[
    (
        "name",
        "\"mention_only\"",
        "The policy of a conversation that names none: hybrid, mention_only, round_robin.",
    ),
    (
        "max_agent_turns_per_message",
        "3",
        "Visible agent replies for one human message, 0 to 100. A human who names more agents gets more.",
    ),
    (
        "agent_reply_timeout",
        "30.0",
        "Seconds that a turn may take. Unset: the agent's own limit, or that of its runtime.",
    ),
    ("cooldown_seconds", "2.0", "Least time between two replies of the same agent."),
    (
        "max_depth",
        "2",
        "How far replies may be removed from a human message: 1 replies, 2 reactions to them.",
    ),
    (
        "max_voluntary_responders",
        "2",
        "How many agents that were not addressed may answer one message. Unset: no limit.",
    ),
    (
        "voluntary_timeout",
        "15.0",
        "Seconds that a turn of an agent that was not addressed may take. Unset: half of the limit from five agents on.",
    ),
    (
        "patience_seconds",
        "30.0",
        "Seconds that a round waits for a turn. It then goes on, and the answer is shown when it comes.",
    ),
    (
        "max_queued_messages",
        "512",
        "Messages that wait until others are answered, 4 to 4096. One sender holds at most a quarter; what is said beyond asks no agent.",
    ),
    (
        "max_exchanges_without_human",
        "20",
        "Agent contributions in a row before a human has to say something.",
    ),
];

const SESSIONS: &[Entry] = &[
    (
        "checkpoints",
        "[\"[Checkpoint]\", \"[TeleClaude Checkpoint]\", \"[System: You successfully executed\"]",
        "How prompts begin that a program's surroundings give it as reminders. The answer to one reaches nobody, over links neither.",
    ),
    (
        "folders",
        "[\"/srv/work\"]",
        "Folders in which, and below which, agents may start those that are startable_by_agents. An agent that may write there may run there.",
    ),
    (
        "run_as",
        "\"agents\"",
        "The user that programs in terminals run as whose own section names none. Needs a server that is root. Unset: the server's own user.",
    ),
    (
        "spool",
        "\"/var/spool/moothall\"",
        "Where programs report that run as another user, who cannot enter the data folder.",
    ),
    (
        "question_seconds",
        "86400",
        "Seconds after which a question of a program is given up. Unset: it is asked as long as its dialog stands.",
    ),
];

const BUDGETS: &[Entry] = &[
    (
        "currency",
        "\"USD\"",
        "The currency of all prices and costs: three letters, as ISO 4217 writes them.",
    ),
    (
        "hall",
        "{ unattended_turns_per_hour = 2000, cost_per_day = 20.0 }",
        "Everything on this server together. Keys of each budget: turns_per_hour, unattended_turns_per_hour, cost_per_day.",
    ),
    (
        "conversation",
        "{ turns_per_hour = 200, cost_per_day = 5.0 }",
        "Each conversation. Unset: no limit.",
    ),
    (
        "agent",
        "{ turns_per_hour = 500, cost_per_day = 10.0 }",
        "Each agent of this file, in all conversations together. Unset: no limit.",
    ),
    (
        "principal",
        "{ unattended_turns_per_hour = 600 }",
        "What each person, agent or program sets off. Turns that no person asked for have limits where nothing is said: 600, and 2000 for hall.",
    ),
];

const AGENTS: &[Entry] = &[(
    "discover",
    "true",
    "Whether models whose key is in the environment, and programs that are installed, are offered without a section of their own.",
)];

const AGENT: &[Entry] = &[
    (
        "enabled",
        "false",
        "`false`: there is no such agent, whether it is configured here, built in, or found on this computer.",
    ),
    (
        "runtime",
        "\"command\"",
        "How it runs: `command`, `script`, `llm` or `terminal`. Understood by itself where `command`, `replies` or `provider` is given. \
         `remote` keeps the name for a client that connects by itself, also where a program of that name is installed here.",
    ),
    ("summary", "\"Reviews changes.\"", "One sentence for people."),
    (
        "model",
        "\"gpt-5-codex\"",
        "The model behind it: for people to read, and for llm the one that is asked.",
    ),
    (
        "timeout",
        "600.0",
        "Seconds that a turn may take. Default: 1800 in a terminal, 600 for a command, 60 for a model, 30 for a script.",
    ),
    (
        "on_lost",
        "\"rerun\"",
        "What happens to a turn that a restart of the server interrupted: `rerun` or `fail`.",
    ),
    (
        "command",
        "[\"codex\", \"exec\", \"-\"]",
        "command, terminal: the program and its arguments. For command, {prompt} in an argument is replaced by the prompt.",
    ),
    ("cwd", "\".\"", "command, terminal: the folder in which it runs."),
    (
        "env",
        "{ OPENAI_API_KEY = \"${OPENAI_API_KEY}\" }",
        "command, terminal: variables added to the few that it inherits.",
    ),
    (
        "run_as",
        "\"agents\"",
        "command, terminal: the user that it runs as, who cannot read what the server keeps. Needs a server that is root; it is never run otherwise.",
    ),
    (
        "screen",
        "\"claude\"",
        "terminal: as which program's its screen is read: claude, codex or gemini. A program that draws like none of them runs as a command.",
    ),
    (
        "reach",
        "\"own\"",
        "terminal: what its sessions reach. `own`: their homes, and the conversations that they are in or made. `all`: everything.",
    ),
    (
        "startable_by_agents",
        "false",
        "terminal: whether agents may start it by themselves, without arguments, in the folders of [sessions]. Otherwise a person is asked.",
    ),
    (
        "stdin",
        "\"prompt\"",
        "command: what it reads. `json`: one document with everything; `prompt`: the prompt alone.",
    ),
    (
        "transcript_bytes",
        "49152",
        "command: longest transcript of the conversation in its prompt, in bytes, 1024 to 1048576.",
    ),
    ("replies", "[\"First.\", \"[PASS]\"]", "script: what it says, turn after turn."),
    (
        "provider",
        "\"openai\"",
        "llm: whose protocol: openai, anthropic, gemini, ollama, or openai_responses.",
    ),
    (
        "base_url",
        "\"http://127.0.0.1:8080/v1\"",
        "llm: its address, for a gateway or a server of one's own. Unset: the provider's.",
    ),
    ("api_key", "\"${OPENAI_API_KEY}\"", "llm: its key. Not needed with an address of one's own."),
    (
        "system",
        "\"You are brief.\"",
        "llm: what it is told about itself, after what the conversation tells it.",
    ),
    ("max_tokens", "2000", "llm: longest answer in tokens. Unset: the provider decides."),
    ("temperature", "0.7", "llm: how freely it chooses, 0 to 2. Unset: the provider decides."),
    (
        "context_tokens",
        "24000",
        "llm: tokens of system text, history and question together; the oldest messages are left out.",
    ),
    (
        "thinks_first",
        "true",
        "llm: its template opens its thoughts, so that only their end (`</think>`) comes with the answer.",
    ),
    (
        "price_input",
        "3.0",
        "llm: price of a million tokens read, so that the cost of a turn shows.",
    ),
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
        Section {
            title: "server",
            about: "The server itself.",
            keys: keys_of::<ServerConfig>().iter().copied().filter(|key| *key != "tls").collect(),
            entries: SERVER,
        },
        Section {
            title: "server.tls",
            about: "The certificate to show, where the server speaks TLS itself. Renewed files are taken up by themselves.",
            keys: keys_of::<TlsConfig>().to_vec(),
            entries: TLS,
        },
        Section {
            title: "limits",
            about: "What one principal, thread or address may have, and how much runs at once.",
            keys: keys_of::<LimitsConfig>().to_vec(),
            entries: LIMITS,
        },
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
            title: "agents",
            about: "All agents.",
            keys: vec![super::DISCOVER],
            entries: AGENTS,
        },
        Section {
            title: "budgets",
            about: "What may be spent: turns in each hour, and money in each day (UTC) where models have prices.",
            keys: keys_of::<BudgetsConfig>().to_vec(),
            entries: BUDGETS,
        },
        Section {
            title: "agents.codex",
            about: "An agent, under the name by which it is invited. One section for each; it replaces a built-in agent of its name.",
            keys: keys_of::<AgentConfig>()
                .iter()
                .copied()
                .filter(|key| *key != "profile")
                .collect(),
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

/// Generates `moothall.example.toml`.
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
            if section.title.starts_with("agents.") || section.title == "server.tls" {
                continue;
            }
            let text = format!("[{}]\n{key} = {value}\n", section.title);
            super::tests::parse(&text).unwrap_or_else(|fault| panic!("{fault}"));
        }
    }
    let command = [
        "summary",
        "model",
        "timeout",
        "on_lost",
        "command",
        "cwd",
        "env",
        "stdin",
        "transcript_bytes",
    ];
    let chosen = AGENT
        .iter()
        .filter(|(key, _, _)| command.contains(key))
        .map(|(key, value, _)| format!("{key} = {value}\n"));
    let profile = PROFILE.iter().map(|(key, value, _)| format!("{key} = {value}\n"));
    let tls = TLS.iter().map(|(key, value, _)| format!("{key} = {value}\n")).collect::<String>();
    let (chosen, profile) = (chosen.collect::<String>(), profile.collect::<String>());
    let text =
        format!("[server.tls]\n{tls}[agents.codex]\n{chosen}[agents.codex.profile]\n{profile}");
    super::tests::parse(&text).unwrap_or_else(|fault| panic!("{fault}"));
}
