//! Operations on a living session: its screen, an interrupt, its end, and the reports of its
//! program.

use std::sync::Arc;

use moothall_engine::answers::HallError;
use moothall_engine::sessions::{
    Hook, HookNews, Pane, PaneNews, Permit, ReportOutcome, SessionError, SessionHost, SessionId,
    TypingRequest, View,
};
use moothall_kernel::command::{Actor, ClientCommand, Invite};
use moothall_kernel::occupation::ToolUse;
use moothall_kernel::time::Timestamp;
use tokio::sync::{broadcast, oneshot};

use super::Sessions;
use crate::faults::host_error;
use crate::mail::Mail;
use crate::secrets::hash_of;

impl Sessions {
    /// Returns the invitation of a session into a conversation, under its own name.
    ///
    /// # Errors
    /// [`SessionError`] if the session is not living.
    pub fn invite(&self, id: &SessionId) -> Result<Invite, SessionError> {
        Ok(self.invite_of(&self.living(id)?.session()))
    }

    /// Returns the screen of a session's terminal, or the last one of a session that has ended.
    ///
    /// # Errors
    /// [`SessionError`]; [`SessionError::Ended`] if the last screen is not stored.
    pub async fn screen(&self, id: &SessionId) -> Result<View, SessionError> {
        if let Some(handle) = self.handle_of(id).filter(|handle| handle.session().ended.is_some())
            && let Some(last) = handle.last_screen()
        {
            return Ok(last);
        }
        let (host, pane, client) = self.pane(id)?;
        host.view(&pane, &client).await.map_err(host_error)
    }

    /// Subscribes to the news of a session's terminal.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn watch(
        &self,
        id: &SessionId,
    ) -> Result<broadcast::Receiver<PaneNews>, SessionError> {
        let (host, pane, client) = self.pane(id)?;
        host.watch(&pane, &client).await.map_err(host_error)
    }

    /// Returns the command with which a person on this computer attaches to the terminal.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn attach(&self, id: &SessionId) -> Result<Vec<String>, SessionError> {
        let (host, pane, _) = self.pane(id)?;
        host.attach(&pane).await.map_err(host_error)
    }

    fn pane(&self, id: &SessionId) -> Result<(Arc<dyn SessionHost>, Pane, String), SessionError> {
        let session = self.living(id)?.session();
        let pane = session.pane.ok_or_else(|| {
            SessionError::Conflict("The session's program has not started yet.".into())
        })?;
        Ok((self.host()?, pane, session.client))
    }

    /// Types into a session's terminal for a person, or releases it.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn type_keys(
        &self,
        id: &SessionId,
        by: &Actor,
        request: TypingRequest,
    ) -> Result<Option<Timestamp>, SessionError> {
        self.ask_runner(id, |reply| Mail::Type(by.clone(), request, reply)).await?
    }

    /// Interrupts a session's program. Its turn is cancelled, if it has one.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn interrupt(&self, id: &SessionId, by: &Actor) -> Result<(), SessionError> {
        tracing::info!(session = %id, by = %by.id, "interrupted");
        let Some(key) = self.ask_runner(id, Mail::Interrupt).await?? else { return Ok(()) };
        match self
            .hall()?
            .submit(&key.stream, ClientCommand::Cancel { turn: key.turn, by: by.clone() }, None)
            .await
        {
            // The turn may have ended meanwhile.
            Err(HallError::Rejected(rejection)) if rejection.code == "turn_ended" => Ok(()),
            submitted => submitted.map(|_| ()).map_err(SessionError::Hall),
        }
    }

    /// Ends a session: its turns, its places in links, and its program if that was started here. A
    /// session that has already ended only gives up its places.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn end(&self, id: &SessionId, by: &Actor) -> Result<(), SessionError> {
        if matches!(self.living(id), Err(SessionError::Ended { .. })) {
            tracing::info!(session = %id, by = %by.id, "the places of an ended session were given \
                                                        up");
            return self.give_up_places(id).await;
        }
        self.end_because(id, format!("{} ended it", by.id)).await
    }

    /// Ends a session, for a reason that people read.
    pub(crate) async fn end_because(
        &self,
        id: &SessionId,
        why: String,
    ) -> Result<(), SessionError> {
        self.ask_runner(id, |reply| Mail::End(why, reply)).await?
    }

    /// Sends mail to the task of a living session, and waits for the reply.
    pub(crate) async fn ask_runner<T>(
        &self,
        id: &SessionId,
        mail: impl FnOnce(oneshot::Sender<T>) -> Mail,
    ) -> Result<T, SessionError> {
        let handle = self.living(id)?;
        let (reply, answer) = oneshot::channel();
        handle.send(mail(reply));
        answer.await.map_err(|_| SessionError::Conflict("The session has just ended.".into()))
    }

    /// Handles a report of a program. Its consequences are committed when this returns.
    ///
    /// # Errors
    /// [`SessionError`] if the report could not be committed; deliver it again.
    pub async fn handle_report(&self, hook: Hook) -> Result<ReportOutcome, SessionError> {
        if let Err(heard) = self.check(&hook) {
            return Ok(heard);
        }
        if let HookNews::Uses(tool) = hook.news {
            return Ok(self.note_tool(&hook.session, tool));
        }
        self.ask_runner(&hook.session.clone(), |reply| Mail::Hook(hook, reply)).await?
    }

    /// Notes the tool that a program uses. The tool is not written to the log, so the report waits
    /// for no commit.
    fn note_tool(&self, id: &SessionId, tool: Option<ToolUse>) -> ReportOutcome {
        if self.handle_of(id).is_some_and(|handle| handle.uses(tool)) {
            self.notify_of_sessions();
        }
        ReportOutcome::Yes
    }

    /// Checks that a report comes from a living session's program.
    fn check(&self, hook: &Hook) -> Result<(), ReportOutcome> {
        let handle = self.handle_of(&hook.session).ok_or(ReportOutcome::Unknown)?;
        let session = handle.session();
        if session.token_hash != hash_of(&hook.token) {
            tracing::warn!(session = %hook.session, "a report did not contain the session's secret");
            return Err(ReportOutcome::Forged);
        }
        if session.ended.is_some() { Err(ReportOutcome::Unknown) } else { Ok(()) }
    }

    /// Waits for a person's answer to a program's question. Dropping the future withdraws the
    /// question.
    pub async fn ask(&self, hook: Hook) -> Permit {
        if self.check(&hook).is_err() {
            return Permit::Undecided;
        }
        self.ask_runner(&hook.session.clone(), |reply| Mail::Ask(hook, reply))
            .await
            .unwrap_or(Permit::Undecided)
    }
}
