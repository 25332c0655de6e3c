//! Principals, their credentials and the audit record: rows beside the log.

use async_trait::async_trait;
use moothall_engine::access::{
    AgentCard, AuditEntry, AuditRecord, ClaimOutcome, InsertOutcome, Principal, Principals,
    RegisterOutcome, Registration, RevocationScope, Scopes, Token, TokenHash, TokenId, TokenKind,
    TokenPlace, reach_of,
};
use moothall_engine::ports::{LogError, STARTUP_ID};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::SqliteLog;
use crate::audit::{self, record};
use crate::cards::{self, Word};
use crate::errors::{Refusal, failed};
use crate::rows::int;
use crate::sums;

const COLUMNS: &str = "t.id, t.kind, t.hash, t.principal, p.kind, t.scopes, t.threads, t.label, t.parent, t.created_at, t.expires_at,
    t.last_used_at, t.revoked_at FROM tokens t JOIN principals p ON p.id = t.principal";

/// Returns the kind of a principal. An unknown word counts as an agent, which has fewer rights.
fn kind_of(word: &str) -> Kind {
    word.parse().unwrap_or(Kind::Agent)
}

/// Stores a token, and its principal if that is new. Stores neither, and returns `OtherKind`, if
/// the principal is known as another kind. Expired sessions are deleted.
pub(crate) fn add(
    conn: &Connection,
    token: &Token,
    entry: &AuditEntry,
) -> Result<InsertOutcome, Refusal> {
    let Principal { id, kind } = &token.principal;
    let sql = "INSERT INTO principals (id, kind, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING";
    conn.prepare_cached(sql)?.execute(params![
        id.as_str(),
        kind.to_string(),
        token.created_at.millis()
    ])?;
    if principal(conn, id)?.is_some_and(|known| known.kind != *kind) {
        return Ok(InsertOutcome::OtherKind);
    }
    // Expired sessions are never used again.
    let sql = "DELETE FROM tokens WHERE kind = 'session' AND expires_at <= ?1";
    conn.prepare_cached(sql)?.execute([token.created_at.millis()])?;
    insert(conn, token)?;
    record(conn, entry)?;
    Ok(InsertOutcome::Yes)
}

/// Inserts the row of a token. `threads` is null for a token that reaches all streams.
fn insert(conn: &Connection, token: &Token) -> Result<(), Refusal> {
    let sql = "INSERT INTO tokens (id, kind, hash, principal, scopes, threads, label, parent, created_at, expires_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let threads = token
        .reach
        .only()
        .map(|streams| streams.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let values = params![
        token.id.as_str(),
        token.kind.to_string(),
        token.hash.as_bytes(),
        token.principal.id.as_str(),
        token.scopes.words(),
        threads,
        token.label,
        token.parent.as_ref().map(TokenId::as_str),
        token.created_at.millis(),
        token.expires_at.millis(),
    ];
    conn.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Uses up an invitation and stores the token made from it. Returns `Used` for an invitation that
/// was used, revoked or has expired.
pub(crate) fn redeem(
    conn: &Connection,
    invitation: &TokenId,
    token: &Token,
    entry: &AuditEntry,
) -> Result<InsertOutcome, Refusal> {
    let sql = "SELECT count(*) FROM tokens WHERE id = ?1 AND kind IN ('invitation', 'pairing') AND revoked_at IS NULL AND expires_at > ?2";
    let usable: i64 = conn
        .prepare_cached(sql)?
        .query_row(params![invitation.as_str(), entry.at.millis()], |row| row.get(0))?;
    if usable == 0 {
        return Ok(InsertOutcome::Used);
    }
    let kept = add(conn, token, entry)?;
    if kept == InsertOutcome::Yes {
        mark_revoked(conn, invitation, RevocationScope::Own, entry.at)?;
    }
    Ok(kept)
}

/// Token `?1` and its descendants: all of them if `?3` is true, else only sessions and invitations.
const DESCENT: &str = "WITH RECURSIVE meant (id) AS (VALUES (?1) UNION SELECT t.id FROM tokens t JOIN meant m ON t.parent = m.id
    WHERE ?3 OR t.kind IN ('session', 'invitation', 'pairing'))";

/// Revokes a token and those of its descendants that `descent` includes. Returns the tokens that
/// were not revoked before.
fn mark_revoked(
    conn: &Connection,
    id: &TokenId,
    descent: RevocationScope,
    at: Timestamp,
) -> Result<Vec<TokenId>, Refusal> {
    let sql = format!(
        "{DESCENT} UPDATE tokens SET revoked_at = ?2 WHERE id IN (SELECT id FROM meant) AND revoked_at IS NULL RETURNING id"
    );
    let all = descent == RevocationScope::All;
    returned(conn, &sql, params![id.as_str(), at.millis(), all])
}

/// Runs a change of tokens, and returns the ids of the tokens that it changed.
fn returned(
    conn: &Connection,
    sql: &str,
    values: &[&dyn rusqlite::ToSql],
) -> Result<Vec<TokenId>, Refusal> {
    let mut statement = conn.prepare_cached(sql)?;
    let id = |row: &Row<'_>| Ok(TokenId::new(row.get::<_, String>(0)?));
    let ids = statement.query_map(values, id)?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Revokes the tokens of a principal.
pub(crate) fn mark_revoked_of(
    conn: &Connection,
    principal: &ParticipantId,
    at: Timestamp,
) -> Result<Vec<TokenId>, Refusal> {
    let sql = "UPDATE tokens SET revoked_at = ?2 WHERE principal = ?1 AND revoked_at IS NULL RETURNING id";
    let mut statement = conn.prepare_cached(sql)?;
    let ids = statement.query_map(params![principal.as_str(), at.millis()], |row| {
        Ok(TokenId::new(row.get::<_, String>(0)?))
    })?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Revokes a token and the descendants that `descent` includes. Records that, if any was revoked.
pub(crate) fn revoke(
    conn: &Connection,
    id: &TokenId,
    descent: RevocationScope,
    at: Timestamp,
    entry: &AuditEntry,
) -> Result<Vec<TokenId>, Refusal> {
    recorded(conn, mark_revoked(conn, id, descent, at)?, entry)
}

/// Records a revocation, if any token was revoked.
fn recorded(
    conn: &Connection,
    revoked: Vec<TokenId>,
    entry: &AuditEntry,
) -> Result<Vec<TokenId>, Refusal> {
    if !revoked.is_empty() {
        record(conn, entry)?;
    }
    Ok(revoked)
}

/// Revokes the open invitations into a conversation that a principal made, and those for the
/// principal. A start-up credential has no row, so the ids show which invitations were made with
/// one.
fn cancel_invitations(
    conn: &Connection,
    stream: &StreamId,
    of: &ParticipantId,
    at: Timestamp,
    entry: &AuditEntry,
) -> Result<Vec<TokenId>, Refusal> {
    let sql = "UPDATE tokens SET revoked_at = ?3 WHERE kind = 'invitation' AND threads = ?1 AND revoked_at IS NULL
        AND (principal = ?2 OR parent IN (SELECT id FROM tokens WHERE principal = ?2) OR parent LIKE ?4) RETURNING id";
    let startup = (*of == ParticipantId::user()).then(|| format!("{STARTUP_ID}%"));
    let values = params![stream.as_str(), of.as_str(), at.millis(), startup];
    let cancelled = returned(conn, sql, values)?;
    recorded(conn, cancelled, entry)
}

/// Stores the time at which a token was last used.
pub(crate) fn note_use(conn: &Connection, id: &TokenId, at: Timestamp) -> Result<(), Refusal> {
    conn.prepare_cached("UPDATE tokens SET last_used_at = ?2 WHERE id = ?1")?
        .execute(params![id.as_str(), at.millis()])?;
    Ok(())
}

/// Returns the token with this hash.
///
/// # Errors
/// The row of the token or of its principal is damaged, and may allow more than before.
pub(crate) fn token(conn: &Connection, hash: &TokenHash) -> Result<Option<Token>, LogError> {
    let sql = format!("SELECT {COLUMNS} WHERE t.hash = ?1");
    let found = conn
        .prepare_cached(&sql)
        .and_then(|mut found| found.query_row([hash.as_bytes()], read_token).optional())
        .map_err(failed)?;
    if let Some(token) = &found {
        sums::trust(conn, "tokens", "hash", [hash.as_bytes()])?;
        sums::trust(conn, "principals", "id", [token.principal.id.as_str()])?;
    }
    Ok(found)
}

/// Returns tokens after a place, oldest first.
pub(crate) fn tokens(
    conn: &Connection,
    after: Option<&TokenPlace>,
    limit: usize,
) -> rusqlite::Result<Vec<Token>> {
    let sql = format!(
        "SELECT {COLUMNS} WHERE (t.created_at, t.id) > (?1, ?2) ORDER BY t.created_at, t.id LIMIT ?3"
    );
    let (at, id) =
        after.map_or((i64::MIN, ""), |after| (after.created_at.millis(), after.id.as_str()));
    let mut statement = conn.prepare_cached(&sql)?;
    statement.query_map(params![at, id, int(limit as u64)], read_token)?.collect()
}

/// Returns the token with this public id.
pub(crate) fn token_of(conn: &Connection, id: &TokenId) -> rusqlite::Result<Option<Token>> {
    let sql = format!("SELECT {COLUMNS} WHERE t.id = ?1");
    conn.prepare_cached(&sql)?.query_row([id.as_str()], read_token).optional()
}

/// Reads a token from a row with the columns of [`COLUMNS`]. An unknown kind of token is an error.
fn read_token(row: &Row<'_>) -> rusqlite::Result<Token> {
    let text = |place: usize| row.get_ref(place)?.as_str().map_err(rusqlite::Error::from);
    let time = |place: usize| {
        row.get::<_, Option<i64>>(place).map(|millis| millis.map(Timestamp::from_millis))
    };
    let threads: Option<String> = row.get(6)?;
    Ok(Token {
        id: TokenId::new(text(0)?),
        kind: token_kind(text(1)?)?,
        hash: TokenHash::from_bytes(row.get(2)?),
        principal: Principal { id: ParticipantId::new(text(3)?), kind: kind_of(text(4)?) },
        scopes: Scopes::parse(text(5)?),
        reach: reach_of(threads.as_deref()),
        label: row.get(7)?,
        parent: row.get::<_, Option<String>>(8)?.map(TokenId::new),
        created_at: time(9)?.unwrap_or_default(),
        expires_at: time(10)?.unwrap_or_default(),
        last_used_at: time(11)?,
        revoked_at: time(12)?,
    })
}

fn token_kind(word: &str) -> rusqlite::Result<TokenKind> {
    word.parse().map_err(|_| rusqlite::Error::InvalidColumnName("tokens.kind".into()))
}

/// Returns the names of principals and of registered agents.
fn names(conn: &Connection) -> rusqlite::Result<Vec<(String, ParticipantId)>> {
    let sql = "SELECT id, id FROM principals UNION ALL SELECT name, id FROM agent_cards";
    let mut statement = conn.prepare_cached(sql)?;
    let name = |row: &Row<'_>| Ok((row.get(0)?, ParticipantId::new(row.get::<_, String>(1)?)));
    statement.query_map([], name)?.collect()
}

/// Returns the principal with this id.
pub(crate) fn principal(
    conn: &Connection,
    id: &ParticipantId,
) -> rusqlite::Result<Option<Principal>> {
    let row =
        |row: &Row<'_>| Ok(Principal { id: id.clone(), kind: kind_of(row.get_ref(0)?.as_str()?) });
    conn.prepare_cached("SELECT kind FROM principals WHERE id = ?1")?
        .query_row([id.as_str()], row)
        .optional()
}

#[async_trait]
impl Principals for SqliteLog {
    async fn add_token(
        &self,
        token: &Token,
        entry: &AuditEntry,
    ) -> Result<InsertOutcome, LogError> {
        let (token, entry) = (token.clone(), entry.clone());
        self.write(move |conn| add(conn, &token, &entry)).await
    }

    async fn redeem(
        &self,
        invitation: &TokenId,
        token: &Token,
        entry: &AuditEntry,
    ) -> Result<InsertOutcome, LogError> {
        let (invitation, token, entry) = (invitation.clone(), token.clone(), entry.clone());
        self.write(move |conn| redeem(conn, &invitation, &token, &entry)).await
    }

    async fn token(&self, hash: &TokenHash) -> Result<Option<Token>, LogError> {
        let hash = *hash;
        self.readers().read(move |conn| token(conn, &hash)).await
    }

    async fn tokens(
        &self,
        after: Option<&TokenPlace>,
        limit: usize,
    ) -> Result<Vec<Token>, LogError> {
        let after = after.cloned();
        self.read_rows(move |conn| tokens(conn, after.as_ref(), limit)).await
    }

    async fn token_of(&self, id: &TokenId) -> Result<Option<Token>, LogError> {
        let id = id.clone();
        self.read_rows(move |conn| token_of(conn, &id)).await
    }

    /// Revokes all tokens of a principal. The audit record gets a row only if there were any.
    async fn revoke_all(
        &self,
        principal: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError> {
        let (principal, entry) = (principal.clone(), entry.clone());
        self.write(move |conn| {
            let revoked = mark_revoked_of(conn, &principal, at)?;
            if !revoked.is_empty() {
                record(conn, &entry)?;
            }
            Ok(revoked)
        })
        .await
    }

    async fn revoke(
        &self,
        id: &TokenId,
        descent: RevocationScope,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError> {
        let (id, entry) = (id.clone(), entry.clone());
        self.write(move |conn| revoke(conn, &id, descent, at, &entry)).await
    }

    async fn cancel_invitations(
        &self,
        stream: &StreamId,
        of: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Vec<TokenId>, LogError> {
        let (stream, of, entry) = (stream.clone(), of.clone(), entry.clone());
        self.write(move |conn| cancel_invitations(conn, &stream, &of, at, &entry)).await
    }

    async fn note_use(&self, id: &TokenId, at: Timestamp) -> Result<(), LogError> {
        let id = id.clone();
        self.write(move |conn| note_use(conn, &id, at)).await
    }

    async fn names(&self) -> Result<Vec<(String, ParticipantId)>, LogError> {
        self.read_rows(names).await
    }

    async fn principal(&self, id: &ParticipantId) -> Result<Option<Principal>, LogError> {
        let id = id.clone();
        self.read_rows(move |conn| principal(conn, &id)).await
    }

    async fn register(
        &self,
        card: &AgentCard,
        claim: &TokenHash,
        token: &Token,
        entry: &AuditEntry,
    ) -> Result<RegisterOutcome, LogError> {
        let token = Token { principal: card.principal(), ..token.clone() };
        let (card, claim, entry) = (card.clone(), *claim, entry.clone());
        self.write(move |conn| cards::register(conn, &card, &claim, &token, &entry)).await
    }

    async fn registrations(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Registration>, LogError> {
        let after = after.unwrap_or_default().to_owned();
        self.read_rows(move |conn| cards::registrations(conn, &after, limit)).await
    }

    async fn free_card(
        &self,
        agent: &ParticipantId,
        at: Timestamp,
        entry: &AuditEntry,
    ) -> Result<Option<Vec<TokenId>>, LogError> {
        let (agent, entry) = (agent.clone(), entry.clone());
        self.write(move |conn| cards::free(conn, &agent, at, &entry)).await
    }

    async fn cards(&self, ids: &[ParticipantId]) -> Result<Vec<AgentCard>, LogError> {
        let ids = ids.iter().map(ToString::to_string).collect();
        self.read_rows(move |conn| cards::with(conn, Word::Id, ids)).await
    }

    async fn cards_named(&self, names: &[String]) -> Result<Vec<AgentCard>, LogError> {
        let names = names.to_vec();
        self.read_rows(move |conn| cards::with(conn, Word::Name, names)).await
    }

    async fn cards_of(&self, owner: &str) -> Result<Vec<AgentCard>, LogError> {
        let owner = owner.to_owned();
        self.read_rows(move |conn| cards::of(conn, &owner)).await
    }

    async fn claim_card(
        &self,
        claim: &TokenHash,
        owner: &str,
        entry: &AuditEntry,
    ) -> Result<ClaimOutcome, LogError> {
        let (claim, owner, entry) = (*claim, owner.to_owned(), entry.clone());
        self.write(move |conn| cards::claim(conn, &claim, &owner, &entry)).await
    }

    async fn record(&self, entry: &AuditEntry) -> Result<(), LogError> {
        let entry = entry.clone();
        self.write(move |conn| record(conn, &entry)).await
    }

    async fn audit(&self, before: Option<u64>, limit: usize) -> Result<Vec<AuditRecord>, LogError> {
        self.read_rows(move |conn| audit::read(conn, before, limit)).await
    }
}
