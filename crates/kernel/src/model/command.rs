//! Commands to a conversation, and the reasons for rejecting them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

pub use crate::model::actor::Actor;
use crate::model::budget::Budgets;
use crate::model::chat::{Chat, OverheardWords};
pub use crate::model::custom::{KindFault, OwnKind, PostCustom, WORD_CHARS_MAX, is_word};
use crate::model::ending::Ending;
use crate::model::event::{Cause, Fault, RecordedEvent, Usage, WhyNot};
use crate::model::gathering::GatheringPlan;
use crate::model::hosted::{HostedKey, HostedTurn};
use crate::model::ids::{ComputerId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use crate::model::link::{JoinedConversation, PartReason};
use crate::model::participant::{
    Address, AgentFacts, Answers, Kind, Participant, Profile, SeatRole, TerminalReach,
};
use crate::model::permission::{Question, WithdrawalReason};
pub use crate::model::post::Post;
pub use crate::model::rejection::{HELD, LATE, Refusal, Rejection, STOPPED};
use crate::model::request::Request;
use crate::model::settings::{Policy, PolicyName};
use crate::model::start::StartOutcome;
use crate::model::state::Conversation;
use crate::model::talk::TalkOutcome;
use crate::model::task_command::{TaskCommand, TaskOrder};
use crate::model::time::Millis;
use crate::model::voices::Voices;
use crate::planted::{self, Bug};

/// Facts from outside of the stream at the time of a decision. An event holds each fact that its
/// decision used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Remote participants that are neither connected nor present.
    pub offline: BTreeSet<ParticipantId>,
    /// Offline participants that have been away too long for their open turns to be kept.
    pub gone: BTreeSet<ParticipantId>,
    /// Remote participants that are connected but have not said that they take turns: they read,
    /// and speak when they like. (Ruling 5.)
    pub readers: BTreeSet<ParticipantId>,
    /// Participants whose session in a terminal has ended, with the name by which it is resumed.
    pub ended: BTreeMap<ParticipantId, String>,
    /// Limits of spending, and the amounts spent outside of this conversation.
    pub budgets: Arc<Budgets>,
    /// Refused contributions that were not stored and that no event reports yet: their number, and
    /// their length together in bytes.
    pub unkept: BTreeMap<ParticipantId, (u64, u64)>,
    /// Output of running turns so far, for commands that may end them.
    pub shown: BTreeMap<TurnNo, ShownAnswer>,
    /// Recent words of agents in all conversations.
    pub voices: Arc<Voices>,
}

impl Facts {
    /// Returns the reason for which a participant gets no turn: its session has ended, or its
    /// remote client is offline or read-only.
    pub(crate) fn keeps_from_turns(&self, participant: &Participant) -> Option<WhyNot> {
        if self.ended.contains_key(&participant.id) {
            return Some(WhyNot::Ended);
        }
        if !participant.has_to_be_here() {
            return None;
        }
        if self.offline.contains(&participant.id) {
            return Some(WhyNot::Offline);
        }
        let reads = self.readers.contains(&participant.id)
            && !participant.answered
            && !planted::has(Bug::ReaderGetsTurns);
        reads.then_some(WhyNot::ReadsOnly)
    }
}

/// Output of a running turn so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownAnswer {
    /// The attempt that the output belongs to.
    pub attempt: u32,
    /// Words of the answer that people were shown.
    pub text: String,
    /// Usage of the turn, as far as the runtime knows.
    pub usage: Usage,
    /// The thoughts of the model, which are not part of its answer.
    pub thoughts: String,
    /// Output of a program so far, or of one that failed.
    pub printed: String,
    /// The last lines of a program so far.
    pub last_lines: String,
    /// True if the model said nothing, so that its text consists of thoughts.
    pub only_thought: bool,
    /// The reason for which the model's answer ended.
    pub ended: Option<Ending>,
}

/// A request to a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A request of a client to a conversation.
    Client(ClientCommand),
    /// A report or order of the engine.
    Engine(EngineCommand),
    /// A request of a client to a task.
    Task(TaskCommand),
}

impl Command {
    /// True if the output so far of this running turn is a fact for the command, because the
    /// command may end the turn in this conversation.
    pub fn may_end(&self, turn: TurnNo, state: &Conversation) -> bool {
        let owner = state.turn(turn).map(|turn| &turn.participant);
        // Words may pass the piece on, and the last pass closes the gathering, which ends the turns
        // of all its members. Elsewhere words end only turns of their own participant, so the
        // output of the other turns is not copied for each message.
        let words_may_end = |by: Option<&ParticipantId>| {
            state.gathering().is_some() || (by.is_some() && owner == by)
        };
        match self {
            Command::Client(
                ClientCommand::Stop { .. }
                | ClientCommand::Control { .. }
                | ClientCommand::Archive { .. }
                | ClientCommand::Delete { .. }
                | ClientCommand::Gather { .. }
                | ClientCommand::CloseGathering { .. },
            )
            | Command::Engine(
                EngineCommand::Tick | EngineCommand::Obey { .. } | EngineCommand::Unhost { .. },
            ) => true,
            Command::Client(ClientCommand::Post(post)) => words_may_end(Some(&post.by.id)),
            Command::Client(ClientCommand::Pass { by, .. }) => words_may_end(Some(&by.id)),
            Command::Engine(EngineCommand::Finished { turn: no, .. }) => {
                words_may_end(state.turn(*no).map(|turn| &turn.participant))
            }
            Command::Client(ClientCommand::Cancel { turn: no, .. })
            | Command::Engine(EngineCommand::Lost { turn: no, .. }) => *no == turn,
            Command::Client(_) | Command::Engine(_) | Command::Task(_) => false,
        }
    }

    /// Returns the participants that answer by posting from this command on: those that it invites,
    /// and one whose facts it changes. They can get turns in the same decision, so [`Facts`] must
    /// cover them too.
    pub fn brings(&self) -> Vec<&str> {
        let by_themselves = |facts: &AgentFacts| facts.abilities.answers == Answers::ByPosting;
        match self {
            Command::Client(
                ClientCommand::Control { controls, .. } | ClientCommand::Gather { controls, .. },
            ) => controls
                .iter()
                .filter_map(|control| match control {
                    Control::Invite(invite) if by_themselves(&invite.facts) => {
                        Some(invite.participant.as_str())
                    }
                    _ => None,
                })
                .collect(),
            Command::Engine(EngineCommand::Facts { participant, facts })
                if by_themselves(facts) =>
            {
                vec![participant.as_str()]
            }
            Command::Engine(EngineCommand::Obey { order, .. }) => {
                order.brings().iter().map(|named| named.agent.as_str()).collect()
            }
            Command::Client(_) | Command::Engine(_) | Command::Task(_) => Vec::new(),
        }
    }

    /// True if the floor is moved on after the command.
    pub(crate) fn settles(&self) -> bool {
        !matches!(self, Command::Engine(EngineCommand::ShiftClock { .. }))
    }
}

impl From<ClientCommand> for Command {
    fn from(command: ClientCommand) -> Self {
        Command::Client(command)
    }
}

impl From<EngineCommand> for Command {
    fn from(command: EngineCommand) -> Self {
        Command::Engine(command)
    }
}

impl From<TaskCommand> for Command {
    fn from(command: TaskCommand) -> Self {
        Command::Task(command)
    }
}

/// A request of a client to a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientCommand {
    /// Creates the conversation; the first command of every stream.
    Create {
        /// The title; an empty one becomes `Untitled`.
        name: String,
        /// The floor policy, with its settings.
        policy: Policy,
        /// The folder in which known programs work for the conversation, as an absolute path; the
        /// server's own if absent.
        folder: Option<String>,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Renames the conversation.
    Rename {
        /// The new title.
        name: String,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Archives the conversation, or reopens it.
    Archive {
        /// True to archive, false to reopen.
        on: bool,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Posts a message.
    Post(Post),
    /// Changes who is invited or how turns are given: all changes, or none.
    Control {
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
        /// The controls, in order.
        controls: Vec<Control>,
    },
    /// Posts an event of a client's own type.
    PostCustom(PostCustom),
    /// Passes the caller's talking piece, or ends an open turn of the caller without words.
    Pass {
        /// The participant whose turn it is.
        by: Actor,
        /// The next holder, if the caller passes the talking piece.
        to: Option<String>,
        /// A cause of the turn that is passed; `None` means the oldest open turn.
        reply_to: Option<Cause>,
        /// True if a person passes the piece on for its holder: a running turn does not delay the
        /// pass.
        at_once: bool,
    },
    /// Cancels all open turns and the queue.
    Stop {
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Cancels one turn.
    Cancel {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Publishes text of the trace as a message.
    Publish {
        /// Position of the event with the text.
        seq: Seq,
        /// The event with the text, read from the log.
        kept: Box<RecordedEvent>,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Deletes the conversation and erases all its words.
    Delete {
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Erases the body of an event.
    Redact {
        /// The position of the event.
        seq: Seq,
        /// True if the event is a message that prompts count and that still has words. The log says
        /// so.
        message: bool,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Begins a gathering of the participants that it invites.
    Gather {
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
        /// The plan: number of rounds, and length of the holds.
        plan: GatheringPlan,
        /// Invitations and policy keys for the gathering, applied first in the same decision.
        controls: Vec<Control>,
    },
    /// Ends a gathering now; the harvest uses what was said so far.
    CloseGathering {
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Answers a permission, question or request.
    AnswerPermission {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// Words for one of the options, read by [`crate::model::permission::choose`]. May be empty
        /// if `text` is given and one option takes text.
        option: String,
        /// The person's own words, for an option that takes text.
        text: Option<String>,
        /// The person who answers; other callers are refused.
        by: Actor,
    },
}

/// A report or order of the engine about turns, permissions and the clock. Clients cannot send any
/// of these.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineCommand {
    /// The runtime accepted a turn.
    Started {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// Number of the attempt at the turn, from 1; a restart begins another.
        attempt: u32,
        /// The newest event that the prompt covers.
        through: Seq,
    },
    /// The runtime finished a turn.
    Finished {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// Number of the attempt at the turn, from 1; a restart begins another.
        attempt: u32,
        /// The answer, or the fault.
        result: Result<String, Fault>,
        /// Time, tokens and money that the turn used.
        usage: Usage,
    },
    /// A runtime summed up messages that no longer fit into a participant's prompts.
    Summarise {
        /// The number of the turn for whose prompt the summary was made.
        turn: TurnNo,
        /// Number of the attempt at the turn, from 1; a restart begins another.
        attempt: u32,
        /// The last event that the summary covers, by the place at which messages took effect.
        through: Seq,
        /// The newest event when the runtime read the messages.
        read_at: Seq,
        /// The words of the summary.
        text: String,
        /// Usage of the summary.
        usage: Usage,
    },
    /// A restart of the server lost a running turn.
    Lost {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// Number of the attempt at the turn, from 1; a restart begins another.
        attempt: u32,
    },
    /// A running turn asks for permission.
    AskPermission {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The question.
        question: Box<Question>,
        /// Time that people have for an answer.
        within: Millis,
    },
    /// An agent's program asks something outside of a turn.
    AskQuestion {
        /// The id of the permission. The command does nothing if it is open already.
        permission: PermissionId,
        /// The agent whose program asks; it is in this conversation.
        participant: ParticipantId,
        /// The question.
        question: Box<Question>,
    },
    /// An agent asks people for something outside of a turn.
    Ask {
        /// The id of the permission. The command does nothing if the same request is open already.
        permission: PermissionId,
        /// The agent that asks; it is in this conversation.
        by: Actor,
        /// The request.
        request: Box<Request>,
        /// Time that people have for an answer.
        within: Millis,
    },
    /// A start that a person allowed was carried out or failed.
    StartDone {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The outcome.
        outcome: StartOutcome,
    },
    /// Two sessions that a person allowed to talk were linked, or the message was sent without a
    /// link, or both failed.
    TalkDone {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The outcome.
        outcome: TalkOutcome,
    },
    /// A permission is not asked any more, or another question has replaced it.
    WithdrawPermission {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The reason.
        because: WithdrawalReason,
    },
    /// Checks all deadlines.
    Tick,
    /// The clock stood still. The command only moves open deadlines, so that turns granted now are
    /// not moved as well. The next `Tick` handles deadlines that are due.
    ShiftClock {
        /// The time by which open deadlines move, in milliseconds.
        downtime: Millis,
    },
    /// The registry's facts about a client changed.
    Facts {
        /// The participant whose client it is.
        participant: ParticipantId,
        /// The facts from now on.
        facts: AgentFacts,
    },
    /// A person who is not known to the server said words in a bound chat.
    Overhear(Box<OverheardWords>),
    /// The server has something to tell people.
    Notice {
        /// Stable code, e.g. `rows_lost`.
        code: &'static str,
        /// One sentence for people.
        text: String,
    },
    /// The task that owns the conversation gives an order.
    Obey {
        /// The task.
        task: StreamId,
        /// The order.
        order: Box<TaskOrder>,
    },
    /// A conversation of another computer asks the session whose home this is. (Ruling 35.)
    Host {
        /// The turn that is offered.
        hosted: Box<HostedTurn>,
        /// The prompt.
        text: String,
    },
    /// The session of this home has joined a conversation of another computer, or the data of a
    /// joined conversation changed.
    Join(Box<JoinedConversation>),
    /// The session of this home has left a conversation of another computer.
    Part {
        /// The computer on which the conversation lives.
        computer: ComputerId,
        /// The conversation.
        stream: StreamId,
        /// The reason.
        why: PartReason,
    },
    /// The computer of a conversation ended a turn that it had offered to the session of this home.
    Unhost {
        /// The turn.
        key: HostedKey,
        /// True if the turn's time ran out there, so that the program may go on. Otherwise the
        /// program is interrupted.
        lapse: bool,
    },
}

/// One requested change of a control event.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a command holds a handful of controls; boxing the common one would cost more"
)]
pub enum Control {
    /// Invites a participant, or changes its profile.
    Invite(Invite),
    /// Removes a participant.
    Uninvite(String),
    /// Mutes participants.
    Mute(Vec<String>),
    /// Unmutes participants.
    Unmute(Vec<String>),
    /// Pauses the conversation, or ends the pause.
    Pause(bool),
    /// Lifts a guard's hold, and ends a pause.
    Resume,
    /// Sets if agents' mentions wake other agents.
    Discussion {
        /// True if discussion is on after this.
        on: bool,
        /// The second switch; both are needed.
        allow_agent_mentions: bool,
    },
    /// Sets if unaddressed messages of people ask all agents.
    InvitedAuto(bool),
    /// Gives agents a turn now.
    Prod(Vec<String>),
    /// Confirms that the command's other controls may end something, such as a gathering.
    Confirm,
    /// Replaces the policy.
    Policy(Policy),
    /// Changes the policy and keeps its settings.
    PolicyNamed(PolicyName),
    /// Changes settings of the policy.
    Config(Map<String, Value>),
    /// Takes a key that one open conversation can hold, such as a link's. Not for clients.
    Hold(String),
    /// Gives a key back. Not for clients.
    Release(String),
    /// Binds a chat outside of the server, to which the words go too.
    BindChat(Chat),
    /// Unbinds a chat.
    UnbindChat(Chat),
    /// Raises the conversation's budget until a given time.
    RaiseBudget {
        /// Additional turns in each hour.
        turns: u64,
        /// Additional money in each day, in millionths of the currency.
        micros: u64,
        /// Duration of the raise, in milliseconds.
        within: Millis,
    },
}

/// An invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invite {
    /// The id of the participant in this conversation.
    pub participant: String,
    /// The profile fields that were given.
    pub profile: Profile,
    /// The registry's facts about the client.
    pub facts: AgentFacts,
    /// Address of the participant.
    pub address: Option<Address>,
    /// The name by which people write a participant of another computer, such as
    /// `builder@workstation`.
    pub full_name: Option<String>,
    /// The participant's number in a link or gathering.
    pub number: Option<u32>,
    /// The participant's part in a gathering.
    pub part: Option<SeatRole>,
    /// The kind of the principal with this id, if the server knows one.
    pub principal: Option<Kind>,
    /// The grant of access to the participant's terminal. If unset, the first invite grants it to
    /// all writers, and later ones do not change it.
    pub reach: Option<TerminalReach>,
    /// A name known to the server that readers would confuse with this one's. A fact, found before
    /// the decision.
    pub resembles: Option<Box<NameConflict>>,
}

/// A name that looks like one known to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameConflict {
    /// The id or nickname of the invitation.
    pub name: String,
    /// The known name.
    pub taken: String,
}

impl Invite {
    /// Returns an invitation of a registry client.
    pub fn new(participant: impl Into<String>, profile: Profile, facts: AgentFacts) -> Self {
        Self {
            participant: participant.into(),
            profile,
            facts,
            address: None,
            full_name: None,
            number: None,
            part: None,
            principal: None,
            reach: None,
            resembles: None,
        }
    }
}
