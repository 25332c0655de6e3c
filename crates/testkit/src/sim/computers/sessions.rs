//! One session of a computer, which people of other computers can write to. It takes no turns.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use async_trait::async_trait;
use moothall_engine::access::{AuthorizedRequest, Warrant};
use moothall_engine::answers::{HallError, Idempotency};
use moothall_engine::ports::{Origin, Session};
use moothall_engine::residents::{MoveIn, WeakHall};
use moothall_engine::sessions::{
    Activity, Asker, ConversationPlan, Excerpt, FirstWords, Link, LinkState, Message,
    MessageElsewhere, MessageReader, NewLink, NewObserved, NewSession, PaneNews, Residents,
    ResumedSession, SendResult, SessionData, SessionDirectory, SessionError, SessionId, Status,
    View,
};
use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::ids::{ComputerId, ParticipantId, PermissionId, StreamId};
use moothall_kernel::talk::TalkRequest;
use moothall_kernel::time::Timestamp;
use tokio::sync::broadcast;

/// The word that means the session.
pub(super) const PRESENT: &str = "present";

/// The sessions of a computer: one, once its home is there.
#[derive(Default)]
pub(super) struct OneSession {
    pub(super) home: OnceLock<StreamId>,
}

impl OneSession {
    fn status(&self) -> Option<Status> {
        let session = Session {
            id: self.home.get()?.clone(),
            // The maker of its home, who is there without an invitation.
            name: ParticipantId::user(),
            client: "simulated".into(),
            computer: String::new(),
            cwd: PathBuf::new(),
            pane: None,
            native: None,
            origin: Origin::Started,
            token_hash: String::new(),
            started_at: Timestamp::default(),
            ended: None,
            started_by: None,
            run_as: None,
            until: None,
            args: Vec::new(),
            memory: None,
            lost: false,
            left: Vec::new(),
        };
        Some(Status { session, doing: Activity::Idle, waiting: 0 })
    }
}

fn unable<T>() -> Result<T, SessionError> {
    Err(SessionError::Unavailable("a simulated session is only written to".into()))
}

impl Residents for OneSession {
    fn directory(&self) -> Option<&dyn SessionDirectory> {
        Some(self)
    }
}

#[async_trait]
impl MoveIn for OneSession {
    async fn move_in(&self, _: WeakHall) -> Result<(), HallError> {
        Ok(())
    }
}

#[async_trait]
impl SessionDirectory for OneSession {
    fn programs(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn list(&self, _: bool) -> Vec<Status> {
        self.status().into_iter().collect()
    }

    fn find_among(
        &self,
        word: &str,
        is_seen: &dyn Fn(&Status) -> bool,
    ) -> Result<Status, SessionError> {
        let found = self.status().filter(|status| word == PRESENT && is_seen(status));
        found.ok_or_else(|| SessionError::NotFound(word.to_owned()))
    }

    async fn start_once(
        &self,
        _: AuthorizedRequest<NewSession>,
        _: Option<Idempotency>,
    ) -> Result<Status, SessionError> {
        unable()
    }

    async fn send_elsewhere(
        &self,
        _: AuthorizedRequest<MessageElsewhere>,
        _: Option<Idempotency>,
    ) -> Result<Option<SendResult>, SessionError> {
        unable()
    }

    async fn meets_elsewhere(
        &self,
        _: &SessionId,
        _: &ComputerId,
        _: &str,
    ) -> Result<bool, SessionError> {
        Ok(false)
    }

    async fn observe_once(
        &self,
        _: AuthorizedRequest<NewObserved>,
        _: Option<Idempotency>,
    ) -> Result<Status, SessionError> {
        unable()
    }

    fn starts_alone(&self, _: &NewSession) -> Option<PathBuf> {
        None
    }

    async fn ask_start(
        &self,
        _: Option<&StreamId>,
        _: &NewSession,
        _: FirstWords,
    ) -> Result<(StreamId, PermissionId), SessionError> {
        unable()
    }

    async fn ask_talk(
        &self,
        _: &SessionId,
        _: TalkRequest,
    ) -> Result<(StreamId, PermissionId), SessionError> {
        unable()
    }

    fn invite(&self, _: &SessionId) -> Result<Invite, SessionError> {
        unable()
    }

    async fn screen(&self, _: &Warrant) -> Result<View, SessionError> {
        unable()
    }

    async fn watch(&self, _: &Warrant) -> Result<broadcast::Receiver<PaneNews>, SessionError> {
        unable()
    }

    async fn attach(&self, _: &Warrant) -> Result<Vec<String>, SessionError> {
        unable()
    }

    async fn interrupt(&self, _: &Warrant, _: &Actor) -> Result<(), SessionError> {
        unable()
    }

    async fn end(&self, _: &Warrant, _: &Actor) -> Result<(), SessionError> {
        unable()
    }

    async fn resume(&self, _: &Warrant, _: &Actor) -> Result<ResumedSession, SessionError> {
        unable()
    }

    async fn waits_of(
        &self,
        _: &SessionId,
    ) -> Result<BTreeMap<StreamId, Vec<SessionId>>, SessionError> {
        unable()
    }

    async fn send_once(
        &self,
        _: AuthorizedRequest<Message>,
        _: Option<Idempotency>,
    ) -> Result<SendResult, SessionError> {
        unable()
    }

    async fn data(
        &self,
        _: &Warrant,
        _: Excerpt,
        _: &MessageReader,
    ) -> Result<SessionData, SessionError> {
        unable()
    }

    async fn convene(
        &self,
        _: AuthorizedRequest<ConversationPlan>,
    ) -> Result<StreamId, SessionError> {
        unable()
    }

    async fn link(&self, _: AuthorizedRequest<NewLink>) -> Result<(Link, LinkState), SessionError> {
        unable()
    }

    async fn links(&self, _: Option<&SessionId>) -> Result<Vec<Link>, SessionError> {
        unable()
    }

    async fn waiting_links(&self, _: Option<&SessionId>) -> Result<Vec<Link>, SessionError> {
        unable()
    }

    async fn link_of(&self, _: &StreamId) -> Result<Link, SessionError> {
        unable()
    }

    async fn close_link(&self, _: &StreamId, _: &Asker) -> Result<Link, SessionError> {
        unable()
    }
}
