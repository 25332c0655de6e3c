//! Rows of sessions: the newest state of each session, its listeners, and the conversations it is
//! in.

use moothall_engine::sessions::{Session, SessionId};
use moothall_kernel::ids::StreamId;
use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};

use crate::errors::Refusal;

/// Stores a session in place of its earlier row.
pub(crate) fn keep(conn: &Connection, id: &SessionId, row: &str) -> Result<(), Refusal> {
    let sql = "INSERT INTO sessions (id, row) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET row = excluded.row";
    conn.prepare_cached(sql)?.execute(params![id.as_str(), row])?;
    Ok(())
}

pub(crate) fn all(conn: &Connection) -> rusqlite::Result<Vec<Session>> {
    conn.prepare_cached("SELECT row FROM sessions ORDER BY id")?.query_map([], session)?.collect()
}

fn session(row: &Row<'_>) -> rusqlite::Result<Session> {
    let text: String = row.get(0)?;
    serde_json::from_str(&text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))
}

/// Notes that the session `caller` waits for the session `target`.
pub(crate) fn listen(
    conn: &Connection,
    target: &SessionId,
    caller: &SessionId,
) -> Result<(), Refusal> {
    let sql =
        "INSERT INTO session_listeners (target, caller) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    conn.prepare_cached(sql)?.execute([target.as_str(), caller.as_str()])?;
    Ok(())
}

/// Ends the wait of the session `caller` for the session `target`.
pub(crate) fn unlisten(
    conn: &Connection,
    target: &SessionId,
    caller: &SessionId,
) -> Result<(), Refusal> {
    let sql = "DELETE FROM session_listeners WHERE target = ?1 AND caller = ?2";
    conn.prepare_cached(sql)?.execute([target.as_str(), caller.as_str()])?;
    Ok(())
}

pub(crate) fn listeners(conn: &Connection, target: &SessionId) -> rusqlite::Result<Vec<SessionId>> {
    let sql = "SELECT caller FROM session_listeners WHERE target = ?1 ORDER BY caller";
    let caller = |row: &Row<'_>| Ok(SessionId::new(row.get::<_, String>(0)?));
    conn.prepare_cached(sql)?.query_map([target.as_str()], caller)?.collect()
}

/// Notes a conversation that a session is in or made.
pub(crate) fn enter(
    conn: &Connection,
    session: &SessionId,
    room: &StreamId,
) -> Result<(), Refusal> {
    let sql = "INSERT INTO session_rooms (session, room) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    conn.prepare_cached(sql)?.execute([session.as_str(), room.as_str()])?;
    Ok(())
}

/// Removes a conversation from those of a session.
pub(crate) fn leave(
    conn: &Connection,
    session: &SessionId,
    room: &StreamId,
) -> Result<(), Refusal> {
    let sql = "DELETE FROM session_rooms WHERE session = ?1 AND room = ?2";
    conn.prepare_cached(sql)?.execute([session.as_str(), room.as_str()])?;
    Ok(())
}

pub(crate) fn rooms(conn: &Connection, session: &SessionId) -> rusqlite::Result<Vec<StreamId>> {
    let sql = "SELECT room FROM session_rooms WHERE session = ?1 ORDER BY room";
    let room = |row: &Row<'_>| Ok(StreamId::new(row.get::<_, String>(0)?));
    conn.prepare_cached(sql)?.query_map([session.as_str()], room)?.collect()
}
