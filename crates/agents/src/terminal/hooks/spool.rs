//! The server's side: reads the reports of each session in their order, when a hook notifies.

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

use super::drain::{drain, hook};
use super::folder::{SpoolFolder, reachable, reports};
use super::lenient_json;
use super::note::Note;
use super::socket::{Caller, HookCall};
use crate::terminal::Vendor;

/// Interval at which all folders are read without a notification: for lost notifications, and for
/// consequences that could not be stored before.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Longest wait for the request of a connected hook.
const CALL_WITHIN: Duration = Duration::from_secs(10);
/// Most hooks connected at the same time.
const CALLERS_MAX: usize = 256;

/// The listener of reports.
#[async_trait]
pub trait HookSink: Send + Sync + 'static {
    /// Handles a report. It is delivered again, in its order, until its consequences are stored, so
    /// the same report may come twice.
    ///
    /// # Errors
    /// The consequences cannot be stored now. The session's later reports wait.
    async fn handle_report(&self, hook: Hook) -> Result<ReportOutcome, SessionError>;

    /// Asks a person for the permission that a report is about ([`HookNews::Asks`]). The future is
    /// dropped if the program stops waiting.
    async fn ask(&self, hook: Hook) -> Permit;
}

/// The spool of all sessions, with its socket.
pub struct Spool {
    folder: SpoolFolder,
    listener: UnixListener,
}

impl Spool {
    /// Opens the spool in a folder, which is made if missing, and listens at its socket. Only one
    /// server may do this at a time.
    ///
    /// # Errors
    /// The folder cannot be made or the socket cannot be bound.
    pub fn open(folder: SpoolFolder) -> io::Result<Self> {
        Self::open_for(folder, geteuid().as_raw())
    }

    /// Opens the spool with a socket at which only this user may connect.
    pub(super) fn open_for(folder: SpoolFolder, ringer: u32) -> io::Result<Self> {
        folder.make()?;
        let socket = folder.socket();
        match fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // `_open` lives until the bind, because a short path leads over its descriptor.
        let (path, _open) = reachable(&socket)?;
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
        if ringer != geteuid().as_raw() {
            chown(&socket, Some(ringer), None)?;
        }
        Ok(Self { folder, listener })
    }

    /// Reads all present reports. Call it between the start of the server and the resuming of
    /// sessions, so that the reports of their programs are known by then. Returns `false` if a
    /// report has to wait.
    pub async fn catch_up(&self, sink: &Arc<dyn HookSink>) -> bool {
        let mut readers = ReportReaders::new(&self.folder, sink);
        readers.look_at_all();
        while readers.next().await {}
        readers.nothing_waits()
    }

    /// Reads reports and answers hooks until the future is dropped.
    pub async fn run(&self, sink: Arc<dyn HookSink>) {
        let (notify, mut notified) = mpsc::channel(CALLERS_MAX);
        let mut readers = ReportReaders::new(&self.folder, &sink);
        let mut callers = JoinSet::new();
        let mut every = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                _ = every.tick() => readers.look_at_all(),
                Some(session) = notified.recv() => readers.look_at(session),
                // `next` returns `false` if no reader runs; the branch is then only disabled.
                true = readers.next() => {}
                Some(_) = callers.join_next() => {}
                Ok((stream, _)) = self.listener.accept(), if callers.len() < CALLERS_MAX => {
                    callers.spawn(attend(stream, sink.clone(), notify.clone()));
                }
            }
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // A socket that is left behind is removed at the next start.
        let _ = fs::remove_file(self.folder.socket());
    }
}

/// The sessions whose reports are being read, each by its own task: reports stay in order, and one
/// session does not delay another.
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
            Err(error) => tracing::warn!(%error, "the spool cannot be read; trying again"),
        }
    }

    /// True if no session has an unread report; false if a folder cannot be read.
    fn nothing_waits(&self) -> bool {
        let is_read = |session: &String| {
            self.folder
                .named(session)
                .is_none_or(|folder| reports(&folder).is_ok_and(|left| left.is_empty()))
        };
        self.folder.sessions().is_ok_and(|sessions| sessions.iter().all(is_read))
    }

    /// Starts a task that reads a session's reports. If one runs already, another follows it.
    fn look_at(&mut self, session: String) {
        let Some(folder) = self.folder.named(&session) else { return };
        if self.running.contains_key(&session) {
            // A report may have arrived after the task's last look.
            self.again.insert(session);
            return;
        }
        let (spool, sink, name) = (self.folder.clone(), self.sink.clone(), session.clone());
        let task = self.tasks.spawn(async move {
            if let Err(later) = drain(&spool, &folder, sink.as_ref()).await {
                tracing::warn!(session = name, %later, "a program's report is waiting");
            }
            name
        });
        self.running.insert(session, task);
    }

    /// Waits until one task has finished; returns `false` if none is running.
    async fn next(&mut self) -> bool {
        let Some(done) = self.tasks.join_next().await else { return false };
        match done {
            Ok(session) => {
                self.running.remove(&session);
                if self.again.remove(&session) {
                    self.look_at(session);
                }
            }
            // A task that panicked does not name its session. Forget all finished tasks, so that
            // their sessions can be read again.
            Err(_) => self.running.retain(|_, task| !task.is_finished()),
        }
        true
    }
}

/// Serves one hook.
async fn attend(stream: UnixStream, sink: Arc<dyn HookSink>, rings: mpsc::Sender<String>) {
    let mut caller = Caller::new(stream);
    match tokio::time::timeout(CALL_WITHIN, caller.call()).await {
        Ok(Some(HookCall::Ring { session })) => {
            // The receiver is only dropped with the task that runs this one.
            let _ = rings.send(session).await;
        }
        Ok(Some(HookCall::Passing(note))) => pass(&note, sink.as_ref()).await,
        Ok(Some(HookCall::Ask(note))) => ask(caller, &note, sink.as_ref()).await,
        Ok(None) | Err(_) => {}
    }
}

/// Passes on a report of a kind that is not stored. Ignores any other report, because it comes
/// through the spool.
async fn pass(note: &Note, sink: &dyn HookSink) {
    if !Vendor::of(&note.program).passes(&note.event) {
        return;
    }
    if let Ok(Some(hook)) = hook(note)
        && let Err(error) = sink.handle_report(hook).await
    {
        tracing::debug!(%error, "the use of a tool is not shown");
    }
}

/// Answers a hook that waits for a permission. The question ends if the hook disconnects before the
/// answer. A report that is ignored or cannot be read is answered as undecided.
async fn ask(mut caller: Caller, note: &Note, sink: &dyn HookSink) {
    // A hook without an answer would ask again.
    let permit = match hook(note) {
        Ok(Some(hook)) => tokio::select! {
            permit = decide(note, hook, sink) => permit,
            () = caller.gone() => return,
        },
        Ok(None) | Err(_) => Permit::Undecided,
    };
    // If the hook has gone meanwhile, its program asks the person at the terminal.
    let _ = caller.answer(permit).await;
}

/// If yes or no can answer the whole question, asks people, and returns their decision. Otherwise
/// only passes the report on, and returns [`Permit::Undecided`].
async fn decide(note: &Note, hook: Hook, sink: &dyn HookSink) -> Permit {
    let answerable = Vendor::of(&note.program).decides(&note.event).is_some_and(|decides| {
        lenient_json::object(&note.payload, note.cut)
            .is_some_and(|payload| (decides.answerable)(&payload))
    });
    if matches!(hook.news, HookNews::Asks(_)) && answerable && !note.cut {
        return sink.ask(hook).await;
    }
    // A question that is cut, or that yes or no cannot answer, is left to the person at the
    // terminal. It is still reported.
    if let Err(error) = sink.handle_report(hook).await {
        tracing::warn!(%error, "the state of a program that waits for its user could not be stored");
    }
    Permit::Undecided
}
