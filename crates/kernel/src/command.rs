//! What can be asked of a conversation, and how it says no.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::budget::Budgets;
use crate::event::{Cause, Fault, Recorded, To, Usage};
use crate::gathering::GatheringPlan;
use crate::ids::{EventId, ParticipantId, PermissionId, Seq, TurnNo};
use crate::participant::{Address, AgentFacts, Kind, Part, Profile};
use crate::permission::{Question, Withdrawn};
use crate::settings::Policy;
use crate::start::{StartOutcome, StartRequest};
use crate::time::Millis;

/// Who asks: an id, whether the server knows it to be a person, and whether anything proves that it is who it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The id the words will carry.
    pub id: ParticipantId,
    /// A human principal stands behind it.
    pub human: bool,
    /// A credential stands behind it, or the server itself; otherwise the id is the client's word.
    pub proven: bool,
}

impl Actor {
    /// Somebody who is who they say; whether that is a person, only the conversation knows.
    pub fn named(id: impl Into<ParticipantId>) -> Self {
        Self { id: id.into(), human: false, proven: true }
    }

    /// A person whom the server knows.
    pub fn human(id: impl Into<ParticipantId>) -> Self {
        Self { id: id.into(), human: true, proven: true }
    }

    /// Somebody of whom there is only a client's word.
    pub fn unproven(id: impl Into<ParticipantId>) -> Self {
        Self { id: id.into(), human: false, proven: false }
    }
}

/// What the world outside knows at the moment of a decision. Whatever a decision took from here is in the event it made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Remote participants that are neither connected nor present.
    pub offline: BTreeSet<ParticipantId>,
    /// What may be spent, and what was spent outside this conversation.
    pub budgets: Arc<Budgets>,
    /// Refused contributions that were not kept and of which no event has told yet: how many, and how long together.
    pub unkept: BTreeMap<ParticipantId, (u64, u64)>,
}

/// A request to a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Begin it; the first command of every stream.
    Create {
        /// Its title; empty becomes `Untitled`.
        name: String,
        /// Its rules.
        policy: Policy,
        /// Who asks.
        by: Actor,
    },
    /// Give it another title.
    Rename {
        /// The title.
        name: String,
        /// Who asks.
        by: Actor,
    },
    /// Take no more messages (`true`), or take them again.
    Archive {
        /// Which.
        on: bool,
        /// Who asks.
        by: Actor,
    },
    /// Say something.
    Post(Post),
    /// Change who is here or how turns are given: all of it, or nothing.
    Control {
        /// Who asks.
        by: Actor,
        /// What, in order.
        controls: Vec<Control>,
    },
    /// Keep a client's own kind of event.
    Keep {
        /// Whose it is.
        by: Actor,
        /// Whom it addresses.
        to: To,
        /// Its type, as the client calls it.
        kind: String,
        /// Its content.
        content: Value,
        /// Its labels.
        tags: Vec<String>,
        /// What it refers to.
        reply_to: Option<Cause>,
    },
    /// End an open turn of one's own without saying anything.
    Pass {
        /// Who passes.
        by: Actor,
        /// To whom, for a talking piece.
        to: Option<String>,
    },
    /// Cancel every open turn and the queue.
    Stop {
        /// Who asks.
        by: Actor,
    },
    /// Cancel one turn.
    Cancel {
        /// Which.
        turn: TurnNo,
        /// Who asks.
        by: Actor,
    },
    /// Make kept text visible.
    Publish {
        /// Where it was kept.
        seq: Seq,
        /// The kept event, read from the log.
        kept: Box<Recorded>,
        /// Who asks.
        by: Actor,
    },
    /// Erase a body.
    Redact {
        /// Of which event.
        seq: Seq,
        /// Who asks.
        by: Actor,
    },
    /// Begin a gathering among the participants invited for it.
    Gather {
        /// Who asks.
        by: Actor,
        /// How.
        plan: GatheringPlan,
    },
    /// End a gathering now, with what there is.
    CloseGathering {
        /// Who asks.
        by: Actor,
    },
    /// The runtime accepted a turn.
    Started {
        /// Which.
        turn: TurnNo,
        /// Which try.
        attempt: u32,
        /// The newest event its prompt covers.
        through: Seq,
    },
    /// The runtime is done with a turn.
    Finished {
        /// Which.
        turn: TurnNo,
        /// Which try.
        attempt: u32,
        /// The text, or what went wrong.
        result: Result<String, Fault>,
        /// What it used.
        usage: Usage,
    },
    /// A runtime summed up what no longer fits into a participant's memory.
    Summarise {
        /// For which turn.
        turn: TurnNo,
        /// Which try.
        attempt: u32,
        /// It covers what took effect up to and with this.
        through: Seq,
        /// The newest event when the words that it sums up were read.
        read_at: Seq,
        /// The words.
        text: String,
        /// What it used.
        usage: Usage,
    },
    /// A restart lost a running turn.
    Lost {
        /// Which.
        turn: TurnNo,
        /// Which try.
        attempt: u32,
    },
    /// A running turn asks for permission.
    AskPermission {
        /// The permission.
        permission: PermissionId,
        /// The turn.
        turn: TurnNo,
        /// What is asked.
        question: Box<Question>,
        /// How long a person has.
        within: Millis,
    },
    /// An agent asks to have a program started.
    AskStart {
        /// The permission; nothing is asked where the same is asked already.
        permission: PermissionId,
        /// Who asks: an agent of this conversation.
        by: Actor,
        /// What for.
        start: Box<StartRequest>,
        /// How long a person has.
        within: Millis,
    },
    /// A start that a person allowed was carried out, or could not be.
    StartDone {
        /// The permission.
        permission: PermissionId,
        /// What came of it.
        outcome: StartOutcome,
    },
    /// What was asked is not asked any more, or something else is.
    WithdrawPermission {
        /// The permission.
        permission: PermissionId,
        /// Why.
        because: Withdrawn,
    },
    /// A person answers a permission.
    AnswerPermission {
        /// The permission.
        permission: PermissionId,
        /// Words that mean one of its options, as [`crate::permission::choose`] reads them.
        option: String,
        /// Who answers.
        by: Actor,
    },
    /// Look at the clock.
    Tick,
    /// Time stood still for so long.
    Resume {
        /// How long.
        downtime: Millis,
    },
    /// The registry changed.
    Facts {
        /// Whose client.
        participant: ParticipantId,
        /// What it says now.
        facts: AgentFacts,
    },
}

/// Something to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Who says it.
    pub by: Actor,
    /// Whom it addresses.
    pub to: To,
    /// The words.
    pub body: String,
    /// What it replies to, looked up by the host.
    pub reply_to: Option<Cause>,
    /// Labels of the client.
    pub tags: Vec<String>,
    /// The participant in whose own terminal a person typed it.
    pub typed_at: Option<ParticipantId>,
}

impl Post {
    /// Plain words to everyone.
    pub fn new(by: Actor, body: impl Into<String>) -> Self {
        Self { by, to: To::All, body: body.into(), reply_to: None, tags: Vec::new(), typed_at: None }
    }
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
        /// The switch.
        on: bool,
        /// The second switch.
        allow_agent_mentions: bool,
    },
    /// Whether unaddressed human messages ask everyone.
    InvitedAuto(bool),
    /// Give these a turn now.
    Prod(Vec<String>),
    /// Replace the policy.
    Policy(Policy),
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
        /// For so long.
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
    pub part: Option<Part>,
    /// What the server knows it as, where its id is a principal's.
    pub principal: Option<Kind>,
}

impl Invite {
    /// An invitation of a registry client.
    pub fn new(participant: impl Into<String>, profile: Profile, facts: AgentFacts) -> Self {
        Self { participant: participant.into(), profile, facts, address: None, number: None, part: None, principal: None }
    }
}

/// What kind of no it was. Surfaces turn each into their own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request makes no sense.
    Invalid,
    /// Somebody else may do that.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// Not now, or not any more.
    Conflict,
    /// Too large.
    TooLarge,
}

/// A no, with a way forward.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// What kind.
    pub refusal: Refusal,
    /// Stable word.
    pub code: &'static str,
    /// What was wrong and what to do, in one or two sentences.
    pub message: String,
    /// Whom it is about.
    pub participant: Option<ParticipantId>,
    /// The event that keeps the refused words, where they are kept.
    pub kept: Option<EventId>,
}

impl Rejection {
    /// A rejection.
    pub fn new(refusal: Refusal, code: &'static str, message: impl Into<String>) -> Self {
        Self { refusal, code, message: message.into(), participant: None, kept: None }
    }

    /// Says whom it is about.
    #[must_use]
    pub fn about(mut self, participant: &ParticipantId) -> Self {
        self.participant = Some(participant.clone());
        self
    }
}
