//! Agents that are connected, what they are told of their tasks and conversations, and who manages
//! the tasks of which app.
//!
//! Streams say what happens; this tells it. Each stream in which somebody is connected is followed
//! by one task (`follower`), which makes of an event what it means for agents ([`Notice`]) and puts
//! it into the queue of each who is to hear it. A surface writes each notice once, however many
//! hear it. What is told is lost with the connection: whoever comes again reads what was said.

mod attendance;
mod directory;
mod error;
mod follower;
mod identity;
mod manager;
mod notice;
mod orders;
mod rates;

pub use attendance::{AgentLine, Attendance, Cut};
pub(crate) use directory::TaskDirectory;
pub use error::TaskError;
pub use identity::wire_id;
pub(crate) use manager::app_of;
pub use manager::{AppManifest, Forwarding, Hooks, TaskManager, Wish};
pub use notice::{Notice, TaskView, Told};
pub use rates::{MESSAGES_A_MINUTE, REQUESTS_A_MINUTE};

use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

/// Somebody has a place in a stream now, or has none any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeatChange {
    /// Who.
    pub(crate) agent: ParticipantId,
    /// The task, or the conversation of one.
    pub(crate) stream: StreamId,
    /// The first event of the append that brought it about.
    pub(crate) at: Seq,
    /// Whether it has one now.
    pub(crate) taken: bool,
}
