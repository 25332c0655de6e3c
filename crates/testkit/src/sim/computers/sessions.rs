//! The session of a computer, which people of other computers can write to. In worlds that
//! converse, it takes turns in a terminal, and another follows it when it ends.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use async_trait::async_trait;
use moothall_engine::access::{AuthorizedRequest, Warrant};
use moothall_engine::agent::Agent;
use moothall_engine::answers::{HallError, Idempotency};
use moothall_engine::ports::{Origin, Session};
use moothall_engine::residents::{MoveIn, ResidentHall, WeakHall};
use moothall_engine::sessions::{
    Activity, Asker, ConversationPlan, Excerpt, FirstWords, FolderList, FolderQuery, Link,
    LinkState, Message, MessageElsewhere, MessageReader, NewLink, NewObserved, NewSession,
    OnDemand, PaneNews, ProgramOffer, Residents, ResumedSession, SendResult, SessionData,
    SessionDirectory, SessionError, SessionId, Status, TypingRequest, View, address_of,
};
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::ids::{ComputerId, ParticipantId, PermissionId, StreamId};
use moothall_kernel::participant::{Address, AgentFacts, OnLost, Profile, Runtime, TerminalReach};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::talk::TalkRequest;
use moothall_kernel::time::Timestamp;
use tokio::sync::broadcast;

use super::hall::once;
use super::terminal::{SessionAgent, TerminalTask};

/// Most exchanges between agents in a home before a person has to look.
const EXCHANGES_MAX: u32 = 200;

/// The word that means the session.
pub(super) const PRESENT: &str = "present";

/// The sessions of a computer. At most one of them lives.
pub(super) struct Residence {
    pub(super) hall: OnceLock<WeakHall>,
    /// All sessions, oldest first.
    all: Mutex<Vec<Session>>,
    /// The terminal, in worlds that converse.
    terminal: Option<Arc<TerminalTask>>,
    /// Held while a link is made.
    pub(super) making: tokio::sync::Mutex<()>,
}

/// Returns a session whose home is this conversation.
fn session(home: StreamId, name: ParticipantId) -> Session {
    Session {
        id: home,
        name,
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
    }
}

/// Returns the invitation of a session into a conversation of its computer.
pub(super) fn invite_of(session: &Session) -> Invite {
    let client = Some(session.client.clone());
    let profile = Profile { client: client.clone(), model: client, ..Profile::default() };
    let facts = AgentFacts { on_lost: OnLost::Fail, ..AgentFacts::of_runtime(Runtime::TERMINAL) };
    let reach = Some(TerminalReach::Drivers);
    let address = Some(address_of(session));
    Invite { address, reach, ..Invite::new(session.name.as_str(), profile, facts) }
}

fn status(session: Session) -> Status {
    Status { session, doing: Activity::Idle, waiting: 0, typist: None, tool: None }
}

impl Residence {
    pub(super) fn new(terminal: Option<Arc<TerminalTask>>) -> Self {
        let (hall, all, making) = <_>::default();
        Self { hall, all, terminal, making }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Session>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the living session.
    pub(super) fn living(&self) -> Option<Session> {
        self.all().iter().find(|session| session.ended.is_none()).cloned()
    }

    /// Takes up a session that is only written to: the maker of its home, who is there without an
    /// invitation.
    pub(super) fn settle(&self, home: StreamId) {
        self.all().push(session(home, ParticipantId::user()));
    }

    /// Takes up the sessions of the log, and begins one if none lives.
    pub(super) async fn take_up(&self, hall: &ResidentHall) -> Result<(), HallError> {
        let kept = hall.store().sessions.all().await?;
        *self.all() = kept;
        match self.living() {
            Some(_) => Ok(()),
            None => self.begin(hall).await,
        }
    }

    async fn begin(&self, hall: &ResidentHall) -> Result<(), HallError> {
        let title = format!("Home {}", self.all().len());
        let by = Actor::human(ParticipantId::USER);
        let policy = Policy {
            name: PolicyName::LINK,
            max_exchanges_without_human: EXCHANGES_MAX,
            ..Policy::default()
        };
        let once = once(title.clone());
        let home = hall.create(title, policy, by.clone(), Some(once)).await?.stream;
        let session = session(home, ParticipantId::new(PRESENT));
        let controls = vec![Control::Invite(invite_of(&session))];
        hall.submit(&session.id, ClientCommand::Control { by, controls }, None).await?;
        hall.store().sessions.keep(&session).await?;
        self.all().push(session);
        Ok(())
    }

    /// Ends the living session as its program ends, and begins the next.
    pub(super) async fn end_living(&self, hall: &ResidentHall) -> Result<(), HallError> {
        let Some(mut session) = self.living() else { return self.begin(hall).await };
        let owed = self.leaving(hall, &session).await?;
        let by = Actor::human(ParticipantId::MOOTHALL);
        let archive = ClientCommand::Archive { on: true, by };
        hall.submit_owing(&session.id, archive, None, owed).await?;
        session.ended = Some((hall.now(), "its program ended".into()));
        hall.store().sessions.keep(&session).await?;
        for known in self.all().iter_mut().filter(|known| known.id == session.id) {
            known.clone_from(&session);
        }
        self.begin(hall).await
    }
}

fn unable<T>() -> Result<T, SessionError> {
    Err(SessionError::Unavailable("a simulated session is only written to".into()))
}

impl Residents for Residence {
    fn directory(&self) -> Option<&dyn SessionDirectory> {
        Some(self)
    }

    fn agent(&self, address: Option<&Address>) -> Arc<dyn Agent> {
        match self.terminal.as_ref().filter(|_| address.is_some()) {
            Some(terminal) => Arc::new(SessionAgent(terminal.clone())),
            None => Arc::new(OnDemand::default()),
        }
    }
}

#[async_trait]
impl MoveIn for Residence {
    async fn move_in(&self, hall: WeakHall) -> Result<(), HallError> {
        if let Some(terminal) = &self.terminal {
            let _ = terminal.hall.set(hall.clone());
        }
        let _ = self.hall.set(hall);
        Ok(())
    }
}

#[async_trait]
impl SessionDirectory for Residence {
    fn programs(&self) -> Vec<ProgramOffer> {
        Vec::new()
    }

    async fn folders(
        &self,
        _request: &AuthorizedRequest<FolderQuery>,
    ) -> Result<FolderList, SessionError> {
        unable()
    }

    fn list(&self, include_ended: bool) -> Vec<Status> {
        let all = self.all().clone();
        all.into_iter().filter(|it| include_ended || it.ended.is_none()).map(status).collect()
    }

    fn find_among(
        &self,
        word: &str,
        is_seen: &dyn Fn(&Status) -> bool,
    ) -> Result<Status, SessionError> {
        let named = if word == PRESENT { self.living() } else { None };
        let found = named.or_else(|| self.all().iter().find(|it| it.id.as_str() == word).cloned());
        let found = found.map(status).filter(|status| is_seen(status));
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

    async fn type_keys(
        &self,
        _: &Warrant,
        _: &Actor,
        _: TypingRequest,
    ) -> Result<Option<Timestamp>, SessionError> {
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

    async fn link(
        &self,
        new: AuthorizedRequest<NewLink>,
    ) -> Result<(Link, LinkState), SessionError> {
        self.make_link(new.into_inner()).await
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
