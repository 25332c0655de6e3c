//! The rights of a caller over a session, in one place for routes, tools and everything that a
//! conversation can cause.

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Kind;
use moothall_kernel::planted::{self, Bypass};

use super::{
    AccessDenial, AccessError, AuthorizedRequest, Caller, Reach, Scope, SessionAction, Warrant,
};
use crate::computers::{PairedComputer, SessionWord};
use crate::hall::Hall;
use crate::sessions::{
    ConversationPlan, FolderQuery, Message, MessageElsewhere, NewLink, NewObserved, NewSession,
    SessionError, SessionSource, Starter, Status,
};

/// The relation of a caller to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionRelation {
    /// The caller may do everything.
    Above,
    /// The session is the caller's own.
    Own,
    /// The caller started the session.
    Starter,
    /// The caller shares a conversation with the session.
    Beside,
    /// The caller only sees the session.
    Apart,
    /// The session does not exist for the caller.
    Nowhere,
}

impl Hall {
    /// Returns the right to the action `over` on the session that a word means. The caller's
    /// credential is checked by the route's row (`door/action.rs`).
    ///
    /// # Errors
    /// [`AccessError::Denied`]; [`AccessError::Session`], if the caller sees no such session.
    pub async fn permit_over(
        &self,
        caller: &Caller,
        over: SessionAction,
        word: &str,
    ) -> Result<Warrant, AccessError> {
        let status = self.find_seen(caller, word)?;
        let name = || status.session.name.clone();
        let unseen = || AccessError::Session(SessionError::NotFound(word.trim().to_owned()));
        match (over, self.stands(caller, &status).await?) {
            (_, SessionRelation::Above) => Ok(Warrant::new(over, status)),
            (_, SessionRelation::Nowhere) => Err(unseen()),
            (SessionAction::Seeing, _) => Ok(Warrant::new(over, status)),
            (
                SessionAction::Messaging | SessionAction::Telling,
                SessionRelation::Own | SessionRelation::Starter | SessionRelation::Beside,
            ) => Ok(Warrant::new(over, status)),
            (SessionAction::Messaging | SessionAction::Telling, SessionRelation::Apart) => {
                Err(AccessDenial::NotMet(name()).into())
            }
            (SessionAction::Looking, SessionRelation::Own | SessionRelation::Starter)
            | (SessionAction::Steering, SessionRelation::Starter) => Ok(Warrant::new(over, status)),
            (SessionAction::Looking, SessionRelation::Beside | SessionRelation::Apart)
            | (
                SessionAction::Steering,
                SessionRelation::Own | SessionRelation::Beside | SessionRelation::Apart,
            ) => Err(AccessDenial::NotStarted(name()).into()),
            (
                SessionAction::Sitting,
                SessionRelation::Own
                | SessionRelation::Starter
                | SessionRelation::Beside
                | SessionRelation::Apart,
            ) => Err(AccessDenial::Person(
                "attach to the terminal of a session, or resume a session",
            )
            .into()),
        }
    }

    /// Returns the session that a word means to a caller.
    ///
    /// # Errors
    /// [`SessionError::NotFound`] if the caller sees no such session; it does not reveal if one
    /// exists. [`SessionError::Invalid`] if the word means several sessions that the caller sees.
    /// [`SessionError::Elsewhere`] for a session of another computer.
    pub(crate) fn find_seen(&self, caller: &Caller, word: &str) -> Result<Status, AccessError> {
        let word = match self.meaning(word)? {
            SessionWord::Here(word) => word,
            SessionWord::There { computer, name } => {
                return Err(
                    SessionError::Elsewhere { name: name.into(), computer: computer.name }.into()
                );
            }
        };
        Ok(self.sessions()?.find_among(word, &|status| self.sees(caller, status))?)
    }

    /// Splits a word for a session into the computer that it names and the rest of the word.
    ///
    /// # Errors
    /// [`SessionError::Invalid`] if no computer has that name.
    pub(crate) fn meaning<'w>(&self, word: &'w str) -> Result<SessionWord<'w>, SessionError> {
        self.inner.meaning(word)
    }

    /// Returns the program if its caller may start it. For an agent, the folder is set to one that
    /// the operator lists. Without such a folder, the error says that only a person may start the
    /// program.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn permit_start(
        &self,
        caller: &Caller,
        new: NewSession,
    ) -> Result<AuthorizedRequest<NewSession>, AccessError> {
        self.may_start(caller, new).map(AuthorizedRequest::new)
    }

    /// Returns the request if its caller may start the program. For an agent, sets the folder to
    /// one that the operator lists, or returns an error that only a person may start it.
    fn may_start(&self, caller: &Caller, mut new: NewSession) -> Result<NewSession, AccessError> {
        caller.must_prove(Scope::SessionsDrive)?;
        caller.must_be_unbound()?;
        if caller.is_agent() && !planted::is_open(Bypass::Starting) {
            new.cwd = self
                .sessions()?
                .starts_alone(&new)
                .ok_or(AccessDenial::Person("start that program"))?;
        }
        Ok(new)
    }

    /// Returns the request for folders if its caller may read them. Only a person who may start
    /// programs may read them, because the names of folders reveal facts about the computer.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn permit_folders(
        &self,
        caller: &Caller,
        query: FolderQuery,
    ) -> Result<AuthorizedRequest<FolderQuery>, AccessError> {
        must_be_driving_person(caller, "list folders")?;
        Ok(AuthorizedRequest::new(query))
    }

    /// Returns the running program if its caller may adopt it. Only a person who may start programs
    /// may adopt one.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn permit_adopting(
        &self,
        caller: &Caller,
        new: NewObserved,
    ) -> Result<AuthorizedRequest<NewObserved>, AccessError> {
        must_be_driving_person(caller, "adopt a running program")?;
        Ok(AuthorizedRequest::new(new))
    }

    /// Returns the message if its caller may send it.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn permit_message(
        &self,
        caller: &Caller,
        message: Message,
    ) -> Result<AuthorizedRequest<Message>, AccessError> {
        caller.must_prove(Scope::SessionsDrive)?;
        self.permit_over(caller, SessionAction::Messaging, message.to.as_str()).await?;
        Ok(AuthorizedRequest::new(message))
    }

    /// Checks that a caller may talk to a session of another computer without asking a person. A
    /// session may if it shares a link with that session, or reaches everything. Other agents may
    /// not. All other callers may.
    ///
    /// # Errors
    /// [`AccessDenial::NotMet`], and the errors of a link that cannot be read.
    pub(crate) async fn permit_elsewhere(
        &self,
        caller: &Caller,
        computer: &PairedComputer,
        name: &str,
    ) -> Result<(), AccessError> {
        let may = match caller.session() {
            Some(own) => {
                caller.reach == Reach::All
                    || self.sessions()?.meets_elsewhere(own, &computer.id, name).await?
            }
            None => !caller.is_agent(),
        };
        let unmet = || AccessDenial::NotMet(ParticipantId::new(name));
        Ok(may.then_some(()).ok_or_else(unmet)?)
    }

    /// Returns the words if their caller, a session, may say them over a link with a session of
    /// another computer.
    ///
    /// # Errors
    /// [`AccessError`].
    pub(crate) async fn permit_message_elsewhere(
        &self,
        caller: &Caller,
        message: MessageElsewhere,
    ) -> Result<AuthorizedRequest<MessageElsewhere>, AccessError> {
        caller.must_prove(Scope::SessionsDrive)?;
        self.permit_elsewhere(caller, &message.computer, &message.word).await?;
        Ok(AuthorizedRequest::new(message))
    }

    /// Returns the link if its caller may make it. An agent that is a member itself may link with
    /// sessions that it may talk to. An agent that is not a member may link only sessions that it
    /// started.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn permit_link(
        &self,
        caller: &Caller,
        new: NewLink,
    ) -> Result<AuthorizedRequest<NewLink>, AccessError> {
        caller.must_prove(Scope::SessionsDrive)?;
        let itself = new.members.iter().any(|member| Some(&member.session) == caller.session());
        let over = if itself { SessionAction::Telling } else { SessionAction::Steering };
        for member in &new.members {
            self.permit_over(caller, over, member.session.as_str()).await?;
        }
        for member in &new.elsewhere {
            self.permit_elsewhere(caller, &member.computer, &member.session.id).await?;
        }
        Ok(AuthorizedRequest::new(new))
    }

    /// Returns the conversation if its caller may begin it. The caller has to be allowed to talk to
    /// each living session, to start each program, and to invite each other member.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn permit_convening(
        &self,
        caller: &Caller,
        mut new: ConversationPlan,
    ) -> Result<AuthorizedRequest<ConversationPlan>, AccessError> {
        caller.must_prove(Scope::SessionsDrive)?;
        for session in &mut new.joining {
            match &mut session.who {
                SessionSource::Living(session) => {
                    self.permit_over(caller, SessionAction::Telling, session.as_str()).await?;
                }
                SessionSource::Started(program) => {
                    *program = self.may_start(caller, program.clone())?
                }
            }
        }
        for invite in &new.others {
            self.permit_person(caller, invite)?;
            self.permit_granting(caller, invite).await?;
        }
        Ok(AuthorizedRequest::new(new))
    }

    /// True if the caller sees that a session exists. A session sees itself, the sessions that it
    /// started or has met, and all of them if it reaches everything. Every other caller sees all
    /// sessions.
    pub fn sees(&self, caller: &Caller, status: &Status) -> bool {
        let Some(own) = caller.session() else { return true };
        let id = &status.session.id;
        caller.reach == Reach::All
            || own == id
            || status.session.started_by == Some(Starter::Session(own.clone()))
            || { self.inner.residents.meet(own, id) }
    }

    /// Returns the relation of the caller to a session. Callers without a credential, and all
    /// people, stand above all sessions.
    async fn stands(
        &self,
        caller: &Caller,
        status: &Status,
    ) -> Result<SessionRelation, AccessError> {
        let Some(proof) = caller.proof.as_deref() else { return Ok(SessionRelation::Above) };
        if proof.principal.kind == Kind::Human {
            return Ok(SessionRelation::Above);
        }
        let (id, started_by) = (&status.session.id, status.session.started_by.as_ref());
        let Some(own) = &proof.session else {
            let started = started_by == Some(&Starter::Agent(proof.principal.id.clone()));
            let beside = !started && self.inner.residents.shares(&proof.principal.id, id).await?;
            return Ok(if started {
                SessionRelation::Starter
            } else if beside {
                SessionRelation::Beside
            } else {
                SessionRelation::Apart
            });
        };
        Ok(if own == id {
            SessionRelation::Own
        } else if started_by == Some(&Starter::Session(own.clone())) {
            SessionRelation::Starter
        } else if self.sees(caller, status) {
            SessionRelation::Beside
        } else {
            SessionRelation::Nowhere
        })
    }
}

/// Rejects all callers but people who may start programs on this computer.
fn must_be_driving_person(caller: &Caller, action: &'static str) -> Result<(), AccessError> {
    caller.must_prove(Scope::SessionsDrive)?;
    caller.must_be_unbound()?;
    if caller.is_agent() {
        return Err(AccessDenial::Person(action).into());
    }
    Ok(())
}
