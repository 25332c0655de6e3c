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

const SESSION_ID: &str =
    "The session: its id, at least six characters of its beginning, or its name.";
const THREAD: &str =
    "The thread: its id, its exact title, or the name of a session whose home it is.";
const FROM: &str = "Who you are, e.g. `planner`. Only for clients without a session's token; a session speaks for itself.";
const DIRECT: &str = "Open a link, or use the one there is: from then on what either of you says at the end of a turn reaches the other by itself. Only \
     sessions can.";

arguments! {
    /// Arguments of `send_message`.
    SendMessage {
        session_id: Option<String> = SESSION_ID,
        thread: Option<String> = THREAD,
        message: Option<String> = "The words. Required, unless a link is only to be closed. Not the answer to a prompt: that goes back by itself.",
        direct: Option<bool> = DIRECT,
        close_link: Option<bool> = "End the link with that session for all its members; the words, if there are any, are still delivered.",
        from: Option<String> = FROM,
        key: Option<String> = "A word of your own for these words, new for each message, e.g. a UUID. If the answer is lost, repeat the call with the same key: it is said once.",
    }
}

arguments! {
    /// Arguments of `get_session_data`.
    GetSessionData {
        session_id: String = SESSION_ID,
        tail_chars: Option<u64> = "So many characters from the end; 0 asks for as many as there can be.",
        since: Option<String> = "Only what came at this time or later, e.g. 2026-01-21T01:30:49.826Z.",
        until: Option<String> = "Only what came at this time or earlier.",
    }
}

arguments! {
    /// Arguments of `list_sessions`.
    ListSessions {
        ended: Option<bool> = "Also those that are over.",
    }
}

arguments! {
    /// Arguments of `start_session`.
    StartSession {
        client: String = "Which program: one of `programs` of list_sessions.",
        cwd: Option<String> = "The folder it works in, as a whole path; yours where it is missing.",
        thread: Option<String> = "If you live in no terminal: a thread of yours in which a person can be asked.",
        args: Option<Vec<String>> = "More arguments for the program.",
        name: Option<String> = "What it shall be called.",
        message: Option<String> = "What to say to it once it takes input.",
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
        thread: String = THREAD,
        session: Option<String> = "The session to invite. This or `client` is needed.",
        client: Option<String> = "The agent of the server's registry to invite.",
        participant: Option<String> = "Its id in the thread; the session's or client's name where it is missing.",
        model: Option<String> = "The model behind it.",
        nickname: Option<String> = "The name that people read.",
        roles: Option<Vec<String>> = "Names it answers to together with others.",
        from: Option<String> = FROM,
    }
}

arguments! {
    /// Arguments of `list_threads`.
    ListThreads {
        archived: Option<bool> = "Those that are archived, instead of those that are not.",
        limit: Option<u64> = "1 to 200; 50 where it is missing.",
    }
}

arguments! {
    /// Arguments of `read_thread`.
    ReadThread {
        thread: String = THREAD,
        after: Option<u64> = "Only messages after this position, the oldest first; the newest where it is missing.",
        limit: Option<u64> = "1 to 200; 50 where it is missing.",
    }
}

arguments! {
    /// Arguments of `get_reasons`.
    GetReasons {
        thread: String = THREAD,
        seq: Option<u64> = "The position of the message; the newest message of a person if it is missing.",
    }
}

arguments! {
    /// Arguments of `wait_for_message`.
    WaitForMessage {
        thread: String = THREAD,
        after: Option<u64> = "Only messages after this position, e.g. the `seq` that send_message answered; those that come from now on where it is missing.",
        seconds: Option<u64> = "How long to wait, up to 50; 25 where it is missing, and 0 only looks.",
    }
}

arguments! {
    /// Arguments of `create_thread`.
    CreateThread {
        name: String = "Its title.",
        policy: Option<String> = "Who answers: `mention_only` (whoever is addressed; where it is missing), `hybrid` (whoever is addressed, then whoever has \
            something to say), `round_robin` (each once) or `open` (everybody hears everybody).",
        from: Option<String> = FROM,
    }
}

arguments! {
    /// Arguments of `link_sessions`.
    LinkSessions {
        sessions: Vec<String> = "The sessions to link, each by its id, the beginning of it, or its name. You are in it too if you are a session.",
        title: Option<String> = "Its title; made from the members' names where it is missing.",
        max_exchanges_without_human: Option<u32> = "Words that its members may exchange before a person has to go on, from 1 to 200. A link that these sessions have already stays as it is.",
        from: Option<String> = FROM,
    }
}

arguments! {
    /// Arguments of `list_links`.
    ListLinks {
        session: Option<String> = "Only those of this session.",
    }
}

arguments! {
    /// Arguments of `leave_link`.
    LeaveLink {
        link: String = "The link: its id, or its exact title.",
    }
}

arguments! {
    /// Arguments of `search`.
    Search {
        query: String = "E.g. `deploy \"on friday\" from:ann in:\"Launch plan\" after:2026-01-31`.",
        limit: Option<u64> = "1 to 100; 20 where it is missing.",
    }
}

const GATHERING: &str =
    "The gathering: its id, or its exact title. The one that you take part in where it is missing.";

arguments! {
    /// Arguments of `start_gathering`.
    StartGathering {
        participants: Vec<NewGatheringMember> = "Who takes part: two speakers or more and one harvester, each with a number of its own. `kind` says who: `session` with `session_id`, `agent` with `client` (a program is started for it), or `human`.",
        opening_question: Option<String> = "The question it begins with.",
        rhythm: Option<String> = "What kind of gathering it is, e.g. `daily`; harvests of one rhythm make a trail.",
        breath: Option<String> = "Rounds of inhale, hold and exhale: `minimal` (1-1-1), `standard` (2-2-2, where it is missing), `extended` (2-3-2), or numbers such as `1,2,1`.",
        beats_per_turn: Option<u64> = "Beats for which a speaker may hold the piece; 3 where it is missing.",
        beat_interval_seconds: Option<u64> = "Seconds from beat to beat; 60 where it is missing.",
        last_word_seconds: Option<u64> = "Seconds for a last word; 20 where it is missing.",
        delivery: Option<String> = "`live` (where it is missing): everybody hears each contribution at once; `on_turn`: together with the piece, which costs fewer turns.",
        keep: Option<bool> = "True if programs that are started for it go on after it. Without this, they end with it.",
        title: Option<String> = "The title of its thread.",
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
        to: Option<String> = "To whom: a name, an id or a number; the next in order where it is missing.",
        from: Option<String> = FROM,
    }
}
