//! Cost of turns: a row for each hour, stream, agent and causer.

use moothall_engine::ports::{UsageBy, UsageSum, UsageWanted};
use moothall_kernel::budget::{Account, BudgetOwner, Charge, DAY, Raise};
use moothall_kernel::event::Usage;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::time::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use crate::errors::Refusal;
use crate::rows::{counter, int};

const COUNT: &str = "INSERT INTO usage (hour, stream, agent, caused_by, turns, unattended, input_tokens, output_tokens, cost_micros)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT (hour, stream, agent, caused_by) DO UPDATE SET turns = turns + excluded.turns, unattended = unattended + excluded.unattended,
    input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
    cost_micros = cost_micros + excluded.cost_micros";

/// Adds the charges of a stream's events. Charges of the same row are added up before the write.
pub(crate) fn count(conn: &Connection, stream: i64, charges: &[Charge]) -> Result<(), Refusal> {
    let same = |a: &Charge, b: &Charge| {
        (a.hour, &a.account.agent, &a.account.by) == (b.hour, &b.account.agent, &b.account.by)
    };
    for (at, first) in charges.iter().enumerate() {
        if charges[..at].iter().any(|earlier| same(earlier, first)) {
            continue;
        }
        let (mut turns, mut unattended, mut usage) = (0, 0, Usage::default());
        for charge in charges[at..].iter().filter(|later| same(later, first)) {
            turns += charge.turns;
            unattended += charge.unattended();
            usage = usage.with(&charge.usage);
        }
        let (agent, by) = (&first.account.agent, first.account.by.as_str());
        let (input, output, cost) =
            (int(usage.input_tokens), int(usage.output_tokens), int(usage.cost_micros));
        let values = params![
            first.hour.millis(),
            stream,
            agent,
            by,
            int(turns),
            int(unattended),
            input,
            output,
            cost
        ];
        conn.prepare_cached(COUNT)?.execute(values)?;
    }
    Ok(())
}

/// Returns the charges of all streams since an hour. Only turns and money are filled in.
pub(crate) fn charged_since(conn: &Connection, hour: Timestamp) -> rusqlite::Result<Vec<Charge>> {
    let sql = "SELECT hour, agent, caused_by, sum(turns), sum(unattended), sum(cost_micros) FROM usage WHERE hour >= ?1
        GROUP BY hour, agent, caused_by";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([hour.millis()], |row| {
        let (turns, unattended) = (counter(row, 3)?, counter(row, 4)?);
        let usage = Usage { cost_micros: counter(row, 5)?, ..Usage::default() };
        let (hour, agent, by) = (
            Timestamp::from_millis(row.get(0)?),
            row.get::<_, String>(1)?,
            ParticipantId::new(row.get::<_, String>(2)?),
        );
        let charge = |attended, turns, usage| {
            let account = Account { agent: agent.clone(), by: by.clone(), attended };
            Charge { hour, account, turns, usage }
        };
        // The table does not split its money between attended and unattended turns. The money must
        // count one time, so the first charge has all of it.
        Ok([
            charge(true, turns.saturating_sub(unattended), usage),
            charge(false, unattended, Usage::default()),
        ])
    })?;
    Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Returns the requested sums.
pub(crate) fn used(conn: &Connection, wanted: &UsageWanted) -> rusqlite::Result<Vec<UsageSum>> {
    let day = i64::try_from(DAY.0).unwrap_or(i64::MAX);
    let key = match wanted.by {
        None => "NULL",
        Some(UsageBy::Agent) => "agent",
        Some(UsageBy::Stream) => "(SELECT id FROM streams WHERE key = stream)",
        Some(UsageBy::Day) => "hour - hour % 86400000",
    };
    debug_assert_eq!(day, 86_400_000);
    let mut conditions = String::new();
    let mut values: Vec<Value> = Vec::new();
    if let Some(streams) = &wanted.streams {
        let ids: Vec<&str> = streams.iter().map(StreamId::as_str).collect();
        conditions.push_str(
            " AND stream IN (SELECT key FROM streams WHERE id IN (SELECT value FROM json_each(?)))",
        );
        values.push(serde_json::json!(ids).to_string().into());
    }
    if let Some(agent) = &wanted.agent {
        conditions.push_str(" AND agent = ?");
        values.push(agent.clone().into());
    }
    for (compare, time) in [(">=", wanted.from), ("<", wanted.to)] {
        if let Some(time) = time {
            conditions.push_str(&format!(" AND hour {compare} ?"));
            values.push(time.millis().into());
        }
    }
    let group = if wanted.by.is_some() { "GROUP BY 1" } else { "" };
    let order = if wanted.by == Some(UsageBy::Day) { "1 DESC" } else { "6 DESC, 2 DESC, 1" };
    let sql = format!(
        "SELECT {key}, coalesce(sum(turns), 0), coalesce(sum(unattended), 0), coalesce(sum(input_tokens), 0),
        coalesce(sum(output_tokens), 0), coalesce(sum(cost_micros), 0) FROM usage WHERE 1 {conditions} {group} ORDER BY {order} LIMIT ?"
    );
    values.push(int(wanted.limit as u64).into());
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| sum(row, wanted.by))?;
    rows.collect()
}

/// Reads a sum from a row. The first column is the key by which the rows are grouped.
fn sum(row: &Row<'_>, by: Option<UsageBy>) -> rusqlite::Result<UsageSum> {
    let mut used = UsageSum {
        turns: counter(row, 1)?,
        unattended: counter(row, 2)?,
        input_tokens: counter(row, 3)?,
        output_tokens: counter(row, 4)?,
        cost_micros: counter(row, 5)?,
        ..UsageSum::default()
    };
    match by {
        None => {}
        Some(UsageBy::Agent) => used.agent = Some(row.get(0)?),
        Some(UsageBy::Stream) => used.stream = Some(StreamId::new(row.get::<_, String>(0)?)),
        Some(UsageBy::Day) => used.day = Some(Timestamp::from_millis(row.get(0)?)),
    }
    Ok(used)
}

/// Stores a budget's allowance above its limit.
pub(crate) fn keep_raise(conn: &Connection, owner: &str, raise: &Raise) -> Result<(), Refusal> {
    let sql = "INSERT OR REPLACE INTO budget_raises (purse, turns, micros, until) VALUES (?1, ?2, ?3, ?4)";
    conn.prepare_cached(sql)?.execute(params![
        owner,
        int(raise.turns),
        int(raise.micros),
        raise.until.millis()
    ])?;
    Ok(())
}

/// Returns the raises that are in force at `now`. Skips budgets of a kind that this version does
/// not know.
pub(crate) fn raises(
    conn: &Connection,
    now: Timestamp,
) -> rusqlite::Result<Vec<(BudgetOwner, Raise)>> {
    let mut statement = conn.prepare_cached(
        "SELECT purse, turns, micros, until FROM budget_raises WHERE until > ?1 ORDER BY purse",
    )?;
    let rows = statement.query_map([now.millis()], |row| {
        let owner = serde_json::from_str(row.get_ref(0)?.as_str()?).ok();
        let raise = Raise {
            turns: counter(row, 1)?,
            micros: counter(row, 2)?,
            until: Timestamp::from_millis(row.get(3)?),
        };
        Ok(owner.map(|owner| (owner, raise)))
    })?;
    Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Returns streams with events from before the table of costs existed, and their heads at that
/// time.
pub(crate) fn uncounted(conn: &Connection, limit: usize) -> rusqlite::Result<Vec<(StreamId, Seq)>> {
    let sql = "SELECT s.id, u.head FROM usage_uncounted u JOIN streams s ON s.key = u.stream ORDER BY u.stream DESC LIMIT ?1";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([int(limit as u64)], |row| {
        Ok((StreamId::new(row.get::<_, String>(0)?), Seq(counter(row, 1)?)))
    })?;
    rows.collect()
}

/// Counts the events of a stream from before the table of costs existed. A second call for the same
/// stream changes nothing.
pub(crate) fn count_old(
    conn: &Connection,
    stream: &StreamId,
    charges: &[Charge],
) -> Result<(), Refusal> {
    let sql = "DELETE FROM usage_uncounted WHERE stream = (SELECT key FROM streams WHERE id = ?1) RETURNING stream";
    let found: Option<i64> =
        conn.prepare_cached(sql)?.query_row([stream.as_str()], |row| row.get(0)).optional()?;
    match found {
        Some(key) => count(conn, key, charges),
        None => Ok(()),
    }
}
