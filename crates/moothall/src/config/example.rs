//! `moothall.example.toml`, generated from the configuration types and one table of descriptions.

use moothall_agents::{AgentConfig, ProfileConfig};
use moothall_channels::config::{BotConfig, DiscordBotConfig};
use moothall_channels::{DiscordConfig, MatrixConfig, TelegramConfig};
use moothall_computers::bridge::config::ComputerConfig;
use moothall_engine::budgets::BudgetsConfig;
use moothall_terminals::SessionsConfig;

use super::channel_entries::{BOT, DISCORD, DISCORD_BOT, MATRIX, TELEGRAM};
use super::{LimitsConfig, POLICY_KEYS, ServerConfig, TlsConfig, keys_of};

/// A key, a TOML value, and a description. The value is the default if the key has one.
pub(super) type Entry = (&'static str, &'static str, &'static str);

/// A section: its title, its description, the keys of its type, and their descriptions.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    pub(super) keys: Vec<&'static str>,
    pub(super) entries: &'static [Entry],
}

const HEADER: &str = "\
# Moothall's configuration. Every key is optional; a line that begins with `# key =` shows a default or an example.
#
# The server looks for it in this order: --config FILE, ./moothall.toml, moothall/moothall.toml in the XDG configuration folder.
# Flags override this file. ${NAME} in a text is replaced by the environment variable NAME, ${file:PATH} by the content of a file,
# and ${cmd:LINE} by the output of a shell command; write $${ for a plain ${. Files agents.d/*.toml beside this one have agents, too.
#
# Generated from the configuration types; a test compares it. To generate it again: MOOTHALL_BLESS=1 cargo test -p moothall
";

const SERVER: &[Entry] = &[
    (
        "bind",
        "\"127.0.0.1:5111\"",
        "Address and port to listen on. Port 0 picks a free one. In local mode it must be an \
         address of this computer only.",
    ),
    (
        "data",
        "\"${HOME}/.local/share/moothall\"",
        "Folder for all stored data. Default: moothall in the XDG data folder.",
    ),
    (
        "mode",
        "\"local\"",
        "Access without a credential. `local`: your own programs on this computer may converse. \
         `token`: none; every request needs a token.",
    ),
    (
        "other_users",
        "false",
        "Local mode: all users of this computer may converse, and speak as any person. Otherwise \
         only the user that runs the server may.",
    ),
    (
        "unasked",
        "\"refuse\"",
        "Local mode, if the system does not report the user of a connection (a filter, a \
         container's network, not Linux). `refuse`: each request needs a credential. `converse`: \
         all users of this computer may converse.",
    ),
    (
        "invite_code",
        "\"let-our-agents-in\"",
        "Code that agents of other programs need to register. Make it long and random, because a \
         correct guess always passes. Unset: in local mode no code is needed; in token mode \
         agents cannot register.",
    ),
    (
        "allowed_hosts",
        "[\"moothall.test:5111\"]",
        "Additional values of the Host header to accept, exactly as they are sent. Loopback names \
         with the server's own port are always accepted.",
    ),
    (
        "allowed_origins",
        "[\"https://moothall.test\"]",
        "Additional origins of web pages to accept, exactly as they are sent.",
    ),
    (
        "retention_days",
        "90",
        "Days without an event after which an archived conversation is deleted permanently. Unset \
         (the default): never.",
    ),
    (
        "trails",
        "\"/srv/gatherings\"",
        "Folder for copies of harvests: each harvest is also appended to a file here, named after \
         its rhythm. Unset: harvests are only in their conversations.",
    ),
];

const LIMITS: &[Entry] = &[
    (
        "writes_per_second",
        "10",
        "Token mode: writing requests of a principal per second. Further ones are answered with \
         429. 0: no limit.",
    ),
    ("writes_burst", "30", "Token mode: maximum number of writing requests in a burst."),
    (
        "invites_per_minute",
        "10",
        "Token mode: invitations and removals of participants in one thread per minute. 0: no \
         limit.",
    ),
    (
        "logins_per_minute",
        "5",
        "Token mode: wrong keys and codes from one address per minute. Further ones are answered \
         with 429; correct ones always pass. 0: no limit.",
    ),
    (
        "streams_per_principal",
        "20",
        "Token mode: open event streams of one principal. 0: no limit.",
    ),
    (
        "connections_per_address",
        "200",
        "Connections from one address. Those from this computer are not counted; a proxy on it \
         must count its own. 0: no limit.",
    ),
    (
        "task_exchanges",
        "200",
        "Maximum max_exchanges_without_human that a task may request for its conversations. \
         Default of a task: 200, or this if it is less.",
    ),
    (
        "programs",
        "8",
        "Programs of command agents that run at the same time; further turns wait in order. \
         Default: 4 per processor, at least 8.",
    ),
    ("sessions", "64", "Terminal sessions that run at the same time."),
];

const TLS: &[Entry] = &[
    (
        "cert",
        "\"/etc/moothall/cert.pem\"",
        "Certificate and intermediate certificates, as PEM. The names in it are accepted as hosts.",
    ),
    ("key", "\"/etc/moothall/key.pem\"", "Private key of the certificate, as PEM."),
];

const DEFAULTS: &[Entry] = &[
    (
        "name",
        "\"mention_only\"",
        "Default policy of a conversation: hybrid, mention_only, round_robin.",
    ),
    (
        "max_agent_turns_per_message",
        "3",
        "Visible agent replies to one human message, 0 to 100. A human who names more agents gets \
         more replies.",
    ),
    (
        "agent_reply_timeout",
        "30.0",
        "Seconds that a turn may take. Unset: the agent's own limit, or that of its runtime.",
    ),
    ("cooldown_seconds", "2.0", "Minimum time between two replies of the same agent, in seconds."),
    (
        "max_depth",
        "2",
        "Maximum depth of replies to a human message: 1 allows replies, 2 also reactions to them.",
    ),
    (
        "max_voluntary_responders",
        "2",
        "Maximum number of agents that answer one message without being addressed. Unset: no \
         limit.",
    ),
    (
        "voluntary_timeout",
        "15.0",
        "Seconds that a turn of an agent may take if it was not addressed. Unset: half of the \
         limit with five agents or more.",
    ),
    (
        "patience_seconds",
        "30.0",
        "Seconds that a round waits for a turn. The round then continues, and a late answer is \
         shown when it arrives.",
    ),
    (
        "max_queued_messages",
        "512",
        "Queued messages that wait for earlier answers, 4 to 4096. One sender may have at most a \
         quarter of them; further messages trigger no agent.",
    ),
    (
        "max_exchanges_without_human",
        "20",
        "Consecutive agent messages after which agents wait for a human message.",
    ),
];

const SESSIONS: &[Entry] = &[
    (
        "checkpoints",
        "[\"[Checkpoint]\", \"[TeleClaude Checkpoint]\", \"[System: You successfully executed\"]",
        "Prefixes of prompts that a program's environment gives it as reminders. Answers to such \
         prompts are not sent to others, not even over links.",
    ),
    (
        "folders",
        "[\"/srv/work\"]",
        "Folders in which agents may start the agents that are startable_by_agents; subfolders \
         count. An agent that may write there can run programs there.",
    ),
    (
        "run_as",
        "\"agents\"",
        "Default user of programs in terminals. Needs a server that runs as root. Unset: the \
         server's own user.",
    ),
    (
        "spool",
        "\"/var/spool/moothall\"",
        "Folder for reports of programs that run as another user, because that user cannot enter \
         the data folder.",
    ),
    (
        "question_seconds",
        "86400",
        "Seconds after which a question of a program expires. Unset: the question stays open as \
         long as its dialog.",
    ),
];

const BUDGETS: &[Entry] = &[
    ("currency", "\"USD\"", "Currency of all prices and costs: three letters (ISO 4217)."),
    (
        "hall",
        "{ unattended_turns_per_hour = 2000, cost_per_day = 20.0 }",
        "Budget of the whole server. Keys of each budget: turns_per_hour, \
         unattended_turns_per_hour, cost_per_day.",
    ),
    (
        "conversation",
        "{ turns_per_hour = 200, cost_per_day = 5.0 }",
        "Budget of each conversation. Unset: no limit.",
    ),
    (
        "agent",
        "{ turns_per_hour = 500, cost_per_day = 10.0 }",
        "Budget of each agent of this file, in all conversations together. Unset: no limit.",
    ),
    (
        "principal",
        "{ unattended_turns_per_hour = 600 }",
        "Budget of the turns that one person, agent or program triggers. Turns that no person \
         asked for are limited by default: 600 here, 2000 for hall.",
    ),
];

const AGENTS: &[Entry] = &[(
    "discover",
    "true",
    "Offers installed programs, and models whose key is in the environment, without a section of \
     their own.",
)];

const AGENT: &[Entry] = &[
    (
        "enabled",
        "false",
        "`false` removes this agent, even if it is configured here, built in, or found on this \
         computer.",
    ),
    (
        "runtime",
        "\"command\"",
        "How it runs: `command`, `script`, `llm` or `terminal`. Optional if `command`, `replies` \
         or `provider` is set. `remote` reserves the name for a client that connects by itself, \
         even if a program of that name is installed here.",
    ),
    ("summary", "\"Reviews changes.\"", "One sentence for people."),
    ("model", "\"gpt-5-codex\"", "Its model, shown to people. For llm: the model to call."),
    (
        "timeout",
        "600.0",
        "Seconds that a turn may take. Default: 1800 for terminal, 600 for command, 60 for llm, \
         30 for script.",
    ),
    (
        "on_lost",
        "\"rerun\"",
        "What happens to a turn that a restart of the server interrupted: `rerun` or `fail`.",
    ),
    (
        "command",
        "[\"codex\", \"exec\", \"--json\", \"-\"]",
        "command, terminal: the program and its arguments. For command, {prompt} in an argument is replaced by the prompt.",
    ),
    ("cwd", "\".\"", "command, terminal: its working folder."),
    (
        "env",
        "{ OPENAI_API_KEY = \"${OPENAI_API_KEY}\" }",
        "command, terminal: environment variables, in addition to the few that it inherits.",
    ),
    (
        "run_as",
        "\"agents\"",
        "command, terminal: the user that it runs as. That user cannot read the server's data. \
         Needs a server that runs as root; otherwise the agent does not start.",
    ),
    (
        "screen",
        "\"claude\"",
        "terminal: the program whose screen layout it has: claude, codex or gemini. A program \
         with another layout must run as a command.",
    ),
    (
        "reach",
        "\"own\"",
        "terminal: access of its sessions. `own`: their homes, and the conversations that they \
         are in or made. `all`: everything.",
    ),
    (
        "startable_by_agents",
        "false",
        "terminal: agents may start it without asking, without arguments, in the folders of \
         [sessions]. Otherwise a person is asked.",
    ),
    (
        "stdin",
        "\"prompt\"",
        "command: its standard input. `json`: one document with everything; `prompt`: only the \
         prompt.",
    ),
    (
        "transcript_bytes",
        "49152",
        "command: maximum length of the transcript in its prompt, in bytes, 1024 to 1048576.",
    ),
    ("replies", "[\"First.\", \"[PASS]\"]", "script: its messages, one per turn."),
    (
        "provider",
        "\"openai\"",
        "llm: the protocol: openai, anthropic, gemini, ollama, or openai_responses.",
    ),
    (
        "base_url",
        "\"http://127.0.0.1:8080/v1\"",
        "llm: its address, for a gateway or your own server. Unset: the provider's.",
    ),
    ("api_key", "\"${OPENAI_API_KEY}\"", "llm: its key. Not needed with your own address."),
    ("system", "\"You are brief.\"", "llm: its own system text, added after the conversation's."),
    (
        "max_tokens",
        "2000",
        "llm: maximum length of an answer, in tokens. Unset: the provider decides.",
    ),
    ("temperature", "0.7", "llm: sampling temperature, 0 to 2. Unset: the provider decides."),
    (
        "context_tokens",
        "24000",
        "llm: maximum tokens of system text, history and question together; the oldest messages \
         are left out.",
    ),
    (
        "thinks_first",
        "true",
        "llm: the model's template opens its thoughts, so that an answer contains only their end \
         (`</think>`).",
    ),
    (
        "price_input",
        "3.0",
        "llm, command, terminal: price of a million input tokens. The cost of each turn is then \
         shown. The cost that a program itself reports counts before it.",
    ),
    (
        "price_cached",
        "0.3",
        "command, terminal: price of a million input tokens from the provider's cache. Unset: \
         `price_input`.",
    ),
    ("price_output", "15.0", "llm, command, terminal: price of a million output tokens."),
];

const COMPUTER: &[Entry] = &[(
    "allow",
    "[\"list\", \"message\", \"link\", \"read\"]",
    "What that computer may do here. `list`: see the names and states of the sessions. `message`: \
     send a message to one. `link`: link one with others. `read`: read what was said between its \
     participants and a session. An empty list allows nothing.",
)];

const PROFILE: &[Entry] = &[
    ("model", "\"gpt-5-codex\"", "Its model, if it is not set above."),
    ("roles", "[\"reviewer\"]", "Names that it shares with other participants."),
    ("nickname", "\"Rev\"", "Display name, unique in a conversation."),
];

/// Returns the sections in the order of the file, each with its keys and their descriptions.
pub(super) fn sections() -> Vec<Section> {
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
            about: "Certificate, if the server itself serves TLS. Renewed files are loaded \
                    automatically.",
            keys: keys_of::<TlsConfig>().to_vec(),
            entries: TLS,
        },
        Section {
            title: "limits",
            about: "Limits of one principal, thread or address, and of what runs at the same time.",
            keys: keys_of::<LimitsConfig>().to_vec(),
            entries: LIMITS,
        },
        Section {
            title: "defaults",
            about: "Default settings of a new conversation.",
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
            about: "Budgets: turns per hour, and money per day (UTC) for models with prices.",
            keys: keys_of::<BudgetsConfig>().to_vec(),
            entries: BUDGETS,
        },
        Section {
            title: "channels.telegram",
            about: "Telegram: one bot for each agent. `moothall channels pair telegram` makes your \
                    account yours.",
            keys: keys_of::<TelegramConfig>()
                .iter()
                .copied()
                .filter(|key| *key != "bots")
                .collect(),
            entries: TELEGRAM,
        },
        Section {
            title: "channels.telegram.bots.analyst",
            about: "The bot of an agent, under the agent's name.",
            keys: keys_of::<BotConfig>().to_vec(),
            entries: BOT,
        },
        Section {
            title: "channels.discord",
            about: "Discord: one bot whose webhooks speak for each agent, and bots of their own for \
                    some. See docs/discord.md.",
            keys: keys_of::<DiscordConfig>().iter().copied().filter(|key| *key != "bots").collect(),
            entries: DISCORD,
        },
        Section {
            title: "channels.discord.bots.analyst",
            about: "An agent in Discord, under the agent's name.",
            keys: keys_of::<DiscordBotConfig>().to_vec(),
            entries: DISCORD_BOT,
        },
        Section {
            title: "channels.matrix",
            about: "Matrix: an application service of a homeserver, with an account for each \
                    agent. See docs/matrix.md.",
            keys: keys_of::<MatrixConfig>().to_vec(),
            entries: MATRIX,
        },
        Section {
            title: "computers.workstation",
            about: "Another computer, under its name here. `moothall computers` lists them.",
            keys: keys_of::<ComputerConfig>().to_vec(),
            entries: COMPUTER,
        },
        Section {
            title: "agents.codex",
            about: "An agent, under the name by which it is invited. Each has its own section, \
                    which replaces a built-in agent of that name.",
            keys: keys_of::<AgentConfig>()
                .iter()
                .copied()
                .filter(|key| *key != "profile")
                .collect(),
            entries: AGENT,
        },
        Section {
            title: "agents.codex.profile",
            about: "Default profile when it is invited.",
            keys: keys_of::<ProfileConfig>().to_vec(),
            entries: PROFILE,
        },
    ]
}

/// Generates `moothall.example.toml`.
pub fn example() -> String {
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
            let needs_variables = value.contains("${");
            if section.title.starts_with("agents.")
                || section.title == "server.tls"
                || needs_variables
            {
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
