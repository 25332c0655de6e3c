//! Where sessions are: noted as they come into conversations and leave them, and found again after
//! a restart.

use std::collections::BTreeSet;
use std::sync::{MutexGuard, PoisonError};

use moothall_engine::answers::HallError;
use moothall_engine::ports::LogError;
use moothall_engine::residents::ResidentHall;
use moothall_engine::sessions::{
    SessionError, SessionId, is_session, named_by, session_of, target,
};
use moothall_kernel::Conversation;
use moothall_kernel::event::{Change, Event, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, StreamId};

use crate::directory::Sessions;

/// Prompts that are looked through for where a session is.
const PROMPTS_MAX: usize = 200;

/// What a batch of events changes about who is where.
enum Move {
    In(SessionId),
    Out(SessionId),
}

impl Sessions {
    /// True if two sessions are in a conversation together that takes words, the home of one of
    /// them included. A link that was closed brings its members together no more: its members ask
    /// a person again. (Ruling 24.)
    pub(crate) fn meet(&self, one: &SessionId, other: &SessionId) -> bool {
        let rooms = |id| self.seat_of(id).map(|seat| seat.rooms().now());
        let archived = self.archived();
        rooms(one).zip(rooms(other)).is_some_and(|(one, other)| {
            one.intersection(&other).any(|room| !archived.contains(room))
        })
    }

    fn archived(&self) -> MutexGuard<'_, BTreeSet<StreamId>> {
        self.shared.archived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes if a conversation takes words no more, or does so again.
    fn note_archived(&self, stream: &StreamId, state: &Conversation, events: &[RecordedEvent]) {
        for recorded in events {
            if recorded.event.erases_all() || matches!(recorded.event, Event::Unarchived { .. }) {
                self.archived().remove(stream);
            } else if matches!(recorded.event, Event::Archived { .. })
                && state.participants().iter().any(|one| session_of(one).is_some())
            {
                self.archived().insert(stream.clone());
            }
        }
    }

    /// True if a participant is in a conversation with a session that takes words.
    pub(crate) async fn shares(
        &self,
        participant: &ParticipantId,
        session: &SessionId,
    ) -> Result<bool, SessionError> {
        let Some(seat) = self.seat_of(session) else { return Ok(false) };
        let hall = self.hall()?;
        for room in seat.rooms().now().iter() {
            let wanted = participant.clone();
            match hall
                .view(room, move |state: &Conversation| {
                    state.participant(&wanted).is_some() && !state.is_archived()
                })
                .await
            {
                Ok(true) => return Ok(true),
                Ok(false) | Err(HallError::NotFound(_) | HallError::Deleted(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// Finds out where a session is that lived when the server went away: what was noted, and, of
    /// where it was prompted, those conversations that it still is in.
    pub(super) async fn find_rooms(
        &self,
        hall: &ResidentHall,
        session: &SessionId,
    ) -> Result<(), HallError> {
        let Some(seat) = self.seat_of(session) else { return Ok(()) };
        let mut rooms = hall.store().sessions.rooms(session).await?;
        for delivery in hall.store().outbox.of_target(&target(session), PROMPTS_MAX).await? {
            let own = session.clone();
            let is_in = move |state: &Conversation| {
                state.participants().iter().any(|one| is_session(one, &own))
            };
            if rooms.contains(&delivery.stream) {
                continue;
            }
            match hall.view(&delivery.stream, is_in).await {
                Ok(true) => rooms.push(delivery.stream),
                Ok(false) | Err(HallError::NotFound(_) | HallError::Deleted(_)) => {}
                Err(error) => return Err(error),
            }
        }
        for room in &rooms {
            let listed = hall.store().log.find(room).await;
            if matches!(listed, Ok(Some(listed)) if listed.catalog.archived) {
                self.archived().insert(room.clone());
            }
        }
        seat.rooms().change(|known| known.extend(rooms));
        Ok(())
    }

    /// Who leaves, before it is committed: a session that is taken out never reaches what is said
    /// afterwards.
    pub(crate) async fn before_commit(
        &self,
        stream: &StreamId,
        state: &Conversation,
        events: &[RecordedEvent],
    ) -> Result<(), LogError> {
        for change in events.iter().flat_map(changes) {
            if let Change::Uninvited { participant, .. } = change
                && let Some(session) = state.participant(participant).and_then(session_of)
            {
                self.note(stream, Move::Out(session)).await?;
            }
        }
        if events.iter().any(|recorded| recorded.event.erases_all()) {
            for session in state.participants().iter().filter_map(session_of) {
                self.note(stream, Move::Out(session)).await?;
            }
        }
        Ok(())
    }

    /// Who comes, after it is committed and before anybody is answered.
    /// `state` is how the conversation was before.
    pub(crate) async fn after_commit(
        &self,
        stream: &StreamId,
        state: &Conversation,
        events: &[RecordedEvent],
    ) {
        self.note_link(stream, state, events);
        self.note_archived(stream, state, events);
        self.end_with_gathering(stream, events);
        self.bring_answers(state, events);
        for session in events.iter().flat_map(|event| self.comers(event)) {
            if let Err(error) = self.note(stream, Move::In(session)).await {
                // Only the note failed: after a restart the membership is found from what was
                // delivered to the session.
                tracing::warn!(%stream, %error, "that a session came into a conversation was not noted");
            }
        }
    }

    /// The sessions that an event brings into its conversation: those invited, and the one that
    /// begins it.
    fn comers(&self, event: &RecordedEvent) -> Vec<SessionId> {
        if let Event::Created { by, .. } = &event.event {
            return self.living_named(by).into_iter().collect();
        }
        let invited = |change: &Change| {
            if let Change::Invited { address, .. } = change {
                address.as_ref().and_then(named_by)
            } else {
                None
            }
        };
        changes(event).iter().filter_map(invited).collect()
    }

    async fn note(&self, stream: &StreamId, moved: Move) -> Result<(), LogError> {
        let (session, comes) = match &moved {
            Move::In(session) => (session, true),
            Move::Out(session) => (session, false),
        };
        if let Some(seat) = self.seat_of(session) {
            if comes {
                self.use_place(session, stream);
            }
            seat.rooms().change(|rooms| {
                if comes {
                    rooms.insert(stream.clone());
                } else {
                    rooms.remove(stream);
                }
            });
        }
        let Some(hall) = self.hall().ok() else { return Ok(()) };
        let book = &hall.store().sessions;
        if comes { book.enter(session, stream).await } else { book.leave(session, stream).await }
    }
}

/// What a control changed; nothing of any other event.
pub(super) fn changes(event: &RecordedEvent) -> &[Change] {
    if let Event::Controlled { changes, .. } = &event.event { changes } else { &[] }
}
