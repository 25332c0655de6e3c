//! Carries reports and probe results of a runtime to the stream of their turn.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use moothall_kernel::event::Fault;

use super::mail::{NoticeRouter, TurnNotice};
use super::partial::STREAMED_BYTES_MAX;
use crate::hall::reservations::TurnPayer;
use crate::runtime::agent::{Agent, CallCost, Probe, Report, Reporter, TurnKey};

/// Fixed cost of a report in bytes, so that empty ones count against the limit.
const REPORT_BYTES: usize = 64;
/// Maximum time for the answer to a probe. After it, the turn counts as lost.
const PROBE_MAX: Duration = Duration::from_secs(10);

/// Sends the reports of one turn to its stream.
pub(super) struct TurnReporter {
    streams: Weak<dyn NoticeRouter>,
    key: TurnKey,
    streamed: AtomicUsize,
    payer: Option<TurnPayer>,
    allowance: OnceLock<u64>,
}

impl TurnReporter {
    pub(super) fn new(
        streams: Weak<dyn NoticeRouter>,
        key: TurnKey,
        payer: Option<TurnPayer>,
    ) -> Self {
        Self { streams, key, streamed: AtomicUsize::new(0), payer, allowance: OnceLock::new() }
    }
}

#[async_trait]
impl Reporter for TurnReporter {
    /// Reserves money for a call. Without an account, no budget applies.
    async fn reserve(&self, cost: CallCost) -> Result<Option<u64>, Fault> {
        let Some(payer) = &self.payer else { return Ok(None) };
        let most = payer.reserve(&self.key, cost).await?;
        if let Some(most) = most {
            let _ = self.allowance.set(most);
        }
        Ok(most)
    }

    fn allowance(&self) -> Option<u64> {
        self.allowance.get().copied()
    }

    /// Sends a report to the stream of the turn. Drops further text after twice the maximum
    /// streamed text.
    fn report(&self, report: Report) {
        if let Report::Delta(text) | Report::Progress(text) = &report {
            let before = self.streamed.fetch_add(text.len() + REPORT_BYTES, Ordering::Relaxed);
            if before + text.len() > 2 * STREAMED_BYTES_MAX {
                return;
            }
        }
        if let Some(streams) = self.streams.upgrade() {
            streams.tell(
                &self.key.stream,
                Box::new(TurnNotice::Report(self.key.clone(), report, None)),
            );
        }
    }
}

/// Asks a runtime in the background about a turn that an earlier process started, and sends the
/// result to the stream.
pub(super) fn probe(streams: Weak<dyn NoticeRouter>, key: TurnKey, agent: Arc<dyn Agent>) {
    tokio::spawn(async move {
        let probe = tokio::time::timeout(PROBE_MAX, agent.probe(&key)).await.unwrap_or(Probe::Lost);
        if let Some(streams) = streams.upgrade() {
            streams.tell(&key.stream.clone(), Box::new(TurnNotice::Probed(key, probe)));
        }
    });
}
