//! The entries of the example configuration for channels.

use super::example::Entry;

pub(super) const TELEGRAM: &[Entry] = &[
    ("enabled", "true", "False: the bots are not connected."),
    (
        "base_url",
        "\"https://api.telegram.org\"",
        "Address of the Bot API, for a Bot API server of your own.",
    ),
    (
        "default_agent",
        "\"analyst\"",
        "Agent that answers for a bot whose name no agent has. Unset: such a bot only relays.",
    ),
    (
        "strangers",
        "\"drop\"",
        "Words of people who are not paired. `drop`: they are dropped and counted. `observe`: they are kept as data that wakes no agent, 20 a minute for a chat.",
    ),
    (
        "rich",
        "\"never\"",
        "Rich messages, which draw headings, lists and tables. `auto`: texts that have them, and \
         long ones, are sent so. Older Telegram apps show a placeholder for them.",
    ),
];

pub(super) const MATRIX: &[Entry] = &[
    ("enabled", "true", "False: the homeserver is not used."),
    ("homeserver", "\"http://127.0.0.1:8008\"", "Address of the homeserver's client-server API."),
    (
        "registration",
        "\"matrix-registration.yaml\"",
        "The file that `moothall matrix registration` wrote. The homeserver names it too, in \
         app_service_config_files.",
    ),
    (
        "bind",
        "\"127.0.0.1:29331\"",
        "Address on which the server listens for the homeserver. Unset: that of the registration's \
         URL.",
    ),
    (
        "trusted",
        "false",
        "True: paired accounts may answer questions of agents. The homeserver can write in the \
         name of each of its users, so its operator could answer them too.",
    ),
    (
        "strangers",
        "\"drop\"",
        "Words of people who are not paired: `drop`, or `observe`, as for Telegram.",
    ),
];

pub(super) const DISCORD: &[Entry] = &[
    ("enabled", "true", "False: the bots are not connected."),
    ("rest_url", "\"https://discord.com\"", "Address of the REST interface, before /api/v10."),
    ("gateway_url", "\"wss://gateway.discord.gg\"", "Address of the gateway."),
    (
        "bot_token",
        "\"${DISCORD_BOT_TOKEN}\"",
        "Token of the bot that speaks for the server, and by webhooks for agents without a bot. \
         `moothall channels add discord moothall` keeps one without this file.",
    ),
    (
        "default_agent",
        "\"analyst\"",
        "Agent that answers in direct messages to that bot. Unset: none.",
    ),
    (
        "strangers",
        "\"drop\"",
        "Words of people who are not paired: `drop`, or `observe`, as for Telegram.",
    ),
];

pub(super) const DISCORD_BOT: &[Entry] = &[
    (
        "bot_token",
        "\"${DISCORD_BOT_TOKEN_ANALYST}\"",
        "Token of the agent's own bot. Unset: the agent speaks by a webhook under its name.",
    ),
    ("picture", "\"https://example.org/analyst.png\"", "Picture that the webhook shows."),
];

pub(super) const BOT: &[Entry] = &[(
    "bot_token",
    "\"${TELEGRAM_BOT_TOKEN_ANALYST}\"",
    "Token of the bot, as @BotFather gave it. `moothall channels add telegram analyst` keeps one \
     without this file.",
)];
