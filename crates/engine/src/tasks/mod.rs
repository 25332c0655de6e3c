//! Connected agents, the notices that they get about their tasks and conversations, and the
//! managers of apps.
//!
//! Each stream with a connected agent in it is followed by one tokio task (`follower`). The
//! follower turns events into notices ([`Notice`]) and puts them into the queues of the agents
//! concerned. A surface serialises each notice once for all its receivers. Queued notices are lost
//! with the connection. An agent that reconnects reads the missed messages from the log.

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

pub use attendance::{AgentConnection, AgentLine, DisconnectReason};
pub use error::TaskError;
pub use identity::wire_id;
pub(crate) use manager::app_of;
pub use manager::{AppManifest, Forwarding, ManagerHooks, TaskManager, TaskProposal};
pub use notice::{Notice, SharedNotice, TaskView};
pub use orders::TASK_EXCHANGES_MAX;
pub use rates::{MESSAGES_A_MINUTE, REQUESTS_A_MINUTE};
