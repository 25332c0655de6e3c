//! Sessions: command-line agents that live in terminals, and the links between them.
//!
//! A session is one live run of a program. It has a *home*, a conversation of its own whose id is the session's id: what people
//! and other sessions send to it alone is said there, and what a person types in its terminal too. In every other conversation a
//! session is a participant like any other, whose address names it. So there is one log, one floor and one set of guards for
//! terminals as for everyone else; what is here is the queue that lets a session run one turn at a time, and the correlation that
//! tells whose turn its words answer.

mod facts;
mod config;
mod host;
mod hooks;
mod directory;
mod naming;
mod secrets;
mod agent;
pub mod turn;
mod runner;
mod perform;
mod watch;
mod asking;
mod tags;
mod links;
mod rooms;
mod rights;
mod starts;
mod messages;

use moothall_kernel::ids::StreamId;

pub use agent::Housed;
pub use config::{Checkpoints, SessionParts, SessionsConfig};
pub use directory::Sessions;
pub(crate) use directory::{ADDRESS, target_of};
pub use facts::{
    Asker, Doing, Excerpt, Line, Link, LinkState, Member, Message, NewLink, NewObserved, NewSession, Origin, Sent, Session, SessionData,
    SessionError, Starter, Status,
};
pub use hooks::{Heard, Hook, HookNews, Permit};
pub use host::{Adopt, Dialog, HostFault, Key, Launch, Pane, PaneNews, PaneState, Reports, SessionHost, UnixUser, View};
pub(crate) use perform::is_session;
pub use rights::{ClientRights, Eyes};
pub use rooms::Rooms;
pub use starts::FirstWords;

/// Names a session: the id of its home.
pub type SessionId = StreamId;
