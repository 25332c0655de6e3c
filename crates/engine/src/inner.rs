//! What all parts of a hall share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Command, Facts};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::{broadcast, oneshot, watch};
use uuid::Uuid;

use crate::access::Begun;
use crate::agent::{Report, TurnKey};
use crate::attendance::Attendance;
use crate::budgets::Purses;
use crate::crash;
use crate::directory::{Directory, Seat, Sent};
use crate::erase::Copiers;
use crate::hall::{Answer, Bell, HallError, Idempotency, Signal};
use crate::meters::Meters;
use crate::once::Turnstiles;
use crate::ports::{Clock, EventLog, Listed, LogError, Page};
use crate::presence::Presence;
use crate::registry::Standing;
use crate::sessions::{SessionParts, Sessions};
use crate::stream::batch::offline;
use crate::stream::brief::read_span;
use crate::stream::idempotency::{IDEM, claim_key, replay};
use crate::stream::mail::{Notice, Receipt, Request, Submitted};
use crate::stream::{Begin, Wanted, shell};

/// Events read from the log at once, when all are wanted.
/// Doorbells a listener may lag behind.
const BELLS_LEN: usize = 4096;

pub(crate) struct Inner {
    pub(crate) log: Arc<dyn EventLog>,
    pub(crate) clock: Arc<dyn Clock>,
    standing: Standing,
    pub(crate) owner: String,
    pub(crate) directory: Directory,
    pub(crate) attendance: Attendance,
    pub(crate) purses: Purses,
    pub(crate) bells: broadcast::Sender<Bell>,
    pub(crate) opened_at: Timestamp,
    pub(crate) meters: Arc<Meters>,
    pub(crate) sessions: Sessions,
    pub(crate) turnstiles: Turnstiles,
    pub(crate) begun: Begun,
    pub(crate) copiers: Copiers,
    fatal: watch::Sender<Option<String>>,
    draining: AtomicBool,
    runtime: Handle,
}

impl From<LogError> for HallError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::NotFound(stream) => HallError::NotFound(stream),
            LogError::Damaged { .. } => HallError::Damaged(error.to_string()),
            LogError::Full => HallError::DiskFull,
            LogError::Unreadable(_) => HallError::Unreadable(error.to_string()),
            LogError::Fatal(_) | LogError::Failed(_) => HallError::Failed(error.to_string()),
        }
    }
}

impl Inner {
    pub(crate) fn new(parts: crate::hall::HallParts, sessions: Option<SessionParts>) -> Arc<Self> {
        Arc::new_cyclic(|hall| Self {
            sessions: Sessions::new(hall.clone(), sessions),
            opened_at: parts.clock.now(),
            log: parts.log,
            clock: parts.clock,
            standing: Standing::new(parts.registry, parts.defaults),
            owner: parts.owner,
            directory: Directory::default(),
            meters: Arc::default(),
            turnstiles: Turnstiles::default(),
            begun: Begun::default(),
            copiers: Copiers::default(),
            attendance: Attendance::default(),
            purses: Purses::new(&parts.budgets),
            bells: broadcast::channel(BELLS_LEN).0,
            fatal: watch::channel(None).0,
            draining: AtomicBool::new(false),
            runtime: Handle::current(),
        })
    }

    /// What the operator says now.
    pub(crate) fn standing(&self) -> &Standing {
        &self.standing
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What a decision about a conversation may know.
    pub(crate) fn facts(&self, state: &Conversation, now: Timestamp) -> Facts {
        let offline = offline(state, &self.attendance.reachable(state.stream(), now));
        Facts { offline, budgets: self.purses.facts(), ..Facts::default() }
    }

    /// A stream's row, or [`HallError::NotFound`].
    pub(crate) async fn find(&self, stream: &StreamId) -> Result<Listed, HallError> {
        self.log.find(stream).await?.ok_or_else(|| HallError::NotFound(stream.clone()))
    }

    pub(crate) async fn create(
        self: &Arc<Self>,
        name: String,
        policy: Policy,
        by: Actor,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.is_open()?;
        if let Some(idempotency) = &idempotency {
            let earlier = self.log.claim(IDEM, &claim_key(idempotency), self.now()).await?;
            if let Some(claim) = earlier {
                return replay(&*self.log, &claim, idempotency).await;
            }
        }
        let stream = fresh_id(self.now());
        let (reply, answer) = oneshot::channel();
        let submitted = Submitted { wanted: Wanted::Decision(ClientCommand::Create { name, policy, by }.into()), idempotency, reply };
        self.seat(&stream, Request::Submit(Box::new(submitted)), Begin::New)?;
        answer.await.unwrap_or_else(|_| Err(stopped(&stream)))
    }

    pub(crate) async fn submit(
        self: &Arc<Self>,
        stream: &StreamId,
        command: impl Into<Command>,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.submit_wanted(stream, Wanted::Decision(command.into()), idempotency).await
    }

    /// Keeps the answer to a request for its key, as a claim of a stream.
    pub(crate) async fn keep_answer(self: &Arc<Self>, stream: &StreamId, key: &Idempotency, answer: String) -> Result<(), HallError> {
        self.submit_wanted(stream, Wanted::Keeping(answer), Some(key.clone())).await.map(drop)
    }

    async fn submit_wanted(
        self: &Arc<Self>,
        stream: &StreamId,
        wanted: Wanted,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer, HallError> {
        self.is_open()?;
        let (reply, answer) = oneshot::channel();
        let submitted = Submitted { wanted, idempotency, reply };
        self.send(stream, Request::Submit(Box::new(submitted))).await?;
        answer.await.unwrap_or_else(|_| Err(stopped(stream)))
    }

    pub(crate) async fn view<T: Send + 'static>(
        self: &Arc<Self>,
        stream: &StreamId,
        question: impl FnOnce(&Conversation) -> T + Send + 'static,
    ) -> Result<T, HallError> {
        let (reply, answer) = oneshot::channel();
        let ask = move |state: Result<&Conversation, HallError>| drop(reply.send(state.map(question)));
        self.send(stream, Request::Ask(Box::new(ask))).await?;
        answer.await.unwrap_or_else(|_| Err(stopped(stream)))
    }

    pub(crate) async fn read(&self, stream: &StreamId, after: Seq, limit: Option<usize>) -> Result<Page, HallError> {
        Ok(read_span(&*self.log, stream, after, limit.unwrap_or(usize::MAX)).await?)
    }

    /// Sends a request to a stream, which is loaded if it exists and is not live.
    pub(crate) async fn send(self: &Arc<Self>, stream: &StreamId, request: Request) -> Result<(), HallError> {
        let request = match self.directory.send(stream, request) {
            Sent::Yes => return Ok(()),
            Sent::Full => return Err(HallError::Overloaded),
            Sent::Absent(request) => request,
        };
        self.find(stream).await?;
        self.seat(stream, request, Begin::Existing(self.opened_at))
    }

    /// Makes a stream live without looking whether it exists.
    pub(crate) fn seat(self: &Arc<Self>, stream: &StreamId, request: Request, begin: Begin) -> Result<(), HallError> {
        match self.directory.seat(stream, request, |seat| self.start(stream, seat, begin)) {
            Sent::Yes | Sent::Absent(_) => Ok(()),
            Sent::Full => Err(HallError::Overloaded),
        }
    }

    fn start(self: &Arc<Self>, stream: &StreamId, seat: Seat, begin: Begin) -> tokio::task::AbortHandle {
        self.runtime.spawn(shell::run(self.clone(), stream.clone(), seat, begin)).abort_handle()
    }

    /// Runs something beside the conversations; it ends with the process.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    /// Brings news of a turn to its stream. Results must not be lost, so they load a stream that is not live.
    pub(crate) fn notify(self: &Arc<Self>, stream: &StreamId, notice: Box<Notice>) {
        let Sent::Absent(notice) = self.directory.notify(stream, notice) else { return };
        if matches!(*notice, Notice::Report(_, Report::Finished { .. }, _)) {
            self.directory.seat_notice(stream, notice, |seat| self.start(stream, seat, Begin::Existing(self.opened_at)));
        }
    }

    /// Where a runtime's reports about this turn go; does not keep the hall open.
    pub(crate) fn weak(self: &Arc<Self>) -> Weak<Self> {
        Arc::downgrade(self)
    }

    /// Notes a presence and tells everyone. `None` when the stream has too many.
    pub(crate) fn note_presence(
        &self,
        stream: &StreamId,
        from: ParticipantId,
        state: String,
        details: Option<Map<String, Value>>,
    ) -> Option<Presence> {
        let presence = self.attendance.note(stream, from, state, details, self.now())?;
        crash::point("presence");
        if let Some(updates) = self.directory.updates(stream) {
            updates.signal(|| Signal::Presence(presence.clone()));
        }
        let _ = self.bells.send(Bell::Presence { stream: stream.clone(), presence: presence.clone() });
        Some(presence)
    }

    /// Remembers that the log can no longer be trusted.
    pub(crate) fn fail(&self, reason: &str) {
        tracing::error!(reason, "the log failed; the process has to stop");
        self.fatal.send_if_modified(|known| {
            let first = known.is_none();
            if first {
                *known = Some(reason.to_owned());
            }
            first
        });
    }

    pub(crate) fn fatal(&self) -> watch::Receiver<Option<String>> {
        self.fatal.subscribe()
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    pub(crate) fn stop_taking(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Whether commands are taken at all.
    pub(crate) fn is_open(&self) -> Result<(), HallError> {
        if self.is_draining() {
            return Err(HallError::ShuttingDown);
        }
        match &*self.fatal.borrow() {
            Some(reason) => Err(HallError::Failed(format!("the log failed: {reason}"))),
            None => Ok(()),
        }
    }
}

/// The key of a turn's stream, for reports.
pub(crate) fn report_to(hall: &Weak<Inner>, key: &TurnKey, report: Report) {
    if let Some(hall) = hall.upgrade() {
        hall.notify(&key.stream, Box::new(Notice::Report(key.clone(), report, None)));
    }
}

/// The same for what came of a turn, once for this key; resolves when it is kept.
pub(crate) async fn keep_report(hall: &Arc<Inner>, key: &TurnKey, report: Report, idempotency: Idempotency) -> Result<Answer, HallError> {
    let (reply, answer) = oneshot::channel();
    hall.notify(&key.stream, Box::new(Notice::Report(key.clone(), report, Some(Receipt { idempotency, reply }))));
    answer.await.unwrap_or_else(|_| Err(stopped(&key.stream)))
}

pub(crate) fn stopped(stream: &StreamId) -> HallError {
    HallError::Failed(format!("the task of conversation {stream} stopped; try again"))
}

fn fresh_id(now: Timestamp) -> StreamId {
    let millis = u64::try_from(now.millis()).unwrap_or_default();
    let nanos = u32::try_from(millis % 1000).unwrap_or_default() * 1_000_000;
    let id = Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, millis / 1000, nanos));
    StreamId::new(id.to_string())
}
