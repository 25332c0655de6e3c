//! A session's entry in the directory: its status, its last screen, and the way to its task.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_engine::sessions::{Activity, PaneState, ReachableStreams, Session, Status, View};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::occupation::ToolUse;
use tokio::sync::{mpsc, watch};

use crate::mail::Mail;

/// A session's entry: its status, and the way to its task.
pub(crate) struct SessionHandle {
    known: Mutex<SessionSnapshot>,
    mail: mpsc::UnboundedSender<Mail>,
    rooms: Arc<ReachableStreams>,
    /// True once the session has ended.
    pub(super) over: watch::Sender<bool>,
    /// The newest screen of the program. It is stored in memory alone. On the disk, it would
    /// preserve words that are erased later.
    last: Mutex<Option<View>>,
}

#[derive(Clone, PartialEq)]
struct SessionSnapshot {
    session: Session,
    doing: Activity,
    waiting: usize,
    typist: Option<ParticipantId>,
    tool: Option<ToolUse>,
}

impl SessionHandle {
    /// Creates the entry of a session whose task receives this mail.
    pub(crate) fn new(session: &Session, mail: mpsc::UnboundedSender<Mail>) -> Self {
        let doing = if session.ended.is_some() { Activity::Ended } else { Activity::Starting };
        let snapshot = SessionSnapshot {
            session: session.clone(),
            doing,
            waiting: 0,
            typist: None,
            tool: None,
        };
        let known = Mutex::new(snapshot);
        let rooms = Arc::new(ReachableStreams::of(&session.id));
        let over = watch::Sender::new(session.ended.is_some());
        Self { known, mail, rooms, over, last: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, SessionSnapshot> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the conversations that the session is in or made. The set follows each join and
    /// leave.
    pub(crate) fn rooms(&self) -> &Arc<ReachableStreams> {
        &self.rooms
    }

    pub(crate) fn session(&self) -> Session {
        self.lock().session.clone()
    }

    /// Stores the status; returns true if it changed. A program that does nothing uses no tool.
    pub(crate) fn update(
        &self,
        session: &Session,
        doing: Activity,
        waiting: usize,
        typist: Option<ParticipantId>,
    ) -> bool {
        let mut known = self.lock();
        let is_at_work = matches!(doing, Activity::Busy | Activity::Asking);
        let tool = known.tool.clone().filter(|_| is_at_work);
        let new = SessionSnapshot { session: session.clone(), doing, waiting, typist, tool };
        let is_news = *known != new;
        *known = new;
        drop(known);
        self.over.send_replace(session.ended.is_some());
        is_news
    }

    /// Stores the tool that the program uses; returns true if it changed.
    pub(crate) fn uses(&self, tool: Option<ToolUse>) -> bool {
        let mut known = self.lock();
        let is_news = known.tool != tool;
        known.tool = tool;
        is_news
    }

    /// Stores the tool that the program's record shows, if the program is still at work: the record
    /// may have been read before the work ended. Returns true if the tool changed.
    pub(crate) fn recorded(&self, tool: Option<ToolUse>) -> bool {
        let is_at_work = matches!(self.lock().doing, Activity::Busy | Activity::Asking);
        is_at_work && self.uses(tool)
    }

    pub(super) fn status(&self) -> Status {
        let known = self.lock();
        let SessionSnapshot { session, doing, waiting, typist, tool } = known.clone();
        Status { session, doing, waiting, typist, tool }
    }

    fn last(&self) -> MutexGuard<'_, Option<View>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a screen, unless it is empty.
    pub(crate) fn saw(&self, view: &View) {
        if !view.text.trim().is_empty() {
            *self.last() = Some(view.clone());
        }
    }

    /// Returns the last screen of a session that has ended, without its composer and its dialog.
    pub(crate) fn last_screen(&self) -> Option<View> {
        let view = self.last().clone()?;
        Some(View { state: PaneState::Gone, composer: None, dialog: None, ..view })
    }

    /// Forgets the last screen: words that may stand in it were erased.
    pub(crate) fn forget_screen(&self) {
        *self.last() = None;
    }

    /// Sends mail to the task; returns false if the task has ended.
    pub(crate) fn send(&self, mail: Mail) -> bool {
        self.mail.send(mail).is_ok()
    }
}
