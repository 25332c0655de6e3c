//! A conversation that is begun together with those who take part in it, some of whom have to be
//! started: all of them come, or nobody does.

use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::gathering::GatheringPlan;
use moothall_kernel::policy::Policy;

use super::{NewSession, Session, SessionId};

/// A session that is to come.
pub enum SessionSource {
    /// One that lives already.
    Living(SessionId),
    /// One that is started for it, and ended again where not all come.
    Started(NewSession),
}

/// A session that is to come, and as whom.
pub struct JoiningSession {
    /// Which session.
    pub who: SessionSource,
    /// The invitation of the session, once it is there.
    pub invite: Box<dyn Fn(&Session) -> Invite + Send + Sync>,
}

/// A conversation that is begun for those who come.
pub struct ConversationPlan {
    /// Its title.
    pub title: String,
    /// Its rules.
    pub policy: Policy,
    /// Who begins it.
    pub by: Actor,
    /// The sessions that come.
    pub comers: Vec<JoiningSession>,
    /// Everybody else who is invited in the same append.
    pub others: Vec<Invite>,
    /// Keys that it takes in the same append, each `namespace:key`. Nobody comes where one is
    /// taken.
    pub claims: Vec<String>,
    /// The gathering that begins in the same append, if one does.
    pub gathering: Option<GatheringPlan>,
    /// True if programs that are started for the gathering go on after it.
    pub keep: bool,
}
