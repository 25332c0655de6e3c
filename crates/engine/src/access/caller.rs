//! Callers, and how much of the server they reach.

use std::sync::Arc;

use moothall_kernel::command::Actor;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::Kind;
use moothall_kernel::planted::{self, Bypass};
use moothall_kernel::time::Timestamp;
use moothall_kernel::view::Viewer;

use crate::access::reach::Reach;
use crate::ports::{AuditAction, AuditEntry, Principal, Scope, Scopes, SessionId, TokenId};

/// The rights of a caller without a credential.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[derive(strum::Display)]
#[strum(serialize_all = "snake_case")]
pub enum Mode {
    /// Any process on this computer may converse. Actions with wider consequences need a
    /// credential.
    #[default]
    Local,
    /// Every action needs a credential.
    Token,
}

/// A credential that was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The owner of the credential.
    pub principal: Principal,
    /// The public id of the credential.
    pub token: TokenId,
    /// The credential with which a browser signed in. Revoking it signs the browser out.
    pub parent: Option<TokenId>,
    /// When the credential expires. `None` for the start-up credential, which lasts as long as the
    /// process, and for a session's, which lasts as long as the session.
    pub expires_at: Option<Timestamp>,
    /// The session whose program shows the credential, if it is a session's token.
    pub session: Option<SessionId>,
}

impl Proof {
    /// Returns the id to write as the parent of credentials that are made with this one. Revoking
    /// that parent revokes them.
    pub fn root(&self) -> &TokenId {
        self.parent.as_ref().unwrap_or(&self.token)
    }
}

/// The sender of a request, with its rights. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The verified credential; `None` for a request without one.
    pub proof: Option<Arc<Proof>>,
    /// The scopes of the caller.
    pub scopes: Scopes,
    /// The conversations in which the caller has these scopes.
    pub reach: Reach,
}

/// The scopes of any process on this computer in local mode: all but those that an agent must never
/// take for itself.
const LOCAL: Scopes = Scopes::of(&[
    Scope::ThreadsRead,
    Scope::ThreadsWrite,
    Scope::ThreadsAdmin,
    Scope::ParticipantsInvite,
    Scope::TurnsControl,
    Scope::AgentsRun,
]);

/// The reason why a caller is rejected, in words for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessDenial {
    /// The caller has no valid credential, and needs one.
    #[error(
        "The request has no valid credential. Send `Authorization: Bearer <token>`, or sign in."
    )]
    Stranger,
    /// The credential lacks a scope.
    #[error(
        "This needs the scope `{0}`, which your credential does not have. Ask for a token with it: `moothall token create NAME --scope {0}`."
    )]
    Scope(Scope),
    /// This scope needs a credential, in local mode too.
    #[error(
        "This needs a credential with the scope `{0}`, also on this computer. Open the page at the address that `moothall page` prints, \
         use `moothall` as the user who runs the server, or send a token: Authorization: Bearer … (`moothall token create` makes one, and \
         `moothall mcp install` one for an MCP client.)"
    )]
    Proof(Scope),
    /// The caller may not unbind the chats of the group that it dissolves. The text names them.
    #[error(
        "`/group dissolve` also ends the binding to {0}, and this needs a credential with the scope \
         `threads:admin`, also on this computer. Nothing was changed. `/group remove` removes one \
         agent."
    )]
    Unbinding(String),
    /// The caller may not bind chats, and archiving a bound conversation ends its bindings until it
    /// is opened again. The text names the chats.
    #[error(
        "This conversation is bound to {0}. To archive it ends the binding, and to open it again \
         makes it anew. This needs a credential with the scope `threads:admin`, also on this \
         computer. Nothing was changed."
    )]
    Archiving(String),
    /// The caller acts under the name of another principal.
    #[error(
        "You are `{own}`, and cannot act as `{claimed}`. Leave the name out, or use a token of `{claimed}`."
    )]
    Name {
        /// The owner of the credential.
        own: ParticipantId,
        /// The name that the caller claims.
        claimed: ParticipantId,
    },
    /// The name belongs to a registered agent, and the caller did not show that agent's key.
    #[error(
        "`{0}` is a registered agent, and only its key can act as it. Connect with that key at \
         `/ws`, or give another name as `from`."
    )]
    Registered(ParticipantId),
    /// The credential is bound to conversations, and the action is about the whole server.
    #[error(
        "Your token is limited to some conversations, and this concerns the whole server. Use a \
         token without this limit."
    )]
    Bound,
    /// The caller is an agent, and did not start this session.
    #[error(
        "Another caller started `{0}`. An agent can watch, interrupt and end only the sessions \
         that it started itself; send the session a message, or ask a person."
    )]
    NotStarted(ParticipantId),
    /// The caller and the session share no conversation.
    #[error(
        "You share no conversation with `{0}`. A person can invite both of you to a conversation, \
         or link you; `moothall link` makes a link."
    )]
    NotMet(ParticipantId),
    /// The agent has begun the maximum number of conversations for now.
    #[error(
        "An agent may begin at most 20 conversations an hour, and you have reached this limit. \
         Use an existing conversation, or wait."
    )]
    Begun,
    /// Only a person may do this.
    #[error(
        "Only a person may {0}. This needs the start-up credential, or a person's own token with \
         the scope `sessions:drive`."
    )]
    Person(&'static str),
    /// The token of a session ends with the session, so no lasting credential is made from it.
    #[error(
        "The token of a session cannot be exchanged for another credential. Ask a person for one: \
         `moothall token create`."
    )]
    Session,
}

impl AccessDenial {
    /// Returns the reason in a few words, for the audit log.
    pub fn briefly(&self) -> String {
        match self {
            AccessDenial::Stranger => "without a valid credential".into(),
            AccessDenial::Scope(scope) => format!("without {scope}"),
            AccessDenial::Proof(scope) => format!("without a credential for {scope}"),
            AccessDenial::Unbinding(chats) | AccessDenial::Archiving(chats) => {
                format!("to change the binding to {chats}")
            }
            AccessDenial::Name { claimed, .. } => format!("as {claimed}"),
            AccessDenial::Registered(name) => format!("as {name}, without its key"),
            AccessDenial::Bound => "with a token for some conversations".into(),
            AccessDenial::NotStarted(name) => format!("to {name}, which it did not start"),
            AccessDenial::NotMet(name) => {
                format!("to {name}, with which it shares no conversation")
            }
            AccessDenial::Begun => "to begin so many conversations".into(),
            AccessDenial::Person(action) => format!("to {action}"),
            AccessDenial::Session => "with the token of a session".into(),
        }
    }
}

impl Caller {
    /// Returns a caller without a credential.
    pub fn anonymous(mode: Mode) -> Caller {
        let scopes = match mode {
            Mode::Local => LOCAL,
            Mode::Token => Scopes::NONE,
        };
        Caller { proof: None, scopes, reach: Reach::All }
    }

    /// Returns the caller for the case that the system cannot tell which user's process sent the
    /// request. Such a caller may make programs run only with a credential.
    #[must_use]
    pub fn unseen(self) -> Caller {
        let scopes = self
            .scopes
            .iter()
            .filter(|scope| self.is_proven() || *scope != Scope::AgentsRun)
            .collect();
        Caller { scopes, ..self }
    }

    /// Returns the caller's principal, if a credential proves it.
    pub fn principal(&self) -> Option<&Principal> {
        self.proof.as_deref().map(|proof| &proof.principal)
    }

    /// True if the caller showed a valid credential.
    pub fn is_proven(&self) -> bool {
        self.proof.is_some()
    }

    /// True if the caller showed no credential and has no scope without one, as in token mode.
    pub fn is_stranger(&self) -> bool {
        !self.is_proven() && self.scopes == Scopes::NONE
    }

    /// Returns the id of the caller's credential.
    pub fn token(&self) -> Option<&TokenId> {
        self.proof.as_deref().map(|proof| &proof.token)
    }

    /// Returns the session whose program is the caller.
    pub fn session(&self) -> Option<&SessionId> {
        self.proof.as_deref().and_then(|proof| proof.session.as_ref())
    }

    /// Checks that the caller has a scope.
    ///
    /// # Errors
    /// [`AccessDenial`].
    pub fn must(&self, scope: Scope) -> Result<(), AccessDenial> {
        match (self.scopes.has(scope), self.is_proven()) {
            (true, _) => Ok(()),
            (false, true) => Err(AccessDenial::Scope(scope)),
            (false, false) => Err(AccessDenial::Proof(scope)),
        }
    }

    /// Checks that the caller has a scope and showed a credential, also in local mode.
    ///
    /// # Errors
    /// [`AccessDenial`].
    pub fn must_prove(&self, scope: Scope) -> Result<(), AccessDenial> {
        self.must(scope)?;
        if self.is_proven() { Ok(()) } else { Err(AccessDenial::Proof(scope)) }
    }

    /// True if the caller is a proven agent.
    pub fn is_agent(&self) -> bool {
        self.principal().is_some_and(|principal| principal.kind == Kind::Agent)
    }

    /// Checks that the caller may list its own things and create new ones. A caller with a token
    /// that is bound to conversations may not.
    ///
    /// # Errors
    /// [`AccessDenial::Bound`].
    pub fn must_be_unbound(&self) -> Result<(), AccessDenial> {
        match self.reach {
            Reach::All | Reach::Session(_) => Ok(()),
            Reach::Only(_) => Err(AccessDenial::Bound),
        }
    }

    /// Checks that the caller reaches the whole server.
    ///
    /// # Errors
    /// [`AccessDenial::Bound`].
    pub fn must_reach_all(&self) -> Result<(), AccessDenial> {
        if self.reach == Reach::All { Ok(()) } else { Err(AccessDenial::Bound) }
    }

    /// Returns the actor of a request. A caller with a credential acts as its principal; only an
    /// administrator may act under another name. A caller without a credential acts under the given
    /// name, unproven. `None` if the caller has neither.
    ///
    /// # Errors
    /// [`AccessDenial::Name`].
    pub fn acting_as(&self, named: Option<ParticipantId>) -> Result<Option<Actor>, AccessDenial> {
        let Some(principal) = self.principal() else {
            return Ok(named.map(Actor::unproven));
        };
        let own = || Actor {
            id: principal.id.clone(),
            human: principal.kind == Kind::Human,
            proven: true,
        };
        match named {
            None => Ok(Some(own())),
            Some(id) if id == principal.id || self.is_named_by_session(&id) => Ok(Some(own())),
            // An operator may act under another id; the act counts as proven.
            Some(id) if self.scopes.has(Scope::ServerAdmin) => Ok(Some(Actor::named(id))),
            Some(id) if planted::is_open(Bypass::Naming) => Ok(Some(Actor::named(id))),
            Some(claimed) => Err(AccessDenial::Name { own: principal.id.clone(), claimed }),
        }
    }

    /// Returns the actor of a request as [`Caller::acting_as`] does. If that is `None`, returns the
    /// person at this computer, unproven.
    ///
    /// # Errors
    /// [`AccessDenial::Name`].
    pub fn asking_as(&self, named: Option<ParticipantId>) -> Result<Actor, AccessDenial> {
        Ok(self.acting_as(named)?.unwrap_or_else(|| Actor::unproven(ParticipantId::USER)))
    }

    /// True if the id is the id of the caller's session. A session may be named by its id too.
    fn is_named_by_session(&self, id: &ParticipantId) -> bool {
        self.session().is_some_and(|session| session.as_str() == id.as_str())
    }

    /// True if the caller sees the trace, and may read as any participant.
    fn is_operator(&self) -> bool {
        self.scopes.has(Scope::ThreadsAdmin)
    }

    /// Returns the participant that the caller reads as. An operator reads as the given name, or as
    /// an operator if there is none (`None`). Any other caller with a credential reads as its
    /// principal. A caller without a credential reads as the given name.
    ///
    /// # Errors
    /// [`AccessDenial::Name`].
    pub fn looking_as(
        &self,
        named: Option<ParticipantId>,
    ) -> Result<Option<ParticipantId>, AccessDenial> {
        match (self.principal(), named) {
            (_, named) if self.is_operator() => Ok(named),
            (Some(own), Some(claimed)) if claimed != own.id => {
                Err(AccessDenial::Name { own: own.id.clone(), claimed })
            }
            (Some(own), _) => Ok(Some(own.id.clone())),
            (None, named) => Ok(named),
        }
    }

    /// Returns the viewer that the caller reads as: the participant of [`Caller::looking_as`],
    /// otherwise an operator or a guest.
    ///
    /// # Errors
    /// [`AccessDenial::Name`].
    pub fn viewer(&self, named: Option<ParticipantId>) -> Result<Viewer, AccessDenial> {
        Ok(match self.looking_as(named)? {
            Some(id) => Viewer::Participant(id),
            None if self.is_operator() => Viewer::Operator,
            None => Viewer::Guest,
        })
    }
}

impl AuditEntry {
    /// Returns an entry for an action of a caller at this time.
    pub fn of(by: &Caller, action: AuditAction, now: Timestamp) -> Self {
        let (principal, token) =
            (by.principal().map(|principal| principal.id.clone()), by.token().cloned());
        Self { at: now, action, by: principal, token, about: None, detail: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    fn holder(id: &str, kind: Kind, scopes: Scopes) -> Caller {
        let principal = Principal { id: id.into(), kind };
        let proof = Proof {
            principal,
            token: TokenId::new("t"),
            parent: None,
            expires_at: None,
            session: None,
        };
        Caller { proof: Some(Arc::new(proof)), scopes, reach: Reach::All }
    }

    #[test]
    fn in_local_mode_the_name_is_the_clients_word_and_proves_nothing() {
        let anybody = Caller::anonymous(Mode::Local);
        assert_eq!(anybody.acting_as(Some("ann".into())), Ok(Some(Actor::unproven("ann"))));
        assert_eq!(anybody.viewer(None), Ok(Viewer::Operator));
        assert_eq!(anybody.must(Scope::ThreadsAdmin), Ok(()));
        assert_eq!(
            anybody.must_prove(Scope::ThreadsAdmin),
            Err(AccessDenial::Proof(Scope::ThreadsAdmin))
        );
        for scope in [Scope::PermissionsAnswer, Scope::ServerAdmin] {
            assert_eq!(anybody.must(scope), Err(AccessDenial::Proof(scope)));
        }
    }

    #[test]
    fn in_token_mode_nobody_may_do_anything_without_a_credential() {
        let anybody = Caller::anonymous(Mode::Token);
        assert!(
            Scope::VARIANTS.iter().all(|scope| anybody.must(*scope).is_err())
                && anybody.is_stranger()
        );
        assert!(!Caller::anonymous(Mode::Local).unseen().is_stranger());
        assert_eq!(anybody.viewer(None), Ok(Viewer::Guest));
    }

    #[test]
    fn whoever_is_known_acts_and_looks_in_their_own_name() {
        let critic =
            holder("critic", Kind::Agent, Scopes::of(&[Scope::ThreadsRead, Scope::ThreadsWrite]));
        assert_eq!(critic.acting_as(None), Ok(Some(Actor::named("critic"))));
        let denied = AccessDenial::Name { own: "critic".into(), claimed: "user".into() };
        assert_eq!(critic.acting_as(Some("user".into())), Err(denied.clone()));
        assert_eq!(critic.viewer(Some("user".into())), Err(denied));
        assert_eq!(critic.viewer(None), Ok(Viewer::Participant("critic".into())));
        let ann = holder("ann", Kind::Human, Scopes::of(&[Scope::ThreadsWrite]));
        assert_eq!(ann.acting_as(Some("ann".into())), Ok(Some(Actor::human("ann"))));
    }

    #[test]
    fn an_administrator_may_speak_for_others_and_does_not_make_them_people() {
        let operator = holder("user", Kind::Human, Scopes::of(&[Scope::ServerAdmin]));
        assert_eq!(operator.acting_as(Some("critic".into())), Ok(Some(Actor::named("critic"))));
        assert_eq!(operator.viewer(None), Ok(Viewer::Operator));
        assert_eq!(
            operator.viewer(Some("critic".into())),
            Ok(Viewer::Participant("critic".into()))
        );
    }
}
