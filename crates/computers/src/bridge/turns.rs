//! The requests of rows about conversations over several computers: memberships, and turns.

use moothall_engine::computers::{
    HostedState, RefusedRow, RemoteEnd, RemoteOffer, RemotePlace, RemoteRefusal, RemoteTurn,
};
use moothall_engine::ports::LogError;
use moothall_engine::residents::{ResidentHall, TakenRow};
use moothall_engine::sessions::{ADDRESS, SessionId};
use moothall_engine::stream::{ItemBody, Taking};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Command, Control, EngineCommand};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::link::PartReason;
use moothall_kernel::participant::Participant;

use super::inbound::RowReader;

impl RowReader<'_> {
    /// Returns the request to note that a session here takes part in a conversation of the caller.
    pub(super) fn placed(&self, taking: Taking, place: RemotePlace) -> TakenRow {
        let about =
            RefusedRow::Place { stream: place.stream.clone(), session: place.session.clone() };
        let taking = taking.about(Some(about));
        match self.hall.place_from(self.caller, place, &self.own) {
            Ok((session, joined)) => {
                decided(taking, session, EngineCommand::Join(Box::new(joined)))
            }
            Err(refusal) => refused(taking, &refusal),
        }
    }

    /// Returns the request to end that membership.
    pub(super) fn left(
        &self,
        taking: Taking,
        (stream, session, why): (StreamId, SessionId, PartReason),
    ) -> TakenRow {
        let computer = self.caller.computer.clone();
        let part = EngineCommand::Part { computer, stream, why };
        decided(taking.without_refusal(), session, part)
    }

    /// Returns the request to take a turn that the caller offers.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn offered(
        &self,
        taking: Taking,
        offer: RemoteOffer,
    ) -> Result<TakenRow, LogError> {
        let taking = taking.about(Some(RefusedRow::Turn(offer.turn.clone())));
        let (computer, stream) = (self.caller.computer.clone(), offer.turn.stream.clone());
        // `None` if it joins by a row before this one, which is not decided yet.
        let is_link = self
            .read(&offer.session, move |state| {
                state.joined_on(&computer, &stream).map(|joined| joined.link)
            })
            .await?
            .flatten();
        Ok(match self.hall.offer_from(self.caller, offer, is_link) {
            Ok((session, hosted, text)) => {
                decided(taking, session, EngineCommand::Host { hosted: Box::new(hosted), text })
            }
            Err(refusal) => refused(taking, &refusal),
        })
    }

    /// Returns the request to end a turn here that the caller has ended.
    pub(super) fn ended_there(
        &self,
        taking: Taking,
        (turn, session, lapse): (RemoteTurn, SessionId, bool),
    ) -> TakenRow {
        let key = turn.hosted(&self.caller.computer);
        decided(taking.without_refusal(), session, EngineCommand::Unhost { key, lapse })
    }

    /// Returns the request to tell the caller the state of its turn.
    pub(super) fn probed(&self, taking: Taking, turn: RemoteTurn, session: SessionId) -> TakenRow {
        let taking = taking.about(Some(RefusedRow::Turn(turn.clone())));
        let wanted = ItemBody::Probing(turn.hosted(&self.caller.computer));
        TakenRow { stream: Some(session), wanted, ..TakenRow::without_effect(taking) }
    }

    /// Returns the request to note that the caller's session began a turn.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn begun(
        &self,
        taking: Taking,
        at: RemoteTurn,
        through: Seq,
    ) -> Result<TakenRow, LogError> {
        let RemoteTurn { turn, attempt, .. } = at;
        let started = EngineCommand::Started { turn, attempt, through };
        self.about_own(taking, at, ItemBody::Decision(started.into())).await
    }

    /// Returns the request to end a turn of the caller's session.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn ended(&self, taking: Taking, end: RemoteEnd) -> Result<TakenRow, LogError> {
        let (at, usage) = (end.turn.clone(), end.usage);
        self.finished(taking, at, end.result(), usage).await
    }

    /// Returns the request to end a turn that the caller refused.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn turn_refused(
        &self,
        taking: Taking,
        at: RemoteTurn,
        fault: Fault,
    ) -> Result<TakenRow, LogError> {
        self.finished(taking, at, Err(fault), Usage::default()).await
    }

    async fn finished(
        &self,
        taking: Taking,
        at: RemoteTurn,
        result: Result<String, Fault>,
        usage: Usage,
    ) -> Result<TakenRow, LogError> {
        let RemoteTurn { turn, attempt, .. } = at;
        let finished = EngineCommand::Finished { turn, attempt, result, usage };
        self.about_own(taking, at, ItemBody::Decision(finished.into())).await
    }

    /// Returns the request of an answer about the state of a turn.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn stands(
        &self,
        taking: Taking,
        at: RemoteTurn,
        state: HostedState,
    ) -> Result<TakenRow, LogError> {
        match state {
            HostedState::Waiting | HostedState::Running => {
                Ok(TakenRow::without_effect(taking.without_refusal()))
            }
            HostedState::Unknown => {
                let RemoteTurn { turn, attempt, .. } = at;
                self.about_own(taking, at, ItemBody::Missing { turn, attempt }).await
            }
        }
    }

    /// Returns the request to take a session of the caller out of a conversation: its computer
    /// refused the membership.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn place_refused(
        &self,
        taking: Taking,
        stream: StreamId,
        session: SessionId,
    ) -> Result<TakenRow, LogError> {
        let computer = self.caller.computer.to_string();
        let member = move |state: &Conversation| {
            let is_it = |one: &&Participant| {
                one.address.as_ref().is_some_and(|address| {
                    address.computer == computer
                        && address.kind == ADDRESS
                        && address.local_id == session.as_str()
                })
            };
            state.agents().find(is_it).map(|one| one.id.to_string())
        };
        let Some(member) = self.read(&stream, member).await?.flatten() else {
            return Ok(TakenRow::without_effect(taking));
        };
        let by = Actor::human(ParticipantId::moothall());
        let uninvite = ClientCommand::Control { controls: vec![Control::Uninvite(member)], by };
        Ok(decided(taking, stream, uninvite))
    }

    /// Returns a request about a turn of this computer, if a session of the caller has or had it.
    /// Otherwise the row has no effect: a computer ends no turns but those of its own sessions.
    async fn about_own(
        &self,
        taking: Taking,
        at: RemoteTurn,
        wanted: ItemBody,
    ) -> Result<TakenRow, LogError> {
        let taking = taking.without_refusal();
        let (computer, no) = (self.caller.computer.to_string(), at.turn);
        let is_theirs = self.read(&at.stream, move |state| owns(state, no, &computer)).await?;
        let row = TakenRow::without_effect(taking);
        Ok(match is_theirs {
            Some(true) => TakenRow { stream: Some(at.stream), wanted, ..row },
            Some(false) | None => row,
        })
    }

    /// Reads the state of a conversation; `None` if it is gone.
    async fn read<T: Send + 'static>(
        &self,
        stream: &StreamId,
        question: impl FnOnce(&Conversation) -> T + Send + 'static,
    ) -> Result<Option<T>, LogError> {
        let closed = || LogError::Failed("the hall is closed".into());
        let hall: ResidentHall = self.hall.weak().enter().ok_or_else(closed)?;
        match hall.view(stream, question).await {
            Ok(read) => Ok(Some(read)),
            Err(error) if error.is_gone() => Ok(None),
            Err(error) => Err(LogError::Failed(error.to_string())),
        }
    }
}

/// True if the participant of a turn is a session of this computer.
fn owns(state: &Conversation, turn: TurnNo, computer: &str) -> bool {
    let owner = state.turn_owner(turn).and_then(|owner| state.participant(&owner)?.address.clone());
    owner.is_some_and(|address| address.kind == ADDRESS && address.computer == computer)
}

/// Returns the request to decide a command.
fn decided(taking: Taking, stream: StreamId, command: impl Into<Command>) -> TakenRow {
    let wanted = ItemBody::Decision(command.into());
    TakenRow { stream: Some(stream), wanted, ..TakenRow::without_effect(taking) }
}

fn refused(taking: Taking, refusal: &RemoteRefusal) -> TakenRow {
    TakenRow::refused(taking, refusal.kind.code(), &refusal.message)
}
