//! What can be asked of a conversation, and how it says no.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

pub use crate::model::actor::Actor;
use crate::model::budget::Budgets;
use crate::model::ending::Ending;
use crate::model::event::{Cause, Fault, RecordedEvent, Recipient, Usage, WhyNot};
use crate::model::gathering::GatheringPlan;
use crate::model::ids::{ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use crate::model::participant::{
    Address, AgentFacts, Answers, Kind, SeatRole, Participant, Profile, TerminalReach,
};
use crate::model::permission::{Question, WithdrawalReason};
pub use crate::model::post::Post;
pub use crate::model::rejection::{HELD, Refusal, Rejection, STOPPED};
use crate::model::request::Request;
use crate::model::settings::{Policy, PolicyName};
use crate::model::start::StartOutcome;
use crate::model::talk::TalkOutcome;
use crate::model::task_command::{TaskCommand, TaskOrder};
use crate::model::time::Millis;
use crate::model::voices::Voices;
use crate::planted::{self, Bug};

/// Longest type or label of an event, in characters.
pub const WORD_CHARS_MAX: usize = 64;

/// What the world outside knows at the moment of a decision. Whatever a decision took from here is
/// in the event it made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Remote participants that are neither connected nor present.
    pub offline: BTreeSet<ParticipantId>,
    /// Those of them who have been away for so long that nobody waits for their turns.
    pub gone: BTreeSet<ParticipantId>,
    /// Remote participants that are here and have not said that they take turns: they read, and
    /// speak when they like. (Ruling 5.)
    pub readers: BTreeSet<ParticipantId>,
    /// What may be spent, and what was spent outside this conversation.
    pub budgets: Arc<Budgets>,
    /// Refused contributions that were not kept and of which no event has told yet: how many, and
    /// how long together.
    pub unkept: BTreeMap<ParticipantId, (u64, u64)>,
    /// What running turns have brought so far, for commands that may end them.
    pub shown: BTreeMap<TurnNo, ShownAnswer>,
    /// The words that agents said lately in all conversations.
    pub voices: Arc<Voices>,
}

impl Facts {
    /// Why somebody who comes by itself is given no turn.
    pub(crate) fn keeps_from_turns(&self, participant: &Participant) -> Option<WhyNot> {
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

/// The beginning of an answer, and what came beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownAnswer {
    /// Which attempt of the turn it is of.
    pub attempt: u32,
    /// The words that people were shown.
    pub text: String,
    /// What they have used, as far as the runtime knows.
    pub usage: Usage,
    /// The thoughts of the model, which are not its words.
    pub thoughts: String,
    /// The output of a program so far, or of one that failed.
    pub printed: String,
    /// The model said nothing, and the text that it finishes with consists of thoughts.
    pub only_thought: bool,
    /// The way in which the model ended its answer.
    pub ended: Option<Ending>,
}

/// A request to a stream: somebody's, or the engine's own.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Somebody asks it of a conversation.
    Client(ClientCommand),
    /// The world around the stream moved.
    Engine(EngineCommand),
    /// Somebody asks it of a task.
    Task(TaskCommand),
}

impl Command {
    /// True if it may end this turn while it runs: what the turn has brought by then is a fact of
    /// the command.
    pub fn may_end(&self, turn: TurnNo) -> bool {
        match self {
            Command::Client(
                ClientCommand::Stop { .. }
                | ClientCommand::Control { .. }
                | ClientCommand::Archive { .. }
                | ClientCommand::Delete { .. },
            )
            | Command::Engine(EngineCommand::Tick | EngineCommand::Obey { .. }) => true,
            Command::Client(ClientCommand::Cancel { turn: no, .. })
            | Command::Engine(EngineCommand::Finished { turn: no, .. }) => *no == turn,
            Command::Client(_) | Command::Engine(_) | Command::Task(_) => false,
        }
    }

    /// Those whom it makes come by themselves, or come here at all, people among them: it may give
    /// them turns at once, so whether they are here matters for it too. ([`Facts`])
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

    /// Whether the floor moves on after it.
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

/// What somebody can ask of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientCommand {
    /// Begin it; the first command of every stream.
    Create {
        /// Its title; empty becomes `Untitled`.
        name: String,
        /// The floor policy, with its settings.
        policy: Policy,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Give it another title.
    Rename {
        /// The title.
        name: String,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Take no more messages (`true`), or take them again.
    Archive {
        /// Whether it is archived after this.
        on: bool,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Say something.
    Post(Post),
    /// Change who is here or how turns are given: all of it, or nothing.
    Control {
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
        /// What, in order.
        controls: Vec<Control>,
    },
    /// Keep a client's own kind of event.
    PostCustom(PostCustom),
    /// End an open turn of one's own without saying anything.
    Pass {
        /// The participant whose turn it is.
        by: Actor,
        /// To whom, for a talking piece.
        to: Option<String>,
        /// A cause of the turn that is passed; the oldest open one where nothing is said.
        reply_to: Option<Cause>,
        /// A person hands the piece on for a holder: a turn that runs is not waited for.
        at_once: bool,
    },
    /// Cancel every open turn and the queue.
    Stop {
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Cancel one turn.
    Cancel {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Make kept text visible.
    Publish {
        /// Where it was kept.
        seq: Seq,
        /// The kept event, read from the log.
        kept: Box<RecordedEvent>,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// End it for good: everything that was said in it is erased.
    Delete {
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Erase a body.
    Redact {
        /// The position of the event.
        seq: Seq,
        /// Whether that is a message, as prompts count them, that has words: a fact, read from the
        /// log.
        message: bool,
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// Begin a gathering among the participants invited for it.
    Gather {
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
        /// How long each has the piece, and how often it goes round.
        plan: GatheringPlan,
        /// Who is invited for it, and the keys that it takes: done before, in the same decision.
        controls: Vec<Control>,
    },
    /// End a gathering now, with what there is.
    CloseGathering {
        /// The caller, as the surface proved it or as the client said.
        by: Actor,
    },
    /// A person answers a permission.
    AnswerPermission {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// Words that mean one of its options, as [`crate::model::permission::choose`] reads them.
        /// With `text` it may be empty, and is the one option that takes any.
        option: String,
        /// Words of one's own, for an option that takes them.
        text: Option<String>,
        /// The person who answers; anybody else is refused.
        by: Actor,
    },
}

/// What the engine alone tells a conversation: how its turns, its permissions and its clock go on.
/// Nobody outside can ask for any of it.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineCommand {
    /// The runtime accepted a turn.
    Started {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// Which attempt at the turn this is, from 1; a restart begins another.
        attempt: u32,
        /// The newest event its prompt covers.
        through: Seq,
    },
    /// The runtime is done with a turn.
    Finished {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// Which attempt at the turn this is, from 1; a restart begins another.
        attempt: u32,
        /// The text, or what went wrong.
        result: Result<String, Fault>,
        /// Time, tokens and money that the turn used.
        usage: Usage,
    },
    /// A runtime summed up what no longer fits into a participant's memory.
    Summarise {
        /// The number of the turn before whose call the summary was made.
        turn: TurnNo,
        /// Which attempt at the turn this is, from 1; a restart begins another.
        attempt: u32,
        /// It covers what took effect up to and with this.
        through: Seq,
        /// The newest event when the words that it sums up were read.
        read_at: Seq,
        /// The words.
        text: String,
        /// Time, tokens and money that the turn used.
        usage: Usage,
    },
    /// A restart lost a running turn.
    Lost {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// Which attempt at the turn this is, from 1; a restart begins another.
        attempt: u32,
    },
    /// A running turn asks for permission.
    AskPermission {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// What is asked.
        question: Box<Question>,
        /// How long a person has.
        within: Millis,
    },
    /// An agent's program asks something in no turn.
    AskQuestion {
        /// The permission; nothing is asked where it is asked already.
        permission: PermissionId,
        /// Whose program asks: an agent of this conversation.
        participant: ParticipantId,
        /// What is asked.
        question: Box<Question>,
    },
    /// An agent asks people for something outside of a turn.
    Ask {
        /// The permission; nothing is asked where the same is asked already.
        permission: PermissionId,
        /// Who asks: an agent of this conversation.
        by: Actor,
        /// The request.
        request: Box<Request>,
        /// How long a person has.
        within: Millis,
    },
    /// A start that a person allowed was carried out, or could not be.
    StartDone {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// What came of it.
        outcome: StartOutcome,
    },
    /// Two sessions that a person allowed to talk were linked, or could not be.
    TalkDone {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The outcome.
        outcome: TalkOutcome,
    },
    /// What was asked is not asked any more, or something else is.
    WithdrawPermission {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// Why nobody is asked any more.
        because: WithdrawalReason,
    },
    /// Look at the clock.
    Tick,
    /// Time stood still for so long. Deadlines move, and nothing else does: a turn that the floor
    /// grants now is none of those that stood still. What is due then, the next [`Tick`] sees.
    ///
    /// [`Tick`]: EngineCommand::Tick
    ShiftClock {
        /// By how many milliseconds open deadlines move.
        downtime: Millis,
    },
    /// The registry changed.
    Facts {
        /// The participant whose client it is.
        participant: ParticipantId,
        /// What it says now.
        facts: AgentFacts,
    },
    /// The task that owns the conversation wants something of it.
    Obey {
        /// The task.
        task: StreamId,
        /// What it wants.
        order: Box<TaskOrder>,
    },
}

/// A client's own kind of event, which is kept and shown and decides nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct PostCustom {
    /// Whose it is.
    pub by: Actor,
    /// Whom it addresses.
    pub to: Recipient,
    /// Its type.
    pub kind: OwnKind,
    /// Its content.
    pub content: Value,
    /// Its labels.
    pub tags: Vec<String>,
    /// What it refers to.
    pub reply_to: Option<Cause>,
}

/// The type of a client's own event: a word of 1 to 64 characters that is none of the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnKind(String);

/// Why a word is no type for a client's own event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindFault {
    /// It is empty, too long, or holds a control character.
    NoWord,
    /// Events of this type are the server's.
    OfServer,
}

impl From<OwnKind> for String {
    fn from(kind: OwnKind) -> Self {
        kind.0
    }
}

impl OwnKind {
    /// The types that the server gives its own events, and those by which it is asked for
    /// something.
    pub const OF_SERVER: [&'static str; 14] = [
        "message",
        "control",
        "turn",
        "thread.renamed",
        "notice",
        "permission",
        "gathering",
        "link",
        "delivery",
        "attachment",
        "thread.created",
        "thread.archived",
        "thread.unarchived",
        "thread.deleted",
    ];

    /// Reads a word.
    ///
    /// # Errors
    /// [`KindFault`] when it is no word, or one of the server's.
    pub fn parse(word: &str) -> Result<Self, KindFault> {
        if Self::OF_SERVER.contains(&word) {
            return Err(KindFault::OfServer);
        }
        if is_word(word) { Ok(Self(word.to_owned())) } else { Err(KindFault::NoWord) }
    }
}

/// Whether a text is a word as types and labels are: 1 to [`WORD_CHARS_MAX`] characters, none of
/// them a control character.
pub fn is_word(text: &str) -> bool {
    (1..=WORD_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// One wish of a control event.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// Invite somebody, or change a profile.
    Invite(Invite),
    /// Remove somebody.
    Uninvite(String),
    /// These may not speak.
    Mute(Vec<String>),
    /// These may speak again.
    Unmute(Vec<String>),
    /// Stand still, or go on.
    Pause(bool),
    /// Lift a guard's hold; a pause too.
    Resume,
    /// Whether agents' mentions wake other agents.
    Discussion {
        /// Whether it is on after this.
        on: bool,
        /// Whether agents' mentions wake agents; `on` is needed too.
        allow_agent_mentions: bool,
    },
    /// Whether unaddressed human messages ask everyone.
    InvitedAuto(bool),
    /// Give these a turn now.
    Prod(Vec<String>),
    /// Agree to what the other controls of the command end, such as a gathering.
    Confirm,
    /// Replace the policy.
    Policy(Policy),
    /// Other rules with the settings that are in force.
    PolicyNamed(PolicyName),
    /// Change keys of the policy.
    Config(Map<String, Value>),
    /// Send what is said to an outside target too.
    Bind(String),
    /// Stop doing so.
    Unbind(String),
    /// Let it spend more than its budget for a while.
    RaiseBudget {
        /// So many turns more in each hour.
        turns: u64,
        /// So many millionths of the currency more in each day.
        micros: u64,
        /// For how many milliseconds it may.
        within: Millis,
    },
}

/// An invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invite {
    /// The id it will have here.
    pub participant: String,
    /// The fields given.
    pub profile: Profile,
    /// What the registry says about its client.
    pub facts: AgentFacts,
    /// Where it can be reached.
    pub address: Option<Address>,
    /// Its number in a link or gathering.
    pub number: Option<u32>,
    /// Its part in a gathering.
    pub part: Option<SeatRole>,
    /// What the server knows it as, where its id is a principal's.
    pub principal: Option<Kind>,
    /// The grant of a way to its terminal. If unset, it is that of all writers at the first invite,
    /// and stays as it is later.
    pub reach: Option<TerminalReach>,
    /// A name known to the server for which a reader would take it: a fact.
    pub resembles: Option<Box<NameConflict>>,
}

/// A name that looks like one that the server knows as another's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameConflict {
    /// The id or nickname.
    pub name: String,
    /// The other name.
    pub taken: String,
}

impl Invite {
    /// An invitation of a registry client.
    pub fn new(participant: impl Into<String>, profile: Profile, facts: AgentFacts) -> Self {
        Self {
            participant: participant.into(),
            profile,
            facts,
            address: None,
            number: None,
            part: None,
            principal: None,
            reach: None,
            resembles: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_own_type_is_a_word_and_never_one_of_the_servers() {
        for own in ["x.note", "Message", "thread.created ", &"é".repeat(WORD_CHARS_MAX)] {
            assert_eq!(OwnKind::parse(own).map(|kind| kind.0), Ok(own.to_owned()));
        }
        for word in OwnKind::OF_SERVER {
            assert_eq!(OwnKind::parse(word), Err(KindFault::OfServer));
        }
        for bad in ["", "a\nb", &"x".repeat(WORD_CHARS_MAX + 1)] {
            assert_eq!(OwnKind::parse(bad), Err(KindFault::NoWord));
        }
    }
}
