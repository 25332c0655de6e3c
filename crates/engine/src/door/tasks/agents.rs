//! Registered agents: connecting them, and the facts that they may read about each other.

use std::collections::BTreeMap;

use moothall_kernel::aggregate::CONVERSATION;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Timestamp;
use uuid::Uuid;

use crate::access::AccessDenial;
use crate::answers::HallError;
use crate::door::{Action, Door};
use crate::ports::AgentCard;
use crate::tasks::{AgentConnection, AgentLine, TaskError, wire_id};

/// A participant, as agents see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentView {
    /// The participant's id.
    pub id: Uuid,
    /// The participant's name.
    pub name: String,
    /// The agent's description of itself.
    pub description: Option<String>,
    /// The agent's owner.
    pub owner: Option<String>,
    /// When the agent registered; `None` for a participant that did not.
    pub registered_at: Option<Timestamp>,
}

impl From<AgentCard> for AgentView {
    fn from(card: AgentCard) -> Self {
        Self {
            id: wire_id(&card.id),
            name: card.name,
            description: card.description,
            owner: card.owner,
            registered_at: Some(card.created_at),
        }
    }
}

impl Door {
    /// Connects the agent that owns the caller's credential. Notices go to the connection from now
    /// on.
    ///
    /// # Errors
    /// [`TaskError`], if the caller is not a registered agent, or has too many connections.
    pub async fn attend(&self) -> Result<AgentConnection, TaskError> {
        self.may(Action::AttendTasks)?;
        let Some(principal) = self.caller.principal().filter(|own| own.kind == Kind::Agent) else {
            return Err(AccessDenial::Stranger.into());
        };
        let inner = &self.hall.inner;
        if self.cards(std::slice::from_ref(&principal.id)).await?.is_empty() {
            return Err(AccessDenial::Stranger.into());
        }
        let attendance = inner.tasks.enter(&principal.id).ok_or(TaskError::TooManyLines)?;
        inner.follow_all(&principal.id).await?;
        Ok(attendance)
    }

    /// Counts a request of a connected agent against its rate limit.
    ///
    /// # Errors
    /// [`TaskError::TooMany`].
    pub fn count_request(&self, own: &AgentLine, is_message: bool) -> Result<(), TaskError> {
        let taken = self.hall.inner.tasks.take_request(own.agent(), is_message);
        taken.map_err(TaskError::TooMany)
    }

    /// Returns the known facts of these participants: registered agents, and others that are or
    /// were in a conversation with the caller's agent. Unknown ids are left out.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn agents(&self, own: &AgentLine, ids: &[Uuid]) -> Result<Vec<AgentView>, TaskError> {
        self.may(Action::LookUpAgents)?;
        let registered: Vec<_> = ids.iter().map(|id| ParticipantId::new(id.to_string())).collect();
        let known = self.cards(&registered).await?.into_iter().map(AgentView::from);
        let mut known: BTreeMap<Uuid, AgentView> = known.map(|view| (view.id, view)).collect();
        if ids.iter().any(|id| !known.contains_key(id)) {
            for view in self.fellow_agents(own).await? {
                known.entry(view.id).or_insert(view);
            }
        }
        Ok(ids.iter().filter_map(|id| known.remove(id)).collect())
    }

    /// Returns the registered agents with these names.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn agents_named(&self, names: &[String]) -> Result<Vec<AgentView>, TaskError> {
        self.may(Action::LookUpAgents)?;
        let cards = self.hall.inner.store.principals.cards_named(names).await;
        Ok(cards.map_err(HallError::from)?.into_iter().map(Into::into).collect())
    }

    /// Returns the caller's agent first, then the other agents of its owner.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn own_agents(&self, own: &AgentLine) -> Result<Vec<AgentView>, TaskError> {
        self.may(Action::LookUpAgents)?;
        let mut cards = self.cards(std::slice::from_ref(own.agent())).await?;
        if let Some(owner) = cards.first().and_then(|card| card.owner.clone()) {
            let siblings = self.hall.inner.store.principals.cards_of(&owner).await;
            let siblings = siblings.map_err(HallError::from)?;
            cards.extend(siblings.into_iter().filter(|card| card.id != *own.agent()));
        }
        Ok(cards.into_iter().map(Into::into).collect())
    }

    /// Subscribes the connection to the presence of these agents. Returns each with true if it is
    /// connected now.
    ///
    /// # Errors
    /// [`TaskError`].
    pub fn watch_agents(
        &self,
        own: &AgentLine,
        agents: Vec<ParticipantId>,
    ) -> Result<Vec<(ParticipantId, bool)>, TaskError> {
        self.may(Action::LookUpAgents)?;
        Ok(self.hall.inner.tasks.watch(own.id(), agents))
    }

    /// Checks that all of these agents are registered.
    ///
    /// # Errors
    /// [`TaskError::UnknownAgent`], with the first agent that is not.
    pub(super) async fn known_agents(&self, agents: &[ParticipantId]) -> Result<(), TaskError> {
        let cards = self.cards(agents).await?;
        match agents.iter().find(|agent| !cards.iter().any(|card| card.id == **agent)) {
            None => Ok(()),
            Some(unknown) => Err(TaskError::UnknownAgent(unknown.clone())),
        }
    }

    async fn cards(&self, agents: &[ParticipantId]) -> Result<Vec<AgentCard>, TaskError> {
        let cards = self.hall.inner.store.principals.cards(agents).await;
        Ok(cards.map_err(HallError::from)?)
    }

    /// Returns all participants that may have spoken in the conversations that an agent is in.
    async fn fellow_agents(&self, own: &AgentLine) -> Result<Vec<AgentView>, TaskError> {
        let mut met = Vec::new();
        for conversation in self.hall.inner.memberships_of(own.agent(), Some(CONVERSATION)).await? {
            let here = self.hall.view(&conversation, |state| {
                let view = |(id, name): (ParticipantId, &str)| AgentView {
                    id: wire_id(&id),
                    name: name.to_owned(),
                    description: None,
                    owner: None,
                    registered_at: None,
                };
                state.known_speakers().map(view).collect::<Vec<_>>()
            });
            met.extend(here.await?);
        }
        Ok(met)
    }
}
