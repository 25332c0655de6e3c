//! Access control: credentials, their scopes and reach, and the audit log.
//!
//! A surface takes the credential from a request and asks [`Access`] to identify it. The answer is
//! a [`Caller`], which is checked before each action. [`Principals`] in the log stores the hashes
//! of tokens. The start-up credential belongs to one run of the server and is not stored. The
//! session directory knows the tokens of sessions. Open connections get a notice if their
//! credential is revoked, and if the session that opened them ends.

pub mod reach;
mod caller;
mod refusals;
pub(crate) mod start_rate;
mod permit;
mod invite;
mod pairing;
mod keyed;
mod alike;
mod register;
mod revoke;
mod registering;
mod registrations;
mod sign_in;
mod remote;
mod remote_link;
mod session_act;
mod unsuitable;
pub(crate) mod warrant;

pub use crate::access::reach::Reach;
pub use crate::ports::{
    AgentCard, AuditAction, AuditEntry, AuditRecord, CARDS_LISTED_MAX, CARDS_MAX, CardCount,
    ClaimOutcome, InsertOutcome, Principal, Principals, RandomnessError, RegisterOutcome,
    Registration, RevocationScope, Scope, Scopes, Secret, Token, TokenHash, TokenId, TokenKind,
    TokenPlace, reach_of,
};
pub use caller::{AccessDenial, Caller, Mode, Proof};
pub use invite::{INVITATION_VALID, INVITATION_VALID_MAX, NewInvitation};
pub use pairing::{NewPairing, PAIRING_SCOPES, PAIRING_VALID, PairingOutcome};
pub use permit::PermittedCommand;
pub use register::{NewAgent, NewlyRegistered, RegistrationError};
pub use remote::{RemoteCaller, RemoteRight, RemoteRights};
pub use revoke::Revocation;
pub use unsuitable::{ARG_BYTES_MAX, ARGS_MAX, MESSAGE_BYTES_MAX, SessionRequestError};
pub use warrant::{AuthorizedRequest, SessionAction, Warrant};

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::names::check_name_of;
use moothall_kernel::participant::Kind;
use moothall_kernel::text::counted;
use moothall_kernel::time::{Millis, Timestamp};
use tokio::sync::broadcast;

use crate::answers::HallError;
use crate::channels::ChannelError;
use crate::computers::ComputerError;
use crate::hall::Hall;
use crate::sessions::{Residents, SessionError};
use refusals::Refusals;
use registering::RegistrationCounter;

/// Number of revocations that a listener may lag behind. A slower one treats its own credential as
/// revoked, and the client has to show it again.
const REVOCATIONS_LEN: usize = 1024;
/// Shortest time between two updates of a credential's last use.
const USE_NOTED_EVERY: Millis = Millis::from_secs(60);
/// Validity of a browser's sign-in.
const SESSION_VALID: Millis = Millis::from_secs(30 * 86_400);
/// Default validity of a token.
pub const TOKEN_VALID: Millis = Millis::from_secs(90 * 86_400);
/// Maximum validity of a token.
pub const TOKEN_VALID_MAX: Millis = Millis::from_secs(3650 * 86_400);
/// Maximum number of conversations that a token is bound to: each request reads the list.
pub const TOKEN_THREADS_MAX: usize = 64;

/// Default scopes of a person's token.
const PERSONAL: Scopes = Scopes::of(&[
    Scope::ThreadsRead,
    Scope::ThreadsWrite,
    Scope::ParticipantsInvite,
    Scope::TurnsControl,
    Scope::AgentsRun,
]);
/// Default scopes of an agent's token.
const AGENT: Scopes = Scopes::of(&[Scope::ThreadsRead, Scope::ThreadsWrite]);

/// The reason why a request to [`Access`] or the door failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AccessError {
    /// A token or invitation with these settings is not possible.
    #[error("{0}")]
    Invalid(String),
    /// The principal is known as the other kind.
    #[error(
        "`{0}` is known here as the other kind. A principal's kind, person or agent, never \
         changes. Choose another id."
    )]
    OtherKind(ParticipantId),
    /// The id is, or was, the name of a session.
    #[error(
        "`{0}` is or was the name of a session, and such a name stays reserved. Choose another id."
    )]
    OfSession(ParticipantId),
    /// Readers could take an agent with this name for a person or the server. The text is the end
    /// of a sentence and says why.
    #[error(
        "`{0}` {1}: readers could mistake the agent for a person or for the operator. Choose \
         another id."
    )]
    NameOfOther(ParticipantId, String),
    /// A reader could confuse the name with another one.
    #[error("`{0}` looks like `{1}`, which is already in use here. Choose another id.")]
    LooksLike(ParticipantId, String),
    /// The token does not exist.
    #[error("No token has this id. `GET /tokens` lists the tokens.")]
    Unknown,
    /// No registered agent has this id or name.
    #[error(
        "No registered agent has the name or id {0:?}. `GET /registrations` lists the registered \
         agents."
    )]
    UnknownAgent(String),
    /// The app belongs to no agent.
    #[error("No agent has the app {0:?}. `GET /apps` lists the apps that have an agent.")]
    UnknownApp(String),
    /// A channel does not exist, or refused the request.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// A request about other computers failed.
    #[error(transparent)]
    Computer(#[from] ComputerError),
    /// The caller may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenial),
    /// The log failed, or a conversation does not exist.
    #[error(transparent)]
    Hall(#[from] HallError),
    /// The session does not exist, or its state forbids the request.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The session cannot be asked for this.
    #[error(transparent)]
    Unfit(#[from] SessionRequestError),
}

impl From<RandomnessError> for AccessError {
    fn from(error: RandomnessError) -> Self {
        AccessError::Hall(HallError::Failed(error.to_string()))
    }
}

/// A request for a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// The owner of the token.
    pub principal: Principal,
    /// The scopes; by default the usual scopes of the principal's kind.
    pub scopes: Option<Scopes>,
    /// The conversations that the token is bound to; unbound by default.
    pub threads: Option<BTreeSet<StreamId>>,
    /// The label, for people.
    pub label: String,
    /// The validity; [`TOKEN_VALID`] by default.
    pub valid_for: Option<Millis>,
}

/// The parts of the start-up credential that are needed to recognise it.
struct Startup {
    id: TokenId,
    hash: TokenHash,
}

/// The service that makes, identifies and revokes credentials, and records their use.
pub struct Access {
    hall: Hall,
    mode: Mode,
    startup: Option<Startup>,
    revoked: broadcast::Sender<TokenId>,
    refusals: Refusals,
    /// The hash of the code that agents need to register, if one is set.
    registration: Option<TokenHash>,
    registering: RegistrationCounter,
}

impl Access {
    /// Returns the access service of a hall, with the start-up credential of this run.
    pub fn new(hall: Hall, mode: Mode, startup: Option<&Secret>) -> Self {
        let startup = startup.and_then(|secret| {
            Some(Startup { id: TokenId::fresh_startup().ok()?, hash: secret.hash() })
        });
        Self {
            hall,
            mode,
            startup,
            revoked: broadcast::channel(REVOCATIONS_LEN).0,
            refusals: Refusals::default(),
            registration: None,
            registering: RegistrationCounter::default(),
        }
    }

    /// Returns the mode, which says what a caller may do without a credential.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns a caller without a credential.
    pub fn anonymous(&self) -> Caller {
        Caller::anonymous(self.mode)
    }

    /// Returns the caller that a credential identifies. `None` for every credential that is not
    /// valid, and for an invitation or another code that can only be exchanged.
    ///
    /// # Errors
    /// [`HallError`], if the credential cannot be looked up.
    pub async fn identify(&self, presented: &str) -> Result<Option<Caller>, HallError> {
        if let Some(caller) = self.of_session(presented) {
            return Ok(Some(caller));
        }
        let Some(hash) = Secret::parse(presented).map(|secret| secret.hash()) else {
            return Ok(None);
        };
        if let Some(startup) = self.startup.as_ref().filter(|startup| startup.hash == hash) {
            return Ok(Some(operator(&startup.id)));
        }
        let now = self.hall.now();
        let found = self.principals().token(&hash).await?;
        let Some(token) = found.filter(|token| token.is_valid(now)) else { return Ok(None) };
        if !token.kind.is_presented() {
            return Ok(None);
        }
        Ok(Some(self.holder(token, now).await))
    }

    /// Returns the caller that holds a token, and notes its use.
    async fn holder(&self, token: Token, now: Timestamp) -> Caller {
        self.note_use(&token, now).await;
        let root = token.parent.clone().filter(|_| token.depends_on_parent());
        let Token { id, principal, scopes, reach, expires_at, .. } = token;
        let proof = Proof {
            principal,
            token: id,
            parent: root,
            expires_at: Some(expires_at),
            session: None,
        };
        Caller { proof: Some(Arc::new(proof)), scopes, reach }
    }

    /// Notes that a token was used, at most once per [`USE_NOTED_EVERY`]. A failure is only logged.
    async fn note_use(&self, token: &Token, now: Timestamp) {
        if token.last_used_at.is_some_and(|last| last.is_within(USE_NOTED_EVERY, now)) {
            return;
        }
        if let Err(error) = self.principals().note_use(&token.id, now).await {
            tracing::debug!(%error, token = %token.id, "the last use of a token could not be \
                                                        recorded");
        }
    }

    /// Subscribes to revocations. Call this before the credential is looked up, so that no
    /// revocation is missed.
    pub fn listen(&self) -> Revocations {
        Revocations {
            revoked: self.revoked.subscribe(),
            residents: self.hall.inner.residents.clone(),
        }
    }

    /// Makes a token. The secret is shown only in this answer.
    ///
    /// # Errors
    /// [`AccessError`]; nothing was made then.
    pub async fn create(
        &self,
        by: &Caller,
        wanted: NewToken,
    ) -> Result<(Secret, Token), AccessError> {
        let token_kind = TokenKind::of(wanted.principal.kind);
        let secret = Secret::fresh(token_kind)?;
        let token = self.described(token_kind, &secret, wanted).await?;
        let entry =
            self.entry(by, AuditAction::TokenCreated).about(&token.id).saying(describe(&token));
        self.store(&token, &entry).await?;
        Ok((secret, token))
    }

    /// Stores a new token.
    ///
    /// # Errors
    /// [`AccessError::OtherKind`] if the principal is known as the other kind. After each error
    /// the token is not stored.
    async fn store(&self, token: &Token, entry: &AuditEntry) -> Result<(), AccessError> {
        match self.principals().add_token(token, entry).await.map_err(HallError::from)? {
            InsertOutcome::Yes => Ok(()),
            InsertOutcome::OtherKind | InsertOutcome::Used => {
                Err(AccessError::OtherKind(token.principal.id.clone()))
            }
        }
    }

    /// Checks a request for a token, and returns the token to store.
    async fn described(
        &self,
        kind: TokenKind,
        secret: &Secret,
        wanted: NewToken,
    ) -> Result<Token, AccessError> {
        let NewToken { principal, scopes, threads, label, valid_for } = wanted;
        let scopes = scopes.unwrap_or(usual_scopes(principal.kind));
        check_scopes(&principal, scopes, threads.is_some())?;
        self.check_name(&principal).await?;
        let valid_for = valid_for.unwrap_or(TOKEN_VALID);
        if valid_for.0 == 0 || valid_for > TOKEN_VALID_MAX {
            return Err(AccessError::Invalid(
                "A token must be valid for more than 0 seconds and at most ten years.".into(),
            ));
        }
        for thread in threads.iter().flatten() {
            self.hall.find(thread).await?;
        }
        let now = self.hall.now();
        Ok(Token {
            id: TokenId::fresh()?,
            kind,
            hash: secret.hash(),
            principal,
            scopes,
            reach: threads.map_or(Reach::All, |threads| Reach::Only(threads.into())),
            label,
            parent: None,
            created_at: now,
            expires_at: now + valid_for,
            last_used_at: None,
            revoked_at: None,
        })
    }

    /// Returns the name of another that a reader could confuse with the name of a new principal.
    /// `None` for a known principal, which keeps its name. An agent of the registry with exactly
    /// this name does not count, because the principal may be for the program that runs as it.
    async fn look_alike(&self, id: &ParticipantId) -> Result<Option<String>, HallError> {
        if self.principals().principal(id).await?.is_some() {
            return Ok(None);
        }
        self.hall.resembled(id.as_str(), id, Some(id.as_str())).await
    }

    /// Rejects the name of a session, living or ended, a name that a reader could confuse with
    /// another's, and a malformed name of an agent. Also rejects an agent under a word that means a
    /// person, the reader or the operator, such as `human` or `admin`, and under a name that looks
    /// like such a word. For a known principal, the comparison with others and the check of these
    /// words are left out.
    async fn check_name(&self, principal: &Principal) -> Result<(), AccessError> {
        if self.hall.inner.residents.is_name_used(&principal.id) {
            return Err(AccessError::OfSession(principal.id.clone()));
        }
        if let Some(taken) = self.look_alike(&principal.id).await? {
            return Err(AccessError::LooksLike(principal.id.clone(), taken));
        }
        match principal.kind {
            Kind::Human => Ok(()),
            Kind::Agent => {
                let known =
                    self.principals().principal(&principal.id).await.map_err(HallError::from)?;
                let checked = check_name_of(principal.id.as_str(), known.is_some());
                checked.map_err(|fault| {
                    AccessError::NameOfOther(principal.id.clone(), fault.explain())
                })
            }
        }
    }

    /// Signs a browser in. Exchanges any valid credential, or an invitation, for a new credential.
    /// Returns `None` if the presented one is not valid.
    ///
    /// # Errors
    /// [`AccessError`], if the presented credential is the token of a session, or a credential
    /// cannot be looked up or stored.
    pub async fn sign_in(&self, presented: &str) -> Result<Option<(Secret, Caller)>, AccessError> {
        let accepted = self.accept(presented).await?;
        let presented = accepted.as_ref().map_or(presented, |(secret, _)| secret.reveal());
        let Some(caller) = self.identify(presented).await? else { return Ok(None) };
        let Some(proof) = caller.proof.clone() else { return Ok(None) };
        if proof.session.is_some() {
            return Err(AccessDenial::Session.into());
        }
        let (secret, now) = (Secret::fresh(TokenKind::SignIn)?, self.hall.now());
        let until = now + SESSION_VALID;
        let token = Token {
            id: TokenId::fresh()?,
            kind: TokenKind::SignIn,
            hash: secret.hash(),
            principal: proof.principal.clone(),
            scopes: caller.scopes,
            reach: caller.reach.clone(),
            label: "browser".into(),
            parent: Some(proof.root().clone()),
            created_at: now,
            expires_at: proof.expires_at.map_or(until, |earlier| earlier.min(until)),
            last_used_at: None,
            revoked_at: None,
        };
        let entry = self.entry(&caller, AuditAction::SignedIn).about(&token.id);
        self.store(&token, &entry).await?;
        let Token { id, principal, parent, expires_at, .. } = token;
        let proof =
            Proof { principal, token: id, parent, expires_at: Some(expires_at), session: None };
        Ok(Some((secret, Caller { proof: Some(Arc::new(proof)), ..caller })))
    }

    /// Signs a browser out, by revoking its own credential.
    ///
    /// # Errors
    /// [`HallError`], if the revocation cannot be stored.
    pub async fn sign_out(&self, caller: &Caller) -> Result<(), HallError> {
        let Some(id) = caller.token() else { return Ok(()) };
        let entry = self.entry(caller, AuditAction::SignedOut);
        self.take_back(id, RevocationScope::Own, &entry).await.map(drop)
    }

    /// Returns at most `limit` tokens, oldest first. With `after`, begins after that place.
    ///
    /// # Errors
    /// [`HallError`], if the tokens cannot be read.
    pub async fn tokens(
        &self,
        after: Option<&TokenPlace>,
        limit: usize,
    ) -> Result<Vec<Token>, HallError> {
        Ok(self.principals().tokens(after, limit).await?)
    }

    /// Returns at most `limit` rows of the audit log, newest first. With `before`, returns only
    /// rows before that number.
    ///
    /// # Errors
    /// [`HallError`], if the log cannot be read.
    pub async fn audit(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<AuditRecord>, HallError> {
        Ok(self.principals().audit(before, limit).await?)
    }

    /// Records that a request was refused. Above a certain rate, refusals are only counted, so that
    /// a flood does not fill the disk.
    pub async fn record_refusal(&self, caller: &Caller, detail: String) {
        let Some(more) = self.refusals.admit(self.hall.now()) else { return };
        let detail = if more == 0 {
            detail
        } else {
            format!("{detail} (and {more} more before, not recorded)")
        };
        let entry = self.entry(caller, AuditAction::Denied).saying(detail);
        if let Err(error) = self.principals().record(&entry).await {
            tracing::warn!(%error, "a refused request was not recorded");
        }
    }

    fn entry(&self, by: &Caller, action: AuditAction) -> AuditEntry {
        AuditEntry::of(by, action, self.hall.now())
    }

    fn principals(&self) -> &dyn Principals {
        &*self.hall.inner.store.principals
    }
}

/// Returns the caller of the start-up credential, which is the person who started the server.
fn operator(id: &TokenId) -> Caller {
    let principal = Principal { id: ParticipantId::user(), kind: Kind::Human };
    let proof =
        Proof { principal, token: id.clone(), parent: None, expires_at: None, session: None };
    Caller { proof: Some(Arc::new(proof)), scopes: Scopes::ALL, reach: Reach::All }
}

/// Returns the scopes of a token if its request names none.
const fn usual_scopes(kind: Kind) -> Scopes {
    match kind {
        Kind::Human => PERSONAL,
        Kind::Agent => AGENT,
    }
}

/// Rejects a token that could never be used or would give too much: a token for a reserved id,
/// without a scope, for an agent with a scope for people, or with `server:admin` but limited to
/// conversations. `is_bound` is true for a token that is limited to conversations.
fn check_scopes(principal: &Principal, scopes: Scopes, is_bound: bool) -> Result<(), AccessError> {
    let invalid = |text: String| Err(AccessError::Invalid(text));
    let person = principal.id.as_str() == ParticipantId::USER;
    if principal.id.as_str() == ParticipantId::MOOTHALL || (person && principal.kind == Kind::Agent)
    {
        return invalid(format!(
            "`{}` cannot be the principal of such a token; choose another id.",
            principal.id
        ));
    }
    if scopes == Scopes::NONE {
        return invalid("A token needs at least one scope.".into());
    }
    if let Some(scope) =
        scopes.iter().find(|scope| principal.kind == Kind::Agent && scope.is_for_people_only())
    {
        return invalid(format!(
            "`{scope}` is for people only. Agents cannot answer their own questions, and cannot \
             administer conversations or the server."
        ));
    }
    if is_bound && scopes.has(Scope::ServerAdmin) {
        return invalid(format!(
            "`{}` concerns the whole server, so a token with it cannot be limited to \
             conversations.",
            Scope::ServerAdmin
        ));
    }
    Ok(())
}

/// Returns a short description of a token for the audit log.
fn describe(token: &Token) -> String {
    let place = token.reach.only().map_or(String::new(), |threads| {
        format!(", in {}", counted(threads.len() as u64, "conversation"))
    });
    format!("{} for {}: {}{place}", token.kind, token.principal.id, token.scopes.words())
}

impl AuditEntry {
    fn about(mut self, token: &TokenId) -> Self {
        self.about = Some(token.clone());
        self
    }

    fn saying(mut self, detail: String) -> Self {
        self.detail = detail;
        self
    }
}

/// A listener for the end of a credential in use.
pub struct Revocations {
    revoked: broadcast::Receiver<TokenId>,
    residents: Arc<dyn Residents>,
}

impl Revocations {
    /// Resolves when the caller's credential expires or is revoked, when the calling session ends,
    /// or when a session that reached all conversations loses that reach. Also resolves if notices
    /// of revocations were missed. Never resolves for a caller without a credential.
    pub async fn wait_until_lost(mut self, caller: Caller, now: Timestamp) {
        let Some(proof) = caller.proof else { return std::future::pending().await };
        let expired = async {
            match proof.expires_at {
                Some(expires_at) => {
                    tokio::time::sleep(Duration::from_millis(expires_at.since(now).0)).await
                }
                None => std::future::pending().await,
            }
        };
        let revoked = async {
            loop {
                match self.revoked.recv().await {
                    Ok(id) if id == proof.token || Some(&id) == proof.parent.as_ref() => return,
                    Ok(_) => {}
                    // The receiver lagged, and a missed revocation may concern this caller.
                    Err(_) => return,
                }
            }
        };
        let ended = async {
            match &proof.session {
                Some(session) => self.residents.wait_for_end(session).await,
                None => std::future::pending().await,
            }
        };
        let narrowed = async {
            match &proof.session {
                Some(session) if caller.reach == Reach::All => {
                    self.residents.reach_less(session).await
                }
                Some(_) | None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = expired => {}
            () = revoked => {}
            () = ended => {}
            () = narrowed => {}
        }
    }
}
