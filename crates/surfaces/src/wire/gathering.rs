//! The content of events of type `gathering`.

use moothall_kernel::gathering::{GatheringEvent, GatheringPlan};
use serde_json::{Value, json};

/// `{"event": …}` and what belongs to it.
pub(super) fn content(step: &GatheringEvent) -> Value {
    match step {
        GatheringEvent::Opened { plan, by } => {
            json!({"event": "opened", "by": by, "plan": plan_as_json(plan)})
        }
        GatheringEvent::RoundOpened { phase, round, order } => {
            json!({"event": "round_opened", "phase": phase.to_string(), "rule": phase.rule(), "round": round, "order": order})
        }
        GatheringEvent::PieceGiven { holder, note } => {
            json!({"event": "piece_given", "holder": holder, "note": note})
        }
        GatheringEvent::Beat { number } => json!({"event": "beat", "number": number}),
        GatheringEvent::LastWordAsked => json!({"event": "last_word_asked"}),
        GatheringEvent::PieceReleased { holder, because, next, note } => {
            json!({"event": "piece_released", "holder": holder, "because": because.to_string(), "next": next, "note": note})
        }
        GatheringEvent::HarvestAsked { harvester } => {
            json!({"event": "harvest_asked", "harvester": harvester})
        }
        GatheringEvent::Closed { because } => json!({"event": "closed", "because": because}),
    }
}

fn plan_as_json(plan: &GatheringPlan) -> Value {
    json!({
        "rhythm": plan.rhythm,
        "breath": plan.breath,
        "beats_per_turn": plan.beats_per_turn,
        "beat_interval_seconds": plan.beat_interval.as_secs_f64(),
        "last_word_seconds": plan.last_word.as_secs_f64(),
        "opening_question": plan.opening_question,
        "delivery": plan.hearing.to_string(),
    })
}
