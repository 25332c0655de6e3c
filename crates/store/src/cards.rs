//! The cards of agents that registered: rows beside the log.

use std::collections::BTreeSet;

use moothall_engine::access::{
    AgentCard, AuditEntry, CARDS_LISTED_MAX, ClaimOutcome, Registered, Token, TokenHash,
};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::errors::Refusal;
use crate::keys;
use crate::rows::int;

const COLUMNS: &str = "id, name, description, owner, created_at FROM agent_cards";

/// By what a card is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// The id of the agent.
    Id,
    /// Its name, exactly.
    Name,
}

/// Keeps a card, its claim, and the token of its principal, which is new.
pub(crate) fn register(
    conn: &Connection,
    card: &AgentCard,
    claim: &TokenHash,
    token: &Token,
    entry: &AuditEntry,
) -> Result<Registered, Refusal> {
    if is_taken(conn, card)? {
        return Ok(Registered::NameTaken);
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
    Ok(Registered::Yes)
}

fn is_taken(conn: &Connection, card: &AgentCard) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM agent_cards WHERE name = ?1) OR EXISTS (SELECT 1 FROM principals WHERE id = ?2)";
    conn.prepare_cached(sql)?.query_row(params![card.name, card.id.as_str()], |row| row.get(0))
}

/// Gives an agent its owner, once.
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
            keys::record(conn, entry)?;
            Ok(ClaimOutcome::First(card.id))
        }
        Some(known) if known == owner => Ok(ClaimOutcome::Again(card.id)),
        Some(_) => Ok(ClaimOutcome::OtherOwner),
    }
}

/// The cards that have one of these words, each once, in the order of the words.
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

/// The cards of one owner, the oldest first.
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
