//! The tools: their names, arguments and descriptions for the client's model.

use std::fmt::Write as _;

use moothall_engine::door::Action;
use rmcp::model::{Tool as Described, ToolAnnotations};
use serde_json::{Map, Value, json};
use strum::VariantArray;
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

use crate::request;
use crate::wire::arguments::{self, Argument};
use crate::wire::{
    GatheringAnswer, LinkAnswer, LinkList, MessageSent, SearchAnswer, SessionActed,
    SessionDataAnswer, SessionList, SessionStarted, StartAsked, ToolInvited, ToolMessages,
    ToolReasons, ToolThreadBegun, ToolThreads,
};

/// A tool, in the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
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
    StartGathering,
    GatheringStatus,
    PassPiece,
}

/// The effect of a call, for MCP's annotations and the write rate. The needed rights are those of
/// [`Tool::action`].
#[derive(PartialEq, Eq)]
enum ToolEffect {
    /// Changes nothing.
    Reads,
    /// Adds something on this server.
    Adds,
    /// Makes another agent work, which can have effects outside this server.
    Acts,
    /// Starts a program, which can do whatever its user can.
    Starts,
    /// Ends something that runs.
    Ends,
}

impl Tool {
    /// Returns the name of the tool that clients show to people.
    const fn title(self) -> &'static str {
        match self {
            Tool::SendMessage => "Send a message",
            Tool::GetSessionData => "Read a session's input and answers",
            Tool::ListSessions => "List sessions or links",
            Tool::StartSession => "Start a session",
            Tool::EndSession => "End a session",
            Tool::Invite => "Invite to a thread, begin one, or link sessions",
            Tool::ListThreads => "List threads",
            Tool::ReadThread => "Read a thread",
            Tool::Search => "Search all threads",
            Tool::StartGathering => "Start a gathering",
            Tool::GatheringStatus => "Read the state of a gathering",
            Tool::PassPiece => "Pass the talking piece",
        }
    }

    /// Returns the description of the tool for the client's model.
    const fn description(self) -> &'static str {
        match self {
            Tool::SendMessage => {
                "Sends a message of your own to a session or to a thread; give session_id or \
                 thread. Not for answers: when a prompt came to you from here, the last words of \
                 your turn are sent back automatically. Returns {link_id, link_state: created | \
                 reused | closed | left | none, delivered_to, thread, event, seq}. If you are a session \
                 and do not set `direct`, a separate prompt tells you when the other session has \
                 finished its turn, and get_session_data shows its answer: continue with other \
                 work, or end your turn. A client that is not a session waits with \
                 read_thread and wait_seconds."
            }
            Tool::GetSessionData => {
                "Returns the input and answers of a session as text, and its current state. The \
                 last 2,000 characters by default, at most 48,000."
            }
            Tool::ListSessions => {
                "Lists the living sessions that you started or share a conversation with, the \
                 state of each, and the programs that can be started; or the links."
            }
            Tool::StartSession => {
                "Starts an agent in its own terminal, and sends it the message if one is given. If \
                 the operator does not let agents start this by themselves, a person is asked \
                 first: the call then returns {state: asked, permission, thread}, and you get the \
                 outcome in your thread."
            }
            Tool::EndSession => {
                "Ends a session that you started: its program, and its links that have fewer than \
                 two members left. Its messages are kept."
            }
            Tool::Invite => {
                "Brings agents together. With `thread` and a session, or an agent of the server's \
                 registry as `client`: invites it to the thread. With `new_thread`: creates a \
                 thread. With `link`: links two or more sessions. Give exactly one of the three."
            }
            Tool::ListThreads => {
                "Lists the threads that you can reach, most recently used first. A thread is a \
                 conversation of people and agents with a title and an id; read_thread reads it, \
                 and send_message posts in it. The home of a session and a link are threads too."
            }
            Tool::ReadThread => {
                "Returns messages of a thread with their positions (`seq`): the newest, or those \
                 after a position. `ended`, `stopped` and `thought` mark messages that may be \
                 incomplete. With `wait_seconds` it first waits for a new message. Use this if no \
                 prompt brings you the answer: the answer to your message in a thread, or, if you \
                 are not a session, the answer to your message to a session. With `why` it \
                 explains a message instead: `turns` has a row for each turn and each agent that \
                 was not asked, and `unasked` gives the reason why the message asked no agent, and \
                 the remedy."
            }
            Tool::Search => {
                "Finds messages in all threads, newest first. All words must be present; \
                 \"quoted\" ones side by side. from: and in: take ids and names, after: and \
                 before: days or times."
            }
            Tool::StartGathering => {
                "Starts a gathering of people, sessions and agents: a talking piece goes round \
                 through inhale, hold and exhale, only its holder speaks, and a silent harvester \
                 writes the harvest. Returns the gathering as gathering_status does. Not possible \
                 within a gathering. You take part only if you name yourself."
            }
            Tool::GatheringStatus => {
                "Returns the phase and round of a gathering, the holder of the piece, the beat, \
                 the next holders, and the harvest once it is written; also your own seed message \
                 and pulse."
            }
            Tool::PassPiece => {
                "Passes the talking piece while you hold it, to a named participant or to the next \
                 in order. It takes effect when your turn ends: say your words, then end your \
                 turn. \"I pass\" or \"I pass to NAME\" as your last sentence does the same."
            }
        }
    }

    /// Returns the usual action of a call, and each argument that makes a call another action.
    pub const fn actions(self) -> (Action, &'static [(&'static str, Action)]) {
        match self {
            Tool::SendMessage => (Action::Post, &[("session_id", Action::SendMessage)]),
            Tool::GetSessionData => (Action::ReadSessionData, &[]),
            Tool::ListSessions => (Action::ListSessions, &[("links", Action::ListLinks)]),
            Tool::StartSession => (Action::StartSession, &[]),
            Tool::EndSession => (Action::EndSession, &[]),
            Tool::Invite => {
                (Action::Post, &[("new_thread", Action::BeginThread), ("link", Action::MakeLink)])
            }
            Tool::ListThreads => (Action::ListThreads, &[]),
            Tool::ReadThread => (Action::ReadThread, &[("why", Action::ListTurns)]),
            Tool::Search => (Action::Search, &[]),
            Tool::StartGathering => (Action::StartGathering, &[]),
            Tool::GatheringStatus => (Action::ReadGathering, &[]),
            Tool::PassPiece => (Action::Pass, &[]),
        }
    }

    /// Returns the action of a call with these arguments: that of the first argument with an action
    /// of its own that is set, or the usual one.
    pub fn action(self, arguments: &Map<String, Value>) -> Action {
        let (usual, special) = self.actions();
        let mut named = special.iter().filter(|(name, _)| is_given(arguments.get(*name)));
        named.next().map_or(usual, |(_, action)| *action)
    }

    /// True if a call changes something.
    pub fn writes(self) -> bool {
        self.does() != ToolEffect::Reads
    }

    /// Returns the call's idempotency key, if the tool takes one and this one is valid.
    pub fn key(self, arguments: &Map<String, Value>) -> Option<&str> {
        let key = arguments.get("key").and_then(Value::as_str);
        key.filter(|key| self == Tool::SendMessage && request::is_key(key))
    }

    /// Returns the effect of a call. The annotations, [`Tool::writes`] and the reference page
    /// follow from the effect.
    const fn does(self) -> ToolEffect {
        match self {
            Tool::GetSessionData
            | Tool::ListSessions
            | Tool::ListThreads
            | Tool::ReadThread
            | Tool::GatheringStatus
            | Tool::Search => ToolEffect::Reads,
            Tool::Invite => ToolEffect::Adds,
            Tool::SendMessage | Tool::PassPiece => ToolEffect::Acts,
            Tool::StartSession | Tool::StartGathering => ToolEffect::Starts,
            Tool::EndSession => ToolEffect::Ends,
        }
    }

    /// Returns the tool's arguments with their descriptions.
    pub(super) const fn takes(self) -> &'static [Argument] {
        match self {
            Tool::SendMessage => arguments::SendMessage::DESCRIBED,
            Tool::GetSessionData => arguments::GetSessionData::DESCRIBED,
            Tool::ListSessions => arguments::ListSessions::DESCRIBED,
            Tool::StartSession => arguments::StartSession::DESCRIBED,
            Tool::EndSession => arguments::EndSession::DESCRIBED,
            Tool::Invite => arguments::Invite::DESCRIBED,
            Tool::ListThreads => arguments::ListThreads::DESCRIBED,
            Tool::ReadThread => arguments::ReadThread::DESCRIBED,
            Tool::Search => arguments::Search::DESCRIBED,
            Tool::StartGathering => arguments::StartGathering::DESCRIBED,
            Tool::GatheringStatus => arguments::GatheringStatus::DESCRIBED,
            Tool::PassPiece => arguments::PassPiece::DESCRIBED,
        }
    }

    /// Returns the JSON Schema of the tool's arguments, made from their descriptions. It allows no
    /// further arguments.
    fn schema(self) -> Map<String, Value> {
        let takes = self.takes();
        let property = |Argument { name, kind, means, items, .. }: &Argument| {
            let mut property = Map::from_iter([
                ("type".to_owned(), json!(kind)),
                ("description".to_owned(), json!(means)),
            ]);
            match *kind {
                "array" => drop(property.insert("items".into(), items())),
                "integer" => drop(property.insert("minimum".into(), json!(0))),
                _ => {}
            }
            ((*name).to_owned(), Value::Object(property))
        };
        let properties: Map<String, Value> = takes.iter().map(property).collect();
        let required: Vec<_> = takes
            .iter()
            .filter(|argument| argument.required)
            .map(|argument| argument.name)
            .collect();
        Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), Value::Object(properties)),
            ("required".to_owned(), json!(required)),
            ("additionalProperties".to_owned(), json!(false)),
        ])
    }

    /// Returns the tool as clients see it.
    pub fn described(self) -> Described {
        let hints = ToolAnnotations::new();
        let hints = match self.does() {
            ToolEffect::Reads => hints.read_only(true).idempotent(true).open_world(false),
            ToolEffect::Adds => {
                hints.read_only(false).destructive(false).idempotent(false).open_world(false)
            }
            ToolEffect::Acts => {
                hints.read_only(false).destructive(false).idempotent(false).open_world(true)
            }
            ToolEffect::Starts => {
                hints.read_only(false).destructive(true).idempotent(false).open_world(true)
            }
            ToolEffect::Ends => {
                hints.read_only(false).destructive(true).idempotent(true).open_world(false)
            }
        };
        Described::new(<&str>::from(self), self.description(), self.schema())
            .with_title(self.title())
            .with_annotations(hints)
            .with_raw_output_schema(self.returns().into())
    }

    /// Returns the JSON Schema of the tool's answers, with their top-level fields only. No field is
    /// required, because an error has other fields.
    pub fn returns(self) -> Map<String, Value> {
        let fields = match self {
            Tool::SendMessage => fields_of(&[MessageSent::schema(), StartAsked::schema()]),
            Tool::GetSessionData => fields_of(&[SessionDataAnswer::schema()]),
            Tool::ListSessions => fields_of(&[SessionList::schema(), LinkList::schema()]),
            Tool::StartSession => fields_of(&[StartAsked::schema(), SessionStarted::schema()]),
            Tool::EndSession => fields_of(&[SessionActed::schema()]),
            Tool::Invite => {
                let (thread, link) = (ToolInvited::schema(), LinkAnswer::schema());
                fields_of(&[thread, ToolThreadBegun::schema(), link])
            }
            Tool::ListThreads => fields_of(&[ToolThreads::schema()]),
            Tool::ReadThread => fields_of(&[ToolMessages::schema(), ToolReasons::schema()]),
            Tool::Search => fields_of(&[SearchAnswer::schema()]),
            Tool::StartGathering | Tool::GatheringStatus | Tool::PassPiece => {
                fields_of(&[GatheringAnswer::schema()])
            }
        };
        Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), Value::Object(fields)),
        ])
    }
}

/// True if an argument has a value other than `false` and the empty ones.
fn is_given(argument: Option<&Value>) -> bool {
    match argument {
        None | Some(Value::Null) => false,
        Some(Value::Bool(set)) => *set,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Number(_) | Value::Object(_)) => true,
    }
}

/// Returns the fields of answers, each with its type and description. If two answers have the same
/// field, that of the later one counts.
fn fields_of(answers: &[RefOr<Schema>]) -> Map<String, Value> {
    let mut fields = Map::from_iter([(
        "error".to_owned(),
        json!({"type": "object", "description": "Only if the call failed: `code` and `message`."}),
    )]);
    for answer in answers {
        let mut answer = serde_json::to_value(answer).unwrap_or_default();
        let Value::Object(properties) = answer["properties"].take() else { continue };
        for (name, mut field) in properties {
            let known = ["type", "description"].map(|key| (key.to_owned(), field[key].take()));
            let known = known.into_iter().filter(|(_, value)| !value.is_null());
            fields.insert(name, Value::Object(known.collect()));
        }
    }
    fields
}

/// Returns a reference page of all tools, after an introduction.
pub fn page(introduction: &str) -> String {
    let mut page = introduction.to_owned();
    for &tool in Tool::VARIANTS {
        let does = match tool.does() {
            ToolEffect::Reads => "It only reads.",
            ToolEffect::Adds => "It creates data and stops nothing.",
            ToolEffect::Acts => {
                "It makes another agent work, which can have effects outside this server."
            }
            ToolEffect::Starts => "It starts a program, which can do whatever its user can.",
            ToolEffect::Ends => "It ends something that runs.",
        };
        let _ = write!(
            page,
            "\n## `{}`\n\n{} {does}\n\n| argument | type | needed | meaning |\n|---|---|---|---|\n",
            <&str>::from(tool),
            tool.description()
        );
        for Argument { name, kind, required, means, .. } in tool.takes() {
            let _ = writeln!(
                page,
                "| `{name}` | {kind} | {} | {} |",
                if *required { "yes" } else { "" },
                means.replace('|', "\\|")
            );
        }
        page.push_str("\n| field of the answer | meaning |\n|---|---|\n");
        let answer = tool.returns();
        for (name, field) in answer["properties"].as_object().into_iter().flatten() {
            let means = field["description"].as_str().unwrap_or_default();
            let _ = writeln!(page, "| `{name}` | {} |", means.replace(['\n', '|'], " "));
        }
    }
    page
}
