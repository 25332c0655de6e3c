//! Rows beside the log that changed on the disk or by another program. A walk names them, and a
//! token with a changed row is rejected.

use std::path::Path;

use moothall_engine::access::{AuditAction, AuditEntry, Principals, TokenHash};
use moothall_engine::ports::{LogError, Verification};
use moothall_kernel::time::Timestamp;
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

use super::golden::OF_0_1_0_WITH_TOKENS;
use crate::folder::LOG_FILE;
use crate::sums::COVERED;
use crate::{Anchor, SqliteLog, offline, schema};

/// Rows for the tables that are empty in the folder.
const ROWS: &str = "
INSERT INTO agent_cards (id, name, claim, created_at) VALUES ('critic', 'Critic', x'01', 5), ('ann', 'Ann', x'02', 6);
INSERT INTO apps (id, name, agent, since) VALUES ('one', 'One', 'critic', 5), ('two', 'Two', 'ann', 6);
INSERT INTO deliveries (target, stream, attempt, through_seq, state) VALUES ('session:1', 1, 1, 4, 1), ('session:2', 1, 1, 5, 4);
INSERT INTO posts_sent (computer, number) VALUES ('1server', 4), ('3laptop', 7);
INSERT INTO posts_taken (sender, log, through) VALUES ('1server', 'l', 4), ('3laptop', 'l', 7);
INSERT INTO claims (namespace, key, stream, fingerprint, outcome) VALUES ('link', 'one', 'a', '', ''), ('link', 'two', 'b', '', '');
INSERT INTO usage_uncounted (stream, head) VALUES (8, 4), (9, 5);
INSERT INTO budget_raises (purse, turns, micros, until) VALUES ('\"hall\"', 5, 0, 9), ('\"other\"', 5, 0, 9);
INSERT INTO sessions (id, row) VALUES ('s1', '{}'), ('s2', '{}');
INSERT INTO session_listeners (target, caller) VALUES ('s1', 's2'), ('s2', 's1');
INSERT INTO session_rooms (session, room) VALUES ('s1', 'a'), ('s2', 'a');
";

/// Returns a folder with rows in every table.
fn furnished() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    connection(folder.path()).execute_batch(OF_0_1_0_WITH_TOKENS).unwrap();
    drop(SqliteLog::open(folder.path()).unwrap());
    schema::open_writer(&folder.path().join(LOG_FILE)).unwrap().execute_batch(ROWS).unwrap();
    folder
}

fn connection(dir: &Path) -> Connection {
    Connection::open(dir.join(LOG_FILE)).unwrap()
}

/// Opens the file as a program that drops all triggers and checks no foreign keys.
fn intruder(dir: &Path) -> Connection {
    let conn = connection(dir);
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
    let triggers: Vec<String> = {
        let mut found = conn.prepare(sql).unwrap();
        found.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for trigger in triggers {
        conn.execute(&format!("DROP TRIGGER {trigger}"), []).unwrap();
    }
    conn
}

/// Returns a copy of a folder, since each change needs an intact one.
fn copy_of(folder: &TempDir) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(folder.path().join(LOG_FILE), copy.path().join(LOG_FILE)).unwrap();
    copy
}

async fn walked(folder: &TempDir) -> Verification {
    offline::verify(folder.path()).await.unwrap()
}

/// True if a fault names the table.
fn names(found: &Verification, wanted: &str) -> bool {
    found.faults.iter().any(
        |fault| matches!(fault, LogError::DamagedRow { table, .. } if table.as_str() == wanted),
    )
}

fn columns_of(conn: &Connection, table: &str) -> Vec<String> {
    let mut info = conn.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
    info.query_map([table], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn a_walk_looks_at_every_table_and_says_which_it_cannot_check() {
    let whole = furnished();
    let found = walked(&whole).await;
    assert_eq!(found.faults, []);
    let checked: Vec<&str> = found.tables.iter().map(|checked| checked.table.as_str()).collect();
    assert_eq!(checked, [&COVERED[..], &["audit"]].concat());
    assert!(found.tables.iter().all(|checked| checked.rows >= 2), "{:?}", found.tables);
    // A new table must either have checksums or be named as one without.
    let conn = connection(whole.path());
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut all = conn.prepare(sql).unwrap();
    for table in all.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap) {
        let known = checked.contains(&table.as_str())
            || found.unchecked.iter().any(|said| said.starts_with(&table))
            // These have checksums of their own, or are compared with the rows they count.
            || ["events", "streams", "snapshots", "sums"].contains(&table.as_str());
        assert!(known, "nothing is said of {table}");
    }
}

#[tokio::test]
async fn every_column_of_every_row_that_counts_is_covered() {
    let whole = furnished();
    for table in COVERED.into_iter().chain(["audit"]) {
        for column in columns_of(&connection(whole.path()), table) {
            let folder = copy_of(&whole);
            let change = format!(
                "UPDATE OR IGNORE {table} SET {column} = CASE typeof({column})
                 WHEN 'integer' THEN {column} + 100 WHEN 'text' THEN {column} || '.' WHEN 'blob' THEN zeroblob(length({column}))
                 ELSE (SELECT CASE type WHEN 'INTEGER' THEN 1 WHEN 'BLOB' THEN x'01' ELSE 'x' END FROM pragma_table_info('{table}') WHERE name = '{column}') END
                 WHERE {column} IS (SELECT max({column}) FROM {table})"
            );
            let conn = intruder(folder.path());
            assert!(conn.execute(&change, []).unwrap() > 0, "{change}");
            drop(conn);
            let found = walked(&folder).await;
            assert!(names(&found, table), "{table}.{column}: {:?}", found.faults);
        }
    }
}

#[tokio::test]
async fn a_row_that_is_missing_or_older_is_noticed() {
    let whole = furnished();
    for table in COVERED.into_iter().chain(["audit"]) {
        // Claims that lapse are checked one by one, and not counted.
        let lasting = if table == "claims" { "WHERE expires IS NULL" } else { "" };
        let (folder, rows) = (copy_of(&whole), format!("SELECT * FROM {table} {lasting}"));
        let conn = intruder(folder.path());
        let first = format!(
            "CREATE TEMP TABLE gone AS {rows} LIMIT 1; CREATE TEMP TABLE kept AS SELECT * FROM ({rows}) LIMIT -1 OFFSET 1;"
        );
        let deleted = format!(
            "{first} DELETE FROM {table} {lasting}; INSERT INTO {table} SELECT * FROM kept;"
        );
        conn.execute_batch(&deleted).unwrap();
        let reopened = "DROP TABLE gone; DROP TABLE kept";
        conn.execute_batch(reopened).unwrap();
        drop(conn);
        assert!(names(&walked(&folder).await, table), "{table}");
        // A server's start restores the triggers but must not hide the damage.
        drop(SqliteLog::open(folder.path()).unwrap());
        assert!(names(&walked(&folder).await, table), "{table} after a start");
    }
    let folder = copy_of(&whole);
    let tokens = |sql: &str| connection(folder.path()).execute_batch(sql);
    tokens("CREATE TABLE older AS SELECT * FROM tokens WHERE principal = 'gone'").unwrap();
    let revive = "UPDATE tokens SET revoked_at = NULL WHERE principal = 'gone'";
    let writer = schema::open_writer(&folder.path().join(LOG_FILE)).unwrap();
    writer.execute(revive, []).unwrap();
    drop(writer);
    assert_eq!(walked(&folder).await.faults, [], "what the server itself changes is no damage");
    let conn = intruder(folder.path());
    let back =
        "DELETE FROM tokens WHERE principal = 'gone'; INSERT INTO tokens SELECT * FROM older";
    conn.execute_batch(back).unwrap();
    drop(conn);
    assert!(names(&walked(&folder).await, "tokens"), "a row that is whole and of yesterday");
}

#[tokio::test]
async fn another_program_is_refused_while_the_triggers_are_there() {
    let folder = furnished();
    for change in [
        "UPDATE tokens SET scopes = 'server:admin'",
        "DELETE FROM claims",
        "INSERT INTO principals (id, kind, created_at) VALUES ('eve', 'human', 1)",
    ] {
        let refused = connection(folder.path()).execute(change, []).unwrap_err().to_string();
        assert!(refused.contains("no such function"), "{change}: {refused}");
    }
}

#[tokio::test]
async fn a_token_whose_row_changed_opens_nothing_and_using_it_mends_nothing() {
    let whole = furnished();
    for change in [
        "UPDATE tokens SET scopes = 'server:admin' WHERE principal = 'ann'",
        "UPDATE tokens SET expires_at = expires_at + 1 WHERE principal = 'ann'",
        // The same values in other columns.
        "UPDATE tokens SET revoked_at = last_used_at, last_used_at = NULL WHERE principal = 'ann'",
        "UPDATE principals SET kind = 'agent' WHERE id = 'ann'",
    ] {
        let folder = copy_of(&whole);
        let hash: [u8; 32] = connection(folder.path())
            .query_row("SELECT hash FROM tokens WHERE principal = 'ann'", [], |row| row.get(0))
            .unwrap();
        let hash = TokenHash::from_bytes(hash);
        let log = SqliteLog::open(folder.path()).unwrap();
        let token = log.token(&hash).await.unwrap().unwrap();
        drop(log);
        assert_eq!(intruder(folder.path()).execute(change, []).unwrap(), 1, "{change}");
        let log = SqliteLog::open(folder.path()).unwrap();
        let refused = log.token(&hash).await;
        assert!(matches!(&refused, Err(LogError::DamagedRow { .. })), "{change}: {refused:?}");
        log.note_use(&token.id, Timestamp::from_millis(77)).await.unwrap();
        assert!(matches!(log.token(&hash).await, Err(LogError::DamagedRow { .. })), "{change}");
        drop(log);
        assert!(!walked(&folder).await.faults.is_empty(), "{change}");
    }
}

/// Returns the rows of a table, to compare them before and after.
fn contents(dir: &Path, table: &str) -> Option<Vec<Vec<Value>>> {
    let conn = Connection::open(dir.join(LOG_FILE)).ok()?;
    let mut all = conn.prepare(&format!("SELECT * FROM {table} NOT INDEXED")).ok()?;
    let columns = all.column_count();
    let rows = all.query_map([], |row| (0..columns).map(|at| row.get(at)).collect()).ok()?;
    rows.collect::<Result<_, _>>().ok()
}

/// Flips bits, at a stride, in every page that a covered table uses.
#[tokio::test]
async fn a_flipped_bit_in_a_used_page_of_a_covered_table_is_found() {
    const STRIDE: usize = 211;
    let whole = furnished();
    let bytes = std::fs::read(whole.path().join(LOG_FILE)).unwrap();
    let (mut changed, mut harmless) = (0, 0);
    for table in COVERED.into_iter().chain(["audit"]) {
        let (page, size) = super::damage::page_of(&whole.path().join(LOG_FILE), table);
        let good = contents(whole.path(), table);
        // The cells are at the end of the page, behind the unused part.
        let begin = (page - 1) * size;
        let cells = begin + first_cell(&bytes[begin..begin + size]);
        for bit in (cells * 8..(begin + size) * 8).step_by(STRIDE) {
            let folder = tempfile::tempdir().unwrap();
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(folder.path().join(LOG_FILE), flipped).unwrap();
            let found = offline::verify(folder.path()).await;
            let is_reported = found.as_ref().map_or(true, |found| !found.faults.is_empty());
            let same = contents(folder.path(), table) == good;
            assert!(
                is_reported || same,
                "{table}: bit {bit} changed a row, and a walk found nothing"
            );
            changed += u32::from(!same);
            harmless += u32::from(same);
        }
    }
    println!("{changed} flipped bits changed a row, and all were found; {harmless} changed none");
    assert!(changed > 100);
}

/// Returns the offset of a page's first cell.
fn first_cell(page: &[u8]) -> usize {
    usize::from(u16::from_be_bytes([page[5], page[6]]))
}

fn entry(detail: &str) -> AuditEntry {
    AuditEntry {
        at: Timestamp::from_millis(1_900_000_000_000),
        action: AuditAction::Denied,
        by: None,
        token: None,
        about: None,
        detail: detail.into(),
    }
}

/// Returns the faults of the record, as rows and reasons.
fn record_faults(found: &Verification) -> Vec<(String, String)> {
    let of = |fault: &LogError| match fault {
        LogError::DamagedRow { table, row, reason } if table == "audit" => {
            Some((row.clone(), reason.clone()))
        }
        _ => None,
    };
    found.faults.iter().filter_map(of).collect()
}

#[tokio::test]
async fn rows_that_are_gone_leave_a_gap_in_the_record_for_ever() {
    let whole = furnished();
    for (gone, named) in [("number = 3", "3"), ("number >= 4", "4 to 6"), ("number < 3", "1 to 2")]
    {
        let folder = copy_of(&whole);
        intruder(folder.path()).execute(&format!("DELETE FROM audit WHERE {gone}"), []).unwrap();
        let missing = vec![(named.to_owned(), "missing from the record".to_owned())];
        assert_eq!(record_faults(&walked(&folder).await), missing, "{gone}");
        let log = SqliteLog::open(folder.path()).unwrap();
        log.record(&entry("after that")).await.unwrap();
        assert_eq!(log.audit(None, 1).await.unwrap()[0].number, 7, "{gone}");
        drop(log);
        assert_eq!(record_faults(&walked(&folder).await), missing, "{gone}");
    }
}

#[tokio::test]
async fn an_anchor_holds_the_record_to_what_it_was() {
    let folder = furnished();
    let head = |dir: &Path| offline::audit_head(dir).unwrap().unwrap();
    let before = head(folder.path());
    assert_eq!((before.number, before.to_string().parse()), (6, Ok(before)));
    let log = SqliteLog::open(folder.path()).unwrap();
    log.record(&entry("one more")).await.unwrap();
    // The anchor can be read while a server runs, too.
    assert_eq!(head(folder.path()).number, 7);
    let verify = |anchor: Anchor| offline::audit_verify(folder.path(), Some(anchor)).unwrap();
    assert_eq!((verify(before).rows, verify(before).faults), (Some(7), vec![]));
    let other = Anchor { number: 6, hash: [7; 32] };
    assert!(matches!(&verify(other).faults[..], [LogError::DamagedRow { row, .. }] if row == "6"));
    let later = Anchor { number: 9, ..before };
    assert_eq!(verify(later).faults.len(), 1, "an anchor of a record that was cut");
}
