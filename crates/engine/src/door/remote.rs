//! Sessions of other computers through the door: what a caller may ask of them.

use futures_util::future::join_all;
use moothall_kernel::ids::ParticipantId;

use super::Door;
use crate::access::AccessError;
use crate::computers::{
    ComputerError, ComputerPlace, PairedComputer, RemoteAnswer, RemoteQuestion, RemoteRead,
    RemoteSession, RemoteWords,
};
use crate::sessions::{Excerpt, SessionError, Status};

/// The word that means this computer and all others.
const ALL: &str = "all";

/// The sessions that a caller listed.
#[derive(Debug, Default)]
pub struct ListedSessions {
    /// The sessions of this computer that the caller sees.
    pub here: Vec<Status>,
    /// The sessions of other computers.
    pub elsewhere: Vec<ComputerSessions>,
}

/// The living sessions of another computer, or the reason for which they are not known.
#[derive(Debug)]
pub struct ComputerSessions {
    /// The name of the computer here.
    pub computer: String,
    /// Its sessions.
    pub sessions: Result<Vec<RemoteSession>, ComputerError>,
}

impl Door {
    /// Returns the sessions of a computer, or of all if the word is `all`. Without a word, returns
    /// those of this computer. Each other computer is asked, for some seconds at most.
    ///
    /// # Errors
    /// [`AccessError`]; [`SessionError::Invalid`] if no computer has that name.
    pub async fn sessions_on(
        &self,
        computer: Option<&str>,
        ended: bool,
    ) -> Result<ListedSessions, AccessError> {
        let here = self.sessions(ended)?;
        let Some(computer) = computer else {
            return Ok(ListedSessions { here, ..ListedSessions::default() });
        };
        let directory = self.computer_directory().ok();
        let (here, asked) = match directory.as_ref().and_then(|known| known.place_of(computer)) {
            Some(ComputerPlace::Here) => (here, Vec::new()),
            Some(ComputerPlace::Elsewhere(other)) => (Vec::new(), vec![other]),
            None if computer == ALL => {
                (here, directory.map(|known| known.paired()).unwrap_or_default())
            }
            None => return Err(SessionError::no_computer(computer).into()),
        };
        // A session that needs a person's permission to talk to strangers sees none of them.
        let asked = if self.asks_to_talk().is_some() { Vec::new() } else { asked };
        let elsewhere = join_all(asked.into_iter().map(async |other| {
            let sessions = self.ask_for_sessions(&other).await;
            ComputerSessions { computer: other.name, sessions }
        }));
        Ok(ListedSessions { here, elsewhere: elsewhere.await })
    }

    async fn ask_for_sessions(
        &self,
        computer: &PairedComputer,
    ) -> Result<Vec<RemoteSession>, ComputerError> {
        let directory = self.computer_directory()?;
        match directory.ask(computer, RemoteQuestion::List).await? {
            RemoteAnswer::Sessions(sessions) => Ok(sessions),
            other => Err(ComputerError::unfit(computer, &other)),
        }
    }

    /// Asks another computer for the words between one of its sessions and the caller.
    pub(super) async fn remote_words(
        &self,
        computer: &PairedComputer,
        session: &str,
        excerpt: Excerpt,
    ) -> Result<RemoteWords, AccessError> {
        let reader = self.caller.principal().map(|principal| principal.id.to_string());
        let read = RemoteRead {
            session: session.to_owned(),
            reader: reader.unwrap_or_else(|| ParticipantId::USER.to_owned()),
            since: excerpt.since,
            until: excerpt.until,
            tail_chars: excerpt.tail_chars,
        };
        let question = RemoteQuestion::Read(read);
        match self.computer_directory()?.ask(computer, question).await? {
            RemoteAnswer::Words(words) => Ok(words),
            other => Err(ComputerError::unfit(computer, &other).into()),
        }
    }
}
