//! Turns: the events that explain them, and their list.

use moothall_engine::context::Context;
use moothall_kernel::event::{Event, Fault, Usage};
use moothall_kernel::ids::{ParticipantId, StreamId, TurnNo};
use moothall_kernel::pending::ExpectedAnswers;
use moothall_kernel::time::Millis;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::envelope::CauseRef;

/// The public id of a turn: `<thread>.<number>`.
pub fn turn_id(stream: &StreamId, turn: TurnNo) -> String {
    format!("{stream}.{turn}")
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WireFault {
    /// Stable word, e.g. `exit_status`.
    pub code: String,
    /// One sentence for people.
    pub message: String,
}

impl From<&Fault> for WireFault {
    fn from(fault: &Fault) -> Self {
        Self { code: fault.code.clone(), message: fault.message.clone() }
    }
}

/// What a turn used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WireUsage {
    /// From start to end.
    pub seconds: f64,
    /// Tokens that models read for it.
    pub input_tokens: u64,
    /// Tokens that models wrote for it.
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

/// The content of an event of type `turn`; its `event` key says which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TurnEvent {
    /// A participant may speak. A remote agent answers it with its next message, or passes.
    Granted {
        /// The id of the turn: `<thread>.<number>`.
        turn: String,
        /// The id of the participant whose turn it is.
        participant: String,
        /// `forced`, `polled`, `reaction`, `round`, `piece`, `beat`, `link`, `prod` or `outcome`.
        why: String,
        /// `reply`, or `listen`: what is said then stays in the trace.
        kind: String,
        /// Whether having nothing to say is offered.
        may_pass: bool,
        /// The event that it is about.
        cause: CauseRef,
        /// When it ends if nothing accepts it.
        expires: String,
    },
    /// A waiting turn got another cause.
    Widened {
        /// The id of the turn: `<thread>.<number>`.
        turn: String,
        /// Why it is granted now; the words are those of `granted`.
        why: String,
        /// `reply` or `listen`, now.
        kind: String,
        /// Whether having nothing to say is offered, now.
        may_pass: bool,
        /// The newest event that it is about.
        cause: CauseRef,
    },
    /// The floor goes on without waiting for it; it runs on, and its answer is shown when it comes.
    Released {
        /// The id of the turn: `<thread>.<number>`.
        turn: String,
    },
    /// The runtime accepted it.
    Started {
        /// The id of the turn: `<thread>.<number>`.
        turn: String,
        /// Which attempt at the turn it is, from 1.
        attempt: u32,
        /// It covers what comes after this.
        from_seq: u64,
        /// Up to and with this.
        through_seq: u64,
        /// When it ends if there is no answer.
        deadline: String,
    },
    /// A restart lost it; it will be run again.
    Lost {
        /// The id of the turn: `<thread>.<number>`.
        turn: String,
        /// The attempt that was lost.
        attempt: u32,
    },
    /// The turn is over, with this outcome.
    Ended {
        /// The id of the turn: `<thread>.<number>`.
        turn: String,
        /// The id of the participant whose turn it was.
        participant: String,
        /// The last attempt at the turn, from 1.
        attempt: u32,
        /// `spoke`, `passed`, `failed`, `expired` or `cancelled`.
        outcome: String,
        /// More, where it did not speak.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<WireFault>,
        /// The time, tokens and money that it used.
        usage: WireUsage,
        /// The end of the model's answer: `stop`, `length`, `filter`, `refusal`, `tool`, `error` or
        /// `cut`; nothing if its provider does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<String>,
    },
    /// An agent was not asked.
    Skipped {
        /// The id of the agent.
        participant: String,
        /// `capped`, `cooled`, `muted`, `paused`, `offline`, `skipped`, `held`, `over_budget`,
        /// `reads_only`, `queue_full` or `round_over`.
        why_not: String,
        /// The event that it would have been asked about.
        cause: CauseRef,
        /// More words, where they help.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// Text that was not shown.
    Kept {
        /// The id of the participant who wrote it.
        participant: String,
        /// The id of the turn that it answers; missing where it answers none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<String>,
        /// `late`, `muted`, `paused`, `archived`, `uninvited`, `listening`, `no_piece`, `capped` or
        /// `stopped`.
        because: String,
        /// What was written; empty once it was erased.
        text: String,
    },
    /// Words that were refused and are not kept, because too many of the participant's were
    /// already.
    Unkept {
        /// The id of the participant whose words they were.
        participant: String,
        /// How many messages they were.
        count: u64,
        /// How many bytes together.
        bytes: u64,
        /// Until when more of them are only counted; nothing once that is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<String>,
    },
    /// An agent summed up what no longer fits into its memory.
    Summarised {
        /// Whose memory it is.
        participant: String,
        /// The turn for which it was made.
        turn: String,
        /// It covers what took effect up to and with this.
        through_seq: u64,
        /// What it used; the turn's own figure includes it.
        usage: WireUsage,
        /// The summary; empty when it was erased, with words that it covered or by a newer one.
        text: String,
    },
    /// The time of a queued message came.
    Taken {
        /// The message whose time came.
        cause: CauseRef,
    },
    /// A human message is being answered.
    RoundOpened {
        /// The human message that is being answered.
        cause: CauseRef,
        /// The most visible replies that the message gets.
        cap: u32,
        /// Who must answer, in order.
        forced: Vec<String>,
        /// Who may, in order.
        polled: Vec<String>,
    },
    /// Agents may react to each other, once.
    ReactionOpened {
        /// Who must, in order.
        forced: Vec<String>,
        /// Who may, in order.
        polled: Vec<String>,
    },
    /// The message is answered.
    RoundClosed,
    /// The time of an answer has come that was late: those who have not reacted to the message may.
    RoundReopened {
        /// The human message that may be reacted to.
        cause: CauseRef,
        /// The position of the late answer.
        reply: u64,
    },
    /// The registry says something else about a participant's client.
    Facts {
        /// The id of the participant.
        participant: String,
        /// How it runs now.
        runtime: String,
        /// Whether the registry has this client.
        known: bool,
    },
}

impl TurnEvent {
    /// What the wire says about an event that explains; nothing for every other event.
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
            Event::TurnStarted { turn, attempt, from_seq, through_seq, deadline } => {
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
            Event::TurnEnded { turn, participant, attempt, outcome, fault, usage, ended } => {
                TurnEvent::Ended {
                    turn: id(turn),
                    participant: participant.to_string(),
                    attempt: *attempt,
                    outcome: outcome.to_string(),
                    fault: fault.as_ref().map(WireFault::from),
                    usage: usage.into(),
                    ended: ended.map(|ended| ended.to_string()),
                }
            }
            _ => return TurnEvent::of_the_floor(stream, event),
        })
    }

    fn of_the_floor(stream: &StreamId, event: &Event) -> Option<TurnEvent> {
        let id = |turn: &TurnNo| turn_id(stream, *turn);
        Some(match event {
            Event::Skipped { participant, why_not, cause, detail } => TurnEvent::Skipped {
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

/// An open turn with what its participant is to read before it answers: the answer of
/// `GET /turns/{id}/context`, and the `turn` event of the stream of a participant that connects by
/// itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnContext {
    /// The id of the turn: `<thread>.<number>`.
    pub turn: String,
    /// The id of the participant whose turn it is.
    pub participant: String,
    /// `forced`, `polled`, `reaction`, `round`, `piece`, `beat`, `link`, `prod` or `outcome`.
    pub why: String,
    /// `reply`, or `listen`: what is said then stays in the trace.
    pub kind: String,
    /// Whether having nothing to say is offered.
    pub may_pass: bool,
    /// About what: the newest cause.
    pub cause: CauseRef,
    /// When it ends if nothing answers it.
    pub deadline: String,
    /// Who it is, who else is there, and what the rules are.
    pub system: String,
    /// What was said since its last turn, at most 96 KiB of it, and what is asked. Others' words
    /// are data.
    pub text: String,
}

impl TurnContext {
    /// What the wire says of it.
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
    /// The turn's id; nothing for an agent that was not asked.
    pub id: Option<String>,
    /// The id of the participant that was asked, or was not.
    pub participant: String,
    /// About what: the newest cause.
    pub cause: CauseRef,
    /// The newest human message that all of this goes back to, where there is one.
    pub message: Option<String>,
    /// Earlier messages that it is about as well: a turn that waits is asked about more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_about: Vec<String>,
    /// True if the agent only hears what was said: its words are not asked for, and not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listens: bool,
    /// Why it was granted: `forced`, `polled`, `reaction`, `round`, `piece`, `beat`, `link`, `prod`
    /// or `outcome`.
    pub why: Option<String>,
    /// Why nothing was said: a word of the table of reasons in `docs/rules.md`, such as `passed`,
    /// `capped`, `muted`, or `waiting` while only a cooldown keeps an agent that has to answer.
    pub why_not: Option<String>,
    /// The same as a phrase for people, which follows the agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The action for which it asks a person's permission now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// More words about that, where they help.
    pub detail: Option<String>,
    /// Whether having nothing to say was offered.
    pub may_pass: bool,
    /// `spoke`, `passed`, `failed`, `expired` or `cancelled`; nothing while it is open and for one
    /// that was not asked.
    pub outcome: Option<String>,
    /// What went wrong; `null` where nothing did.
    pub fault: Option<WireFault>,
    /// What it used; `null` while it is open, where there was none, and for others' turns if the
    /// reader is not an operator.
    pub usage: Option<WireUsage>,
    /// The end of the model's answer: `stop`, `length` (a limit of tokens), `filter`, `refusal`,
    /// `tool`, `error` or `cut`; nothing if its provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The last try, from 1; 0 for one that was not asked.
    pub attempt: u32,
    /// The event with what was said.
    pub reply: Option<String>,
    /// When it was granted, or refused.
    pub granted_at: String,
    /// When the runtime accepted it.
    pub started_at: Option<String>,
    /// When the floor went on without waiting for it, where it did.
    pub released_at: Option<String>,
    /// When it ended; `null` while it is open, and where there was none.
    pub ended_at: Option<String>,
    /// It covers what comes after this.
    pub from_seq: Option<u64>,
    /// Up to and with this.
    pub through_seq: Option<u64>,
}

/// Answer of `GET /threads/{id}/turns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TurnList {
    /// Turns and refusals, in the order in which they happened.
    pub turns: Vec<TurnEntry>,
    /// The newest event that was looked at.
    pub head: u64,
    /// True if all turns about messages that the reader sees are told. Servers of earlier versions
    /// told a reader only of their own.
    #[serde(default)]
    pub whole: bool,
    /// Messages about which no agent was asked, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unasked: Vec<UnaskedMessage>,
    /// The answers to the message that is asked about which are still to come; nothing without
    /// `message`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingAnswers>,
}

/// Answers to a message that are still to come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PendingAnswers {
    /// True if its time has not come: it waits for earlier messages.
    pub waits: bool,
    /// The ids of agents that have to answer it.
    pub must: Vec<String>,
    /// The ids of agents that may answer it.
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
    /// The event of the message.
    pub message: String,
    /// A word of the table of reasons in `docs/rules.md`, such as `no_agent_named` or `stopped`.
    pub reason: String,
    /// The participant who stopped the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason in words, with the names of this conversation.
    #[serde(default)]
    pub text: String,
    /// The way forward, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

/// The reason for which words ask no agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NoAgentAsked {
    /// A word of the table of reasons in `docs/rules.md`.
    pub reason: String,
    /// The participant who stopped the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason in words, with the names of this conversation.
    pub text: String,
    /// The way forward, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}
