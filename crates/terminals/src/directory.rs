//! The sessions of a server, and the way to the task of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use moothall_engine::answers::{HallError, Idempotency};
use moothall_engine::crash;
use moothall_engine::residents::{ResidentHall, WeakHall};
use moothall_engine::sessions::{
    Activity, GatheringPlace, Launch, NewObserved, NewSession, Origin, Pane, Session, SessionError,
    SessionHost, SessionId, Starter, Status, UnixUser, address_of, check_working_folder,
};
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite};
use moothall_kernel::ids::{ParticipantId, PermissionId, StreamId};
use moothall_kernel::participant::{AgentFacts, OnLost, Profile, Runtime, TerminalReach};
use moothall_kernel::policy::{Policy, PolicyName};

use crate::config::{LiveTerms, SessionParts};
use crate::faults::{host_error, log_error};
use crate::reserved::{ReservedName, ReservedNames};
use crate::sagas::Sagas;
use crate::secrets::{fresh_token, hash_of};

mod handle;
mod living;

pub(crate) use handle::SessionHandle;

/// Maximum exchanges between sessions in one home before a person has to look.
const HOME_EXCHANGES_MAX: u32 = 200;
/// Minimum length of an id prefix that finds a session.
const PREFIX_CHARS_MIN: usize = 6;

/// The sessions of a hall. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    pub(super) shared: Arc<DirectoryState>,
}

pub(super) struct DirectoryState {
    /// The hall of the sessions, set when it opens.
    hall: OnceLock<WeakHall>,
    host: Option<Arc<dyn SessionHost>>,
    pub(super) terms: LiveTerms,
    handles: Mutex<BTreeMap<SessionId, Arc<SessionHandle>>>,
    /// Conversations that hold the key of a link.
    pub(super) links: Mutex<BTreeSet<StreamId>>,
    /// Conversations with sessions that are archived.
    pub(super) archived: Mutex<BTreeSet<StreamId>>,
    /// Serializes the giving of names and the making of links.
    pub(super) making: tokio::sync::Mutex<()>,
    /// Participants for whom a session is being started, and ended sessions that are being resumed
    /// or are giving up their places.
    pub(super) housing: Mutex<BTreeSet<(StreamId, ParticipantId)>>,
    /// Names of sessions whose programs are being started.
    pub(super) reserved: ReservedNames,
    /// Permissions whose request is being carried out.
    pub(super) running_requests: Mutex<BTreeSet<PermissionId>>,
    pub(super) sagas: Sagas,
}

/// The parts of a session before its program runs.
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
    place: Option<GatheringPlace>,
    key: Option<Idempotency>,
}

/// The outcome of an earlier request with the same key.
pub(super) enum StartLookup {
    /// A session that the request started, with its current status.
    Lives(Box<Status>),
    /// No session. The key is still to be taken, if there is one.
    No(Option<Idempotency>),
}

impl Sessions {
    /// Creates the sessions of these terminals. Without terminals no session runs, but joins and
    /// leaves of earlier sessions are still tracked.
    pub fn new(parts: Option<SessionParts>) -> Self {
        let (host, terms) = parts.map(SessionParts::apart).unzip();
        let (hall, terms) = (OnceLock::new(), terms.unwrap_or_default());
        let (handles, links, making) =
            (Mutex::default(), Mutex::default(), tokio::sync::Mutex::default());
        let (housing, running_requests) = (Mutex::default(), Mutex::default());
        Self {
            shared: Arc::new(DirectoryState {
                hall,
                host,
                terms,
                handles,
                links,
                making,
                housing,
                running_requests,
                reserved: ReservedNames::default(),
                archived: Mutex::default(),
                sagas: Sagas::default(),
            }),
        }
    }

    /// Registers all stored sessions, and starts the tasks of those that have not ended.
    pub(super) async fn open(&self, hall: WeakHall) -> Result<(), HallError> {
        // A hall opens once, so this cannot fail.
        let _ = self.shared.hall.set(hall);
        if self.shared.host.is_none() {
            return Ok(());
        }
        let Ok(hall) = self.hall() else { return Ok(()) };
        let (mut living, mut left) = (Vec::new(), Vec::new());
        for session in hall.store().sessions.all().await? {
            if self.is_undone(&hall, &session).await {
                continue;
            }
            match (&session.ended, &session.pane) {
                (None, _) => living.push(session.id.clone()),
                // The server may have stopped before it killed the program's remaining processes.
                (Some(_), Some(pane)) if session.origin == Origin::Started => {
                    left.push((session.id.clone(), pane.clone()))
                }
                (Some(_), _) => {}
            }
            self.start_runner(session);
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
            // An earlier process may have stopped in the middle of rejoining.
            let own = self.clone();
            hall.spawn(async move { drop(own.rejoin().await) });
        }
        Ok(())
    }

    /// True if the server has terminals.
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

    /// Notifies watchers of sessions and links.
    pub(super) fn notify_of_sessions(&self) {
        if let Ok(hall) = self.hall() {
            hall.notify_of_sessions();
        }
    }

    pub(super) fn handles(&self) -> MutexGuard<'_, BTreeMap<SessionId, Arc<SessionHandle>>> {
        self.shared.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn handle_of(&self, id: &SessionId) -> Option<Arc<SessionHandle>> {
        self.handles().get(id).cloned()
    }

    /// Returns the living sessions, and the ended ones too if wanted, oldest first.
    pub fn list(&self, include_ended: bool) -> Vec<Status> {
        let all = self.handles().values().map(|handle| handle.status()).collect::<Vec<_>>();
        all.into_iter().filter(|status| include_ended || status.doing != Activity::Ended).collect()
    }

    /// Finds a session by its id, the beginning of the id, or its name. Among several of one name,
    /// prefers the living one, else the newest.
    ///
    /// # Errors
    /// [`SessionError::NotFound`], or [`SessionError::Invalid`] if the word begins several ids.
    pub fn find(&self, word: &str) -> Result<Status, SessionError> {
        self.find_among(word, &|_| true)
    }

    /// Finds a session by its id, its name, or the beginning of its id, among the sessions that a
    /// caller sees. Among several of one name, prefers the living one, else the newest.
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
                "{word} is the beginning of several session ids; give more characters."
            ))),
        }
    }

    /// True if a conversation is the home of a session, living or ended.
    pub(crate) fn is_home(&self, stream: &StreamId) -> bool {
        self.handles().contains_key(stream)
    }

    /// Returns a living session, or an error that gives the reason of its end.
    pub(super) fn living(&self, id: &SessionId) -> Result<Arc<SessionHandle>, SessionError> {
        let handle = self.handle_of(id).ok_or_else(|| SessionError::NotFound(id.to_string()))?;
        match handle.session() {
            Session { ended: Some((_, why)), name, .. } => Err(SessionError::Ended { name, why }),
            Session { .. } => Ok(handle),
        }
    }

    /// Resolves when a session has ended, or immediately for an unknown session.
    pub(crate) async fn wait_for_end(&self, id: &SessionId) {
        let Some(mut over) = self.handle_of(id).map(|handle| handle.over.subscribe()) else {
            return;
        };
        // An entry is removed only after the end, so a dropped sender means the same.
        let _ = over.wait_for(|over| *over).await;
    }

    /// Starts a program in a terminal of its own, with a home to talk to it in.
    ///
    /// # Errors
    /// [`SessionError`]. No program runs then, unless only the terminal could not be stored. Then
    /// the program runs until the next start of the server, which ends it.
    pub async fn start(&self, new: NewSession) -> Result<Status, SessionError> {
        self.start_once(new, None).await
    }

    /// Starts a program at most once per key. The caller must not run two starts with one key at a
    /// time.
    ///
    /// # Errors
    /// [`SessionError`]. No program runs then, unless only the terminal could not be stored. Then
    /// the program runs until the next start of the server, which ends it.
    pub async fn start_once(
        &self,
        new: NewSession,
        key: Option<Idempotency>,
    ) -> Result<Status, SessionError> {
        let own = self.clone();
        // The caller may cancel: a task of its own finishes the start, so that no program runs
        // without a known session.
        let started = tokio::spawn(async move { own.start_now(new, key).await });
        started.await.unwrap_or(Err(SessionError::Hall(HallError::ShuttingDown)))
    }

    /// Starts a program, or returns the session that an earlier request with this key started. The
    /// home is created first, then the program starts, and its terminal is stored last.
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
                place: new.place,
                key,
            })
            .await?;
        crash::point("session_kept");
        let env = [("MOOTHALL_SESSION", session.id.to_string()), ("MOOTHALL_SESSION_TOKEN", token)];
        // An agent could replace the folder meanwhile. A person's folder may be a link, which an
        // exact start refuses.
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
            Err(fault) => self.undo_start(session, fault).await,
        }
    }

    /// Checks a start as far as possible in advance; returns the working folder. If a start is
    /// refused here, there is nothing to undo.
    pub(super) fn check_start(&self, new: &NewSession) -> Result<PathBuf, SessionError> {
        let host = self.host()?;
        let cwd = match new.cwd.as_os_str().is_empty() {
            true => host.home(&new.client, None),
            false => new.cwd.clone(),
        };
        check_working_folder(&cwd)?;
        if let Some(missing) = self.offer(&new.client)?.missing {
            return Err(SessionError::Invalid(missing));
        }
        self.check_family(&new.starter())?;
        self.check_room()?;
        Ok(cwd)
    }

    /// Returns the outcome of an earlier request with this key. After a failed start, the request
    /// may run again, but without the key, because the home of the failed start has used the key.
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
            .handle_of(&claim.stream)
            .map(|handle| handle.status())
            .filter(|status| status.session.pane.is_some());
        Ok(began.map_or(StartLookup::No(None), |status| StartLookup::Lives(Box::new(status))))
    }

    /// Makes a session from a program that is already running.
    ///
    /// # Errors
    /// [`SessionError`]; the program is left alone then.
    pub async fn observe(&self, new: NewObserved) -> Result<Status, SessionError> {
        self.observe_once(new, None).await
    }

    /// Makes a session from a running program, at most once per key.
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
                "{} already uses this terminal.",
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
            place: None,
            key,
        };
        let (mut session, _reserved) = self.create_home(draft).await?;
        self.register_session(&mut session, pane).await
    }

    /// Creates the home and saves the session before its program runs. The name stays reserved
    /// until the session is registered or its start failed.
    async fn create_home(
        &self,
        draft: SessionDraft<'_>,
    ) -> Result<(Session, ReservedName), SessionError> {
        let SessionDraft { client, name, cwd, origin, token, by, starter, .. } = draft;
        let SessionDraft { run_as, args, place, key, .. } = draft;
        let hall = self.hall()?;
        let _making = self.shared.making.lock().await;
        // Another start may have reached the limit of sessions since the first check, which was
        // without the lock.
        self.check_room()?;
        let stem = place.as_ref().map_or(client, |place| &place.name);
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
            until: place.and_then(|place| place.until),
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

    /// Stores the terminal of a session, and starts the session's task.
    pub(crate) async fn register_session(
        &self,
        session: &mut Session,
        pane: Pane,
    ) -> Result<Status, SessionError> {
        session.pane = Some(pane);
        self.keep(session).await?;
        crash::point("session_started");
        Ok(self.start_runner(session.clone()).status())
    }

    pub(super) async fn keep(&self, session: &Session) -> Result<(), SessionError> {
        let hall = self.hall()?;
        hall.store().sessions.keep(session).await.map_err(log_error)
    }

    /// Records that a session is being started for a participant; returns false if one already is.
    pub(super) fn begin_start_for(&self, of: (StreamId, ParticipantId)) -> bool {
        self.shared.housing.lock().unwrap_or_else(PoisonError::into_inner).insert(of)
    }

    pub(super) fn end_housing(&self, of: &(StreamId, ParticipantId)) {
        self.shared.housing.lock().unwrap_or_else(PoisonError::into_inner).remove(of);
    }
}

impl Sessions {
    /// Returns the invitation of a session into a conversation.
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
