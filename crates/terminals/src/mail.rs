//! A message to a session's task.

use moothall_engine::agent::{Job, PermissionAnswer, Probe, TurnKey};
use moothall_engine::sessions::{Hook, Permit, ReportOutcome, SessionError, TypingRequest};
use moothall_kernel::command::Actor;
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::time::Timestamp;
use tokio::sync::oneshot;

/// A message to a session's task.
pub(super) enum Mail {
    /// A turn to take when the terminal is free.
    Ensure(Box<Job>),
    /// The start of a turn is committed, and its prompt is this delivery.
    Begun(TurnKey, Option<u64>),
    /// A turn to end, at a person's request.
    Cancel(TurnKey),
    /// A turn that ran out of time. The program keeps working, and its answer is late.
    Lapse(TurnKey),
    /// A query for the progress of a turn.
    Probe(TurnKey, oneshot::Sender<Probe>),
    /// A report of the program. The caller who delivers it waits for the outcome.
    Hook(Hook, oneshot::Sender<Result<ReportOutcome, SessionError>>),
    /// A request of the program for permission. Its hook waits.
    Ask(Hook, oneshot::Sender<Permit>),
    /// All reports from the server's downtime have been delivered.
    CaughtUp,
    /// A request to check that open questions are still on the screen.
    Look(oneshot::Sender<()>),
    /// A person's answer to a permission, or its timeout.
    Permit(PermissionId, Option<PermissionAnswer>),
    /// A request to interrupt the program. The reply names the turn that the caller must cancel.
    Interrupt(oneshot::Sender<Result<Option<TurnKey>, SessionError>>),
    /// Keystrokes of a person, or the release of the terminal. The reply is the time at which the
    /// terminal is released if no more requests come; `None` after a release.
    Type(Actor, TypingRequest, oneshot::Sender<Result<Option<Timestamp>, SessionError>>),
    /// The end of the session's claim to its old place in this link: the session is back in the
    /// link, or the link was closed.
    PlaceUsed(StreamId),
    /// A request to end the session, for this reason.
    End(String, oneshot::Sender<Result<(), SessionError>>),
}
