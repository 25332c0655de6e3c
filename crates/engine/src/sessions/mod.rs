//! Sessions, as the engine knows them: what a hall asks of those who live in it, what can be asked
//! about them, and how their programs, terminals and reports are spoken of.
//!
//! A session is one live run of a program. It has a *home*, a conversation of its own whose id is
//! the session's id: what people and other sessions send to it alone is said there, and what a
//! person types in its terminal too. In every other conversation a session is a participant like
//! any other, whose address names it. What sessions are, beside that, is the crate `terminals`,
//! which stands behind [`Residents`]; another way to have programs live here would stand there too.

mod address;
mod convening;
pub(crate) mod facts;
mod host;
mod hooks;
mod on_demand;
mod residents;

pub use address::{ADDRESS, address_of, is_session, named_by, session_of, target, target_of};
pub use convening::{JoiningSession, ConversationPlan, SessionSource};
pub use facts::{
    Asker, ClientRights, Activity, Excerpt, MessageReader, FirstWords, LINK_EXCHANGES_MAX, SessionLine, Link,
    LinkState, Member, Message, NewLink, NewObserved, NewSession, ResumedSession, GatheringSeat, SendResult, SessionData,
    SessionError, Status,
};
pub use hooks::{ReportOutcome, Hook, HookNews, Permit};
pub use host::{
    AdoptRequest, Dialog, Field, HostFault, Key, LastWords, Launch, NewestTurn, PaneNews, PaneState,
    Paste, PasteReport, Record, RecordEnd, RecordQuery, Reports, ResumeArgs, SessionHost, View,
};
pub use on_demand::{OnDemand, fail_turn};
pub use residents::{NoResidents, Resident, Residents, SessionDirectory};

pub use crate::access::reach::ReachableStreams;
pub use crate::ports::{LeftLink, Origin, Pane, Session, SessionId, Starter, UnixUser};
