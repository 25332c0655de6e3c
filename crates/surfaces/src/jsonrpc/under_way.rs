//! Calls in flight on one connection. Calls that wait for a task manager have their own limit, so
//! that a silent manager delays no other call. Messages to one conversation keep their order.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use moothall_kernel::ids::StreamId;
use tokio::sync::oneshot;

use super::calls::{self, CallOutcome, ConnectedAgent};
use super::convert::stream_of;
use super::methods::Call;
use crate::http::App;
use crate::wire::rpc;

/// Maximum number of calls in flight that need no manager. More stay unread, or are refused if the
/// client must be read because the server asked it something.
const PROMPT_MAX: usize = 32;
/// Maximum number of calls in flight that may need a manager. More are refused.
const WAITING_MAX: usize = 64;

type CallFuture = Pin<Box<dyn Future<Output = CallOutcome> + Send>>;

/// The calls in flight on one connection.
#[derive(Default)]
pub(super) struct RunningCalls {
    prompt: FuturesUnordered<CallFuture>,
    waiting: FuturesUnordered<CallFuture>,
    /// By conversation: resolves when the last message sent to it is done.
    last_sent: HashMap<StreamId, oneshot::Receiver<()>>,
    /// By conversation: number of messages being sent.
    sending: HashMap<StreamId, usize>,
}

impl RunningCalls {
    /// True if a call that needs no manager can begin.
    pub(super) fn has_room(&self) -> bool {
        self.prompt.len() < PROMPT_MAX
    }

    /// True if this call can begin.
    pub(super) fn takes(&self, call: &Call) -> bool {
        if waits(call) { self.waiting.len() < WAITING_MAX } else { self.has_room() }
    }

    /// True if messages are being sent to a conversation over this connection.
    pub(super) fn sends_to(&self, conversation: &StreamId) -> bool {
        self.sending.contains_key(conversation)
    }

    /// Begins a call, which runs until [`RunningCalls::next`] returns its outcome. A message waits
    /// until the earlier messages to its conversation are done.
    pub(super) fn begin(&mut self, app: App, at: ConnectedAgent, id: String, call: Call) {
        let Call::MessagesSend(rpc::MessagesSend { conversation_id, .. }) = &call else {
            let calls = if waits(&call) { &self.waiting } else { &self.prompt };
            calls.push(Box::pin(async move { calls::perform(&app, &at, &id, call).await }));
            return;
        };
        let conversation = stream_of(*conversation_id);
        let (done, next) = oneshot::channel::<()>();
        let before = self.last_sent.insert(conversation.clone(), next);
        *self.sending.entry(conversation).or_default() += 1;
        self.waiting.push(Box::pin(async move {
            if let Some(before) = before {
                // The sender is only dropped, so the result is always an error. It means that the
                // message before is done.
                let _ = before.await;
            }
            let performed = calls::perform(&app, &at, &id, call).await;
            // This use moves `done` into the future. Otherwise the sender would be dropped when
            // `begin` returns.
            drop(done);
            performed
        }));
    }

    /// Waits for the next finished call. Stays pending while none is in flight.
    pub(super) async fn next(&mut self) -> CallOutcome {
        let (prompt, waiting) = (&mut self.prompt, &mut self.waiting);
        let done = tokio::select! {
            biased;
            Some(done) = prompt.next(), if !prompt.is_empty() => done,
            Some(done) = waiting.next(), if !waiting.is_empty() => done,
            else => std::future::pending().await,
        };
        if let Some(conversation) = &done.sent_to {
            self.settle(conversation);
        }
        done
    }

    /// Removes a finished message from the counts.
    fn settle(&mut self, conversation: &StreamId) {
        let Some(count) = self.sending.get_mut(conversation) else { return };
        *count -= 1;
        if *count == 0 {
            self.sending.remove(conversation);
            self.last_sent.remove(conversation);
        }
    }
}

/// True if a call may need a manager's answer.
fn waits(call: &Call) -> bool {
    matches!(call, Call::MessagesSend(_) | Call::TaskRequest(_))
}
