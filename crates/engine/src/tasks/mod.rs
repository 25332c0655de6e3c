//! Agents that are connected, what they are told of their tasks and conversations, and who manages
//! the tasks of which app.
//!
//! Streams say what happens; this tells it. Each stream in which somebody is connected is followed
//! by one task (`follower`), which makes of an event what it means for agents ([`Notice`]) and puts
//! it into the queue of each who is to hear it. A surface writes each notice once, however many
//! hear it. What is told is lost with the connection: whoever comes again reads what was said.

mod attendance;
pub(crate) mod directory;
mod error;
mod follower;
mod identity;
mod manager;
mod notice;
mod orders;
mod rates;
pub(crate) mod memberships;

pub use attendance::{AgentLine, AgentConnection, DisconnectReason};
pub use error::TaskError;
pub use identity::wire_id;
pub(crate) use manager::app_of;
pub use manager::{AppManifest, Forwarding, ManagerHooks, TaskManager, TaskProposal};
pub use notice::{Notice, TaskView, SharedNotice};
pub use orders::TASK_EXCHANGES_MAX;
pub use rates::{MESSAGES_A_MINUTE, REQUESTS_A_MINUTE};
