//! The tools: their names, arguments and descriptions for the client's model.

use std::fmt::Write as _;

use moothall_engine::door::Action;
use rmcp::model::{Tool as Described, ToolAnnotations};
use serde_json::{Map, Value, json};
use strum::VariantArray;

use crate::request;
use crate::wire::arguments::{self, Argument};

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
    GetReasons,
    WaitForMessage,
    CreateThread,
    LinkSessions,
    ListLinks,
    LeaveLink,
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
            Tool::ListSessions => "List sessions",
            Tool::StartSession => "Start a session",
            Tool::EndSession => "End a session",
            Tool::Invite => "Invite to a thread",
            Tool::ListThreads => "List threads",
            Tool::ReadThread => "Read a thread",
            Tool::GetReasons => "Read why agents answer or stay silent",
            Tool::WaitForMessage => "Wait for a message",
            Tool::CreateThread => "Create a thread",
            Tool::LinkSessions => "Link sessions",
            Tool::ListLinks => "List links",
            Tool::LeaveLink => "Leave a link",
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
                 reused | closed | none, delivered_to, thread, event, seq}. If you are a session \
                 and do not set `direct`, a separate prompt tells you when the other session has \
                 finished its turn, and get_session_data shows its answer: continue with other \
                 work, or end your turn. A client that is not a session waits with \
                 wait_for_message."
            }
            Tool::GetSessionData => {
                "Returns the input and answers of a session as text, and its current state. The \
                 last 2,000 characters by default, at most 48,000."
            }
            Tool::ListSessions => {
                "Lists the living sessions that you started or share a conversation with, the \
                 state of each, and the programs that can be started."
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
            Tool::Invite => "Invites a session, or an agent of the server's registry, to a thread.",
            Tool::ListThreads => {
                "Lists the threads that you can reach, most recently used first. A thread is a \
                 conversation of people and agents with a title and an id; read_thread reads it, \
                 and send_message posts in it. The home of a session and a link are threads too."
            }
            Tool::ReadThread => {
                "Returns messages of a thread with their positions (`seq`): the newest, or those \
                 after a position. `ended`, `stopped` and `thought` mark messages that may be \
                 incomplete."
            }
            Tool::GetReasons => {
                "Returns which agents were asked about a message of a thread, the reasons and \
                 outcomes, and why other agents were not asked. `turns` has a row for each turn \
                 and for each agent that was not asked; `unasked` gives the reason why a message \
                 asked no agent, and the remedy."
            }
            Tool::WaitForMessage => {
                "Waits for messages in a thread after a position, and returns them as read_thread \
                 does. If none comes in time, it returns no messages, and you may call it again. \
                 Use it for answers that do not reach you automatically: to your messages in a \
                 thread, or to a session if you are not a session. If you are a session, do not \
                 wait for another session this way: a prompt tells you."
            }
            Tool::CreateThread => {
                "Creates a thread and returns {thread, name, policy}. Add participants with \
                 invite, also yourself if you want to be asked there."
            }
            Tool::LinkSessions => {
                "Links two or more sessions: from then on, the last words of each member's turn \
                 reach all other members automatically. An existing link of exactly these members \
                 is reused. Returns {link, link_state}."
            }
            Tool::ListLinks => "Lists the links that you can reach, with their members.",
            Tool::LeaveLink => {
                "Removes you from a link, so that you get no more of its messages. The other \
                 members continue while they are two or more. To end the link for all, use \
                 send_message with close_link."
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

    /// Returns the action of a call. `session` is true if a message goes to a session.
    pub const fn action(self, session: bool) -> Action {
        match self {
            Tool::SendMessage if session => Action::SendMessage,
            Tool::SendMessage | Tool::Invite | Tool::LeaveLink => Action::Post,
            Tool::GetSessionData => Action::ReadSessionData,
            Tool::ListSessions => Action::ListSessions,
            Tool::StartSession => Action::StartSession,
            Tool::EndSession => Action::EndSession,
            Tool::ListThreads => Action::ListThreads,
            Tool::ReadThread | Tool::WaitForMessage => Action::ReadThread,
            Tool::GetReasons => Action::ListTurns,
            Tool::CreateThread => Action::BeginThread,
            Tool::LinkSessions => Action::MakeLink,
            Tool::ListLinks => Action::ListLinks,
            Tool::Search => Action::Search,
            Tool::StartGathering => Action::StartGathering,
            Tool::GatheringStatus => Action::ReadGathering,
            Tool::PassPiece => Action::Pass,
        }
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

    /// Returns the effect of a call: the annotations, [`Tool::writes`] and the reference page
    /// follow from it.
    const fn does(self) -> ToolEffect {
        match self {
            Tool::GetSessionData
            | Tool::ListSessions
            | Tool::ListThreads
            | Tool::ReadThread
            | Tool::GetReasons
            | Tool::WaitForMessage
            | Tool::ListLinks
            | Tool::GatheringStatus
            | Tool::Search => ToolEffect::Reads,
            Tool::Invite | Tool::CreateThread | Tool::LinkSessions => ToolEffect::Adds,
            Tool::SendMessage | Tool::PassPiece => ToolEffect::Acts,
            Tool::StartSession | Tool::StartGathering => ToolEffect::Starts,
            Tool::EndSession | Tool::LeaveLink => ToolEffect::Ends,
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
            Tool::GetReasons => arguments::GetReasons::DESCRIBED,
            Tool::WaitForMessage => arguments::WaitForMessage::DESCRIBED,
            Tool::CreateThread => arguments::CreateThread::DESCRIBED,
            Tool::LinkSessions => arguments::LinkSessions::DESCRIBED,
            Tool::ListLinks => arguments::ListLinks::DESCRIBED,
            Tool::LeaveLink => arguments::LeaveLink::DESCRIBED,
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
    }
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
    }
    page
}
