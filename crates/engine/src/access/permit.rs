//! What a command needs, beyond what its route needs.

use moothall_kernel::command::{Command, Control};
use moothall_kernel::ids::StreamId;

use super::{AccessError, Caller, Denied, Scope};
use crate::hall::Hall;

/// What somebody has to show.
enum Need {
    Scope(Scope),
    Proof(Scope),
}

/// What each command of somebody outside needs. Those that only the engine gives need nothing: no surface can send them.
fn needs(command: &Command) -> Vec<Need> {
    match command {
        Command::Create { .. } | Command::Rename { .. } | Command::Post(_) | Command::Keep { .. } | Command::Pass { .. } => {
            vec![Need::Scope(Scope::ThreadsWrite)]
        }
        Command::Archive { .. } => vec![Need::Scope(Scope::ThreadsAdmin)],
        Command::Redact { .. } => vec![Need::Proof(Scope::ThreadsAdmin)],
        Command::Stop { .. } | Command::Cancel { .. } | Command::Publish { .. } => vec![Need::Scope(Scope::TurnsControl)],
        Command::Gather { .. } | Command::CloseGathering { .. } => vec![Need::Scope(Scope::TurnsControl)],
        Command::AnswerPermission { .. } => vec![Need::Proof(Scope::PermissionsAnswer)],
        Command::Control { controls, .. } => controls.iter().map(|control| Need::Scope(of_control(control))).collect(),
        Command::Started { .. }
        | Command::Finished { .. }
        | Command::Lost { .. }
        | Command::Summarise { .. }
        | Command::AskPermission { .. }
        | Command::Tick
        | Command::Resume { .. }
        | Command::Facts { .. } => Vec::new(),
    }
}

const fn of_control(control: &Control) -> Scope {
    match control {
        Control::Invite(_) | Control::Uninvite(_) => Scope::ParticipantsInvite,
        Control::Prod(_) => Scope::AgentsRun,
        Control::Mute(_)
        | Control::Unmute(_)
        | Control::Pause(_)
        | Control::Resume
        | Control::Discussion { .. }
        | Control::InvitedAuto(_)
        | Control::Policy(_)
        | Control::Config(_) => Scope::TurnsControl,
        Control::Bind(_) | Control::Unbind(_) => Scope::ThreadsAdmin,
    }
}

impl Hall {
    /// Gives the command back if this caller may give it.
    ///
    /// A guard that holds the floor is lifted by nobody who cannot show a credential: an agent on this computer could otherwise lift
    /// what was meant to stop it. Where no guard holds, `resume` of such a caller ends a pause and nothing else, so that it cannot
    /// come in the moment after one has begun to hold.
    ///
    /// # Errors
    /// [`AccessError::Denied`], or [`AccessError::Hall`] when the conversation does not exist or cannot be read.
    pub async fn permit(&self, caller: &Caller, stream: &StreamId, mut command: Command) -> Result<Command, AccessError> {
        for need in needs(&command) {
            match need {
                Need::Scope(scope) => caller.must(scope)?,
                Need::Proof(scope) => caller.must_prove(scope)?,
            }
        }
        if let Command::Control { controls, .. } = &mut command
            && !caller.is_proven()
            && controls.contains(&Control::Resume)
        {
            if self.view(stream, |state| state.held().is_some()).await? {
                return Err(Denied::Proof(Scope::TurnsControl).into());
            }
            controls.iter_mut().filter(|control| **control == Control::Resume).for_each(|control| *control = Control::Pause(false));
        }
        Ok(command)
    }
}
