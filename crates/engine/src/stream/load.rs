//! Loading a stream: its state from a snapshot, if it has one, or from its beginning.

use moothall_kernel::budget::Charge;
use moothall_kernel::event::Event;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::{Aggregate, Conversation, STATE_VERSION};

use super::io::LoadedStream;
use crate::answers::HallError;
use crate::ports::{EventLog, Page, StreamStart};

/// Number of events in one read.
const LOAD_PAGE: usize = 1000;

/// Loads the state of a stream, up to the first event that this version does not know. Also returns
/// the position of the snapshot that was used, `Seq(0)` without one.
///
/// # Errors
/// [`HallError`] if the stream does not exist or cannot be read.
pub async fn load(log: &dyn EventLog, stream: &StreamId) -> Result<(LoadedStream, Seq), HallError> {
    let StreamStart { kind, snapshot, page } = log.load(stream, STATE_VERSION, LOAD_PAGE).await?;
    let Some(snapshot) = snapshot else {
        return Ok((go_on(log, new(&kind, stream)?, page).await?, Seq(0)));
    };
    match snapshot.state(&kind, stream) {
        Some(state) => Ok((go_on(log, state, page).await?, snapshot.head)),
        None => Ok((fold(log, &kind, stream).await?, Seq(0))),
    }
}

/// Loads a stream of this kind from its beginning, without a snapshot.
///
/// # Errors
/// As for [`load`].
pub async fn fold(
    log: &dyn EventLog,
    kind: &str,
    stream: &StreamId,
) -> Result<LoadedStream, HallError> {
    go_on(log, new(kind, stream)?, log.read(stream, Seq(0), LOAD_PAGE).await?).await
}

/// Returns the empty state of a stream. For a kind that this version does not know, returns the
/// error that the stream is read-only.
fn new(kind: &str, stream: &StreamId) -> Result<Aggregate, HallError> {
    let unknown =
        || HallError::ReadOnly { stream: stream.clone(), seq: Seq(1), kind: kind.to_owned() };
    Aggregate::new(kind, stream.clone()).ok_or_else(unknown)
}

/// Applies a page and all pages after it to a state.
async fn go_on(
    log: &dyn EventLog,
    mut state: Aggregate,
    mut page: Page,
) -> Result<LoadedStream, HallError> {
    let stream = state.stream().clone();
    loop {
        let known = |seq: Seq| page.newer.as_ref().is_none_or(|(newer, _)| seq < *newer);
        let forgotten = |event: &Event| {
            planted::has(Bug::GuardNotRestored) && matches!(event, Event::GuardTripped { .. })
        };
        let read = page
            .events
            .iter()
            .filter(|recorded| known(recorded.seq) && !forgotten(&recorded.event));
        read.for_each(|recorded| state.apply(recorded));
        if page.newer.is_some() {
            return Ok(LoadedStream::new(state, page.newer));
        }
        let after = page.through;
        page = log.read(&stream, after, LOAD_PAGE).await?;
        // A page may be short because of its bytes, so only a page that does not advance is the
        // last one.
        if page.newer.is_none() && page.through <= after {
            return Ok(LoadedStream::new(state, None));
        }
    }
}

/// Returns the charges of a stream's turns up to a position, or to the first event that this
/// version does not know.
pub(crate) async fn charges_up_to(
    log: &dyn EventLog,
    stream: &StreamId,
    through: Seq,
) -> Result<Vec<Charge>, HallError> {
    let mut state = Conversation::new(stream.clone());
    let (mut charges, mut after) = (Vec::new(), Seq(0));
    loop {
        let page = log.read(stream, after, LOAD_PAGE).await?;
        let known =
            |seq: Seq| seq <= through && page.newer.as_ref().is_none_or(|(newer, _)| seq < *newer);
        for event in page.events.iter().filter(|event| known(event.seq)) {
            charges.extend(state.charge_of(event.ts, &event.event));
            state.apply(event);
        }
        if page.newer.is_some() || page.through <= after || page.through >= through {
            return Ok(charges);
        }
        after = page.through;
    }
}
