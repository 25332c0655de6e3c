//! The requests of rows about conversations over several computers: memberships, and turns.

use moothall_engine::access::{MESSAGE_BYTES_MAX, RemoteRight};
use moothall_engine::agent::{Report, TurnKey};
use moothall_engine::computers::{
    HostedState, RefusedRow, RemoteEnd, RemoteOffer, RemotePermission, RemotePlace, RemoteRefusal,
    RemoteTurn, RemoteWait,
};
use moothall_engine::outbox::StreamCommand;
use moothall_engine::ports::LogError;
use moothall_engine::residents::{ResidentHall, TakenRow};
use moothall_engine::sessions::{ADDRESS, SessionId};
use moothall_engine::stream::{ItemBody, Taking};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Command, Control, EngineCommand};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, StreamId, TurnNo};
use moothall_kernel::link::{JoinedConversation, PartReason};
use moothall_kernel::participant::{Address, Participant};
use moothall_kernel::permission::WithdrawalReason;
use moothall_kernel::{names, text};

use super::inbound::{PlannedRow, RowReader};

impl RowReader<'_> {
    /// Returns the request to note that a session here takes part in a conversation of the caller.
    /// If the conversation is a link, its other members get the session's answers there. So the
    /// waits of these members for the session end. (SC-3)
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn placed(
        &self,
        taking: Taking,
        place: RemotePlace,
    ) -> Result<PlannedRow, LogError> {
        let (stream, session) = (place.stream.clone(), place.session.clone());
        let taking = taking.about(Some(RefusedRow::Place { stream, session }));
        match self.hall.place_from(self.caller, place, &self.own) {
            Ok((session, joined)) => {
                let ends = self.waits_in(&session, &joined).await?;
                let row = decided(taking, session, EngineCommand::Join(Box::new(joined)));
                Ok(PlannedRow { ends, ..row.into() })
            }
            Err(refusal) => Ok(refused(taking, &refusal).into()),
        }
    }

    /// Returns the waits of a link's members for a session here; none if the conversation is not a
    /// link.
    async fn waits_in(
        &self,
        session: &SessionId,
        link: &JoinedConversation,
    ) -> Result<Vec<(SessionId, SessionId)>, LogError> {
        if !link.link {
            return Ok(Vec::new());
        }
        let listeners = self.open_hall()?.store().sessions.listeners(session).await?;
        let is_member = |listener: &SessionId| {
            let Some((computer, wait)) = RemoteWait::of_listener(listener) else { return false };
            link.members.iter().any(|member| {
                member.address.computer == computer.as_str()
                    && member.address.local_id == wait.waiter.as_str()
            })
        };
        let over = listeners.into_iter().filter(is_member);
        Ok(over.map(|listener| (session.clone(), listener)).collect())
    }

    /// Returns the request to end the membership of a session here in a conversation of the caller.
    pub(super) fn left(
        &self,
        taking: Taking,
        (stream, session, why): (StreamId, SessionId, PartReason),
    ) -> TakenRow {
        let computer = self.caller.computer.clone();
        let part = EngineCommand::Part { computer, stream, why };
        decided(taking.without_refusal(), session, part)
    }

    /// Returns the request to say the words of a session of the caller in a link of this computer.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn words(
        &self,
        taking: Taking,
        stream: StreamId,
        (at, text, typed): (SessionId, String, bool),
        elsewhere: Vec<Address>,
    ) -> Result<TakenRow, LogError> {
        // The right may have been withdrawn since the link was made.
        if let Err(refusal) = self.caller.must(RemoteRight::Link) {
            return Ok(refused(taking, &refusal));
        }
        let text = text::clean(&text);
        if text::is_empty_looking(&text) || text.len() > MESSAGE_BYTES_MAX {
            let why =
                format!("Words have some visible text, and at most {MESSAGE_BYTES_MAX} bytes.");
            return Ok(TakenRow::refused(taking, "invalid_message", &why));
        }
        let elsewhere = elsewhere.into_iter().map(|address| self.local(address)).collect();
        let say = StreamCommand::Say { at: self.address(&at), text, typed, elsewhere };
        Ok(match self.as_member(&stream, say).await? {
            Some(command) => decided(taking, stream, command),
            None => not_a_member(taking),
        })
    }

    /// Returns the request to archive a link of this computer for a session of the caller. The row
    /// has no effect if that session is not a member of an open link.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn closed(
        &self,
        taking: Taking,
        stream: StreamId,
        session: SessionId,
    ) -> Result<TakenRow, LogError> {
        let taking = taking.without_refusal();
        let leave = StreamCommand::Leave { at: self.address(&session) };
        Ok(match self.as_member(&stream, leave).await? {
            Some(ClientCommand::Control { by, .. }) => {
                decided(taking, stream, ClientCommand::Archive { on: true, by })
            }
            _ => TakenRow::without_effect(taking),
        })
    }

    /// Returns the request to take a session of the caller out of a link of this computer. The row
    /// has no effect if that session is not a member of an open link.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn leaves(
        &self,
        taking: Taking,
        stream: StreamId,
        session: SessionId,
    ) -> Result<TakenRow, LogError> {
        let taking = taking.without_refusal();
        let leave = StreamCommand::Leave { at: self.address(&session) };
        Ok(match self.as_member(&stream, leave).await? {
            Some(command) => decided(taking, stream, command),
            None => TakenRow::without_effect(taking),
        })
    }

    /// Returns a command for a link of this computer, in the name of the member that it mentions;
    /// `None` if the link is not open, or the session of the caller is not a member of it.
    async fn as_member(
        &self,
        stream: &StreamId,
        command: StreamCommand,
    ) -> Result<Option<ClientCommand>, LogError> {
        let is_open = |state: &Conversation| state.is_link() && !state.is_archived();
        if self.read(stream, is_open).await? != Some(true) {
            return Ok(None);
        }
        match self.open_hall()?.command_in(stream, command).await {
            Ok(command) => Ok(command),
            Err(error) if error.is_gone() => Ok(None),
            Err(error) => Err(LogError::Failed(error.to_string())),
        }
    }

    /// Returns the address of a session of the caller.
    fn address(&self, session: &SessionId) -> Address {
        Address {
            computer: self.caller.computer.to_string(),
            kind: ADDRESS.to_owned(),
            local_id: session.to_string(),
        }
    }

    /// Returns an address in a row of the caller as this computer writes it. An address without a
    /// computer gets the caller's id, and an address at this computer loses its computer.
    fn local(&self, address: Address) -> Address {
        let computer = match address.computer.as_str() {
            "" => self.caller.computer.to_string(),
            computer if computer == self.own => String::new(),
            computer => computer.to_owned(),
        };
        Address { computer, ..address }
    }

    fn open_hall(&self) -> Result<ResidentHall, LogError> {
        let closed = || LogError::Failed("the hall is closed".into());
        self.hall.weak().enter().ok_or_else(closed)
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
        // `None` if the session has not joined the conversation. It may join by a row before this
        // one that is not decided yet.
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

    /// Returns the request to note that a session of the caller began a turn of this computer.
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

    /// Returns the request to end a turn of this computer that a session of the caller ended.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn ended(&self, taking: Taking, end: RemoteEnd) -> Result<TakenRow, LogError> {
        let (at, usage) = (end.turn.clone(), end.usage);
        self.finished(taking, at, end.result(), usage).await
    }

    /// Returns the request to end a turn of this computer that the caller refused.
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

    /// Returns the request to end a turn of this computer with a result.
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

    /// Returns the request to ask people a question of a program of the caller, in a turn. If the
    /// question has no answers to choose from, people only see that the program asks.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn asked(
        &self,
        taking: Taking,
        ask: RemotePermission,
    ) -> Result<TakenRow, LogError> {
        let (at, within) = (ask.turn.clone(), ask.within);
        let RemoteTurn { stream, turn, attempt } = at.clone();
        let taking = taking.without_refusal();
        if names::check_id(ask.permission.as_str()).is_err() {
            return Ok(TakenRow::without_effect(taking));
        }
        if ask.options.is_empty() {
            if self.is_theirs(&at).await? {
                let name = &self.caller.name;
                let text = format!("asks something at its terminal on {name}; answer it there");
                let key = TurnKey { stream, turn, attempt };
                self.open_hall()?.report(&key, Report::Progress(text));
            }
            return Ok(TakenRow::without_effect(taking));
        }
        let permission = RemotePermission::id_at(&ask.permission, &self.caller.computer);
        let question = Box::new(ask.question(&self.caller.name));
        let asks = EngineCommand::AskPermission { permission, turn, question, within };
        self.about_own(taking, at, ItemBody::Decision(asks.into())).await
    }

    /// Returns the request to withdraw a question of a program of the caller.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn ask_over(
        &self,
        taking: Taking,
        at: RemoteTurn,
        (permission, because): (PermissionId, WithdrawalReason),
    ) -> Result<TakenRow, LogError> {
        let permission = RemotePermission::id_at(&permission, &self.caller.computer);
        let withdraw = EngineCommand::WithdrawPermission { permission, because };
        self.about_own(taking, at, ItemBody::Decision(withdraw.into())).await
    }

    /// Returns the request to answer a question of a program here, in a turn of the caller.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn answered(
        &self,
        taking: Taking,
        (turn, session): (RemoteTurn, SessionId),
        (permission, option, text): (PermissionId, String, Option<String>),
    ) -> Result<TakenRow, LogError> {
        if let Err(refusal) = self.caller.must(RemoteRight::Permissions) {
            return Ok(refused(taking, &refusal));
        }
        let (key, wanted) = (turn.hosted(&self.caller.computer), permission.clone());
        let is_asked = self.read(&session, move |state| {
            let turn = state.hosted_turn(&key);
            turn.is_some_and(|turn| turn.permissions().any(|open| *open == wanted))
        });
        if is_asked.await? != Some(true) {
            // The question was answered here, or its turn is over. Other rows report both cases to
            // the caller.
            return Ok(TakenRow::without_effect(taking.without_refusal()));
        }
        let by = Actor::human(self.caller.name_of(ParticipantId::USER));
        let text = text.map(|text| text::clean(&text));
        let answer = ClientCommand::AnswerPermission { permission, option, text, by };
        Ok(decided(taking, session, answer))
    }

    /// Returns the request that the caller's answer about the state of a turn makes. The answer has
    /// an effect only if the caller does not know the turn.
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
    /// Otherwise the row has no effect, because a computer decides only about turns of its own
    /// sessions.
    async fn about_own(
        &self,
        taking: Taking,
        at: RemoteTurn,
        wanted: ItemBody,
    ) -> Result<TakenRow, LogError> {
        let row = TakenRow::without_effect(taking.without_refusal());
        Ok(match self.is_theirs(&at).await? {
            true => TakenRow { stream: Some(at.stream), wanted, ..row },
            false => row,
        })
    }

    /// True if a session of the caller has or had a turn of this computer.
    async fn is_theirs(&self, at: &RemoteTurn) -> Result<bool, LogError> {
        let (computer, no) = (self.caller.computer.to_string(), at.turn);
        let is_theirs = self.read(&at.stream, move |state| owns(state, no, &computer)).await?;
        Ok(is_theirs.unwrap_or(false))
    }

    /// Reads the state of a conversation; `None` if it is gone.
    async fn read<T: Send + 'static>(
        &self,
        stream: &StreamId,
        question: impl FnOnce(&Conversation) -> T + Send + 'static,
    ) -> Result<Option<T>, LogError> {
        match self.open_hall()?.view(stream, question).await {
            Ok(read) => Ok(Some(read)),
            Err(error) if error.is_gone() => Ok(None),
            Err(error) => Err(LogError::Failed(error.to_string())),
        }
    }
}

/// True if the participant of a turn is a session of `computer`.
fn owns(state: &Conversation, turn: TurnNo, computer: &str) -> bool {
    let owner = state.turn_owner(turn).and_then(|owner| state.participant(&owner)?.address.clone());
    owner.is_some_and(|address| address.kind == ADDRESS && address.computer == computer)
}

/// Returns the request to decide a command.
fn decided(taking: Taking, stream: StreamId, command: impl Into<Command>) -> TakenRow {
    let wanted = ItemBody::Decision(command.into());
    TakenRow { stream: Some(stream), wanted, ..TakenRow::without_effect(taking) }
}

fn not_a_member(taking: Taking) -> TakenRow {
    let why = "The session takes part in no open link of this id.";
    TakenRow::refused(taking, "link_not_found", why)
}

fn refused(taking: Taking, refusal: &RemoteRefusal) -> TakenRow {
    TakenRow::refused(taking, refusal.kind.code(), &refusal.message)
}

#[cfg(test)]
mod tests;
