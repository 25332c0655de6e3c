//! What a session's task is sent.

use moothall_engine::agent::{Job, PermissionAnswer, Probe, TurnKey};
use moothall_engine::sessions::{Hook, Permit, ReportOutcome, SessionError};
use moothall_kernel::ids::{PermissionId, StreamId};
use tokio::sync::oneshot;

/// What a session's task is sent.
pub(super) enum Mail {
    /// Take this turn when its time comes.
    Ensure(Box<Job>),
    /// The start of a turn is kept, and its prompt is this delivery.
    Begun(TurnKey, Option<u64>),
    /// End a turn, because a person wants it.
    Cancel(TurnKey),
    /// A turn's time is over: what the program works on goes on, and is late.
    Lapse(TurnKey),
    /// What is known of a turn?
    Probe(TurnKey, oneshot::Sender<Probe>),
    /// The program reports something; whoever brings it waits for what came of it.
    Hook(Hook, oneshot::Sender<Result<ReportOutcome, SessionError>>),
    /// The program wants to do what its report says, and waits.
    Ask(Hook, oneshot::Sender<Permit>),
    /// What was reported while no server ran has been brought.
    CaughtUp,
    /// See whether what is asked is asked still.
    Look(oneshot::Sender<()>),
    /// A person answered, or nobody did.
    Permit(PermissionId, Option<PermissionAnswer>),
    /// Interrupt what goes on; says whose turn that is, which is still to be cancelled.
    Interrupt(oneshot::Sender<Result<Option<TurnKey>, SessionError>>),
    /// Its place in this link is used up: it is in the link again, or the link was closed.
    PlaceUsed(StreamId),
    /// End the session, for this reason.
    End(String, oneshot::Sender<Result<(), SessionError>>),
}
