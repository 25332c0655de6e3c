//! Beginning a conversation together with its members, some of which have to be started. Either all
//! members come or none.

use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::gathering::GatheringPlan;
use moothall_kernel::policy::Policy;

use super::{NewSession, Session, SessionId};

/// A session to bring into a conversation.
pub enum SessionSource {
    /// A living session.
    Living(SessionId),
    /// A session that is started for the conversation. It is ended again if not all members come.
    Started(NewSession),
}

/// A session to bring, with its invitation.
pub struct JoiningSession {
    /// The session to bring.
    pub who: SessionSource,
    /// A function that returns the invitation of the session. It is called when the session exists.
    pub invite: Box<dyn Fn(&Session) -> Invite + Send + Sync>,
}

/// A conversation to begin together with its members.
pub struct ConversationPlan {
    /// The title.
    pub title: String,
    /// The rules.
    pub policy: Policy,
    /// The participant who begins the conversation.
    pub by: Actor,
    /// The sessions to bring.
    pub joining: Vec<JoiningSession>,
    /// The other participants to invite in the same append.
    pub others: Vec<Invite>,
    /// Keys to claim in the same append, each `namespace:key`. If one is taken, the conversation
    /// does not begin.
    pub claims: Vec<String>,
    /// The gathering that begins in the same append, if one does.
    pub gathering: Option<GatheringPlan>,
    /// True if the programs started for the gathering outlive it.
    pub keep: bool,
}
