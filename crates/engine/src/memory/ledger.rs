//! The usage of turns, in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use moothall_kernel::budget::{Account, BudgetOwner, Charge, DAY, Raise, start_of};
use moothall_kernel::event::Usage;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::time::Timestamp;

use super::MemoryLog;
use crate::access::AuditEntry;
use crate::ports::{Ledger, LogError, UsageBy, UsageSum, UsageWanted};

/// The key of a row: the hour, the stream, the agent, and the principal that caused the turns.
type LedgerKey = (Timestamp, StreamId, String, ParticipantId);

#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    rows: BTreeMap<LedgerKey, UsageSum>,
    raises: BTreeMap<BudgetOwner, Raise>,
}

impl Rows {
    /// Adds charges to the sums of their hour, stream, agent and principal.
    pub(super) fn count(&mut self, stream: &StreamId, charges: &[Charge]) {
        for charge in charges {
            let key = (
                charge.hour,
                stream.clone(),
                charge.account.agent.clone(),
                charge.account.by.clone(),
            );
            self.rows.entry(key).or_default().add(&UsageSum::of(charge));
        }
    }
}

impl UsageSum {
    fn of(charge: &Charge) -> Self {
        Self {
            turns: charge.turns,
            unattended: charge.unattended(),
            input_tokens: charge.usage.input_tokens,
            output_tokens: charge.usage.output_tokens,
            cost_micros: charge.usage.cost_micros,
            ..Self::default()
        }
    }

    fn add(&mut self, more: &UsageSum) {
        self.turns += more.turns;
        self.unattended += more.unattended;
        self.input_tokens += more.input_tokens;
        self.output_tokens += more.output_tokens;
        self.cost_micros += more.cost_micros;
    }
}

impl UsageWanted {
    /// True if the request asks for this row.
    fn includes(&self, (hour, stream, agent, _): &LedgerKey) -> bool {
        self.streams.as_ref().is_none_or(|streams| streams.contains(stream))
            && self.agent.as_ref().is_none_or(|wanted| wanted == agent)
            && self.from.is_none_or(|from| *hour >= from)
            && self.to.is_none_or(|to| *hour < to)
    }

    /// Returns an empty sum for the group of this row. The group is its agent, its stream or its
    /// day, or all rows, as the request says.
    fn empty(&self, (hour, stream, agent, _): &LedgerKey) -> UsageSum {
        match self.by {
            None => UsageSum::default(),
            Some(UsageBy::Agent) => UsageSum { agent: Some(agent.clone()), ..UsageSum::default() },
            Some(UsageBy::Stream) => {
                UsageSum { stream: Some(stream.clone()), ..UsageSum::default() }
            }
            Some(UsageBy::Day) => {
                UsageSum { day: Some(start_of(*hour, DAY)), ..UsageSum::default() }
            }
        }
    }
}

#[async_trait]
impl Ledger for MemoryLog {
    /// Returns two charges for each row, one for turns that a person caused and one for the others.
    /// The cost of a row is in the first, because a row does not divide it.
    async fn charged_since(&self, hour: Timestamp) -> Result<Vec<Charge>, LogError> {
        let tables = self.tables();
        let since = tables.ledger.rows.iter().filter(|((at, ..), _)| *at >= hour);
        let charges = since.flat_map(|((hour, _, agent, by), used)| {
            let usage = Usage { cost_micros: used.cost_micros, ..Usage::default() };
            let charge = |attended, turns, usage| {
                let account = Account { agent: agent.clone(), by: by.clone(), attended };
                Charge { hour: *hour, account, turns, usage }
            };
            [
                charge(true, used.turns - used.unattended, usage),
                charge(false, used.unattended, Usage::default()),
            ]
        });
        Ok(charges.collect())
    }

    /// Sums the rows in groups, sorts the groups, and returns the first of them.
    async fn used(&self, wanted: &UsageWanted) -> Result<Vec<UsageSum>, LogError> {
        let tables = self.tables();
        let mut sums: Vec<UsageSum> =
            if wanted.by.is_none() { vec![UsageSum::default()] } else { Vec::new() };
        for (key, row) in tables.ledger.rows.iter().filter(|(key, _)| wanted.includes(key)) {
            let empty = wanted.empty(key);
            let same = |sum: &&mut UsageSum| {
                (&sum.agent, &sum.stream, sum.day) == (&empty.agent, &empty.stream, empty.day)
            };
            match sums.iter_mut().find(same) {
                Some(sum) => sum.add(row),
                None => {
                    let mut sum = empty;
                    sum.add(row);
                    sums.push(sum);
                }
            }
        }
        sums.sort_by(|a, b| {
            (b.day, b.cost_micros, b.turns, &a.agent, &a.stream).cmp(&(
                a.day,
                a.cost_micros,
                a.turns,
                &b.agent,
                &b.stream,
            ))
        });
        sums.truncate(wanted.limit);
        Ok(sums)
    }

    async fn keep_raise(
        &self,
        owner: &BudgetOwner,
        raise: &Raise,
        entry: &AuditEntry,
    ) -> Result<(), LogError> {
        let mut tables = self.to_write()?;
        tables.ledger.raises.insert(owner.clone(), *raise);
        tables.keys.record(entry);
        Ok(())
    }

    async fn raises(&self, now: Timestamp) -> Result<Vec<(BudgetOwner, Raise)>, LogError> {
        let tables = self.tables();
        Ok(tables
            .ledger
            .raises
            .iter()
            .filter(|(_, raise)| raise.until > now)
            .map(|(owner, raise)| (owner.clone(), *raise))
            .collect())
    }

    async fn uncounted(&self, _limit: usize) -> Result<Vec<(StreamId, Seq)>, LogError> {
        Ok(Vec::new())
    }

    async fn count(&self, stream: &StreamId, charges: Vec<Charge>) -> Result<(), LogError> {
        self.to_write()?.ledger.count(stream, &charges);
        Ok(())
    }
}
