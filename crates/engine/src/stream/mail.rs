//! What a live stream's task is sent.

use std::sync::Arc;

use moothall_kernel::Aggregate;
use moothall_kernel::ids::StreamId;
use tokio::sync::oneshot;

use super::asking::ConsentRequest;
use super::io::{OwedItems, Verdict, ItemBody};
use crate::answers::{HallError, Idempotency};
use crate::runtime::agent::{Probe, Report, TurnKey};
use crate::stream::updates::Subscription;

/// Where the answer to a command goes.
pub(crate) type ReplySender = oneshot::Sender<Verdict>;

/// A question to the committed state; it answers by itself.
pub(crate) type StateQuestion = Box<dyn FnOnce(Result<&Aggregate, HallError>) + Send>;

/// A request from outside: through the bounded queue.
pub(crate) enum Request {
    /// Somebody wants something of the stream, and waits for the answer.
    Submit(Box<Submission>),
    /// Answer this from the committed state.
    Ask(StateQuestion),
    /// Somebody wants to listen.
    Subscribe(oneshot::Sender<Result<Subscription, HallError>>),
    /// Be loaded: there may be something to do.
    Wake,
    /// Look at the registry: it is another one.
    Refresh,
    /// Say when everything that came before is committed.
    Drain(oneshot::Sender<()>),
}

/// Something that is wanted from outside.
pub(crate) struct Submission {
    pub(crate) wanted: ItemBody,
    pub(crate) idempotency: Option<Idempotency>,
    /// Who has to agree first, if anybody.
    pub(crate) asked: Option<ConsentRequest>,
    pub(crate) owing: OwedItems,
    pub(crate) reply: ReplySender,
}

/// Somebody who waits until a request is done. Nobody may listen any more, and that is fine.
pub(crate) enum Waiter {
    /// For the answer to a command.
    Answer(ReplySender),
    /// To see the committed state.
    Question(StateQuestion),
    /// To listen to what the stream publishes.
    Subscriber(oneshot::Sender<Result<Subscription, HallError>>),
    /// For everything that came before.
    Drained(oneshot::Sender<()>),
}

impl Waiter {
    /// Answers that nothing was done.
    pub(crate) fn refuse(self, error: &HallError) {
        match self {
            Waiter::Answer(reply) => drop(reply.send(Err(error.clone()))),
            Waiter::Question(question) => question(Err(error.clone())),
            Waiter::Subscriber(reply) => drop(reply.send(Err(error.clone()))),
            Waiter::Drained(done) => drop(done.send(())),
        }
    }
}

impl Request {
    /// Answers that nothing was done.
    pub(crate) fn refuse(self, error: &HallError) {
        match self {
            Request::Submit(submitted) => Waiter::Answer(submitted.reply).refuse(error),
            Request::Ask(question) => Waiter::Question(question).refuse(error),
            Request::Subscribe(reply) => Waiter::Subscriber(reply).refuse(error),
            Request::Wake | Request::Refresh => {}
            Request::Drain(done) => Waiter::Drained(done).refuse(error),
        }
    }
}

/// Whoever waits until a report is kept, which takes effect once for its key.
pub(crate) struct Receipt {
    pub(crate) idempotency: Idempotency,
    pub(crate) reply: ReplySender,
}

/// News of a turn: through the lane of its own, so that reporting never waits.
pub(crate) enum TurnNotice {
    /// A runtime reports; it may wait until that is kept.
    Report(TurnKey, Report, Option<Receipt>),
    /// What a runtime knows about a turn that an earlier process began.
    Probed(TurnKey, Probe),
}

/// The way to streams, for news of their turns.
pub(crate) trait NoticeRouter: Send + Sync {
    /// Brings it to its stream. Results must not be lost, so they load one that is not live.
    fn tell(self: Arc<Self>, stream: &StreamId, notice: Box<TurnNotice>);
}
