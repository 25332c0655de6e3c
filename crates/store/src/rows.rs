//! Converts between rows of the database and the values of the ports.

use moothall_engine::log_format::state_of;
use moothall_engine::ports::{Catalog, Claim, Delivery, DeliveryState, ListedStream};
use moothall_kernel::ids::{Seq, StreamId, TurnNo};
use moothall_kernel::time::Timestamp;
use rusqlite::Row;
use rusqlite::types::Type;

/// SQLite's integers are signed. No real log has counters that do not fit.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a counter.
pub(crate) fn counter(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let stored: i64 = row.get(column)?;
    u64::try_from(stored).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, stored))
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_millis)
}

fn text_id(row: &Row<'_>, column: usize) -> rusqlite::Result<StreamId> {
    row.get_ref(column)?.as_str().map(StreamId::new).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
    })
}

/// Reads `title, policy, created_at, next_wake, has_duties, archived, kind, waits_for_people` from
/// the given column on.
pub(crate) fn catalog(row: &Row<'_>, first: usize) -> rusqlite::Result<Catalog> {
    Ok(Catalog {
        title: row.get(first)?,
        policy: row.get(first + 1)?,
        created_at: time(row, first + 2)?,
        next_wake: row.get::<_, Option<i64>>(first + 3)?.map(Timestamp::from_millis),
        has_duties: row.get(first + 4)?,
        archived: row.get(first + 5)?,
        kind: row.get(first + 6)?,
        // A bad value only means "unknown"; still list the stream.
        waits_for_people: row.get(first + 7).unwrap_or_default(),
    })
}

/// Reads `key, id, head, last_ts` and the catalog: a position in a listing, and the stream there.
pub(crate) fn listed(row: &Row<'_>) -> rusqlite::Result<(u64, ListedStream)> {
    let listed = ListedStream {
        stream: text_id(row, 1)?,
        head: Seq(counter(row, 2)?),
        last_ts: time(row, 3)?,
        catalog: catalog(row, 4)?,
    };
    Ok((counter(row, 0)?, listed))
}

/// Reads `namespace, key, stream, fingerprint, outcome, expires`.
pub(crate) fn claim(row: &Row<'_>) -> rusqlite::Result<Claim> {
    Ok(Claim {
        namespace: row.get(0)?,
        key: row.get(1)?,
        stream: text_id(row, 2)?,
        fingerprint: row.get(3)?,
        outcome: row.get(4)?,
        expires: row.get::<_, Option<i64>>(5)?.map(Timestamp::from_millis),
    })
}

/// Reads `id, target, stream id, turn, attempt, through_seq, state, evidence, command, number`.
pub(crate) fn delivery(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    let turn = row.get::<_, Option<i64>>(3)?.and_then(|turn| u64::try_from(turn).ok());
    let Ok(target) = row.get::<_, String>(1)?.parse();
    Ok(Delivery {
        id: counter(row, 0)?,
        target,
        stream: text_id(row, 2)?,
        turn: turn.map(TurnNo),
        attempt: row.get(4)?,
        through_seq: Seq(counter(row, 5)?),
        state: state(row, 6)?,
        evidence: row.get(7)?,
        command: row.get(8)?,
        number: row.get::<_, Option<i64>>(9)?.and_then(|number| u64::try_from(number).ok()),
    })
}

/// Reads a delivery's state.
pub(crate) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<DeliveryState> {
    let stored: i64 = row.get(column)?;
    state_of(stored).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, stored))
}
