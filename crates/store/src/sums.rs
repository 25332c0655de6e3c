//! Checksums of the rows beside the log.
//!
//! Each row of a covered table has a checksum over its contents. `sums` has, for each table, the
//! number of its rows and the sum of their checksums. Triggers update both in the transaction of
//! the change, so no statement can forget them. A walk computes them again: it names a changed row,
//! and the sums show a missing row or an older form of one.

use moothall_engine::ports::{CheckedTable, LogError, Verification};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::audit;
use crate::errors::failed;
use crate::rows::counter;

/// The tables whose loss or change lets a caller in, spends money, or makes something happen twice.
/// To cover another table, add it here: the next start adds its checksums and triggers.
pub(crate) const COVERED: [&str; 14] = [
    "principals",
    "tokens",
    "agent_cards",
    "apps",
    "claims",
    "deliveries",
    "posts_sent",
    "posts_taken",
    "usage",
    "usage_uncounted",
    "budget_raises",
    "sessions",
    "session_listeners",
    "session_rooms",
];

/// The tables without a checksum, and the effect of a change there.
const UNCOVERED: [(&str, &str); 3] = [
    (
        "the number of claims that expire",
        "each claim is checked, but a missing one is not detected",
    ),
    ("read_marks", "a change shows messages as read or unread"),
    ("meta", "a change stops the server, or makes clients read from the beginning"),
];

/// Tables of which `sums` leaves out some rows: those whose named column is not null. A message
/// with an idempotency key stores such a claim. If it counted, the message would write one more
/// page. Each row still has its own checksum.
const UNCOUNTED: [(&str, &str); 1] = [("claims", "expires")];

/// Bytes kept of a hash.
const KEPT: usize = 16;
/// Maximum number of reported faults of one table.
pub(crate) const FAULTS_TOLD: usize = 20;
/// Maximum number of reported characters of a row's key.
const KEY_TOLD: usize = 80;

/// The table of the row counts and sums. All its rows fit on one page.
pub(crate) const TABLE: &str = "CREATE TABLE IF NOT EXISTS sums
    (name TEXT PRIMARY KEY, rows INTEGER NOT NULL, total BLOB NOT NULL) STRICT, WITHOUT ROWID;";

/// The checksum of a row.
type Sum = [u8; KEPT];

/// Registers the SQL functions that the triggers call.
pub(crate) fn teach(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    conn.create_scalar_function("row_sum", -1, flags, |context| {
        let table = context.get_raw(0).as_str()?;
        let pairs = (1..context.len())
            .step_by(2)
            .map(|at| Ok((context.get_raw(at).as_str()?, context.get_raw(at + 1))));
        Ok(sum_of(table, pairs.collect::<rusqlite::Result<Vec<_>>>()?.into_iter()).to_vec())
    })?;
    conn.create_scalar_function("sum_moved", 3, flags, |context| {
        let number = |at| Ok::<_, rusqlite::Error>(read_sum(context, at)?.unwrap_or_default());
        let moved = number(0)?.wrapping_sub(number(1)?).wrapping_add(number(2)?);
        Ok(moved.to_le_bytes().to_vec())
    })
}

fn read_sum(context: &Context<'_>, at: usize) -> rusqlite::Result<Option<u128>> {
    let bytes = context.get_raw(at).as_blob_or_null()?;
    Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map(u128::from_le_bytes))
}

/// Returns the checksum of the columns of a row. Nulls are left out, so that a column added by a
/// later version changes no checksum while it is null.
fn sum_of<'a>(table: &str, columns: impl Iterator<Item = (&'a str, ValueRef<'a>)>) -> Sum {
    let mut hasher = blake3::Hasher::new();
    let mut part = |kind: u8, bytes: &[u8]| {
        hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    part(0, table.as_bytes());
    for (name, value) in columns.filter(|(_, value)| *value != ValueRef::Null) {
        part(1, name.as_bytes());
        match value {
            ValueRef::Null => {}
            ValueRef::Integer(number) => part(2, &number.to_le_bytes()),
            ValueRef::Real(number) => part(3, &number.to_bits().to_le_bytes()),
            ValueRef::Text(bytes) => part(4, bytes),
            ValueRef::Blob(bytes) => part(5, bytes),
        }
    }
    let mut kept = [0; KEPT];
    kept.copy_from_slice(&hasher.finalize().as_bytes()[..KEPT]);
    kept
}

/// Adds missing checksum columns and triggers to the covered tables. Checksums are computed only
/// with a new column: an existing one keeps its values, so that damage still shows.
pub(crate) fn cover(conn: &Connection) -> rusqlite::Result<()> {
    COVERED.iter().try_for_each(|table| cover_table(conn, table))
}

/// Adds the checksum column to a table if it is missing, and computes it for all rows. Then
/// replaces each trigger that differs from this version's.
fn cover_table(conn: &Connection, table: &str) -> rusqlite::Result<()> {
    let shape = Shape::of(conn, table)?;
    if !shape.has_sum {
        conn.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN sum BLOB"))?;
        conn.execute(&format!("UPDATE {table} SET sum = {}", shape.sum("")), [])?;
        let mut total = 0_u128;
        let counted = uncounted(table).map_or("1".into(), |column| format!("{column} IS NULL"));
        let mut sums = conn.prepare(&format!("SELECT sum FROM {table} WHERE {counted}"))?;
        let mut rows = sums.query([])?;
        let mut count = 0_i64;
        while let Some(row) = rows.next()? {
            total = total.wrapping_add(u128::from_le_bytes(row.get::<_, Sum>(0)?));
            count += 1;
        }
        let sql = "INSERT OR REPLACE INTO sums (name, rows, total) VALUES (?1, ?2, ?3)";
        conn.execute(sql, (table, count, total.to_le_bytes()))?;
    }
    for (name, sql) in shape.triggers() {
        let known = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?1";
        let known: Option<String> = conn.query_row(known, [&name], |row| row.get(0)).optional()?;
        if known.as_ref() != Some(&sql) {
            conn.execute_batch(&format!("DROP TRIGGER IF EXISTS {name}; {sql}"))?;
        }
    }
    Ok(())
}

/// Returns the column that is not null in uncounted rows.
fn uncounted(table: &str) -> Option<&'static str> {
    UNCOUNTED.iter().find(|(name, _)| *name == table).map(|(_, column)| *column)
}

/// The columns of a covered table.
struct Shape<'a> {
    table: &'a str,
    key: Vec<String>,
    columns: Vec<String>,
    has_sum: bool,
}

impl<'a> Shape<'a> {
    /// Reads the columns of a table from its schema, without the column of checksums.
    fn of(conn: &Connection, table: &'a str) -> rusqlite::Result<Self> {
        let mut info = conn.prepare("SELECT name, pk FROM pragma_table_info(?1) ORDER BY cid")?;
        let all: Vec<(String, i64)> = info
            .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let names = |keys: bool| {
            let wanted = all.iter().filter(|(name, pk)| name != "sum" && (!keys || *pk > 0));
            wanted.map(|(name, _)| name.clone()).collect()
        };
        let has_sum = all.iter().any(|(name, _)| name == "sum");
        Ok(Self { table, key: names(true), columns: names(false), has_sum })
    }

    /// Returns the SQL for the checksum of a row. `row` is `NEW.`, `OLD.` or empty.
    fn sum(&self, row: &str) -> String {
        let pairs = self.columns.iter().map(|column| format!(", '{column}', {row}{column}"));
        format!("row_sum('{}'{})", self.table, pairs.collect::<String>())
    }

    /// Returns the triggers by name: first those that write checksums, then those that update the
    /// sums. A row that was damaged before its change keeps its mismatch: a new checksum would hide
    /// the damage.
    fn triggers(&self) -> [(String, String); 5] {
        let (table, new, old) = (self.table, self.sum("NEW."), self.sum("OLD."));
        let kept = format!("CASE WHEN OLD.sum IS {old} THEN {new} ELSE OLD.sum END");
        let changed = format!("UPDATE OF {}", self.columns.join(", "));
        let this = self.key.iter().map(|column| format!("{column} = NEW.{column}"));
        let this = this.collect::<Vec<_>>().join(" AND ");
        let trigger = |does: &str, event: &str, when: String, statement: String| {
            let name = format!("sums_{table}_{does}");
            let sql = format!(
                "CREATE TRIGGER {name} AFTER {event} ON {table}{when} BEGIN {statement}; END"
            );
            (name, sql)
        };
        let seal = |does: &str, event: &str, sum: &str| {
            let statement = format!("UPDATE {table} SET sum = {sum} WHERE {this}");
            trigger(does, event, String::new(), statement)
        };
        let count = |does: &str, event: &str, row: &str, rows: &str, moved: String| {
            let when = uncounted(table).map(|column| format!(" WHEN {row}.{column} IS NULL"));
            let statement = format!(
                "UPDATE sums SET rows = rows{rows}, total = sum_moved(total, {moved}) WHERE name = '{table}'"
            );
            trigger(does, event, when.unwrap_or_default(), statement)
        };
        [
            seal("seals_added", "INSERT", &new),
            seal("seals_changed", &changed, &kept),
            count("counts_added", "INSERT", "NEW", " + 1", format!("NULL, {new}")),
            count("counts_changed", &changed, "NEW", "", format!("OLD.sum, {kept}")),
            count("counts_gone", "DELETE", "OLD", " - 1", "OLD.sum, NULL".into()),
        ]
    }
}

/// Checks one row of a covered table before its contents are used. A missing row is not an error.
///
/// # Errors
/// [`LogError::DamagedRow`]; any error on reading the row.
pub(crate) fn trust(
    conn: &Connection,
    table: &str,
    column: &str,
    value: impl Params,
) -> Result<(), LogError> {
    let sql = format!("SELECT * FROM {table} WHERE {column} = ?1");
    let mut statement = conn.prepare_cached(&sql).map_err(failed)?;
    let columns = Columns::of(table, statement.column_names().collect());
    let mut rows = statement.query(value).map_err(failed)?;
    match rows.next().map_err(failed)? {
        Some(row) => columns.check(row).map(drop),
        None => Ok(()),
    }
}

/// The columns of a `SELECT *`.
struct Columns<'a> {
    table: &'a str,
    names: Vec<String>,
}

impl<'a> Columns<'a> {
    fn of(table: &'a str, names: Vec<&str>) -> Self {
        Self { table, names: names.into_iter().map(str::to_owned).collect() }
    }

    /// Returns the checksum of a row if it equals the stored one.
    fn check(&self, row: &Row<'_>) -> Result<u128, LogError> {
        let mut stored = None;
        let mut pairs = Vec::with_capacity(self.names.len());
        for (at, name) in self.names.iter().enumerate() {
            let value = row.get_ref(at).map_err(failed)?;
            match name.as_str() {
                "sum" => stored = value.as_blob_or_null().ok().flatten(),
                name => pairs.push((name, value)),
            }
        }
        let sum = sum_of(self.table, pairs.iter().copied());
        match stored == Some(&sum[..]) {
            true => Ok(u128::from_le_bytes(sum)),
            false => Err(self.damaged(&pairs)),
        }
    }

    /// True if the row counts for the sums.
    fn counts(&self, row: &Row<'_>) -> bool {
        let column = uncounted(self.table);
        column.is_none_or(|column| matches!(row.get_ref(column), Ok(ValueRef::Null)))
    }

    /// Names a row by its key columns, or by its first column and its id.
    fn damaged(&self, pairs: &[(&str, ValueRef<'_>)]) -> LogError {
        let named = pairs.iter().enumerate().filter(|(at, (name, _))| match self.table {
            "claims" | "posts_taken" | "session_listeners" | "session_rooms" => *at < 2,
            "usage" => *at < 4,
            _ => *at == 0 || *name == "id",
        });
        let key = named.map(|(_, (name, value))| format!("{name} {}", shown(*value)));
        LogError::DamagedRow {
            table: self.table.to_owned(),
            row: key.collect::<Vec<_>>().join(", ").chars().take(KEY_TOLD).collect(),
            reason: "it does not match its checksum".into(),
        }
    }
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "none".into(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).escape_debug().to_string(),
        ValueRef::Blob(bytes) => format!("of {} bytes", bytes.len()),
    }
}

/// Walks the tables beside the log. A log of an earlier format has no checksums there.
pub(crate) fn walk(conn: &Connection, verified: &mut Verification) {
    for table in COVERED {
        let walked = walk_table(conn, table, &mut verified.faults);
        take(verified, table, walked);
    }
    let walked = audit::walk(conn, &mut verified.faults);
    take(verified, "audit", walked);
    verified.unchecked.extend(UNCOVERED.map(|(table, effect)| format!("{table} ({effect})")));
}

/// Adds the result of a walk over one table: as checked, as unchecked, or as a fault.
fn take(verified: &mut Verification, table: &str, walked: Result<Option<u64>, LogError>) {
    match walked {
        Ok(Some(rows)) => verified.tables.push(CheckedTable { table: table.to_owned(), rows }),
        Ok(None) => verified.unchecked.push(format!(
            "{table} (this log has no checksums for it yet; the next start of the server adds them)"
        )),
        Err(fault) => verified.faults.push(fault),
    }
}

/// Checks a table. Returns the number of its rows; `None` if it has no checksums.
fn walk_table(
    conn: &Connection,
    table: &'static str,
    faults: &mut Vec<LogError>,
) -> Result<Option<u64>, LogError> {
    let broken = |reason: String| LogError::DamagedRow {
        table: table.to_owned(),
        row: "all".into(),
        reason,
    };
    let known = Shape::of(conn, table).map_err(failed)?;
    if !known.has_sum {
        return Ok(None);
    }
    let mut statement =
        conn.prepare(&format!("SELECT * FROM {table} NOT INDEXED")).map_err(failed)?;
    let columns = Columns::of(table, statement.column_names().collect());
    let mut rows = statement.query([]).map_err(failed)?;
    let (mut count, mut seen, mut total, mut damaged) = (0_u64, 0_u64, 0_u128, 0_usize);
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                seen += 1;
                let counted = columns.counts(row);
                count += u64::from(counted);
                match columns.check(row) {
                    Ok(sum) if counted => total = total.wrapping_add(sum),
                    Ok(_) => {}
                    Err(fault) => {
                        damaged += 1;
                        faults.extend((damaged <= FAULTS_TOLD).then_some(fault));
                    }
                }
            }
            Ok(None) => break,
            Err(error) => return Err(broken(format!("it cannot be read: {error}"))),
        }
    }
    if damaged > FAULTS_TOLD {
        faults.push(broken(format!("{damaged} rows do not match their checksums")));
    }
    let kept = StoredSum::of(conn, table).map_err(failed)?;
    let kept = kept.ok_or_else(|| broken("the stored number of its rows is missing".into()))?;
    // `total` lacks damaged rows, so it is compared only if there are none.
    if kept.rows != count {
        faults.push(broken(format!("it has {count} rows and should have {}", kept.rows)));
    } else if damaged == 0 && kept.total != total.to_le_bytes() {
        faults.push(broken("rows were replaced by other or older rows".into()));
    }
    Ok(Some(seen))
}

/// The row of `sums` for a table.
pub(crate) struct StoredSum {
    pub(crate) rows: u64,
    pub(crate) total: Vec<u8>,
}

impl StoredSum {
    pub(crate) fn of(conn: &Connection, table: &str) -> rusqlite::Result<Option<Self>> {
        let sql = "SELECT rows, total FROM sums WHERE name = ?1";
        let row = |row: &Row<'_>| Ok(Self { rows: counter(row, 0)?, total: row.get(1)? });
        conn.prepare_cached(sql)?.query_row([table], row).optional()
    }
}
