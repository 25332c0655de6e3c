//! Registered agents: listing them, revoking their keys, and freeing their names.

use moothall_kernel::ids::ParticipantId;

use super::{Access, AccessError, AgentCard, AuditAction, Caller, Registration};
use crate::answers::HallError;

impl Access {
    /// Returns at most `limit` registered agents, in the order of their names. With `after`, begins
    /// after that name.
    ///
    /// # Errors
    /// [`HallError`], if the agents cannot be read.
    pub async fn registrations(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Registration>, HallError> {
        Ok(self.principals().registrations(after, limit).await?)
    }

    /// Revokes all keys of a registered agent, which is named by its name or id. Its connections
    /// close. The agent keeps its name. Returns the agent, and the number of keys that were valid.
    ///
    /// # Errors
    /// [`AccessError::UnknownAgent`].
    pub async fn revoke_agent(
        &self,
        by: &Caller,
        word: &str,
    ) -> Result<(AgentCard, usize), AccessError> {
        let card = self.hall.card_of(word).await?;
        let entry = self
            .entry(by, AuditAction::AgentRevoked)
            .saying(format!("{} as {}", card.name, card.id));
        let revoked = self.principals().revoke_all(&card.id, self.hall.now(), &entry).await;
        let revoked = revoked.map_err(HallError::from)?;
        self.tell_revoked(&revoked);
        Ok((card, revoked.len()))
    }

    /// Frees the name of a registered agent and revokes its keys. The next agent of this name gets
    /// a new id, so it gets none of the old agent's apps, tasks and claims.
    ///
    /// # Errors
    /// [`AccessError::UnknownAgent`].
    pub async fn free_agent(&self, by: &Caller, word: &str) -> Result<AgentCard, AccessError> {
        let card = self.hall.card_of(word).await?;
        let entry = self
            .entry(by, AuditAction::AgentFreed)
            .saying(format!("{} was {}", card.name, card.id));
        let freed = self.principals().free_card(&card.id, self.hall.now(), &entry).await;
        let revoked = freed.map_err(HallError::from)?;
        self.tell_revoked(&revoked.ok_or_else(|| AccessError::UnknownAgent(word.to_owned()))?);
        Ok(card)
    }
}

impl crate::hall::Hall {
    /// Returns the registered agent with this id or name.
    pub(crate) async fn card_of(&self, word: &str) -> Result<AgentCard, AccessError> {
        let principals = &self.inner.store.principals;
        let by_id = principals.cards(&[ParticipantId::new(word)]).await.map_err(HallError::from)?;
        let by_name = principals.cards_named(&[word.to_owned()]).await.map_err(HallError::from)?;
        let unknown = || AccessError::UnknownAgent(word.to_owned());
        by_id.into_iter().chain(by_name).next().ok_or_else(unknown)
    }
}
