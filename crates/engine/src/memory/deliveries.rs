//! Deliveries to terminals and other targets, in memory.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use moothall_kernel::ids::StreamId;

use super::MemoryLog;
use crate::ports::{
    Deliveries, Delivery, DeliveryState, Durability, LogError, Target, command_claim, keeps_command,
};

/// Removes the commands with words from an open delivery of a deleted stream. A command for a
/// stream is removed always, and its delivery fails. A command for a computer is removed unless it
/// is marked to be kept.
pub(super) fn let_go(delivery: &mut Delivery) {
    if delivery.state.is_settled() {
        return;
    }
    match delivery.target {
        Target::Stream(_) => {
            if delivery.command.take().is_some() {
                delivery.state = DeliveryState::Failed;
            }
        }
        Target::Computer(_) => {
            delivery.command.take_if(|command| !keeps_command(command));
        }
        Target::Session(_)
        | Target::Chat(_)
        | Target::Trail(_)
        | Target::Saga(_)
        | Target::Other(_) => {}
    }
}

#[async_trait]
impl Deliveries for MemoryLog {
    async fn heads(&self) -> Result<Vec<Delivery>, LogError> {
        let tables = self.tables();
        let mut heads: HashMap<&Target, &Delivery> = HashMap::new();
        for delivery in tables.deliveries.iter().filter(|delivery| !delivery.state.is_settled()) {
            heads.entry(&delivery.target).or_insert(delivery);
        }
        let mut heads: Vec<Delivery> = heads.into_values().cloned().collect();
        heads.sort_by_key(|delivery| delivery.id);
        Ok(heads)
    }

    async fn pending_deliveries(
        &self,
        target: &Target,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Delivery>, LogError> {
        let tables = self.tables();
        // Ids number the rows from 1 without gaps, so an id is also the number of rows to skip.
        let rest = tables.deliveries.iter().skip(usize::try_from(after).unwrap_or(usize::MAX));
        Ok(rest
            .filter(|delivery| delivery.target == *target && !delivery.state.is_settled())
            .take(limit)
            .cloned()
            .collect())
    }

    async fn of_target(
        &self,
        target: &Target,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Delivery>, LogError> {
        let tables = self.tables();
        let is_meant = |delivery: &&Delivery| {
            delivery.target == *target && before.is_none_or(|before| delivery.id < before)
        };
        Ok(tables.deliveries.iter().rev().filter(is_meant).take(limit).cloned().collect())
    }

    async fn of_stream(&self, stream: &StreamId) -> Result<Vec<Delivery>, LogError> {
        Ok(self
            .tables()
            .deliveries
            .iter()
            .filter(|delivery| delivery.stream == *stream)
            .cloned()
            .collect())
    }

    async fn advance(
        &self,
        id: u64,
        from: &[DeliveryState],
        to: DeliveryState,
        evidence: &str,
        _lasting: Durability,
    ) -> Result<bool, LogError> {
        let mut tables = self.to_write()?;
        let found = tables
            .deliveries
            .iter_mut()
            .find(|delivery| delivery.id == id && from.contains(&delivery.state));
        let Some(delivery) = found else { return Ok(false) };
        delivery.state = to;
        evidence.clone_into(&mut delivery.evidence);
        if to.is_settled() && delivery.command.take().is_some() {
            let (namespace, key) = command_claim(id);
            tables.claims.remove(&(namespace.to_owned(), key));
        }
        Ok(true)
    }

    async fn tally(&self) -> Result<BTreeMap<DeliveryState, u64>, LogError> {
        let mut tally = BTreeMap::new();
        for delivery in
            self.tables().deliveries.iter().filter(|delivery| delivery.state != DeliveryState::Done)
        {
            *tally.entry(delivery.state).or_default() += 1;
        }
        Ok(tally)
    }

    async fn owed(&self) -> Result<BTreeMap<Target, u64>, LogError> {
        let mut owed = BTreeMap::new();
        let tables = self.tables();
        for delivery in tables.deliveries.iter().filter(|delivery| !delivery.state.is_settled()) {
            *owed.entry(delivery.target.clone()).or_default() += 1;
        }
        Ok(owed)
    }
}
