//! Names that look alike: the one place that knows all principals, agents and clients that a name
//! could be taken for. The kernel compares the participants of a conversation, and gets this answer
//! as a fact.

use moothall_kernel::command::{Invite, NameConflict};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::names::NameLook;
use uuid::Uuid;

use crate::answers::HallError;
use crate::hall::Hall;

impl Hall {
    /// Returns another's name that a reader could confuse with `name`, if the server knows one: the
    /// name of a principal, a registered agent, or an agent of the registry. Names of the principal
    /// `own` and the registry's agent `client` do not count.
    pub(crate) async fn resembled(
        &self,
        name: &str,
        own: &ParticipantId,
        client: Option<&str>,
    ) -> Result<Option<String>, HallError> {
        let look = NameLook::of(name);
        let others = self.inner.store.principals.names().await?;
        // A registered agent is a principal under its UUID, and only another UUID can be confused
        // with that.
        let is_id = Uuid::try_parse(name).is_ok();
        let others = others
            .into_iter()
            .filter(|(taken, of)| of != own && (is_id || Uuid::try_parse(taken).is_err()));
        let mut others = others.map(|(taken, _)| taken);
        if let Some(taken) = others.find(|taken| look.is_like(&NameLook::of(taken))) {
            return Ok(Some(taken));
        }
        let registry = self.registry();
        let clients = registry.iter().map(|spec| spec.client.as_str());
        let mut clients = clients.filter(|known| Some(*known) != client);
        Ok(clients.find(|known| look.is_like(&NameLook::of(known))).map(str::to_owned))
    }

    /// Returns the id or name of another participant of a conversation that a reader could confuse
    /// with this id.
    pub(crate) async fn resembled_in(
        &self,
        stream: &StreamId,
        name: &ParticipantId,
    ) -> Result<Option<String>, HallError> {
        let (look, own) = (NameLook::of(name.as_str()), name.clone());
        self.view(stream, move |state| {
            let others = state.participants().iter().filter(|one| one.id != own);
            let mut names = others.flat_map(|one| [one.id.as_str(), one.name()]);
            names.find(|taken| look.is_like(&NameLook::of(taken))).map(str::to_owned)
        })
        .await
    }

    /// Adds to an invitation the facts that the server knows about its names: the kind of the
    /// principal that has the id, and a conflict if the id or the nickname resembles another's
    /// name.
    pub(crate) async fn learn_names(&self, invite: &mut Invite) -> Result<(), HallError> {
        let id = ParticipantId::new(invite.participant.trim());
        invite.principal = self.known_as(&id).await?.or(invite.principal);
        let client = invite.profile.client.as_deref();
        let nickname = invite.profile.nickname.as_deref();
        for name in [Some(id.as_str()), nickname].into_iter().flatten() {
            // An id may be the name of an agent of the registry, which does not resemble itself.
            let client = if self.registry().get(name).is_some() { Some(name) } else { client };
            if let Some(taken) = self.resembled(name, &id, client).await? {
                let resembled = NameConflict { name: name.to_owned(), taken };
                invite.resembles = Some(Box::new(resembled));
                return Ok(());
            }
        }
        Ok(())
    }
}
