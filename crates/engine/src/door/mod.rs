//! The one door: what a caller can do here, whichever way the request came.
//!
//! Every method asks in the same order: whether somebody asks at all; what their credential allows,
//! which is the row of the [`Action`]; whether what they name is within their reach, or else it
//! does not exist; what they may do with it; and only then whether the request was made before
//! under its key, what the rules of conversations say, and what it does. What a credential allows
//! is asked before what it reaches, because the answer tells nothing about what there is, and
//! because it is refused on the record.
//!
//! Surfaces read what was asked and write what is answered. They hold no rights.

mod action;
mod threads;
mod sessions;
mod gatherings;
mod tasks;
mod permitted;
mod spending;
mod guards;
mod filter;
mod pages;
mod reader;
mod changes;
mod entrance;

pub use action::{Action, ActionTarget, Need};
pub use changes::Changes;
pub use entrance::Entrance;
pub use filter::EventFilter;
pub use gatherings::{GatheringEntry, MemberSource, NewGathering, NewMember};
pub use guards::{BudgetGuard, GuardItem, GuardPage, GuardSubject, GuardQuery};
pub use pages::{Messages, Pages};
pub use reader::{Batch, Reader, ReaderItem};
pub use sessions::{NewProgram, NewWords, ProgramFrom, ProgramStart, SendOutcome, ScreenWatch};
pub use tasks::{
    AgentView, AppView, ConversationView, ConversationWish, MANAGER_ANSWERS_WITHIN, OutgoingMessage,
    TaskMessages, TaskPage,
};
pub use threads::SlashOutcome;

use std::sync::Arc;

use moothall_kernel::command::Actor;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::planted::{self, Bypass};
use moothall_kernel::policy::Policy;
use moothall_kernel::view::Viewer;

pub use crate::access::{ARG_BYTES_MAX, ARGS_MAX, MESSAGE_BYTES_MAX, PermittedCommand};
use crate::access::{AccessError, Caller, Denied, SessionAction, Warrant};
use crate::answers::HallError;
use crate::hall::Hall;
use crate::runtime::registry::Registry;
use crate::sessions::{Asker, SessionError, Status, is_session};

/// A hall as somebody has it who asks for something. Cheap to make.
#[derive(Clone)]
pub struct Door {
    hall: Hall,
    caller: Caller,
}

impl Hall {
    /// The hall as this caller has it.
    pub fn as_(&self, caller: Caller) -> Door {
        Door { hall: self.clone(), caller }
    }
}

impl Need {
    /// Whether what the caller has is enough.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn check(self, caller: &Caller) -> Result<(), Denied> {
        match self {
            Need::Nothing => Ok(()),
            Need::Entry | Need::Scope(_) | Need::Proof(_) if caller.is_stranger() => {
                Err(Denied::Stranger)
            }
            Need::Entry => Ok(()),
            Need::Scope(scope) => caller.must(scope),
            Need::Proof(scope) => caller.must_prove(scope),
        }
    }
}

impl Door {
    /// Whoever this door was opened for.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The agents of the registry.
    pub fn registry(&self) -> Arc<Registry> {
        self.hall.registry()
    }

    /// The settings of conversations that do not say otherwise.
    pub fn defaults(&self) -> Policy {
        self.hall.defaults()
    }

    /// Whether the caller may do this at all, wherever it is.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn may(&self, action: Action) -> Result<(), Denied> {
        action.need().check(&self.caller)?;
        match action.acts_on() {
            ActionTarget::Everywhere => self.caller.must_reach_all(),
            ActionTarget::Own | ActionTarget::Session(_) | ActionTarget::Link => self.caller.must_be_unbound(),
            ActionTarget::Nowhere | ActionTarget::Thread | ActionTarget::Turn | ActionTarget::Reachable | ActionTarget::Task => {
                Ok(())
            }
        }
    }

    /// Whether a conversation is within reach; what is not does not exist for the caller.
    ///
    /// # Errors
    /// [`HallError::NotFound`].
    pub fn reaches(&self, stream: &StreamId) -> Result<(), HallError> {
        if self.caller.reach.includes(stream) || planted::is_open(Bypass::Reading) {
            Ok(())
        } else {
            Err(HallError::NotFound(stream.clone()))
        }
    }

    /// Whether a link is within reach.
    ///
    /// # Errors
    /// [`SessionError::NoLink`].
    pub fn reaches_link(&self, link: &StreamId) -> Result<(), SessionError> {
        if self.caller.reach.includes(link) { Ok(()) } else { Err(SessionError::NoLink) }
    }

    /// Returns the right to do this with the session that a word means.
    ///
    /// # Errors
    /// [`AccessError`], as for [`Hall::permit_over`].
    pub async fn over(&self, over: SessionAction, word: &str) -> Result<Warrant, AccessError> {
        self.hall.permit_over(&self.caller, over, word).await
    }

    /// The same check before a request's body is read. That there is no such session, or that this
    /// server runs none, is no error yet: the body is checked first.
    ///
    /// # Errors
    /// [`AccessError`], where the caller may not.
    pub async fn may_over(&self, over: SessionAction, word: &str) -> Result<(), AccessError> {
        match self.over(over, word).await {
            Err(AccessError::Session(SessionError::Invalid(_) | SessionError::Unavailable(_)))
            | Ok(_) => Ok(()),
            Err(AccessError::Session(SessionError::NotFound(_)))
                if over == SessionAction::Messaging && self.asks_to_talk().is_some() =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// May this be done in this conversation?
    fn enter(&self, action: Action, stream: &StreamId) -> Result<(), AccessError> {
        self.may(action)?;
        Ok(self.reaches(stream)?)
    }

    /// In whose name something happens, where a credential or the request's own word says so.
    ///
    /// # Errors
    /// [`Denied::Name`].
    pub fn named(&self, named: Option<ParticipantId>) -> Result<Option<Actor>, Denied> {
        self.caller.acting_as(named)
    }

    /// In whose name something is asked for: the credential's, the one that is named, or else the
    /// person's at this computer.
    ///
    /// # Errors
    /// [`Denied::Name`].
    pub fn asker(&self, named: Option<ParticipantId>) -> Result<Actor, Denied> {
        self.caller.asking_as(named)
    }

    /// The same as sessions know it: a session's program asks as that session.
    pub fn as_asker(&self, by: Actor) -> Asker {
        self.caller.session().map_or(Asker::Actor(by), |session| Asker::Session(session.clone()))
    }

    /// The session whose program asks.
    ///
    /// # Errors
    /// [`SessionError`], when it is gone.
    pub fn own_session(&self) -> Result<Option<Status>, SessionError> {
        let Some(id) = self.caller.session() else { return Ok(None) };
        self.hall.sessions()?.find(id.as_str()).map(Some)
    }

    /// Who speaks in a conversation: a session as the participant that it was invited as, anybody
    /// else as who they are.
    ///
    /// # Errors
    /// [`AccessError`], when the conversation does not exist or cannot be read.
    pub async fn speaker_in(&self, stream: &StreamId, by: Actor) -> Result<Actor, AccessError> {
        match self.own_session()? {
            Some(status) => Ok(Actor::named(self.hall.participant_of(stream, &status).await?)),
            None => Ok(by),
        }
    }

    /// The participant that the caller's credential names: a session's as it was invited, a
    /// principal by its id.
    ///
    /// # Errors
    /// [`AccessError`], when the conversation does not exist or cannot be read.
    async fn own_participant(
        &self,
        stream: &StreamId,
    ) -> Result<Option<ParticipantId>, AccessError> {
        match self.own_session()? {
            Some(status) => Ok(Some(self.hall.participant_of(stream, &status).await?)),
            None => Ok(self.caller.principal().map(|principal| principal.id.clone())),
        }
    }

    /// Through whose eyes a program looks at a conversation: its participant's, or where nothing is
    /// known of it a guest's.
    ///
    /// # Errors
    /// [`AccessError`], when the conversation does not exist or cannot be read.
    pub async fn own_sight(&self, stream: &StreamId) -> Result<Viewer, AccessError> {
        match self.own_session()? {
            Some(status) => {
                Ok(Viewer::Participant(self.hall.participant_of(stream, &status).await?))
            }
            None => Ok(self.sight()?),
        }
    }

    /// The same, in no conversation of its own.
    ///
    /// # Errors
    /// [`Denied::Name`].
    pub fn sight(&self) -> Result<Viewer, Denied> {
        if self.caller.is_proven() { self.caller.viewer(None) } else { Ok(Viewer::Guest) }
    }
}

impl Hall {
    /// The participant whose words a session says in a conversation: the one it was invited as,
    /// otherwise its own name.
    async fn participant_of(
        &self,
        stream: &StreamId,
        status: &Status,
    ) -> Result<ParticipantId, HallError> {
        let (id, own) = (status.session.id.clone(), status.session.name.clone());
        let invited = self.view(stream, move |state| {
            state.participants().iter().find(|one| is_session(one, &id)).map(|one| one.id.clone())
        });
        Ok(invited.await?.unwrap_or(own))
    }
}
