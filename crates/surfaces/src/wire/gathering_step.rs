//! The content of events of type `gathering`: what happened in one, step by step.

use moothall_kernel::gathering::{GatheringEvent, GatheringPlan};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::GatheringMember;

/// How a gathering goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GatheringRules {
    /// What kind of gathering it is.
    pub rhythm: String,
    /// The question it begins with.
    pub opening_question: String,
    /// Rounds of inhale, hold and exhale.
    pub breath: [u32; 3],
    /// Beats for which a speaker may hold the piece.
    pub beats_per_turn: u32,
    /// Seconds from beat to beat.
    pub beat_interval_seconds: f64,
    /// Seconds for a last word.
    pub last_word_seconds: f64,
    /// `live` or `on_turn`.
    pub delivery: String,
}

/// The content of an event of type `gathering`; its `event` key says which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum GatheringStep {
    /// It began.
    Opened {
        /// The id of whoever began it.
        by: String,
        /// How it goes.
        plan: GatheringRules,
        /// Who takes part, by number.
        participants: Vec<GatheringMember>,
    },
    /// A round began.
    RoundOpened {
        /// `inhale`, `hold` or `exhale`.
        phase: String,
        /// What the phase asks of the speakers, in one sentence.
        rule: String,
        /// Which round of the phase, from 1.
        round: u32,
        /// The ids of those who will hold the piece, in order.
        order: Vec<String>,
    },
    /// Somebody got the piece.
    PieceGiven {
        /// The id of whoever has it now.
        holder: String,
        /// Why it is not the one who was named, where that is so.
        #[schema(required = true)]
        note: Option<String>,
    },
    /// A beat of the hold.
    Beat {
        /// Which beat of the hold, from 1.
        number: u32,
    },
    /// The holder's time is over but for a last word.
    LastWordAsked,
    /// The holder let go of the piece.
    PieceReleased {
        /// The id of whoever had it.
        holder: String,
        /// `passed`, `last_word`, `grace` (nothing came in the time for it), `gone` (the holder is
        /// not there any more), or `stopped` (a person stopped or ended it, or too few are left).
        because: String,
        /// The id of whoever was named as the next and can be.
        #[schema(required = true)]
        next: Option<String>,
        /// What there is to say about a name that cannot.
        #[schema(required = true)]
        note: Option<String>,
    },
    /// Nothing more is spoken: the harvest is asked for.
    HarvestAsked {
        /// The id of whoever writes it.
        harvester: String,
        /// The word with which the gathering will close.
        because: String,
        /// Until when a person is waited for; none for an agent, whose turn has a limit of its own.
        #[schema(required = true)]
        until: Option<String>,
        /// The policy that comes into force when the gathering closes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<String>,
    },
    /// The harvest is there.
    Harvested {
        /// The id of whoever wrote it.
        harvester: String,
        /// The id of the message with it.
        message: String,
    },
    /// It is over.
    Closed {
        /// `done`, `too_few` or `ended`.
        because: String,
    },
    /// The holder hands the piece on when its turn ends.
    PassAsked {
        /// The id of the holder.
        holder: String,
        /// The name that the holder gave; none for the next in order.
        #[schema(required = true)]
        to: Option<String>,
    },
}

impl From<&GatheringEvent> for GatheringStep {
    fn from(step: &GatheringEvent) -> Self {
        match step {
            GatheringEvent::Opened { plan, by, members, .. } => GatheringStep::Opened {
                by: by.to_string(),
                plan: GatheringRules::from(plan),
                participants: members.iter().map(GatheringMember::from).collect(),
            },
            GatheringEvent::RoundOpened { phase, round, order } => GatheringStep::RoundOpened {
                phase: phase.to_string(),
                rule: phase.rule().into(),
                round: *round,
                order: order.iter().map(ToString::to_string).collect(),
            },
            GatheringEvent::PieceGiven { holder, note } => {
                GatheringStep::PieceGiven { holder: holder.to_string(), note: note.clone() }
            }
            // What went on at a beat is for the holder alone.
            GatheringEvent::Beat { number, .. } => GatheringStep::Beat { number: *number },
            GatheringEvent::LastWordAsked => GatheringStep::LastWordAsked,
            GatheringEvent::PassAsked { holder, to, .. } => {
                GatheringStep::PassAsked { holder: holder.to_string(), to: to.clone() }
            }
            GatheringEvent::PieceReleased { holder, because, next, note } => {
                GatheringStep::PieceReleased {
                    holder: holder.to_string(),
                    because: because.to_string(),
                    next: next.as_ref().map(ToString::to_string),
                    note: note.clone(),
                }
            }
            GatheringEvent::HarvestAsked { harvester, because, until, after } => {
                GatheringStep::HarvestAsked {
                    harvester: harvester.to_string(),
                    because: because.clone(),
                    until: until.map(|until| until.to_string()),
                    policy: after.as_ref().map(|policy| policy.name.to_string()),
                }
            }
            GatheringEvent::Harvested { harvester, message, .. } => GatheringStep::Harvested {
                harvester: harvester.to_string(),
                message: message.to_string(),
            },
            GatheringEvent::Closed { because } => {
                GatheringStep::Closed { because: because.clone() }
            }
        }
    }
}

impl From<&GatheringPlan> for GatheringRules {
    fn from(plan: &GatheringPlan) -> Self {
        Self {
            rhythm: plan.rhythm.clone(),
            opening_question: plan.opening_question.clone(),
            breath: plan.breath,
            beats_per_turn: plan.beats_per_turn,
            beat_interval_seconds: plan.beat_interval.as_secs_f64(),
            last_word_seconds: plan.last_word.as_secs_f64(),
            delivery: plan.hearing.to_string(),
        }
    }
}
