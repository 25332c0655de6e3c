//! The outbox of streams: commands for other streams, and deliveries of delivery handlers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use moothall_engine::hall::Idempotency;
use moothall_engine::outbox::{
    CrashRule, DeliveryHandler, DeliveryNotes, OutboxEntry, Outcome, StreamCommand,
};
use moothall_engine::ports::{
    AppendError, DELIVERIES_PAGE, Deliveries, Delivery, DeliveryState, EventLog, Target,
    TargetKind, command_claim,
};
use moothall_kernel::command::{Actor, ClientCommand};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Address;
use moothall_kernel::time::Millis;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::common::*;

fn tell(to: &StreamId, text: &str) -> OutboxEntry {
    OutboxEntry::to_stream(
        to,
        &StreamCommand::Tell { from: "courier".into(), to: "user".into(), text: text.into() },
    )
}

fn owing(key: &str) -> Idempotency {
    Idempotency { principal: "test".into(), key: key.into(), fingerprint: String::new() }
}

fn from_courier(words: &[&str]) -> Vec<(String, String)> {
    words.iter().map(|words| ("courier".to_owned(), (*words).to_owned())).collect()
}

/// Waits until all deliveries of a stream are settled, and returns their states and evidence.
async fn settled(world: &World, from: &StreamId, many: usize) -> Vec<(DeliveryState, String)> {
    eventually(async || {
        let of = world.log.of_stream(from).await.unwrap();
        let all = of.len() == many && of.iter().all(|delivery| delivery.state.is_settled());
        all.then(|| of.into_iter().map(|delivery| (delivery.state, delivery.evidence)).collect())
    })
    .await
}

/// Owes deliveries to a target whose next append is held back.
async fn owe_to_a_slow_one(world: &World, from: &StreamId, owed: Vec<OutboxEntry>) {
    world.log.close_gate();
    let held = async {
        world.log.waiting.notified().await;
        world.log.gate.add_permits(1);
        world.log.waiting.notified().await;
    };
    let (owed, ()) = tokio::join!(world.hall.owe(from, owed, owing("slow")), held);
    owed.unwrap();
}

#[tokio::test(start_paused = true)]
async fn commands_are_carried_out_in_the_order_in_which_they_were_owed() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    let words: Vec<String> = (0..50).map(|n| format!("word {n}")).collect();
    world.hall.submit_owing(&from, post("hello"), None, vec![tell(&to, &words[0])]).await.unwrap();
    for word in &words[1..] {
        world.hall.owe(&from, vec![tell(&to, word)], owing(word)).await.unwrap();
    }
    settled(&world, &from, words.len()).await;
    assert_eq!(
        world.said(&to).await,
        from_courier(&words.iter().map(String::as_str).collect::<Vec<_>>())
    );
    let first = &world.log.of_stream(&from).await.unwrap()[0];
    assert_eq!(
        (first.through_seq.0, first.command.as_deref()),
        (2, None),
        "it names the event that caused it, and keeps no words"
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_owes_nothing_and_a_key_owes_once() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    let nobody = ClientCommand::Archive { on: true, by: Actor::named("nobody") };
    assert!(world.hall.submit_owing(&from, nobody, None, vec![tell(&to, "never")]).await.is_err());
    for _ in 0..3 {
        world.hall.owe(&from, vec![tell(&to, "once")], owing("same")).await.unwrap();
    }
    settled(&world, &from, 1).await;
    assert_eq!(world.said(&to).await, from_courier(&["once"]));
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_overloaded_or_out_of_room_is_tried_again() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    owe_to_a_slow_one(&world, &from, vec![tell(&to, "one"), tell(&to, "two")]).await;
    world.log.fail_next(AppendError::Overloaded);
    world.log.fail_next(AppendError::Full);
    world.log.open_gate();
    settled(&world, &from, 2).await;
    assert_eq!(world.said(&to).await, from_courier(&["one", "two"]));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_done_is_noted_and_does_not_hold_up_the_next() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    let nowhere = StreamId::new("nowhere");
    let unreadable = OutboxEntry {
        target: Target::Stream(to.clone()),
        command: serde_json::json!({"do": "somersault"}),
    };
    let at = Address { computer: String::new(), kind: "session".into(), local_id: "gone".into() };
    let gone = OutboxEntry::to_stream(&to, &StreamCommand::Leave { at });
    let owed = vec![tell(&nowhere, "lost"), unreadable, gone, tell(&to, "found")];
    world.hall.owe(&from, owed, owing("all")).await.unwrap();
    let ends = settled(&world, &from, 4).await;
    let states: Vec<_> = ends.iter().map(|(state, _)| *state).collect();
    assert_eq!(
        states,
        [DeliveryState::Failed, DeliveryState::Failed, DeliveryState::Done, DeliveryState::Done]
    );
    assert_eq!(ends[0].1, "conversation nowhere was not found");
    assert!(ends[1].1.contains("somersault"), "{}", ends[1].1);
    assert_eq!(ends[2].1, "whom it is about is not there");
    assert_eq!(world.said(&to).await, from_courier(&["found"]));
}

#[tokio::test(start_paused = true)]
async fn a_command_that_was_owed_before_the_server_died_is_carried_out_after() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    owe_to_a_slow_one(&world, &from, vec![tell(&to, "late")]).await;
    let world = world.restart(&[]).await;
    world.log.open_gate();
    settled(&world, &from, 1).await;
    assert_eq!(world.said(&to).await, from_courier(&["late"]));
}

/// The server dies after the target has the command and before that is recorded. It restarts days
/// later.
#[tokio::test(start_paused = true)]
async fn a_command_that_was_carried_out_is_not_carried_out_again() {
    let world = World::new().await;
    let (from, to) = (world.create().await, world.create().await);
    world.log.refuse_advances(true);
    world.hall.owe(&from, vec![tell(&to, "once")], owing("one")).await.unwrap();
    world.until(&to, |events| events.iter().any(|event| words(event).is_some())).await;
    world.clock.sleep_through(Millis::from_secs(3 * 24 * 3600));
    let owed = world.log.of_stream(&from).await.unwrap().remove(0);
    let (namespace, key) = command_claim(owed.id);
    assert!(world.log.claim(namespace, &key, world.hall.now()).await.unwrap().is_some());
    let world = world.restart(&[]).await;
    world.log.refuse_advances(false);
    world.hall.owe(&from, vec![tell(&to, "then this")], owing("two")).await.unwrap();
    settled(&world, &from, 2).await;
    assert_eq!(world.said(&to).await, from_courier(&["once", "then this"]));
    assert_eq!(
        world.log.claim(namespace, &key, world.hall.now()).await,
        Ok(None),
        "nobody asks for it any more"
    );
}

/// A delivery handler with scripted outcomes, which records its deliveries. Without an outcome it
/// never returns.
struct Porter {
    begun: CrashRule,
    /// The outcomes, each with a note to write before it.
    script: Mutex<VecDeque<(Option<&'static str>, Outcome)>>,
    carried: Mutex<Vec<(Delivery, Instant)>>,
}

impl Porter {
    fn new(begun: CrashRule, outcomes: impl IntoIterator<Item = Outcome>) -> Arc<Self> {
        Self::noting(begun, outcomes.into_iter().map(|outcome| (None, outcome)))
    }

    fn noting(
        begun: CrashRule,
        script: impl IntoIterator<Item = (Option<&'static str>, Outcome)>,
    ) -> Arc<Self> {
        let script = Mutex::new(script.into_iter().collect());
        Arc::new(Self { begun, script, carried: Mutex::default() })
    }

    /// Waits until the handler has taken this number of deliveries, and returns their evidence and
    /// states at that time.
    async fn taken(&self, many: usize) -> Vec<(String, DeliveryState)> {
        eventually(async || {
            let carried = self.carried.lock().unwrap();
            let all = carried.iter().map(|(one, _)| (one.evidence.clone(), one.state));
            (carried.len() == many).then(|| all.collect())
        })
        .await
    }

    /// Returns the time between the first two deliveries.
    fn pause(&self) -> Duration {
        let carried = self.carried.lock().unwrap();
        carried[1].1 - carried[0].1
    }
}

#[async_trait]
impl DeliveryHandler for Porter {
    fn crash_rule(&self) -> CrashRule {
        self.begun
    }

    async fn carry(&self, delivery: &Delivery, notes: &DeliveryNotes<'_>) -> Outcome {
        self.carried.lock().unwrap().push((delivery.clone(), Instant::now()));
        let next = self.script.lock().unwrap().pop_front();
        let Some((note, outcome)) = next else { return std::future::pending().await };
        match note {
            Some(note) if notes.write(note).await.is_err() => Outcome::later("no note"),
            _ => outcome,
        }
    }
}

fn parcel(text: &str) -> OutboxEntry {
    OutboxEntry { target: "chat:telegram:7".parse().unwrap(), command: serde_json::json!(text) }
}

async fn owe(world: &World, from: &StreamId, words: &[&str]) {
    let owed = words.iter().map(|words| parcel(words)).collect();
    world.hall.owe(from, owed, owing(&words.concat())).await.unwrap();
}

fn done() -> Outcome {
    Outcome::Done(String::new())
}

async fn states(world: &World, from: &StreamId, many: usize) -> Vec<DeliveryState> {
    settled(world, from, many).await.into_iter().map(|(state, _)| state).collect()
}

#[tokio::test(start_paused = true)]
async fn what_may_have_arrived_is_not_sent_again_and_holds_up_nothing() {
    use DeliveryState::{Done, Failed, Unknown};
    let world = World::new().await;
    let from = world.create().await;
    let outcomes = [
        Outcome::later("busy"),
        Outcome::Unknown("no answer".into()),
        Outcome::Failed("blocked".into()),
        done(),
    ];
    let porter = Porter::new(CrashRule::Doubtful, outcomes);
    owe(&world, &from, &["one", "two", "three", "four"]).await;
    world.hall.register_handler(TargetKind::Chat, porter.clone()).await.unwrap();
    porter.taken(5).await;
    let world = world.restart(&[]).await;
    let next = Porter::new(CrashRule::Doubtful, [done()]);
    owe(&world, &from, &["five"]).await;
    world.hall.register_handler(TargetKind::Chat, next.clone()).await.unwrap();
    let on_its_way = Unknown;
    assert_eq!(states(&world, &from, 5).await, [Unknown, Failed, Done, on_its_way, Done]);
    assert_eq!(next.taken(1).await.len(), 1, "only what was not begun");
}

fn flood_wait() -> (Outcome, Duration) {
    let wait = Duration::from_secs(3 * 3600);
    (Outcome::Later { why: "flood wait".into(), after: Some(wait) }, wait)
}

#[tokio::test(start_paused = true)]
async fn a_target_is_not_tried_before_its_time() {
    let world = World::new().await;
    let from = world.create().await;
    let (later, wait) = flood_wait();
    let porter = Porter::new(CrashRule::Noted, [later, Outcome::later("busy"), done(), done()]);
    world.hall.register_handler(TargetKind::Chat, porter.clone()).await.unwrap();
    owe(&world, &from, &["one"]).await;
    porter.taken(1).await;
    tokio::time::sleep(wait / 2).await;
    owe(&world, &from, &["two"]).await;
    tokio::time::sleep(wait / 2 + Duration::from_secs(10)).await;
    states(&world, &from, 2).await;
    assert_eq!(porter.taken(4).await.len(), 4);
    assert!(
        (wait..wait + Duration::from_secs(1)).contains(&porter.pause()),
        "{:?}",
        porter.pause()
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_handler_does_not_wait_for_the_time_of_the_last_one() {
    let world = World::new().await;
    let from = world.create().await;
    let (first, next) =
        (Porter::new(CrashRule::Noted, [flood_wait().0]), Porter::new(CrashRule::Noted, [done()]));
    owe(&world, &from, &["one"]).await;
    world.hall.register_handler(TargetKind::Chat, first.clone()).await.unwrap();
    first.taken(1).await;
    let begun = Instant::now();
    world.hall.register_handler(TargetKind::Chat, next.clone()).await.unwrap();
    next.taken(1).await;
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(first.taken(1).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_target_that_waits_keeps_no_handler_of_a_closed_hall() {
    let world = World::new().await;
    let from = world.create().await;
    let porter = Porter::new(CrashRule::Noted, [flood_wait().0]);
    owe(&world, &from, &["one"]).await;
    world.hall.register_handler(TargetKind::Chat, porter.clone()).await.unwrap();
    porter.taken(1).await;
    let begun = Instant::now();
    let _world = world.restart(&[]).await;
    eventually(async || (Arc::strong_count(&porter) == 1).then_some(())).await;
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_note_is_read_after_a_pause_and_after_a_crash() {
    use DeliveryState::{Done, Pending, Sending};
    let world = World::new().await;
    let from = world.create().await;
    let script =
        [(Some("part 1"), Outcome::later("busy")), (Some("part 2"), Outcome::later("busy"))];
    let porter = Porter::noting(CrashRule::Noted, script);
    owe(&world, &from, &["one", "two"]).await;
    world.hall.register_handler(TargetKind::Chat, porter.clone()).await.unwrap();
    let noted = |note: &str, state| (note.to_owned(), state);
    assert_eq!(
        porter.taken(3).await,
        [noted("", Pending), noted("part 1", Sending), noted("part 2", Sending)]
    );
    let world = world.restart(&[]).await;
    let next =
        Porter::noting(CrashRule::Noted, [(None, Outcome::Done("sent".into())), (None, done())]);
    world.hall.register_handler(TargetKind::Chat, next.clone()).await.unwrap();
    assert_eq!(next.taken(2).await, [noted("part 2", Sending), noted("", Pending)]);
    assert_eq!(settled(&world, &from, 2).await, [(Done, "sent".to_owned()), (Done, String::new())]);
}

#[tokio::test(start_paused = true)]
async fn a_note_that_is_not_stored_is_an_error() {
    let world = World::new().await;
    let from = world.create().await;
    let porter = Porter::noting(CrashRule::Noted, [(Some("part 1"), done()), (None, done())]);
    world.log.refuse_advances(true);
    owe(&world, &from, &["one"]).await;
    world.hall.register_handler(TargetKind::Chat, porter.clone()).await.unwrap();
    porter.taken(1).await;
    world.log.refuse_advances(false);
    assert_eq!(states(&world, &from, 1).await, [DeliveryState::Done]);
    let unbegun = (String::new(), DeliveryState::Pending);
    assert_eq!(porter.taken(2).await, [unbegun.clone(), unbegun]);
}

/// A delivery handler with several deliveries under way, each of which ends when the test says so.
struct Conveyor {
    begun: CrashRule,
    open: Mutex<Vec<(String, oneshot::Sender<Outcome>)>>,
}

impl Conveyor {
    /// Waits until exactly these deliveries are under way, in the order in which they were begun.
    async fn carries(&self, words: &[&str]) {
        tokio::time::sleep(Duration::from_secs(60)).await;
        let open = self.open.lock().unwrap();
        assert_eq!(open.iter().map(|(words, _)| words.as_str()).collect::<Vec<_>>(), words);
    }

    fn end(&self, words: &str, outcome: Outcome) {
        let mut open = self.open.lock().unwrap();
        let at = open.iter().position(|(of, _)| of == words).expect("it is under way");
        open.remove(at).1.send(outcome).unwrap();
    }
}

#[async_trait]
impl DeliveryHandler for Conveyor {
    fn crash_rule(&self) -> CrashRule {
        self.begun
    }

    fn window(&self) -> usize {
        3
    }

    async fn carry(&self, delivery: &Delivery, _: &DeliveryNotes<'_>) -> Outcome {
        let (ends, end) = oneshot::channel();
        let words = delivery.carried().unwrap();
        self.open.lock().unwrap().push((words, ends));
        end.await.unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_window_begins_in_order_and_settles_in_any() {
    use DeliveryState::{Done, Failed, Pending, Sending};
    for begun in [CrashRule::Doubtful, CrashRule::Noted] {
        let world = World::new().await;
        let from = world.create().await;
        let conveyor = Arc::new(Conveyor { begun, open: Mutex::default() });
        world.hall.register_handler(TargetKind::Chat, conveyor.clone()).await.unwrap();
        owe(&world, &from, &["1", "2", "3", "4", "5", "6"]).await;
        conveyor.carries(&["1", "2", "3"]).await;
        conveyor.end("2", done());
        conveyor.carries(&["1", "3", "4"]).await;
        conveyor.end("1", Outcome::Later { why: "full".into(), after: flood_wait().1.into() });
        conveyor.carries(&["3", "4"]).await;
        conveyor.end("4", Outcome::Failed("blocked".into()));
        conveyor.carries(&["3"]).await;
        let states: Vec<_> =
            world.log.of_stream(&from).await.unwrap().iter().map(|one| one.state).collect();
        let third = if begun == CrashRule::Doubtful { Sending } else { Pending };
        assert_eq!(states, [Pending, Done, third, Failed, Pending, Pending]);
        conveyor.end("3", Outcome::later("busy"));
        conveyor.carries(&[]).await;
        tokio::time::sleep(flood_wait().1).await;
        conveyor.carries(&["1", "3", "5"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_absence_is_caught_up_page_by_page() {
    let world = World::new().await;
    let from = world.create().await;
    let many = 2 * DELIVERIES_PAGE + 1;
    let owed = (0..many).map(|number| parcel(&number.to_string())).collect();
    world.hall.owe(&from, owed, owing("many")).await.unwrap();
    let porter = Porter::new(CrashRule::Noted, (0..many).map(|_| done()));
    world.hall.register_handler(TargetKind::Chat, porter.clone()).await.unwrap();
    settled(&world, &from, many).await;
    let carried = porter.carried.lock().unwrap();
    let words: Vec<String> = carried.iter().map(|(one, _)| one.carried().unwrap()).collect();
    assert_eq!(words, (0..many).map(|number| number.to_string()).collect::<Vec<_>>());
}
