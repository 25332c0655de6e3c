//! The content of events of type `gathering`, step by step.

use moothall_kernel::gathering::{GatheringEvent, GatheringPlan};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::GatheringMember;

/// The plan of a gathering.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GatheringRules {
    /// Rhythm of the gathering.
    pub rhythm: String,
    /// The opening question.
    pub opening_question: String,
    /// Numbers of rounds of inhale, hold and exhale.
    pub breath: [u32; 3],
    /// Beats for which a speaker may hold the piece.
    pub beats_per_turn: u32,
    /// Seconds from beat to beat.
    pub beat_interval_seconds: f64,
    /// Seconds for a last word after the last beat.
    pub last_word_seconds: f64,
    /// `live` or `on_turn`.
    pub delivery: String,
}

/// The content of an event of type `gathering`. Its `event` key names the variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum GatheringStep {
    /// The gathering began.
    Opened {
        /// Id of the participant that began it.
        by: String,
        /// Plan of the gathering.
        plan: GatheringRules,
        /// The participants, ordered by number.
        participants: Vec<GatheringMember>,
    },
    /// A round began.
    RoundOpened {
        /// Phase of the round: `inhale`, `hold` or `exhale`.
        phase: String,
        /// Rule of the phase for speakers, in one sentence.
        rule: String,
        /// Number of the round in its phase, from 1.
        round: u32,
        /// Ids of the participants that will hold the piece, in order.
        order: Vec<String>,
    },
    /// A participant got the piece.
    PieceGiven {
        /// Id of the new holder.
        holder: String,
        /// Reason why the named participant did not get the piece; `null` if it did.
        #[schema(required = true)]
        note: Option<String>,
    },
    /// A beat of the hold passed.
    Beat {
        /// Number of the beat in this hold, from 1.
        number: u32,
    },
    /// The holder's beats are used up, and a last word was asked for.
    LastWordAsked,
    /// The holder released the piece.
    PieceReleased {
        /// Id of the former holder.
        holder: String,
        /// Reason: `passed`, `last_word`, `grace` (no last word came in time), `gone` (the holder
        /// is no longer there), or `stopped` (a person stopped or ended the gathering, or too few
        /// speakers are left).
        because: String,
        /// Id of the participant that was named as the next holder and can be; otherwise `null`.
        #[schema(required = true)]
        next: Option<String>,
        /// Explanation, if the named participant cannot be the next holder; otherwise `null`.
        #[schema(required = true)]
        note: Option<String>,
    },
    /// The speaking ended, and the harvest was asked for.
    HarvestAsked {
        /// Id of the harvester.
        harvester: String,
        /// Reason with which the gathering will close.
        because: String,
        /// Time until which a person is waited for; `null` for an agent, whose turn has its own
        /// limit.
        #[schema(required = true)]
        until: Option<String>,
        /// Name of the policy that applies after the close; absent if none was recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<String>,
    },
    /// The harvest was written.
    Harvested {
        /// Id of the harvester.
        harvester: String,
        /// Id of the message with the harvest.
        message: String,
    },
    /// The gathering was closed.
    Closed {
        /// Reason: `done`, `too_few` or `ended`.
        because: String,
    },
    /// The holder passed the piece, which moves on when the holder's turn ends.
    PassAsked {
        /// Id of the holder.
        holder: String,
        /// Name given by the holder; `null` for the next in order.
        #[schema(required = true)]
        to: Option<String>,
    },
}

impl From<&GatheringEvent> for GatheringStep {
    /// Returns a step as all readers may see it, without the pulse of a beat.
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
            // The pulse of a beat is for the holder alone, so it is left out.
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
