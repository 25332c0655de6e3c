//! The MCP tools for gatherings: their arguments and their answers.

use moothall_engine::door::{Action, Door};
use moothall_kernel::ids::StreamId;
use serde_json::{Value, json};

use super::sessions::actor;
use super::threads::thread;
use crate::ask::non_empty;
use crate::error::{ApiError, ApiResult, Code};
use crate::gather;
use crate::wire::arguments::{GatheringStatus, PassPiece, StartGathering};
use crate::wire::{GatheringAnswer, NewGathering};

/// Begins a gathering.
pub async fn start(door: &Door, asked: StartGathering) -> ApiResult<GatheringAnswer> {
    let by = actor(door, asked.from.as_deref())?;
    let new = NewGathering {
        from: None,
        title: asked.title,
        rhythm: asked.rhythm,
        opening_question: asked.opening_question,
        breath: non_empty(asked.breath).map(|breath| rounds(&breath)),
        beats_per_turn: asked.beats_per_turn.map(|beats| u32::try_from(beats).unwrap_or(u32::MAX)),
        beat_interval_seconds: asked.beat_interval_seconds.map(|seconds| seconds as f64),
        last_word_seconds: asked.last_word_seconds.map(|seconds| seconds as f64),
        delivery: asked.delivery,
        keep: asked.keep,
        participants: asked.participants,
    };
    gather::begin(door, by, new).await
}

/// Converts numbers with commas or hyphens between them, such as `1,2,1`, to a list of numbers. Any
/// other text stays as it is.
fn rounds(breath: &str) -> Value {
    let numbers: Option<Vec<u64>> =
        breath.split([',', '-']).map(|number| number.trim().parse().ok()).collect();
    numbers.map_or_else(|| json!(breath), |numbers| json!(numbers))
}

/// Returns the state of a gathering, with the caller's private seed message and pulse.
pub async fn status(door: &Door, asked: GatheringStatus) -> ApiResult<GatheringAnswer> {
    let id = resolve_gathering(door, Action::ReadGathering, asked.gathering).await?;
    Ok(GatheringAnswer::from(&door.gathering(&id, None).await?))
}

/// Passes the talking piece.
pub async fn pass(door: &Door, asked: PassPiece) -> ApiResult<GatheringAnswer> {
    let id = resolve_gathering(door, Action::Pass, asked.gathering).await?;
    let by = actor(door, asked.from.as_deref())?;
    Ok(GatheringAnswer::from(&door.pass_piece(&id, by, non_empty(asked.to)).await?))
}

/// Returns the named gathering. Without a name, returns the one in which the calling session takes
/// part, or an error if it takes part in none.
async fn resolve_gathering(
    door: &Door,
    action: Action,
    named: Option<String>,
) -> ApiResult<StreamId> {
    if let Some(word) = non_empty(named) {
        return thread(door, action, &word).await;
    }
    door.own_gathering().await?.ok_or_else(|| {
        ApiError::new(
            Code::InvalidField,
            "'gathering' is missing: give its id or exact title, because you take part in none.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breath_is_a_name_or_three_numbers() {
        assert_eq!(rounds("1,2, 1"), json!([1, 2, 1]));
        assert_eq!(rounds("2-3-2"), json!([2, 3, 2]));
        assert_eq!(rounds("extended"), json!("extended"));
        assert_eq!(rounds("1,x"), json!("1,x"));
    }
}
