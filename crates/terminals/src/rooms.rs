//! Memberships of sessions: tracked as sessions join and leave conversations, and restored after a
//! restart.

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

/// Number of deliveries searched for a session's conversations.
const PROMPTS_MAX: usize = 200;

/// A change of a session's membership.
enum Move {
    In(SessionId),
    Out(SessionId),
}

impl Sessions {
    /// True if two sessions share a conversation that is not archived, including either's home. A
    /// closed link does not count: its members must ask a person again. (Ruling 24.)
    pub(crate) fn meet(&self, one: &SessionId, other: &SessionId) -> bool {
        let rooms = |id| self.handle_of(id).map(|handle| handle.rooms().now());
        let archived = self.archived();
        rooms(one).zip(rooms(other)).is_some_and(|(one, other)| {
            one.intersection(&other).any(|room| !archived.contains(room))
        })
    }

    fn archived(&self) -> MutexGuard<'_, BTreeSet<StreamId>> {
        self.shared.archived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tracks the archiving and unarchiving of conversations with sessions.
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

    /// True if a participant shares with a session a conversation that is not archived.
    pub(crate) async fn shares(
        &self,
        participant: &ParticipantId,
        session: &SessionId,
    ) -> Result<bool, SessionError> {
        let Some(handle) = self.handle_of(session) else { return Ok(false) };
        let hall = self.hall()?;
        for room in handle.rooms().now().iter() {
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

    /// Restores the memberships of a session that lives when the server starts, or is resumed: the
    /// stored ones, and those conversations with deliveries to it that it still belongs to.
    pub(super) async fn find_rooms(
        &self,
        hall: &ResidentHall,
        session: &SessionId,
    ) -> Result<(), HallError> {
        let Some(handle) = self.handle_of(session) else { return Ok(()) };
        let mut rooms = hall.store().sessions.rooms(session).await?;
        for delivery in hall.store().outbox.of_target(&target(session), None, PROMPTS_MAX).await? {
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
        handle.rooms().change(|known| known.extend(rooms));
        Ok(())
    }

    /// Tracks leaving sessions before the commit, so that a removed session never reaches later
    /// words. Forgets the last screens of all sessions if an event erases words.
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
        let erases = |event: &Event| event.erases_all() || matches!(event, Event::Redacted { .. });
        if events.iter().any(|recorded| erases(&recorded.event)) {
            self.forget_screens();
        }
        if events.iter().any(|recorded| recorded.event.erases_all()) {
            for session in state.participants().iter().filter_map(session_of) {
                self.note(stream, Move::Out(session)).await?;
            }
        }
        Ok(())
    }

    /// Forgets the last screens of all sessions. Erased words may have come into any terminal, over
    /// a link too, and nothing tells into which.
    fn forget_screens(&self) {
        self.handles().values().for_each(|handle| handle.forget_screen());
    }

    /// Applies committed events to the sessions, before the caller gets its answer: updates the
    /// known links and archived conversations, ends the programs of a closed gathering, brings
    /// answers to programs, and tracks joining sessions. `state` is the conversation before the
    /// events.
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
        if events.iter().any(|recorded| matches!(recorded.event, Event::Joined(_))) {
            self.begin_ending_doubles(stream);
        }
        for session in events.iter().flat_map(|event| self.joined_sessions(event)) {
            if let Err(error) = self.note(stream, Move::In(session)).await {
                // Only the stored membership is missing: a restart finds it again from the
                // session's deliveries.
                tracing::warn!(%stream, %error, "a session's membership in a conversation could \
                                                 not be stored");
            }
        }
    }

    /// Returns the sessions that an event brings into its conversation: the invited sessions, or
    /// the living session that created it.
    fn joined_sessions(&self, event: &RecordedEvent) -> Vec<SessionId> {
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

    /// Records that a session came into a conversation or left it, in memory and then in the store.
    /// A session that comes back into a link loses the place that it had kept there.
    async fn note(&self, stream: &StreamId, moved: Move) -> Result<(), LogError> {
        let (session, comes) = match &moved {
            Move::In(session) => (session, true),
            Move::Out(session) => (session, false),
        };
        if let Some(handle) = self.handle_of(session) {
            if comes {
                self.use_place(session, stream);
            }
            handle.rooms().change(|rooms| {
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

/// Returns the changes of a control event; empty for other events.
pub(super) fn changes(event: &RecordedEvent) -> &[Change] {
    if let Event::Controlled { changes, .. } = &event.event { changes } else { &[] }
}
