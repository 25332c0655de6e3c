//! Cost of loading a long conversation.
//!
//! `cargo bench -p moothall-store --bench load` prints the bytes of a snapshot and the milliseconds
//! until the state is loaded: from the beginning, and from the oldest snapshot that a busy stream
//! has. Median of 15, alternating.

#![allow(missing_docs, clippy::unwrap_used)]

use std::time::Instant;

use moothall_engine::ports::{Catalog, Epoch, EventLog, Snapshot, StreamBatch};
use moothall_engine::stream::load::{fold, load};
use moothall_kernel::aggregate::CONVERSATION;
use moothall_kernel::command::{Actor, ClientCommand, Control, Facts, Invite, Post};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::participant::{Abilities, AgentFacts, OnLost, Profile, Runtime};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::Timestamp;
use moothall_kernel::{Aggregate, Conversation, STATE_VERSION};
use moothall_store::SqliteLog;

const AGENTS: usize = 10;
/// Maximum number of events after the snapshot of a busy stream.
const BEHIND: u64 = 499;
const ROUNDS: usize = 15;

fn facts() -> AgentFacts {
    AgentFacts {
        runtime: Runtime::SCRIPT,
        known: true,
        timeout: None,
        waits: None,
        on_lost: OnLost::Rerun,
        abilities: Abilities::PLAIN,
    }
}

fn begin() -> [ClientCommand; 2] {
    let by = || Actor::human("user");
    let invite = |n| {
        let profile = Profile {
            client: Some("zero".into()),
            model: Some("zero".into()),
            ..Profile::default()
        };
        Control::Invite(Invite::new(format!("agent-{n}").as_str(), profile, facts()))
    };
    let policy = Policy::named(PolicyName::MentionOnly);
    [
        ClientCommand::Create { name: "a long talk".into(), policy, folder: None, by: by() },
        ClientCommand::Control { by: by(), controls: (0..AGENTS).map(invite).collect() },
    ]
}

struct Talk {
    state: Aggregate,
    clock: i64,
}

impl Talk {
    fn decide(&mut self, command: ClientCommand) -> Vec<RecordedEvent> {
        self.clock += 1000;
        self.state
            .decide(Timestamp::from_millis(self.clock), command.into(), &Facts::default())
            .events
    }

    /// Appends messages up to an event, a few hundred at a time.
    async fn reach(&mut self, log: &SqliteLog, goal: u64) {
        while self.state.head().0 < goal {
            let expected_head = self.state.head();
            let mut events = Vec::new();
            while self.state.head().0 < goal && events.len() < 500 {
                let words = format!(
                    "message {} of about as many words as people write when they talk",
                    self.state.head()
                );
                events.extend(
                    self.decide(ClientCommand::Post(Post::new(Actor::human("user"), words))),
                );
            }
            self.append(log, expected_head, events).await;
        }
    }

    async fn append(&self, log: &SqliteLog, expected_head: Seq, events: Vec<RecordedEvent>) {
        let (stream, catalog) = (self.state.stream().clone(), Catalog::of(&self.state));
        let (claims, deliveries, marks, charges) = <_>::default();
        let batch = StreamBatch {
            stream,
            epoch: Epoch(0),
            expected_head,
            events,
            claims,
            deliveries,
            marks,
            charges,
            catalog,
        };
        log.append(vec![batch]).await.unwrap();
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

async fn measure(length: u64) {
    let folder = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(&folder.path().join("data")).unwrap();
    let stream = StreamId::new("0198c0de-0000-7000-8000-000000000000");
    let mut talk =
        Talk { state: Conversation::new(stream.clone()).into(), clock: 1_763_000_000_000 };
    let first = begin().into_iter().flat_map(|command| talk.decide(command)).collect();
    talk.append(&log, Seq(0), first).await;
    talk.reach(&log, length.saturating_sub(BEHIND)).await;
    let bytes = talk.state.to_bytes().unwrap();
    let weight = bytes.len();
    assert!(
        log.put_snapshot(
            &stream,
            Snapshot { version: STATE_VERSION, head: talk.state.head(), bytes }
        )
        .await
        .unwrap()
    );
    talk.reach(&log, length).await;
    let (mut whole, mut kept) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let folded = fold(&log, CONVERSATION, &stream).await.unwrap().state;
        whole.push(begun.elapsed().as_secs_f64() * 1e3);
        let begun = Instant::now();
        let loaded = load(&log, &stream).await.unwrap().0.state;
        kept.push(begun.elapsed().as_secs_f64() * 1e3);
        assert!(folded == talk.state && loaded == talk.state);
    }
    let (whole, kept) = (median(whole), median(kept));
    println!("{length:>9} {weight:>15} {whole:>18.2} {kept:>18.2}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!(
        "{:>9} {:>15} {:>18} {:>18}",
        "events", "snapshot bytes", "from the start ms", "from a snapshot ms"
    );
    for length in [1_000, 10_000, 100_000] {
        measure(length).await;
    }
}
