//! A log that refuses a stream's writer is asked less and less often, and the server's own log says
//! it once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use moothall_engine::ports::LogError;
use moothall_kernel::event::Event;
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};

use crate::common::{SharedAgent, Slow, World, agent, has, words};

/// Counts warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<AtomicUsize>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }
    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn event(&self, _event: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_is_refused_again_and_again_waits_longer_and_warns_once() {
    const REFUSALS: usize = 200;
    let slow = Arc::new(Slow::default());
    let world = World::with(&[("slow", agent(SharedAgent(slow.clone())))]).await;
    let stream = world.create().await;
    world.invite(&stream, "s", "slow").await;
    world.post(&stream, "@s hello").await.unwrap();
    world.until(&stream, |events| has(events, |event| event.kind() == "turn_started")).await;
    for _ in 0..REFUSALS {
        world.log.fail_next_acquire(LogError::Failed("not now".into()));
    }
    let warnings = Warnings::default();
    let _counting = tracing::subscriber::set_default(warnings.clone());
    // The writer of the new process has to record that the restart lost the turn.
    let world = world.restart(&[("slow", agent(SharedAgent(slow.clone())))]).await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let asked = REFUSALS - world.log.failing_acquires();
    assert!((20..=30).contains(&asked), "asked {asked} times in 20 s");
    assert_eq!(warnings.0.load(Ordering::SeqCst), 1);
    tokio::time::sleep(Duration::from_secs(200)).await;
    slow.say("here I am");
    let is_over = |event: &Event| matches!(event, Event::TurnEnded { .. });
    let events = world.until(&stream, |events| has(events, is_over)).await;
    assert_eq!(events.iter().filter_map(words).next_back().unwrap().1, "here I am");
}
