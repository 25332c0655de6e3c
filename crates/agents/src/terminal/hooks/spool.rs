//! The server's side: every report is read once, in the order of its session, as soon as its hook
//! rings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::sessions::{Hook, HookNews, Permit, ReportOutcome, SessionError};
use nix::unistd::geteuid;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::bell::{Caller, HookCall, HookReply};
use super::drain::{drain, hook};
use super::folder::{SpoolFolder, reachable, reports};
use super::lenient_json;
use super::note::Note;
use crate::terminal::Vendor;

/// How often all folders are looked at without a ring: for hooks whose ring was lost, and for what
/// could not be kept before.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How long a hook may take to say what it wants.
const CALL_WITHIN: Duration = Duration::from_secs(10);
/// How many hooks may be at the socket at once.
const CALLERS_MAX: usize = 256;

/// Who listens to reports.
#[async_trait]
pub trait HookSink: Send + Sync + 'static {
    /// Takes a report. It is brought again, in its place, until what follows from it is kept; so
    /// the same one may come twice.
    ///
    /// # Errors
    /// When it could not be kept now. The session's later reports wait behind it.
    async fn heard(&self, hook: Hook) -> Result<ReportOutcome, SessionError>;

    /// Asks a person for the permission that a report is about ([`HookNews::Asks`]). The future is
    /// dropped when the program no longer waits.
    async fn ask(&self, hook: Hook) -> Permit;
}

/// The spool of all sessions, with its bell.
pub struct Spool {
    folder: SpoolFolder,
    listener: UnixListener,
}

impl Spool {
    /// Opens the spool in a folder, which is made if it is not there, and listens at its bell. Only
    /// one server may, at a time.
    ///
    /// # Errors
    /// When the folder cannot be made or the bell cannot be hung.
    pub fn open(folder: SpoolFolder) -> io::Result<Self> {
        Self::open_for(folder, geteuid().as_raw())
    }

    /// The same with a bell at which this user may ring too.
    pub(super) fn open_for(folder: SpoolFolder, ringer: u32) -> io::Result<Self> {
        folder.make()?;
        let bell = folder.bell();
        match fs::remove_file(&bell) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let (path, _open) = reachable(&bell)?;
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(&bell, fs::Permissions::from_mode(0o600))?;
        if ringer != geteuid().as_raw() {
            chown(&bell, Some(ringer), None)?;
        }
        Ok(Self { folder, listener })
    }

    /// Reads everything that lies there now. For the time between a start and the moment when
    /// sessions are taken up again: what their programs reported meanwhile is known then. `false`
    /// where something of it has to wait.
    pub async fn catch_up(&self, sink: &Arc<dyn HookSink>) -> bool {
        let mut at_work = ReportReaders::new(&self.folder, sink);
        at_work.look_at_all();
        while at_work.next().await {}
        at_work.nothing_waits()
    }

    /// Reads reports and brings answers for as long as the future is held.
    pub async fn run(&self, sink: Arc<dyn HookSink>) {
        let (rings, mut rung) = mpsc::channel(CALLERS_MAX);
        let mut at_work = ReportReaders::new(&self.folder, &sink);
        let mut callers = JoinSet::new();
        let mut looks = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                _ = looks.tick() => at_work.look_at_all(),
                Some(session) = rung.recv() => at_work.look_at(session),
                true = at_work.next() => {}
                Some(_) = callers.join_next() => {}
                Ok((stream, _)) = self.listener.accept(), if callers.len() < CALLERS_MAX => {
                    callers.spawn(attend(stream, sink.clone(), rings.clone()));
                }
            }
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // One that is left behind is taken away at the next start.
        let _ = fs::remove_file(self.folder.bell());
    }
}

/// The sessions whose reports are being read: each by one task, so that they stay in order and none
/// holds up another.
struct ReportReaders<'a> {
    folder: &'a SpoolFolder,
    sink: &'a Arc<dyn HookSink>,
    tasks: JoinSet<String>,
    running: BTreeMap<String, tokio::task::AbortHandle>,
    again: BTreeSet<String>,
}

impl<'a> ReportReaders<'a> {
    fn new(folder: &'a SpoolFolder, sink: &'a Arc<dyn HookSink>) -> Self {
        Self {
            folder,
            sink,
            tasks: JoinSet::new(),
            running: BTreeMap::new(),
            again: BTreeSet::new(),
        }
    }

    fn look_at_all(&mut self) {
        match self.folder.sessions() {
            Ok(sessions) => sessions.into_iter().for_each(|session| self.look_at(session)),
            Err(error) => tracing::warn!(%error, "the spool cannot be read; it is tried again"),
        }
    }

    fn nothing_waits(&self) -> bool {
        let is_read = |session: &String| {
            self.folder
                .named(session)
                .is_none_or(|folder| reports(&folder).is_ok_and(|left| left.is_empty()))
        };
        self.folder.sessions().is_ok_and(|sessions| sessions.iter().all(is_read))
    }

    fn look_at(&mut self, session: String) {
        let Some(folder) = self.folder.named(&session) else { return };
        if self.running.contains_key(&session) {
            // A report may have come after its task looked for the last time.
            self.again.insert(session);
            return;
        }
        let (spool, sink, name) = (self.folder.clone(), self.sink.clone(), session.clone());
        let task = self.tasks.spawn(async move {
            if let Err(later) = drain(&spool, &folder, sink.as_ref()).await {
                tracing::warn!(session = name, %later, "a program's report waits");
            }
            name
        });
        self.running.insert(session, task);
    }

    /// Waits until one of them is done; `false` when none is at work.
    async fn next(&mut self) -> bool {
        let Some(done) = self.tasks.join_next().await else { return false };
        match done {
            Ok(session) => {
                self.running.remove(&session);
                if self.again.remove(&session) {
                    self.look_at(session);
                }
            }
            // A task that died names no session; those that have no task any more may be looked at
            // again.
            Err(_) => self.running.retain(|_, task| !task.is_finished()),
        }
        true
    }
}

/// Does what a hook wants.
async fn attend(stream: UnixStream, sink: Arc<dyn HookSink>, rings: mpsc::Sender<String>) {
    let mut caller = Caller::new(stream);
    match tokio::time::timeout(CALL_WITHIN, caller.call()).await {
        Ok(Some(HookCall::Ring { session })) => {
            // The receiver goes away only with the task that runs this one.
            let _ = rings.send(session).await;
        }
        Ok(Some(HookCall::Ask(note))) => ask(caller, &note, sink.as_ref()).await,
        Ok(None) | Err(_) => {}
    }
}

async fn ask(mut caller: Caller, note: &Note, sink: &dyn HookSink) {
    // A hook that got no answer would ask again.
    let permit = match hook(note) {
        Ok(Some(hook)) => tokio::select! {
            permit = decide(note, hook, sink) => permit,
            () = caller.gone() => return,
        },
        Ok(None) | Err(_) => Permit::Undecided,
    };
    // A hook that has gone meanwhile hears it no more, and its program asks the person at the
    // terminal.
    let _ = caller.answer(HookReply::from(permit)).await;
}

async fn decide(note: &Note, hook: Hook, sink: &dyn HookSink) -> Permit {
    let answerable = Vendor::of(&note.program).decides(&note.event).is_some_and(|decides| {
        lenient_json::object(&note.payload, note.cut)
            .is_some_and(|payload| (decides.answerable)(&payload))
    });
    if matches!(hook.news, HookNews::Asks { .. }) && answerable && !note.cut {
        return sink.ask(hook).await;
    }
    // What nobody can see whole, or answer with yes or no, is left to the person at the terminal;
    // that it waits is news all the same.
    if let Err(error) = sink.heard(hook).await {
        tracing::warn!(%error, "a program waits for its user, which could not be kept");
    }
    Permit::Undecided
}
