//! The audit record and its hash chain: each row has the hash of the previous row and of its own
//! contents.
//!
//! `sums` has the number and the hash of the newest row. The next row continues from there and not
//! from the last row in the table, so that removed rows leave a permanent gap.

use moothall_engine::access::{AuditEntry, AuditRecord, TokenId};
use moothall_engine::ports::LogError;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use crate::errors::{Refusal, failed};
use crate::rows::{counter, int};
use crate::sums::{FAULTS_TOLD, StoredSum};

/// The hash of a row and of all rows before it. It is stored in full, since it serves as an anchor
/// outside the file.
type Chain = [u8; 32];

/// Prepares the record of an earlier format for its chain, which [`chain_old`] then computes.
pub(crate) const CHAINED: &str = "
DROP TRIGGER IF EXISTS audit_is_not_changed;
ALTER TABLE audit ADD COLUMN chain BLOB;
";

/// Trigger that rejects changes to rows, against mistakes.
pub(crate) const UNCHANGED: &str = "CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the record is only added to'); END;";

const COLUMNS: &str = "number, at, deed, principal, token, about, detail";

/// A row of the record as it is in the file, not yet trusted.
struct StoredAuditRow<'a> {
    number: i64,
    at: i64,
    words: [Option<&'a [u8]>; 5],
}

impl<'a> StoredAuditRow<'a> {
    fn of(row: &'a Row<'_>) -> rusqlite::Result<Self> {
        let mut words = [None; 5];
        for (word, at) in words.iter_mut().zip(2..) {
            *word = match row.get_ref(at)? {
                ValueRef::Null => None,
                text => Some(text.as_str()?.as_bytes()),
            };
        }
        Ok(Self { number: row.get(0)?, at: row.get(1)?, words })
    }

    fn chain(&self, before: &Chain) -> Chain {
        let mut hasher = blake3::Hasher::new();
        hasher.update(before).update(&self.number.to_le_bytes()).update(&self.at.to_le_bytes());
        for word in self.words {
            // A missing word must not hash like an empty one.
            let length = word.map_or(u64::MAX, |word| word.len() as u64);
            hasher.update(&length.to_le_bytes()).update(word.unwrap_or_default());
        }
        hasher.finalize().into()
    }
}

/// Returns the hash before the first row.
fn origin() -> Chain {
    blake3::hash(b"the audit record of moothall").into()
}

/// Computes the chain for the rows of an earlier format, as they are found.
pub(crate) fn chain_old(conn: &Connection) -> rusqlite::Result<()> {
    let (mut chain, mut newest) = (origin(), 0);
    let mut links = Vec::new();
    let mut statement = conn.prepare(&format!("SELECT {COLUMNS} FROM audit ORDER BY number"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let stored = StoredAuditRow::of(row)?;
        (chain, newest) = (stored.chain(&chain), stored.number);
        links.push((newest, chain));
    }
    let mut update = conn.prepare("UPDATE audit SET chain = ?2 WHERE number = ?1")?;
    for (number, chain) in links {
        update.execute((number, chain))?;
    }
    let sql = "INSERT OR REPLACE INTO sums (name, rows, total) VALUES ('audit', ?1, ?2)";
    conn.execute(sql, (newest, chain))?;
    conn.execute_batch(UNCHANGED)
}

/// Returns the number and the hash of the newest row.
fn newest(conn: &Connection) -> rusqlite::Result<Option<(u64, Chain)>> {
    let kept = StoredSum::of(conn, "audit")?;
    Ok(kept.and_then(|kept| Some((kept.rows, kept.total.try_into().ok()?))))
}

/// Adds a row to the record.
pub(crate) fn record(conn: &Connection, entry: &AuditEntry) -> Result<(), Refusal> {
    let lost = || rusqlite::Error::InvalidColumnName("sums.audit".into());
    let (number, before) = newest(conn)?.ok_or_else(lost)?;
    let number = int(number) + 1;
    let action = entry.action.to_string();
    let name = |id: Option<&TokenId>| id.map(|id| id.as_str().to_owned());
    let by = entry.by.as_ref().map(ParticipantId::as_str);
    let (token, about) = (name(entry.token.as_ref()), name(entry.about.as_ref()));
    let words = [Some(&*action), by, token.as_deref(), about.as_deref(), Some(&*entry.detail)];
    let stored = StoredAuditRow {
        number,
        at: entry.at.millis(),
        words: words.map(|word| word.map(str::as_bytes)),
    };
    let chain = stored.chain(&before);
    let sql = "INSERT INTO audit (number, at, deed, principal, token, about, detail, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let [action, by, token, about, detail] = words;
    let values = params![number, entry.at.millis(), action, by, token, about, detail, chain];
    conn.prepare_cached(sql)?.execute(values)?;
    conn.prepare_cached("UPDATE sums SET rows = ?1, total = ?2 WHERE name = 'audit'")?
        .execute(params![number, chain])?;
    Ok(())
}

/// Returns rows of the record, newest first.
pub(crate) fn read(
    conn: &Connection,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<AuditRecord>> {
    let sql =
        format!("SELECT {COLUMNS} FROM audit WHERE number < ?1 ORDER BY number DESC LIMIT ?2");
    let mut statement = conn.prepare_cached(&sql)?;
    let values = params![before.map_or(i64::MAX, int), int(limit as u64)];
    statement.query_map(values, read_row)?.collect()
}

/// Reads a row with the columns of `COLUMNS`. An action that this version does not know is an
/// error.
fn read_row(row: &Row<'_>) -> rusqlite::Result<AuditRecord> {
    let name = |place: usize| row.get::<_, Option<String>>(place);
    let action = row
        .get_ref(2)?
        .as_str()?
        .parse()
        .map_err(|_| rusqlite::Error::InvalidColumnName("audit.deed".into()))?;
    let entry = AuditEntry {
        at: Timestamp::from_millis(row.get(1)?),
        action,
        by: name(3)?.map(ParticipantId::new),
        token: name(4)?.map(TokenId::new),
        about: name(5)?.map(TokenId::new),
        detail: row.get(6)?,
    };
    Ok(AuditRecord { number: counter(row, 0)?, entry })
}

/// A position in the record: the number of a row, and the hash of it and of all rows before it. An
/// anchor that a person has stored elsewhere proves later that these rows are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The number of the row; 0 before the first.
    pub number: u64,
    /// The hash of the chain up to that row.
    pub hash: Chain,
}

impl std::fmt::Display for Anchor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:", self.number)?;
        self.hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::str::FromStr for Anchor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "an anchor is what `moothall audit head` prints: NUMBER:HASH".to_owned();
        let (number, hash) = text.split_once(':').ok_or_else(wrong)?;
        let byte = |at: usize| u8::from_str_radix(hash.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..hash.len()).step_by(2).map(byte).collect();
        let hash = bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(wrong)?;
        Ok(Self { number: number.parse().map_err(|_| wrong())?, hash })
    }
}

/// Returns the newest row's anchor; `None` if the record has no chain yet.
pub(crate) fn head(conn: &Connection) -> rusqlite::Result<Option<Anchor>> {
    if !is_chained(conn)? {
        return Ok(None);
    }
    Ok(newest(conn)?.map(|(number, hash)| Anchor { number, hash }))
}

fn is_chained(conn: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) > 0 FROM pragma_table_info('audit') WHERE name = 'chain'";
    conn.query_row(sql, [], |row| row.get(0))
}

/// True if the chain contains the anchor. The anchor before the first row is in every chain.
pub(crate) fn holds(conn: &Connection, anchor: &Anchor) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) > 0 FROM audit WHERE number = ?1 AND chain = ?2";
    let found = conn.query_row(sql, params![int(anchor.number), anchor.hash], |row| row.get(0))?;
    Ok(found || (anchor.number == 0 && anchor.hash == origin()))
}

/// Returns the fault of a record that does not contain the anchor.
pub(crate) fn left(anchor: &Anchor) -> LogError {
    damaged(&anchor.number.to_string(), "the record does not contain the anchor")
}

/// Follows the chain. Returns the number of rows; `None` if the record has no chain.
pub(crate) fn walk(conn: &Connection, faults: &mut Vec<LogError>) -> Result<Option<u64>, LogError> {
    if !is_chained(conn).map_err(failed)? {
        return Ok(None);
    }
    let mut walk = Walk { last: 0, chain: origin(), count: 0, faults: Vec::new() };
    let sql = format!("SELECT {COLUMNS}, chain FROM audit NOT INDEXED ORDER BY number");
    let mut statement = conn.prepare(&sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(|error| damaged("all", &error.to_string()))? {
        walk.row(row)?;
    }
    walk.end(newest(conn).map_err(failed)?);
    let fault_count = walk.faults.len();
    faults.extend(walk.faults.into_iter().take(FAULTS_TOLD));
    if fault_count > FAULTS_TOLD {
        faults.push(damaged("all", &format!("{fault_count} faults in all")));
    }
    Ok(Some(walk.count))
}

fn damaged(row: &str, reason: &str) -> LogError {
    LogError::DamagedRow { table: "audit".into(), row: row.into(), reason: reason.into() }
}

/// A walk along the record, with its current position.
struct Walk {
    last: i64,
    chain: Chain,
    count: u64,
    faults: Vec<LogError>,
}

impl Walk {
    fn fault(&mut self, row: &str, reason: &str) {
        self.faults.push(damaged(row, reason));
    }

    /// Checks the next row and moves on to it. Adds a fault if rows are missing before it, or if it
    /// does not match its link.
    fn row(&mut self, row: &Row<'_>) -> Result<(), LogError> {
        self.count += 1;
        let number: i64 = row.get(0).map_err(failed)?;
        let is_next = number == self.last + 1;
        if !is_next {
            self.missing(number);
        }
        let chain = row.get_ref(7).ok().and_then(|chain| chain.as_blob().ok()?.try_into().ok());
        let computed = StoredAuditRow::of(row).map(|stored| stored.chain(&self.chain)).ok();
        // After a gap the previous link is unknown, so this row cannot be checked.
        if is_next && (chain.is_none() || computed != chain) {
            self.fault(&number.to_string(), "it does not match its link in the chain");
        }
        self.last = number;
        // Continues from the stored link: otherwise each row after a damaged one would be a fault.
        self.chain = chain.or(computed).unwrap_or(self.chain);
        Ok(())
    }

    fn missing(&mut self, next: i64) {
        let rows = match (self.last + 1, next - 1) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first} to {last}"),
        };
        self.fault(&rows, "missing from the record");
    }

    /// Adds a fault if the chain does not end at the newest row that was recorded.
    fn end(&mut self, newest: Option<(u64, Chain)>) {
        match newest {
            None => self.fault("the newest", "the number of the newest row is missing"),
            Some((number, _)) if int(number) > self.last => self.missing(int(number) + 1),
            Some((number, chain)) if int(number) < self.last || chain != self.chain => {
                let reason = "it is not the row that was recorded last";
                self.fault(&self.last.to_string(), reason);
            }
            Some(_) => {}
        }
    }
}
