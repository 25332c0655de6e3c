//! Credentials on the wire. A credential itself is in two bodies only: the request that signs in,
//! and the answer that made it.

use moothall_engine::access::{AuditRecord, Caller, Mode, Revocation, Token};
use moothall_kernel::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /session`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// The start-up credential or a token.
    pub key: String,
}

/// Answer of `GET /session` and `POST /session`: who asks, and what they may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhoAmI {
    /// `local`: conversations need no credential. `token`: everything does.
    pub mode: String,
    /// Whose credential it is; `null` where there is none.
    pub principal: Option<PrincipalRef>,
    /// What they may do, e.g. `threads:read`.
    pub scopes: Vec<String>,
    /// The conversations that they reach; `null` stands for all.
    pub threads: Option<Vec<String>>,
    /// The id of the credential.
    pub token: Option<String>,
    /// From when on it is worth nothing; `null` where nobody can say yet.
    pub expires_at: Option<String>,
}

/// Somebody whom the server knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PrincipalRef {
    /// The id under which they take part.
    pub id: String,
    /// `human` or `agent`.
    pub kind: String,
}

impl WhoAmI {
    /// What there is to say about a caller.
    pub fn of(mode: Mode, caller: &Caller) -> Self {
        let proof = caller.proof.as_deref();
        Self {
            mode: mode.to_string(),
            principal: caller
                .principal()
                .map(|own| PrincipalRef { id: own.id.to_string(), kind: own.kind.to_string() }),
            scopes: caller.scopes.iter().map(|scope| scope.to_string()).collect(),
            threads: caller
                .reach
                .only()
                .map(|threads| threads.iter().map(ToString::to_string).collect()),
            token: caller.token().map(ToString::to_string),
            expires_at: proof.and_then(|proof| proof.expires_at).map(|at| at.to_string()),
        }
    }
}

/// Answer of `POST /session/end`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignedOut {
    /// Whether there was a cookie that was worth something.
    pub ended: bool,
}

/// Body of `POST /threads/{id}/invitations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationRequest {
    /// The id under which whoever accepts it takes part. Required.
    #[schema(pattern = "^[A-Za-z0-9._:-]{1,64}$")]
    pub principal: String,
    /// `human` (also where it is missing) or `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(human|agent)$")]
    pub kind: Option<String>,
    /// What the token will allow; what is usual for the kind where it is missing, and never more
    /// than the inviter's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// 1 to 168; 24 where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 168)]
    pub expires_in_hours: Option<u64>,
}

/// Body of `POST /invitations/accept`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationAccepted {
    /// The code of the invitation, which is worth something once.
    pub code: String,
}

/// A code that can be handed on: the answer of `POST /threads/{id}/invitations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InvitationCode {
    /// The code; worth something once.
    pub code: String,
    /// Until when. Only in answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// Body of `POST /tokens`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// The id of the person or agent that it is for. Required.
    #[schema(pattern = "^[A-Za-z0-9._:-]{1,64}$")]
    pub principal: String,
    /// `human` (also where it is missing) or `agent`; a principal stays what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(human|agent)$")]
    pub kind: Option<String>,
    /// What it allows; what is usual for the kind where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// The only conversations that it reaches; all where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1, max_items = 64)]
    pub threads: Option<Vec<String>>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100)]
    pub label: Option<String>,
    /// 1 to 3650; 90 where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 3650)]
    pub expires_in_days: Option<u64>,
}

/// Answer of `POST /tokens`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenCreated {
    /// The token itself, for this once.
    pub token: String,
    /// What is kept about it.
    #[serde(flatten)]
    pub entry: TokenEntry,
}

/// What is kept about a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenEntry {
    /// Its public id, by which it is listed, revoked and audited.
    pub id: String,
    /// `personal`, `agent`, `session` or `invitation`.
    pub kind: String,
    /// The person or agent whose token it is.
    pub principal: PrincipalRef,
    /// What whoever holds it may do, e.g. `threads:read`.
    pub scopes: Vec<String>,
    /// The only conversations that it reaches; `null` stands for all.
    pub threads: Option<Vec<String>>,
    /// What people call it.
    pub label: String,
    /// The id of the credential that it was made from: that a browser signed in with, or that made
    /// the invitation.
    pub parent: Option<String>,
    /// When it was made.
    pub created_at: String,
    /// From when on it is worth nothing.
    pub expires_at: String,
    /// When it was last seen, to the minute.
    pub last_used_at: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

impl TokenRevoked {
    /// Returns what came of it.
    pub fn of(revocation: &Revocation) -> Self {
        Self {
            revoked: true,
            changed: !revocation.revoked.is_empty(),
            ids: revocation.revoked.iter().map(ToString::to_string).collect(),
            children: revocation.left.iter().map(TokenEntry::of).collect(),
        }
    }
}

impl TokenEntry {
    /// Everything but the token.
    pub fn of(token: &Token) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Self {
            id: token.id.to_string(),
            kind: token.kind.to_string(),
            principal: PrincipalRef {
                id: token.principal.id.to_string(),
                kind: token.principal.kind.to_string(),
            },
            scopes: token.scopes.iter().map(|scope| scope.to_string()).collect(),
            threads: token
                .reach
                .only()
                .map(|threads| threads.iter().map(ToString::to_string).collect()),
            label: token.label.clone(),
            parent: token.parent.as_ref().map(ToString::to_string),
            created_at: token.created_at.to_string(),
            expires_at: token.expires_at.to_string(),
            last_used_at: time(token.last_used_at),
            revoked_at: time(token.revoked_at),
        }
    }
}

/// Answer of `GET /tokens`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenList {
    /// Those that are kept, the oldest first.
    pub tokens: Vec<TokenEntry>,
    /// The `cursor` of the next page, if there may be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Answer of `POST /tokens/{id}/revoke`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenRevoked {
    /// Always `true`: it is worth nothing.
    pub revoked: bool,
    /// Whether it was worth something before.
    pub changed: bool,
    /// The ids of everything that was revoked now: itself, browsers that signed in with it, its
    /// invitations that were not accepted, and with `with_children` the tokens that came of others.
    #[serde(default)]
    pub ids: Vec<String>,
    /// The tokens that came of its invitations, and of theirs, and are worth something still.
    #[serde(default)]
    pub children: Vec<TokenEntry>,
}

/// Body of `POST /tokens/{id}/revoke`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RevokeRequest {
    /// Also revoke the tokens that came of its invitations, and of theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_children: Option<bool>,
}

/// Answer of `GET /audit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditPage {
    /// At most as many as asked for, the newest first.
    pub rows: Vec<AuditRow>,
    /// `before` of the next page, where there may be one.
    pub next: Option<u64>,
}

/// Something that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditRow {
    /// Its place; rises by one with each.
    pub number: u64,
    /// When it was done: RFC 3339, UTC, milliseconds.
    pub at: String,
    /// `signed_in`, `signed_out`, `token_created`, `token_revoked`, `invited`, `accepted`,
    /// `registered`, `claimed`, `budget_raised` or `denied`.
    pub deed: String,
    /// Who, where that is proven.
    pub by: Option<String>,
    /// The id of the credential with which.
    pub token: Option<String>,
    /// The id of the credential that it is about, where that is another one.
    pub about: Option<String>,
    /// In a few words.
    pub detail: String,
}

impl AuditRow {
    /// A row of the audit record as it travels.
    pub fn of(audited: &AuditRecord) -> Self {
        let entry = &audited.entry;
        Self {
            number: audited.number,
            at: entry.at.to_string(),
            deed: entry.deed.to_string(),
            by: entry.by.as_ref().map(ToString::to_string),
            token: entry.token.as_ref().map(ToString::to_string),
            about: entry.about.as_ref().map(ToString::to_string),
            detail: entry.detail.clone(),
        }
    }
}
