//! Names that need a key: what is done under a registered agent's id or name, that agent does with
//! its key, in local mode too.

use moothall_kernel::command::{Actor, ClientCommand};
use moothall_kernel::ids::ParticipantId;
use uuid::Uuid;

use super::{AccessError, Caller, Denied};
use crate::hall::Hall;

/// The participant in whose name a command is given.
fn speaker(command: &ClientCommand) -> &Actor {
    match command {
        ClientCommand::Post(post) => &post.by,
        ClientCommand::PostCustom(custom) => &custom.by,
        ClientCommand::Create { by, .. }
        | ClientCommand::Rename { by, .. }
        | ClientCommand::Archive { by, .. }
        | ClientCommand::Control { by, .. }
        | ClientCommand::Pass { by, .. }
        | ClientCommand::Stop { by, .. }
        | ClientCommand::Cancel { by, .. }
        | ClientCommand::Publish { by, .. }
        | ClientCommand::Delete { by, .. }
        | ClientCommand::Redact { by, .. }
        | ClientCommand::Gather { by, .. }
        | ClientCommand::CloseGathering { by, .. }
        | ClientCommand::AnswerPermission { by, .. } => by,
    }
}

impl Hall {
    /// Rejects a command in the name of a registered agent whose key was not shown.
    pub(crate) async fn permit_speaker(
        &self,
        caller: &Caller,
        command: &ClientCommand,
    ) -> Result<(), AccessError> {
        self.permit_name(caller, &speaker(command).id).await
    }

    /// The same for anything else that is done in a name. A credential is compared with the name
    /// before, so only a name without one is looked up.
    pub(crate) async fn permit_name(
        &self,
        caller: &Caller,
        named: &ParticipantId,
    ) -> Result<(), AccessError> {
        if caller.is_proven() || named.as_str() == ParticipantId::USER {
            return Ok(());
        }
        if self.is_registered(named).await? {
            return Err(Denied::Registered(named.clone()).into());
        }
        Ok(())
    }

    /// True if a registered agent has this id or name.
    async fn is_registered(&self, named: &ParticipantId) -> Result<bool, AccessError> {
        let principals = &self.inner.store.principals;
        let cards = match Uuid::try_parse(named.as_str()) {
            Ok(id) => principals.cards(&[ParticipantId::new(id.to_string())]).await,
            Err(_) => principals.cards_named(&[named.to_string()]).await,
        };
        Ok(!cards.map_err(crate::answers::HallError::from)?.is_empty())
    }
}
