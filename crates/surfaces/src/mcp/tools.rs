//! The tools: their names, their arguments, and what a client's model reads about them.

use std::fmt::Write as _;

use moothall_engine::door::Action;
use rmcp::model::{Tool as Described, ToolAnnotations};
use serde_json::{Map, Value, json};

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    SendMessage,
    GetSessionData,
    ListSessions,
    StartSession,
    EndSession,
    Invite,
    ListThreads,
    ReadThread,
    Search,
}

/// What a call may do.
#[derive(PartialEq, Eq)]
enum Does {
    /// It looks.
    Reads,
    /// It adds something here.
    Adds,
    /// It makes another agent work, and what that does in the world is its own.
    Acts,
    /// It starts a program, which can do whatever its user can.
    Starts,
    /// It ends something that runs.
    Ends,
}

/// An argument: its name, its type in the words of JSON Schema, whether a call needs it, and what it means.
struct Argument(&'static str, &'static str, bool, &'static str);

const SESSION_ID: Argument =
    Argument("session_id", "string", true, "The session: its id, at least six characters of its beginning, or its name.");
const THREAD: Argument = Argument("thread", "string", true, "The thread: its id, or its exact title.");
const FROM: Argument = Argument(
    "from",
    "string",
    false,
    "Who you are, e.g. `planner`. Only for clients without a session's token; a session speaks for itself.",
);
const DIRECT: Argument = Argument(
    "direct",
    "boolean",
    false,
    "Open a link, or use the one there is: from then on what either of you says at the end of a turn reaches the other by itself. Only \
     sessions can.",
);

impl Tool {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Tool; 9] = [
        Tool::SendMessage,
        Tool::GetSessionData,
        Tool::ListSessions,
        Tool::StartSession,
        Tool::EndSession,
        Tool::Invite,
        Tool::ListThreads,
        Tool::ReadThread,
        Tool::Search,
    ];

    /// The tool of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Tool::SendMessage => "send_message",
            Tool::GetSessionData => "get_session_data",
            Tool::ListSessions => "list_sessions",
            Tool::StartSession => "start_session",
            Tool::EndSession => "end_session",
            Tool::Invite => "invite",
            Tool::ListThreads => "list_threads",
            Tool::ReadThread => "read_thread",
            Tool::Search => "search",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Tool::SendMessage => "Send a message",
            Tool::GetSessionData => "Read what a session was asked and said",
            Tool::ListSessions => "List sessions",
            Tool::StartSession => "Start a session",
            Tool::EndSession => "End a session",
            Tool::Invite => "Invite into a thread",
            Tool::ListThreads => "List threads",
            Tool::ReadThread => "Read a thread",
            Tool::Search => "Search all threads",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Tool::SendMessage => {
                "Says something to a session or in a thread; give session_id or thread. Answers {link_id, link_state: created | reused | \
                 closed | none, delivered_to, thread, event, seq}. Without `direct` the answer of the session does not come to you by \
                 itself: get_session_data shows it when it is done."
            }
            Tool::GetSessionData => {
                "What a session was asked and said, as text, and what it is doing now. The last 2,000 characters where nothing else is \
                 asked for, 48,000 at most."
            }
            Tool::ListSessions => {
                "The sessions that live and that you share a conversation with or started, what each is doing, and the programs that can be \
                 started."
            }
            Tool::StartSession => {
                "Starts an agent in a terminal of its own, and says something to it if a message is given. What the operator does not let \
                 agents start by themselves, a person is asked about first: {state: asked, permission, thread} then, and you are told in your \
                 thread what comes of it."
            }
            Tool::EndSession => {
                "Ends a session that you started: its program, and its links with fewer than two members left. What it said is kept."
            }
            Tool::Invite => "Invites a session, or an agent of the server's registry, into a thread.",
            Tool::ListThreads => "Threads, the one used last first.",
            Tool::ReadThread => "Messages of a thread: the newest, or those after a position.",
            Tool::Search => {
                "Finds messages in all threads, the newest first. All words must be there; \"quoted\" ones side by side. from: and in: take \
                 ids and names, after: and before: days or times."
            }
        }
    }

    /// What it does. With `session`, a message is for a session.
    pub const fn action(self, session: bool) -> Action {
        match self {
            Tool::SendMessage if session => Action::SendMessage,
            Tool::SendMessage | Tool::Invite => Action::Post,
            Tool::GetSessionData => Action::ReadSessionData,
            Tool::ListSessions => Action::ListSessions,
            Tool::StartSession => Action::StartSession,
            Tool::EndSession => Action::EndSession,
            Tool::ListThreads => Action::ListThreads,
            Tool::ReadThread => Action::ReadThread,
            Tool::Search => Action::Search,
        }
    }

    /// Whether a call changes something.
    pub fn writes(self) -> bool {
        self.does() != Does::Reads
    }

    const fn does(self) -> Does {
        match self {
            Tool::GetSessionData | Tool::ListSessions | Tool::ListThreads | Tool::ReadThread | Tool::Search => Does::Reads,
            Tool::Invite => Does::Adds,
            Tool::SendMessage => Does::Acts,
            Tool::StartSession => Does::Starts,
            Tool::EndSession => Does::Ends,
        }
    }

    fn takes(self) -> Vec<Argument> {
        let optional = |Argument(name, kind, _, means): Argument| Argument(name, kind, false, means);
        match self {
            Tool::SendMessage => vec![
                optional(SESSION_ID),
                optional(THREAD),
                Argument("message", "string", false, "The words. Required, unless a link is only to be closed."),
                DIRECT,
                Argument("close_link", "boolean", false, "End the link with that session, after the words, if there are any."),
                FROM,
            ],
            Tool::GetSessionData => vec![
                SESSION_ID,
                Argument("tail_chars", "integer", false, "So many characters from the end; 0 asks for as many as there can be."),
                Argument("since", "string", false, "Only what came at this time or later, e.g. 2026-01-21T01:30:49.826Z."),
                Argument("until", "string", false, "Only what came at this time or earlier."),
            ],
            Tool::ListSessions => vec![Argument("ended", "boolean", false, "Also those that are over.")],
            Tool::StartSession => vec![
                Argument("client", "string", true, "Which program: one of `programs` of list_sessions."),
                Argument("cwd", "string", false, "The folder it works in, as a whole path; yours where it is missing."),
                Argument("thread", "string", false, "If you live in no terminal: a thread of yours in which a person can be asked."),
                Argument("args", "array", false, "More arguments for the program."),
                Argument("name", "string", false, "What it shall be called."),
                Argument("message", "string", false, "What to say to it once it takes input."),
                DIRECT,
                FROM,
            ],
            Tool::EndSession => vec![SESSION_ID, FROM],
            Tool::Invite => vec![
                THREAD,
                Argument("session", "string", false, "The session to invite. This or `client` is needed."),
                Argument("client", "string", false, "The agent of the server's registry to invite."),
                Argument("participant", "string", false, "Its id in the thread; the session's or client's name where it is missing."),
                Argument("model", "string", false, "The model behind it."),
                Argument("nickname", "string", false, "The name that people read."),
                Argument("roles", "array", false, "Names it answers to together with others."),
                FROM,
            ],
            Tool::ListThreads => vec![
                Argument("archived", "boolean", false, "Those that are archived, instead of those that are not."),
                Argument("limit", "integer", false, "1 to 200; 50 where it is missing."),
            ],
            Tool::ReadThread => vec![
                THREAD,
                Argument("after", "integer", false, "Only messages after this position, the oldest first; the newest where it is missing."),
                Argument("limit", "integer", false, "1 to 200; 50 where it is missing."),
            ],
            Tool::Search => vec![
                Argument("query", "string", true, "E.g. `deploy \"on friday\" from:ann in:\"Launch plan\" after:2026-01-31`."),
                Argument("limit", "integer", false, "1 to 100; 20 where it is missing."),
            ],
        }
    }

    /// The names of its arguments.
    pub fn arguments(self) -> Vec<&'static str> {
        self.takes().iter().map(|Argument(name, ..)| *name).collect()
    }

    fn schema(self) -> Map<String, Value> {
        let takes = self.takes();
        let property = |Argument(name, kind, _, means): &Argument| {
            let mut property = Map::from_iter([("type".to_owned(), json!(kind)), ("description".to_owned(), json!(means))]);
            match *kind {
                "array" => drop(property.insert("items".into(), json!({"type": "string"}))),
                "integer" => drop(property.insert("minimum".into(), json!(0))),
                _ => {}
            }
            ((*name).to_owned(), Value::Object(property))
        };
        let properties: Map<String, Value> = takes.iter().map(property).collect();
        let required: Vec<_> = takes.iter().filter(|Argument(_, _, required, _)| *required).map(|Argument(name, ..)| *name).collect();
        Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), Value::Object(properties)),
            ("required".to_owned(), json!(required)),
            ("additionalProperties".to_owned(), json!(false)),
        ])
    }

    /// The tool as clients see it.
    pub fn described(self) -> Described {
        let hints = ToolAnnotations::new();
        let hints = match self.does() {
            Does::Reads => hints.read_only(true).idempotent(true).open_world(false),
            Does::Adds => hints.read_only(false).destructive(false).idempotent(false).open_world(false),
            Does::Acts => hints.read_only(false).destructive(false).idempotent(false).open_world(true),
            Does::Starts => hints.read_only(false).destructive(true).idempotent(false).open_world(true),
            Does::Ends => hints.read_only(false).destructive(true).idempotent(true).open_world(false),
        };
        Described::new(self.name(), self.description(), self.schema()).with_title(self.title()).with_annotations(hints)
    }
}

/// A page about all of them, below an introduction.
pub fn page(introduction: &str) -> String {
    let mut page = introduction.to_owned();
    for tool in Tool::ALL {
        let does = match tool.does() {
            Does::Reads => "It only reads.",
            Does::Adds => "It adds something and ends nothing.",
            Does::Acts => "It makes another agent work, whose doings reach beyond this server.",
            Does::Starts => "It starts a program, which can do whatever its user can.",
            Does::Ends => "It ends something that runs.",
        };
        let _ = write!(
            page,
            "\n## `{}`\n\n{} {does}\n\n| argument | type | needed | meaning |\n|---|---|---|---|\n",
            tool.name(),
            tool.description()
        );
        for Argument(name, kind, needed, means) in tool.takes() {
            let _ = writeln!(page, "| `{name}` | {kind} | {} | {} |", if needed { "yes" } else { "" }, means.replace('|', "\\|"));
        }
    }
    page
}
