//! Sessions and links through the door.

use std::collections::BTreeSet;
use std::path::PathBuf;

use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::ids::{EventId, ParticipantId, PermissionId, Seq, StreamId};
use moothall_kernel::names;
use moothall_kernel::talk::TalkRequest;
use moothall_kernel::text::is_empty_looking;
use moothall_kernel::time::Timestamp;
use tokio::sync::broadcast;

use super::{Action, ActionTarget, Door};
use crate::access::{
    ARG_BYTES_MAX, ARGS_MAX, AccessDenial, AccessError, AuditAction, AuditEntry, MESSAGE_BYTES_MAX,
    Reach, SessionAction, SessionRequestError, Warrant,
};
use crate::answers::{HallError, Idempotency};
use crate::computers::{RemoteWords, SessionWord};
use crate::sessions::{
    Activity, AdoptRequest, Asker, Excerpt, FirstWords, KEYSTROKES_MAX, Keystroke, Link, LinkState,
    Member, Message, MessageReader, NewLink, NewObserved, NewSession, PaneNews, ResumedSession,
    SendResult, SessionData, SessionDirectory, SessionError, SessionId, Status, TYPED_BYTES_MAX,
    TypingRequest, View,
};

/// A program that a caller wants to run in a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProgram {
    /// The caller, under the name that the surface proved or the client gave.
    pub by: Actor,
    /// The name of the session; made from the client's name if unset.
    pub name: Option<String>,
    /// The source of the program.
    pub from: ProgramFrom,
    /// The conversation in which a person is asked, if the caller is an agent without a terminal.
    pub thread: Option<StreamId>,
    /// The first words to send to the program.
    pub first: FirstWords,
}

/// The source of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramFrom {
    /// The server starts the program in a new terminal.
    Start {
        /// The client of the registry that runs.
        client: String,
        /// The working folder; the program's default if empty.
        cwd: PathBuf,
        /// Additional arguments of the program.
        args: Vec<String>,
    },
    /// The program runs in a terminal already.
    Running(AdoptRequest),
}

/// The outcome of a request for a program.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramStart {
    /// The program runs. The first words are still to be sent.
    Runs(Box<Status>, FirstWords),
    /// A person is asked first, for the start and the first words together. The fields name the
    /// conversation of the question, and the question.
    Asked(StreamId, PermissionId),
}

/// A message to a session that is named by a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWords {
    /// The sender.
    pub from: Asker,
    /// The session's id, the beginning of its id, or its name.
    pub to: String,
    /// The text; may be empty if the link is closed.
    pub text: String,
    /// True if the text goes over a link of sender and session.
    pub direct: bool,
    /// True if the link of sender and session ends after the text.
    pub close_link: bool,
}

/// The outcome of sending words to a session.
#[derive(Clone, Debug, PartialEq)]
pub enum SendOutcome {
    /// The words were said, or a guard holds them.
    Said(SendResult),
    /// The words are committed, to be sent to another computer.
    Posted(PostedMessage),
    /// A person is asked first if the two sessions may talk. The fields name the conversation of
    /// the question, and the question.
    Asked(StreamId, PermissionId),
}

/// A committed message to a session of another computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedMessage {
    /// The conversation whose outbox has the message until the computer has it.
    pub stream: StreamId,
    /// The session, as the sender named it: `builder@workstation`.
    pub to: String,
    /// The computer, if it cannot be reached now. The message is sent when it can be reached again.
    pub away: Option<AwayComputer>,
}

/// A computer that cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwayComputer {
    /// The name that this computer has for it.
    pub name: String,
    /// Time at which it was last seen, since this server started.
    pub since: Option<Timestamp>,
}

/// The words of a session that a caller reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionReading {
    /// The words of a session of this computer.
    Here(Box<SessionData>),
    /// The words between a session of another computer and the caller.
    There {
        /// The name that this computer has for the other one.
        computer: String,
        /// The words.
        words: RemoteWords,
    },
}

/// The terminal of a session, for a caller that may look at it.
pub struct ScreenWatch {
    session: Warrant,
    /// Notifications that the screen changed, or that the program exited.
    pub news: broadcast::Receiver<PaneNews>,
    door: Door,
}

impl ScreenWatch {
    /// Returns the session whose terminal it is.
    pub fn session(&self) -> &SessionId {
        self.session.session()
    }

    /// Returns the present screen of the terminal.
    ///
    /// # Errors
    /// [`AccessError`], if the terminal cannot be read any more.
    pub async fn view(&self) -> Result<View, AccessError> {
        Ok(self.door.terminals()?.screen(&self.session).await?)
    }
}

impl Door {
    pub(super) fn terminals(&self) -> Result<&dyn SessionDirectory, AccessError> {
        Ok(self.hall.sessions()?)
    }

    /// Returns the sessions that the caller sees. `ended` adds those that have ended.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn sessions(&self, ended: bool) -> Result<Vec<Status>, AccessError> {
        self.may(Action::ListSessions)?;
        let mut all = self.terminals()?.list(ended);
        all.retain(|status| self.hall.sees(&self.caller, status));
        Ok(all)
    }

    /// Returns the session that a word means, after checking the right to an action on it.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn session(&self, action: Action, word: &str) -> Result<Status, AccessError> {
        Ok(self.warrant(action, word).await?.into_status())
    }

    /// Returns the right to an action on the session that a word means.
    async fn warrant(&self, action: Action, word: &str) -> Result<Warrant, AccessError> {
        self.may(action)?;
        // An action without a session as its target needs only the least right.
        let over = if let ActionTarget::Session(over) = action.acts_on() {
            over
        } else {
            SessionAction::Seeing
        };
        self.permit_session_action(over, word).await
    }

    /// Returns the invitation with which the session that a word means joins a conversation.
    ///
    /// # Errors
    /// [`AccessError`]. For a session of this computer that the caller does not see, it is the
    /// error for an unknown session.
    pub async fn invitation(&self, word: &str) -> Result<Invite, AccessError> {
        if let SessionWord::There { computer, name } = self.hall.meaning(word)? {
            return self.invitation_elsewhere(&computer, name).await;
        }
        let session = self.permit_session_action(SessionAction::Telling, word).await?;
        Ok(self.terminals()?.invite(session.session())?)
    }

    /// Returns the session that a word means to the caller, without a right to any action on it.
    /// The request that follows checks that right.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn resolve_session(&self, word: &str) -> Result<Status, AccessError> {
        self.hall.find_seen(&self.caller, word)
    }

    /// True if words for a session have to wait, because a person left a draft in its composer.
    pub fn is_behind_draft(&self, id: &SessionId) -> bool {
        let found = self.terminals().ok().and_then(|sessions| sessions.find(id.as_str()).ok());
        found.is_some_and(|found| found.doing == Activity::Drafting)
    }

    /// Returns the name of a session if the caller may attach to its terminal.
    pub async fn attachable(&self, id: &SessionId) -> Option<ParticipantId> {
        let found = self.session(Action::Attach, id.as_str()).await.ok()?;
        Some(found.session.name)
    }

    /// Returns the name of a session, or its id if the session is not known.
    pub fn name_of(&self, id: &SessionId) -> String {
        let found = self.terminals().ok().and_then(|sessions| sessions.find(id.as_str()).ok());
        found.map_or_else(|| id.to_string(), |found| found.session.name.to_string())
    }

    /// Returns the id of the event at a position, which the caller just posted; `None` if it is
    /// unreadable.
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
        // The message is committed, so a failed read is not an error.
        Ok(page.ok().and_then(|page| page.events.first().map(|recorded| recorded.id(stream))))
    }

    /// Starts a program, or adopts a running one. If the caller is an agent that may not start the
    /// program without a person, asks a person. The program starts only after the person's yes.
    ///
    /// # Errors
    /// [`AccessError`]. No program runs then, unless only its terminal could not be stored.
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
        let new = NewSession { client, cwd, args, name, by, session, place: None };
        match self.hall.permit_start(&self.caller, new.clone()) {
            Ok(granted) => {
                let status = self.terminals()?.start_once(granted, key).await?;
                Ok(ProgramStart::Runs(Box::new(status), first))
            }
            Err(AccessError::Denied(AccessDenial::Person(_))) => {
                self.ask_for(&new, thread, first).await
            }
            Err(error) => Err(error),
        }
    }

    /// Asks a person to allow the start of an agent's program, with its first words.
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

    /// Sends words to a session, only one time per key. If the caller is a session that has not met
    /// that session, a person is asked first.
    ///
    /// # Errors
    /// [`AccessError`]. No words were posted then, unless only the closing of the link failed.
    pub async fn send(
        &self,
        words: NewWords,
        key: Option<Idempotency>,
    ) -> Result<SendOutcome, AccessError> {
        self.may(Action::SendMessage)?;
        if let SessionWord::There { computer, name } = self.hall.meaning(&words.to)? {
            let name = name.to_owned();
            return self.send_elsewhere(&computer, &name, words, key).await;
        }
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

    /// Returns the caller's session if it needs a person's permission to talk to unmet sessions.
    pub(super) fn asks_to_talk(&self) -> Option<&SessionId> {
        self.caller.session().filter(|_| self.caller.reach != Reach::All)
    }

    /// Asks a person if the calling session may talk to a session that it does not see. Returns
    /// `unseen` if the question is not allowed. The outcome does not reveal if that session exists.
    pub(super) async fn ask_to_talk(
        &self,
        words: NewWords,
        unseen: AccessError,
    ) -> Result<SendOutcome, AccessError> {
        let own = match (self.asks_to_talk(), &unseen) {
            (
                Some(own),
                AccessError::Session(
                    SessionError::NotFound(_)
                    | SessionError::Invalid(_)
                    | SessionError::Elsewhere { .. },
                ),
            ) if !words.close_link => own,
            _ => return Err(unseen),
        };
        check_words(&words.text, false)?;
        let to = words.to.trim();
        if names::check_id(to).is_err() && names::at_computer(to).is_none() {
            return Err(unseen);
        }
        let talk = TalkRequest { to: ParticipantId::new(to), message: words.text };
        let (room, permission) = self.terminals()?.ask_talk(own, talk).await?;
        Ok(SendOutcome::Asked(room, permission))
    }

    /// Returns the messages that a session got, and its answers.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn session_data(
        &self,
        word: &str,
        excerpt: Excerpt,
    ) -> Result<SessionReading, AccessError> {
        self.may(Action::ReadSessionData)?;
        if let SessionWord::There { computer, name } = self.hall.meaning(word)? {
            let words = self.remote_words(&computer, name, excerpt).await?;
            // To a session that has not met the other one, an existing session must look like an
            // unknown one.
            if words.text.is_empty() && self.asks_to_talk().is_some() {
                return Err(SessionError::NotFound(word.to_owned()).into());
            }
            return Ok(SessionReading::There { computer: computer.name, words });
        }
        let session = self.warrant(Action::ReadSessionData, word).await?;
        let name = self.caller.principal().map(|principal| principal.id.clone());
        let eyes = MessageReader { name, computer: None, reach: self.caller.reach.clone() };
        let data = self.terminals()?.data(&session, excerpt, &eyes).await?;
        Ok(SessionReading::Here(Box::new(data)))
    }

    /// Returns the present screen of the terminal of a session.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn screen(&self, word: &str) -> Result<(SessionId, View), AccessError> {
        let session = self.warrant(Action::ReadScreen, word).await?;
        let view = self.terminals()?.screen(&session).await?;
        Ok((session.session().clone(), view))
    }

    /// Subscribes to changes of a session's screen.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn watch(&self, word: &str) -> Result<ScreenWatch, AccessError> {
        let session = self.warrant(Action::ReadScreen, word).await?;
        let news = self.terminals()?.watch(&session).await?;
        Ok(ScreenWatch { session, news, door: self.clone() })
    }

    /// Returns the session, and the command with which a person attaches to its terminal.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn attach(&self, word: &str) -> Result<(Status, Vec<String>), AccessError> {
        let session = self.warrant(Action::Attach, word).await?;
        let argv = self.terminals()?.attach(&session).await?;
        Ok((session.into_status(), argv))
    }

    /// Types in the terminal of a session for a person, or releases the terminal. Records the start
    /// of typing in the audit record first. Returns the session's status, and the time of the
    /// release that comes without another request.
    ///
    /// # Errors
    /// [`AccessError`]; nothing was typed then, or only the first of the keystrokes.
    pub async fn type_keys(
        &self,
        word: &str,
        by: &Actor,
        request: TypingRequest,
    ) -> Result<(Status, Option<Timestamp>), AccessError> {
        let session = self.warrant(Action::TypeKeys, word).await?;
        let text: usize = request.keys.iter().map(Keystroke::bytes).sum();
        if request.keys.len() > KEYSTROKES_MAX || text > TYPED_BYTES_MAX {
            return Err(SessionRequestError::Keystrokes.into());
        }
        let sessions = self.terminals()?;
        let found = || sessions.find(session.session().as_str());
        if found()?.typist.is_none() && !request.release {
            self.record_taking(session.session()).await?;
        }
        let until = sessions.type_keys(&session, by, request).await?;
        Ok((found()?, until))
    }

    /// Records that the caller takes over a terminal.
    async fn record_taking(&self, session: &SessionId) -> Result<(), AccessError> {
        let entry = AuditEntry::of(&self.caller, AuditAction::TerminalTaken, self.hall.now());
        let detail = format!("the terminal of {}", self.name_of(session));
        let entry = AuditEntry { detail, ..entry };
        let recorded = self.hall.inner.store.principals.record(&entry).await;
        Ok(recorded.map_err(HallError::from)?)
    }

    /// Interrupts what a session does, and returns its status afterwards.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn interrupt(&self, word: &str, by: &Actor) -> Result<Status, AccessError> {
        let session = self.warrant(Action::Interrupt, word).await?;
        let sessions = self.terminals()?;
        sessions.interrupt(&session, by).await?;
        Ok(sessions.find(session.session().as_str())?)
    }

    /// Returns the names of the sessions that a session's links wait for. Links out of reach are
    /// left out, unless the session is the caller's own.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn waits_for(&self, session: &SessionId) -> Result<BTreeSet<String>, AccessError> {
        let is_own = self.caller.session() == Some(session);
        let mut waits = self.terminals()?.waits_of(session).await?;
        waits.retain(|link, _| is_own || self.caller.reach.includes(link));
        Ok(waits.values().flatten().map(|lacking| self.name_of(lacking)).collect())
    }

    /// Ends the program of a session, and returns the session's status afterwards. If the program
    /// exited before, for instance in a restart of the computer, the session still gives up its
    /// places in links.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn end_session(&self, word: &str, by: &Actor) -> Result<Status, AccessError> {
        let session = self.warrant(Action::EndSession, word).await?;
        let sessions = self.terminals()?;
        sessions.end(&session, by).await?;
        // The id finds it, because the name of an ended session is free for others.
        Ok(sessions.find(session.session().as_str())?)
    }

    /// Runs the program of an ended session again. Only a person may ask for it.
    ///
    /// # Errors
    /// [`AccessError`]. The program does not run then, unless only a step after its start failed.
    pub async fn resume_session(
        &self,
        word: &str,
        by: &Actor,
    ) -> Result<ResumedSession, AccessError> {
        let session = self.warrant(Action::ResumeSession, word).await?;
        Ok(self.terminals()?.resume(&session, by).await?)
    }

    /// Returns the active links within reach, and those of the calling session. With `word`,
    /// returns only links of that session.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn links(&self, word: Option<&str>) -> Result<Vec<Link>, AccessError> {
        self.may(Action::ListLinks)?;
        let of = self.session_of_links(word).await?;
        let links = self.terminals()?.links(of.as_ref().map(Warrant::session)).await?;
        Ok(self.within_reach(links))
    }

    /// Returns the closed links that reopen when the sessions that they wait for are resumed or
    /// ended, as far as the caller reaches them or is a member. With `word`, returns only links of
    /// that session.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn waiting_links(&self, word: Option<&str>) -> Result<Vec<Link>, AccessError> {
        self.may(Action::ListLinks)?;
        let of = self.session_of_links(word).await?;
        let links = self.terminals()?.waiting_links(of.as_ref().map(Warrant::session)).await?;
        Ok(self.within_reach(links))
    }

    /// Returns the session whose links are wanted, if the caller sees it; `None` for all links.
    async fn session_of_links(&self, word: Option<&str>) -> Result<Option<Warrant>, AccessError> {
        let Some(word) = word else { return Ok(None) };
        Ok(Some(self.permit_session_action(SessionAction::Seeing, word).await?))
    }

    /// Drops the links out of reach, but not those of the calling session.
    fn within_reach(&self, mut links: Vec<Link>) -> Vec<Link> {
        let own = self.caller.session();
        let is_own = |member: &Member| member.computer.is_empty() && Some(&member.session) == own;
        links
            .retain(|link| self.caller.reach.includes(&link.id) || link.members.iter().any(is_own));
        links
    }

    /// Returns one link.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn link(&self, id: &StreamId) -> Result<Link, AccessError> {
        self.may(Action::ReadLink)?;
        self.reaches_link(id).await?;
        Ok(self.terminals()?.link_of(id).await?)
    }

    /// Makes a link, or returns the existing link between exactly these members.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn make_link(&self, new: NewLink) -> Result<(Link, LinkState), AccessError> {
        self.may(Action::MakeLink)?;
        let new = self.with_members_elsewhere(new).await?;
        let new = self.hall.permit_link(&self.caller, new).await?;
        Ok(self.terminals()?.link(new).await?)
    }

    /// Ends a link for all its members.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn close_link(&self, id: &StreamId, by: &Asker) -> Result<Link, AccessError> {
        self.may(Action::CloseLink)?;
        self.reaches_link(id).await?;
        let sessions = self.terminals()?;
        if self.caller.is_agent() && self.caller.session().is_none() {
            return Err(AccessDenial::Person("close a link that they are not in").into());
        }
        Ok(sessions.close_link(id, by).await?)
    }
}

/// Checks the number and the size of a program's arguments.
pub(super) fn check_args(args: &[String]) -> Result<(), SessionRequestError> {
    let fits = |arg: &String| arg.len() <= ARG_BYTES_MAX && !arg.contains('\0');
    if args.len() <= ARGS_MAX && args.iter().all(fits) {
        Ok(())
    } else {
        Err(SessionRequestError::Arguments)
    }
}

/// Checks the length of words for a session. Only words that close a link may be empty.
pub(super) fn check_words(text: &str, may_be_empty: bool) -> Result<(), AccessError> {
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(SessionRequestError::TooLong(text.len()).into());
    }
    if is_empty_looking(text) && !may_be_empty {
        return Err(SessionRequestError::NoWords.into());
    }
    Ok(())
}
