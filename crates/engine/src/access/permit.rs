//! What a command needs in its conversation, beyond what its action needs (`door/action.rs`).

use moothall_kernel::command::{ClientCommand, Control};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::Kind;

use super::{AccessError, Caller, Denied, Scope, SessionAct};
use crate::answers::HallError;
use crate::hall::Hall;
use crate::sessions::ADDRESS as SESSION;

/// Whether an invitation brings a terminal along: a session that there is, or one that is started
/// with the first turn.
fn invites_a_terminal(control: &Control) -> bool {
    match control {
        Control::Invite(invite) => {
            invite.address.is_some() || invite.facts.abilities.lives_in_session
        }
        Control::Uninvite(_)
        | Control::Prod(_)
        | Control::Mute(_)
        | Control::Unmute(_)
        | Control::Pause(_)
        | Control::Resume
        | Control::Discussion { .. }
        | Control::InvitedAuto(_)
        | Control::Policy(_)
        | Control::PolicyNamed(_)
        | Control::Config(_)
        | Control::Bind(_)
        | Control::Unbind(_)
        | Control::RaiseBudget { .. } => false,
    }
}

/// Whether it may make agents take turns now.
fn wakes(command: &ClientCommand) -> bool {
    match command {
        ClientCommand::Post(_) | ClientCommand::Gather { .. } | ClientCommand::Publish { .. } => {
            true
        }
        ClientCommand::Control { controls, .. } => controls.iter().any(|control| {
            matches!(
                control,
                Control::Prod(_) | Control::Resume | Control::Pause(false) | Control::Unmute(_)
            )
        }),
        ClientCommand::Create { .. }
        | ClientCommand::Rename { .. }
        | ClientCommand::PostCustom { .. }
        | ClientCommand::Pass { .. }
        | ClientCommand::Archive { .. }
        | ClientCommand::Delete { .. }
        | ClientCommand::Redact { .. }
        | ClientCommand::Stop { .. }
        | ClientCommand::Cancel { .. }
        | ClientCommand::CloseGathering { .. }
        | ClientCommand::AnswerPermission { .. } => false,
    }
}

impl Hall {
    /// Whether somebody may begin one more conversation: people always, agents so many within an
    /// hour.
    pub(crate) fn may_begin(&self, caller: &Caller) -> Result<(), Denied> {
        match caller.principal().filter(|_| caller.is_agent()) {
            Some(agent) if !self.inner.begun.admit(&agent.id, self.now()) => Err(Denied::Begun),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether somebody may speak, stop or steer where everything that is said is typed into
    /// terminals: at the home of a session, and in a link. In other conversations the words of
    /// anybody who may write there reach the sessions that a person invited.
    async fn permit_typing(&self, caller: &Caller, stream: &StreamId) -> Result<(), AccessError> {
        let typed = !caller.is_proven()
            && (self.inner.residents.is_home(stream) || self.inner.shown(stream).await?.is_link);
        if typed { Err(Denied::Proof(Scope::SessionsDrive).into()) } else { Ok(()) }
    }

    /// An agent brings into a conversation only sessions that it may talk to. A client that gets a
    /// session with its first turn is a person's to invite: it would be started with nobody asked.
    async fn permit_agent(
        &self,
        caller: &Caller,
        command: &ClientCommand,
    ) -> Result<(), AccessError> {
        let ClientCommand::Control { controls, .. } = command else { return Ok(()) };
        for control in controls {
            let Control::Invite(invite) = control else { continue };
            match &invite.address {
                Some(address) if address.kind == SESSION => {
                    drop(self.permit_over(caller, SessionAct::Telling, &address.local_id).await?)
                }
                None if invite.facts.abilities.lives_in_session => {
                    return Err(Denied::Person(
                        "invite an agent that lives in a terminal and has none yet",
                    )
                    .into());
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// What somebody without a credential may not do by way of a conversation, because it reaches a
    /// terminal: invite a session or a client that gets one, and everything at the home of a
    /// session or in a link.
    async fn permit_unproven(
        &self,
        caller: &Caller,
        stream: &StreamId,
        command: &ClientCommand,
    ) -> Result<(), AccessError> {
        if let ClientCommand::Control { controls, .. } = command
            && controls.iter().any(invites_a_terminal)
        {
            return Err(Denied::Proof(Scope::SessionsDrive).into());
        }
        if !matches!(command, ClientCommand::Rename { .. }) {
            self.permit_typing(caller, stream).await?;
        }
        if wakes(command) { self.permit_programs(caller, stream).await } else { Ok(()) }
    }

    /// Whether somebody may make agents take turns here with words of others.
    pub(crate) async fn permit_waking(
        &self,
        caller: &Caller,
        stream: &StreamId,
    ) -> Result<(), AccessError> {
        if caller.is_proven() {
            return Ok(());
        }
        self.permit_typing(caller, stream).await?;
        self.permit_programs(caller, stream).await
    }

    /// Where the system does not say whose process asks (the scope `agents:run` is missing then),
    /// nothing runs a program.
    async fn permit_programs(&self, caller: &Caller, stream: &StreamId) -> Result<(), AccessError> {
        let programs =
            caller.must(Scope::AgentsRun).is_err() && self.inner.shown(stream).await?.runs_programs;
        if programs { Err(Denied::Proof(Scope::AgentsRun).into()) } else { Ok(()) }
    }

    /// Gives the command back if this caller may give it here, and says in it what the server knows
    /// somebody as who is invited.
    pub(crate) async fn permit(
        &self,
        caller: &Caller,
        stream: &StreamId,
        mut command: ClientCommand,
    ) -> Result<ClientCommand, AccessError> {
        if caller.is_agent() {
            self.permit_agent(caller, &command).await?;
        }
        if !caller.is_proven() {
            self.permit_unproven(caller, stream, &command).await?;
        }
        if let ClientCommand::Control { controls, .. } = &mut command {
            for control in controls {
                if let Control::Invite(invite) = control {
                    invite.principal =
                        self.known_as(&ParticipantId::new(invite.participant.trim())).await?;
                }
            }
        }
        Ok(command)
    }

    /// What the server knows an id as: a principal's kind, or a living session.
    pub(crate) async fn known_as(&self, id: &ParticipantId) -> Result<Option<Kind>, HallError> {
        let kept = self.inner.store.principals.principal(id).await?;
        let session = || self.inner.residents.has_living(id);
        Ok(kept.map(|principal| principal.kind).or_else(|| session().then_some(Kind::Agent)))
    }
}
