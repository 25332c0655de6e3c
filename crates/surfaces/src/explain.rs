//! Explanations of turns, reworded for a reader, and previews of drafts as wire types.

use moothall_engine::door::{Action, Door, Explanation, NoAgentAsked as Unasked};
use moothall_kernel::Conversation;
use moothall_kernel::ids::{EventId, StreamId};
use moothall_kernel::preview;
use moothall_kernel::silence::{Reason, Silence};
use moothall_kernel::view::Viewer;

use crate::error::{ApiError, ApiResult, Code};
use crate::next_steps::Reader;
use crate::wire::{ForecastEntry, NoAgentAsked, Preview};

/// Explains the turns of a thread, or only the turns about one message. The next steps in the
/// explanation are reworded for `reader`.
///
/// # Errors
/// [`ApiError`] if the thread cannot be read, or if the viewer sees no event with the id in
/// `message`.
pub async fn explain(
    door: &Door,
    action: Action,
    stream: &StreamId,
    viewer: &Viewer,
    message: Option<EventId>,
    reader: Reader,
) -> ApiResult<Explanation> {
    let explained = door.explain(action, stream, viewer, message).await?;
    let explained = explained.ok_or_else(|| no_event().in_thread(stream))?;
    Ok(explained.reworded(|text| reader.reword(text)))
}

/// Returns the error for an event that is missing or hidden from the reader.
pub fn no_event() -> ApiError {
    ApiError::plain(Code::UnknownEvent)
}

/// Converts the preview of a draft to a wire type. `body` is the draft's text. The next steps in
/// the preview are reworded for `reader`.
pub fn of_draft(
    state: &Conversation,
    preview: &preview::Preview,
    body: &str,
    reader: Reader,
) -> Preview {
    let entry = |forecast: &preview::Forecast| ForecastEntry {
        participant: forecast.participant.to_string(),
        why: forecast.verdict.ok().map(|why| why.to_string()),
        why_not: forecast.verdict.err().map(|why_not| why_not.to_string()),
        reason: forecast.verdict.err().map(|why| Reason::from(why).row().phrase.into()),
    };
    let describe = |silence: &Silence| {
        let described =
            NoAgentAsked::from(Unasked::of(state, silence, silence.name_in(body).as_deref()));
        NoAgentAsked { cure: described.cure.map(|cure| reader.reword(&cure)), ..described }
    };
    Preview {
        forecast: preview.forecast.iter().map(entry).collect(),
        unasked: preview.silence.as_ref().map(describe),
        stray: preview.stray.as_ref().map(describe),
    }
}
