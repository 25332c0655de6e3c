//! The tables of the database, their changes between formats, and the opening of connections.

use std::path::Path;
use std::time::Duration;

use moothall_engine::crash;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::audit;
use crate::errors::StoreFault;
use crate::sums;

/// The format this version writes. A log with a higher format is not opened.
pub(crate) const FORMAT: u32 = FIRST_FORMAT + STEPS.len() as u32;
const FIRST_FORMAT: u32 = 1;

/// `events` keeps its rowid: with `(stream, seq)` as a clustered key, every longer body would need
/// its own pages. A stream's row is created by its first writer and counts as begun when `head` is
/// above 0. `owner` and `owner_until` date from leases per stream. They stay, unused, because every
/// log has them. Indexes cover only the rows that start-up, timers and queues read, so that quiet
/// streams cost nothing.
const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE streams (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL DEFAULT 'conversation',
    epoch INTEGER NOT NULL DEFAULT 0,
    owner TEXT NOT NULL DEFAULT '',
    owner_until INTEGER NOT NULL DEFAULT 0,
    head INTEGER NOT NULL DEFAULT 0,
    last_ts INTEGER NOT NULL DEFAULT 0,
    title TEXT NOT NULL DEFAULT '',
    policy TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL DEFAULT 0,
    next_wake INTEGER,
    has_duties INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0,
    chain BLOB NOT NULL DEFAULT x''
) STRICT;
CREATE INDEX streams_with_duties ON streams (key) WHERE has_duties = 1;
CREATE INDEX streams_to_wake ON streams (next_wake) WHERE next_wake IS NOT NULL;
CREATE INDEX streams_open ON streams (key) WHERE archived = 0 AND head > 0;
CREATE TABLE events (
    stream INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    ts INTEGER NOT NULL,
    envelope TEXT NOT NULL,
    body TEXT,
    body_hash BLOB,
    chain BLOB NOT NULL,
    PRIMARY KEY (stream, seq)
) STRICT;
CREATE TABLE claims (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    stream TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome TEXT NOT NULL,
    expires INTEGER,
    PRIMARY KEY (namespace, key)
) STRICT;
CREATE INDEX claims_to_lapse ON claims (expires) WHERE expires IS NOT NULL;
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    stream INTEGER NOT NULL,
    turn INTEGER,
    attempt INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    state INTEGER NOT NULL,
    evidence TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX deliveries_open ON deliveries (target, id) WHERE state < 4;
CREATE INDEX deliveries_of_stream ON deliveries (stream, id);
INSERT INTO meta (key, value) VALUES ('format', '1');
";

/// Changes from each format to the next, starting with the first. A version without such a step
/// must not open the log.
const STEPS: [&str; 2] = [KEYS, audit::CHAINED];

/// First format with checksums for rows beside the log. Earlier versions lack the SQL functions
/// that compute these checksums.
const SUMMED: u32 = 3;

/// Format 2: credentials and rights. A version without it would check no rights.
const KEYS: &str = "
CREATE TABLE principals (id TEXT PRIMARY KEY, kind TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
CREATE TABLE tokens (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    principal TEXT NOT NULL REFERENCES principals (id),
    scopes TEXT NOT NULL,
    threads TEXT,
    label TEXT NOT NULL,
    parent TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;
CREATE INDEX tokens_of_parent ON tokens (parent) WHERE parent IS NOT NULL;
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    deed TEXT NOT NULL,
    principal TEXT,
    token TEXT,
    about TEXT,
    detail TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the record is only added to'); END;
CREATE TRIGGER audit_is_not_shortened BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the record is only added to'); END;
";

/// Tables and indexes that came later. Versions that do not know them leave them alone, so the
/// format stays.
const LATER_TABLES: &str = "
CREATE TABLE IF NOT EXISTS read_marks (
    reader TEXT NOT NULL,
    stream INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (reader, stream)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, row TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS session_listeners (
    target TEXT NOT NULL,
    caller TEXT NOT NULL,
    PRIMARY KEY (target, caller)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS budget_raises (purse TEXT PRIMARY KEY, turns INTEGER NOT NULL, micros INTEGER NOT NULL, until INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS session_rooms (
    session TEXT NOT NULL,
    room TEXT NOT NULL,
    PRIMARY KEY (session, room)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS events_said ON events (stream, seq) WHERE envelope GLOB '{\"posted\"*';
CREATE TABLE IF NOT EXISTS snapshots (
    stream INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    head INTEGER NOT NULL,
    state BLOB NOT NULL,
    checksum BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS streams_deleted ON streams (key) WHERE kind = 'deleted';
CREATE INDEX IF NOT EXISTS deliveries_of_target ON deliveries (target, id);
CREATE INDEX IF NOT EXISTS deliveries_lost ON deliveries (state) WHERE state > 4;
CREATE TABLE IF NOT EXISTS agent_cards (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE REFERENCES principals (id),
    name TEXT NOT NULL UNIQUE,
    claim BLOB NOT NULL UNIQUE,
    description TEXT,
    owner TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS agent_cards_of_owner ON agent_cards (owner, created_at) WHERE owner IS NOT NULL;
CREATE TABLE IF NOT EXISTS apps (id TEXT PRIMARY KEY, name TEXT NOT NULL, agent TEXT NOT NULL, since INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS apps_of_agent ON apps (agent);
CREATE INDEX IF NOT EXISTS tokens_of_principal ON tokens (principal);
CREATE TABLE IF NOT EXISTS posts_sent (computer TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS posts_taken (
    sender TEXT NOT NULL,
    log TEXT NOT NULL,
    through INTEGER NOT NULL,
    PRIMARY KEY (sender, log)
) STRICT;
";

/// Column for the commands of deliveries to streams. A version without it leaves these deliveries
/// pending.
const COMMANDS: &str = "ALTER TABLE deliveries ADD COLUMN command TEXT;";

/// Column for the numbers of deliveries to computers. A version without it does not know such
/// targets, and does not serve their deliveries.
const NUMBERS: &str = "ALTER TABLE deliveries ADD COLUMN number INTEGER;";

/// Column for the number of matters that wait for a person. A version without it does not update
/// the column. Streams that only such a version wrote to have no value.
const WAITS: &str = "ALTER TABLE streams ADD COLUMN waits_for_people INTEGER;";

/// Index of the few streams in which something waits for a person.
const WAITING: &str =
    "CREATE INDEX IF NOT EXISTS streams_waiting ON streams (key) WHERE waits_for_people > 0;";

/// Cost of turns, by hour. When the table is created, earlier streams are marked to be counted
/// later.
const LEDGER: &str = "
CREATE TABLE usage (
    hour INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    agent TEXT NOT NULL,
    caused_by TEXT NOT NULL,
    turns INTEGER NOT NULL,
    unattended INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_micros INTEGER NOT NULL,
    PRIMARY KEY (hour, stream, agent, caused_by)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_of_stream ON usage (stream);
CREATE TABLE usage_uncounted (stream INTEGER PRIMARY KEY, head INTEGER NOT NULL) STRICT;
INSERT INTO usage_uncounted (stream, head) SELECT key, head FROM streams WHERE head > 0;
";

/// Current index of open conversations. Its first condition was also `head > 0`, so each append,
/// which moves the head, wrote a page of the index. Earlier versions use the index by name, so the
/// name stays.
const OPEN: &str =
    "DROP INDEX streams_open; CREATE INDEX streams_open ON streams (key) WHERE archived = 0;";

const STATEMENTS_CACHED: usize = 48;
const READER_CACHE_KIB: i64 = 1024;
const WRITER_CACHE_KIB: i64 = 4096;
/// Longest wait for another process that holds the file, such as an online backup.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// Size to which an enlarged WAL is cut back.
const WAL_KEPT_BYTES: i64 = 16 * 1024 * 1024;

/// Opens the one connection that writes. The writer runs checkpoints itself, because SQLite would
/// swallow their errors.
pub(crate) fn open_writer(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(PATIENCE)?;
    conn.pragma_update_and_check(None, "journal_mode", "wal", |row| {
        match row.get_ref(0)?.as_str()? {
            "wal" => Ok(()),
            other => Err(rusqlite::Error::InvalidParameterName(format!(
                "this file system supports journal mode {other}, and not wal"
            ))),
        }
    })?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    conn.pragma_update(None, "journal_size_limit", WAL_KEPT_BYTES)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    // Overwrite erased content with zeros.
    conn.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    conn.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    // Without this, a row that `REPLACE` removes would stay in the sums.
    conn.pragma_update(None, "recursive_triggers", true)?;
    sums::teach(&conn)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    Ok(conn)
}

/// Opens a read-only connection.
pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(PATIENCE)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    Ok(conn)
}

/// Creates the tables of a new log, or converts an older log to this version's format. One
/// transaction does all of it or nothing. Returns the format of the log.
pub(crate) fn prepare(conn: &Connection) -> rusqlite::Result<u32> {
    let transaction = conn.unchecked_transaction()?;
    let is_new =
        transaction.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?;
    if is_new {
        transaction.execute_batch(TABLES)?;
    }
    let found = format(&transaction)?;
    if found > FORMAT {
        return Ok(found);
    }
    let known = usize::try_from(found.saturating_sub(FIRST_FORMAT)).unwrap_or(STEPS.len());
    STEPS.iter().skip(known).try_for_each(|step| transaction.execute_batch(step))?;
    transaction.execute_batch(LATER_TABLES)?;
    for (table, column, added) in [
        ("deliveries", "command", COMMANDS),
        ("deliveries", "number", NUMBERS),
        ("streams", "waits_for_people", WAITS),
    ] {
        if !has_column(&transaction, table, column)? {
            transaction.execute_batch(added)?;
        }
    }
    transaction.execute_batch(WAITING)?;
    if !has(&transaction, "name = 'usage'")? {
        transaction.execute_batch(LEDGER)?;
    }
    if has(&transaction, "name = 'streams_open' AND sql LIKE '%head%'")? {
        transaction.execute_batch(OPEN)?;
    }
    transaction.execute_batch(sums::TABLE)?;
    if found < SUMMED {
        audit::chain_old(&transaction)?;
    }
    sums::cover(&transaction)?;
    if found < FORMAT {
        crash::point("format_changing");
        transaction
            .execute("UPDATE meta SET value = ?1 WHERE key = 'format'", [FORMAT.to_string()])?;
    }
    crash::point("format_to_commit");
    transaction.commit()?;
    crash::point("format_committed");
    Ok(FORMAT)
}

/// True if an entry of the schema meets the condition.
fn has(conn: &Connection, condition: &str) -> rusqlite::Result<bool> {
    let sql = format!("SELECT count(*) > 0 FROM sqlite_schema WHERE {condition}");
    conn.query_row(&sql, [], |row| row.get(0))
}

fn has_column(conn: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    conn.query_row(
        "SELECT count(*) > 0 FROM pragma_table_info(?1) WHERE name = ?2",
        [table, column],
        |row| row.get(0),
    )
}

/// Moves the WAL of a killed process into the file, and truncates the WAL: its pages may hold
/// erased words whose erasure was acknowledged. If the disk is full or the file busy, the WAL is
/// left for later.
pub(crate) fn settle_wal(conn: &Connection) -> rusqlite::Result<()> {
    match conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
        Err(error) if matches!(StoreFault::of(&error), StoreFault::Full | StoreFault::Busy) => {
            Ok(())
        }
        settled => settled,
    }
}

/// Creates a log of the first format.
#[cfg(test)]
pub(crate) fn first_format(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(TABLES)
}

/// Returns the format of a log.
pub(crate) fn format(conn: &Connection) -> rusqlite::Result<u32> {
    let format: Option<String> = conn
        .query_row("SELECT value FROM meta WHERE key = 'format'", [], |row| row.get(0))
        .optional()?;
    let format = format.and_then(|format| format.parse().ok());
    format.ok_or_else(|| rusqlite::Error::InvalidColumnName("meta.format".into()))
}
