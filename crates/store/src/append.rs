//! One request inside the writer's transaction. The writer undoes the changes of a rejected one.

use moothall_engine::crash;
use moothall_engine::log_format::{BodyHash, ChainLink, StoredParts, code_of};
use moothall_engine::ports::{
    AppendError, AppendResult, Catalog, Claim, ClaimChange, DeliveryState, Epoch, NewDelivery,
    StreamBatch, command_claim,
};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::time::{Millis, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, Statement, params};

use crate::deletion;
use crate::errors::Refusal;
use crate::ledger;
use crate::posts;
use crate::rows::{self, counter, int};
use crate::snapshots;

/// Time from a claim's lapse to its removal by an append. Until then a stream whose clock is behind
/// may still look it up.
const SWEPT_AFTER: Millis = Millis::from_secs(3600);
/// Maximum number of claims removed by one append, so that no append removes those of a whole day.
const SWEPT_AT_ONCE: i64 = 64;

/// Appends all batches in order. A rejected batch rejects them all.
pub(crate) fn append(
    conn: &Connection,
    batches: &[StreamBatch],
) -> Result<Vec<AppendResult>, Refusal> {
    let newest = batches.iter().flat_map(|batch| &batch.events).map(|recorded| recorded.ts).max();
    let appended =
        batches.iter().map(|batch| append_one(conn, batch, newest)).collect::<Result<_, _>>()?;
    if let Some(now) = newest.filter(|_| batches.iter().any(takes_a_lapsing_claim)) {
        sweep(conn, now)?;
    }
    Ok(appended)
}

/// True if any event erases words.
pub(crate) fn erases(batches: &[StreamBatch]) -> bool {
    batches
        .iter()
        .flat_map(|batch| &batch.events)
        .any(|recorded| recorded.event.erases_all() || recorded.event.erases().next().is_some())
}

/// Appends one batch: its events, their erasures, the stream's row, claims, marks, deliveries and
/// charges. `newest` is the newest time in all batches of the request, by which claims have lapsed.
fn append_one(
    conn: &Connection,
    batch: &StreamBatch,
    newest: Option<Timestamp>,
) -> Result<AppendResult, Refusal> {
    let stored = StreamRow::find(conn, &batch.stream)?;
    let head = admit(batch, stored.as_ref())?;
    let mut stored = match stored {
        Some(stored) if stored.head > Seq(0) => stored,
        other => StreamRow::begin(conn, &batch.stream, other)?,
    };
    let mut insert = conn.prepare_cached(INSERT)?;
    for recorded in &batch.events {
        stored.link = insert_event(&mut insert, &stored, recorded)?;
        for seq in recorded.event.erases() {
            erase(conn, stored.key, seq)?;
            snapshots::forget(conn, stored.key, seq)?;
        }
    }
    crash::point("events_written");
    stored.update(conn, batch, head)?;
    for change in &batch.claims {
        change_claim(conn, &batch.stream, change, newest)?;
        crash::point("claims_written");
    }
    batch.marks.iter().try_for_each(|mark| posts::take(conn, mark))?;
    let deliveries = batch
        .deliveries
        .iter()
        .map(|delivery| insert_delivery(conn, stored.key, delivery))
        .collect::<Result<_, _>>()?;
    ledger::count(conn, stored.key, &batch.charges)?;
    if batch.events.iter().any(|recorded| recorded.event.erases_all()) {
        deletion::begin(conn, &batch.stream, stored.key)?;
    }
    Ok(AppendResult { head, deliveries })
}

/// Returns the head after the batch. Rejects a batch of an outdated writer or from another head.
fn admit(batch: &StreamBatch, stored: Option<&StreamRow>) -> Result<Seq, Refusal> {
    let head = stored.map_or(Seq(0), |stored| stored.head);
    if batch.epoch != stored.map_or(Epoch(0), |stored| stored.epoch) {
        return Err(Refusal::Answer(AppendError::Fenced { stream: batch.stream.clone() }));
    }
    let in_order = batch
        .events
        .iter()
        .try_fold(head, |last, recorded| (recorded.seq == last.next()).then_some(recorded.seq));
    // Readers and lists know a stream by its events: claims alone would belong to none.
    let begins_empty = head == Seq(0) && batch.events.is_empty();
    let admitted = in_order.filter(|_| batch.expected_head == head && !begins_empty);
    admitted.ok_or_else(|| {
        Refusal::Answer(AppendError::Conflict { stream: batch.stream.clone(), head })
    })
}

/// The columns of a stream's row that an append needs.
struct StreamRow {
    key: i64,
    epoch: Epoch,
    head: Seq,
    link: ChainLink,
    catalog: Option<Catalog>,
}

const FIND: &str = "SELECT key, epoch, head, chain, title, policy, created_at, next_wake, has_duties, archived, kind, waits_for_people
    FROM streams WHERE id = ?1";

impl StreamRow {
    /// Returns a stream's row, or `None` for an unknown stream. A row without events begins the
    /// chain at its origin.
    fn find(conn: &Connection, stream: &StreamId) -> Result<Option<Self>, Refusal> {
        let found = conn.prepare_cached(FIND)?.query_row([stream.as_str()], |row| {
            let head = Seq(counter(row, 2)?);
            let link = if head == Seq(0) {
                Some(ChainLink::origin(stream))
            } else {
                ChainLink::from_stored(row.get_ref(3)?.as_blob()?)
            };
            let link =
                link.ok_or_else(|| rusqlite::Error::InvalidColumnName("streams.chain".into()))?;
            Ok(Self {
                key: row.get(0)?,
                epoch: Epoch(counter(row, 1)?),
                head,
                link,
                catalog: Some(rows::catalog(row, 4)?),
            })
        });
        Ok(found.optional()?)
    }

    /// Gives a new stream the highest key, since keys are the order of creation. A row that
    /// `acquire` made earlier has no events, deliveries or claims under its old key.
    fn begin(
        conn: &Connection,
        stream: &StreamId,
        acquired: Option<Self>,
    ) -> Result<Self, Refusal> {
        let Some(acquired) = acquired else {
            conn.prepare_cached("INSERT INTO streams (id) VALUES (?1)")?
                .execute([stream.as_str()])?;
            let key = conn.last_insert_rowid();
            return Ok(Self {
                key,
                epoch: Epoch(0),
                head: Seq(0),
                link: ChainLink::origin(stream),
                catalog: None,
            });
        };
        let sql = "UPDATE streams SET key = (SELECT max(key) + 1 FROM streams) WHERE key = ?1 RETURNING key";
        let key = conn.prepare_cached(sql)?.query_row([acquired.key], |row| row.get(0))?;
        Ok(Self { key, catalog: None, ..acquired })
    }

    /// Updates the stream's row. Skips the columns that most appends leave unchanged, which spares
    /// their indexes.
    fn update(&self, conn: &Connection, batch: &StreamBatch, head: Seq) -> Result<(), Refusal> {
        let last_ts = batch.events.last().map(|last| last.ts.millis());
        let row = &batch.catalog;
        if self.catalog.as_ref() != Some(row) {
            let sql = "UPDATE streams SET head = ?2, last_ts = coalesce(?3, last_ts), chain = ?4, title = ?5, policy = ?6, created_at = ?7,
                next_wake = ?8, has_duties = ?9, archived = ?10, kind = ?11, waits_for_people = ?12 WHERE key = ?1";
            let (created_at, next_wake) =
                (row.created_at.millis(), row.next_wake.map(Timestamp::millis));
            let values = params![
                self.key,
                int(head.0),
                last_ts,
                self.link.as_bytes(),
                row.title,
                row.policy,
                created_at,
                next_wake,
                row.has_duties,
                row.archived,
                row.kind,
                row.waits_for_people
            ];
            conn.prepare_cached(sql)?.execute(values)?;
        } else if let Some(last_ts) = last_ts {
            let sql = "UPDATE streams SET head = ?2, last_ts = ?3, chain = ?4 WHERE key = ?1";
            let values = params![self.key, int(head.0), last_ts, self.link.as_bytes()];
            conn.prepare_cached(sql)?.execute(values)?;
        }
        Ok(())
    }
}

const INSERT: &str =
    "INSERT INTO events (stream, seq, ts, envelope, body, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// Inserts an event with a statement made of [`INSERT`]. Returns the new end of the chain.
fn insert_event(
    insert: &mut Statement<'_>,
    stream: &StreamRow,
    recorded: &RecordedEvent,
) -> Result<ChainLink, Refusal> {
    let StoredParts { envelope, link } = StoredParts::of(recorded, stream.link);
    insert.execute(params![
        stream.key,
        int(recorded.seq.0),
        recorded.ts.millis(),
        envelope,
        recorded.event.body(),
        link.as_bytes()
    ])?;
    Ok(link)
}

/// Replaces a body by its hash, so that the chain stays intact. `secure_delete` overwrites pages
/// that hold nothing else. The writer removes copies in the WAL.
fn erase(conn: &Connection, stream: i64, seq: Seq) -> Result<(), Refusal> {
    let find = "SELECT body FROM events WHERE stream = ?1 AND seq = ?2 AND body IS NOT NULL";
    let hash = |row: &Row<'_>| Ok(BodyHash::of(row.get_ref(0)?.as_bytes()?));
    let Some(hash) = conn.prepare_cached(find)?.query_row([stream, int(seq.0)], hash).optional()?
    else {
        return Ok(());
    };
    let sql = "UPDATE events SET body = NULL, body_hash = ?3 WHERE stream = ?1 AND seq = ?2";
    conn.prepare_cached(sql)?.execute(params![stream, int(seq.0), hash.as_bytes()])?;
    Ok(())
}

/// Takes a claim, or releases one. Releasing a claim that the stream does not have changes nothing.
fn change_claim(
    conn: &Connection,
    stream: &StreamId,
    change: &ClaimChange,
    newest: Option<Timestamp>,
) -> Result<(), Refusal> {
    match change {
        ClaimChange::Take(claim) => take(conn, claim, newest),
        ClaimChange::Release { namespace, key } => {
            let sql = "DELETE FROM claims WHERE namespace = ?1 AND key = ?2 AND stream = ?3";
            conn.prepare_cached(sql)?.execute([namespace.as_str(), key, stream.as_str()])?;
            Ok(())
        }
    }
}

/// Stores a claim. Rejects it if the key is claimed by a claim that has not lapsed at `newest`;
/// without `newest` none has lapsed.
fn take(conn: &Connection, claim: &Claim, newest: Option<Timestamp>) -> Result<(), Refusal> {
    let sql = "SELECT namespace, key, stream, fingerprint, outcome, expires FROM claims WHERE namespace = ?1 AND key = ?2";
    let held = conn
        .prepare_cached(sql)?
        .query_row([&claim.namespace, &claim.key], rows::claim)
        .optional()?;
    let has_lapsed =
        |held: &Claim| newest.is_some_and(|now| held.expires.is_some_and(|expires| expires <= now));
    if let Some(held) = held.filter(|held| !has_lapsed(held)) {
        return Err(Refusal::Answer(AppendError::Claimed(Box::new(held))));
    }
    // A claim that has lapsed is still in the table.
    let sql = "INSERT OR REPLACE INTO claims (namespace, key, stream, fingerprint, outcome, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let expires = claim.expires.map(Timestamp::millis);
    let values = params![
        claim.namespace,
        claim.key,
        claim.stream.as_str(),
        claim.fingerprint,
        claim.outcome,
        expires
    ];
    conn.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn takes_a_lapsing_claim(batch: &StreamBatch) -> bool {
    batch
        .claims
        .iter()
        .any(|change| matches!(change, ClaimChange::Take(Claim { expires: Some(_), .. })))
}

fn sweep(conn: &Connection, now: Timestamp) -> Result<(), Refusal> {
    let sql = "DELETE FROM claims WHERE rowid IN (SELECT rowid FROM claims WHERE expires <= ?1 ORDER BY expires LIMIT ?2)";
    conn.prepare_cached(sql)?.execute([(now - SWEPT_AFTER).millis(), SWEPT_AT_ONCE])?;
    Ok(())
}

/// Inserts a delivery, with the next number if its target is a computer. Returns its id.
fn insert_delivery(conn: &Connection, stream: i64, new: &NewDelivery) -> Result<u64, Refusal> {
    let sql = "INSERT INTO deliveries
        (target, stream, turn, attempt, through_seq, command, state, number)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id";
    let turn = new.turn.map(|turn| int(turn.0));
    let values = params![
        new.target.to_string(),
        stream,
        turn,
        new.attempt,
        int(new.through_seq.0),
        new.command,
        code_of(DeliveryState::Pending),
        posts::next_number(conn, &new.target)?.map(int)
    ];
    Ok(conn.prepare_cached(sql)?.query_row(values, |row| counter(row, 0))?)
}

/// Returns a new epoch for a stream's next writer. It fences earlier writers.
pub(crate) fn acquire(conn: &Connection, stream: &StreamId) -> Result<Epoch, Refusal> {
    let sql = "INSERT INTO streams (id, epoch) VALUES (?1, 1) ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1 RETURNING epoch";
    let epoch = conn.prepare_cached(sql)?.query_row([stream.as_str()], |row| counter(row, 0))?;
    Ok(Epoch(epoch))
}

/// Changes the state of a delivery if its current state is one of `from`.
pub(crate) fn advance(
    conn: &Connection,
    id: u64,
    from: &[DeliveryState],
    to: DeliveryState,
    evidence: &str,
) -> Result<bool, Refusal> {
    // `?2` has a bit for each state in `from`.
    let sql = "UPDATE deliveries SET state = ?3, evidence = ?4 WHERE id = ?1 AND ?2 & (1 << state)";
    let allowed = from.iter().fold(0_i64, |allowed, state| allowed | 1 << code_of(*state));
    let moved =
        conn.prepare_cached(sql)?.execute(params![int(id), allowed, code_of(to), evidence])? == 1;
    if moved && to.is_settled() {
        forget_command(conn, id)?;
    }
    Ok(moved)
}

/// Removes the words of a command that will not be submitted again. Also removes the claim by which
/// a repeated submission had no effect.
pub(crate) fn forget_command(conn: &Connection, id: u64) -> Result<(), Refusal> {
    let sql = "UPDATE deliveries SET command = NULL WHERE id = ?1 AND command IS NOT NULL";
    if conn.prepare_cached(sql)?.execute([int(id)])? == 1 {
        let (namespace, key) = command_claim(id);
        conn.prepare_cached("DELETE FROM claims WHERE namespace = ?1 AND key = ?2")?
            .execute([namespace, &key])?;
    }
    Ok(())
}
