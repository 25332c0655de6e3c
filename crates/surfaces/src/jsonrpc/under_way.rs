//! The calls of one connection that are under way. Calls that wait for a task manager are counted
//! apart, so that a silent manager delays no other call. Messages of one conversation keep the
//! order in which they came.

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

/// Most calls of a connection that no manager is asked about. More wait unread, or are refused if
/// the client is read because it is asked something.
const PROMPT_MAX: usize = 32;
/// Most calls of a connection that a manager may be asked about. More are refused.
const WAITING_MAX: usize = 64;

type CallFuture = Pin<Box<dyn Future<Output = CallOutcome> + Send>>;

/// The calls of one connection that are under way.
#[derive(Default)]
pub(super) struct RunningCalls {
    prompt: FuturesUnordered<CallFuture>,
    waiting: FuturesUnordered<CallFuture>,
    /// By conversation: resolves when the last message that was sent there is done with.
    last_sent: HashMap<StreamId, oneshot::Receiver<()>>,
    /// By conversation: how many messages are being sent there.
    sending: HashMap<StreamId, usize>,
}

impl RunningCalls {
    /// True if the connection reads on without refusing calls.
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

    /// Begins a call.
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
                // An error means that the one before was given up, which is the end of it too.
                let _ = before.await;
            }
            let performed = calls::perform(&app, &at, &id, call).await;
            drop(done);
            performed
        }));
    }

    /// Waits for the next call that is done; never ends while none is under way.
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

    /// Forgets a message that is done with.
    fn settle(&mut self, conversation: &StreamId) {
        let Some(count) = self.sending.get_mut(conversation) else { return };
        *count -= 1;
        if *count == 0 {
            self.sending.remove(conversation);
            self.last_sent.remove(conversation);
        }
    }
}

/// True if a manager may be asked before the call is answered.
fn waits(call: &Call) -> bool {
    matches!(call, Call::MessagesSend(_) | Call::TaskRequest(_))
}
