//! Sessions that wait for the end of another session's turn.

use moothall_engine::answers::Idempotency;
use moothall_engine::computers::RemoteWait;
use moothall_engine::outbox::{OutboxEntry, StreamCommand};
use moothall_engine::sessions::{Session, SessionError, SessionId};
use moothall_kernel::ids::StreamId;

use crate::directory::Sessions;
use crate::faults::log_error;
use crate::messages::others;

impl Sessions {
    /// Notes that a session waits for the end of another's turn. Returns true if it did not wait
    /// before.
    pub(super) async fn listen(
        &self,
        target: &SessionId,
        caller: &SessionId,
    ) -> Result<bool, SessionError> {
        let hall = self.hall()?;
        let book = &hall.store().sessions;
        let waits = book.listeners(target).await.map_err(log_error)?.contains(caller);
        book.listen(target, caller).await.map_err(log_error)?;
        Ok(!waits)
    }

    /// Removes the wait of a session for another's turn.
    pub(crate) async fn unlisten(
        &self,
        target: &SessionId,
        caller: &SessionId,
    ) -> Result<(), SessionError> {
        self.hall()?.store().sessions.unlisten(target, caller).await.map_err(log_error)
    }

    /// Notifies the waiting sessions that a session finished its turn, and ends their waits. A
    /// session that gets the words over a link is not notified and keeps waiting. (Ruling 24.)
    pub(super) async fn tell_listeners(
        &self,
        session: &Session,
        id: &str,
        crossed: &[StreamId],
    ) -> Result<(), SessionError> {
        let hall = self.hall()?;
        let book = &hall.store().sessions;
        let linked: Vec<SessionId> = self
            .links(Some(&session.id))
            .await?
            .iter()
            .filter(|link| crossed.contains(&link.id))
            .flat_map(|link| others(link, &session.id))
            .collect();
        let mut callers = book.listeners(&session.id).await.map_err(log_error)?;
        callers.retain(|caller| {
            let elsewhere = RemoteWait::of_listener(caller).map(|(_, wait)| wait.waiter);
            !linked.contains(elsewhere.as_ref().unwrap_or(caller))
        });
        let owed: Vec<OutboxEntry> =
            callers.iter().filter_map(|caller| self.finished_for(session, caller)).collect();
        if !owed.is_empty() {
            let key = blake3::hash(format!("{id}/finished").as_bytes()).to_hex().to_string();
            let once =
                Idempotency { principal: "moothall:hook".into(), key, fingerprint: String::new() };
            hall.owe(&session.id, owed, once).await?;
        }
        // Last, because after a failed step the report comes again, and its listeners must still be
        // stored.
        for caller in callers {
            book.unlisten(&session.id, &caller).await.map_err(log_error)?;
        }
        Ok(())
    }

    /// Removes all waits for a session that has ended, and the session's own waits.
    pub(super) async fn forget_listeners(&self, session: &SessionId) -> Result<(), SessionError> {
        let hall = self.hall()?;
        let book = &hall.store().sessions;
        let forget =
            async |target: &SessionId, caller: &SessionId| book.unlisten(target, caller).await;
        for caller in book.listeners(session).await.map_err(log_error)? {
            forget(session, &caller).await.map_err(log_error)?;
        }
        for status in self.list(false) {
            forget(&status.session.id, session).await.map_err(log_error)?;
        }
        Ok(())
    }
}

/// Returns the delivery that notifies a session, at its home, that another finished its turn.
pub(crate) fn finished(session: &Session, caller: &Session) -> OutboxEntry {
    // The whole id twice: ids of sessions started within a minute begin alike.
    let Session { id, name, .. } = session;
    let text = format!(
        "Session {id} \"{name}\" finished its turn. Use get_session_data(session_id=\"{id}\") to read what it said."
    );
    let (from, to) = (session.name.clone(), caller.name.clone());
    OutboxEntry::to_stream(&caller.id, &StreamCommand::Tell { from, to, text })
}
