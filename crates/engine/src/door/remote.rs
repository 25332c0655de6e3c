//! Sessions of other computers through the door: what a caller may ask of them.

use futures_util::future::join_all;
use moothall_kernel::command::Invite;
use moothall_kernel::ids::ParticipantId;

use super::Door;
use super::sessions::{AwayComputer, NewWords, PostedMessage, SendOutcome, check_words};
use crate::access::{AccessDenial, AccessError, Scope};
use crate::answers::Idempotency;
use crate::computers::{
    ComputerError, ComputerPlace, ComputerState, PairedComputer, RemoteAnswer, RemoteMessage,
    RemoteQuestion, RemoteRead, RemoteSession, RemoteSpeaker, RemoteWords,
};
use crate::sessions::{Asker, Excerpt, SessionError, Status};

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
    /// Owes words to a session of another computer, once per key. If the caller is a session that
    /// needs a person's permission to talk to strangers, a person is asked first.
    pub(super) async fn send_elsewhere(
        &self,
        computer: &PairedComputer,
        session: &str,
        words: NewWords,
        key: Option<Idempotency>,
    ) -> Result<SendOutcome, AccessError> {
        let unlinked =
            SessionError::Elsewhere { name: session.to_owned(), computer: computer.name.clone() };
        if self.asks_to_talk().is_some() {
            return self.ask_to_talk(words, unlinked.into()).await;
        }
        self.hall.permit_remote_message(&self.caller, session)?;
        if words.direct || words.close_link {
            return Err(unlinked.into());
        }
        check_words(&words.text, false)?;
        let from = match &words.from {
            Asker::Session(id) => {
                RemoteSpeaker { name: self.name_of(id), session: Some(id.clone()) }
            }
            Asker::Actor(actor) => RemoteSpeaker { name: actor.id.to_string(), session: None },
        };
        let message = RemoteMessage { to: session.to_owned(), from, text: words.text };
        let stream = self.hall.inner.post_message(computer, message, key).await?;
        let presence = self.computer_directory().map(|known| known.presence(computer));
        let (state, since) = presence.unwrap_or((ComputerState::Away, None));
        let away = (state != ComputerState::Up)
            .then(|| AwayComputer { name: computer.name.clone(), since });
        let to = format!("{session}@{}", computer.name);
        Ok(SendOutcome::Posted(PostedMessage { stream, to, away }))
    }

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

    /// Returns an invitation for a session of another computer, which that computer allows.
    pub(super) async fn invitation_elsewhere(
        &self,
        computer: &PairedComputer,
        session: &str,
    ) -> Result<Invite, AccessError> {
        self.caller.must_prove(Scope::SessionsDrive)?;
        // Before the question, whose answer says that there is such a session.
        if self.caller.is_agent() {
            return Err(AccessDenial::Person("invite a session of another computer").into());
        }
        let found = self.find_elsewhere(computer, session, false).await?;
        Ok(found.invitation(computer))
    }

    /// Asks another computer for the session that a word means there, to bring it into a
    /// conversation of this one.
    async fn find_elsewhere(
        &self,
        computer: &PairedComputer,
        session: &str,
        link: bool,
    ) -> Result<RemoteSession, AccessError> {
        let question = RemoteQuestion::Find { session: session.to_owned(), link };
        match self.computer_directory()?.ask(computer, question).await? {
            RemoteAnswer::Sessions(mut found) if found.len() == 1 => Ok(found.remove(0)),
            other => Err(ComputerError::unfit(computer, &other).into()),
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
