//! Requests of agents: people are asked in the asker's conversation, and an allowed request is
//! carried out once.

use std::collections::BTreeSet;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use moothall_engine::answers::{HallError, Idempotency};
use moothall_engine::computers::{
    ComputerError, PairedComputer, RemoteMember, RemoteMessage, RemoteRefusalKind, RemoteSpeaker,
    SessionWord,
};
use moothall_engine::sessions::{
    Asker, Member, Message, MessageElsewhere, NewLink, SessionError, SessionId, is_session,
    session_of,
};
use moothall_kernel::command::{Actor, EngineCommand};
use moothall_kernel::duties::AllowedRequest;
use moothall_kernel::ids::{ParticipantId, PermissionId, StreamId};
use moothall_kernel::request::Request;
use moothall_kernel::start::StartOutcome;
use moothall_kernel::talk::{TalkOutcome, TalkRequest};
use moothall_kernel::time::Millis;
use uuid::Uuid;

use crate::directory::Sessions;

/// The time that people have to answer. No turn waits meanwhile.
const ASK_MAX: Millis = Millis::from_secs(24 * 3600);
/// Pause before a failed command is retried.
const RETRY: Duration = Duration::from_secs(1);
/// The principal of the keys under which requests are carried out.
const PRINCIPAL: &str = "moothall:start";

impl Sessions {
    /// Asks people, in the home of a session, if it may talk to another. The other session is
    /// looked up only after a person allows the request, so that the asker cannot probe for names.
    ///
    /// # Errors
    /// [`SessionError`]. No question is asked then, unless only the reading of its id failed.
    pub async fn ask_talk(
        &self,
        own: &SessionId,
        talk: TalkRequest,
    ) -> Result<(StreamId, PermissionId), SessionError> {
        let by = self.name_at_home(own).await?;
        self.ask_people(own.clone(), by, Request::Talk(talk)).await
    }

    /// Asks people in a conversation. A repeated request that still waits gets the same permission.
    pub(crate) async fn ask_people(
        &self,
        room: StreamId,
        by: Actor,
        request: Request,
    ) -> Result<(StreamId, PermissionId), SessionError> {
        let hall = self.hall()?;
        let permission = PermissionId::new(Uuid::new_v4().simple().to_string());
        let (asker, wanted) = (by.id.clone(), request.clone());
        let request = Box::new(request);
        let ask = EngineCommand::Ask { permission, by, request, within: ASK_MAX };
        hall.submit(&room, ask, None).await?;
        let asked =
            hall.view(&room, move |state| state.request_asked(&asker, &wanted).cloned()).await?;
        let asked = asked.ok_or_else(|| {
            SessionError::Conflict(
                "The request was already answered; read the answer in the conversation.".into(),
            )
        })?;
        Ok((room, asked))
    }

    /// Returns a session's participant in its own home.
    pub(crate) async fn name_at_home(&self, own: &StreamId) -> Result<Actor, SessionError> {
        let wanted = own.clone();
        let hall = self.hall()?;
        let here = hall.view(own, move |state| {
            let found = state.participants().iter().find(|one| is_session(one, &wanted));
            found.map(|one| one.id.clone())
        });
        let id = here.await?.ok_or_else(|| {
            SessionError::Conflict("The session is no longer in its own home.".into())
        })?;
        Ok(Actor::named(id))
    }

    /// Returns the session of the participant that asked, if it is one.
    pub(crate) async fn asker_of(
        &self,
        stream: &StreamId,
        asker: &ParticipantId,
    ) -> Result<Option<SessionId>, SessionError> {
        let (asker, hall) = (asker.clone(), self.hall()?);
        Ok(hall.view(stream, move |state| session_of(state.participant(&asker)?)).await?)
    }

    /// Carries out an allowed request, only one time even if it is called repeatedly, and reports
    /// the outcome to the conversation.
    pub(crate) fn carry_out(&self, stream: &StreamId, request: &AllowedRequest) {
        if !self.running_requests().insert(request.permission.clone()) {
            return;
        }
        let (own, stream, request) = (self.clone(), stream.clone(), request.clone());
        tokio::spawn(async move {
            let permission = request.permission.clone();
            let done = match &request.request {
                Request::Start(start) => {
                    let started = own.start_allowed(&stream, &request, start).await;
                    let outcome = started
                        .unwrap_or_else(|error| StartOutcome::Failed { why: error.to_string() });
                    EngineCommand::StartDone { permission, outcome }
                }
                Request::Talk(talk) => {
                    let linked = own.talk_allowed(&stream, &request, talk).await;
                    let outcome = linked
                        .unwrap_or_else(|error| TalkOutcome::Failed { why: error.to_string() });
                    EngineCommand::TalkDone { permission, outcome }
                }
            };
            // The outcome must be recorded: the program may already run.
            own.tell_until_kept(&stream, done).await;
            own.running_requests().remove(&request.permission);
        });
    }

    fn running_requests(&self) -> MutexGuard<'_, BTreeSet<PermissionId>> {
        self.shared.running_requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Links the asker with the named session, and posts the asker's first words in the link. If
    /// the session is on a computer that is away or allows no link, sends it the words without a
    /// link.
    async fn talk_allowed(
        &self,
        stream: &StreamId,
        request: &AllowedRequest,
        talk: &TalkRequest,
    ) -> Result<TalkOutcome, SessionError> {
        let own = self.asker_of(stream, &request.participant).await?;
        let own = own.ok_or_else(|| {
            SessionError::Conflict("The session is no longer in its own home.".into())
        })?;
        let key = request_key(&request.permission, "talk");
        let hall = self.hall()?;
        if let SessionWord::There { computer, name } = hall.meaning(talk.to.as_str())? {
            let speaker = self.name_at_home(&own).await?.id.to_string();
            match self.link_allowed(&own, &computer, name, &talk.message, &key).await {
                Ok(outcome) => return Ok(outcome),
                // The message waits for the other computer, or goes without a link.
                Err(SessionError::Computer(ComputerError::Away { .. })) => {}
                Err(SessionError::Computer(ComputerError::Refused { refusal, .. }))
                    if refusal.kind == RemoteRefusalKind::NotAllowed => {}
                Err(error) => return Err(error),
            }
            let from = RemoteSpeaker { name: speaker, session: Some(own) };
            let message = RemoteMessage { to: name.to_owned(), from, text: talk.message.clone() };
            hall.post_message(&computer, message, Some(key)).await?;
            return Ok(TalkOutcome::Told);
        }
        let to = self.find(talk.to.as_str())?.session.id;
        let message = Message {
            from: Asker::Session(own),
            to,
            text: talk.message.clone(),
            direct: true,
            close_link: false,
        };
        let sent = self.send_once(message, Some(key)).await?;
        let unsaid =
            sent.held.map(|word| format!("the link is {word} until a person speaks there"));
        Ok(TalkOutcome::Linked { link: sent.stream, unsaid })
    }

    /// Links the asker with a session of another computer, and says its first words there.
    async fn link_allowed(
        &self,
        own: &SessionId,
        computer: &PairedComputer,
        name: &str,
        words: &str,
        key: &Idempotency,
    ) -> Result<TalkOutcome, SessionError> {
        let directory = self.hall()?.computers().ok_or(ComputerError::Absent)?;
        let found = directory.find(computer, name, true).await?;
        let message = MessageElsewhere {
            from: own.clone(),
            computer: computer.clone(),
            word: found.id.clone(),
            text: words.to_owned(),
            close_link: false,
        };
        let member = |session: &SessionId, number| Member {
            session: session.clone(),
            computer: String::new(),
            name: None,
            number: Some(number),
            role: None,
        };
        let other = SessionId::new(found.id.as_str());
        let far =
            RemoteMember { computer: computer.clone(), session: found, member: member(&other, 2) };
        self.link(NewLink {
            members: vec![member(own, 1)],
            elsewhere: vec![far],
            title: None,
            by: Asker::Session(own.clone()),
            exchanges_max: None,
        })
        .await?;
        let sent = self.send_elsewhere(message, Some(key.clone())).await?;
        let sent = sent.ok_or(SessionError::NoLink)?;
        let unsaid =
            sent.held.map(|word| format!("the link is {word} until a person speaks there"));
        Ok(TalkOutcome::Linked { link: sent.stream, unsaid })
    }

    /// Retries a command until it is committed or finally rejected, or the server shuts down.
    pub(crate) async fn tell_until_kept(&self, stream: &StreamId, command: EngineCommand) {
        loop {
            let Ok(hall) = self.hall() else { return };
            match hall.submit(stream, command.clone(), None).await {
                Ok(_)
                | Err(
                    HallError::ShuttingDown
                    | HallError::Rejected(_)
                    | HallError::NotFound(_)
                    | HallError::Deleted(_),
                ) => return,
                Err(error) => {
                    tracing::warn!(%stream, %error, "the result of a question is not stored yet")
                }
            }
            // The handle would keep a closing hall open during the pause.
            drop(hall);
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// Returns the idempotency key of a part of a request.
pub(crate) fn request_key(permission: &PermissionId, part: &str) -> Idempotency {
    Idempotency {
        principal: PRINCIPAL.into(),
        key: format!("{permission}:{part}"),
        fingerprint: permission.to_string(),
    }
}
