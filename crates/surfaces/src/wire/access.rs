//! Credentials on the wire. A credential itself is in two bodies only: the request that signs in,
//! and the answer that created it.

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

/// Answer of `GET /session` and `POST /session`: the caller and its rights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhoAmI {
    /// `local`: conversations need no credential. `token`: every request needs one.
    pub mode: String,
    /// Owner of the credential; `null` without a credential.
    pub principal: Option<PrincipalRef>,
    /// Scopes of the caller, e.g. `threads:read`.
    pub scopes: Vec<String>,
    /// Ids of the threads that the caller reaches; `null` stands for all.
    pub threads: Option<Vec<String>>,
    /// Id of the credential; `null` without a credential.
    pub token: Option<String>,
    /// Time at which the credential expires. `null` without a credential, or if its end is not
    /// known yet.
    pub expires_at: Option<String>,
}

/// A person or agent known to the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PrincipalRef {
    /// Id under which the principal takes part.
    pub id: String,
    /// `human` or `agent`.
    pub kind: String,
}

impl WhoAmI {
    /// Returns the answer about a caller.
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
    /// True if the request had a valid cookie, whose session was ended.
    pub ended: bool,
}

/// Body of `POST /threads/{id}/invitations` and `POST /invitations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationRequest {
    /// Id under which the invited person or agent will take part. Required.
    #[schema(pattern = "^[A-Za-z0-9._:-]{1,64}$")]
    pub principal: String,
    /// `human` or `agent`; `human` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(human|agent)$")]
    pub kind: Option<String>,
    /// Scopes of the future token; the inviter must have each of them. If absent, the usual scopes
    /// of the kind that the inviter has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// Hours until the invitation expires, 1 to 168; 24 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 168)]
    pub expires_in_hours: Option<u64>,
}

/// Body of `POST /invitations/accept`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationAccepted {
    /// Code of the invitation. It can be used once.
    pub code: String,
}

/// An invitation code to hand on: the answer of `POST /threads/{id}/invitations` and
/// `POST /invitations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InvitationCode {
    /// The code. It can be used once.
    pub code: String,
    /// Public id of the invitation, by which `GET /tokens` lists it. Only in answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Time at which the code expires. Only in answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// Body of `POST /tokens`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// Id of the person or agent that the token is for. Required.
    #[schema(pattern = "^[A-Za-z0-9._:-]{1,64}$")]
    pub principal: String,
    /// `human` or `agent`; `human` if absent. The kind of a known principal cannot change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^(human|agent)$")]
    pub kind: Option<String>,
    /// Scopes of the token; the usual scopes of the kind if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// Ids of the only threads that the token reaches; all threads if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1, max_items = 64)]
    pub threads: Option<Vec<String>>,
    /// Label of the token, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 100)]
    pub label: Option<String>,
    /// Days until the token expires, 1 to 3650; 90 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 3650)]
    pub expires_in_days: Option<u64>,
}

/// Answer of `POST /tokens`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenCreated {
    /// The token itself. It is shown only this once.
    pub token: String,
    /// The stored facts about the token.
    #[serde(flatten)]
    pub entry: TokenEntry,
}

/// The stored facts about a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenEntry {
    /// Public id of the token, for lists, revocation and audit.
    pub id: String,
    /// `personal`, `agent`, `session`, `invitation`, `pairing` or `account`.
    pub kind: String,
    /// The person or agent that owns the token.
    pub principal: PrincipalRef,
    /// Scopes of the token, e.g. `threads:read`.
    pub scopes: Vec<String>,
    /// Ids of the only threads that the token reaches; `null` stands for all.
    pub threads: Option<Vec<String>>,
    /// Label of the token, for people.
    pub label: String,
    /// Id of the credential from which this one was made: the one a browser signed in with, or the
    /// inviter's. `null` if there is none.
    pub parent: Option<String>,
    /// Time at which the token was created.
    pub created_at: String,
    /// Time at which the token expires.
    pub expires_at: String,
    /// Time of the last use, to the minute; `null` if the token was never used.
    pub last_used_at: Option<String>,
    /// Time of the revocation; `null` if the token is not revoked.
    pub revoked_at: Option<String>,
}

impl TokenRevoked {
    /// Returns the answer about a revocation.
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
    /// Returns the facts about a token, without the token itself.
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
    /// The stored tokens, oldest first.
    pub tokens: Vec<TokenEntry>,
    /// The `cursor` of the next page; absent if no page can follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Answer of `POST /tokens/{id}/revoke`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenRevoked {
    /// Always `true`: the token is not valid.
    pub revoked: bool,
    /// True if this request revoked at least one token.
    pub changed: bool,
    /// Ids of all tokens revoked by this request: the token itself, browsers that signed in with
    /// it, and its unaccepted invitations. With `with_children` also the tokens that came from
    /// accepted ones.
    #[serde(default)]
    pub ids: Vec<String>,
    /// Tokens that came from its invitations, or from theirs in turn, and are still valid.
    #[serde(default)]
    pub children: Vec<TokenEntry>,
}

/// Body of `POST /tokens/{id}/revoke`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RevokeRequest {
    /// True to also revoke the tokens that came from its invitations, and from theirs in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_children: Option<bool>,
}

/// Answer of `GET /audit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditPage {
    /// The rows, newest first; at most the requested number.
    pub rows: Vec<AuditRow>,
    /// Value of `before` for the next page; `null` if no page can follow.
    pub next: Option<u64>,
}

/// One row of the audit record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditRow {
    /// Number of the row, rising by one with each row.
    pub number: u64,
    /// Time of the deed: RFC 3339, UTC, milliseconds.
    pub at: String,
    /// `signed_in`, `signed_out`, `token_created`, `token_revoked`, `invited`, `accepted`,
    /// `registered`, `claimed`, `budget_raised`, `chat_bound`, `chat_unbound` or `denied`.
    #[serde(rename = "deed")]
    pub action: String,
    /// Id of the person or agent that did it; `null` if not proven.
    pub by: Option<String>,
    /// Id of the credential that was used; `null` without one.
    pub token: Option<String>,
    /// Id of another credential that the deed was about; `null` if there is none.
    pub about: Option<String>,
    /// Further details, in a few words.
    pub detail: String,
}

impl AuditRow {
    /// Returns a row of the audit record for the wire.
    pub fn of(audited: &AuditRecord) -> Self {
        let entry = &audited.entry;
        Self {
            number: audited.number,
            at: entry.at.to_string(),
            action: entry.action.to_string(),
            by: entry.by.as_ref().map(ToString::to_string),
            token: entry.token.as_ref().map(ToString::to_string),
            about: entry.about.as_ref().map(ToString::to_string),
            detail: entry.detail.clone(),
        }
    }
}
