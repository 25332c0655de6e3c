//! Words to sessions of other computers over a link with them.

use moothall_engine::answers::Idempotency;
use moothall_engine::computers::{RemoteMember, RemoteWait};
use moothall_engine::outbox::{OutboxEntry, PostCommand};
use moothall_engine::sessions::{
    Asker, LinkState, MessageElsewhere, SendResult, Session, SessionError, SessionId,
};
use moothall_kernel::ids::StreamId;
use moothall_kernel::text::is_empty_looking;
use uuid::Uuid;

use crate::directory::Sessions;
use crate::faults::log_error;
use crate::links::MEMBERS_MIN;
use crate::links_elsewhere::is_elsewhere;
use crate::listeners::finished;
use crate::messages::PostOutcome;

impl Sessions {
    /// Sends words to a session of another computer over the link of exactly the two. With
    /// `close_link`, sends the words, if there are any, over the smallest link that has both
    /// sessions, and then closes that link. Returns `None`, and does nothing, if no such link
    /// exists.
    ///
    /// # Errors
    /// [`SessionError`]; no words were said then, unless only the closing failed.
    pub(crate) async fn send_elsewhere(
        &self,
        message: MessageElsewhere,
        key: Option<Idempotency>,
    ) -> Result<Option<SendResult>, SessionError> {
        let MessageElsewhere { from, computer, word, text, close_link } = message;
        let mut links = self.links(Some(&from)).await?;
        links.retain(|link| {
            let is_wide_enough = close_link || link.members.len() == MEMBERS_MIN;
            is_wide_enough && link.members.iter().any(|it| is_elsewhere(it, &computer.id, &word))
        });
        let link = links.into_iter().min_by_key(|link| link.members.len());
        let Some(link) = link else { return Ok(None) };
        let has_words = !is_empty_looking(&text);
        let said = match has_words {
            true => self.say_as_member(&link.id, &from, &text, key).await?,
            false => PostOutcome::default(),
        };
        let is_heard = has_words && said.held.is_none();
        let delivered_to = if is_heard { self.recipients(&link, &from) } else { Vec::new() };
        if close_link {
            self.close_link(&link.id, &Asker::Session(from)).await?;
        } else {
            let wait = RemoteWait { waiter: from.clone(), word };
            self.unlisten(&wait.target(&computer.id), &from).await?;
        }
        Ok(Some(SendResult {
            stream: link.id.clone(),
            seq: said.seq,
            link: Some(link.id),
            state: if close_link { LinkState::Closed } else { LinkState::Reused },
            delivered_to,
            held: said.held,
        }))
    }

    /// Says words in a link as a session that is a member. If the link lives on another computer,
    /// the words are owed to that computer, which posts them later.
    ///
    /// # Errors
    /// [`SessionError`]; no words were said then.
    pub(crate) async fn say_as_member(
        &self,
        link: &StreamId,
        from: &SessionId,
        text: &str,
        key: Option<Idempotency>,
    ) -> Result<PostOutcome, SessionError> {
        let joined = self.joined_links(from).await?.into_iter().find(|it| it.stream == *link);
        let Some(joined) = joined else {
            return self.say_in(link, &Asker::Session(from.clone()), text, key).await;
        };
        let words = PostCommand::Words {
            link: link.clone(),
            session: from.clone(),
            text: text.to_owned(),
            typed: false,
            elsewhere: Vec::new(),
        };
        let once = || Idempotency {
            principal: "moothall:post".into(),
            key: Uuid::new_v4().simple().to_string(),
            fingerprint: String::new(),
        };
        let hall = self.hall()?;
        hall.owe(from, vec![words.entry(&joined.computer)], key.unwrap_or_else(once)).await?;
        Ok(PostOutcome::default())
    }

    /// Ends the waits of sessions of other computers for a session here: they are in one link with
    /// it, and get its answers themselves. (SC-3)
    ///
    /// # Errors
    /// [`SessionError`] if the waits cannot be read or changed.
    pub(crate) async fn forget_waits_of(
        &self,
        session: &SessionId,
        elsewhere: &[RemoteMember],
    ) -> Result<(), SessionError> {
        if elsewhere.is_empty() {
            return Ok(());
        }
        let hall = self.hall()?;
        for listener in hall.store().sessions.listeners(session).await.map_err(log_error)? {
            let Some((of, wait)) = RemoteWait::of_listener(&listener) else { continue };
            let is_waiter = |far: &RemoteMember| {
                far.computer.id == of && far.session.id == wait.waiter.as_str()
            };
            if elsewhere.iter().any(is_waiter) {
                self.unlisten(session, &listener).await?;
            }
        }
        Ok(())
    }

    /// Returns the delivery that tells a waiting session, here or on another computer, that a
    /// session finished its turn; `None` if the waiting session has ended.
    pub(crate) fn finished_for(
        &self,
        session: &Session,
        caller: &SessionId,
    ) -> Option<OutboxEntry> {
        if let Some((computer, wait)) = RemoteWait::of_listener(caller) {
            return Some(PostCommand::Finished(wait).entry(&computer));
        }
        let caller = self.living(caller).ok()?;
        Some(finished(session, &caller.session()))
    }
}
