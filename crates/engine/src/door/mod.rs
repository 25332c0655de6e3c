//! The one door: every request of a caller, whichever surface it came through.
//!
//! Every method checks in the same order: that there is a caller; that the credential covers the
//! [`Action`]; that the target is within the caller's reach; and that the caller may do this with
//! the target. To the caller, a target out of reach does not exist. Only then come the idempotency
//! key, the rules of conversations, and the effect. The credential is checked before the reach
//! because its answer does not reveal which targets exist, and because its refusals are recorded.
//!
//! Surfaces parse requests and write answers. They hold no rights.

mod action;
mod threads;
mod slash;
mod explain;
mod warnings;
mod sessions;
mod folders;
mod channels;
mod computers;
mod remote;
mod deliveries;
mod gatherings;
mod tasks;
mod permitted;
mod spending;
mod guards;
mod states;
mod needs;
mod filter;
mod pages;
mod reader;
mod changes;
mod entrance;

pub use action::{Action, ActionTarget, Need};
pub use changes::Changes;
pub use deliveries::ChatDelivery;
pub use entrance::Entrance;
pub use explain::{Explanation, NoAgentAsked, UnaskedMessage};
pub use filter::EventFilter;
pub use gatherings::{GatheringEntry, MemberSource, NewGathering, NewMember};
pub use guards::{BudgetGuard, GuardItem, GuardPage, GuardQuery, GuardSubject};
pub use needs::{NeedSubject, PendingNeed};
pub use pages::{Messages, Pages};
pub use reader::{Batch, Reader, ReaderItem};
pub use remote::{ComputerSessions, ListedSessions};
pub use sessions::{
    AwayComputer, NewProgram, NewWords, PostedMessage, ProgramFrom, ProgramStart, ScreenWatch,
    SendOutcome, SessionReading,
};
pub use slash::SlashOutcome;
pub use states::SeenOccupation;
pub use tasks::{
    AgentView, AppView, ConversationView, ConversationWish, MANAGER_ANSWERS_WITHIN,
    OutgoingMessage, TaskMessages, TaskPage,
};

pub use warnings::{strangers, stray_name, unasked_name};

use std::sync::Arc;

use moothall_kernel::command::Actor;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::planted::{self, Bypass};
use moothall_kernel::policy::Policy;
use moothall_kernel::view::Viewer;

pub use crate::access::{ARG_BYTES_MAX, ARGS_MAX, MESSAGE_BYTES_MAX, PermittedCommand};
use crate::access::{AccessDenial, AccessError, Caller, SessionAction, Warrant};
use crate::answers::HallError;
use crate::hall::Hall;
use crate::runtime::registry::Registry;
use crate::sessions::{Asker, SessionError, Status, is_session};

/// A hall as one caller may use it. Cheap to make.
#[derive(Clone)]
pub struct Door {
    hall: Hall,
    caller: Caller,
}

impl Hall {
    /// Returns the hall as this caller may use it.
    pub fn as_(&self, caller: Caller) -> Door {
        Door { hall: self.clone(), caller }
    }
}

impl Need {
    /// Checks that the caller's credential is enough.
    ///
    /// # Errors
    /// [`AccessDenial`].
    pub fn check(self, caller: &Caller) -> Result<(), AccessDenial> {
        match self {
            Need::Nothing => Ok(()),
            Need::Entry | Need::Scope(_) | Need::Proof(_) if caller.is_stranger() => {
                Err(AccessDenial::Stranger)
            }
            Need::Entry => Ok(()),
            Need::Scope(scope) => caller.must(scope),
            Need::Proof(scope) => caller.must_prove(scope),
        }
    }
}

impl Door {
    /// Returns the caller that this door was opened for.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the agents of the registry.
    pub fn registry(&self) -> Arc<Registry> {
        self.hall.registry()
    }

    /// Returns the default settings of a conversation.
    pub fn defaults(&self) -> Policy {
        self.hall.defaults()
    }

    /// Checks that the caller's credential covers the action, before any target is looked at. A
    /// credential that is bound to conversations does not cover an action on the whole server, on
    /// the caller's own things, on a session or on a link. A session's credential does not cover an
    /// action on the whole server either.
    ///
    /// # Errors
    /// [`AccessDenial`].
    pub fn may(&self, action: Action) -> Result<(), AccessDenial> {
        action.need().check(&self.caller)?;
        match action.acts_on() {
            ActionTarget::Everywhere => self.caller.must_reach_all(),
            ActionTarget::Own | ActionTarget::Session(_) | ActionTarget::Link => {
                self.caller.must_be_unbound()
            }
            ActionTarget::Nowhere
            | ActionTarget::Thread
            | ActionTarget::Turn
            | ActionTarget::Reachable
            | ActionTarget::Task => Ok(()),
        }
    }

    /// Checks that a conversation is within reach. To the caller, a conversation out of reach does
    /// not exist.
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

    /// Checks that a link is within reach: the caller reaches the conversation of the link, or the
    /// calling session is a member of the link. A link of another computer has no conversation
    /// here.
    ///
    /// # Errors
    /// [`SessionError::NoLink`].
    pub async fn reaches_link(&self, link: &StreamId) -> Result<(), SessionError> {
        if self.caller.reach.includes(link) {
            return Ok(());
        }
        let links = match self.caller.session() {
            Some(own) => self.hall.sessions()?.links(Some(own)).await?,
            None => Vec::new(),
        };
        let is_own = links.iter().any(|own| own.id == *link);
        is_own.then_some(()).ok_or(SessionError::NoLink)
    }

    /// Returns the right to do this with the session that a word means.
    ///
    /// # Errors
    /// [`AccessError`], as for [`Hall::permit_over`].
    pub async fn permit_session_action(
        &self,
        over: SessionAction,
        word: &str,
    ) -> Result<Warrant, AccessError> {
        self.hall.permit_over(&self.caller, over, word).await
    }

    /// Checks the right of [`Door::permit_session_action`] before the body of a request is read. An
    /// ambiguous word, or a server without sessions, is not an error yet, because the body is
    /// checked first. A session of another computer is not an error for `Messaging` and `Telling`.
    /// An unknown session is not an error for `Messaging` if the caller could ask a person to talk
    /// to it.
    ///
    /// # Errors
    /// [`AccessError`], if the caller may not take the action.
    pub async fn check_session_action(
        &self,
        over: SessionAction,
        word: &str,
    ) -> Result<(), AccessError> {
        match self.permit_session_action(over, word).await {
            Err(AccessError::Session(SessionError::Invalid(_) | SessionError::Unavailable(_)))
            | Ok(_) => Ok(()),
            // The other computer decides about its session when it gets the request.
            Err(AccessError::Session(SessionError::Elsewhere { .. }))
                if matches!(over, SessionAction::Messaging | SessionAction::Telling) =>
            {
                Ok(())
            }
            Err(AccessError::Session(SessionError::NotFound(_)))
                if over == SessionAction::Messaging && self.asks_to_talk().is_some() =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Checks that the caller's credential covers the action and that the conversation is within
    /// reach.
    fn enter(&self, action: Action, stream: &StreamId) -> Result<(), AccessError> {
        self.may(action)?;
        Ok(self.reaches(stream)?)
    }

    /// Returns the name under which the caller acts, if the credential or the request gives one.
    ///
    /// # Errors
    /// [`AccessDenial::Name`].
    pub fn named_actor(&self, named: Option<ParticipantId>) -> Result<Option<Actor>, AccessDenial> {
        self.caller.acting_as(named)
    }

    /// Returns the name under which the caller asks: the credential's, the named one, or else that
    /// of the person at this computer.
    ///
    /// # Errors
    /// [`AccessDenial::Name`].
    pub fn asker(&self, named: Option<ParticipantId>) -> Result<Actor, AccessDenial> {
        self.caller.asking_as(named)
    }

    /// Returns an actor in the form that sessions use. The program of a session asks as that
    /// session.
    pub fn as_asker(&self, by: Actor) -> Asker {
        self.caller.session().map_or(Asker::Actor(by), |session| Asker::Session(session.clone()))
    }

    /// Returns the session whose program is the caller.
    ///
    /// # Errors
    /// [`SessionError`], if the session does not exist any more.
    pub fn own_session(&self) -> Result<Option<Status>, SessionError> {
        let Some(id) = self.caller.session() else { return Ok(None) };
        self.hall.sessions()?.find(id.as_str()).map(Some)
    }

    /// Returns the speaker of a message in a conversation. A session speaks as the participant that
    /// it was invited as, otherwise under its own name. Any other caller speaks as `by`.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist or cannot be read.
    pub async fn speaker_in(&self, stream: &StreamId, by: Actor) -> Result<Actor, AccessError> {
        match self.own_session()? {
            Some(status) => Ok(Actor::named(self.hall.participant_of(stream, &status).await?)),
            None => Ok(by),
        }
    }

    /// Returns the participant that the caller's credential names. For a session this is the
    /// participant that it was invited as, otherwise one with its own name; for a principal it is
    /// the principal's id.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist or cannot be read.
    async fn own_participant(
        &self,
        stream: &StreamId,
    ) -> Result<Option<ParticipantId>, AccessError> {
        match self.own_session()? {
            Some(status) => Ok(Some(self.hall.participant_of(stream, &status).await?)),
            None => Ok(self.caller.principal().map(|principal| principal.id.clone())),
        }
    }

    /// Returns the viewer that a program reads a conversation as. A session reads as its
    /// participant in the conversation. Other callers read as [`Door::sight`] says.
    ///
    /// # Errors
    /// [`AccessError`], if the conversation does not exist or cannot be read.
    pub async fn own_sight(&self, stream: &StreamId) -> Result<Viewer, AccessError> {
        match self.own_session()? {
            Some(status) => {
                Ok(Viewer::Participant(self.hall.participant_of(stream, &status).await?))
            }
            None => Ok(self.sight()?),
        }
    }

    /// Returns the viewer that a program reads as, apart from any conversation. A caller without a
    /// proof reads as a guest.
    ///
    /// # Errors
    /// [`AccessDenial::Name`].
    pub fn sight(&self) -> Result<Viewer, AccessDenial> {
        if self.caller.is_proven() { self.caller.viewer(None) } else { Ok(Viewer::Guest) }
    }
}

impl Hall {
    /// Returns the participant that a session speaks as in a conversation: the one it was invited
    /// as, otherwise one with the session's own name.
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
