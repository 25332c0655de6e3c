//! Messages to the tasks of sessions from outside, other than turns.

use std::time::Duration;

use moothall_engine::agent::PermissionAnswer;
use moothall_engine::answers::HallError;
use moothall_engine::sessions::{SessionId, is_session, session_of};
use moothall_kernel::Conversation;
use moothall_kernel::command::EngineCommand;
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, StreamId};
use moothall_kernel::permission::WithdrawalReason;

use crate::directory::Sessions;
use crate::mail::Mail;

/// Reads cards of one kind that wait for people: the permission, the event that asks, the asker.
type Cards = for<'a> fn(&'a Conversation) -> Vec<(&'a PermissionId, Seq, &'a ParticipantId)>;

/// Maximum time that an answer waits for a look at the terminal.
const LOOK_WITHIN: Duration = Duration::from_secs(5);

impl Sessions {
    /// Checks a session's question against its terminal before a person answers it. An outdated
    /// question is withdrawn when this returns, unless the terminal could not be read or the look
    /// took more than [`LOOK_WITHIN`].
    pub(crate) async fn see_question(&self, stream: &StreamId, permission: &PermissionId) {
        let Ok(hall) = self.hall() else { return };
        let wanted = permission.clone();
        let asker = move |state: &Conversation| {
            let of_turn =
                state.open_turns().find(|turn| turn.permissions().any(|open| *open == wanted));
            let in_no_turn = state.questions_asked().find(|(open, _, _)| **open == wanted);
            let asker =
                of_turn.map(|turn| &turn.participant).or(in_no_turn.map(|(_, _, asker)| asker));
            session_of(state.participant(asker?)?)
        };
        let Ok(Some(session)) = hall.view(stream, asker).await else { return };
        // A terminal that cannot be read now is read again before a key is pressed.
        let _ = tokio::time::timeout(LOOK_WITHIN, self.ask_runner(&session, Mail::Look)).await;
    }

    /// Sends answers of questions asked outside turns to the programs that asked. `state` is the
    /// conversation before the events.
    pub(crate) fn bring_answers(&self, state: &Conversation, events: &[RecordedEvent]) {
        for recorded in events {
            let Event::PermissionAnswered { permission, option, text, .. } = &recorded.event else {
                continue;
            };
            let asked = state.questions_asked().find(|(open, _, _)| *open == permission);
            let session = asked.and_then(|(_, _, asker)| session_of(state.participant(asker)?));
            if let Some(handle) = session.and_then(|session| self.handle_of(&session)) {
                let given = PermissionAnswer { option: option.clone(), text: text.clone() };
                // An ended session has no open questions.
                let _ = handle.send(Mail::Permit(permission.clone(), Some(given)));
            }
        }
    }

    /// Returns the unanswered questions that a session asked outside turns, with their
    /// conversations.
    pub(crate) async fn asked_in_no_turn(
        &self,
        session: &SessionId,
    ) -> Vec<(StreamId, PermissionId)> {
        self.cards_of(session, |state| state.questions_asked().collect()).await
    }

    /// Withdraws the requests of a session that has ended.
    pub(crate) async fn withdraw_requests(&self, session: &SessionId) {
        let requests = self.cards_of(session, |state| state.requests_asked().collect()).await;
        for (stream, permission) in requests {
            let because = WithdrawalReason::Left;
            let withdraw = EngineCommand::WithdrawPermission { permission, because };
            self.tell_until_kept(&stream, withdraw).await;
        }
    }

    /// Returns a session's cards of one kind that wait for people, with their conversations.
    async fn cards_of(&self, session: &SessionId, of: Cards) -> Vec<(StreamId, PermissionId)> {
        let Ok(hall) = self.hall() else { return Vec::new() };
        let noted = hall.store().sessions.rooms(session).await;
        let mut rooms = noted
            .inspect_err(|error| {
                tracing::error!(%session, %error, "the conversations of a \
                                                                    session cannot be read")
            })
            .unwrap_or_default();
        if !rooms.contains(session) {
            rooms.push(session.clone());
        }
        let mut all = Vec::new();
        for stream in rooms {
            // Skip loading a conversation in which no card waits for a person.
            if let Ok(Some(listed)) = hall.store().log.find(&stream).await
                && listed.catalog.waits_for_people == Some(0)
            {
                continue;
            }
            let own = session.clone();
            let of_it = move |state: &Conversation| {
                let is_own =
                    |asker| state.participant(asker).is_some_and(|one| is_session(one, &own));
                of(state)
                    .into_iter()
                    .filter(|(_, _, asker)| is_own(asker))
                    .map(|(permission, _, _)| permission.clone())
                    .collect::<Vec<_>>()
            };
            match hall.view(&stream, of_it).await {
                Ok(asked) => {
                    all.extend(asked.into_iter().map(|permission| (stream.clone(), permission)))
                }
                Err(HallError::NotFound(_) | HallError::Deleted(_)) => {}
                Err(error) => {
                    tracing::warn!(%session, %stream, %error, "the questions of a session cannot \
                                                               be read")
                }
            }
        }
        all
    }

    /// Tells the sessions of programs under the server's own user that all reports from the
    /// server's downtime have been delivered.
    pub fn caught_up(&self) {
        let own = self.list(false).into_iter().filter(|status| status.session.run_as.is_none());
        for handle in own.filter_map(|status| self.handle_of(&status.session.id)) {
            // An ended session needs no notice.
            let _ = handle.send(Mail::CaughtUp);
        }
    }
}
