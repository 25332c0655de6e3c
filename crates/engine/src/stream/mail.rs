//! Messages to the task of a live stream.

use std::sync::Arc;

use moothall_kernel::Aggregate;
use moothall_kernel::ids::StreamId;
use tokio::sync::oneshot;

use super::asking::ConsentRequest;
use super::io::{ItemBody, OwedItems, Taking, Verdict};
use super::remote_effects::MemberElsewhere;
use crate::answers::{HallError, Idempotency};
use crate::runtime::agent::{Probe, Report, TurnKey};
use crate::stream::updates::Subscription;

/// The channel for the answer to a command.
pub(crate) type ReplySender = oneshot::Sender<Verdict>;

/// A closure that reads the committed state and sends its answer itself.
pub(crate) type StateQuestion = Box<dyn FnOnce(Result<&Aggregate, HallError>) + Send>;

/// A request from outside, which comes through the bounded queue.
pub(crate) enum Request {
    /// A command whose sender waits for the answer.
    Submit(Box<Submission>),
    /// A question about the committed state.
    Ask(StateQuestion),
    /// A subscription to the stream's updates.
    Subscribe(oneshot::Sender<Result<Subscription, HallError>>),
    /// Loads the stream, which may have duties.
    Wake,
    /// Rereads the registry, which has changed.
    Refresh,
    /// Answers when all earlier requests are committed, and no turn runs in this process that its
    /// end would lose.
    Drain(oneshot::Sender<()>),
}

/// A request for the host, with the channel for its answer.
pub(crate) struct Submission {
    pub(crate) wanted: ItemBody,
    pub(crate) idempotency: Option<Idempotency>,
    /// The consent that the request needs first, if any.
    pub(crate) asked: Option<ConsentRequest>,
    pub(crate) owing: OwedItems,
    pub(crate) taking: Option<Box<Taking>>,
    pub(crate) reply: ReplySender,
}

/// A caller that waits until a request is done. The caller may stop waiting at any time.
pub(crate) enum Waiter {
    /// Waits for the answer to a command.
    Answer(ReplySender),
    /// Waits to read the committed state.
    Question(StateQuestion),
    /// Waits for a subscription.
    Subscriber(oneshot::Sender<Result<Subscription, HallError>>),
    /// Waits until all earlier requests are committed, as a [`Request::Drain`] does first.
    Drained(oneshot::Sender<()>),
}

impl Waiter {
    /// Answers with an error.
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
    /// Answers with an error.
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

/// A caller that waits until a report is appended. A second report with the same key takes no
/// effect.
pub(crate) struct Receipt {
    pub(crate) idempotency: Idempotency,
    pub(crate) reply: ReplySender,
}

/// A notice about a turn. It comes through an unbounded channel of its own, so that reporting never
/// waits.
pub(crate) enum TurnNotice {
    /// A report of a runtime, and the receipt if its sender waits until the report is appended.
    Report(TurnKey, Report, Option<Receipt>),
    /// The result of probing a turn that an earlier process started.
    Probed(TurnKey, Probe),
}

/// The streams, as receivers of notices about their turns.
pub(crate) trait NoticeRouter: Send + Sync {
    /// Sends a notice to its stream. A final report loads a stream that is not live, so that
    /// results are not lost.
    fn tell(self: Arc<Self>, stream: &StreamId, notice: Box<TurnNotice>);
    /// Inserts the offer of a turn to the computer of its participant as a delivery. If it was
    /// inserted before, that computer is asked for the turn's state instead. Does not wait.
    fn offer(self: Arc<Self>, key: TurnKey, to: MemberElsewhere);
}
