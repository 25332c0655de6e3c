//! Messages to sessions of other computers. A conversation of this computer commits each of them as
//! a delivery.

use std::sync::{Arc, Weak};

use moothall_kernel::ids::StreamId;
use moothall_kernel::names;

use crate::answers::{HallError, Idempotency};
use crate::computers::{ComputerPlace, PairedComputer, RemoteMessage, SessionWord};
use crate::hall::inner::{Inner, fresh_id};
use crate::outbox::PostCommand;
use crate::sessions::SessionError;

impl Inner {
    /// Splits a word for a session into its computer and the rest: `builder@laptop` means `builder`
    /// on the computer that this one calls `laptop`. A word without a computer means a session of
    /// this computer.
    ///
    /// # Errors
    /// [`SessionError::Invalid`] if no computer has that name.
    pub(crate) fn meaning<'w>(&self, word: &'w str) -> Result<SessionWord<'w>, SessionError> {
        let Some((name, computer)) = names::at_computer(word.trim()) else {
            return Ok(SessionWord::Here(word));
        };
        let directory = self.computers.get().and_then(Weak::upgrade);
        match directory.and_then(|directory| directory.place_of(computer)) {
            Some(ComputerPlace::Here) => Ok(SessionWord::Here(name)),
            Some(ComputerPlace::Elsewhere(computer)) => Ok(SessionWord::There { computer, name }),
            None => Err(SessionError::no_computer(computer)),
        }
    }

    /// Commits a message to a session of another computer as a delivery. With a key, only the first
    /// call commits a delivery. If a session sends the message, the delivery belongs to that
    /// session's home, and the session waits for the end of the turn that answers the message. Any
    /// other delivery belongs to the conversation of the computers. Returns the conversation of the
    /// delivery.
    pub(crate) async fn post_message(
        self: &Arc<Self>,
        computer: &PairedComputer,
        message: RemoteMessage,
        key: Option<Idempotency>,
    ) -> Result<StreamId, HallError> {
        let once = || Idempotency {
            principal: "moothall:post".into(),
            key: fresh_id(self.now()).to_string(),
            fingerprint: String::new(),
        };
        let key = key.unwrap_or_else(once);
        let stream = match &message.from.session {
            Some(session) => session.clone(),
            None => self.computers_stream().await?,
        };
        // The wait is stored before the row, because the turn may end before this function returns.
        if let Some(wait) = message.wait() {
            self.store.sessions.listen(&wait.target(&computer.id), &wait.waiter).await?;
        }
        self.owe(&stream, vec![PostCommand::Say(message).entry(&computer.id)], key).await?;
        Ok(stream)
    }
}
