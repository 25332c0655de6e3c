//! Checks of a command in its conversation, beyond the needs of its action (`door/action.rs`).

use moothall_kernel::command::{ClientCommand, Control, Invite};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::names;
use moothall_kernel::participant::{Address, Kind};
use moothall_kernel::planted::{self, Bypass};

use super::{AccessDenial, AccessError, Caller, Scope, SessionAction};
use crate::answers::HallError;
use crate::hall::Hall;
use crate::sessions::{ADDRESS as SESSION, SessionError};

/// A command that its caller may give in its conversation. Only [`Hall::permit`] makes one, and the
/// door carries out only these.
#[derive(Clone, Debug, PartialEq)]
pub struct PermittedCommand {
    stream: StreamId,
    command: ClientCommand,
}

impl PermittedCommand {
    /// Returns the command.
    pub fn command(&self) -> &ClientCommand {
        &self.command
    }

    /// Returns the conversation that the command is for.
    pub fn stream(&self) -> &StreamId {
        &self.stream
    }

    pub(crate) fn into_parts(self) -> (StreamId, ClientCommand) {
        (self.stream, self.command)
    }
}

/// Returns the invitations that a command carries.
fn invitations(command: &ClientCommand) -> Vec<&Invite> {
    let controls: &[Control] = match command {
        ClientCommand::Control { controls, .. } | ClientCommand::Gather { controls, .. } => {
            controls
        }
        ClientCommand::Post(_)
        | ClientCommand::PostCustom(_)
        | ClientCommand::Pass { .. }
        | ClientCommand::Archive { .. }
        | ClientCommand::Stop { .. }
        | ClientCommand::Cancel { .. }
        | ClientCommand::Publish { .. }
        | ClientCommand::CloseGathering { .. }
        | ClientCommand::Create { .. }
        | ClientCommand::Rename { .. }
        | ClientCommand::Delete { .. }
        | ClientCommand::Redact { .. }
        | ClientCommand::AnswerPermission { .. } => &[],
    };
    let invites = controls.iter().filter_map(|control| match control {
        Control::Invite(invite) => Some(invite),
        Control::Uninvite(_)
        | Control::Prod(_)
        | Control::Mute(_)
        | Control::Unmute(_)
        | Control::Pause(_)
        | Control::Resume
        | Control::Discussion { .. }
        | Control::InvitedAuto(_)
        | Control::Confirm
        | Control::Policy(_)
        | Control::PolicyNamed(_)
        | Control::Config(_)
        | Control::Hold(_)
        | Control::Release(_)
        | Control::BindChat(_)
        | Control::UnbindChat(_)
        | Control::RaiseBudget { .. } => None,
    });
    invites.collect()
}

/// True if an invitation brings a terminal, moves one, or changes whose words reach it.
fn grants_a_terminal(invite: &Invite) -> bool {
    invite.address.is_some() || invite.facts.abilities.lives_in_session || invite.reach.is_some()
}

/// True if a command says, stops or steers something in its conversation. If all words of the
/// conversation are typed into a terminal, the caller of such a command must be allowed to drive
/// sessions ([`Hall::permit_typing`]).
fn reaches_participants(command: &ClientCommand) -> bool {
    match command {
        ClientCommand::Post(_)
        | ClientCommand::PostCustom(_)
        | ClientCommand::Pass { .. }
        | ClientCommand::Stop { .. }
        | ClientCommand::Cancel { .. }
        | ClientCommand::Publish { .. }
        | ClientCommand::Gather { .. }
        | ClientCommand::CloseGathering { .. }
        | ClientCommand::Control { .. }
        | ClientCommand::Archive { .. } => true,
        // A title is typed into no terminal. Erasing only removes words. Deleting stops turns too,
        // but it needs `threads:admin` with a credential. Answering a permission needs a scope of
        // its own.
        ClientCommand::Create { .. }
        | ClientCommand::Rename { .. }
        | ClientCommand::Delete { .. }
        | ClientCommand::Redact { .. }
        | ClientCommand::AnswerPermission { .. } => false,
    }
}

/// True if a caller without proof needs `agents:run` for this command, because the command can
/// cause new turns. The end of a gathering causes the harvester's turn. A pass is not among these
/// commands: it can cause the turn of the next speaker, but only in a gathering that began with a
/// permitted command, and an agent without the right to speak must be able to pass.
fn wakes(command: &ClientCommand) -> bool {
    match command {
        ClientCommand::Post(_)
        | ClientCommand::Gather { .. }
        | ClientCommand::CloseGathering { .. }
        | ClientCommand::Publish { .. } => true,
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
        | ClientCommand::AnswerPermission { .. } => false,
    }
}

/// Rejects the invitation of a session of another computer, unless its id is made of its name and
/// its computer. Under any other id, a session of this computer with the same name would speak as
/// that participant.
fn check_name_elsewhere(invite: &Invite) -> Result<(), SessionError> {
    let is_elsewhere = invite.address.as_ref().is_some_and(Address::is_elsewhere);
    let full_name = invite.full_name.as_deref().unwrap_or_default();
    let wanted = names::at_computer(full_name).map(|(name, computer)| names::id_at(name, computer));
    if !is_elsewhere || wanted.as_ref() == Some(&invite.participant) {
        return Ok(());
    }
    let why = match wanted {
        Some(id) => format!("A session of another computer takes part as `{id}`."),
        None => "A session of another computer is invited as `name@computer`.".to_owned(),
    };
    Err(SessionError::Invalid(why))
}

impl Hall {
    /// Checks that the caller may begin another conversation, and counts it for an agent. A proven
    /// agent may begin a limited number per hour. Other callers have no such limit.
    pub(crate) fn may_begin(&self, caller: &Caller) -> Result<(), AccessDenial> {
        match caller.principal().filter(|_| caller.is_agent()) {
            Some(agent) if !self.inner.begun.admit(&agent.id, self.now()) => {
                Err(AccessDenial::Begun)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Rejects words and commands of a caller that may not drive sessions, in a conversation whose
    /// words are all typed into a terminal. An agent also needs to have met each session in that
    /// conversation. In other conversations, the person who invited the session allowed that the
    /// words of every writer reach it. (docs/security.md, "Whose words reach a terminal")
    async fn permit_typing(&self, caller: &Caller, stream: &StreamId) -> Result<(), AccessError> {
        if planted::is_open(Bypass::Typing) {
            return Ok(());
        }
        let home = self.inner.residents.is_home(stream);
        if !home && !self.inner.conversation_flags(stream).await?.is_for_drivers {
            return Ok(());
        }
        caller.must_prove(Scope::SessionsDrive)?;
        if !caller.is_agent() {
            return Ok(());
        }
        // An agent that drives sessions still has to have met each session in this conversation.
        let sessions = self.view(stream, |state| {
            let addresses = state.participants().iter().filter_map(|one| one.address.as_ref());
            let sessions = addresses.filter(|address| address.kind == SESSION);
            sessions.map(|address| address.here(SESSION).map(str::to_owned)).collect::<Vec<_>>()
        });
        let sessions = sessions.await?;
        let own = caller.session().map(ToString::to_string);
        // As a member, the calling session has met the members of other computers.
        let is_member = own.is_some() && sessions.contains(&own);
        for session in sessions {
            let Some(session) = session else {
                if is_member {
                    continue;
                }
                return Err(AccessDenial::Person("write to a session of another computer").into());
            };
            self.permit_over(caller, SessionAction::Telling, &session).await?;
        }
        Ok(())
    }

    /// Rejects an agent that adds a new person to a gathering, whom the server does not know. For a
    /// plain invitation the kernel decides this.
    pub(super) fn permit_person(
        &self,
        caller: &Caller,
        invite: &Invite,
    ) -> Result<(), AccessDenial> {
        let creates = caller.is_agent() && invite.profile.creates_a_person(invite.principal);
        if creates && !planted::is_open(Bypass::Seating) {
            return Err(AccessDenial::Person(
                "add a person to a gathering whom the server does not know",
            ));
        }
        Ok(())
    }

    /// Rejects an invitation that opens a way to a terminal, unless the caller drives sessions. An
    /// agent may invite only sessions of this computer that it may write to, and may not choose
    /// whose words reach them. Only a person may invite a client that gets a session with its first
    /// turn, because the invitation of an agent would start a program without asking a person.
    pub(super) async fn permit_granting(
        &self,
        caller: &Caller,
        invite: &Invite,
    ) -> Result<(), AccessError> {
        if !grants_a_terminal(invite) || planted::is_open(Bypass::Granting) {
            return Ok(());
        }
        caller.must_prove(Scope::SessionsDrive)?;
        check_name_elsewhere(invite)?;
        if !caller.is_agent() {
            return Ok(());
        }
        // Otherwise a session could widen its own grant by inviting itself again.
        if invite.reach.is_some() {
            return Err(AccessDenial::Person("choose whose messages reach a terminal").into());
        }
        match &invite.address {
            Some(address) if address.kind == SESSION => match address.here(SESSION) {
                Some(session) => {
                    self.permit_over(caller, SessionAction::Telling, session).await.map(drop)
                }
                None => Err(AccessDenial::Person("invite a session of another computer").into()),
            },
            None if invite.facts.abilities.lives_in_session => {
                Err(AccessDenial::Person("invite a terminal agent that has no session yet").into())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Rejects a caller without `agents:run` if a participant of the conversation runs programs. A
    /// caller without a credential lacks that scope if the system cannot tell which user's process
    /// sent the request.
    async fn permit_programs(&self, caller: &Caller, stream: &StreamId) -> Result<(), AccessError> {
        let programs = caller.must(Scope::AgentsRun).is_err()
            && self.inner.conversation_flags(stream).await?.runs_programs;
        let programs = programs && !planted::is_open(Bypass::Spending);
        if programs { Err(AccessDenial::Proof(Scope::AgentsRun).into()) } else { Ok(()) }
    }

    /// Returns the command as permitted. Adds the names that the server knows to its invitations,
    /// and the caller's credential to a post. Each way to a terminal, to a program and to money
    /// passes these checks.
    ///
    /// # Errors
    /// [`AccessError`].
    pub(crate) async fn permit(
        &self,
        caller: &Caller,
        stream: &StreamId,
        mut command: ClientCommand,
    ) -> Result<PermittedCommand, AccessError> {
        if let ClientCommand::Control { controls, .. } | ClientCommand::Gather { controls, .. } =
            &mut command
        {
            for control in controls {
                if let Control::Invite(invite) = control {
                    self.learn_names(invite).await?;
                }
            }
        }
        for invite in invitations(&command) {
            if matches!(command, ClientCommand::Gather { .. }) {
                self.permit_person(caller, invite)?;
            }
            self.permit_granting(caller, invite).await?;
        }
        if reaches_participants(&command) {
            self.permit_typing(caller, stream).await?;
        }
        if wakes(&command) && !caller.is_proven() {
            self.permit_programs(caller, stream).await?;
        }
        if let ClientCommand::Post(post) = &mut command {
            post.credential = caller.token().map(ToString::to_string);
        }
        Ok(PermittedCommand { stream: stream.clone(), command })
    }

    /// Returns the kind of the principal that has this id, or an agent's kind if a living session
    /// has it.
    pub(crate) async fn known_as(&self, id: &ParticipantId) -> Result<Option<Kind>, HallError> {
        let kept = self.inner.store.principals.principal(id).await?;
        let session = || self.inner.residents.has_living(id);
        Ok(kept.map(|principal| principal.kind).or_else(|| session().then_some(Kind::Agent)))
    }
}
