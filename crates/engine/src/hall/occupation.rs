//! The state of a participant as the hall shows it.

use moothall_kernel::ids::StreamId;
use moothall_kernel::occupation::Occupation;

use crate::ports::SessionId;

/// The state of a participant of one conversation. A session has one state in all of its
/// conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownOccupation {
    /// The state.
    pub occupation: Occupation,
    /// The name of the participant.
    pub name: String,
    /// The name of the participant whose turn comes before this one's.
    pub waits_for_name: Option<String>,
    /// The session of this computer that the participant is.
    pub session: Option<SessionId>,
    /// The conversation in which the session has this state, if it is not this one.
    pub at: Option<StreamId>,
}
