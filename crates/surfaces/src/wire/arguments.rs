//! Arguments of the Model Context Protocol tools: one type for each tool, and for each field the
//! description that a client's model reads.

use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::PartialSchema;

use super::NewGatheringMember;

/// The description of a tool's argument.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Name of the argument in a call.
    pub name: &'static str,
    /// Type of the argument, as a JSON Schema type.
    pub kind: &'static str,
    /// True if a call must have the argument.
    pub required: bool,
    /// Description for a client's model.
    pub means: &'static str,
    /// Returns the schema of the items, for a list.
    pub items: fn() -> Value,
}

/// A type of field, with its JSON Schema description.
trait Kind {
    const KIND: &'static str;
    const REQUIRED: bool = false;
    const ITEMS: fn() -> Value = text_schema;
}

impl Kind for String {
    const KIND: &'static str = "string";
    const REQUIRED: bool = true;
}

impl Kind for Option<String> {
    const KIND: &'static str = "string";
}

impl Kind for Option<bool> {
    const KIND: &'static str = "boolean";
}

impl Kind for Option<u64> {
    const KIND: &'static str = "integer";
}

impl Kind for Option<u32> {
    const KIND: &'static str = "integer";
}

impl Kind for Vec<String> {
    const KIND: &'static str = "array";
    const REQUIRED: bool = true;
}

impl Kind for Option<Vec<String>> {
    const KIND: &'static str = "array";
}

impl Kind for Vec<NewGatheringMember> {
    const KIND: &'static str = "array";
    const REQUIRED: bool = true;
    const ITEMS: fn() -> Value = member_schema;
}

/// Returns the schema of a gathering's member.
fn member_schema() -> Value {
    serde_json::to_value(NewGatheringMember::schema()).unwrap_or_default()
}

/// Returns the schema of a text.
fn text_schema() -> Value {
    json!({"type": "string"})
}

/// Defines a tool's arguments as a type, together with their descriptions, so that the two cannot
/// differ.
macro_rules! arguments {
    ($(#[doc = $doc:literal])* $name:ident { $($field:ident: $kind:ty = $means:expr,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
        pub struct $name {
            $(#[doc = concat!("What [`Self::DESCRIBED`] says of `", stringify!($field), "`.")]
            pub $field: $kind,)*
        }

        impl $name {
            /// Descriptions of the fields, in their order.
            pub const DESCRIBED: &[Argument] = &[$(Argument {
                name: stringify!($field),
                kind: <$kind as Kind>::KIND,
                required: <$kind as Kind>::REQUIRED,
                means: $means,
                items: <$kind as Kind>::ITEMS,
            },)*];
        }
    };
}

const SESSION_ID: &str = "The session: its id, at least the first six characters of its id, or its \
    name.";
const SESSION_ANYWHERE: &str = "The session: its id, at least the first six characters of its id, \
    or its name. A session of another computer is `NAME@COMPUTER`.";
const THREAD: &str = "The thread: its id, its exact title, or the name of the session whose home \
    it is.";
const FROM: &str = "Your name, e.g. `planner`. Only without a session's token; with one, the token \
    names you.";
const DIRECT: &str = "Open a link, or use the existing one: from then on, the last words of either \
    session's turn reach the other automatically. Only for sessions.";

arguments! {
    /// Arguments of `send_message`.
    SendMessage {
        session_id: Option<String> = SESSION_ANYWHERE,
        thread: Option<String> = THREAD,
        message: Option<String> = "The message. Required, unless you only close or leave a link. \
            Not for the answer to a prompt, which is sent back automatically.",
        direct: Option<bool> = DIRECT,
        close_link: Option<bool> = "End the link with that session for all its members. A message \
            in the same call is still delivered.",
        leave_link: Option<bool> = "Leave the link that `thread` names, after the message if there \
            is one: you get no more of its messages. The other members continue while they are two \
            or more.",
        from: Option<String> = FROM,
        key: Option<String> = "A key of your own for this message, new for each message, e.g. a \
            UUID. If the answer is lost, repeat the call with the same key: the message is sent \
            only once.",
    }
}

arguments! {
    /// Arguments of `get_session_data`.
    GetSessionData {
        session_id: String = SESSION_ANYWHERE,
        tail_chars: Option<u64> = "Number of characters from the end; 0 for the maximum.",
        since: Option<String> = "Only text from this time on, e.g. 2026-01-21T01:30:49.826Z.",
        until: Option<String> = "Only text up to this time.",
    }
}

arguments! {
    /// Arguments of `list_sessions`.
    ListSessions {
        ended: Option<bool> = "True to include sessions that have ended.",
        computer: Option<String> = "Name of another computer to list its sessions instead, or \
            \"all\".",
        links: Option<bool> = "True to list the links that you can reach instead, with their \
            members.",
    }
}

arguments! {
    /// Arguments of `start_session`.
    StartSession {
        client: String = "The program: one of `programs` in list_sessions.",
        cwd: Option<String> = "Absolute path of the working folder; your own working folder if \
            absent.",
        thread: Option<String> = "If you have no terminal: a thread of yours in which a person can \
            be asked.",
        args: Option<Vec<String>> = "Additional arguments for the program.",
        name: Option<String> = "Name of the session.",
        message: Option<String> = "First message to the session, sent once it accepts input.",
        direct: Option<bool> = DIRECT,
        from: Option<String> = FROM,
    }
}

arguments! {
    /// Arguments of `end_session`.
    EndSession {
        session_id: String = SESSION_ID,
        from: Option<String> = FROM,
    }
}

arguments! {
    /// Arguments of `invite`.
    Invite {
        thread: Option<String> = THREAD,
        session: Option<String> = "With `thread`: the session to invite. Either this or `client`.",
        client: Option<String> = "With `thread`: the agent of the server's registry to invite.",
        participant: Option<String> = "Id of the participant in the thread; the name of the \
            session or client if absent.",
        model: Option<String> = "Name of the agent's model.",
        nickname: Option<String> = "Name for people.",
        roles: Option<Vec<String>> = "Names that the participant shares with others.",
        new_thread: Option<String> = "Instead of `thread`: the title of a new thread. Invite its \
            participants with further calls, also yourself if you want to be asked there.",
        policy: Option<String> = "With `new_thread`: which agents answer: `mention_only` (the \
            addressed ones; if absent), `hybrid` (the addressed ones, then others that have \
            something to say), `round_robin` (each once) or `open` (all agents hear each other).",
        link: Option<Vec<String>> = "Instead of `thread`: the sessions to link, each by its id, \
            the beginning of its id, or its name. If you are a session, you are included. From \
            then on, the last words of each member's turn reach all other members automatically. \
            An existing link of exactly these members is reused.",
        title: Option<String> = "With `link`: its title; made from the members' names if absent.",
        max_exchanges_without_human: Option<u32> = "With `link`: maximum number of messages that \
            members may exchange before a person has to continue, 1 to 200. An existing link \
            keeps its own.",
        from: Option<String> = FROM,
    }
}

arguments! {
    /// Arguments of `list_threads`.
    ListThreads {
        archived: Option<bool> = "True to list the archived threads instead of the open ones.",
        limit: Option<u64> = "Maximum number of threads, 1 to 200; 50 if absent.",
    }
}

arguments! {
    /// Arguments of `read_thread`.
    ReadThread {
        thread: String = THREAD,
        after: Option<u64> = "Only messages after this position, oldest first; the newest messages \
            if absent.",
        limit: Option<u64> = "Maximum number of messages, 1 to 200; 50 if absent.",
        wait_seconds: Option<u64> = "Wait for a message after `after`, or for a new one if that is \
            absent, 1 to 50 seconds. If none comes in time, there are no messages, and you may \
            call again.",
        why: Option<u64> = "Position of a message; 0 for the newest message of a person. Returns \
            which agents were asked about it, and why others were not, instead of messages.",
    }
}

arguments! {
    /// Arguments of `search`.
    Search {
        query: String = "The query, e.g. \
            `deploy \"on friday\" from:ann in:\"Launch plan\" after:2026-01-31`.",
        limit: Option<u64> = "Maximum number of messages, 1 to 100; 20 if absent.",
    }
}

const GATHERING: &str = "The gathering: its id, or its exact title. If absent, the one in which \
    you take part.";

arguments! {
    /// Arguments of `start_gathering`.
    StartGathering {
        participants: Vec<NewGatheringMember> = "The participants: two or more speakers and one \
            harvester, each with its own number. `kind` is `session` with `session_id`, `agent` \
            with `client` (a program is started for it), or `human`.",
        opening_question: Option<String> = "The opening question.",
        rhythm: Option<String> = "Rhythm of the gathering, e.g. `daily`; harvests of one rhythm \
            make a trail.",
        breath: Option<String> = "Rounds of inhale, hold and exhale: `minimal` (1-1-1), `standard` \
            (2-2-2; if absent), `extended` (2-3-2), or three numbers such as `1,2,1`.",
        beats_per_turn: Option<u64> = "Beats for which a speaker may hold the piece; 3 if absent.",
        beat_interval_seconds: Option<u64> = "Seconds from beat to beat; 60 if absent.",
        last_word_seconds: Option<u64> = "Seconds for a last word; 20 if absent.",
        delivery: Option<String> = "`live`: each contribution reaches all participants at once. \
            `on_turn`: contributions come together with the piece, which costs fewer turns. `live` \
            if absent.",
        keep: Option<bool> = "True if programs started for the gathering continue after it. \
            Otherwise they end with it.",
        title: Option<String> = "Title of the gathering's thread.",
        from: Option<String> = FROM,
    }
}

arguments! {
    /// Arguments of `gathering_status`.
    GatheringStatus {
        gathering: Option<String> = GATHERING,
    }
}

arguments! {
    /// Arguments of `pass_piece`.
    PassPiece {
        gathering: Option<String> = GATHERING,
        to: Option<String> = "The next holder: a name, an id or a number; the next in order if \
            absent.",
        from: Option<String> = FROM,
    }
}
