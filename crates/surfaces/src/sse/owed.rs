//! What a participant that comes by itself is told beside the events: for each of its open turns, once for each connection, what it is
//! to read before it answers. It goes to nobody else, and is composed when it is sent, so whoever reconnects gets it again.

use axum::body::Bytes;
use moothall_engine::access::AccessError;
use moothall_engine::door::Door;
use moothall_kernel::event::{Event, Recorded};
use moothall_kernel::ids::{ParticipantId, StreamId, TurnNo};
use moothall_kernel::view::Viewer;

use super::signal;
use crate::wire::TurnContext;

/// The turns that a reader has not been told about.
pub(super) struct Owed {
    /// Nobody, for readers that take no turns.
    reader: Option<ParticipantId>,
    /// The newest turn that it was told about.
    told: TurnNo,
    /// Whether there may be more.
    more: bool,
}

impl Owed {
    pub(super) fn to(viewer: &Viewer) -> Self {
        let reader = match viewer {
            Viewer::Participant(id) => Some(id.clone()),
            Viewer::Operator | Viewer::Guest => None,
        };
        Self { more: reader.is_some(), reader, told: TurnNo(0) }
    }

    /// Looks through events that just came.
    pub(super) fn observe(&mut self, events: &[Recorded]) {
        let own = |recorded: &Recorded| matches!(&recorded.event, Event::TurnGranted { participant, .. } if self.reader.as_ref() == Some(participant));
        self.more |= events.iter().any(own);
    }

    /// There may be some among events that were not looked through.
    pub(super) fn look_again(&mut self) {
        self.more = self.reader.is_some();
    }

    /// What it has to be told now.
    pub(super) async fn frames(&mut self, door: &Door, stream: &StreamId) -> Result<Vec<Bytes>, AccessError> {
        let Some(reader) = self.reader.as_ref().filter(|_| self.more) else { return Ok(Vec::new()) };
        let contexts = door.own_contexts(stream, reader, self.told).await?;
        self.more = false;
        self.told = contexts.last().map_or(self.told, |context| context.turn);
        Ok(contexts.iter().map(|context| signal("turn", &TurnContext::of(stream, context))).collect())
    }
}
