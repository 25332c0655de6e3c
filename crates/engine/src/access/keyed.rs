//! Names that need a key. A request under a registered agent's id or name needs that agent's key,
//! in local mode too.

use moothall_kernel::command::{Actor, ClientCommand};
use moothall_kernel::ids::ParticipantId;
use uuid::Uuid;

use super::{AccessDenial, AccessError, Caller};
use crate::hall::Hall;

/// Returns the participant in whose name a command is given.
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
    /// Rejects a command of a caller without a credential in the name of a registered agent.
    pub(crate) async fn permit_speaker(
        &self,
        caller: &Caller,
        command: &ClientCommand,
    ) -> Result<(), AccessError> {
        self.permit_name(caller, &speaker(command).id).await
    }

    /// Rejects an act of a caller without a credential in the name of a registered agent. The name
    /// that a caller with a credential gives was compared with its principal before, so it is not
    /// looked up.
    pub(crate) async fn permit_name(
        &self,
        caller: &Caller,
        named: &ParticipantId,
    ) -> Result<(), AccessError> {
        if caller.is_proven() || named.as_str() == ParticipantId::USER {
            return Ok(());
        }
        if self.is_registered(named).await? {
            return Err(AccessDenial::Registered(named.clone()).into());
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
