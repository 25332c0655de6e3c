//! A gathering's plan, its events and what the conversation remembers of it. The rules are in
//! `policy::talking_piece`.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use crate::model::ids::{EventId, ParticipantId, TurnNo};
use crate::model::participant::{Kind, SeatRole};
use crate::model::settings::Policy;
use crate::model::time::{Millis, Timestamp};

/// What the keys of members begin with, by which one is in a single gathering at a time: the id of
/// its session, or its own.
pub const MEMBER_KEY: &str = "gathering-of:";

/// When listeners hear what the holder says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryMode {
    /// At once, each contribution as a turn for listening.
    #[default]
    Live,
    /// Together with the piece.
    OnTurn,
}

/// The three phases of a breath.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Phase {
    /// Each speaks independently.
    Inhale,
    /// Friction, through the piece.
    Hold,
    /// Converging.
    Exhale,
}

impl Phase {
    /// What it asks of the speakers, in one sentence. (Ruling 32.)
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

    /// The phase after it.
    pub fn next(self) -> Option<Phase> {
        Phase::VARIANTS.get(self.index() + 1).copied()
    }
}

/// How a gathering runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatheringPlan {
    /// What kind of gathering it is.
    pub rhythm: String,
    /// Rounds of inhale, hold and exhale.
    pub breath: [u32; 3],
    /// Beats in one hold.
    pub beats_per_turn: u32,
    /// Time from beat to beat.
    pub beat_interval: Millis,
    /// Time for the last word.
    pub last_word: Millis,
    /// The question it begins with.
    pub opening_question: String,
    /// When listeners hear.
    pub hearing: DeliveryMode,
    /// What goes on around it when it begins, for the seed message: one line for each thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pulse: Vec<String>,
    /// What earlier conversations have to do with the opening question, for the seed message: one
    /// line for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<String>,
}

/// Somebody who takes part, as it was when the gathering began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The participant's id in the conversation.
    pub id: ParticipantId,
    /// The name that people read.
    pub name: String,
    /// Its number: speakers hold the piece in the order of their numbers.
    pub number: u32,
    /// Whether it speaks or harvests.
    pub part: SeatRole,
    /// Person or agent.
    pub kind: Kind,
}

impl GatheringPlan {
    /// Rounds in a phase.
    pub fn rounds(&self, phase: Phase) -> u32 {
        self.breath[phase.index()]
    }
}

/// Why the holder let go of the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[derive(strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum HoldEnd {
    /// It passed.
    Passed,
    /// It said its last word.
    LastWord,
    /// The time for the last word ran out.
    Grace,
    /// It was gone.
    Gone,
    /// A person stopped it.
    Stopped,
}

/// A step of a gathering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatheringEvent {
    /// It began.
    Opened {
        /// Who takes part, in which order, and how long each has the piece.
        plan: GatheringPlan,
        /// Who began it.
        by: ParticipantId,
        /// Nothing proves that it was this one. Its turns are on no person's account then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unproven: bool,
        /// Everybody in it, by number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        members: Vec<Member>,
    },
    /// A round began.
    RoundOpened {
        /// The phase of the breath in which the round is.
        phase: Phase,
        /// Which round of the phase, from 1.
        round: u32,
        /// Who will hold the piece, in order.
        order: Vec<ParticipantId>,
    },
    /// Somebody holds the piece.
    PieceGiven {
        /// The participant who holds the piece.
        holder: ParticipantId,
        /// Why it is somebody else than the one named, where it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A beat of the hold.
    Beat {
        /// The number of the beat, from 1.
        number: u32,
        /// What goes on, in one line for the holder alone; empty in logs of older versions.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pulse: String,
    },
    /// The holder was asked for its last word.
    LastWordAsked,
    /// The holder will hand the piece on when its turn ends.
    PassAsked {
        /// The participant who holds the piece.
        holder: ParticipantId,
        /// The turn whose end is waited for.
        turn: TurnNo,
        /// The name that the holder gave; the next in order without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// The holder let go.
    PieceReleased {
        /// The participant who holds the piece.
        holder: ParticipantId,
        /// What ended the holder's time with the piece.
        because: HoldEnd,
        /// Whom it named as the next, when that one can be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<ParticipantId>,
        /// What to say about a name that could not be the next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The harvester was asked to gather what was said.
    HarvestAsked {
        /// The participant who writes the harvest.
        harvester: ParticipantId,
        /// Why no more is spoken: the word with which the gathering will close.
        #[serde(default = "done")]
        because: String,
        /// Until when a person is waited for; an agent's turn has a limit of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        /// The rules that a person chose for the time after the gathering.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Box<Policy>>,
    },
    /// The harvest is there.
    Harvested {
        /// The participant who wrote it.
        harvester: ParticipantId,
        /// The message that is the harvest.
        message: EventId,
        /// The rhythm, whose trail the harvest belongs to.
        rhythm: String,
    },
    /// It is over.
    Closed {
        /// Why, as a stable word: `done`, `too_few`, `ended`.
        because: String,
    },
}

fn done() -> String {
    "done".into()
}

/// What the conversation remembers of its gathering, while it goes on and when it is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gathering {
    /// Who began it.
    pub by: ParticipantId,
    /// Nothing proves that it was this one.
    pub unproven: bool,
    /// Everybody in it when it began, by number.
    pub members: Vec<Member>,
    /// Who takes part, in which order, and how long each has the piece.
    pub plan: GatheringPlan,
    /// The phase it is in.
    pub phase: Phase,
    /// The round of the phase, from 1; 0 before the first.
    pub round: u32,
    /// Who will still hold the piece in this round.
    pub order: Vec<ParticipantId>,
    /// The hold going on.
    pub tenure: Option<PieceTenure>,
    /// A note for the next hand-over.
    pub note: Option<String>,
    /// The harvester was asked, for this reason.
    pub harvesting: Option<String>,
    /// Until when a harvester who is a person is waited for.
    pub harvest_until: Option<Timestamp>,
    /// The rules that come into force when it closes.
    pub after: Option<Box<Policy>>,
    /// The message that is the harvest.
    pub harvest: Option<EventId>,
    /// Why it is over; nothing while it goes on.
    pub closed: Option<String>,
}

/// Keeping the talking piece.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PieceTenure {
    /// The participant who holds the piece.
    pub holder: ParticipantId,
    /// When the holder got it.
    pub since: Timestamp,
    /// Beats so far.
    pub beats: u32,
    /// What went on at the last beat, for the holder.
    pub pulse: String,
    /// When the next beat comes, or the grace of the last word ends.
    pub next_at: Timestamp,
    /// The last word was asked for.
    pub last_word: bool,
    /// Why this one holds it, where a note was needed.
    pub note: Option<String>,
    /// The pass that takes effect with the end of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<PendingPass>,
}

/// A typed pass of a holder at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingPass {
    /// The turn whose end is waited for.
    pub turn: TurnNo,
    /// The name that the holder gave; the next in order without one.
    pub to: Option<String>,
}

impl Gathering {
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

    /// What an event does to the gathering of a conversation. One that is closed stays as it was at
    /// its end.
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
