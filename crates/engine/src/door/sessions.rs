//! Sessions and links through the door.

use std::collections::BTreeSet;
use std::path::PathBuf;

use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::ids::{EventId, ParticipantId, PermissionId, Seq, StreamId};
use moothall_kernel::names;
use moothall_kernel::talk::TalkRequest;
use moothall_kernel::text::is_empty_looking;
use tokio::sync::broadcast;

use super::{Action, ActionTarget, Door};
use crate::access::{
    ARG_BYTES_MAX, ARGS_MAX, AccessError, Denied, MESSAGE_BYTES_MAX, Reach, SessionAction, SessionRequestError,
    Warrant,
};
use crate::answers::Idempotency;
use crate::sessions::{
    AdoptRequest, Asker, Activity, Excerpt, MessageReader, FirstWords, Link, LinkState, Message, NewLink, NewObserved,
    NewSession, PaneNews, ResumedSession, SendResult, SessionData, SessionDirectory, SessionError, SessionId,
    Status, View,
};

/// A program that somebody wants to have in a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProgram {
    /// The caller, as the surface proved it or as the client said.
    pub by: Actor,
    /// What it shall be called; made from the client's name where unset.
    pub name: Option<String>,
    /// Where it comes from.
    pub from: ProgramFrom,
    /// The conversation in which a person is asked, for agents that live in no terminal.
    pub thread: Option<StreamId>,
    /// What is said to it when it runs.
    pub first: FirstWords,
}

/// Where a program comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramFrom {
    /// The server starts it in a terminal of its own.
    Start {
        /// The client of the registry that is to run.
        client: String,
        /// The folder it shall work in; the program's own when it is empty.
        cwd: PathBuf,
        /// More arguments for it.
        args: Vec<String>,
    },
    /// It runs in a terminal already.
    Running(AdoptRequest),
}

/// What came of asking for a program.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramStart {
    /// It runs, and what was to be said to it is still to be said.
    Runs(Box<Status>, FirstWords),
    /// A person is asked first, here and under this permission, about all of it.
    Asked(StreamId, PermissionId),
}

/// Words for a session, by the word that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWords {
    /// The speaker.
    pub from: Asker,
    /// The session: its id, the beginning of it, or its name.
    pub to: String,
    /// The words; may be empty if the link is closed.
    pub text: String,
    /// They go over a link of the two.
    pub direct: bool,
    /// The link of the two ends after them.
    pub close_link: bool,
}

/// The outcome of words for a session.
#[derive(Clone, Debug, PartialEq)]
pub enum SendOutcome {
    /// They were said, or held back.
    Said(SendResult),
    /// A person is asked first, in this conversation and under this permission, if the two may
    /// talk.
    Asked(StreamId, PermissionId),
}

/// The terminal of a session that somebody may look at.
pub struct ScreenWatch {
    session: Warrant,
    /// When it draws, and that its program is gone.
    pub news: broadcast::Receiver<PaneNews>,
    door: Door,
}

impl ScreenWatch {
    /// Returns the session whose terminal it is.
    pub fn session(&self) -> &SessionId {
        self.session.session()
    }

    /// What it shows now.
    ///
    /// # Errors
    /// [`AccessError`], when it cannot be looked at any more.
    pub async fn view(&self) -> Result<View, AccessError> {
        Ok(self.door.terminals()?.screen(&self.session).await?)
    }
}

impl Door {
    fn terminals(&self) -> Result<&dyn SessionDirectory, AccessError> {
        Ok(self.hall.sessions()?)
    }

    /// The sessions that the caller sees, those that ended too if wanted.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn sessions(&self, ended: bool) -> Result<Vec<Status>, AccessError> {
        self.may(Action::ListSessions)?;
        let mut all = self.terminals()?.list(ended);
        all.retain(|status| self.hall.sees(&self.caller, status));
        Ok(all)
    }

    /// The programs that can be started, by client, and a sentence about each.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn programs(&self) -> Result<Vec<(String, String)>, AccessError> {
        self.may(Action::ListSessions)?;
        Ok(self.terminals()?.programs())
    }

    /// The session that a word means, for one of the actions that are about a session.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn session(&self, action: Action, word: &str) -> Result<Status, AccessError> {
        Ok(self.warrant(action, word).await?.into_status())
    }

    /// Returns the right to one of the actions that are about a session.
    async fn warrant(&self, action: Action, word: &str) -> Result<Warrant, AccessError> {
        self.may(action)?;
        let over =
            if let ActionTarget::Session(over) = action.acts_on() { over } else { SessionAction::Seeing };
        self.over(over, word).await
    }

    /// An invitation of the session that a word means, as it would take part.
    ///
    /// # Errors
    /// [`AccessError`]; of a session that the caller does not see, it tells nothing.
    pub async fn invitation(&self, word: &str) -> Result<Invite, AccessError> {
        let session = self.over(SessionAction::Telling, word).await?;
        Ok(self.terminals()?.invite(session.session())?)
    }

    /// The session that a word means to the caller, who is about to say what it is wanted for; that
    /// is asked when it is done.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn meant(&self, word: &str) -> Result<Status, AccessError> {
        self.hall.find_seen(&self.caller, word)
    }

    /// True if a person's draft in its composer keeps words from a session.
    pub fn is_behind_draft(&self, id: &SessionId) -> bool {
        let found = self.terminals().ok().and_then(|sessions| sessions.find(id.as_str()).ok());
        found.is_some_and(|found| found.doing == Activity::Drafting)
    }

    /// Returns the name of a session if the caller may sit down at its terminal.
    pub async fn attachable(&self, id: &SessionId) -> Option<ParticipantId> {
        let found = self.session(Action::Attach, id.as_str()).await.ok()?;
        Some(found.session.name)
    }

    /// What a session is called; its id where it is not known.
    pub fn name_of(&self, id: &SessionId) -> String {
        let found = self.terminals().ok().and_then(|sessions| sessions.find(id.as_str()).ok());
        found.map_or_else(|| id.to_string(), |found| found.session.name.to_string())
    }

    /// The id of the event with which the caller just said something.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn event_at(
        &self,
        stream: &StreamId,
        seq: Seq,
    ) -> Result<Option<EventId>, AccessError> {
        self.may(Action::SendMessage)?;
        let page = self.hall.read(stream, Seq(seq.0.saturating_sub(1)), Some(1)).await;
        // It is said, whatever becomes of reading it.
        Ok(page.ok().and_then(|page| page.events.first().map(|recorded| recorded.id(stream))))
    }

    /// Starts a program, or takes over one that runs; asks a person first where an agent may not by
    /// itself.
    ///
    /// # Errors
    /// [`AccessError`]; nothing runs and nobody is asked then.
    pub async fn start(
        &self,
        new: NewProgram,
        key: Option<Idempotency>,
    ) -> Result<ProgramStart, AccessError> {
        self.may(Action::StartSession)?;
        let NewProgram { by, name, from, thread, first } = new;
        let (client, cwd, args) = match from {
            ProgramFrom::Running(adopt) => {
                let new = NewObserved { adopt, name, by };
                let granted = self.hall.permit_adopting(&self.caller, new)?;
                let adopted = self.terminals()?.observe_once(granted, key).await?;
                return Ok(ProgramStart::Runs(Box::new(adopted), first));
            }
            ProgramFrom::Start { client, cwd, args } => (client, cwd, args),
        };
        check_args(&args)?;
        let session = self.caller.session().cloned();
        let new = NewSession { client, cwd, args, name, by, session, seat: None };
        match self.hall.permit_start(&self.caller, new.clone()) {
            Ok(granted) => {
                let status = self.terminals()?.start_once(granted, key).await?;
                Ok(ProgramStart::Runs(Box::new(status), first))
            }
            Err(AccessError::Denied(Denied::Person(_))) => self.ask_for(&new, thread, first).await,
            Err(error) => Err(error),
        }
    }

    /// Asks people whether an agent's program may be started.
    async fn ask_for(
        &self,
        new: &NewSession,
        thread: Option<StreamId>,
        first: FirstWords,
    ) -> Result<ProgramStart, AccessError> {
        if first.text.as_ref().is_some_and(|text| text.len() > MESSAGE_BYTES_MAX) {
            return Err(SessionRequestError::TooLongToShow.into());
        }
        if thread.as_ref().is_some_and(|thread| !self.caller.reach.includes(thread)) {
            return Err(SessionRequestError::NoThread.into());
        }
        let (room, permission) = self.terminals()?.ask_start(thread.as_ref(), new, first).await?;
        Ok(ProgramStart::Asked(room, permission))
    }

    /// Says something to a session, once for a key. If the caller is a session that has not met
    /// the other, a person is asked first.
    ///
    /// # Errors
    /// [`AccessError`]; nothing was said then.
    pub async fn send(
        &self,
        words: NewWords,
        key: Option<Idempotency>,
    ) -> Result<SendOutcome, AccessError> {
        self.may(Action::SendMessage)?;
        let to = match self.session(Action::SendMessage, &words.to).await {
            Ok(status) => status.session.id,
            Err(error) => return self.ask_to_talk(words, error).await,
        };
        let NewWords { from, text, direct, close_link, .. } = words;
        let message = Message { from, to, text, direct, close_link };
        let message = self.hall.permit_message(&self.caller, message).await?;
        let Message { from, text, direct, close_link, .. } = message.wanted();
        if (*direct || *close_link) && !matches!(from, Asker::Session(_)) {
            return Err(SessionRequestError::OnlySessions.into());
        }
        if *direct && *close_link {
            return Err(SessionRequestError::BothWays.into());
        }
        check_words(text, *close_link)?;
        Ok(SendOutcome::Said(self.terminals()?.send_once(message, key).await?))
    }

    /// Returns the session of the caller, if it asks a person before it talks to one that it has
    /// not met.
    pub(super) fn asks_to_talk(&self) -> Option<&SessionId> {
        self.caller.session().filter(|_| self.caller.reach != Reach::All)
    }

    /// Asks people if the calling session may talk to one that it does not see. Its answer is the
    /// same whether there is such a session or not.
    async fn ask_to_talk(
        &self,
        words: NewWords,
        unseen: AccessError,
    ) -> Result<SendOutcome, AccessError> {
        let own = match (self.asks_to_talk(), &unseen) {
            (
                Some(own),
                AccessError::Session(SessionError::NotFound(_) | SessionError::Invalid(_)),
            ) if !words.close_link => own,
            _ => return Err(unseen),
        };
        check_words(&words.text, false)?;
        let to = words.to.trim();
        if names::check_id(to).is_err() {
            return Err(unseen);
        }
        let talk = TalkRequest { to: ParticipantId::new(to), message: words.text };
        let (room, permission) = self.terminals()?.ask_talk(own, talk).await?;
        Ok(SendOutcome::Asked(room, permission))
    }

    /// What a session was asked and said.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn session_data(
        &self,
        word: &str,
        excerpt: Excerpt,
    ) -> Result<SessionData, AccessError> {
        let session = self.warrant(Action::ReadSessionData, word).await?;
        let name = self.caller.principal().map(|principal| principal.id.clone());
        let eyes = MessageReader { name, reach: self.caller.reach.clone() };
        Ok(self.terminals()?.data(&session, excerpt, &eyes).await?)
    }

    /// What the terminal of a session shows.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn screen(&self, word: &str) -> Result<(SessionId, View), AccessError> {
        let session = self.warrant(Action::ReadScreen, word).await?;
        let view = self.terminals()?.screen(&session).await?;
        Ok((session.session().clone(), view))
    }

    /// News of what the terminal of a session shows.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn watch(&self, word: &str) -> Result<ScreenWatch, AccessError> {
        let session = self.warrant(Action::ReadScreen, word).await?;
        let news = self.terminals()?.watch(&session).await?;
        Ok(ScreenWatch { session, news, door: self.clone() })
    }

    /// The command with which a person sits down at the terminal of a session.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn attach(&self, word: &str) -> Result<(Status, Vec<String>), AccessError> {
        let session = self.warrant(Action::Attach, word).await?;
        let argv = self.terminals()?.attach(&session).await?;
        Ok((session.into_status(), argv))
    }

    /// Interrupts what a session does now, and gives it back as it is then.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn interrupt(&self, word: &str, by: &Actor) -> Result<Status, AccessError> {
        let session = self.warrant(Action::Interrupt, word).await?;
        let sessions = self.terminals()?;
        sessions.interrupt(&session, by).await?;
        Ok(sessions.find(session.session().as_str())?)
    }

    /// Returns the names of the sessions for which links of a session wait. Links out of reach
    /// are left out, unless the session is the caller's own.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn waits_for(&self, session: &SessionId) -> Result<BTreeSet<String>, AccessError> {
        let is_own = self.caller.session() == Some(session);
        let mut waits = self.terminals()?.waits_of(session).await?;
        waits.retain(|link, _| is_own || self.caller.reach.includes(link));
        Ok(waits.values().flatten().map(|lacking| self.name_of(lacking)).collect())
    }

    /// Ends the program of a session, and gives the session back as it is then. One that went with
    /// the computer gives up its places in links.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn end_session(&self, word: &str, by: &Actor) -> Result<Status, AccessError> {
        let session = self.warrant(Action::EndSession, word).await?;
        let sessions = self.terminals()?;
        sessions.end(&session, by).await?;
        // By its id: the name of one that is over is free again.
        Ok(sessions.find(session.session().as_str())?)
    }

    /// Runs the program of a session that ended again: a person's to ask.
    ///
    /// # Errors
    /// [`AccessError`]; nothing runs then.
    pub async fn resume_session(&self, word: &str, by: &Actor) -> Result<ResumedSession, AccessError> {
        let session = self.warrant(Action::ResumeSession, word).await?;
        Ok(self.terminals()?.resume(&session, by).await?)
    }

    /// The links within reach, all or those of one session.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn links(&self, word: Option<&str>) -> Result<Vec<Link>, AccessError> {
        self.may(Action::ListLinks)?;
        let of = self.session_of_links(word).await?;
        let links = self.terminals()?.links(of.as_ref().map(Warrant::session)).await?;
        Ok(self.within_reach(links))
    }

    /// Returns the closed links within reach that wait for a session, all or those of one session.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn waiting_links(&self, word: Option<&str>) -> Result<Vec<Link>, AccessError> {
        self.may(Action::ListLinks)?;
        let of = self.session_of_links(word).await?;
        let links = self.terminals()?.waiting_links(of.as_ref().map(Warrant::session)).await?;
        Ok(self.within_reach(links))
    }

    /// Returns the session whose links are wanted; none if all are.
    async fn session_of_links(&self, word: Option<&str>) -> Result<Option<Warrant>, AccessError> {
        let Some(word) = word else { return Ok(None) };
        Ok(Some(self.over(SessionAction::Seeing, word).await?))
    }

    fn within_reach(&self, mut links: Vec<Link>) -> Vec<Link> {
        links.retain(|link| self.caller.reach.includes(&link.id));
        links
    }

    /// One link.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn link(&self, id: &StreamId) -> Result<Link, AccessError> {
        self.may(Action::ReadLink)?;
        self.reaches_link(id)?;
        Ok(self.terminals()?.link_of(id).await?)
    }

    /// Makes a link, or finds the one between just these members.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn make_link(&self, new: NewLink) -> Result<(Link, LinkState), AccessError> {
        self.may(Action::MakeLink)?;
        let new = self.hall.permit_link(&self.caller, new).await?;
        Ok(self.terminals()?.link(new).await?)
    }

    /// Ends a link for all its members.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn close_link(&self, id: &StreamId, by: &Asker) -> Result<Link, AccessError> {
        self.may(Action::CloseLink)?;
        self.reaches_link(id)?;
        let sessions = self.terminals()?;
        if self.caller.is_agent() && self.caller.session().is_none() {
            return Err(Denied::Person("close a link that they are not in").into());
        }
        Ok(sessions.close_link(id, by).await?)
    }
}

/// Whether a program can be given these arguments.
pub(super) fn check_args(args: &[String]) -> Result<(), SessionRequestError> {
    let fits = |arg: &String| arg.len() <= ARG_BYTES_MAX && !arg.contains('\0');
    if args.len() <= ARGS_MAX && args.iter().all(fits) { Ok(()) } else { Err(SessionRequestError::Arguments) }
}

/// Words for a session have a length, and are some unless they only close a link.
fn check_words(text: &str, may_be_empty: bool) -> Result<(), AccessError> {
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(SessionRequestError::TooLong(text.len()).into());
    }
    if is_empty_looking(text) && !may_be_empty {
        return Err(SessionRequestError::NoWords.into());
    }
    Ok(())
}
