//! The thread that follows the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use moothall_engine::log_format::codec;
use moothall_kernel::event::{Event, Posted};
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::search::tokens::{each_word, name_key};
use moothall_kernel::search::{renamings, searchable};
use moothall_kernel::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::erase;
use super::wakeup::Wakeup;
use crate::rows::{counter, int};

/// Maximum number of events in one transaction.
const BATCH: i64 = 512;
/// Approximate maximum of text bytes in one transaction.
const BATCH_BYTES: usize = 1 << 20;

const NEXT: &str = "SELECT rowid, stream, seq, ts, envelope, body, chain FROM events WHERE rowid > ?1 ORDER BY rowid LIMIT ?2";

/// The reader of the log and writer of the index.
pub(crate) struct Feeder {
    index: Connection,
    log: Connection,
    wakeup: Arc<Wakeup>,
    turn: Arc<erase::WriteTurn>,
    /// The newest event that was read, by its row in the log.
    through: i64,
    failing: bool,
}

/// The result of one step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// More events may follow.
    Some,
    /// The index is up to date.
    All,
}

impl Feeder {
    pub(crate) fn new(
        index: Connection,
        log: Connection,
        wakeup: Arc<Wakeup>,
        turn: Arc<erase::WriteTurn>,
    ) -> rusqlite::Result<Self> {
        let through = index.query_row("SELECT through FROM place", [], |row| row.get(0))?;
        Ok(Self { index, log, wakeup, turn, through, failing: false })
    }

    /// Follows the log until the index is closed. A failed step, for example on a full disk, is
    /// retried after the next commit to the log.
    pub(crate) fn run(mut self) {
        loop {
            let step = self.step();
            if let (Err(error), false) = (&step, self.failing) {
                tracing::warn!(%error, "the search index cannot follow the log for now; it is \
                                        retried");
            }
            self.failing = step.is_err();
            let go_on =
                if step == Ok(Step::Some) { !self.wakeup.is_closing() } else { self.wakeup.wait() };
            if !go_on {
                return;
            }
        }
    }

    /// Adds the next events to the index in one transaction, at most [`BATCH`] of them. Returns
    /// [`Step::All`] if the log had no new event. Residue of erased words is removed first.
    fn step(&mut self) -> rusqlite::Result<Step> {
        let turn = Arc::clone(&self.turn);
        let _turn = turn.blocking_lock();
        erase::residue(&self.index)?;
        let newest: i64 =
            self.log.prepare_cached(super::lookup::NEWEST)?.query_row([], |row| row.get(0))?;
        if newest <= self.through {
            return Ok(Step::All);
        }
        let transaction = self.index.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut batch = Batch {
            index: &transaction,
            through: self.through,
            link: Vec::new(),
            heads: BTreeMap::new(),
            bytes: 0,
        };
        let mut next = self.log.prepare_cached(NEXT)?;
        let mut rows = next.query([self.through, BATCH])?;
        while let Some(row) = rows.next()? {
            batch.take(row)?;
            if batch.bytes > BATCH_BYTES || self.wakeup.is_closing() {
                break;
            }
        }
        let through = batch.finish()?;
        transaction.commit()?;
        self.through = through;
        Ok(Step::Some)
    }
}

/// The additions of one transaction.
struct Batch<'a> {
    index: &'a Transaction<'a>,
    through: i64,
    link: Vec<u8>,
    heads: BTreeMap<i64, i64>,
    bytes: usize,
}

impl Batch<'_> {
    /// Takes the next event of the log. An event that cannot be decoded counts as read.
    fn take(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        self.through = row.get(0)?;
        self.link = row.get(6)?;
        let (stream, seq) = (row.get(1)?, row.get(2)?);
        self.heads.insert(stream, seq);
        let envelope = row.get_ref(4)?.as_str().unwrap_or_default();
        if !may_matter(envelope) {
            return Ok(());
        }
        let body: Option<String> = row.get(5)?;
        self.bytes += body.as_ref().map_or(0, String::len);
        let (place, ts) = (Seq(counter(row, 2)?), Timestamp::from_millis(row.get(3)?));
        match codec::decode(place, ts, envelope, body).event() {
            Some(recorded) => self.event(stream, seq, ts, &recorded.event),
            None => Ok(()),
        }
    }

    /// Applies an event to the index: erasures first, then new nicknames, then the message that it
    /// may be.
    fn event(
        &mut self,
        stream: i64,
        seq: i64,
        ts: Timestamp,
        event: &Event,
    ) -> rusqlite::Result<()> {
        if let Event::Redacted { seq, .. } = event {
            erase::entry(self.index, stream, int(seq.0))?;
        }
        if event.erases_all() {
            erase::all(self.index, stream)?;
        }
        for (participant, name) in renamings(event) {
            self.rename(stream, participant, name)?;
        }
        match searchable(event) {
            Some(posted) => self.message(stream, seq, ts, posted),
            None => Ok(()),
        }
    }

    /// Adds a message, unless it is empty or was erased. Its words are stored in their folded form.
    fn message(
        &mut self,
        stream: i64,
        seq: i64,
        ts: Timestamp,
        posted: &Posted,
    ) -> rusqlite::Result<()> {
        let mut forgotten = self
            .index
            .prepare_cached("SELECT 1 FROM forgotten WHERE stream = ?1 AND seq IN (?2, ?3)")?;
        let forgotten = forgotten.exists([stream, seq, erase::EVERY_PLACE])?;
        if posted.body.is_empty() || forgotten {
            return Ok(());
        }
        let keys = self.keys(stream, &posted.from)?;
        let mut text = String::with_capacity(posted.body.len() + 16);
        each_word(&posted.body, |word, _| {
            text.push_str(word);
            text.push(' ');
        });
        let insert = "INSERT INTO docs (stream, seq, ts) VALUES (?1, ?2, ?3)";
        self.index.prepare_cached(insert)?.execute([stream, seq, ts.millis()])?;
        let doc = self.index.last_insert_rowid();
        self.index
            .prepare_cached("INSERT INTO texts (rowid, keys, words) VALUES (?1, ?2, ?3)")?
            .execute(params![doc, keys, text])?;
        Ok(())
    }

    /// Returns the keys of a message: its stream, its author, and the author's current nickname.
    fn keys(&self, stream: i64, from: &ParticipantId) -> rusqlite::Result<String> {
        let called = "SELECT name FROM called WHERE stream = ?1 AND participant = ?2";
        let called = self
            .index
            .prepare_cached(called)?
            .query_row(params![stream, from.as_str()], |row| row.get::<_, String>(0))
            .optional()?;
        let mut keys = format!("s{stream} f{}", self.name(&name_key(from.as_str()))?);
        if let Some(name) = called {
            keys.push_str(&format!(" f{}", self.name(&name)?));
        }
        Ok(keys)
    }

    fn name(&self, name: &str) -> rusqlite::Result<i64> {
        if let Some(key) = super::lookup::key_of_name(self.index, name)? {
            return Ok(key);
        }
        self.index.prepare_cached("INSERT INTO names (name) VALUES (?1)")?.execute([name])?;
        Ok(self.index.last_insert_rowid())
    }

    /// Stores a participant's nickname, or removes it for `None`. Messages indexed before keep
    /// their keys.
    fn rename(
        &self,
        stream: i64,
        participant: &ParticipantId,
        name: Option<&str>,
    ) -> rusqlite::Result<()> {
        match name {
            Some(name) => {
                let sql =
                    "INSERT OR REPLACE INTO called (stream, participant, name) VALUES (?1, ?2, ?3)";
                self.index.prepare_cached(sql)?.execute(params![
                    stream,
                    participant.as_str(),
                    name_key(name)
                ])?;
            }
            None => {
                let sql = "DELETE FROM called WHERE stream = ?1 AND participant = ?2";
                self.index.prepare_cached(sql)?.execute(params![stream, participant.as_str()])?;
            }
        }
        Ok(())
    }

    /// Stores the position of the index in each stream and in the log. Returns the row of the
    /// newest event that was read.
    fn finish(self) -> rusqlite::Result<i64> {
        let sql = "INSERT INTO streams (stream, indexed_seq) VALUES (?1, ?2) ON CONFLICT (stream) DO UPDATE SET indexed_seq = excluded.indexed_seq";
        for (stream, seq) in &self.heads {
            self.index.prepare_cached(sql)?.execute([stream, seq])?;
        }
        self.index
            .prepare_cached("UPDATE place SET through = ?1, link = ?2")?
            .execute(params![self.through, self.link])?;
        Ok(self.through)
    }
}

/// True if an event may change the index. Others, which are most, are not even decoded.
fn may_matter(envelope: &str) -> bool {
    ["{\"posted\"", "{\"controlled\"", "{\"redacted\"", "{\"deleted\""]
        .iter()
        .any(|kind| envelope.starts_with(kind))
}
