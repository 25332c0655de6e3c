//! Sessions and links through the door.

use std::path::PathBuf;

use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::ids::{EventId, PermissionId, Seq, StreamId};
use moothall_kernel::text::is_empty_looking;
use tokio::sync::broadcast;

use super::{Action, ActsOn, Door};
use crate::access::{
    ARG_BYTES_MAX, ARGS_MAX, AccessError, Denied, MESSAGE_BYTES_MAX, SessionAct, Unfit,
};
use crate::answers::Idempotency;
use crate::sessions::{
    Adopt, Asker, Excerpt, Eyes, FirstWords, Link, LinkState, Member, Message, NewLink,
    NewObserved, NewSession, PaneNews, Sent, SessionData, SessionDirectory, SessionId, Status,
    View,
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
    Running(Adopt),
}

/// What came of asking for a program.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramStart {
    /// It runs, and what was to be said to it is still to be said.
    Runs(Box<Status>, FirstWords),
    /// A person is asked first, here and under this permission, about all of it.
    Asked(StreamId, PermissionId),
}

/// The terminal of a session that somebody may look at.
pub struct Watched {
    /// The session whose terminal it is.
    pub session: SessionId,
    /// When it draws, and that its program is gone.
    pub news: broadcast::Receiver<PaneNews>,
    door: Door,
}

impl Watched {
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
        self.may(action)?;
        let over =
            if let ActsOn::Session(over) = action.acts_on() { over } else { SessionAct::Seeing };
        self.over(over, word).await
    }

    /// An invitation of the session that a word means, as it would take part.
    ///
    /// # Errors
    /// [`AccessError`]; of a session that the caller does not see, it tells nothing.
    pub async fn invitation(&self, word: &str) -> Result<Invite, AccessError> {
        let id = self.over(SessionAct::Telling, word).await?.session.id;
        Ok(self.terminals()?.invite(&id)?)
    }

    /// The session that a word means, for whoever is about to say what it is wanted for; that is
    /// asked when it is done.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn meant(&self, word: &str) -> Result<Status, AccessError> {
        Ok(self.terminals()?.find(word)?)
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
        let is_agent = self.caller.is_agent();
        let (client, cwd, args) = match from {
            ProgramFrom::Running(_) if is_agent => {
                return Err(Denied::Person("take over a program that runs already").into());
            }
            ProgramFrom::Running(adopt) => {
                let adopted =
                    self.terminals()?.observe_once(NewObserved { adopt, name, by }, key).await?;
                return Ok(ProgramStart::Runs(Box::new(adopted), first));
            }
            ProgramFrom::Start { client, cwd, args } => (client, cwd, args),
        };
        check_args(&args)?;
        let mut new =
            NewSession { client, cwd, args, name, by, session: self.caller.session().cloned() };
        if is_agent {
            match self.terminals()?.starts_alone(&new) {
                Some(folder) => new.cwd = folder,
                None => return self.ask_for(&new, thread, first).await,
            }
        }
        Ok(ProgramStart::Runs(Box::new(self.terminals()?.start_once(new, key).await?), first))
    }

    /// Asks people whether an agent's program may be started.
    async fn ask_for(
        &self,
        new: &NewSession,
        thread: Option<StreamId>,
        first: FirstWords,
    ) -> Result<ProgramStart, AccessError> {
        if first.text.as_ref().is_some_and(|text| text.len() > MESSAGE_BYTES_MAX) {
            return Err(Unfit::TooLongToShow.into());
        }
        if thread.as_ref().is_some_and(|thread| !self.caller.reach.includes(thread)) {
            return Err(Unfit::NoThread.into());
        }
        let (room, permission) = self.terminals()?.ask_start(thread.as_ref(), new, first).await?;
        Ok(ProgramStart::Asked(room, permission))
    }

    /// Says something to a session, once for a key.
    ///
    /// # Errors
    /// [`AccessError`]; nothing was said then.
    pub async fn send(
        &self,
        message: Message,
        key: Option<Idempotency>,
    ) -> Result<Sent, AccessError> {
        self.session(Action::SendMessage, message.to.as_str()).await?;
        let Message { from, text, direct, close_link, .. } = &message;
        if (*direct || *close_link) && !matches!(from, Asker::Session(_)) {
            return Err(Unfit::OnlySessions.into());
        }
        if *direct && *close_link {
            return Err(Unfit::BothWays.into());
        }
        if text.len() > MESSAGE_BYTES_MAX {
            return Err(Unfit::TooLong(text.len()).into());
        }
        if is_empty_looking(text) && !close_link {
            return Err(Unfit::NoWords.into());
        }
        Ok(self.terminals()?.send_once(message, key).await?)
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
        let id = self.session(Action::ReadSessionData, word).await?.session.id;
        let name = self.caller.principal().map(|principal| principal.id.clone());
        let eyes = Eyes { name, reach: self.caller.reach.clone() };
        Ok(self.terminals()?.data(&id, excerpt, &eyes).await?)
    }

    /// What the terminal of a session shows.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn screen(&self, word: &str) -> Result<(SessionId, View), AccessError> {
        let id = self.session(Action::ReadScreen, word).await?.session.id;
        let view = self.terminals()?.screen(&id).await?;
        Ok((id, view))
    }

    /// News of what the terminal of a session shows.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn watch(&self, word: &str) -> Result<Watched, AccessError> {
        let session = self.session(Action::ReadScreen, word).await?.session.id;
        let news = self.terminals()?.watch(&session).await?;
        Ok(Watched { session, news, door: self.clone() })
    }

    /// The command with which a person sits down at the terminal of a session.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn attach(&self, word: &str) -> Result<(Status, Vec<String>), AccessError> {
        let status = self.session(Action::Attach, word).await?;
        let argv = self.terminals()?.attach(&status.session.id).await?;
        Ok((status, argv))
    }

    /// Interrupts what a session does now, and gives it back as it is then.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn interrupt(&self, word: &str, by: &Actor) -> Result<Status, AccessError> {
        let id = self.session(Action::Interrupt, word).await?.session.id;
        let sessions = self.terminals()?;
        sessions.interrupt(&id, by).await?;
        Ok(sessions.find(id.as_str())?)
    }

    /// Ends the program of a session, and gives the session back as it is then.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn end_session(&self, word: &str, by: &Actor) -> Result<Status, AccessError> {
        let id = self.session(Action::EndSession, word).await?.session.id;
        let sessions = self.terminals()?;
        sessions.end(&id, by).await?;
        // By its id: the name of one that is over is free again.
        Ok(sessions.find(id.as_str())?)
    }

    /// The links within reach, all or those of one session.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn links(&self, word: Option<&str>) -> Result<Vec<Link>, AccessError> {
        self.may(Action::ListLinks)?;
        let sessions = self.terminals()?;
        let of = match word {
            Some(word) => Some(self.over(SessionAct::Seeing, word).await?),
            None => None,
        };
        let mut links = sessions.links(of.as_ref().map(|status| &status.session.id)).await?;
        links.retain(|link| self.caller.reach.includes(&link.id));
        Ok(links)
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
        self.may_link(&new.members).await?;
        Ok(self.terminals()?.link(new).await?)
    }

    /// An agent links itself with those to whom it may talk, and others where it started them all.
    async fn may_link(&self, members: &[Member]) -> Result<(), AccessError> {
        let itself = members.iter().any(|member| Some(&member.session) == self.caller.session());
        let over = if itself { SessionAct::Telling } else { SessionAct::Steering };
        for member in members {
            self.over(over, member.session.as_str()).await?;
        }
        Ok(())
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
pub(super) fn check_args(args: &[String]) -> Result<(), Unfit> {
    let fits = |arg: &String| arg.len() <= ARG_BYTES_MAX && !arg.contains('\0');
    if args.len() <= ARGS_MAX && args.iter().all(fits) { Ok(()) } else { Err(Unfit::Arguments) }
}
