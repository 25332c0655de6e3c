//! What a live stream's task is sent.

use moothall_kernel::Conversation;
use moothall_kernel::command::Command;
use tokio::sync::oneshot;

use crate::agent::{Probe, Report, TurnKey};
use crate::hall::{Answer, HallError, Idempotency, Subscription};

/// Where the answer to a command goes.
pub(crate) type Reply = oneshot::Sender<Result<Answer, HallError>>;

/// A question to the committed state; it answers by itself.
pub(crate) type Question = Box<dyn FnOnce(Result<&Conversation, HallError>) + Send>;

/// A request from outside: through the bounded queue.
pub(crate) enum Request {
    /// Decide about this.
    Submit(Box<Submitted>),
    /// Answer this from the committed state.
    Ask(Question),
    /// Somebody wants to listen.
    Subscribe(oneshot::Sender<Result<Subscription, HallError>>),
    /// Be loaded: there may be something to do.
    Wake,
    /// Look at the registry: it is another one.
    Refresh,
    /// Say when everything that came before is committed.
    Drain(oneshot::Sender<()>),
}

/// What is wanted of a stream.
pub(crate) enum Wanted {
    /// Decide about this.
    Decision(Command),
    /// Keep this answer for the request's key.
    Keeping(String),
}

/// Something that is wanted from outside.
pub(crate) struct Submitted {
    pub(crate) wanted: Wanted,
    pub(crate) idempotency: Option<Idempotency>,
    pub(crate) reply: Reply,
}

impl Request {
    /// Answers that nothing was done. Nobody may listen any more, and that is fine.
    pub(crate) fn refuse(self, error: &HallError) {
        match self {
            Request::Submit(submitted) => drop(submitted.reply.send(Err(error.clone()))),
            Request::Ask(question) => question(Err(error.clone())),
            Request::Subscribe(reply) => drop(reply.send(Err(error.clone()))),
            Request::Wake | Request::Refresh => {}
            Request::Drain(done) => drop(done.send(())),
        }
    }
}

/// News of a turn: through the lane of its own, so that reporting never waits.
pub(crate) enum Notice {
    /// A runtime reports.
    Report(TurnKey, Report),
    /// What a runtime knows about a turn that an earlier process began.
    Probed(TurnKey, Probe),
}
