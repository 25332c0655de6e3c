//! Reading a stream from its beginning.

use moothall_kernel::Conversation;
use moothall_kernel::budget::Charge;
use moothall_kernel::event::Event;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::planted::{self, Bug};

use super::io::Loaded;
use crate::hall::HallError;
use crate::ports::EventLog;

/// Events read at once.
const LOAD_PAGE: usize = 1000;

/// The state of a stream, up to the first event that this version does not know.
///
/// # Errors
/// [`HallError`] when there is no such stream, or it cannot be read.
pub async fn fold(log: &dyn EventLog, stream: &StreamId) -> Result<Loaded, HallError> {
    let mut state = Conversation::new(stream.clone());
    let mut after = Seq(0);
    loop {
        let page = log.read(stream, after, LOAD_PAGE).await?;
        let known = |seq: Seq| page.newer.as_ref().is_none_or(|(newer, _)| seq < *newer);
        let forgotten = |event: &Event| planted::has(Bug::GuardNotRestored) && matches!(event, Event::Held { .. });
        let read = page.events.iter().filter(|recorded| known(recorded.seq) && !forgotten(&recorded.event));
        read.for_each(|recorded| state.apply(recorded));
        if page.newer.is_some() || page.through <= after {
            return Ok(Loaded::new(state, page.newer));
        }
        after = page.through;
    }
}

/// What a stream's turns cost up to a position, or to the first event that this version does not know.
pub(crate) async fn charges_up_to(log: &dyn EventLog, stream: &StreamId, through: Seq) -> Result<Vec<Charge>, HallError> {
    let mut state = Conversation::new(stream.clone());
    let (mut charges, mut after) = (Vec::new(), Seq(0));
    loop {
        let page = log.read(stream, after, LOAD_PAGE).await?;
        let known = |seq: Seq| seq <= through && page.newer.as_ref().is_none_or(|(newer, _)| seq < *newer);
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
