//! Posts between computers: the numbers of rows owed to them, and the marks of rows taken from
//! them. Both move in the append that inserts or takes the row. (decisions/0053)

use async_trait::async_trait;
use moothall_engine::log_format::code_of;
use moothall_engine::ports::{
    AppendError, COMPUTER_FORGOTTEN, DeliveryState, LogError, PostBook, PostChannel, PostMark,
    Target, TargetKind, keeps_command,
};
use moothall_kernel::ids::ComputerId;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::SqliteLog;
use crate::append::forget_command;
use crate::errors::Refusal;
use crate::rows::{counter, int};
use crate::writer::Kind;

/// Returns the number of a new delivery, and counts it; `None` if its target is not a computer. A
/// refused append gives the number back with its other changes.
pub(crate) fn next_number(conn: &Connection, target: &Target) -> Result<Option<u64>, Refusal> {
    let Target::Computer(computer) = target else { return Ok(None) };
    let sql = "INSERT INTO posts_sent (computer, number) VALUES (?1, 1)
        ON CONFLICT (computer) DO UPDATE SET number = number + 1 RETURNING number";
    let number = |row: &Row<'_>| counter(row, 0);
    Ok(Some(conn.prepare_cached(sql)?.query_row([computer.as_str()], number)?))
}

/// Moves the mark of a channel. Rejects a mark that does not follow the present one.
pub(crate) fn take(conn: &Connection, mark: &PostMark) -> Result<(), Refusal> {
    let channel = &mark.channel;
    let taken = through(conn, channel)?;
    if !mark.follows(taken) {
        let refused = AppendError::Marked { channel: channel.clone(), through: taken };
        return Err(Refusal::Answer(refused));
    }
    let sql = "INSERT INTO posts_taken (sender, log, through) VALUES (?1, ?2, ?3)
        ON CONFLICT (sender, log) DO UPDATE SET through = excluded.through";
    let values = params![channel.sender.as_str(), channel.log, int(mark.through)];
    conn.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Removes the commands of a deleted stream's open rows for computers, except those without words.
/// The rows stay open: a missing number would hold up all later rows of the receiver.
pub(crate) fn forget_words(conn: &Connection, stream: i64) -> Result<(), Refusal> {
    let sql = "SELECT id, command FROM deliveries
        WHERE stream = ?1 AND state < ?2 AND target GLOB ?3 || ':*' AND command IS NOT NULL";
    let scheme = TargetKind::Computer.scheme();
    let mut owed = conn.prepare_cached(sql)?;
    let rows: Vec<(u64, String)> = owed
        .query_map(params![stream, code_of(DeliveryState::Done), scheme], |row| {
            Ok((counter(row, 0)?, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    let mut with_words = rows.into_iter().filter(|(_, command)| !keeps_command(command));
    with_words.try_for_each(|(id, _)| forget_command(conn, id))
}

fn through(conn: &Connection, channel: &PostChannel) -> rusqlite::Result<u64> {
    let sql = "SELECT through FROM posts_taken WHERE sender = ?1 AND log = ?2";
    let key = [channel.sender.as_str(), &channel.log];
    let found = conn.prepare_cached(sql)?.query_row(key, |row| counter(row, 0)).optional()?;
    Ok(found.unwrap_or_default())
}

fn marks(conn: &Connection, sender: &ComputerId) -> rusqlite::Result<Vec<(PostChannel, u64)>> {
    let sql = "SELECT log, through FROM posts_taken WHERE sender = ?1 ORDER BY log";
    let mark = |row: &Row<'_>| {
        Ok((PostChannel { sender: sender.clone(), log: row.get(0)? }, counter(row, 1)?))
    };
    conn.prepare_cached(sql)?.query_map([sender.as_str()], mark)?.collect()
}

fn last_number(conn: &Connection, computer: &ComputerId) -> rusqlite::Result<u64> {
    let sql = "SELECT number FROM posts_sent WHERE computer = ?1";
    let number = |row: &Row<'_>| counter(row, 0);
    let found = conn.prepare_cached(sql)?.query_row([computer.as_str()], number).optional()?;
    Ok(found.unwrap_or_default())
}

fn forget(conn: &Connection, computer: &ComputerId) -> Result<u64, Refusal> {
    for (table, column) in [("posts_sent", "computer"), ("posts_taken", "sender")] {
        conn.execute(&format!("DELETE FROM {table} WHERE {column} = ?1"), [computer.as_str()])?;
    }
    let target = Target::Computer(computer.clone()).to_string();
    settle(conn, "target = ?1", &target, DeliveryState::Failed, COMPUTER_FORGOTTEN)
}

fn doubt_all(conn: &Connection, why: &str) -> Result<(), Refusal> {
    conn.execute("DELETE FROM posts_sent", [])?;
    let scheme = TargetKind::Computer.scheme();
    settle(conn, "target GLOB ?1 || ':*'", scheme, DeliveryState::Unknown, why).map(drop)
}

/// Settles the open rows that meet a condition on `?1`, and removes their commands. Returns the
/// number of these rows.
fn settle(
    conn: &Connection,
    condition: &str,
    value: &str,
    state: DeliveryState,
    evidence: &str,
) -> Result<u64, Refusal> {
    let sql = format!(
        "UPDATE deliveries SET state = ?2, evidence = ?3
        WHERE state < 4 AND {condition} RETURNING id"
    );
    let ids: Vec<u64> = conn
        .prepare(&sql)?
        .query_map(params![value, code_of(state), evidence], |row| counter(row, 0))?
        .collect::<Result<_, _>>()?;
    ids.iter().try_for_each(|id| forget_command(conn, *id))?;
    Ok(ids.len() as u64)
}

#[async_trait]
impl PostBook for SqliteLog {
    async fn through(&self, channel: &PostChannel) -> Result<u64, LogError> {
        let channel = channel.clone();
        self.read_rows(move |conn| through(conn, &channel)).await
    }

    async fn marks(&self, sender: &ComputerId) -> Result<Vec<(PostChannel, u64)>, LogError> {
        let sender = sender.clone();
        self.read_rows(move |conn| marks(conn, &sender)).await
    }

    async fn last_number(&self, computer: &ComputerId) -> Result<u64, LogError> {
        let computer = computer.clone();
        self.read_rows(move |conn| last_number(conn, &computer)).await
    }

    /// Also removes the words of the rows from the write-ahead log. While a reader is using that
    /// log, they stay in it, and are removed later.
    async fn forget(&self, computer: &ComputerId) -> Result<u64, LogError> {
        let computer = computer.clone();
        self.write_as(Kind::Erases, move |conn| forget(conn, &computer)).await
    }

    async fn doubt_all(&self, why: &str) -> Result<(), LogError> {
        let why = why.to_owned();
        self.write(move |conn| doubt_all(conn, &why)).await
    }
}
