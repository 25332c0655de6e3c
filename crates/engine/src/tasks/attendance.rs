//! An agent's connection: what waits to be told over it, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use moothall_kernel::ids::ParticipantId;
use tokio::sync::{mpsc, watch};

use super::notice::SharedNotice;

/// Notices that wait for a connection, at most.
pub(crate) const WAITING_MAX: usize = 1024;
/// The same in bytes.
pub(crate) const WAITING_BYTES_MAX: usize = 4 << 20;

/// Why a connection is ended from this side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// It took too little of what waited for it.
    TooSlow,
}

/// One end of a connection's queue: where notices are put.
#[derive(Clone)]
pub(super) struct NoticeQueue {
    pub(super) id: u64,
    sender: mpsc::Sender<Arc<SharedNotice>>,
    bytes: Arc<AtomicUsize>,
    cut: Arc<watch::Sender<Option<DisconnectReason>>>,
}

impl NoticeQueue {
    /// Puts a notice into the queue. A connection that is too far behind is cut; whoever comes
    /// again reads what was said, so nothing is lost but time.
    pub(super) fn tell(&self, told: &Arc<SharedNotice>) {
        let waiting = self.bytes.fetch_add(told.weight(), Ordering::Relaxed) + told.weight();
        if waiting > WAITING_BYTES_MAX || self.sender.try_send(told.clone()).is_err() {
            self.cut.send_replace(Some(DisconnectReason::TooSlow));
        }
    }
}

/// An agent's connection, as whatever is asked over it names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentLine {
    id: u64,
    agent: ParticipantId,
}

impl AgentLine {
    /// Names this connection among all that there were.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The agent.
    pub fn agent(&self) -> &ParticipantId {
        &self.agent
    }
}

/// What is done when a connection is gone.
pub(super) type DisconnectHook = Box<dyn FnOnce() + Send + Sync>;

/// While this lives, an agent is connected.
pub struct AgentConnection {
    line: AgentLine,
    queue: mpsc::Receiver<Arc<SharedNotice>>,
    bytes: Arc<AtomicUsize>,
    cut: watch::Receiver<Option<DisconnectReason>>,
    leave: Option<DisconnectHook>,
}

impl AgentConnection {
    pub(super) fn new(id: u64, agent: ParticipantId, leave: DisconnectHook) -> (Self, NoticeQueue) {
        let (sender, queue) = mpsc::channel(WAITING_MAX);
        let (sign, cut) = watch::channel(None);
        let bytes = Arc::<AtomicUsize>::default();
        let line = NoticeQueue { id, sender, bytes: bytes.clone(), cut: Arc::new(sign) };
        (Self { line: AgentLine { id, agent }, queue, bytes, cut, leave: Some(leave) }, line)
    }

    /// The connection, as whatever is asked over it names it.
    pub fn line(&self) -> &AgentLine {
        &self.line
    }

    /// Resolves when the connection has to end, whatever still waits for it.
    pub fn cut(&self) -> impl Future<Output = DisconnectReason> + Send + use<> {
        let mut cut = self.cut.clone();
        async move {
            cut.wait_for(Option::is_some).await.ok().and_then(|cut| *cut).unwrap_or(DisconnectReason::TooSlow)
        }
    }

    /// What is told next, or why nothing is any more.
    ///
    /// # Errors
    /// [`Cut`], when the connection has to end.
    pub async fn next(&mut self) -> Result<Arc<SharedNotice>, DisconnectReason> {
        tokio::select! {
            biased;
            cut = self.cut.wait_for(Option::is_some) => {
                Err(cut.ok().and_then(|cut| *cut).unwrap_or(DisconnectReason::TooSlow))
            }
            told = self.queue.recv() => {
                let told = told.ok_or(DisconnectReason::TooSlow)?;
                self.bytes.fetch_sub(told.weight(), Ordering::Relaxed);
                Ok(told)
            }
        }
    }

    /// What waits already, without waiting.
    pub fn waiting(&mut self) -> Option<Arc<SharedNotice>> {
        let told = self.queue.try_recv().ok()?;
        self.bytes.fetch_sub(told.weight(), Ordering::Relaxed);
        Some(told)
    }
}

impl Drop for AgentConnection {
    fn drop(&mut self) {
        if let Some(leave) = self.leave.take() {
            leave();
        }
    }
}
