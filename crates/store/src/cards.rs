//! The cards of registered agents: rows beside the log.

use std::collections::BTreeSet;

use moothall_engine::access::{
    AgentCard, AuditEntry, CARDS_LISTED_MAX, CardCount, ClaimOutcome, RegisterOutcome,
    Registration, Token, TokenHash, TokenId,
};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::{Millis, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::errors::Refusal;
use crate::rows::{counter, int};
use crate::{audit, keys};

const COLUMNS: &str = "id, name, description, owner, created_at FROM agent_cards";

const HOUR: Millis = Millis::from_secs(3_600);

/// The column by which a card is looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// Id of the agent.
    Id,
    /// Exact name of the agent.
    Name,
}

/// Stores a card, its claim, and the token of its new principal. Stores none of them if the name is
/// taken or the cards have reached a limit.
pub(crate) fn register(
    conn: &Connection,
    card: &AgentCard,
    claim: &TokenHash,
    token: &Token,
    entry: &AuditEntry,
) -> Result<RegisterOutcome, Refusal> {
    if is_taken(conn, card)? {
        return Ok(RegisterOutcome::NameTaken);
    }
    if let Some(refused) = count(conn, card.created_at)?.refuses(card) {
        return Ok(refused);
    }
    keys::add(conn, token, entry)?;
    let sql = "INSERT INTO agent_cards (id, name, claim, description, owner, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let values = params![
        card.id.as_str(),
        card.name,
        claim.as_bytes(),
        card.description,
        card.owner,
        card.created_at.millis(),
    ];
    conn.prepare_cached(sql)?.execute(values)?;
    Ok(RegisterOutcome::Yes)
}

/// Returns the number and the size of all cards, and the number of those made in the last hour.
fn count(conn: &Connection, now: Timestamp) -> rusqlite::Result<CardCount> {
    let sql = "SELECT count(*), coalesce(sum(length(CAST(name AS BLOB)) + coalesce(length(CAST(description AS BLOB)), 0)), 0),
        count(*) FILTER (WHERE created_at > ?1 AND created_at <= ?2) FROM agent_cards";
    let hour_ago = now.millis() - HOUR.0 as i64;
    conn.prepare_cached(sql)?.query_row([hour_ago, now.millis()], |row| {
        Ok(CardCount { all: counter(row, 0)?, bytes: counter(row, 1)?, lately: counter(row, 2)? })
    })
}

/// Returns registered agents in the order of their names, with their revocation and last use.
pub(crate) fn registrations(
    conn: &Connection,
    after: &str,
    limit: usize,
) -> rusqlite::Result<Vec<Registration>> {
    let sql = "SELECT id, name, description, owner, created_at,
        NOT EXISTS (SELECT 1 FROM tokens t WHERE t.principal = c.id AND t.revoked_at IS NULL),
        (SELECT max(t.last_used_at) FROM tokens t WHERE t.principal = c.id)
        FROM agent_cards c WHERE name > ?1 ORDER BY name LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let registration = |row: &Row<'_>| {
        let last_used_at = row.get::<_, Option<i64>>(6)?.map(Timestamp::from_millis);
        Ok(Registration { card: read(row)?, revoked: row.get(5)?, last_used_at })
    };
    statement.query_map(params![after, int(limit as u64)], registration)?.collect()
}

/// Deletes a card and revokes the tokens of its agent. Returns `None` if the agent has no card.
pub(crate) fn free(
    conn: &Connection,
    agent: &ParticipantId,
    at: Timestamp,
    entry: &AuditEntry,
) -> Result<Option<Vec<TokenId>>, Refusal> {
    let sql = "DELETE FROM agent_cards WHERE id = ?1";
    if conn.prepare_cached(sql)?.execute([agent.as_str()])? == 0 {
        return Ok(None);
    }
    audit::record(conn, entry)?;
    Ok(Some(keys::mark_revoked_of(conn, agent, at)?))
}

fn is_taken(conn: &Connection, card: &AgentCard) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM agent_cards WHERE name = ?1) OR EXISTS (SELECT 1 FROM principals WHERE id = ?2)";
    conn.prepare_cached(sql)?.query_row(params![card.name, card.id.as_str()], |row| row.get(0))
}

/// Gives a registered agent an owner, if it has none. Says if it has this or another owner already.
pub(crate) fn claim(
    conn: &Connection,
    claim: &TokenHash,
    owner: &str,
    entry: &AuditEntry,
) -> Result<ClaimOutcome, Refusal> {
    let sql = format!("SELECT {COLUMNS} WHERE claim = ?1");
    let found = conn.prepare_cached(&sql)?.query_row([claim.as_bytes()], read).optional()?;
    let Some(card) = found else { return Ok(ClaimOutcome::Unknown) };
    match card.owner {
        None => {
            conn.prepare_cached("UPDATE agent_cards SET owner = ?2 WHERE claim = ?1")?
                .execute(params![claim.as_bytes(), owner])?;
            audit::record(conn, entry)?;
            Ok(ClaimOutcome::First(card.id))
        }
        Some(known) if known == owner => Ok(ClaimOutcome::Again(card.id)),
        Some(_) => Ok(ClaimOutcome::OtherOwner),
    }
}

/// Returns the cards whose id or name is one of these words, each card once, in the order of the
/// words.
pub(crate) fn with(
    conn: &Connection,
    by: Word,
    words: Vec<String>,
) -> rusqlite::Result<Vec<AgentCard>> {
    let column = match by {
        Word::Id => "id",
        Word::Name => "name",
    };
    let sql = format!("SELECT {COLUMNS} WHERE {column} = ?1");
    let mut statement = conn.prepare_cached(&sql)?;
    let (mut cards, mut seen) = (Vec::new(), BTreeSet::new());
    for word in words {
        if !seen.contains(&word) {
            cards.extend(statement.query_row([&word], read).optional()?);
            seen.insert(word);
        }
    }
    Ok(cards)
}

/// Returns the cards of one owner, oldest first, at most [`CARDS_LISTED_MAX`].
pub(crate) fn of(conn: &Connection, owner: &str) -> rusqlite::Result<Vec<AgentCard>> {
    let sql = format!("SELECT {COLUMNS} WHERE owner = ?1 ORDER BY created_at, key LIMIT ?2");
    let mut statement = conn.prepare_cached(&sql)?;
    statement.query_map(params![owner, int(CARDS_LISTED_MAX as u64)], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<AgentCard> {
    Ok(AgentCard {
        id: ParticipantId::new(row.get::<_, String>(0)?),
        name: row.get(1)?,
        description: row.get(2)?,
        owner: row.get(3)?,
        created_at: Timestamp::from_millis(row.get(4)?),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_cards_of_an_hour_are_counted_without_those_of_a_clock_that_was_set_back() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(
            "CREATE TABLE agent_cards (name TEXT, description TEXT, created_at INTEGER)",
        )
        .unwrap();
        let at = |minutes: i64| Timestamp::from_millis(60_000 * minutes);
        for minutes in [60, 120, 180] {
            let sql = "INSERT INTO agent_cards VALUES ('scout', NULL, ?1)";
            conn.execute(sql, [at(minutes).millis()]).unwrap();
        }
        let lately = [60, 119, 120, 180, 240].map(|now| count(&conn, at(now)).unwrap().lately);
        assert_eq!(lately, [1, 1, 1, 1, 0]);
    }
}
