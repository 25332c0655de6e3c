//! What can happen: events, in the past tense. They are stored, so a variant or field is only ever
//! added.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::budget::{Raise, SpentBudget};
use crate::model::ending::Ending;
use crate::model::gathering::GatheringEvent;
use crate::model::ids::{EventId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use crate::model::message_part::{PartPlace, Span};
use crate::model::own::OwnWords;
use crate::model::participant::{Address, AgentFacts, Kind, SeatRole, Profile, TerminalReach};
use crate::model::permission::{PermissionOption, WithdrawalReason};
use crate::model::settings::Policy;
use crate::model::silence::{Reason, Silence};
use crate::model::start::{StartOutcome, StartRequest};
use crate::model::talk::{TalkOutcome, TalkRequest};
use crate::model::task_event::TaskEvent;
use crate::model::time::{Millis, Timestamp};
pub use crate::model::usage::Usage;

/// An event at its place in a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedEvent {
    /// The position of the event in its stream, from 1.
    pub seq: Seq,
    /// When it was appended; rises strictly within a stream.
    pub ts: Timestamp,
    /// What happened.
    pub event: Event,
}

impl RecordedEvent {
    /// Its public id.
    pub fn id(&self, stream: &StreamId) -> EventId {
        EventId::of(stream, self.seq, self.ts)
    }
}

/// A pointer to the event that gave rise to something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The position of the event in its stream, from 1.
    pub seq: Seq,
    /// Its public id.
    pub id: EventId,
    /// Whose words it was.
    pub from: ParticipantId,
    /// 0 for a human message, one more for each step away from it.
    pub depth: u32,
    /// No proven person stands at the root of it: see [`Event::lacks_person`]. This is the one
    /// place where a turn finds that: guards read it, and budgets. Logs from before it was kept
    /// have it nowhere.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unproven: bool,
}

/// Whom a message addresses. It targets; it never hides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipient {
    /// The whole conversation.
    #[default]
    All,
    /// One participant.
    One(ParticipantId),
}

/// Who may see an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Everyone in the conversation.
    All,
    /// These, and operators.
    Only(Vec<ParticipantId>),
    /// Operators: events that explain.
    Operators,
}

/// Something a participant said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// The speaker.
    pub from: ParticipantId,
    /// Person or agent, at that time.
    pub kind: Kind,
    /// Whom it addresses.
    pub to: Recipient,
    /// The words. Kept beside the envelope in the store, so that they can be erased.
    #[serde(default, skip_serializing)]
    pub body: String,
    /// Invited participants that the words name, in the order in which they are named, without the
    /// speaker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<ParticipantId>,
    /// The places in the words that name them. Logs from before they were kept have none.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub places: Box<[MentionPlace]>,
    /// Steps away from a human message.
    pub depth: u32,
    /// The participant in whose own terminal a person typed it, and who has read it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed_at: Option<ParticipantId>,
    /// Participants who hear the same words in another conversation, and are told of them there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<ParticipantId>,
    /// That the speaker is who they say was the client's word, or that of a terminal.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unproven: bool,
    /// An agent said it, and no proven person had asked for it, at however many removes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unasked: bool,
    /// Findings about an agent's words that answer no turn. Logs from before they were kept
    /// have none, and each of their contributions counts as an exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnWords>,
    /// A person's words without proof with which the guards begin to count anew; a hold ends.
    #[serde(default, skip_serializing_if = "is_false")]
    pub resets: bool,
    /// Agents whom a person has answer it, one after the other, and nobody else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<ParticipantId>,
    /// What it replies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<Cause>,
    /// The turn that it answers; nothing for a person and for unsolicited words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnNo>,
    /// Labels the client gave, and the server's `coordinator` and `error`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Written by the server on the speaker's behalf.
    #[serde(default, skip_serializing_if = "is_false")]
    pub via: bool,
    /// It came while earlier messages were still being handled; [`Event::Taken`] says when its time
    /// came.
    #[serde(default, skip_serializing_if = "is_false")]
    pub queued: bool,
    /// Too many messages waited already: it is kept, no agent is asked about it, and it does not
    /// wait.
    #[serde(default, skip_serializing_if = "is_false")]
    pub queue_full: bool,
    /// The message that it answers, where the round of that was over: what others make of it waits
    /// for its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Seq>,
    /// A person stopped its author while it spoke: these are the words that were shown by then.
    /// They wake nobody.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stopped: bool,
    /// The way in which the model that wrote it ended, as far as its provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ending>,
    /// These are thoughts: the model that wrote it said nothing else.
    #[serde(default, skip_serializing_if = "is_false")]
    pub thought: bool,
    /// The kept text that a person made visible with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Seq>,
    /// What went wrong, when it is an error indicator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<Fault>>,
    /// Hash of the folded words: the repeat detector's memory.
    #[serde(default)]
    pub fingerprint: u32,
    /// Where its parts stand in the words, where it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartPlace>,
    /// Who may see it beside its speaker and operators; everybody where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_for: Option<Vec<ParticipantId>>,
    /// The reason for which they ask no agent, if they ask none by what they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<Box<Silence>>,
    /// A name in them that no participant bears, or a name for all, if that is not their silence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Box<Silence>>,
}

/// A place in words that names participants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MentionPlace {
    /// The name with its sign.
    pub span: Span,
    /// Those that it names, without the speaker.
    pub participants: Vec<ParticipantId>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The words themselves are kept beside the envelope.
fn that_there_are_words<S: serde::Serializer>(
    _: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("")
}

/// Where a conversation of a task comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOrigin {
    /// The stream of the task.
    pub task: StreamId,
    /// Its title was given, and is not made of the names of those in it.
    pub titled: bool,
    /// Those for whom it began, in the order given.
    pub participants: Vec<ParticipantId>,
    /// It began together with its task.
    #[serde(default, skip_serializing_if = "is_false")]
    pub first: bool,
}

/// One decision of a control event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "a control event holds a handful of changes; boxing the common one would cost more"
)]
pub enum Change {
    /// A participant was invited, or its profile changed.
    Invited {
        /// The participant's id in this conversation.
        participant: ParticipantId,
        /// Person or agent.
        kind: Kind,
        /// What this invite said.
        given: Profile,
        /// The profile after it.
        profile: Profile,
        /// What the registry knew.
        facts: AgentFacts,
        /// Confusable skeleton of its name.
        skeleton: String,
        /// Where it can be reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<Address>,
        /// Its number in a link or gathering.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u32>,
        /// Its part in a gathering.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<SeatRole>,
        /// The grant of a way to its terminal, if it has one or gets one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reach: Option<TerminalReach>,
    },
    /// A participant left or was removed.
    Uninvited {
        /// The participant's id in this conversation.
        participant: ParticipantId,
        /// It left with the task that the conversation belongs to.
        #[serde(default, skip_serializing_if = "is_false")]
        left: bool,
    },
    /// These may not speak.
    Muted {
        /// The participants that it is about, in order.
        targets: Vec<ParticipantId>,
    },
    /// These may speak again.
    Unmuted {
        /// The participants that it is about, in order.
        targets: Vec<ParticipantId>,
    },
    /// Agents stand still, or go on.
    Paused {
        /// Whether it is paused now.
        on: bool,
    },
    /// Whether agents' mentions wake other agents under `mention_only`.
    Discussion {
        /// Whether it is on after this.
        on: bool,
        /// The second switch; both are needed.
        allow_agent_mentions: bool,
    },
    /// Whether unaddressed human messages ask every invited agent under `mention_only`.
    InvitedAuto {
        /// Whether it is on after this.
        on: bool,
    },
    /// These get a turn now.
    Prodded {
        /// The participants that it is about, in order.
        targets: Vec<ParticipantId>,
    },
    /// Other rules, or other settings.
    PolicySet {
        /// The policy after it.
        policy: Policy,
        /// The keys a `config` control named; nothing when the policy was replaced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch: Option<Map<String, Value>>,
    },
    /// A guard's hold was lifted.
    #[serde(rename = "released")]
    GuardLifted,
    /// What is said goes to this outside target too, and the stream holds the claim on it.
    Bound {
        /// The target, such as `chat:telegram:-100123`.
        target: String,
    },
    /// The target is free again.
    Unbound {
        /// The target, such as `chat:telegram:-100123`.
        target: String,
    },
    /// The conversation may spend more than its budget for a while.
    BudgetRaised(Raise),
}

/// Why a participant got a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TurnReason {
    /// Somebody named it.
    Forced,
    /// It was asked whether it has something to say.
    Polled,
    /// Another agent said something since its own last turn.
    Reaction,
    /// Its place in the round came.
    Round,
    /// It holds the talking piece.
    Piece,
    /// A beat of its hold, or the last word.
    Beat,
    /// A linked member said something.
    Link,
    /// A person asked for it.
    Prod,
    /// Something came of what it had asked for.
    Outcome,
}

/// What a turn is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TurnKind {
    /// To say something.
    #[default]
    Reply,
    /// To hear something; what it says stays in the trace.
    Listen,
}

/// Why an agent stayed silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum WhyNot {
    /// It had nothing to say.
    Passed,
    /// The limit of replies, depth or exchanges was reached.
    Capped,
    /// It had spoken too recently.
    Cooled,
    /// It is muted.
    Muted,
    /// The conversation is paused.
    Paused,
    /// It runs nowhere and no client of it is connected.
    Offline,
    /// It was not asked: it passes habitually, or others were addressed.
    Skipped,
    /// A guard or a gathering keeps the floor from it.
    Held,
    /// A budget of turns or money is used up.
    OverBudget,
    /// Its client reads and speaks when it likes; it has not said that it takes turns.
    ReadsOnly,
    /// Too many messages waited already.
    QueueFull,
    /// Another message waited, and the patience of the round was used up.
    RoundOver,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// It said something, or listened.
    Spoke,
    /// It had nothing to say.
    Passed,
    /// It could not answer.
    Failed,
    /// Its time ran out.
    Expired,
    /// Somebody, or a change, took the turn away.
    Cancelled,
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Stable word, e.g. `exit_status`.
    pub code: String,
    /// One sentence for people.
    pub message: String,
    /// The prompt reached a program with a memory of its own, so its next prompt does not repeat
    /// it.
    #[serde(default, rename = "told", skip_serializing_if = "is_false")]
    pub prompt_delivered: bool,
}

impl Fault {
    /// The code where a person cancelled the turn.
    pub const CANCELLED: &str = "cancelled";

    /// True if a provider takes no more requests for now, which agents that share it find out one
    /// after the other.
    pub fn is_of_limits(&self) -> bool {
        matches!(self.code.as_str(), "provider_rate_limited" | "circuit_open")
    }

    /// Returns how the turn ended, as the words after the agent's name: a refusal and an
    /// interruption are not errors.
    pub fn outcome(&self) -> &'static str {
        match self.code.as_str() {
            "refused" => "was refused what it asked",
            "gave_up" => "had no answer to what it asked",
            "interrupted" => "was interrupted",
            _ => "encountered an error",
        }
    }

    /// A fault from its two halves.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), prompt_delivered: false }
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Why text stayed in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SuppressedBecause {
    /// Its turn, or that attempt of it, was over.
    Late,
    /// Its speaker was muted.
    Muted,
    /// The conversation was paused.
    Paused,
    /// The conversation was archived.
    Archived,
    /// Its speaker was no longer invited.
    Uninvited,
    /// It answered a turn that was only for listening.
    Listening,
    /// Its speaker did not hold the talking piece.
    NoPiece,
    /// A limit had been reached.
    Capped,
    /// A person had stopped its turn, of which the words that were shown by then stand in the
    /// conversation. It cannot be published.
    Stopped,
    /// A guard held the conversation, and the words answered no turn.
    Held,
    /// A person had stopped the conversation, and the words answered no turn.
    AfterStop,
    /// The model thought it and did not say it.
    Thought,
    /// Its turn failed before the answer was whole.
    Unfinished,
}

/// Everything that can happen in a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Event {
    /// The conversation began.
    Created {
        /// Its title.
        name: String,
        /// Who began it.
        by: ParticipantId,
        /// The floor policy, with its settings.
        policy: Policy,
        /// The task that owns it, where one does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskOrigin>,
    },
    /// It has another title.
    Renamed {
        /// The title.
        name: String,
        /// Who renamed it.
        by: ParticipantId,
    },
    /// It takes no more messages.
    Archived {
        /// Who archived it.
        by: ParticipantId,
    },
    /// It takes messages again.
    Unarchived {
        /// Who reopened it.
        by: ParticipantId,
    },
    /// It is gone: nothing follows, and the log erases everything before it.
    Deleted {
        /// Who deleted it.
        by: ParticipantId,
    },
    /// Somebody changed who is here or how turns are given.
    Controlled {
        /// The participant who did it.
        by: ParticipantId,
        /// What, in order.
        changes: Vec<Change>,
        /// Who did was the client's word.
        #[serde(default, skip_serializing_if = "is_false")]
        unproven: bool,
    },
    /// Somebody said something.
    Posted(Posted),
    /// A client kept something of its own kind here.
    #[serde(rename = "foreign")]
    #[strum(serialize = "foreign")]
    Custom {
        /// The participant who sent it.
        from: ParticipantId,
        /// Whom it addresses.
        to: Recipient,
        /// Its type, as the client calls it.
        kind: String,
        /// Its content, as given.
        content: Value,
        /// Labels the client gave.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
        /// What it refers to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<Cause>,
        /// Whose it is was the client's word.
        #[serde(default, skip_serializing_if = "is_false")]
        unproven: bool,
    },
    /// The server tells people something.
    Noticed {
        /// Stable word, e.g. `turn_limit`.
        code: String,
        /// One sentence.
        text: String,
        /// Whom it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<ParticipantId>,
        /// What gave rise to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    },
    /// The time of a queued message came.
    Taken {
        /// The message that it is about.
        cause: Cause,
    },
    /// A human message is being answered, agent after agent.
    RoundOpened {
        /// The message that it is about.
        cause: Cause,
        /// The largest number of visible replies that the message gets.
        cap: u32,
        /// Who must answer, in order.
        forced: Vec<ParticipantId>,
        /// Who may, in order.
        polled: Vec<ParticipantId>,
        /// Whether those named by replies are the only ones who may react.
        #[serde(default, skip_serializing_if = "is_false")]
        targeted: bool,
        /// A person said who answers, and nobody else does.
        #[serde(default, skip_serializing_if = "is_false")]
        asked: bool,
    },
    /// Agents may react to each other, once.
    ReactionOpened {
        /// Who must, in order.
        forced: Vec<ParticipantId>,
        /// Who may, in order.
        polled: Vec<ParticipantId>,
    },
    /// The message is answered.
    RoundClosed,
    /// The time of an answer has come that was late for its round: those who have not reacted to
    /// the message may.
    RoundReopened {
        /// The message that it is about.
        cause: Cause,
        /// The position of the late answer.
        reply: Seq,
    },
    /// An agent was not asked.
    Skipped {
        /// The participant that it is about.
        participant: ParticipantId,
        /// The reason for which no turn is given.
        why_not: WhyNot,
        /// The event that gave rise to it.
        cause: Cause,
        /// More words, where they help.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// A participant may speak.
    TurnGranted {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The participant that it is about.
        participant: ParticipantId,
        /// The reason for which the turn is given.
        why: TurnReason,
        /// Whether it is to say something or only to listen.
        #[serde(default)]
        kind: TurnKind,
        /// Whether `[PASS]` is offered.
        may_pass: bool,
        /// The event that gave rise to it.
        cause: Cause,
        /// When it ends if nothing accepts it.
        expires: Timestamp,
        /// Until when the floor waits for it, where it does. (Ruling 12.)
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patience: Option<Timestamp>,
    },
    /// The floor goes on without waiting for it; it runs on.
    TurnReleased {
        /// The number of the turn in its conversation.
        turn: TurnNo,
    },
    /// A waiting turn got another cause.
    TurnWidened {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The reason for which the turn is given, after this.
        why: TurnReason,
        /// Whether it is to say something or only to listen, after this.
        #[serde(default)]
        kind: TurnKind,
        /// Whether `[PASS]` is offered, now.
        may_pass: bool,
        /// The newest event that the turn is about.
        cause: Cause,
    },
    /// The runtime accepted it; its range is fixed.
    TurnStarted {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// Which attempt at the turn this is, from 1; a restart begins another.
        attempt: u32,
        /// It covers what comes after this.
        from_seq: Seq,
        /// Up to and with this.
        through_seq: Seq,
        /// When it ends if there is no answer.
        deadline: Timestamp,
    },
    /// A restart lost it; it waits to be run again as the next attempt.
    TurnLost {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The attempt that was lost.
        attempt: u32,
        /// When it ends if nothing takes it up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
    },
    /// The turn is over.
    TurnEnded {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The participant whose turn it was.
        participant: ParticipantId,
        /// The number of its last attempt, from 1.
        attempt: u32,
        /// How it ended.
        outcome: Outcome,
        /// More, where it did not speak.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
        /// Time, tokens and money that the turn used.
        usage: Usage,
        /// The way in which its model ended its answer, as far as its provider says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<Ending>,
    },
    /// Text that was not shown. Nothing an agent wrote is thrown away.
    #[serde(rename = "kept")]
    #[strum(serialize = "kept")]
    Suppressed {
        /// The participant who wrote the words.
        participant: ParticipantId,
        /// The turn that the words were for; nothing where they answered none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnNo>,
        /// Why it was not shown.
        because: SuppressedBecause,
        /// Bytes of the words, where they count toward what is kept of one who is refused again and
        /// again; 0 where they do not.
        #[serde(default, skip_serializing_if = "is_zero")]
        counted: u64,
        /// The words, kept beside the envelope.
        #[serde(default, skip_serializing)]
        body: String,
    },
    /// Words that were refused and are not kept: so many of this participant's were already that
    /// more are only counted.
    #[serde(rename = "unkept")]
    #[strum(serialize = "unkept")]
    Discarded {
        /// The participant who wrote them.
        participant: ParticipantId,
        /// The number of contributions that were refused and not kept.
        count: u64,
        /// How long they were together.
        bytes: u64,
        /// Until when that goes on, at its beginning; nothing at its end, which tells what came
        /// after the beginning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A running turn waits for a person's permission.
    PermissionRequested {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The turn that stands still.
        turn: TurnNo,
        /// The agent that asks.
        participant: ParticipantId,
        /// The exact action.
        action: String,
        /// What can be answered.
        options: Vec<PermissionOption>,
        /// When it counts as refused.
        expires: Timestamp,
        /// The action is only a part of what would be done.
        #[serde(default, skip_serializing_if = "is_false")]
        partial: bool,
        /// The folder in which it would be done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// The command with which a person can look at it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        look: Option<String>,
        /// It is asked as long as its dialog stands, whatever `expires` says.
        #[serde(default, skip_serializing_if = "is_false")]
        stands: bool,
    },
    /// A person answered it.
    PermissionAnswered {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The participant who did it.
        by: ParticipantId,
        /// The id of one of its options.
        option: String,
        /// That option's words, where they are not its id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// Words of their own, where the option takes any. They are the event's body: the envelope
        /// says only that there are some, and they can be erased.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "that_there_are_words"
        )]
        text: Option<String>,
    },
    /// The time to answer a request is over. A question ends as [`Withdrawn::GaveUp`]; in logs of
    /// earlier versions it ends like this.
    PermissionExpired {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
    },
    /// Nobody needs to answer it any more, or an answer came too late for what it was about.
    PermissionWithdrawn {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// Why nobody is asked any more.
        because: WithdrawalReason,
    },
    /// An agent's program asks something in no turn, such as whether a folder is trusted. It is
    /// answered as a permission is, and has no deadline: whoever asked says when it is not asked
    /// any more.
    QuestionAsked {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// Whose program asks.
        participant: ParticipantId,
        /// What it asks.
        action: String,
        /// What can be answered.
        options: Vec<PermissionOption>,
        /// The action is only a part of what is asked.
        #[serde(default, skip_serializing_if = "is_false")]
        partial: bool,
        /// The folder that the program works in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// The command with which a person can look at it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        look: Option<String>,
    },
    /// An agent asks to have a program started: a permission of no turn. It is answered as the
    /// others are.
    StartRequested {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The agent that asks.
        participant: ParticipantId,
        /// The program, its arguments, folder and first message.
        start: StartRequest,
        /// The same, as people are shown it.
        action: String,
        /// What can be answered.
        options: Vec<PermissionOption>,
        /// When it counts as refused.
        expires: Timestamp,
        /// The folder, as people are shown it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// Something came of it.
    StartSettled {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The agent that asked.
        participant: ParticipantId,
        /// The program, its arguments, folder and first message.
        start: StartRequest,
        /// What came of it.
        outcome: StartOutcome,
    },
    /// A session asks to talk to one that it has not met: a permission of no turn.
    TalkRequested {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The agent that asks.
        participant: ParticipantId,
        /// The other session and the first words.
        talk: TalkRequest,
        /// The same, as people are shown it.
        action: String,
        /// The options of an answer.
        options: Vec<PermissionOption>,
        /// When it counts as refused.
        expires: Timestamp,
    },
    /// A wish to talk has an outcome.
    TalkSettled {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The agent that asked.
        participant: ParticipantId,
        /// The other session and the first words.
        talk: TalkRequest,
        /// The outcome.
        outcome: TalkOutcome,
    },
    /// A person stopped everything.
    Stopped {
        /// The participant who did it.
        by: ParticipantId,
        /// Agents' own words are held back until a person speaks. Logs from before that do not say.
        #[serde(default, skip_serializing_if = "is_false")]
        holds: bool,
    },
    /// A guard holds the floor until a person goes on.
    #[serde(rename = "held")]
    #[strum(serialize = "held")]
    GuardTripped {
        /// The guard that tripped.
        guard: Guard,
    },
    /// A budget is used up: nobody is asked on it until there is some again, or a person raises it.
    /// Told once for each window.
    BudgetSpent {
        /// Which, and until when.
        spent: SpentBudget,
        /// The currency of a limit of money.
        currency: String,
        /// Who is the first that is not asked.
        about: ParticipantId,
        /// The event that gave rise to it.
        cause: Cause,
    },
    /// Time stood still; open deadlines and beats moved by so much.
    #[serde(rename = "resumed")]
    #[strum(serialize = "resumed")]
    ClockShifted {
        /// How long, in milliseconds.
        downtime: Millis,
    },
    /// The registry says something else about a participant's client.
    FactsChanged {
        /// The participant that it is about.
        participant: ParticipantId,
        /// What it says now.
        facts: AgentFacts,
    },
    /// The body of an event was erased.
    Redacted {
        /// The position of the event.
        seq: Seq,
        /// Who erased it.
        by: ParticipantId,
        /// Whether it was a message that had words. Logs of earlier versions do not say.
        #[serde(default, skip_serializing_if = "is_false")]
        message: bool,
        /// Summaries that were made of it, and are erased with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        summaries: Vec<Seq>,
    },
    /// A participant that rebuilds its memory from the log summed up what no longer fits into it.
    Summarised {
        /// Whose memory it is.
        participant: ParticipantId,
        /// The turn for which it was made.
        turn: TurnNo,
        /// It covers what took effect up to and with this.
        through_seq: Seq,
        /// The oldest summary of the same participant, which this one erases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<Seq>,
        /// What it used; the turn's own figure includes it.
        usage: Usage,
        /// The words, kept beside the envelope.
        #[serde(default, skip_serializing)]
        body: String,
    },
    /// A gathering moved on.
    Gathering(GatheringEvent),
    /// Something happened to a task: in the stream of a task, and nowhere else.
    Task(TaskEvent),
}

/// The guards that can hold a floor. (Rulings 16 and 18.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Guard {
    /// Too many agent contributions since a human said something.
    Exchanges,
    /// Two agents answered each other too often in a minute.
    Pair,
    /// The same words came again and again.
    Repeat,
    /// A person stopped a gathering.
    Stopped,
}

impl Posted {
    /// Words of the server itself, to all.
    pub(crate) fn of_server(body: String) -> Self {
        Self {
            from: ParticipantId::moothall(),
            kind: Kind::Agent,
            to: Recipient::All,
            body,
            mentions: Vec::new(),
            places: Box::default(),
            depth: 0,
            typed_at: None,
            elsewhere: Vec::new(),
            asks: Vec::new(),
            unproven: false,
            unasked: false,
            own: None,
            resets: false,
            reply_to: None,
            turn: None,
            tags: Vec::new(),
            via: true,
            queued: false,
            queue_full: false,
            late: None,
            stopped: false,
            published: None,
            error: None,
            fingerprint: 0,
            parts: Vec::new(),
            only_for: None,
            ended: None,
            thought: false,
            silence: None,
            unknown: None,
        }
    }

    /// Returns the first name in them that reaches no participant: one that no participant bears,
    /// with the nearest, or one for all.
    pub fn stray_name(&self) -> Option<&Silence> {
        let is_stray = |reason| matches!(reason, Reason::UnknownName | Reason::Broadcast);
        let silence = self.silence.iter().chain(&self.unknown);
        silence.map(Box::as_ref).find(|silence| is_stray(silence.reason))
    }

    /// Who need not be told of it: its speaker, or the one in whose terminal it was typed.
    pub fn author(&self) -> &ParticipantId {
        self.typed_at.as_ref().unwrap_or(&self.from)
    }

    /// True if a participant is told of them by other ways than this conversation's.
    pub(crate) fn is_heard_elsewhere(&self, by: &ParticipantId) -> bool {
        self.elsewhere.contains(by)
    }

    /// Whom they address and name, in order, once each, without the speaker.
    pub(crate) fn addressees(&self) -> Vec<ParticipantId> {
        let to =
            if let Recipient::One(id) = &self.to { Some(id).filter(|id| **id != self.from) } else { None };
        let named = self.mentions.iter().filter(|id| Some(*id) != to);
        to.into_iter().chain(named).cloned().collect()
    }

    /// True for an agent's words, if it said them itself: other words are compared with them.
    pub(crate) fn is_agents_voice(&self) -> bool {
        let kept = self.stopped || self.published.is_some();
        !self.is_persons() && !kept && self.from.as_str() != ParticipantId::MOOTHALL
    }

    /// True for words of a person that asked no agent because a guard held the conversation: they
    /// came without proof, and lifted the hold too often before. (Ruling 41.)
    pub fn is_held_for_proof(&self) -> bool {
        self.is_persons() && self.unproven && self.typed_at.is_none() && !self.resets
    }

    /// Whether they are a person's words.
    pub fn is_persons(&self) -> bool {
        self.kind == Kind::Human
    }

    /// Whether no proven person stands at the root of what these words lead to: a person's words
    /// count with a proof, an agent's as what they answer does.
    pub fn lacks_person(&self) -> bool {
        match self.kind {
            Kind::Human => self.unproven || self.typed_at.is_some(),
            Kind::Agent => self.unasked,
        }
    }
}

impl Event {
    /// Its stable kind, as the store files it.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// Who may see it.
    pub fn audience(&self) -> Audience {
        match self {
            Event::Posted(Posted { only_for: Some(others), from, .. }) => {
                Audience::Only(others.iter().chain([from]).cloned().collect())
            }
            Event::Created { .. }
            | Event::Renamed { .. }
            | Event::Archived { .. }
            | Event::Unarchived { .. }
            | Event::Deleted { .. }
            | Event::Controlled { .. }
            | Event::Posted(_)
            | Event::Custom { .. }
            | Event::Noticed { .. }
            | Event::PermissionRequested { .. }
            | Event::PermissionAnswered { .. }
            | Event::PermissionExpired { .. }
            | Event::PermissionWithdrawn { .. }
            | Event::QuestionAsked { .. }
            | Event::StartRequested { .. }
            | Event::StartSettled { .. }
            | Event::TalkRequested { .. }
            | Event::TalkSettled { .. }
            | Event::Stopped { .. }
            | Event::GuardTripped { .. }
            | Event::BudgetSpent { .. }
            | Event::Redacted { .. }
            | Event::Gathering(_) => Audience::All,
            Event::TurnGranted { participant, .. } | Event::TurnEnded { participant, .. } => {
                Audience::Only(vec![participant.clone()])
            }
            Event::Taken { .. }
            | Event::RoundOpened { .. }
            | Event::ReactionOpened { .. }
            | Event::RoundClosed
            | Event::RoundReopened { .. }
            | Event::Skipped { .. }
            | Event::TurnWidened { .. }
            | Event::TurnReleased { .. }
            | Event::TurnStarted { .. }
            | Event::TurnLost { .. }
            | Event::Suppressed { .. }
            | Event::Discarded { .. }
            | Event::ClockShifted { .. }
            | Event::FactsChanged { .. }
            | Event::Summarised { .. }
            | Event::Task(_) => Audience::Operators,
        }
    }

    /// Its words, where it has any of its own.
    pub fn body(&self) -> Option<&str> {
        match self {
            Event::Posted(posted) => Some(&posted.body),
            Event::Suppressed { body, .. } | Event::Summarised { body, .. } => Some(body),
            Event::PermissionAnswered { text, .. } => text.as_deref(),
            _ => None,
        }
    }

    /// Whether no proven person stands at the root of what it leads to. What nobody said or did is
    /// the server's own doing.
    pub fn lacks_person(&self) -> bool {
        match self {
            Event::Posted(posted) => posted.lacks_person(),
            Event::Controlled { unproven, .. } | Event::Custom { unproven, .. } => *unproven,
            Event::StartSettled { outcome, .. } => *outcome == StartOutcome::Expired,
            Event::TalkSettled { outcome, .. } => *outcome == TalkOutcome::Expired,
            other => other.from().is_none(),
        }
    }

    /// Whether its words were erased. Nothing is ever said or kept without words, so empty words
    /// are erased ones.
    pub fn is_erased(&self) -> bool {
        self.body().is_some_and(str::is_empty)
    }

    /// Whether prompts tell it, as something that somebody said. What the server itself says in a
    /// conversation is for people.
    pub fn is_told(&self) -> bool {
        matches!(self, Event::Posted(posted) if posted.from.as_str() != ParticipantId::MOOTHALL)
            && !self.is_erased()
    }

    /// The events whose words this one erases.
    pub fn erases(&self) -> impl Iterator<Item = Seq> {
        let (one, more): (Option<Seq>, &[Seq]) = match self {
            Event::Redacted { seq, summaries, .. } => (Some(*seq), summaries),
            Event::Summarised { replaces, .. } => (*replaces, &[]),
            _ => (None, &[]),
        };
        one.into_iter().chain(more.iter().copied())
    }

    /// Whether it erases everything before it, and not its words alone.
    pub fn erases_all(&self) -> bool {
        matches!(self, Event::Deleted { .. })
    }

    /// Forgets its words.
    pub fn erase(&mut self) {
        match self {
            Event::Posted(posted) => posted.body = String::new(),
            Event::Suppressed { body, .. } | Event::Summarised { body, .. } => {
                *body = String::new()
            }
            Event::PermissionAnswered { text: Some(text), .. } => *text = String::new(),
            _ => {}
        }
    }

    /// Puts back the words that the store kept beside the envelope.
    #[must_use]
    pub fn with_body(mut self, text: String) -> Event {
        match &mut self {
            Event::Posted(posted) => posted.body = text,
            Event::Suppressed { body, .. } | Event::Summarised { body, .. } => *body = text,
            Event::PermissionAnswered { text: Some(words), .. } => *words = text,
            _ => {}
        }
        self
    }

    /// Who brought it about, when it was somebody's doing.
    pub fn from(&self) -> Option<&ParticipantId> {
        match self {
            Event::Created { by, .. }
            | Event::Renamed { by, .. }
            | Event::Archived { by }
            | Event::Unarchived { by }
            | Event::Deleted { by }
            | Event::Controlled { by, .. }
            | Event::Stopped { by, .. }
            | Event::PermissionAnswered { by, .. }
            | Event::Redacted { by, .. } => Some(by),
            Event::Posted(Posted { from, .. }) | Event::Custom { from, .. } => Some(from),
            _ => None,
        }
    }
}
