//! Which sessions there are, and how to reach the task of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use moothall_engine::answers::{HallError, Idempotency};
use moothall_engine::crash;
use moothall_engine::residents::{ResidentHall, WeakHall};
use moothall_engine::sessions::{
    Activity, GatheringSeat, HostFault, Launch, NewObserved, NewSession, Origin, Pane,
    ReachableStreams, Session, SessionError, SessionHost, SessionId, Starter, Status, UnixUser,
    address_of,
};
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::ids::{ParticipantId, PermissionId, StreamId};
use moothall_kernel::participant::{AgentFacts, OnLost, Profile, Runtime, TerminalReach};
use moothall_kernel::policy::{Policy, PolicyName};
use tokio::sync::{mpsc, watch};

use crate::config::{LiveTerms, SessionParts};
use crate::faults::{host_error, log_error};
use crate::mail::Mail;
use crate::reserved::{ReservedName, ReservedNames};
use crate::sagas::Sagas;
use crate::secrets::{fresh_token, hash_of};

mod living;

/// What sessions may say to each other in one home before a person has to look.
const HOME_EXCHANGES_MAX: u32 = 200;
/// Shortest beginning of an id that finds a session.
const PREFIX_CHARS_MIN: usize = 6;

/// The sessions of a hall. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    pub(super) shared: Arc<DirectoryState>,
}

pub(super) struct DirectoryState {
    /// Where they live, from when the hall is opened.
    hall: OnceLock<WeakHall>,
    host: Option<Arc<dyn SessionHost>>,
    pub(super) terms: LiveTerms,
    seats: Mutex<BTreeMap<SessionId, Arc<SessionHandle>>>,
    /// Conversations that hold the key of a link.
    pub(super) links: Mutex<BTreeSet<StreamId>>,
    /// Conversations with sessions that are archived.
    pub(super) archived: Mutex<BTreeSet<StreamId>>,
    /// Names are given and links are made one at a time.
    pub(super) making: tokio::sync::Mutex<()>,
    /// Participants for whom a session is being started.
    pub(super) housing: Mutex<BTreeSet<(StreamId, ParticipantId)>>,
    /// Names of sessions whose programs are being started.
    pub(super) reserved: ReservedNames,
    /// Permissions whose program is being started.
    pub(super) errands: Mutex<BTreeSet<PermissionId>>,
    pub(super) sagas: Sagas,
}

/// A session's place: what is known of it, and the way to its task.
pub(super) struct SessionHandle {
    known: Mutex<SessionSnapshot>,
    mail: mpsc::UnboundedSender<Mail>,
    rooms: Arc<ReachableStreams>,
    /// Turns true when it is over.
    over: watch::Sender<bool>,
}

/// What a session is made of before anything runs.
struct SessionDraft<'a> {
    client: &'a str,
    name: Option<&'a str>,
    cwd: PathBuf,
    origin: Origin,
    token: &'a str,
    by: &'a Actor,
    starter: Starter,
    run_as: Option<UnixUser>,
    args: Vec<String>,
    seat: Option<GatheringSeat>,
    key: Option<Idempotency>,
}

/// What came of an earlier request with the same key.
pub(super) enum StartLookup {
    /// It started this session, as it is now.
    Lives(Box<Status>),
    /// None yet; the key is still to be taken, if there is one.
    No(Option<Idempotency>),
}

#[derive(Clone, PartialEq)]
struct SessionSnapshot {
    session: Session,
    doing: Activity,
    waiting: usize,
}

impl SessionHandle {
    /// That of a session whose task gets this mail.
    pub(super) fn new(session: &Session, mail: mpsc::UnboundedSender<Mail>) -> Self {
        let doing = if session.ended.is_some() { Activity::Ended } else { Activity::Starting };
        let known = Mutex::new(SessionSnapshot { session: session.clone(), doing, waiting: 0 });
        let rooms = Arc::new(ReachableStreams::of(&session.id));
        Self { known, mail, rooms, over: watch::Sender::new(session.ended.is_some()) }
    }

    fn lock(&self) -> MutexGuard<'_, SessionSnapshot> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversations that it is in or made, as they are now.
    pub(crate) fn rooms(&self) -> &Arc<ReachableStreams> {
        &self.rooms
    }

    pub(super) fn session(&self) -> Session {
        self.lock().session.clone()
    }

    /// Takes down how it is now; whether that is news.
    pub(super) fn update(&self, session: &Session, doing: Activity, waiting: usize) -> bool {
        let new = SessionSnapshot { session: session.clone(), doing, waiting };
        let is_news = std::mem::replace(&mut *self.lock(), new.clone()) != new;
        self.over.send_replace(session.ended.is_some());
        is_news
    }

    fn status(&self) -> Status {
        let known = self.lock();
        Status { session: known.session.clone(), doing: known.doing, waiting: known.waiting }
    }

    /// Whether the task took it; a session that is over has none.
    pub(super) fn send(&self, mail: Mail) -> bool {
        self.mail.send(mail).is_ok()
    }
}

impl Sessions {
    /// Sessions with these terminals. Without any there are none; but who of those that were there
    /// before comes into conversations and leaves them is noted.
    pub fn new(parts: Option<SessionParts>) -> Self {
        let (host, terms) = parts.map(SessionParts::apart).unzip();
        let (hall, terms) = (OnceLock::new(), terms.unwrap_or_default());
        let (seats, links, making) =
            (Mutex::default(), Mutex::default(), tokio::sync::Mutex::default());
        let (housing, errands) = (Mutex::default(), Mutex::default());
        Self {
            shared: Arc::new(DirectoryState {
                hall,
                host,
                terms,
                seats,
                links,
                making,
                housing,
                errands,
                reserved: ReservedNames::default(),
                archived: Mutex::default(),
                sagas: Sagas::default(),
            }),
        }
    }

    /// Takes up the sessions that lived when the server went away.
    pub(super) async fn open(&self, hall: WeakHall) -> Result<(), HallError> {
        // A hall opens once.
        let _ = self.shared.hall.set(hall);
        if self.shared.host.is_none() {
            return Ok(());
        }
        let Ok(hall) = self.hall() else { return Ok(()) };
        let (mut living, mut left) = (Vec::new(), Vec::new());
        for session in hall.store().sessions.all().await? {
            match (&session.ended, &session.pane) {
                (None, _) => living.push(session.id.clone()),
                // The server may have stopped before what was left of it was killed.
                (Some(_), Some(pane)) if session.origin == Origin::Started => {
                    left.push((session.id.clone(), pane.clone()))
                }
                (Some(_), _) => {}
            }
            self.seat(session);
        }
        if let (Ok(host), false) = (self.host(), left.is_empty()) {
            host.reap(left);
        }
        for session in &living {
            self.find_rooms(&hall, session).await?;
        }
        if !living.is_empty() {
            self.find_links(&hall).await?;
            self.end_with_past_gatherings(&hall).await;
            // An earlier process may have stopped in the middle of it.
            let own = self.clone();
            hall.spawn(async move { drop(own.rejoin().await) });
        }
        Ok(())
    }

    /// Whether there are terminals.
    pub(super) fn are_here(&self) -> bool {
        self.shared.host.is_some()
    }

    pub(crate) fn host(&self) -> Result<Arc<dyn SessionHost>, SessionError> {
        self.shared.host.clone().ok_or_else(|| {
            SessionError::Unavailable("this server was started without terminals".into())
        })
    }

    pub(super) fn hall(&self) -> Result<ResidentHall, SessionError> {
        self.shared
            .hall
            .get()
            .and_then(WeakHall::enter)
            .ok_or(SessionError::Hall(HallError::ShuttingDown))
    }

    /// Whoever watches sessions and links shall look again.
    pub(super) fn notify_of_sessions(&self) {
        if let Ok(hall) = self.hall() {
            hall.notify_of_sessions();
        }
    }

    /// The programs that can be started, with one sentence each.
    pub fn programs(&self) -> Vec<(String, String)> {
        self.shared.host.as_ref().map(|host| host.programs()).unwrap_or_default()
    }

    pub(super) fn seats(&self) -> MutexGuard<'_, BTreeMap<SessionId, Arc<SessionHandle>>> {
        self.shared.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn seat_of(&self, id: &SessionId) -> Option<Arc<SessionHandle>> {
        self.seats().get(id).cloned()
    }

    /// All sessions that live, and those that ended too if wanted, oldest first.
    pub fn list(&self, include_ended: bool) -> Vec<Status> {
        let all = self.seats().values().map(|seat| seat.status()).collect::<Vec<_>>();
        all.into_iter().filter(|status| include_ended || status.doing != Activity::Ended).collect()
    }

    /// A session by its id, the beginning of it, or its name. Of several with a name, the one that
    /// lives, or lived last.
    ///
    /// # Errors
    /// [`SessionError::NotFound`], or [`SessionError::Invalid`] when more than one is meant.
    pub fn find(&self, word: &str) -> Result<Status, SessionError> {
        self.find_among(word, &|_| true)
    }

    /// Finds the same among the sessions that a caller sees.
    pub(crate) fn find_among(
        &self,
        word: &str,
        is_seen: &dyn Fn(&Status) -> bool,
    ) -> Result<Status, SessionError> {
        let word = word.trim();
        let mut all = self.list(true);
        all.retain(is_seen);
        let exact = all.iter().find(|status| status.session.id.as_str() == word);
        let named = || all.iter().filter(|status| status.session.name.as_str() == word);
        let living = || named().find(|status| status.doing != Activity::Ended);
        if let Some(found) = exact.or_else(living).or_else(|| named().next_back()) {
            return Ok(found.clone());
        }
        let begins = |status: &&Status| {
            word.len() >= PREFIX_CHARS_MIN && status.session.id.as_str().starts_with(word)
        };
        match all.iter().filter(begins).collect::<Vec<_>>()[..] {
            [found] => Ok(found.clone()),
            [] => Err(SessionError::NotFound(word.to_owned())),
            _ => Err(SessionError::Invalid(format!(
                "{word} begins the ids of several sessions; give more of it."
            ))),
        }
    }

    /// Whether a conversation is the home of a session, living or ended.
    pub(crate) fn is_home(&self, stream: &StreamId) -> bool {
        self.seats().contains_key(stream)
    }

    /// A session that lives.
    pub(super) fn living(&self, id: &SessionId) -> Result<Arc<SessionHandle>, SessionError> {
        let seat = self.seat_of(id).ok_or_else(|| SessionError::NotFound(id.to_string()))?;
        match seat.session() {
            Session { ended: Some((_, why)), name, .. } => Err(SessionError::Ended { name, why }),
            Session { .. } => Ok(seat),
        }
    }

    /// Resolves when a session is over; at once where there is none.
    pub(crate) async fn over(&self, id: &SessionId) {
        let Some(mut over) = self.seat_of(id).map(|seat| seat.over.subscribe()) else { return };
        // A seat is never given up, so the sender does not go away.
        let _ = over.wait_for(|over| *over).await;
    }

    /// Starts a program in a terminal of its own, with a home to talk to it in.
    ///
    /// # Errors
    /// [`SessionError`]; nothing runs then.
    pub async fn start(&self, new: NewSession) -> Result<Status, SessionError> {
        self.start_once(new, None).await
    }

    /// The same, at most once for a key however often it is asked. Of two at a time, the caller
    /// takes care.
    ///
    /// # Errors
    /// [`SessionError`]; nothing runs then.
    pub async fn start_once(
        &self,
        new: NewSession,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError> {
        let own = self.clone();
        // Whoever asked may go away: a program that was started without its session being known
        // would run on for nobody.
        let started = tokio::spawn(async move { own.start_now(new, key).await });
        started.await.unwrap_or(Err(SessionError::Hall(HallError::ShuttingDown)))
    }

    async fn start_now(
        &self,
        new: NewSession,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError> {
        let host = self.host()?;
        let key = match self.started_before(key).await? {
            StartLookup::Lives(status) => return Ok(*status),
            StartLookup::No(key) => key,
        };
        let cwd = self.check_start(&new)?;
        let run_as = host.runs_as(&new.client).map_err(host_error)?;
        let token = fresh_token();
        let (mut session, _reserved) = self
            .create_home(SessionDraft {
                client: &new.client,
                name: new.name.as_deref(),
                cwd: cwd.clone(),
                origin: Origin::Started,
                token: &token,
                by: &new.by,
                starter: new.starter(),
                run_as: run_as.clone(),
                args: new.args.clone(),
                seat: new.seat,
                key,
            })
            .await?;
        crash::point("session_kept");
        let env = [("MOOTHALL_SESSION", session.id.to_string()), ("MOOTHALL_SESSION_TOKEN", token)];
        let exact = !matches!(session.started_by, Some(Starter::Person(_)) | None);
        let launch = Launch {
            exact,
            session: session.id.clone(),
            name: session.name.to_string(),
            client: new.client,
            args: new.args,
            cwd,
            env: env.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            run_as,
        };
        match host.start(&launch).await {
            Ok(pane) => {
                crash::point("program_in_terminal");
                self.register_session(&mut session, pane).await
            }
            Err(fault) => self.abort_start(session, fault).await,
        }
    }

    /// Whether this can be started, as far as that is known before: the folder in which it would
    /// work.
    pub(super) fn check_start(&self, new: &NewSession) -> Result<PathBuf, SessionError> {
        let host = self.host()?;
        let cwd =
            if new.cwd.as_os_str().is_empty() { host.home(&new.client) } else { new.cwd.clone() };
        if !cwd.is_absolute() || !cwd.is_dir() {
            return Err(SessionError::Invalid(format!(
                "{} is no folder here; give an absolute path of one.",
                cwd.display()
            )));
        }
        if !host.programs().iter().any(|(client, _)| *client == new.client) {
            let known: Vec<_> = host.programs().into_iter().map(|(client, _)| client).collect();
            return Err(SessionError::Invalid(format!(
                "There is no program {:?}; there are: {}.",
                new.client,
                known.join(", ")
            )));
        }
        self.check_family(&new.starter())?;
        self.check_room()?;
        Ok(cwd)
    }

    /// What came of an earlier try with this key. One that came to nothing frees the key's request
    /// to be tried anew, without it: the key is taken by the home that was made for it.
    pub(super) async fn started_before(
        &self,
        key: Option<Idempotency>,
    ) -> Result<StartLookup, SessionError> {
        let Some(key) = key else { return Ok(StartLookup::No(None)) };
        let hall = self.hall()?;
        let Some(claim) = hall.claimed(&key).await.map_err(log_error)? else {
            return Ok(StartLookup::No(Some(key)));
        };
        if claim.fingerprint != key.fingerprint {
            return Err(HallError::KeyReused.into());
        }
        let began = self
            .seat_of(&claim.stream)
            .map(|seat| seat.status())
            .filter(|status| status.session.pane.is_some());
        Ok(began.map_or(StartLookup::No(None), |status| StartLookup::Lives(Box::new(status))))
    }

    /// Makes a session of a program that runs already.
    ///
    /// # Errors
    /// [`SessionError`]; the program is left alone then.
    pub async fn observe(&self, new: NewObserved) -> Result<Status, SessionError> {
        self.observe_once(new, None).await
    }

    /// The same, at most once for a key.
    ///
    /// # Errors
    /// [`SessionError`]; the program is left alone then.
    pub async fn observe_once(
        &self,
        new: NewObserved,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError> {
        let host = self.host()?;
        let key = match self.started_before(key).await? {
            StartLookup::Lives(status) => return Ok(*status),
            StartLookup::No(key) => key,
        };
        let pane = host.adopt(&new.adopt).await.map_err(host_error)?;
        let taken = |status: &Status| status.session.pane.as_ref() == Some(&pane);
        if let Some(other) = self.list(false).iter().find(|status| taken(status)) {
            return Err(SessionError::Conflict(format!(
                "{} is in this terminal already.",
                other.session.name
            )));
        }
        let NewObserved { adopt, name, by } = &new;
        let (client, name, token) = (&*adopt.client, name.as_deref(), fresh_token());
        let draft = SessionDraft {
            client,
            name,
            cwd: host.folder(&pane).await.unwrap_or_else(|| "/".into()),
            origin: Origin::Observed,
            token: &token,
            by,
            starter: Starter::Person(by.id.clone()),
            run_as: None,
            args: Vec::new(),
            seat: None,
            key,
        };
        let (mut session, _reserved) = self.create_home(draft).await?;
        self.register_session(&mut session, pane).await
    }

    /// Makes the home and keeps the session, before anything runs. The name is reserved until the
    /// session is known, or was given up.
    async fn create_home(
        &self,
        draft: SessionDraft<'_>,
    ) -> Result<(Session, ReservedName), SessionError> {
        let SessionDraft { client, name, cwd, origin, token, by, starter, .. } = draft;
        let SessionDraft { run_as, args, seat, key, .. } = draft;
        let hall = self.hall()?;
        let _making = self.shared.making.lock().await;
        self.check_room()?;
        let stem = seat.as_ref().map_or(client, |seat| &seat.name);
        let name = self.free_name(stem, name).await?;
        let reserved = self.shared.reserved.reserve(&name);
        let policy = Policy {
            name: PolicyName::LINK,
            max_exchanges_without_human: HOME_EXCHANGES_MAX,
            ..(*hall.defaults()).clone()
        };
        let title = match cwd.file_name() {
            Some(folder) if origin == Origin::Started => {
                format!("{name} in {}", folder.to_string_lossy())
            }
            _ => name.to_string(),
        };
        let id = hall.create(title, policy, by.clone(), key).await?.stream;
        let session = Session {
            id,
            name,
            client: client.to_owned(),
            computer: String::new(),
            cwd,
            pane: None,
            native: None,
            origin,
            token_hash: hash_of(token),
            started_at: hall.now(),
            ended: None,
            started_by: Some(starter),
            run_as,
            until: seat.and_then(|seat| seat.until),
            args,
            memory: None,
            lost: false,
            left: Vec::new(),
        };
        let reach = Some(TerminalReach::Drivers);
        let invite = Control::Invite(Invite { reach, ..self.invite_of(&session) });
        hall.submit(
            &session.id,
            ClientCommand::Control { by: by.clone(), controls: vec![invite] },
            None,
        )
        .await?;
        self.keep(&session).await?;
        Ok((session, reserved))
    }

    pub(crate) async fn register_session(
        &self,
        session: &mut Session,
        pane: Pane,
    ) -> Result<Status, SessionError> {
        session.pane = Some(pane);
        self.keep(session).await?;
        crash::point("session_started");
        Ok(self.seat(session.clone()).status())
    }

    pub(crate) async fn abort_start(
        &self,
        mut session: Session,
        fault: HostFault,
    ) -> Result<Status, SessionError> {
        let hall = self.hall()?;
        session.ended = Some((hall.now(), fault.to_string()));
        self.keep(&session).await?;
        let by = Actor::human(ParticipantId::moothall());
        let _ = hall.submit(&session.id, ClientCommand::Archive { on: true, by }, None).await;
        self.host()?.forget(&session.id).await;
        Err(host_error(fault))
    }

    pub(super) async fn keep(&self, session: &Session) -> Result<(), SessionError> {
        let hall = self.hall()?;
        hall.store().sessions.keep(session).await.map_err(log_error)
    }

    /// Notes that a session is being started for a participant; `false` when one is already.
    pub(super) fn begin_start_for(&self, of: (StreamId, ParticipantId)) -> bool {
        self.shared.housing.lock().unwrap_or_else(PoisonError::into_inner).insert(of)
    }

    pub(super) fn end_housing(&self, of: &(StreamId, ParticipantId)) {
        self.shared.housing.lock().unwrap_or_else(PoisonError::into_inner).remove(of);
    }
}

impl Sessions {
    /// How a session is invited into a conversation.
    pub(super) fn invite_of(&self, session: &Session) -> Invite {
        let profile = Profile {
            client: Some(session.client.clone()),
            model: Some(session.client.clone()),
            ..Profile::default()
        };
        let timeout = self.hall().ok().and_then(|hall| hall.time_limit(&session.client));
        let facts = AgentFacts {
            on_lost: OnLost::Fail,
            timeout,
            ..AgentFacts::of_runtime(Runtime::TERMINAL)
        };
        Invite {
            address: Some(address_of(session)),
            ..Invite::new(session.name.as_str(), profile, facts)
        }
    }
}
