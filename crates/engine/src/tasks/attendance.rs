//! The connection of an agent: its queue of notices, and its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use moothall_kernel::ids::ParticipantId;
use tokio::sync::{mpsc, watch};

use super::notice::SharedNotice;

/// Maximum number of notices that wait for a connection.
pub(crate) const WAITING_MAX: usize = 1024;
/// Maximum size of the waiting notices, in bytes.
pub(crate) const WAITING_BYTES_MAX: usize = 4 << 20;

/// The reason why the server closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// The client read its notices too slowly.
    TooSlow,
}

/// The sending end of a connection's queue.
#[derive(Clone)]
pub(super) struct NoticeQueue {
    pub(super) id: u64,
    sender: mpsc::Sender<Arc<SharedNotice>>,
    bytes: Arc<AtomicUsize>,
    cut: Arc<watch::Sender<Option<DisconnectReason>>>,
}

impl NoticeQueue {
    /// Puts a notice into the queue. Closes a connection with too many waiting notices. The agent
    /// loses no messages, because after it reconnects it reads them from the log.
    pub(super) fn tell(&self, notice: &Arc<SharedNotice>) {
        let waiting = self.bytes.fetch_add(notice.weight(), Ordering::Relaxed) + notice.weight();
        if waiting > WAITING_BYTES_MAX || self.sender.try_send(notice.clone()).is_err() {
            self.cut.send_replace(Some(DisconnectReason::TooSlow));
        }
    }
}

/// A handle of an agent's connection, passed with each of its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentLine {
    id: u64,
    agent: ParticipantId,
}

impl AgentLine {
    /// Returns the number of the connection, unique within this process.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the agent.
    pub fn agent(&self) -> &ParticipantId {
        &self.agent
    }
}

/// The cleanup after a connection has closed.
pub(super) type DisconnectHook = Box<dyn FnOnce() + Send + Sync>;

/// The presence of a connected agent. Dropping it disconnects the agent.
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

    /// Returns the handle of the connection.
    pub fn line(&self) -> &AgentLine {
        &self.line
    }

    /// Resolves when the server closes the connection, even if notices still wait.
    pub fn cut(&self) -> impl Future<Output = DisconnectReason> + Send + use<> {
        let mut cut = self.cut.clone();
        async move {
            cut.wait_for(Option::is_some)
                .await
                .ok()
                .and_then(|cut| *cut)
                .unwrap_or(DisconnectReason::TooSlow)
        }
    }

    /// Waits for the next notice. A close takes precedence over waiting notices.
    ///
    /// # Errors
    /// [`DisconnectReason`], if the server closes the connection.
    pub async fn next(&mut self) -> Result<Arc<SharedNotice>, DisconnectReason> {
        tokio::select! {
            biased;
            cut = self.cut.wait_for(Option::is_some) => {
                Err(cut.ok().and_then(|cut| *cut).unwrap_or(DisconnectReason::TooSlow))
            }
            notice = self.queue.recv() => {
                let notice = notice.ok_or(DisconnectReason::TooSlow)?;
                self.bytes.fetch_sub(notice.weight(), Ordering::Relaxed);
                Ok(notice)
            }
        }
    }

    /// Returns the next notice if one waits already.
    pub fn waiting(&mut self) -> Option<Arc<SharedNotice>> {
        let notice = self.queue.try_recv().ok()?;
        self.bytes.fetch_sub(notice.weight(), Ordering::Relaxed);
        Some(notice)
    }
}

impl Drop for AgentConnection {
    fn drop(&mut self) {
        if let Some(leave) = self.leave.take() {
            leave();
        }
    }
}
