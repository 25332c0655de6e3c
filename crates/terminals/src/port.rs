//! The engine's ports to sessions, implemented by calls into the other files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use moothall_engine::access::{AuthorizedRequest, Warrant};
use moothall_engine::agent::Agent;
use moothall_engine::answers::{HallError, Idempotency};
use moothall_engine::ports::{LogError, TargetKind};
use moothall_engine::residents::{MoveIn, WeakHall};
use moothall_engine::sessions::{
    Asker, ConversationPlan, Excerpt, FirstWords, FolderList, FolderQuery, Link, LinkState,
    Message, MessageElsewhere, MessageReader, NewLink, NewObserved, NewSession, PaneNews,
    ProgramOffer, Resident, Residents, ResumedSession, SendResult, SessionData, SessionDirectory,
    SessionError, SessionId, Status, TypingRequest, View,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::duties::AllowedRequest;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ComputerId, ParticipantId, PermissionId, StreamId};
use moothall_kernel::participant::Address;
use moothall_kernel::talk::TalkRequest;
use moothall_kernel::time::Timestamp;
use tokio::sync::broadcast;

use crate::agent::Terminal;
use crate::convene::UndoHandler;
use crate::directory::Sessions;

#[async_trait]
impl MoveIn for Sessions {
    async fn move_in(&self, hall: WeakHall) -> Result<(), HallError> {
        self.open(hall).await?;
        if let (true, Ok(hall)) = (self.are_here(), self.hall()) {
            hall.register_handler(TargetKind::Saga, Arc::new(UndoHandler(self.clone()))).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl Residents for Sessions {
    fn directory(&self) -> Option<&dyn SessionDirectory> {
        self.are_here().then_some(self)
    }

    fn agent(&self, address: Option<&Address>) -> Arc<dyn Agent> {
        Arc::new(Terminal::new(self.clone(), address))
    }

    async fn before_commit(
        &self,
        stream: &StreamId,
        state: &Conversation,
        events: &[RecordedEvent],
    ) -> Result<(), LogError> {
        Sessions::before_commit(self, stream, state, events).await
    }

    async fn after_commit(
        &self,
        stream: &StreamId,
        state: &Conversation,
        events: &[RecordedEvent],
    ) {
        Sessions::after_commit(self, stream, state, events).await;
    }

    async fn see_question(&self, stream: &StreamId, permission: &PermissionId) {
        Sessions::see_question(self, stream, permission).await;
    }

    fn carry_out(&self, stream: &StreamId, request: &AllowedRequest) {
        Sessions::carry_out(self, stream, request);
    }

    fn by_token(&self, token: &str) -> Option<Resident> {
        Sessions::by_token(self, token)
    }

    fn is_home(&self, stream: &StreamId) -> bool {
        Sessions::is_home(self, stream)
    }

    fn deletion_obstacle(&self, stream: &StreamId) -> Option<String> {
        Sessions::deletion_obstacle(self, stream)
    }

    fn is_name_used(&self, name: &ParticipantId) -> bool {
        Sessions::is_name_used(self, name)
    }

    fn ended_name(&self, session: &SessionId) -> Option<String> {
        match self.living(session) {
            Err(SessionError::Ended { name, .. }) => Some(name.to_string()),
            Ok(_) | Err(_) => None,
        }
    }

    fn has_living(&self, name: &ParticipantId) -> bool {
        Sessions::has_living(self, name)
    }

    fn meet(&self, one: &SessionId, other: &SessionId) -> bool {
        Sessions::meet(self, one, other)
    }

    async fn shares(
        &self,
        participant: &ParticipantId,
        session: &SessionId,
    ) -> Result<bool, SessionError> {
        Sessions::shares(self, participant, session).await
    }

    async fn wait_for_end(&self, session: &SessionId) {
        Sessions::wait_for_end(self, session).await;
    }

    async fn reach_less(&self, session: &SessionId) {
        Sessions::reach_less(self, session).await;
    }
}

#[async_trait]
impl SessionDirectory for Sessions {
    fn programs(&self) -> Vec<ProgramOffer> {
        Sessions::programs(self)
    }

    async fn folders(
        &self,
        request: &AuthorizedRequest<FolderQuery>,
    ) -> Result<FolderList, SessionError> {
        Sessions::folders(self, request.wanted()).await
    }

    fn list(&self, include_ended: bool) -> Vec<Status> {
        Sessions::list(self, include_ended)
    }

    fn find_among(
        &self,
        word: &str,
        is_seen: &dyn Fn(&Status) -> bool,
    ) -> Result<Status, SessionError> {
        Sessions::find_among(self, word, is_seen)
    }

    async fn start_once(
        &self,
        new: AuthorizedRequest<NewSession>,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError> {
        Sessions::start_once(self, new.into_inner(), key).await
    }

    async fn observe_once(
        &self,
        new: AuthorizedRequest<NewObserved>,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError> {
        Sessions::observe_once(self, new.into_inner(), key).await
    }

    fn starts_alone(&self, new: &NewSession) -> Option<PathBuf> {
        Sessions::starts_alone(self, new)
    }

    async fn ask_start(
        &self,
        thread: Option<&StreamId>,
        new: &NewSession,
        first: FirstWords,
    ) -> Result<(StreamId, PermissionId), SessionError> {
        Sessions::ask_start(self, thread, new, first).await
    }

    async fn ask_talk(
        &self,
        own: &SessionId,
        talk: TalkRequest,
    ) -> Result<(StreamId, PermissionId), SessionError> {
        Sessions::ask_talk(self, own, talk).await
    }

    fn invite(&self, id: &SessionId) -> Result<Invite, SessionError> {
        Sessions::invite(self, id)
    }

    async fn screen(&self, warrant: &Warrant) -> Result<View, SessionError> {
        Sessions::screen(self, warrant.session()).await
    }

    async fn watch(
        &self,
        warrant: &Warrant,
    ) -> Result<broadcast::Receiver<PaneNews>, SessionError> {
        Sessions::watch(self, warrant.session()).await
    }

    async fn attach(&self, warrant: &Warrant) -> Result<Vec<String>, SessionError> {
        Sessions::attach(self, warrant.session()).await
    }

    async fn type_keys(
        &self,
        warrant: &Warrant,
        by: &Actor,
        request: TypingRequest,
    ) -> Result<Option<Timestamp>, SessionError> {
        Sessions::type_keys(self, warrant.session(), by, request).await
    }

    async fn interrupt(&self, warrant: &Warrant, by: &Actor) -> Result<(), SessionError> {
        Sessions::interrupt(self, warrant.session(), by).await
    }

    async fn end(&self, warrant: &Warrant, by: &Actor) -> Result<(), SessionError> {
        Sessions::end(self, warrant.session(), by).await
    }

    async fn resume(&self, warrant: &Warrant, by: &Actor) -> Result<ResumedSession, SessionError> {
        Sessions::resume(self, warrant.session(), by).await
    }

    async fn waits_of(
        &self,
        id: &SessionId,
    ) -> Result<BTreeMap<StreamId, Vec<SessionId>>, SessionError> {
        Sessions::waits_of(self, id).await
    }

    async fn waiting_links(&self, of: Option<&SessionId>) -> Result<Vec<Link>, SessionError> {
        Sessions::waiting_links(self, of).await
    }

    async fn send_once(
        &self,
        message: AuthorizedRequest<Message>,
        key: Option<Idempotency>,
    ) -> Result<SendResult, SessionError> {
        Sessions::send_once(self, message.into_inner(), key).await
    }

    async fn data(
        &self,
        warrant: &Warrant,
        excerpt: Excerpt,
        eyes: &MessageReader,
    ) -> Result<SessionData, SessionError> {
        Sessions::data(self, warrant.session(), excerpt, eyes).await
    }

    async fn convene(
        &self,
        new: AuthorizedRequest<ConversationPlan>,
    ) -> Result<StreamId, SessionError> {
        Sessions::convene(self, new.into_inner()).await
    }

    async fn send_elsewhere(
        &self,
        message: AuthorizedRequest<MessageElsewhere>,
        key: Option<Idempotency>,
    ) -> Result<Option<SendResult>, SessionError> {
        Sessions::send_elsewhere(self, message.into_inner(), key).await
    }

    async fn meets_elsewhere(
        &self,
        session: &SessionId,
        computer: &ComputerId,
        word: &str,
    ) -> Result<bool, SessionError> {
        Sessions::meets_elsewhere(self, session, computer, word).await
    }

    async fn link(
        &self,
        new: AuthorizedRequest<NewLink>,
    ) -> Result<(Link, LinkState), SessionError> {
        Sessions::link(self, new.into_inner()).await
    }

    async fn links(&self, of: Option<&SessionId>) -> Result<Vec<Link>, SessionError> {
        Sessions::links(self, of).await
    }

    async fn link_of(&self, id: &StreamId) -> Result<Link, SessionError> {
        Sessions::link_of(self, id).await
    }

    async fn close_link(&self, id: &StreamId, by: &Asker) -> Result<Link, SessionError> {
        Sessions::close_link(self, id, by).await
    }
}
