//! The events of a conversation, in the past tense. Logs store them, so variants and fields are
//! only ever added.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::budget::{Raise, SpentBudget};
use crate::model::chat::PostOrigin;
use crate::model::ending::Ending;
use crate::model::gathering::GatheringEvent;
use crate::model::hosted::{FarOrigin, HostedKey, HostedWords};
use crate::model::ids::{ComputerId, EventId, ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use crate::model::link::{JoinedConversation, PartReason};
use crate::model::message_part::{PartPlace, Span};
use crate::model::own::OwnWords;
use crate::model::participant::{Address, AgentFacts, Kind, Profile, SeatRole, TerminalReach};
use crate::model::permission::{ActionDetail, PermissionOption, WithdrawalReason};
use crate::model::settings::Policy;
use crate::model::silence::{Reason, Silence};
use crate::model::start::{StartOutcome, StartRequest};
use crate::model::talk::{TalkOutcome, TalkRequest};
use crate::model::task_event::TaskEvent;
use crate::model::time::{Millis, Timestamp};
pub use crate::model::turn_kind::TurnKind;
pub use crate::model::usage::Usage;

/// An event at its place in a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedEvent {
    /// The position of the event in its stream, from 1.
    pub seq: Seq,
    /// Time of the append; rises strictly within a stream.
    pub ts: Timestamp,
    /// The event itself.
    pub event: Event,
}

impl RecordedEvent {
    /// Returns the public id of the event.
    pub fn id(&self, stream: &StreamId) -> EventId {
        EventId::of(stream, self.seq, self.ts)
    }
}

/// A pointer to an event that gave rise to another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The position of the event in its stream, from 1.
    pub seq: Seq,
    /// Public id of the event.
    pub id: EventId,
    /// The author of the event's words.
    pub from: ParticipantId,
    /// Steps away from a person's message, which has depth 0.
    pub depth: u32,
    /// True if no proven person is anywhere in the chain of causes: see [`Event::lacks_person`].
    /// Guards and budgets read this flag and look nowhere else. Logs of earlier versions do not
    /// have it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unproven: bool,
}

/// The addressee of a message. Addressing hides nothing from other participants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipient {
    /// The whole conversation.
    #[default]
    All,
    /// One participant.
    One(ParticipantId),
}

/// The readers of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// All participants of the conversation.
    All,
    /// These participants, and operators.
    Only(Vec<ParticipantId>),
    /// Operators alone: events that explain decisions.
    Operators,
}

/// A message of a participant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// The speaker.
    pub from: ParticipantId,
    /// Person or agent, at the time of the message.
    pub kind: Kind,
    /// The addressee.
    pub to: Recipient,
    /// The words. The store keeps them apart from the envelope, so that they can be erased.
    #[serde(default, skip_serializing)]
    pub body: String,
    /// Invited participants that the words name, in the order of the names, without the speaker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<ParticipantId>,
    /// Places of those names in the words. Empty in logs of earlier versions.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub places: Box<[MentionPlace]>,
    /// Steps away from a person's message.
    pub depth: u32,
    /// The participant at whose own terminal a person typed the words. It has read them there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed_at: Option<ParticipantId>,
    /// Participants who hear the same words in another conversation, and so get no turn for them in
    /// this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<ParticipantId>,
    /// True if only the client or a terminal says who the speaker is, without proof.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unproven: bool,
    /// True for an agent's words if no proven person is anywhere in their chain of causes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unasked: bool,
    /// Findings about an agent's words that answer no turn. Without findings, as in logs of earlier
    /// versions, the words count as an exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnWords>,
    /// True if a person's words without proof reset the guards and end a hold.
    #[serde(default, skip_serializing_if = "is_false")]
    pub resets: bool,
    /// Agents that a person asks to answer, one after the other. No other agent is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<ParticipantId>,
    /// The event that the words reply to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<Cause>,
    /// The turn that the words answer; `None` for a person and for unsolicited words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnNo>,
    /// Labels that the client gave, and the server's `coordinator` and `error`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// True if the server wrote the message on the speaker's behalf.
    #[serde(default, skip_serializing_if = "is_false")]
    pub via: bool,
    /// True if the message came while earlier ones were being handled. An [`Event::Taken`] follows
    /// when its time comes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub queued: bool,
    /// True if the queue was full: the message is posted, does not wait, and asks no agent.
    #[serde(default, skip_serializing_if = "is_false")]
    pub queue_full: bool,
    /// The message that these words answer, if its round was already closed. Reactions to the words
    /// wait in the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Seq>,
    /// True if a person stopped the speaker: the words are the part of its answer that was shown by
    /// then. They wake no agent.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stopped: bool,
    /// The reason for which the model's answer ended, if its provider gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ending>,
    /// True if the words are thoughts: the model said nothing else.
    #[serde(default, skip_serializing_if = "is_false")]
    pub thought: bool,
    /// Position of the text in the trace that a person published with this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Seq>,
    /// The fault, if the message reports one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<Fault>>,
    /// Hash of the folded words, for the repeat guard.
    #[serde(default)]
    pub fingerprint: u32,
    /// Places of the message's parts in the words, if it has several.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub parts: Box<[PartPlace]>,
    /// Readers besides the speaker and operators; `None` means all participants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_for: Option<Vec<ParticipantId>>,
    /// The place outside of the server from which the words came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<PostOrigin>>,
    /// The reason for which the words ask no agent, if they ask none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<Box<Silence>>,
    /// A name in the words that no participant bears, or a name for all, unless `silence` says so
    /// already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Box<Silence>>,
    /// The turn for a conversation of another computer that the words ask or answer. Such words
    /// belong to that conversation: here they wake no agent, count for no guard, and are in no
    /// later prompt. (Ruling 35.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosted: Option<Box<HostedWords>>,
    /// The computer from which the words came, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far: Option<Box<FarOrigin>>,
}

/// A place in words that names participants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MentionPlace {
    /// The name with its sign.
    pub span: Span,
    /// The participants that the name means, without the speaker.
    pub participants: Vec<ParticipantId>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Serializes only that there are words. The store keeps the words apart from the envelope.
fn that_there_are_words<S: serde::Serializer>(
    _: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("")
}

/// The task for which a conversation began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOrigin {
    /// The stream of the task.
    pub task: StreamId,
    /// True if the title was given. Otherwise it is made of the participants' names.
    pub titled: bool,
    /// Participants for whom the conversation began, in the order given.
    pub participants: Vec<ParticipantId>,
    /// True if the conversation began together with its task.
    #[serde(default, skip_serializing_if = "is_false")]
    pub first: bool,
}

/// One change of a control event.
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
        /// The profile fields of this invitation.
        given: Profile,
        /// The merged profile after this invitation.
        profile: Profile,
        /// The registry's facts about the client.
        facts: AgentFacts,
        /// Confusable skeleton of the participant's name.
        skeleton: String,
        /// Address of the participant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<Address>,
        /// The name by which people write a participant of another computer, such as
        /// `builder@workstation`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_name: Option<String>,
        /// The participant's number in a link or gathering.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u32>,
        /// The participant's part in a gathering.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<SeatRole>,
        /// The grant of access to the participant's terminal, if it has one or gets one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reach: Option<TerminalReach>,
    },
    /// A participant left or was removed.
    Uninvited {
        /// The participant's id in this conversation.
        participant: ParticipantId,
        /// True if the participant left because it left the task that the conversation belongs to.
        #[serde(default, skip_serializing_if = "is_false")]
        left: bool,
    },
    /// Participants must not speak any more.
    Muted {
        /// The muted participants, in order.
        targets: Vec<ParticipantId>,
    },
    /// Participants may speak again.
    Unmuted {
        /// The unmuted participants, in order.
        targets: Vec<ParticipantId>,
    },
    /// The conversation was paused or resumed.
    Paused {
        /// True if the conversation is paused from now on.
        on: bool,
    },
    /// Sets if agents' mentions wake other agents under `mention_only`.
    Discussion {
        /// True if discussion is on after this change.
        on: bool,
        /// The second switch; both are needed.
        allow_agent_mentions: bool,
    },
    /// Sets if unaddressed messages of people ask every invited agent under `mention_only`.
    InvitedAuto {
        /// True if the switch is on after this change.
        on: bool,
    },
    /// Agents get a turn now, because a person asked for it.
    Prodded {
        /// The prodded agents, in order.
        targets: Vec<ParticipantId>,
    },
    /// The policy or its settings changed.
    PolicySet {
        /// The policy after this change.
        policy: Policy,
        /// The keys that a `config` control named; `None` if the policy was replaced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch: Option<Map<String, Value>>,
    },
    /// A guard's hold was lifted.
    #[serde(rename = "released")]
    GuardLifted,
    /// The conversation holds a target: a key, such as a link's, or a chat, to which words go too.
    /// The stream has the claim on the target.
    Bound {
        /// The target, such as `chat:telegram:-100123`.
        target: String,
    },
    /// The conversation released a target.
    Unbound {
        /// The target, such as `chat:telegram:-100123`.
        target: String,
    },
    /// The conversation may spend more than its budget until a given time.
    BudgetRaised(Raise),
}

/// The reason for which a participant got a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TurnReason {
    /// A message named the participant.
    Forced,
    /// The participant may answer, and may pass.
    Polled,
    /// Another agent has spoken since the participant's last turn.
    Reaction,
    /// The participant's place in the round came.
    Round,
    /// The participant holds the talking piece.
    Piece,
    /// A beat of the participant's hold, or its last word.
    Beat,
    /// A linked member said something.
    Link,
    /// A person asked for the turn.
    Prod,
    /// A request of the participant has an outcome.
    Outcome,
    /// A conversation of another computer asks the participant. (Ruling 35.)
    Hosted,
}

/// The reason for which an agent stayed silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum WhyNot {
    /// The agent passed.
    Passed,
    /// A limit of replies, depth or exchanges was reached.
    Capped,
    /// The agent had spoken less than `cooldown_seconds` ago.
    Cooled,
    /// The agent is muted.
    Muted,
    /// The conversation is paused.
    Paused,
    /// The agent has no runtime here, and no client of it is connected.
    Offline,
    /// The agent was not asked: it passes habitually, others were addressed, or another of its
    /// turns covers the message.
    Skipped,
    /// A guard or a gathering keeps the floor from the agent.
    Held,
    /// A budget of turns or money is used up.
    OverBudget,
    /// The agent's client reads and speaks when it likes: it has not said that it takes turns.
    ReadsOnly,
    /// The agent's session in a terminal has ended, and the message does not name the agent.
    Ended,
    /// Too many messages waited already.
    QueueFull,
    /// Another message waited, and the patience of the round was used up.
    RoundOver,
}

/// The result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::IntoStaticStr, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// The participant said something, or listened.
    Spoke,
    /// The participant passed.
    Passed,
    /// The participant could not answer.
    Failed,
    /// The turn's time ran out.
    Expired,
    /// A participant or a change of the conversation cancelled the turn.
    Cancelled,
}

/// A failure of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Stable code, e.g. `exit_status`.
    pub code: String,
    /// One sentence for people.
    pub message: String,
    /// True if the prompt reached a program with a memory of its own. Its next prompt does not
    /// repeat that one.
    #[serde(default, rename = "told", skip_serializing_if = "is_false")]
    pub prompt_delivered: bool,
}

impl Fault {
    /// The code for a turn that a person cancelled.
    pub const CANCELLED: &str = "cancelled";
    /// The code for a session that has ended, of turns and of the notice that tells of it.
    pub const SESSION_ENDED: &str = "session_ended";

    /// True if a provider takes no more requests for now. Agents that share the provider fail one
    /// after the other.
    pub fn is_of_limits(&self) -> bool {
        matches!(self.code.as_str(), "provider_rate_limited" | "circuit_open")
    }

    /// Returns the result as the words after the agent's name. A refusal, a question without
    /// an answer and an interruption have words of their own, because they are not errors.
    pub fn outcome(&self) -> &'static str {
        match self.code.as_str() {
            "refused" => "was denied permission",
            "gave_up" => "got no answer to its question",
            "interrupted" => "was interrupted",
            _ => "failed",
        }
    }

    /// Returns a fault whose prompt was not delivered.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), prompt_delivered: false }
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The reason for which text stayed in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SuppressedBecause {
    /// The turn, or that attempt of it, had ended, or a person had cancelled the turn that the
    /// words answer.
    Late,
    /// The speaker was muted.
    Muted,
    /// The conversation was paused.
    Paused,
    /// The conversation was archived.
    Archived,
    /// The speaker was no longer invited.
    Uninvited,
    /// The text answered a turn that was only for listening.
    Listening,
    /// The speaker did not hold the talking piece.
    NoPiece,
    /// A limit had been reached.
    Capped,
    /// A person had stopped the turn. The words that were shown by then are a message already, so
    /// this text cannot be published.
    Stopped,
    /// A guard held the conversation, and the words answered no turn.
    Held,
    /// A person had stopped the conversation, and the words answered no turn.
    AfterStop,
    /// The text is the model's thoughts.
    Thought,
    /// The turn ended before the answer was complete.
    Unfinished,
}

/// An event of a conversation or a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "most of what a log holds are messages; boxing them would cost more"
)]
pub enum Event {
    /// The conversation began.
    Created {
        /// Title of the conversation.
        name: String,
        /// The participant who created it.
        by: ParticipantId,
        /// The floor policy, with its settings.
        policy: Policy,
        /// The task that owns the conversation, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskOrigin>,
        /// The folder in which known programs work for the conversation, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// The conversation got another title.
    Renamed {
        /// The new title.
        name: String,
        /// The participant who renamed it.
        by: ParticipantId,
    },
    /// The conversation was archived and takes no more messages.
    Archived {
        /// The participant who archived it.
        by: ParticipantId,
    },
    /// The conversation was reopened and takes messages again.
    Unarchived {
        /// The participant who reopened it.
        by: ParticipantId,
    },
    /// The conversation was deleted. No event follows, and the log erases all earlier ones.
    Deleted {
        /// The participant who deleted it.
        by: ParticipantId,
    },
    /// A participant changed who is invited or how turns are given.
    Controlled {
        /// The participant who sent the control.
        by: ParticipantId,
        /// The changes, in order.
        changes: Vec<Change>,
        /// True if only the client says who `by` is, without proof.
        #[serde(default, skip_serializing_if = "is_false")]
        unproven: bool,
    },
    /// A participant said something.
    Posted(Posted),
    /// A client stored an event of a type of its own.
    #[serde(rename = "foreign")]
    #[strum(serialize = "foreign")]
    Custom {
        /// The participant who sent it.
        from: ParticipantId,
        /// The addressee.
        to: Recipient,
        /// The client's type for the event.
        kind: String,
        /// Its content, as given.
        content: Value,
        /// Labels the client gave.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
        /// The event that this one refers to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<Cause>,
        /// True if only the client says who `from` is, without proof.
        #[serde(default, skip_serializing_if = "is_false")]
        unproven: bool,
    },
    /// The server tells people something.
    Noticed {
        /// Stable code, e.g. `turn_limit`.
        code: String,
        /// One sentence for people.
        text: String,
        /// The participant that the notice is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<ParticipantId>,
        /// The event that gave rise to the notice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    },
    /// A queued message was taken from the queue.
    Taken {
        /// The message.
        cause: Cause,
    },
    /// A round began: agents answer a person's message, one after the other.
    RoundOpened {
        /// The message.
        cause: Cause,
        /// Largest number of visible replies to the message.
        cap: u32,
        /// Agents that must answer, in order.
        forced: Vec<ParticipantId>,
        /// Agents that may answer, in order.
        polled: Vec<ParticipantId>,
        /// True if only agents that a reply names may react.
        #[serde(default, skip_serializing_if = "is_false")]
        targeted: bool,
        /// True if a person said which agents answer. No other agent does.
        #[serde(default, skip_serializing_if = "is_false")]
        asked: bool,
    },
    /// The reactive part of a round began: each agent may react to the others once.
    ReactionOpened {
        /// Agents that must react, in order.
        forced: Vec<ParticipantId>,
        /// Agents that may react, in order.
        polled: Vec<ParticipantId>,
    },
    /// The round ended.
    RoundClosed,
    /// A round was reopened for an answer that came after its end. Agents that have not reacted to
    /// the message may do so.
    RoundReopened {
        /// The message of the round.
        cause: Cause,
        /// The position of the late answer.
        reply: Seq,
    },
    /// An agent was not asked.
    Skipped {
        /// The agent.
        participant: ParticipantId,
        /// The reason for which no turn is given.
        why_not: WhyNot,
        /// The event that gave rise to it.
        cause: Cause,
        /// An explanation, if the reason alone does not say enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
        /// The turn that another computer offered, if the refusal is about one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hosted: Option<Box<HostedKey>>,
    },
    /// A participant got a turn.
    TurnGranted {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The participant whose turn it is.
        participant: ParticipantId,
        /// The reason for which the turn is given.
        why: TurnReason,
        /// The purpose of the turn.
        #[serde(default)]
        kind: TurnKind,
        /// True if the prompt offers `[PASS]`.
        may_pass: bool,
        /// The event that gave rise to it.
        cause: Cause,
        /// Time at which the turn ends if no runtime accepts it.
        expires: Timestamp,
        /// Time until which the floor waits for the turn, if it does. (Ruling 12.)
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patience: Option<Timestamp>,
        /// The turn of another computer's conversation that the session answers in this turn, if
        /// the turn is hosted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hosted: Option<Box<HostedKey>>,
    },
    /// The floor stopped waiting for a turn. The turn runs on.
    TurnReleased {
        /// The number of the turn in its conversation.
        turn: TurnNo,
    },
    /// A waiting turn got another cause, or another reason or purpose.
    TurnWidened {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The new reason for the turn.
        why: TurnReason,
        /// The new purpose of the turn.
        #[serde(default)]
        kind: TurnKind,
        /// True if the prompt now offers `[PASS]`.
        may_pass: bool,
        /// The newest event that the turn is about.
        cause: Cause,
    },
    /// The runtime accepted a turn. The range of its prompt is fixed from now on.
    TurnStarted {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// Number of the attempt, from 1. A restart of the server begins another one.
        attempt: u32,
        /// The newest event before the prompt's range.
        from_seq: Seq,
        /// The last event of the prompt's range.
        through_seq: Seq,
        /// Time at which the turn ends without an answer.
        deadline: Timestamp,
        /// The turn of another computer's conversation that the session answers in this turn, if
        /// the turn is hosted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hosted: Option<Box<HostedKey>>,
    },
    /// A restart of the server lost a running turn. The turn waits to be run again as the next
    /// attempt.
    TurnLost {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// Number of the lost attempt.
        attempt: u32,
        /// Time at which the turn ends if no runtime accepts it again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
    },
    /// A turn ended.
    TurnEnded {
        /// The number of the turn in its conversation.
        turn: TurnNo,
        /// The participant whose turn it was.
        participant: ParticipantId,
        /// Number of its last attempt, from 1.
        attempt: u32,
        /// The result of the turn.
        outcome: Outcome,
        /// The fault, if the participant did not speak.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
        /// Time, tokens and money that the turn used.
        usage: Usage,
        /// The reason for which the model's answer ended, if its provider gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<Ending>,
        /// The turn of another computer's conversation that the session answered in this turn, if
        /// the turn was hosted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hosted: Option<Box<HostedKey>>,
    },
    /// Text was stored in the trace and not shown.
    #[serde(rename = "kept")]
    #[strum(serialize = "kept")]
    Suppressed {
        /// The participant who wrote the words.
        participant: ParticipantId,
        /// The turn that the words were for; `None` if they answered none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnNo>,
        /// The reason for which the text was not shown.
        because: SuppressedBecause,
        /// Bytes that count toward the limit on stored refused words of this participant; 0 if they
        /// do not count.
        #[serde(default, skip_serializing_if = "is_zero")]
        counted: u64,
        /// The words, stored apart from the envelope.
        #[serde(default, skip_serializing)]
        body: String,
    },
    /// Refused words were not stored, because too many refused words of this participant were
    /// stored already. They are only counted.
    #[serde(rename = "unkept")]
    #[strum(serialize = "unkept")]
    Discarded {
        /// The participant who wrote them.
        participant: ParticipantId,
        /// The number of contributions that were refused and not stored.
        count: u64,
        /// Their length together, in bytes.
        bytes: u64,
        /// Time until which words are only counted. `None` in the event that closes that time and
        /// counts the contributions after its first event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A running turn waits for a person's permission.
    PermissionRequested {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The turn that waits.
        turn: TurnNo,
        /// The agent that asks.
        participant: ParticipantId,
        /// The exact action that the agent wants to take.
        action: String,
        /// The answers that are offered.
        options: Vec<PermissionOption>,
        /// Time at which the permission counts as refused.
        expires: Timestamp,
        /// True if `action` is only a part of what would be done.
        #[serde(default, skip_serializing_if = "is_false")]
        partial: bool,
        /// The parts of the action, if the agent's program reports them one by one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<ActionDetail>,
        /// The folder in which it would be done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// The command with which a person can look at the question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        look: Option<String>,
        /// True if the question stays open as long as its dialog is shown, regardless of `expires`.
        #[serde(default, skip_serializing_if = "is_false")]
        stands: bool,
    },
    /// A person answered a permission, question or request.
    PermissionAnswered {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The person who answered.
        by: ParticipantId,
        /// The id of the chosen option.
        option: String,
        /// The label of that option, if it differs from the id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// The person's own words, if the option takes text. They are the body of the event: the
        /// envelope says only that there are some, and they can be erased.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "that_there_are_words"
        )]
        text: Option<String>,
    },
    /// The time to answer a request ran out. A question that ran out of time is withdrawn with
    /// [`WithdrawalReason::GaveUp`] instead. In logs of earlier versions it has this event too.
    PermissionExpired {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
    },
    /// A permission needs no answer any more, or its answer did not reach the asker.
    PermissionWithdrawn {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The reason for the withdrawal.
        because: WithdrawalReason,
    },
    /// An agent's program asks something outside of a turn, for example to trust a folder. A person
    /// answers the question like a permission. It has no deadline: the asker withdraws it.
    QuestionAsked {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The agent whose program asks.
        participant: ParticipantId,
        /// The question.
        action: String,
        /// The answers that are offered.
        options: Vec<PermissionOption>,
        /// True if `action` is only a part of what is asked.
        #[serde(default, skip_serializing_if = "is_false")]
        partial: bool,
        /// The folder that the program works in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// The command with which a person can look at the question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        look: Option<String>,
    },
    /// An agent asks people to have a program started. A person answers it like a permission, but
    /// no turn waits for it.
    StartRequested {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The agent that asks.
        participant: ParticipantId,
        /// The program, its arguments, folder and first message.
        start: StartRequest,
        /// The request as people see it.
        action: String,
        /// The answers that are offered.
        options: Vec<PermissionOption>,
        /// Time at which the request counts as refused.
        expires: Timestamp,
        /// The folder as people see it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// A request to start a program has an outcome.
    StartSettled {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The agent that asked.
        participant: ParticipantId,
        /// The program, its arguments, folder and first message.
        start: StartRequest,
        /// The outcome.
        outcome: StartOutcome,
    },
    /// A session asks people if it may talk to a session that it has not met. No turn waits for the
    /// answer.
    TalkRequested {
        /// The id of the permission, unique within the conversation.
        permission: PermissionId,
        /// The agent that asks.
        participant: ParticipantId,
        /// The other session and the first words.
        talk: TalkRequest,
        /// The request as people see it.
        action: String,
        /// The answers that are offered.
        options: Vec<PermissionOption>,
        /// Time at which the request counts as refused.
        expires: Timestamp,
    },
    /// A request to talk has an outcome.
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
    /// A person stopped the conversation: its open turns and its queue were cancelled.
    Stopped {
        /// The person.
        by: ParticipantId,
        /// True if agents' own words are held back until a person speaks. Logs of earlier versions
        /// do not say.
        #[serde(default, skip_serializing_if = "is_false")]
        holds: bool,
    },
    /// A guard holds the floor until a person's words or a resume lift the hold.
    #[serde(rename = "held")]
    #[strum(serialize = "held")]
    GuardTripped {
        /// The guard that tripped.
        guard: Guard,
    },
    /// A budget is used up. Its agents are not asked again until the next window, or until a person
    /// raises it. Each window has one such event.
    BudgetSpent {
        /// The budget, and the end of its window.
        spent: SpentBudget,
        /// Currency of a money limit.
        currency: String,
        /// The first agent that is not asked because of it.
        about: ParticipantId,
        /// The event that gave rise to it.
        cause: Cause,
    },
    /// The clock stood still, for example while the server was down. Open deadlines and beats move
    /// by that time.
    #[serde(rename = "resumed")]
    #[strum(serialize = "resumed")]
    ClockShifted {
        /// The time by which they move, in milliseconds.
        downtime: Millis,
    },
    /// The registry's facts about a participant's client changed.
    FactsChanged {
        /// The participant.
        participant: ParticipantId,
        /// The facts from now on.
        facts: AgentFacts,
    },
    /// A person who is not known to the server said words in a chat to which the conversation is
    /// bound. They are data: they wake no agent, name no participant and command nothing. (Ruling
    /// 40.)
    Overheard {
        /// The chat, with the account that said the words.
        origin: Box<PostOrigin>,
        /// The name that the account gives itself.
        name: String,
        /// The words. The store keeps them apart from the envelope, so that they can be erased.
        #[serde(default, skip_serializing)]
        body: String,
    },
    /// The session of this home has joined a conversation of another computer, or the data of a
    /// joined conversation changed.
    Joined(Box<JoinedConversation>),
    /// The session of this home has left a conversation of another computer.
    Parted {
        /// The computer on which the conversation lives.
        computer: ComputerId,
        /// The conversation.
        stream: StreamId,
        /// The reason.
        why: PartReason,
    },
    /// The body of an event was erased.
    Redacted {
        /// The position of the erased event.
        seq: Seq,
        /// The participant who erased it.
        by: ParticipantId,
        /// True if the event was a message that had words. Logs of earlier versions do not say.
        #[serde(default, skip_serializing_if = "is_false")]
        message: bool,
        /// Summaries made of the event, which are erased with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        summaries: Vec<Seq>,
        /// True if the author edited the message while it waited: it left the queue, and the event
        /// before this one has the new words.
        #[serde(default, skip_serializing_if = "is_false")]
        edited: bool,
    },
    /// A summary was made of older messages that no longer fit into a participant's prompts.
    Summarised {
        /// The participant whose memory it is.
        participant: ParticipantId,
        /// The turn for which the summary was made.
        turn: TurnNo,
        /// The last event that the summary covers, by the place at which messages took effect.
        through_seq: Seq,
        /// The oldest summary of the same participant, which this one erases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<Seq>,
        /// Usage of the summary; the turn's own usage includes it.
        usage: Usage,
        /// The words of the summary, stored apart from the envelope.
        #[serde(default, skip_serializing)]
        body: String,
    },
    /// A step of a gathering.
    Gathering(GatheringEvent),
    /// An event of a task. It occurs only in the stream of a task.
    Task(TaskEvent),
}

/// The guards that can hold a floor. (Rulings 16 and 18.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Guard {
    /// Too many agent contributions since a person spoke.
    Exchanges,
    /// Two agents answered each other too often in a minute.
    Pair,
    /// The same words were repeated.
    Repeat,
    /// A person stopped a gathering.
    Stopped,
}

impl Guard {
    /// Returns the meaning of the guard's hold, as a sentence for people.
    pub const fn sentence(self) -> &'static str {
        match self {
            Guard::Exchanges => {
                "Agents have exchanged the maximum number of messages without a person. A \
                 person's message or /resume continues."
            }
            Guard::Pair => {
                "Two agents answered each other too often within a minute. A person's message or \
                 /resume continues."
            }
            Guard::Repeat => {
                "The same message was repeated too often. A person's message or /resume continues."
            }
            Guard::Stopped => "A person stopped the gathering. /resume continues it.",
        }
    }
}

impl Posted {
    /// Returns a message of the server itself, to all.
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
            parts: Box::default(),
            only_for: None,
            origin: None,
            ended: None,
            thought: false,
            silence: None,
            unknown: None,
            hosted: None,
            far: None,
        }
    }

    /// Returns the first name in the words that reaches no participant: an unknown one with the
    /// nearest name, or one for all.
    pub fn stray_name(&self) -> Option<&Silence> {
        let is_stray = |reason| matches!(reason, Reason::UnknownName | Reason::Broadcast);
        let silence = self.silence.iter().chain(&self.unknown);
        silence.map(Box::as_ref).find(|silence| is_stray(silence.reason))
    }

    /// Returns the participant who knows the words already: the speaker, or the one at whose
    /// terminal a person typed them.
    pub fn author(&self) -> &ParticipantId {
        self.typed_at.as_ref().unwrap_or(&self.from)
    }

    /// True if a participant is told of the words in another conversation.
    pub(crate) fn is_heard_elsewhere(&self, by: &ParticipantId) -> bool {
        self.elsewhere.contains(by)
    }

    /// Returns the participants that the message addresses and names, in order, each one time,
    /// without the speaker.
    pub(crate) fn addressees(&self) -> Vec<ParticipantId> {
        let to = if let Recipient::One(id) = &self.to {
            Some(id).filter(|id| **id != self.from)
        } else {
            None
        };
        let named = self.mentions.iter().filter(|id| Some(*id) != to);
        to.into_iter().chain(named).cloned().collect()
    }

    /// True if an agent wrote the words itself and they were neither stopped nor published later.
    /// The repeat detector compares other words with them.
    pub(crate) fn is_agents_voice(&self) -> bool {
        let kept = self.stopped || self.published.is_some();
        !self.is_persons() && !kept && self.from.as_str() != ParticipantId::MOOTHALL
    }

    /// True if a guard holds the conversation and a person's words do not lift the hold: they came
    /// without proof, and such words had lifted it too often before. (Ruling 41.)
    pub fn is_held_for_proof(&self) -> bool {
        self.is_persons() && self.unproven && self.typed_at.is_none() && !self.resets
    }

    /// True if the words are a message of this conversation that its participants are prompted
    /// with.
    pub(crate) fn is_for_prompts(&self) -> bool {
        self.from.as_str() != ParticipantId::MOOTHALL && self.hosted.is_none()
    }

    /// True if a person said the words.
    pub fn is_persons(&self) -> bool {
        self.kind == Kind::Human
    }

    /// True if no proven person is anywhere in the chain of causes. A person's words count if they
    /// are proven; an agent's words count as their cause does.
    pub fn lacks_person(&self) -> bool {
        match self.kind {
            Kind::Human => self.unproven || self.typed_at.is_some(),
            Kind::Agent => self.unasked,
        }
    }
}

impl Event {
    /// Returns the stable kind under which the store files the event.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// Returns the readers of the event.
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
            | Event::Overheard { .. }
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
            | Event::Joined(_)
            | Event::Parted { .. }
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

    /// Returns the words of the event, if its kind has any.
    pub fn body(&self) -> Option<&str> {
        match self {
            Event::Posted(posted) => Some(&posted.body),
            Event::Suppressed { body, .. }
            | Event::Summarised { body, .. }
            | Event::Overheard { body, .. } => Some(body),
            Event::PermissionAnswered { text, .. } => text.as_deref(),
            _ => None,
        }
    }

    /// True if no proven person is anywhere in the chain of causes. Events without an author are
    /// the server's own, so no person is behind them.
    pub fn lacks_person(&self) -> bool {
        match self {
            Event::Posted(posted) => posted.lacks_person(),
            Event::Controlled { unproven, .. } | Event::Custom { unproven, .. } => *unproven,
            Event::Overheard { .. } => true,
            Event::StartSettled { outcome, .. } => *outcome == StartOutcome::Expired,
            Event::TalkSettled { outcome, .. } => *outcome == TalkOutcome::Expired,
            other => other.from().is_none(),
        }
    }

    /// True if the words of the event were erased. All words are non-empty when stored, so empty
    /// ones are erased.
    pub fn is_erased(&self) -> bool {
        self.body().is_some_and(str::is_empty)
    }

    /// True if prompts include the event as a message. The server's own messages are for people
    /// alone, and words of a hosted turn are for the conversation that they belong to.
    pub fn is_in_prompts(&self) -> bool {
        matches!(self, Event::Posted(posted) if posted.is_for_prompts()) && !self.is_erased()
    }

    /// Returns the positions of the events whose words this event erases.
    pub fn erases(&self) -> impl Iterator<Item = Seq> {
        let (one, more): (Option<Seq>, &[Seq]) = match self {
            Event::Redacted { seq, summaries, .. } => (Some(*seq), summaries),
            Event::Summarised { replaces, .. } => (*replaces, &[]),
            _ => (None, &[]),
        };
        one.into_iter().chain(more.iter().copied())
    }

    /// True if the event erases all earlier events, not just words.
    pub fn erases_all(&self) -> bool {
        matches!(self, Event::Deleted { .. })
    }

    /// Erases the words.
    pub fn erase(&mut self) {
        match self {
            Event::Posted(posted) => posted.body = String::new(),
            Event::Suppressed { body, .. }
            | Event::Summarised { body, .. }
            | Event::Overheard { body, .. } => *body = String::new(),
            Event::PermissionAnswered { text: Some(text), .. } => *text = String::new(),
            _ => {}
        }
    }

    /// Returns the event with the words that the store has apart from the envelope.
    #[must_use]
    pub fn with_body(mut self, text: String) -> Event {
        match &mut self {
            Event::Posted(posted) => posted.body = text,
            Event::Suppressed { body, .. }
            | Event::Summarised { body, .. }
            | Event::Overheard { body, .. } => *body = text,
            Event::PermissionAnswered { text: Some(words), .. } => *words = text,
            _ => {}
        }
        self
    }

    /// True if the event ends this turn before its participant has answered.
    pub(crate) fn cancels(&self, no: TurnNo) -> bool {
        matches!(
            self,
            Event::TurnEnded { turn, outcome: Outcome::Cancelled | Outcome::Expired, .. }
                if *turn == no
        )
    }

    /// Returns the participant who caused the event, if one did.
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
