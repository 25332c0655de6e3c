//! The tools: their names, arguments and descriptions for the client's model.

use std::fmt::Write as _;

use moothall_engine::door::Action;
use rmcp::model::{Tool as Described, ToolAnnotations};
use serde_json::{Map, Value, json};
use strum::VariantArray;

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
            Tool::GetReasons => "Read why agents answer or are silent",
            Tool::WaitForMessage => "Wait for a message",
            Tool::CreateThread => "Begin a thread",
            Tool::LinkSessions => "Link sessions",
            Tool::ListLinks => "List links",
            Tool::LeaveLink => "Leave a link",
            Tool::Search => "Search all threads",
            Tool::StartGathering => "Begin a gathering",
            Tool::GatheringStatus => "Look how a gathering is",
            Tool::PassPiece => "Hand the talking piece on",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Tool::SendMessage => {
                "Says something of your own to a session or in a thread; give session_id or thread. Not for answering: when a prompt came to you \
                 from here, the last words of your turn go back by themselves. Answers {link_id, link_state: created | reused | closed | none, \
                 delivered_to, thread, event, seq}. Without `direct`, if you are a session, a prompt of its own tells you when the other has \
                 finished its turn, and get_session_data shows what it said: go on with something else, or end your turn. Whoever is no \
                 session waits with wait_for_message."
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
            Tool::Invite => {
                "Invites a session, or an agent of the server's registry, into a thread."
            }
            Tool::ListThreads => {
                "The threads that you reach, the one used last first. A thread is a conversation of people and agents with a title and an id; \
                 read_thread reads it, send_message speaks in it. Sessions have a thread of their own too, their home, and a link is one."
            }
            Tool::ReadThread => {
                "Messages of a thread, with their positions (`seq`): the newest, or those after a position. `ended`, `stopped` and `thought` mark words \
                 that may not be all."
            }
            Tool::GetReasons => {
                "Who was asked about a message of a thread, for what reason, what came of it, and why others were not asked. `turns` has a row \
                 for each turn and each agent that was left out; `unasked` says why a message asked no agent, and what helps."
            }
            Tool::WaitForMessage => {
                "Waits until something is said in a thread after a position, and gives it as read_thread does; no messages when the time is \
                 over, and you may call it again. For answers that do not come to you by themselves: to what you said in a thread, or to a \
                 session while you are none. If you are a session, do not wait for another one in this way: a prompt tells you."
            }
            Tool::CreateThread => {
                "Begins a thread and answers {thread, name, policy}. Bring others into it with invite, yourself too if you want to be asked there."
            }
            Tool::LinkSessions => {
                "Links two sessions or more: from then on what one of them says at the end of a turn reaches all the others by itself. A link of \
                 just these members is used again. Answers {link, link_state}."
            }
            Tool::ListLinks => "The links that you reach, with their members.",
            Tool::LeaveLink => {
                "You leave a link, and hear no more of it; the others go on while they are two or more. To end it for all, send_message with \
                 close_link."
            }
            Tool::Search => {
                "Finds messages in all threads, the newest first. All words must be there; \"quoted\" ones side by side. from: and in: take \
                 ids and names, after: and before: days or times."
            }
            Tool::StartGathering => {
                "Convenes people, sessions and agents in a gathering: a talking piece goes round through inhale, hold and exhale, only its holder \
                 speaks, and a silent harvester writes what came of it. Answers with the gathering as gathering_status shows it. Not from within \
                 one. You are in it only if you name yourself."
            }
            Tool::GatheringStatus => {
                "Phase and round of a gathering, who holds the piece, the beat, who is still to come, and the harvest once it is there; your own \
                 seed message and pulse too."
            }
            Tool::PassPiece => {
                "Hands the talking piece on while you hold it, to somebody in particular or to the next. It takes effect with the end of your turn: say \
                 your words, then end your turn. \"I pass\" or \"I pass to NAME\" as your last sentence does the same."
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
            ToolEffect::Adds => "It adds something and ends nothing.",
            ToolEffect::Acts => {
                "It makes another agent work, whose doings reach beyond this server."
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
