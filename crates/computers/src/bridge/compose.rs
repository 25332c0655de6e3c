//! The body of a row for another computer, made from the row's command when it is sent.

use std::sync::Arc;

use moothall_engine::agent::{Report, TurnKey};
use moothall_engine::answers::HallError;
use moothall_engine::computers::{
    RemoteEnd, RemoteOffer, RemotePermission, RemotePlace, RemoteTurn,
};
use moothall_engine::outbox::PostCommand;
use moothall_engine::ports::Delivery;
use moothall_engine::residents::ResidentHall;
use moothall_engine::sessions::{ADDRESS, SessionId};
use moothall_kernel::Conversation;
use moothall_kernel::event::{Event, Fault, Posted, RecordedEvent, Usage};
use moothall_kernel::hosted::{HostedKey, HostedWords};
use moothall_kernel::ids::{ComputerId, ParticipantId, Seq, StreamId};
use moothall_kernel::link::FarMember;
use moothall_kernel::participant::{Address, Participant};

use super::body::Body;
use crate::frame::ROW_LEN_MAX;

/// The facts of which rows are made when they are sent.
pub(super) struct Composer<'a> {
    /// The hall that owes the rows.
    pub(super) hall: &'a ResidentHall,
    /// The id of this computer.
    pub(super) own: &'a str,
    /// The id of the receiver.
    pub(super) to: ComputerId,
    /// True if the receiver may answer questions of programs here.
    pub(super) may_answer: bool,
}

impl Composer<'_> {
    /// Returns the bytes of a row. A row carries only its number if its conversation was deleted,
    /// its command cannot be read, its content is gone, or its body is too long: a number that
    /// never arrives would hold up all later rows. A turn whose offer is too long ends with a
    /// fault. The end of a turn is sent with its body even if its event is gone.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read now.
    pub(super) async fn compose(&self, row: &Delivery) -> Result<Arc<[u8]>, HallError> {
        let bytes = self.body_of(row).await?.encode();
        if bytes.len() <= ROW_LEN_MAX {
            return Ok(bytes.into());
        }
        tracing::error!(row = row.id, bytes = bytes.len(), "a row is too long and is sent empty");
        if let Ok(PostCommand::Turn { turn, attempt, .. }) = row.carried() {
            let key = TurnKey { stream: row.stream.clone(), turn, attempt };
            let fault =
                Fault::new("prompt_too_long", "its prompt is too long for another computer");
            self.hall
                .report(&key, Report::Finished { result: Err(fault), usage: Usage::default() });
        }
        Ok(Body::Void.encode().into())
    }

    /// Returns the body of a row, made from the row's command and from the log. It is empty if the
    /// command or the content is gone.
    async fn body_of(&self, row: &Delivery) -> Result<Body, HallError> {
        if row.command.is_none() {
            return Ok(Body::Void);
        }
        let command = match row.carried() {
            Ok(command) => command,
            Err(error) => {
                // A row that is never sent would hold up all later ones.
                tracing::error!(%error, row = row.id, "a row cannot be read and is sent empty");
                return Ok(Body::Void);
            }
        };
        let stream = row.stream.clone();
        Ok(match command {
            PostCommand::Say(message) => Body::Say(message),
            PostCommand::Finished(wait) => Body::Finished(wait),
            PostCommand::Refused { number, code, message, about } => {
                Body::Refused { number, code, message, about }
            }
            PostCommand::Placed { participant, session } => {
                self.place(stream, participant, session).await?.map_or(Body::Void, Body::Placed)
            }
            PostCommand::Left { session, why } => Body::Left { stream, session, why },
            PostCommand::Words { link: stream, session, text, typed, mut elsewhere } => {
                elsewhere.iter_mut().for_each(|address| self.name_computer(address));
                Body::Words { stream, session, text, typed, elsewhere }
            }
            PostCommand::Close { link: stream, session } => Body::Close { stream, session },
            PostCommand::Leave { link: stream, session } => Body::Leave { stream, session },
            PostCommand::Turn { turn, attempt, session } => {
                let key = TurnKey { stream: stream.clone(), turn, attempt };
                let turn = RemoteTurn { stream, turn, attempt };
                let job = self.hall.offered(&key).await?;
                job.map_or(Body::Void, |job| Body::Turn(RemoteOffer::of(turn, session, &job)))
            }
            PostCommand::Off { turn, attempt, session, lapse } => {
                Body::Off { turn: RemoteTurn { stream, turn, attempt }, session, lapse }
            }
            PostCommand::Probe { turn, attempt, session } => {
                Body::Probe { turn: RemoteTurn { stream, turn, attempt }, session }
            }
            PostCommand::Begun { hosted, asked } => self.begun(&stream, &hosted, asked).await?,
            PostCommand::Ended { hosted, parted: true, .. } => {
                Body::Ended(RemoteEnd::parted(&hosted))
            }
            PostCommand::Ended { hosted, said, parted: false } => {
                self.ended(&stream, row.through_seq, &hosted, said).await?
            }
            PostCommand::Asked { hosted } => {
                self.asked(&stream, row.through_seq, &hosted).await?.map_or(Body::Void, Body::Asked)
            }
            PostCommand::AskOver { hosted, permission, because } => {
                Body::AskOver { turn: RemoteTurn::of(&hosted), permission, because }
            }
            PostCommand::Answer { turn, attempt, session } => {
                let turn = RemoteTurn { stream, turn, attempt };
                self.answer(turn, session, row.through_seq).await?
            }
            PostCommand::State { hosted, state } => {
                Body::State { turn: RemoteTurn::of(&hosted), state }
            }
            PostCommand::Void => Body::Void,
        })
    }

    /// Writes this computer's id into an address without a computer. Only on this computer does
    /// such an address mean this computer.
    fn name_computer(&self, address: &mut Address) {
        if address.computer.is_empty() {
            self.own.clone_into(&mut address.computer);
        }
    }

    /// Returns an event of a conversation; `None` if the event or the conversation is gone.
    async fn event(&self, stream: &StreamId, at: Seq) -> Result<Option<Event>, HallError> {
        Ok(self.recorded(stream, at).await?.map(|recorded| recorded.event))
    }

    /// Returns an event with its position and time; `None` if the event or the conversation is
    /// gone.
    async fn recorded(
        &self,
        stream: &StreamId,
        at: Seq,
    ) -> Result<Option<RecordedEvent>, HallError> {
        let before = Seq(at.0.saturating_sub(1));
        match self.hall.read(stream, before, Some(1)).await {
            Ok(page) => Ok(page.events.into_iter().find(|event| event.seq == at)),
            Err(HallError::NotFound(_) | HallError::Deleted(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the body that reports to another computer that a session here began a turn of that
    /// computer's conversation. The body is empty if the log here has lost the event that asked for
    /// the turn.
    async fn begun(
        &self,
        stream: &StreamId,
        hosted: &HostedKey,
        asked: Seq,
    ) -> Result<Body, HallError> {
        Ok(match self.event(stream, asked).await? {
            Some(Event::Posted(Posted { hosted: Some(words), .. })) => match *words {
                HostedWords::Asks(turn) => {
                    Body::Begun { turn: RemoteTurn::of(hosted), through: turn.through }
                }
                HostedWords::Answers(_) => Body::Void,
            },
            // The row about the end of the turn follows, and shows its beginning too.
            _ => Body::Void,
        })
    }

    /// Returns the body that reports the end of a turn of the receiver: from the event that ended
    /// the turn and the message that the session said, as far as the log still has them.
    async fn ended(
        &self,
        stream: &StreamId,
        at: Seq,
        hosted: &HostedKey,
        said: Option<Seq>,
    ) -> Result<Body, HallError> {
        let said = match said {
            Some(said) => self.event(stream, said).await?,
            None => None,
        };
        Ok(Body::Ended(match self.event(stream, at).await? {
            Some(event) => RemoteEnd::of(hosted, &event, said.as_ref()),
            None => RemoteEnd::gone(hosted),
        }))
    }

    /// Returns a program's question to people; `None` if it is gone. A computer without the right
    /// to answer the question gets it without the possible answers.
    async fn asked(
        &self,
        stream: &StreamId,
        at: Seq,
        hosted: &HostedKey,
    ) -> Result<Option<RemotePermission>, HallError> {
        let Some(recorded) = self.recorded(stream, at).await? else { return Ok(None) };
        let name = self.hall.view(stream, |state| state.own_session().cloned()).await?;
        let name = name.map(|name| name.to_string()).unwrap_or_default();
        let asked = RemotePermission::of(hosted, &recorded, name);
        Ok(asked.map(|asked| match self.may_answer {
            true => asked,
            false => RemotePermission { options: Vec::new(), ..asked },
        }))
    }

    /// Returns the body with the answer of people to a question of the receiver. It is empty if the
    /// answer is gone, or the question is not one of the receiver.
    async fn answer(
        &self,
        turn: RemoteTurn,
        session: SessionId,
        at: Seq,
    ) -> Result<Body, HallError> {
        let answered = self.event(&turn.stream, at).await?;
        let Some(Event::PermissionAnswered { permission, option, text, .. }) = answered else {
            return Ok(Body::Void);
        };
        let own = RemotePermission::own_id(&permission, &self.to);
        Ok(own.map_or(Body::Void, |permission| Body::Answer {
            turn,
            session,
            permission,
            option,
            text,
        }))
    }

    /// Returns the membership of a session as it is now; `None` if the session is not a member any
    /// more, or if the conversation is archived or gone.
    async fn place(
        &self,
        stream: StreamId,
        participant: ParticipantId,
        session: SessionId,
    ) -> Result<Option<RemotePlace>, HallError> {
        let own = self.own.to_owned();
        let read = move |state: &Conversation| {
            let is_member = state.participant(&participant).is_some() && !state.is_archived();
            is_member.then(|| RemotePlace {
                stream: state.stream().clone(),
                title: state.name().to_owned(),
                link: state.is_link(),
                created_at: state.created_at(),
                session,
                participant,
                members: state.agents().filter_map(|one| member_of(one, &own)).collect(),
            })
        };
        match self.hall.view(&stream, read).await {
            Err(HallError::NotFound(_) | HallError::Deleted(_)) => Ok(None),
            other => other,
        }
    }
}

/// Returns a participant as a member, if it is a session of any computer. Its address names its
/// computer.
fn member_of(one: &Participant, own: &str) -> Option<FarMember> {
    let mut address = one.address.clone().filter(|address| address.kind == ADDRESS)?;
    if address.computer.is_empty() {
        own.clone_into(&mut address.computer);
    }
    let name = one.name().to_owned();
    Some(FarMember { address, name, number: one.number, part: one.part })
}

#[cfg(test)]
mod tests {
    use moothall_engine::ports::{DeliveryState, Target};

    use super::*;
    use crate::bridge::tests::hall;

    async fn composed(command: Option<&str>) -> Body {
        let hall = hall().await;
        let hall = hall.weak().enter().expect("an open hall");
        let row = Delivery {
            id: 1,
            target: Target::Computer(ComputerId::new("2abc")),
            stream: "s".into(),
            turn: None,
            attempt: 0,
            through_seq: Seq(1),
            number: Some(1),
            command: command.map(str::to_owned),
            state: DeliveryState::Pending,
            evidence: String::new(),
        };
        let to = ComputerId::new("2abc");
        let composer = Composer { hall: &hall, own: "1own", to, may_answer: false };
        Body::decode(&composer.compose(&row).await.expect("a log")).expect("a body")
    }

    #[tokio::test]
    async fn a_row_is_sent_empty_if_its_command_is_gone_cannot_be_read_or_is_too_long() {
        let message = "No. ".repeat(2);
        let refused = |message: &str| {
            let command = PostCommand::Refused {
                number: 3,
                code: "no".into(),
                message: message.into(),
                about: None,
            };
            serde_json::json!({"hops": 1, "command": command}).to_string()
        };
        let body =
            Body::Refused { number: 3, code: "no".into(), message: message.clone(), about: None };
        assert_eq!(composed(Some(&refused(&message))).await, body);
        assert_eq!(composed(Some(r#"{"hops":1,"command":{"post":"void"}}"#)).await, Body::Void);
        assert_eq!(composed(None).await, Body::Void);
        assert_eq!(composed(Some(r#"{"hops":1,"command":{"post":"sing"}}"#)).await, Body::Void);
        assert_eq!(composed(Some(&refused(&"x".repeat(ROW_LEN_MAX)))).await, Body::Void);
    }
}
