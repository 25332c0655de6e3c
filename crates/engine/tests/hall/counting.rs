//! Turns from before the ledger existed are counted after the hall was opened.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::access::AuditEntry;
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::ports::{Ledger, LogError, Store, UsageSum, UsageWanted};
use moothall_engine::registry::Registry;
use moothall_kernel::budget::{BudgetOwner, Charge, Raise};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;

use crate::common::{Parrot, World, agent};

/// A ledger that came after some streams, and records their charges.
#[derive(Default)]
struct LateLedger {
    uncounted: Mutex<Vec<(StreamId, Seq)>>,
    turns: Mutex<Vec<(StreamId, u64)>>,
    failures: Mutex<Vec<LogError>>,
}

#[async_trait]
impl Ledger for LateLedger {
    async fn charged_since(&self, _hour: Timestamp) -> Result<Vec<Charge>, LogError> {
        Ok(Vec::new())
    }
    async fn used(&self, _wanted: &UsageWanted) -> Result<Vec<UsageSum>, LogError> {
        Ok(Vec::new())
    }
    async fn keep_raise(
        &self,
        _owner: &BudgetOwner,
        _raise: &Raise,
        _entry: &AuditEntry,
    ) -> Result<(), LogError> {
        Ok(())
    }
    async fn raises(&self, _now: Timestamp) -> Result<Vec<(BudgetOwner, Raise)>, LogError> {
        Ok(Vec::new())
    }
    async fn uncounted(&self, limit: usize) -> Result<Vec<(StreamId, Seq)>, LogError> {
        match self.failures.lock().unwrap().pop() {
            Some(error) => Err(error),
            None => Ok(self.uncounted.lock().unwrap().iter().take(limit).cloned().collect()),
        }
    }
    async fn count(&self, stream: &StreamId, charges: Vec<Charge>) -> Result<(), LogError> {
        self.uncounted.lock().unwrap().retain(|(left, _)| left != stream);
        let turns = charges.iter().map(|charge| charge.turns).sum();
        self.turns.lock().unwrap().push((stream.clone(), turns));
        Ok(())
    }
}

impl LateLedger {
    fn turns_of(&self, stream: &StreamId) -> Option<u64> {
        let turns = self.turns.lock().unwrap();
        turns.iter().find(|(counted, _)| counted == stream).map(|(_, turns)| *turns)
    }
}

/// Makes streams with one turn each, and a ledger that has counted none of them.
async fn turns_before_the_ledger(streams: usize) -> (World, Vec<StreamId>, Arc<LateLedger>) {
    let world = World::with(&[("parrot", agent(Parrot("here I am")))]).await;
    let (mut all, ledger) = (Vec::new(), Arc::new(LateLedger::default()));
    for _ in 0..streams {
        let stream = world.create().await;
        world.invite(&stream, "p", "parrot").await;
        world.post(&stream, "@p hello").await.unwrap();
        let is_over = |event: &_| matches!(event, moothall_kernel::event::Event::TurnEnded { .. });
        let events = world.until(&stream, |events| crate::common::has(events, is_over)).await;
        let head = events.last().unwrap().seq;
        ledger.uncounted.lock().unwrap().push((stream.clone(), head));
        all.push(stream);
    }
    (world, all, ledger)
}

async fn opened_with(world: &World, ledger: &Arc<LateLedger>) -> Hall {
    let parts = HallParts {
        store: Store { ledger: ledger.clone(), ..world.log.store() },
        clock: world.clock.clone(),
        registry: Registry::default(),
        defaults: Policy::default(),
        budgets: Default::default(),
        owner: "test".into(),
    };
    Hall::open(parts).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_cannot_be_read_for_a_moment_is_counted_later() {
    let (world, streams, ledger) = turns_before_the_ledger(20).await;
    world.log.fail_next_read(LogError::Unreadable("a bad cable".into()));
    world.log.fail_next_read(LogError::Failed("busy".into()));
    let _hall = opened_with(&world, &ledger).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let counted = |ledger: &LateLedger| -> Vec<_> {
        streams.iter().map(|stream| ledger.turns_of(stream)).collect()
    };
    assert_eq!(counted(&ledger), [&[None; 2][..], &[Some(1); 18][..]].concat());
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(counted(&ledger), [Some(1); 20]);
}

#[tokio::test(start_paused = true)]
async fn a_damaged_stream_is_counted_once_without_charges() {
    let (world, streams, ledger) = turns_before_the_ledger(2).await;
    let stream = streams[0].clone();
    let damaged = LogError::Damaged { stream, seq: Seq(1), reason: "a changed bit".into() };
    world.log.fail_next_read(damaged);
    let _hall = opened_with(&world, &ledger).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!([0, 1].map(|at| ledger.turns_of(&streams[at])), [Some(0), Some(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_fails_for_a_moment_counts_later() {
    let (world, streams, ledger) = turns_before_the_ledger(1).await;
    ledger.failures.lock().unwrap().push(LogError::Failed("busy".into()));
    let _hall = opened_with(&world, &ledger).await;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(ledger.turns_of(&streams[0]), Some(1));
}
