//! Turns: the events that explain them, and their list.

use moothall_engine::context::Context;
use moothall_engine::door;
use moothall_kernel::event::{Event, Fault, Usage};
use moothall_kernel::ids::{ParticipantId, StreamId, TurnNo};
use moothall_kernel::pending::ExpectedAnswers;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::turns::TurnRecord;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::envelope::CauseRef;

/// Returns the public id of a turn: `<thread>.<number>`.
pub fn turn_id(stream: &StreamId, turn: TurnNo) -> String {
    format!("{stream}.{turn}")
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WireFault {
    /// Stable code of the failure, e.g. `exit_status`.
    pub code: String,
    /// Description for people, in one sentence.
    pub message: String,
}

impl From<&Fault> for WireFault {
    fn from(fault: &Fault) -> Self {
        Self { code: fault.code.clone(), message: fault.message.clone() }
    }
}

/// Time, tokens and money used by a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WireUsage {
    /// Seconds from start to end.
    pub seconds: f64,
    /// Number of tokens that models read for the turn.
    pub input_tokens: u64,
    /// Number of tokens that models wrote for the turn.
    pub output_tokens: u64,
    /// Cost in millionths of the currency of the configured prices.
    pub cost_micros: u64,
}

impl From<&Usage> for WireUsage {
    fn from(usage: &Usage) -> Self {
        Self {
            seconds: Millis(usage.ms).as_secs_f64(),
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost_micros: usage.cost_micros,
        }
    }
}

/// The content of an event of type `turn`. Its `event` key names the variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TurnEvent {
    /// A participant may speak. A remote agent answers the turn with its next message, or passes.
    Granted {
        /// Id of the turn: `<thread>.<number>`.
        turn: String,
        /// Id of the turn's participant.
        participant: String,
        /// Reason of the grant: `forced`, `polled`, `reaction`, `round`, `piece`, `beat`, `link`,
        /// `prod` or `outcome`.
        why: String,
        /// `reply`, or `listen`: the words of such a turn stay in the trace.
        kind: String,
        /// True if the participant may pass.
        may_pass: bool,
        /// The event that the turn is about.
        cause: CauseRef,
        /// Time at which the turn ends if no runtime accepts it.
        expires: String,
    },
    /// A waiting turn got another cause.
    Widened {
        /// Id of the turn: `<thread>.<number>`.
        turn: String,
        /// Reason of the turn now, in the words of `granted`.
        why: String,
        /// Kind of the turn now: `reply` or `listen`.
        kind: String,
        /// True if the participant may pass now.
        may_pass: bool,
        /// The newest event that the turn is about.
        cause: CauseRef,
    },
    /// The floor no longer waits for the turn. The turn keeps running, and its answer is shown when
    /// it comes.
    Released {
        /// Id of the turn: `<thread>.<number>`.
        turn: String,
    },
    /// The runtime accepted the turn.
    Started {
        /// Id of the turn: `<thread>.<number>`.
        turn: String,
        /// Number of the attempt, from 1.
        attempt: u32,
        /// Position after which the turn's events begin, exclusive.
        from_seq: u64,
        /// Position with which the turn's events end, inclusive.
        through_seq: u64,
        /// Time at which the turn ends without an answer.
        deadline: String,
    },
    /// A restart lost an attempt at the turn. The turn will be run again.
    Lost {
        /// Id of the turn: `<thread>.<number>`.
        turn: String,
        /// Number of the lost attempt.
        attempt: u32,
    },
    /// The turn ended.
    Ended {
        /// Id of the turn: `<thread>.<number>`.
        turn: String,
        /// Id of the turn's participant.
        participant: String,
        /// Number of the last attempt, from 1.
        attempt: u32,
        /// Outcome of the turn: `spoke`, `passed`, `failed`, `expired` or `cancelled`.
        outcome: String,
        /// Details, if the participant did not speak; absent if there are none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<WireFault>,
        /// Time, tokens and money used by the turn.
        usage: WireUsage,
        /// End of the model's answer: `stop`, `length`, `filter`, `refusal`, `tool`, `error` or
        /// `cut`. Absent if the provider does not report it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<String>,
    },
    /// An agent was not asked.
    Skipped {
        /// Id of the agent.
        participant: String,
        /// Reason: `capped`, `cooled`, `muted`, `paused`, `offline`, `skipped`, `held`,
        /// `over_budget`, `reads_only`, `ended`, `queue_full` or `round_over`.
        why_not: String,
        /// The event that the agent would have been asked about.
        cause: CauseRef,
        /// Further words about the reason; absent if there are none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// A text was kept and not shown.
    Kept {
        /// Id of the participant that wrote the text.
        participant: String,
        /// Id of the turn that the text answers; absent if it answers none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<String>,
        /// Reason: `late`, `muted`, `paused`, `archived`, `uninvited`, `listening`, `no_piece`,
        /// `capped` or `stopped`.
        because: String,
        /// The text; empty once it was erased.
        text: String,
    },
    /// Refused messages were only counted, because too many of the participant's were kept already.
    Unkept {
        /// Id of the participant that wrote the messages.
        participant: String,
        /// Number of the messages.
        count: u64,
        /// Total size of the messages in bytes.
        bytes: u64,
        /// Time until which further messages are only counted; absent when that period has ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<String>,
    },
    /// An agent summarised what no longer fits into its memory.
    Summarised {
        /// Id of the agent.
        participant: String,
        /// Id of the turn for which the summary was made.
        turn: String,
        /// Position of the last event that the summary covers, inclusive.
        through_seq: u64,
        /// Time, tokens and money used by the summary. The turn's own usage includes them.
        usage: WireUsage,
        /// The summary. Empty if it was erased, with words that it covered or by a newer summary.
        text: String,
    },
    /// A queued message leaves the queue: agents are asked about it now.
    Taken {
        /// The message that left the queue.
        cause: CauseRef,
    },
    /// A round began: agents answer a human message.
    RoundOpened {
        /// The human message of the round.
        cause: CauseRef,
        /// Maximum number of visible replies to the message.
        cap: u32,
        /// Ids of the agents that must answer, in order.
        forced: Vec<String>,
        /// Ids of the agents that may answer, in order.
        polled: Vec<String>,
    },
    /// Agents may react to each other, once.
    ReactionOpened {
        /// Ids of the agents that must react, in order.
        forced: Vec<String>,
        /// Ids of the agents that may react, in order.
        polled: Vec<String>,
    },
    /// The message is answered.
    RoundClosed,
    /// The round reopened for a late answer: agents that have not reacted to the message may react.
    RoundReopened {
        /// The human message of the round.
        cause: CauseRef,
        /// Position of the late answer.
        reply: u64,
    },
    /// The registry's facts about a participant's client changed.
    Facts {
        /// Id of the participant.
        participant: String,
        /// Runtime of the client now.
        runtime: String,
        /// True if the registry has the client now.
        known: bool,
    },
}

impl TurnEvent {
    /// Returns the content of an event of type `turn`, or `None` for any other event.
    pub fn of(stream: &StreamId, event: &Event) -> Option<TurnEvent> {
        let id = |turn: &TurnNo| turn_id(stream, *turn);
        Some(match event {
            Event::TurnGranted {
                turn, participant, why, kind, may_pass, cause, expires, ..
            } => TurnEvent::Granted {
                turn: id(turn),
                participant: participant.to_string(),
                why: why.to_string(),
                kind: kind.to_string(),
                may_pass: *may_pass,
                cause: cause.into(),
                expires: expires.to_string(),
            },
            Event::TurnWidened { turn, why, kind, may_pass, cause } => TurnEvent::Widened {
                turn: id(turn),
                why: why.to_string(),
                kind: kind.to_string(),
                may_pass: *may_pass,
                cause: cause.into(),
            },
            Event::TurnStarted { turn, attempt, from_seq, through_seq, deadline, .. } => {
                TurnEvent::Started {
                    turn: id(turn),
                    attempt: *attempt,
                    from_seq: from_seq.0,
                    through_seq: through_seq.0,
                    deadline: deadline.to_string(),
                }
            }
            Event::TurnReleased { turn } => TurnEvent::Released { turn: id(turn) },
            Event::TurnLost { turn, attempt, .. } => {
                TurnEvent::Lost { turn: id(turn), attempt: *attempt }
            }
            Event::TurnEnded {
                turn, participant, attempt, outcome, fault, usage, ended, ..
            } => TurnEvent::Ended {
                turn: id(turn),
                participant: participant.to_string(),
                attempt: *attempt,
                outcome: outcome.to_string(),
                fault: fault.as_ref().map(WireFault::from),
                usage: usage.into(),
                ended: ended.map(|ended| ended.to_string()),
            },
            _ => return TurnEvent::of_the_floor(stream, event),
        })
    }

    /// Returns the content of an event about rounds, refused or kept words, summaries or an agent's
    /// facts, or `None` for an event of another type.
    fn of_the_floor(stream: &StreamId, event: &Event) -> Option<TurnEvent> {
        let id = |turn: &TurnNo| turn_id(stream, *turn);
        Some(match event {
            Event::Skipped { participant, why_not, cause, detail, .. } => TurnEvent::Skipped {
                participant: participant.to_string(),
                why_not: why_not.to_string(),
                cause: cause.into(),
                detail: detail.clone(),
            },
            Event::Suppressed { participant, turn, because, body, .. } => TurnEvent::Kept {
                participant: participant.to_string(),
                turn: turn.as_ref().map(id),
                because: because.to_string(),
                text: body.clone(),
            },
            Event::Discarded { participant, count, bytes, until } => TurnEvent::Unkept {
                participant: participant.to_string(),
                count: *count,
                bytes: *bytes,
                until: until.map(|until| until.to_string()),
            },
            Event::Summarised { participant, turn, through_seq, usage, body, .. } => {
                TurnEvent::Summarised {
                    participant: participant.to_string(),
                    turn: id(turn),
                    through_seq: through_seq.0,
                    usage: usage.into(),
                    text: body.clone(),
                }
            }
            Event::Taken { cause } => TurnEvent::Taken { cause: cause.into() },
            Event::RoundOpened { cause, cap, forced, polled, .. } => TurnEvent::RoundOpened {
                cause: cause.into(),
                cap: *cap,
                forced: texts(forced),
                polled: texts(polled),
            },
            Event::ReactionOpened { forced, polled } => {
                TurnEvent::ReactionOpened { forced: texts(forced), polled: texts(polled) }
            }
            Event::RoundClosed => TurnEvent::RoundClosed,
            Event::RoundReopened { cause, reply } => {
                TurnEvent::RoundReopened { cause: cause.into(), reply: reply.0 }
            }
            Event::FactsChanged { participant, facts } => TurnEvent::Facts {
                participant: participant.to_string(),
                runtime: facts.runtime.to_string(),
                known: facts.known,
            },
            _ => return None,
        })
    }
}

pub(super) fn texts(ids: &[ParticipantId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

/// An open turn with the text for its participant: the answer of `GET /turns/{id}/context`, and the
/// `turn` event in the stream of a remote participant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnContext {
    /// Id of the turn: `<thread>.<number>`.
    pub turn: String,
    /// Id of the turn's participant.
    pub participant: String,
    /// Reason of the grant: `forced`, `polled`, `reaction`, `round`, `piece`, `beat`, `link`,
    /// `prod` or `outcome`.
    pub why: String,
    /// `reply`, or `listen`: the words of such a turn stay in the trace.
    pub kind: String,
    /// True if the participant may pass.
    pub may_pass: bool,
    /// The newest event that the turn is about.
    pub cause: CauseRef,
    /// Time at which the turn ends without an answer.
    pub deadline: String,
    /// Description of the participant, of the other participants and of the rules.
    pub system: String,
    /// Messages since the participant's last turn, at most 96 KiB, and the request. Others' words
    /// are data.
    pub text: String,
}

impl TurnContext {
    /// Returns a turn's context for the wire.
    pub fn of(stream: &StreamId, context: &Context) -> Self {
        Self {
            turn: turn_id(stream, context.turn),
            participant: context.participant.to_string(),
            why: context.why.to_string(),
            kind: context.kind.to_string(),
            may_pass: context.may_pass,
            cause: (&context.cause).into(),
            deadline: context.deadline.to_string(),
            system: context.system.clone(),
            text: context.text.clone(),
        }
    }
}

/// A turn, or the reason why an agent got none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnEntry {
    /// Id of the turn; `null` for an agent that was not asked.
    pub id: Option<String>,
    /// Id of the agent that was asked or not asked.
    pub participant: String,
    /// The newest event that the turn is about.
    pub cause: CauseRef,
    /// Id of the newest human message in the chain of causes; `null` if there is none.
    pub message: Option<String>,
    /// Ids of earlier messages that the turn is about as well. A waiting turn can take up further
    /// messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_about: Vec<String>,
    /// True if the agent only listens: its words are not asked for, and not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listens: bool,
    /// Reason of the grant: `forced`, `polled`, `reaction`, `round`, `piece`, `beat`, `link`,
    /// `prod` or `outcome`.
    pub why: Option<String>,
    /// Reason of the silence: a word from the table of reasons in `docs/rules.md`, such as
    /// `passed`, `capped`, `muted`, or `waiting` while only a cooldown delays an agent that must
    /// answer.
    pub why_not: Option<String>,
    /// A phrase for people that follows the agent's name, from `why` or `why_not`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The action for which the agent asks a person's permission now; absent if it asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// Further words about the reason; `null` if there are none.
    pub detail: Option<String>,
    /// True if the agent might pass.
    pub may_pass: bool,
    /// Outcome of the turn: `spoke`, `passed`, `failed`, `expired` or `cancelled`; `null` for an
    /// open turn and without a turn.
    pub outcome: Option<String>,
    /// The failure; `null` if there was none.
    pub fault: Option<WireFault>,
    /// Time, tokens and money used by the turn. `null` for an open turn, without a turn, and for
    /// others' turns unless the reader is an operator.
    pub usage: Option<WireUsage>,
    /// End of the model's answer: `stop`, `length` (a limit of tokens), `filter`, `refusal`,
    /// `tool`, `error` or `cut`. Absent if the provider does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Number of the last attempt, from 1; 0 without a turn.
    pub attempt: u32,
    /// Id of the event with the agent's answer; `null` if there is none.
    pub reply: Option<String>,
    /// Time of the grant or of the refusal.
    pub granted_at: String,
    /// Time at which the runtime accepted the turn; `null` before.
    pub started_at: Option<String>,
    /// Time from which the floor no longer waited for the turn; `null` if it always waited.
    pub released_at: Option<String>,
    /// Time at which the turn ended; `null` for an open turn and without a turn.
    pub ended_at: Option<String>,
    /// Position after which the turn's events begin, exclusive.
    pub from_seq: Option<u64>,
    /// Position with which the turn's events end, inclusive.
    pub through_seq: Option<u64>,
}

impl TurnEntry {
    /// Converts a turn or a refusal of this stream.
    pub fn of(stream: &StreamId, record: TurnRecord) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Self {
            id: record.turn.map(|turn| turn_id(stream, turn)),
            reason: record.reason().map(Into::into),
            participant: record.participant.to_string(),
            cause: (&record.cause).into(),
            message: record.message.map(|id| id.to_string()),
            also_about: record.also_about.iter().map(ToString::to_string).collect(),
            listens: record.listens,
            why: record.why.map(|why| why.to_string()),
            why_not: record.why_not.map(|why_not| why_not.to_string()),
            asks: record.asks,
            detail: record.detail,
            may_pass: record.may_pass,
            outcome: record.outcome.map(|outcome| outcome.to_string()),
            fault: record.fault.as_ref().map(WireFault::from),
            usage: record.usage.as_ref().map(WireUsage::from),
            ended: record.ended.map(|ended| ended.to_string()),
            attempt: record.attempt,
            reply: record.reply.map(|id| id.to_string()),
            granted_at: record.granted_at.to_string(),
            started_at: time(record.started_at),
            released_at: time(record.released_at),
            ended_at: time(record.ended_at),
            from_seq: record.from_seq.map(|seq| seq.0),
            through_seq: record.through_seq.map(|seq| seq.0),
        }
    }
}

/// Answer of `GET /threads/{id}/turns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnList {
    /// Turns and refusals, in the order in which they happened.
    pub turns: Vec<TurnEntry>,
    /// Position of the newest event that was read.
    pub head: u64,
    /// True if the list has all turns about messages visible to the reader. Earlier versions of the
    /// server list only the reader's own turns.
    #[serde(default)]
    pub whole: bool,
    /// Messages about which no agent was asked, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unasked: Vec<UnaskedMessage>,
    /// Answers still to come to the message given as `message`; absent without that parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingAnswers>,
}

/// The answers to a message that are still to come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PendingAnswers {
    /// True if the message waits for earlier messages.
    pub waits: bool,
    /// Ids of the agents that must answer.
    pub must: Vec<String>,
    /// Ids of the agents that may answer.
    pub may: Vec<String>,
}

impl From<ExpectedAnswers> for PendingAnswers {
    fn from(pending: ExpectedAnswers) -> Self {
        let ids = |list: Vec<ParticipantId>| list.iter().map(ToString::to_string).collect();
        let ExpectedAnswers { waits, must, may } = pending;
        Self { waits, must: ids(must), may: ids(may) }
    }
}

/// A message about which no agent was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnaskedMessage {
    /// Id of the message's event.
    pub message: String,
    /// Reason: a word from the table of reasons in `docs/rules.md`, such as `no_agent_named` or
    /// `stopped`.
    pub reason: String,
    /// Id of the participant that stopped the conversation; absent for other reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason in words, with the names of this conversation.
    #[serde(default)]
    pub text: String,
    /// The remedy, as a sentence; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

/// The reason why a message asks no agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NoAgentAsked {
    /// Reason: a word from the table of reasons in `docs/rules.md`.
    pub reason: String,
    /// Id of the participant that stopped the conversation; absent for other reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason in words, with the names of this conversation.
    pub text: String,
    /// The remedy, as a sentence; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

impl From<door::NoAgentAsked> for NoAgentAsked {
    fn from(unasked: door::NoAgentAsked) -> Self {
        let door::NoAgentAsked { reason, by, text, cure } = unasked;
        Self { reason: reason.to_string(), by: by.map(|id| id.to_string()), text, cure }
    }
}

impl From<door::UnaskedMessage> for UnaskedMessage {
    fn from(unasked: door::UnaskedMessage) -> Self {
        let NoAgentAsked { reason, by, text, cure } = unasked.why.into();
        Self { message: unasked.message.to_string(), reason, by, text, cure }
    }
}
