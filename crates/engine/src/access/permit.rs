//! What a command needs, beyond what its route needs.

use moothall_kernel::Conversation;
use moothall_kernel::command::{Command, Control};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::Kind;

use super::{AccessError, Caller, Denied, Over, Scope};
use crate::hall::{Hall, HallError};
use crate::sessions::ADDRESS as SESSION;

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
        Command::Control { controls, .. } => controls.iter().map(of_control).collect(),
        Command::Started { .. }
        | Command::Finished { .. }
        | Command::Lost { .. }
        | Command::Summarise { .. }
        | Command::AskPermission { .. }
        | Command::AskStart { .. }
        | Command::StartDone { .. }
        | Command::WithdrawPermission { .. }
        | Command::Tick
        | Command::Resume { .. }
        | Command::Facts { .. } => Vec::new(),
    }
}

const fn of_control(control: &Control) -> Need {
    match control {
        Control::Invite(_) | Control::Uninvite(_) => Need::Scope(Scope::ParticipantsInvite),
        Control::Prod(_) => Need::Scope(Scope::AgentsRun),
        Control::Mute(_)
        | Control::Unmute(_)
        | Control::Pause(_)
        | Control::Resume
        | Control::Discussion { .. }
        | Control::InvitedAuto(_)
        | Control::Policy(_)
        | Control::Config(_) => Need::Scope(Scope::TurnsControl),
        Control::Bind(_) | Control::Unbind(_) => Need::Scope(Scope::ThreadsAdmin),
        Control::RaiseBudget { .. } => Need::Proof(Scope::TurnsControl),
    }
}

/// Whether an invitation brings a terminal along: a session that there is, or one that is started with the first turn.
fn invites_a_terminal(control: &Control) -> bool {
    match control {
        Control::Invite(invite) => invite.address.is_some() || invite.facts.abilities.lives_in_session,
        Control::Uninvite(_)
        | Control::Prod(_)
        | Control::Mute(_)
        | Control::Unmute(_)
        | Control::Pause(_)
        | Control::Resume
        | Control::Discussion { .. }
        | Control::InvitedAuto(_)
        | Control::Policy(_)
        | Control::Config(_)
        | Control::Bind(_)
        | Control::Unbind(_)
        | Control::RaiseBudget { .. } => false,
    }
}

/// Whether it may make agents take turns now.
fn wakes(command: &Command) -> bool {
    match command {
        Command::Post(_) | Command::Gather { .. } | Command::Publish { .. } => true,
        Command::Control { controls, .. } => controls
            .iter()
            .any(|control| matches!(control, Control::Prod(_) | Control::Resume | Control::Pause(false) | Control::Unmute(_))),
        Command::Create { .. }
        | Command::Rename { .. }
        | Command::Keep { .. }
        | Command::Pass { .. }
        | Command::Archive { .. }
        | Command::Redact { .. }
        | Command::Stop { .. }
        | Command::Cancel { .. }
        | Command::CloseGathering { .. }
        | Command::AnswerPermission { .. }
        | Command::Started { .. }
        | Command::Finished { .. }
        | Command::Lost { .. }
        | Command::Summarise { .. }
        | Command::AskPermission { .. }
        | Command::AskStart { .. }
        | Command::StartDone { .. }
        | Command::WithdrawPermission { .. }
        | Command::Tick
        | Command::Resume { .. }
        | Command::Facts { .. } => false,
    }
}

/// Whether somebody takes part whose turn is a run of a program.
fn has_programs(state: &Conversation) -> bool {
    state.participants().iter().any(|one| one.facts.abilities.runs_programs)
}

impl Hall {
    /// Whether somebody may speak, stop or steer where everything that is said is typed into terminals: at the home of a session, and in a
    /// link. In other conversations the words of anybody who may write there reach the sessions that a person invited.
    ///
    /// # Errors
    /// As for [`Hall::permit`].
    pub async fn permit_typing(&self, caller: &Caller, stream: &StreamId) -> Result<(), AccessError> {
        let typed = !caller.is_proven() && (self.inner.sessions.is_home(stream) || self.view(stream, Conversation::is_link).await?);
        if typed { Err(Denied::Proof(Scope::SessionsDrive).into()) } else { Ok(()) }
    }

    /// An agent brings into a conversation only sessions that it may talk to. A client that gets a session with its first turn is a person's
    /// to invite: it would be started with nobody asked.
    async fn permit_agent(&self, caller: &Caller, command: &Command) -> Result<(), AccessError> {
        let Command::Control { controls, .. } = command else { return Ok(()) };
        for control in controls {
            let Control::Invite(invite) = control else { continue };
            match &invite.address {
                Some(address) if address.kind == SESSION => drop(self.permit_over(caller, Over::Telling, &address.local_id).await?),
                None if invite.facts.abilities.lives_in_session => {
                    return Err(Denied::Person("invite an agent that lives in a terminal and has none yet").into());
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// What somebody without a credential may not do by way of a conversation, because it reaches a terminal: invite a session or a client
    /// that gets one, and everything at the home of a session or in a link.
    ///
    /// Where the system does not say whose process asks (the scope `agents:run` is missing then), nothing runs a program either.
    async fn permit_unproven(&self, caller: &Caller, stream: &StreamId, command: &Command) -> Result<(), AccessError> {
        if matches!(command, Command::Control { controls, .. } if controls.iter().any(invites_a_terminal)) {
            return Err(Denied::Proof(Scope::SessionsDrive).into());
        }
        if !matches!(command, Command::Rename { .. }) {
            self.permit_typing(caller, stream).await?;
        }
        if wakes(command) && caller.must(Scope::AgentsRun).is_err() && self.view(stream, has_programs).await? {
            return Err(Denied::Proof(Scope::AgentsRun).into());
        }
        Ok(())
    }

    /// Gives the command back if this caller may give it.
    ///
    /// What depends on the conversation, such as who lifts a guard or raises a limit, is the kernel's to decide: it knows who is proven. It
    /// is told here what the server knows somebody as who is invited.
    ///
    /// # Errors
    /// [`AccessError::Denied`], or [`AccessError::Hall`] when the conversation does not exist, or it or principals cannot be read.
    pub async fn permit(&self, caller: &Caller, stream: &StreamId, mut command: Command) -> Result<Command, AccessError> {
        for need in needs(&command) {
            match need {
                Need::Scope(scope) => caller.must(scope)?,
                Need::Proof(scope) => caller.must_prove(scope)?,
            }
        }
        if caller.is_agent() {
            self.permit_agent(caller, &command).await?;
        }
        if !caller.is_proven() {
            self.permit_unproven(caller, stream, &command).await?;
        }
        if let Command::Control { controls, .. } = &mut command {
            for control in controls {
                if let Control::Invite(invite) = control {
                    invite.principal = self.known_as(&ParticipantId::new(invite.participant.trim())).await?;
                }
            }
        }
        Ok(command)
    }

    /// What the server knows an id as: a principal's kind, or a living session.
    async fn known_as(&self, id: &ParticipantId) -> Result<Option<Kind>, HallError> {
        let kept = match self.inner.log.principals() {
            Some(principals) => principals.principal(id).await?,
            None => None,
        };
        let session = || self.sessions().ok().is_some_and(|sessions| sessions.has_living(id));
        Ok(kept.map(|principal| principal.kind).or_else(|| session().then_some(Kind::Agent)))
    }
}
