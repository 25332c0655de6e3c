//! Apps and their agents: rows beside the log.

use async_trait::async_trait;
use moothall_engine::access::AuditEntry;
use moothall_engine::ports::{APPS_MAX, AppHold, Apps, HeldApp, LogError};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::SqliteLog;
use crate::audit;
use crate::errors::Refusal;
use crate::rows::int;

const COLUMNS: &str = "id, name, agent, since FROM apps";

/// Gives an app to the first agent that requests it. If another agent has the app, nothing changes.
fn hold(conn: &Connection, app: &HeldApp, entry: &AuditEntry) -> Result<AppHold, Refusal> {
    match find(conn, &app.id)? {
        Some(held) if held.agent == app.agent => Ok(AppHold::Yes),
        Some(_) => Ok(AppHold::OfOther),
        None => give(conn, app, entry),
    }
}

/// Gives an app to an agent, even if another agent has it, and records that. An agent with
/// [`APPS_MAX`] other apps gets no more.
fn give(conn: &Connection, app: &HeldApp, entry: &AuditEntry) -> Result<AppHold, Refusal> {
    let sql = "SELECT count(*) FROM apps WHERE agent = ?1 AND id <> ?2";
    let others: i64 = conn
        .prepare_cached(sql)?
        .query_row(params![app.agent.as_str(), app.id], |row| row.get(0))?;
    if others >= int(APPS_MAX as u64) {
        return Ok(AppHold::TooMany);
    }
    let sql = "INSERT INTO apps (id, name, agent, since) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, agent = excluded.agent, since = excluded.since";
    let values = params![app.id, app.name, app.agent.as_str(), app.since.millis()];
    conn.prepare_cached(sql)?.execute(values)?;
    audit::record(conn, entry)?;
    Ok(AppHold::Yes)
}

/// Takes an app from its agent, and records that. Returns false if no agent had it.
fn free(conn: &Connection, id: &str, entry: &AuditEntry) -> Result<bool, Refusal> {
    let was_held = conn.prepare_cached("DELETE FROM apps WHERE id = ?1")?.execute([id])? > 0;
    if was_held {
        audit::record(conn, entry)?;
    }
    Ok(was_held)
}

fn find(conn: &Connection, id: &str) -> rusqlite::Result<Option<HeldApp>> {
    let sql = format!("SELECT {COLUMNS} WHERE id = ?1");
    conn.prepare_cached(&sql)?.query_row([id], read).optional()
}

fn list(conn: &Connection, after: &str, limit: usize) -> rusqlite::Result<Vec<HeldApp>> {
    let sql = format!("SELECT {COLUMNS} WHERE id > ?1 ORDER BY id LIMIT ?2");
    let mut statement = conn.prepare_cached(&sql)?;
    statement.query_map(params![after, int(limit as u64)], read)?.collect()
}

fn of(conn: &Connection, agent: &str) -> rusqlite::Result<Vec<HeldApp>> {
    let sql = format!("SELECT {COLUMNS} WHERE agent = ?1 ORDER BY id");
    conn.prepare_cached(&sql)?.query_map([agent], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<HeldApp> {
    Ok(HeldApp {
        id: row.get(0)?,
        name: row.get(1)?,
        agent: ParticipantId::new(row.get::<_, String>(2)?),
        since: Timestamp::from_millis(row.get(3)?),
    })
}

#[async_trait]
impl Apps for SqliteLog {
    async fn hold_app(&self, app: &HeldApp, entry: &AuditEntry) -> Result<AppHold, LogError> {
        let (app, entry) = (app.clone(), entry.clone());
        self.write(move |conn| hold(conn, &app, &entry)).await
    }

    async fn give_app(&self, app: &HeldApp, entry: &AuditEntry) -> Result<AppHold, LogError> {
        let (app, entry) = (app.clone(), entry.clone());
        self.write(move |conn| give(conn, &app, &entry)).await
    }

    async fn free_app(&self, id: &str, entry: &AuditEntry) -> Result<bool, LogError> {
        let (id, entry) = (id.to_owned(), entry.clone());
        self.write(move |conn| free(conn, &id, &entry)).await
    }

    async fn app(&self, id: &str) -> Result<Option<HeldApp>, LogError> {
        let id = id.to_owned();
        self.read_rows(move |conn| find(conn, &id)).await
    }

    async fn apps(&self, after: Option<&str>, limit: usize) -> Result<Vec<HeldApp>, LogError> {
        let after = after.unwrap_or_default().to_owned();
        self.read_rows(move |conn| list(conn, &after, limit)).await
    }

    async fn apps_of(&self, agent: &ParticipantId) -> Result<Vec<HeldApp>, LogError> {
        let agent = agent.to_string();
        self.read_rows(move |conn| of(conn, &agent)).await
    }
}
