//! Sessions of other computers through the door: listing them, reading them, and sending to them.

use futures_util::future::join_all;
use moothall_kernel::command::Invite;
use moothall_kernel::ids::{ComputerId, ParticipantId};

use super::Door;
use super::sessions::{AwayComputer, NewWords, PostedMessage, SendOutcome, check_words};
use crate::access::{AccessDenial, AccessError, Scope, SessionRequestError};
use crate::answers::Idempotency;
use crate::computers::{
    ComputerError, ComputerPlace, ComputerState, PairedComputer, RemoteAnswer, RemoteMember,
    RemoteMessage, RemoteQuestion, RemoteRead, RemoteSession, RemoteSpeaker, RemoteWords,
    SessionWord,
};
use crate::sessions::{
    Asker, Excerpt, Link, LinkState, Member, MessageElsewhere, NewLink, SendResult, SessionError,
    SessionId, Status,
};

/// The word that means this computer and all paired ones.
const ALL: &str = "all";

/// The sessions that a caller listed.
#[derive(Debug, Default)]
pub struct ListedSessions {
    /// The sessions of this computer that the caller sees.
    pub here: Vec<Status>,
    /// The sessions of other computers.
    pub elsewhere: Vec<ComputerSessions>,
}

/// The living sessions of another computer, or the error if they could not be asked for.
#[derive(Debug)]
pub struct ComputerSessions {
    /// The name that this computer has for the other one.
    pub computer: String,
    /// The sessions of that computer.
    pub sessions: Result<Vec<RemoteSession>, ComputerError>,
}

impl Door {
    /// Commits words to the outbox for a session of another computer, only one time per key. If
    /// `words` ask for a link, sends them over a link instead. If the caller is a session that
    /// needs a person's permission to talk to strangers, and may not talk to this one, a person is
    /// asked first.
    pub(super) async fn send_elsewhere(
        &self,
        computer: &PairedComputer,
        session: &str,
        words: NewWords,
        key: Option<Idempotency>,
    ) -> Result<SendOutcome, AccessError> {
        let permitted = self.hall.permit_elsewhere(&self.caller, computer, session).await;
        if let Err(unmet) = permitted {
            // The caller must not learn from the error if that computer has such a session.
            let unseen = SessionError::NotFound(session.to_owned()).into();
            return match self.asks_to_talk().is_some() && !words.close_link {
                true => self.ask_to_talk(words, unseen).await,
                false => Err(unmet),
            };
        }
        // A link is closed on this computer even if the computers are off. The other computer gets
        // the row about the end later.
        if !words.close_link {
            self.computer_directory()?.must_be_on()?;
        }
        if words.direct || words.close_link {
            return self.send_over_link(computer, session, words, key).await;
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
        let away = self.away(&computer.id);
        let to = format!("{session}@{}", computer.name);
        Ok(SendOutcome::Posted(PostedMessage { stream, to, away }))
    }

    /// Returns a computer that is not connected, or with which nothing is exchanged now. `None` if
    /// it is connected, or not paired with this one.
    pub(super) fn away(&self, id: &ComputerId) -> Option<AwayComputer> {
        let directory = self.computer_directory().ok()?;
        let computer = directory.with_id(id)?;
        let (state, since) = directory.presence(&computer);
        (state != ComputerState::Up).then_some(AwayComputer { name: computer.name, since })
    }

    /// Returns the reason why nothing reaches a computer now, as a clause. `None` if the computer
    /// is connected, or not paired with this one.
    pub(super) fn why_not_there(&self, id: &ComputerId) -> Option<String> {
        let AwayComputer { name, since } = self.away(id)?;
        if self.computer_directory().ok()?.must_be_on().is_err() {
            return Some(format!(
                "nothing is exchanged with {name} until the computers are resumed"
            ));
        }
        let since = since.map(|at| format!(" since {at}")).unwrap_or_default();
        Some(format!("{name} is away{since}"))
    }

    /// Returns the name that this computer has for another one, or the id if the two are not paired
    /// any more.
    pub fn computer_name(&self, id: &str) -> String {
        let directory = self.computer_directory().ok();
        let known = directory.and_then(|known| known.with_id(&ComputerId::new(id)));
        known.map_or_else(|| id.to_owned(), |computer| computer.name)
    }

    /// Sends words of the calling session to a session of another computer, over a link of the two.
    /// Makes the link if the two have none. With `close_link` the words may be empty: they go over
    /// the smallest link that has both sessions, and that link is closed after them. Without such a
    /// link, nothing is sent.
    async fn send_over_link(
        &self,
        computer: &PairedComputer,
        session: &str,
        words: NewWords,
        key: Option<Idempotency>,
    ) -> Result<SendOutcome, AccessError> {
        let NewWords { from, text, direct, close_link, .. } = words;
        let Asker::Session(own) = from else {
            return Err(SessionRequestError::OnlySessions.into());
        };
        if direct && close_link {
            return Err(SessionRequestError::BothWays.into());
        }
        check_words(&text, close_link)?;
        let word = session.to_owned();
        let message = MessageElsewhere {
            from: own.clone(),
            computer: computer.clone(),
            word,
            text,
            close_link,
        };
        let permitted = self.hall.permit_message_elsewhere(&self.caller, message.clone()).await?;
        if let Some(sent) = self.terminals()?.send_elsewhere(permitted, key.clone()).await? {
            return Ok(SendOutcome::Said(sent));
        }
        if close_link {
            return Ok(SendOutcome::Said(SendResult {
                stream: own,
                seq: None,
                link: None,
                state: LinkState::None,
                delivered_to: Vec::new(),
                held: None,
            }));
        }
        let (_, state) = self.link_with(own, computer, session).await?;
        let permitted = self.hall.permit_message_elsewhere(&self.caller, message).await?;
        let sent = self.terminals()?.send_elsewhere(permitted, key).await?;
        let sent = sent.ok_or(SessionError::NoLink)?;
        Ok(SendOutcome::Said(SendResult { state, ..sent }))
    }

    /// Makes a link between a session of this computer and a session of another one.
    async fn link_with(
        &self,
        own: SessionId,
        computer: &PairedComputer,
        session: &str,
    ) -> Result<(Link, LinkState), AccessError> {
        let member = |session: SessionId, computer: String, number: u32| Member {
            session,
            computer,
            name: None,
            number: Some(number),
            role: None,
        };
        let other = member(SessionId::new(session), computer.id.to_string(), 2);
        let by = Asker::Session(own.clone());
        let members = vec![member(own, String::new(), 1), other];
        self.make_link(NewLink {
            members,
            elsewhere: Vec::new(),
            title: None,
            by,
            exchanges_max: None,
        })
        .await
    }

    /// Asks the other computers for the members that live there, and moves these members into
    /// `elsewhere` of the new link, each with the answer.
    pub(super) async fn with_members_elsewhere(
        &self,
        mut new: NewLink,
    ) -> Result<NewLink, AccessError> {
        let (here, there): (Vec<Member>, Vec<Member>) =
            new.members.into_iter().partition(|member| member.computer.is_empty());
        new.members = here;
        for member in there {
            let directory = self.computer_directory()?;
            let computer = directory.with_id(&ComputerId::new(member.computer.as_str()));
            let computer = computer.ok_or_else(|| SessionError::no_computer(&member.computer))?;
            let word = member.session.to_string();
            // The permission comes before the question, because the answer reveals if the session
            // exists.
            self.hall.permit_elsewhere(&self.caller, &computer, &word).await?;
            let session = directory.find(&computer, &word, true).await?;
            new.elsewhere.push(RemoteMember { computer, session, member });
        }
        Ok(new)
    }

    /// Returns the session that a word means to the caller, and the id of its computer, which is
    /// empty for this computer. A session of another computer is not looked up: its name is
    /// returned as its id.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn member(&self, word: &str) -> Result<(SessionId, String), AccessError> {
        if let SessionWord::There { computer, name } = self.hall.meaning(word)? {
            return Ok((SessionId::new(name), computer.id.to_string()));
        }
        let session = self.resolve_session(word)?.session;
        Ok((session.id, session.computer))
    }

    /// Returns the sessions of a computer, or of all computers if the word is `all`. Without a
    /// word, returns the sessions of this computer. Each other computer is asked and gets some
    /// seconds for its answer.
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
        // A session that needs a person's permission to talk to strangers sees no session of other
        // computers.
        let asked = if self.asks_to_talk().is_some() { Vec::new() } else { asked };
        let elsewhere = join_all(asked.into_iter().map(async |other| {
            let sessions = self.ask_for_sessions(&other).await;
            ComputerSessions { computer: other.name, sessions }
        }));
        Ok(ListedSessions { here, elsewhere: elsewhere.await })
    }

    /// Asks another computer for its living sessions.
    pub(super) async fn ask_for_sessions(
        &self,
        computer: &PairedComputer,
    ) -> Result<Vec<RemoteSession>, ComputerError> {
        let directory = self.computer_directory()?;
        match directory.ask(computer, RemoteQuestion::List).await? {
            RemoteAnswer::Sessions(sessions) => Ok(sessions),
            other => Err(ComputerError::unfit(computer, &other)),
        }
    }

    /// Returns an invitation for a session of another computer, after that computer was asked and
    /// allowed it. Only for people and callers without an agent's credential, with the scope
    /// `sessions:drive`.
    pub(super) async fn invitation_elsewhere(
        &self,
        computer: &PairedComputer,
        session: &str,
    ) -> Result<Invite, AccessError> {
        self.caller.must_prove(Scope::SessionsDrive)?;
        // The check comes before the question, because the answer reveals if the session exists.
        if self.caller.is_agent() {
            return Err(AccessDenial::Person("invite a session of another computer").into());
        }
        let found = self.computer_directory()?.find(computer, session, false).await?;
        Ok(found.invitation(computer))
    }

    /// Asks another computer for the words that passed between one of its sessions and the caller.
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
