//! The plan of a gathering, its events and its state. The rules are in `policy::talking_piece`.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use crate::model::ids::{EventId, ParticipantId, TurnNo};
use crate::model::participant::{Kind, SeatRole};
use crate::model::settings::Policy;
use crate::model::time::{Millis, Timestamp};

/// Prefix of a member's key, by which a member is in one gathering at a time. The id of the
/// member's session follows, or else the member's own id.
pub const MEMBER_KEY: &str = "gathering-of:";

/// The time at which listeners hear the holder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryMode {
    /// Each contribution reaches the listeners immediately, in a turn for listening.
    #[default]
    Live,
    /// Listeners hear the contributions when they get the piece.
    OnTurn,
}

/// The three phases of a breath.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Phase {
    /// Speakers speak independently.
    Inhale,
    /// Speakers question and contradict each other.
    Hold,
    /// Speakers converge.
    Exhale,
}

impl Phase {
    /// Returns the phase's rule for speakers, in one sentence. (Ruling 32.)
    pub const fn rule(self) -> &'static str {
        match self {
            Phase::Inhale => {
                "Speak independently and put what you see on the table; do not answer the others."
            }
            Phase::Hold => {
                "Let differences meet: question and contradict, but only while you hold the piece."
            }
            Phase::Exhale => "Converge: say what you now agree with, and what you will do.",
        }
    }

    const fn index(self) -> usize {
        self as usize
    }

    /// Returns the next phase.
    pub fn next(self) -> Option<Phase> {
        Phase::VARIANTS.get(self.index() + 1).copied()
    }
}

/// The settings of a gathering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatheringPlan {
    /// The kind of gathering.
    pub rhythm: String,
    /// Number of rounds of inhale, hold and exhale.
    pub breath: [u32; 3],
    /// Number of beats in one hold.
    pub beats_per_turn: u32,
    /// Time from beat to beat.
    pub beat_interval: Millis,
    /// Time for a holder's last word.
    pub last_word: Millis,
    /// The question that begins the gathering.
    pub opening_question: String,
    /// The time at which listeners hear.
    pub hearing: DeliveryMode,
    /// Current events around the gathering, for the seed message: one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pulse: Vec<String>,
    /// Lines from earlier conversations on the opening question, for the seed message: one line
    /// each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<String>,
}

/// A member of a gathering, as it was at the opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The participant's id in the conversation.
    pub id: ParticipantId,
    /// The name that people read.
    pub name: String,
    /// The member's number: speakers hold the piece in this order.
    pub number: u32,
    /// Speaker or harvester.
    pub part: SeatRole,
    /// Person or agent.
    pub kind: Kind,
}

impl GatheringPlan {
    /// Returns the number of rounds in a phase.
    pub fn rounds(&self, phase: Phase) -> u32 {
        self.breath[phase.index()]
    }
}

/// The reason for which a hold ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum HoldEnd {
    /// The holder passed the piece.
    Passed,
    /// The holder said its last word.
    LastWord,
    /// The time for the last word ran out, or the holder waited for a person's answer too long.
    Grace,
    /// The holder left or was removed.
    Gone,
    /// A person stopped the hold, or the harvest began.
    Stopped,
}

/// A step of a gathering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatheringEvent {
    /// The gathering began.
    Opened {
        /// The settings.
        plan: GatheringPlan,
        /// The participant who began it.
        by: ParticipantId,
        /// True if `by` is not proven. The turns then count as unattended.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unproven: bool,
        /// The members, by number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        members: Vec<Member>,
    },
    /// A round began.
    RoundOpened {
        /// The phase of the round.
        phase: Phase,
        /// The number of the round in its phase, from 1.
        round: u32,
        /// The speakers that will hold the piece, in order.
        order: Vec<ParticipantId>,
    },
    /// A speaker got the piece.
    PieceGiven {
        /// The speaker.
        holder: ParticipantId,
        /// An explanation if the piece went to another speaker than the named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A beat of the hold.
    Beat {
        /// The number of the beat, from 1.
        number: u32,
        /// Current events in one line, for the holder alone; empty in logs of earlier versions.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pulse: String,
    },
    /// The holder was asked for its last word.
    LastWordAsked,
    /// The holder asked to pass the piece when its turn ends.
    PassAsked {
        /// The holder.
        holder: ParticipantId,
        /// The turn after which the pass takes effect.
        turn: TurnNo,
        /// The name that the holder gave; `None` means the next in order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// A hold ended.
    PieceReleased {
        /// The holder.
        holder: ParticipantId,
        /// The reason for the end.
        because: HoldEnd,
        /// The speaker that the holder named as the next, if it can be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<ParticipantId>,
        /// An explanation if the named speaker cannot be the next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The harvester was asked for the harvest.
    HarvestAsked {
        /// The harvester.
        harvester: ParticipantId,
        /// The reason for which speaking ended. [`GatheringEvent::Closed`] will repeat it.
        #[serde(default = "done")]
        because: String,
        /// Time until which a person's harvest is awaited. An agent's turn has a limit of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        /// The policy that a person chose for the time after the gathering.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Box<Policy>>,
    },
    /// The harvest was written.
    Harvested {
        /// The harvester.
        harvester: ParticipantId,
        /// The message that is the harvest.
        message: EventId,
        /// The gathering's rhythm; the harvest belongs to its trail.
        rhythm: String,
    },
    /// The gathering closed.
    Closed {
        /// The reason, as a stable word: `done`, `too_few`, `ended`.
        because: String,
    },
}

fn done() -> String {
    "done".into()
}

/// The state of a conversation's gathering, open or closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gathering {
    /// The participant who began it.
    pub by: ParticipantId,
    /// True if `by` is not proven.
    pub unproven: bool,
    /// The members at the opening, by number.
    pub members: Vec<Member>,
    /// The settings.
    pub plan: GatheringPlan,
    /// The current phase.
    pub phase: Phase,
    /// The round of the phase, from 1; 0 before the first.
    pub round: u32,
    /// The speakers that will still hold the piece in this round, in order.
    pub order: Vec<ParticipantId>,
    /// The current hold.
    pub tenure: Option<PieceTenure>,
    /// A note for the next hold.
    pub note: Option<String>,
    /// The reason for which the harvester was asked; `None` before that.
    pub harvesting: Option<String>,
    /// Time until which a person's harvest is awaited.
    pub harvest_until: Option<Timestamp>,
    /// The policy that comes into force at the close.
    pub after: Option<Box<Policy>>,
    /// The message that is the harvest.
    pub harvest: Option<EventId>,
    /// The reason for the close; `None` while open.
    pub closed: Option<String>,
}

/// A hold of the talking piece.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PieceTenure {
    /// The holder.
    pub holder: ParticipantId,
    /// The start of the hold.
    pub since: Timestamp,
    /// Number of beats so far.
    pub beats: u32,
    /// Current events at the last beat, for the holder.
    pub pulse: String,
    /// Time of the next beat, or the end of the grace for the last word.
    pub next_at: Timestamp,
    /// True if the last word was asked for.
    pub last_word: bool,
    /// An explanation if the piece went to another speaker than the named one.
    pub note: Option<String>,
    /// The pass that takes effect when a turn ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<PendingPass>,
}

/// A pass that waits for the end of the holder's turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingPass {
    /// The turn.
    pub turn: TurnNo,
    /// The name that the holder gave; `None` means the next in order.
    pub to: Option<String>,
}

impl Gathering {
    /// Returns the state of a new gathering, before its first round.
    fn opened(
        plan: &GatheringPlan,
        by: &ParticipantId,
        unproven: bool,
        members: &[Member],
    ) -> Self {
        Self {
            by: by.clone(),
            unproven,
            members: members.to_vec(),
            plan: plan.clone(),
            phase: Phase::Inhale,
            round: 0,
            order: Vec::new(),
            tenure: None,
            note: None,
            harvesting: None,
            harvest_until: None,
            after: None,
            harvest: None,
            closed: None,
        }
    }

    /// Applies a step to a conversation's gathering. A closed gathering stays until another one
    /// opens.
    pub(crate) fn applied(
        gathering: Option<Gathering>,
        step: &GatheringEvent,
        ts: Timestamp,
    ) -> Option<Gathering> {
        if let GatheringEvent::Opened { plan, by, unproven, members } = step {
            return Some(Gathering::opened(plan, by, *unproven, members));
        }
        let mut gathering = gathering?;
        match step {
            GatheringEvent::Opened { .. } => {}
            GatheringEvent::RoundOpened { phase, round, order } => {
                gathering.phase = *phase;
                gathering.round = *round;
                gathering.order.clone_from(order);
            }
            GatheringEvent::PieceGiven { holder, note } => {
                gathering.order.retain(|id| id != holder);
                gathering.note = None;
                let next_at = ts + gathering.plan.beat_interval;
                gathering.tenure = Some(PieceTenure {
                    holder: holder.clone(),
                    since: ts,
                    beats: 0,
                    pulse: String::new(),
                    next_at,
                    last_word: false,
                    note: note.clone(),
                    pass: None,
                });
            }
            GatheringEvent::Beat { number, pulse } => {
                let interval = gathering.plan.beat_interval;
                if let Some(tenure) = &mut gathering.tenure {
                    tenure.beats = *number;
                    tenure.pulse.clone_from(pulse);
                    tenure.next_at = ts + interval;
                }
            }
            GatheringEvent::LastWordAsked => {
                let grace = gathering.plan.last_word;
                if let Some(tenure) = &mut gathering.tenure {
                    tenure.last_word = true;
                    tenure.next_at = ts + grace;
                }
            }
            GatheringEvent::PassAsked { turn, to, .. } => {
                if let Some(tenure) = &mut gathering.tenure {
                    tenure.pass = Some(PendingPass { turn: *turn, to: to.clone() });
                }
            }
            GatheringEvent::PieceReleased { next, note, .. } => {
                gathering.tenure = None;
                gathering.note.clone_from(note);
                if let Some(next) = next {
                    gathering.order.retain(|id| id != next);
                    gathering.order.insert(0, next.clone());
                }
            }
            GatheringEvent::HarvestAsked { because, until, after, .. } => {
                gathering.harvesting = Some(because.clone());
                gathering.harvest_until = *until;
                gathering.after.clone_from(after);
                gathering.order.clear();
            }
            GatheringEvent::Harvested { message, .. } => gathering.harvest = Some(*message),
            GatheringEvent::Closed { because } => {
                gathering.tenure = None;
                gathering.order.clear();
                gathering.closed = Some(because.clone());
            }
        }
        Some(gathering)
    }
}
